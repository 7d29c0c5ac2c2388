"""A submission in this process, for what is judged by the hundred: what it says crosses no pipe, but becomes plain data.

And one that is graded as a class of one would be, but by this process.
"""
import functools
import importlib.util
import json
import sys
import types
from pathlib import Path

from xman.grade import Wrong
from xman.grade.compare import Failed
from xman.grade.judge import judged_case
from xman.grade.record import seed_of
from xman.grade.run import PROGRAM, VISIBLE, grade_hidden, grade_visible
from xman.grade.sandbox.inside import plain
from xman.grade.submissions.scratch import scratch


class Inside:
    """What judged_case needs of a session: a module that is called here, with the probes of its assignment."""
    given = came_back = trouble = None

    def __init__(self, module, probes):
        self.module, self.probes = module, probes

    @functools.cached_property
    def apart(self):
        """The same of no submission at all."""
        return Inside(types.ModuleType("nothing"), self.probes)

    def call(self, name, args, keywords, frozen=()):
        """The result, as it would come over the pipe; Failed with the error that the submission raised."""
        try:
            function = functools.partial(probe, self.module) if (probe := getattr(self.probes, name, None)) else getattr(
                self.module, name)
            args = [plain.frozen(across(arg)) if k in frozen else across(arg) for k, arg in enumerate(args)]
            result = function(*args, **{key: across(value) for key, value in keywords.items()})
            return plain.decoded(plain.encoded(result))
        except (Wrong, KeyboardInterrupt):
            raise
        except Exception as error:
            raise Failed("an answer", f"{type(error).__name__}: {error}") from error


def across(value):
    """The value as the submission gets it: a copy, in which functions are called with copies, and give copies back."""
    functions = {}

    def name_of(function):
        functions[key := str(len(functions))] = function
        return key

    def function_of(key):
        return lambda *args: across(functions[key](*plain.decoded(plain.encoded(list(args)))))
    return plain.decoded(plain.encoded(value, name_of), function_of)


def module_of(source, name="submission"):
    """The module of that text."""
    module = types.ModuleType(name)
    exec(compile(source, f"<{name}>", "exec"), vars(module))
    return module


@functools.cache
def probes_of(path):
    """The module of a file of probes, or None for None."""
    if path is None:
        return None
    spec = importlib.util.spec_from_file_location(f"probes_of_{Path(path).parent.name}", path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cases_of(assignment, source, term, parts=None):
    """(part, record of a case) of all parts, or those of these titles, with inputs drawn from that term."""
    module, probes = module_of(source), probes_of(assignment.probes)
    for part in (part for task in assignment.tasks for part in task.parts if parts is None or part.title in parts):
        for name, extra in part.named_cases():
            yield part, judged_case(part, name, extra, Inside(module, probes),
                                    seed_of(term, "", assignment.module, part.title, name))


def grade_one(assignment, submission, box, term):
    """The record of a submission, of which visible and hidden parts are judged one after the other."""
    with scratch() as out:
        record = grade_visible(submission, out, assignment, box, term)
        if PROGRAM not in record:
            return record
        (out / VISIBLE).mkdir()
        (out / VISIBLE / f"{record['slug']}.json").write_text(json.dumps(record))
        return grade_hidden(record["slug"], out, assignment, box, term)


def write_assignment(folder, checks, grading):
    """An assignment `work` in the folder, and room for a class."""
    (folder / "assignments" / "work" / "public").mkdir(parents=True)
    (folder / "assignments" / "work" / "public" / "checks.py").write_text(checks)
    (folder / "assignments" / "work" / "grading.py").write_text(grading)
    (folder / "class").mkdir()
