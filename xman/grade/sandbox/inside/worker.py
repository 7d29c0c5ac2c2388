"""The process of a submission. It answers questions about the submission; it knows no test and no answer.

The first line that it reads holds its settings. Then each line is a question, {"nonce", "call", "args",
"keywords"}, and each answer is a line: {"nonce", "result"}, or {"nonce", "error"}. A function among the
arguments belongs to the grader: to call it, the process writes {"nonce", "ask", "args"} and reads {"result"}
or {"error", "kind"}.
"""
import builtins
import importlib.util
import json
import linecache
import os
import sys
import traceback

import confine

SHOWN = 500  # the most characters of an error's message


def serve_submission():
    """Read the settings, confine this process, import the submission, answer."""
    settings = json.loads(settings_line())
    confine.confine(settings)
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)  # the submission's output goes where its errors go
    sys.stdout.reconfigure(line_buffering=True)  # so that output before a sudden end is not lost
    sys.path[:0] = settings["path"]
    Answerer(settings, questions, answers).serve()


def settings_line():
    """The first line, read byte by byte, so that no buffer takes bytes of the second line."""
    line = b""
    while not line.endswith(b"\n"):
        if not (byte := os.read(0, 1)):
            sys.exit("no settings came")
        line += byte
    return line


class Missing(Exception):
    """The submission has no such function."""


class Answerer:
    """The submission's module, the probes of the assignment, and the two pipes."""

    def __init__(self, settings, questions, answers):
        import plain  # after confine: it may import NumPy
        self.plain, self.questions, self.answers = plain, questions, answers
        self.file = os.path.join(settings["submission"], settings["module"] + ".py")
        self.name, self.probes_file = settings["module"], settings.get("probes")
        self.probes, self.module, self.nonce = {}, None, None

    def serve(self):
        """Answer until the questions end."""
        for line in self.questions:
            question = self.plain.decoded(line, self.remote)
            self.nonce = question["nonce"]
            for k in question.get("frozen", ()):
                question["args"][k] = self.plain.frozen(question["args"][k])
            try:
                self.write({"result": self.answer(question)})
            # even sys.exit: the submission must not end this process
            except BaseException as error:
                self.write({"error": self.safe_sentence(error)})

    def write(self, answer):
        self.answers.write(self.plain.encoded({"nonce": self.nonce, **answer}))
        self.answers.flush()

    def answer(self, question):
        if question["call"] is None:
            return self.load(question["seed"]) if "seed" in question else self.shapes()
        if call := self.probes.get(question["call"]):
            return call(self.module, *question["args"], **question["keywords"])
        if not hasattr(self.module, question["call"]):
            raise Missing(f"{self.name}.py has no function {question['call']}")
        return getattr(self.module, question["call"])(*question["args"], **question["keywords"])

    def shapes(self):
        """The runs of nodes in the submission's functions; its code has not run yet, and alters nothing."""
        import shapes
        with open(self.file, "rb") as file:
            return sorted(set().union(*shapes.function_runs(file.read())))

    def load(self, seed):
        """Import the probes, then the submission."""
        import random

        import shapes
        random.seed(seed)
        sys.path.append(os.path.dirname(self.file))  # at the end: its files must not shadow packages
        if self.probes_file:
            self.probes = vars(imported("probes", self.probes_file))
            del sys.modules["probes"]
        with open(self.file, "rb") as file:
            uses_packages = shapes.imports_packages(file.read())
        if uses_packages or "numpy" in sys.modules:  # its import is slow
            import numpy
            numpy.random.seed(seed)  # noqa: NPY002 (what a submission may use)
        self.module = imported(self.name, self.file)

    def remote(self, name):
        """The grader's function of that name."""
        def function(*args):
            self.write({"ask": name, "args": args})
            reply = self.plain.decoded(self.questions.readline(), self.remote)
            if "error" in reply:
                raise getattr(builtins, reply["kind"], ValueError)(reply["error"])
            return reply["result"]
        return function

    def safe_sentence(self, error):
        """The sentence on an error, even if the error's own methods fail."""
        try:
            return self.sentence(error)
        except BaseException:  # its __str__, for one, is the submission's
            return "an error whose message cannot be had"

    def sentence(self, error):
        """What happened, and in which line of the submission."""
        message = f"{type(error).__name__}: {error}"[:SHOWN] if str(error) else type(error).__name__
        if isinstance(error, NotImplementedError):
            return f"not written yet: {str(error)[:SHOWN] or self.name}"
        if isinstance(error, Missing):
            return str(error)
        places = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self.file]
        if isinstance(error, SyntaxError) and error.filename == self.file:
            return f"{self.name}.py:{error.lineno}: {message}"
        if not places:
            return message
        line = linecache.getline(self.file, places[-1].lineno).strip()[:120]
        return f"{self.name}.py:{places[-1].lineno}, `{line}`: {message}"


def imported(name, file):
    """The module of that file."""
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    serve_submission()
