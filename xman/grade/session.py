"""The grader's end of the pipe: a submission in its own process, called as if it were an object here.

`student.eval(steps, inputs)` sends {"nonce", "call": "eval", "args": …} to the worker and gives back the
result, plain data. A function among the arguments is called here when the submission calls it there. All
bytes from the worker may come from an enemy: they are read up to a limit, decoded as plain data, for one
question.
"""
from __future__ import annotations

import functools
import io
import itertools
import json
import math
import os
import secrets
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from .compare import Failed, shown_value
from .sandbox import Limits, Sandbox
from .sandbox.inside import plain
from .sandbox.worker import signal_of
from .submissions import harmless

ANSWER = 8 << 20        # the most bytes of one answer
NODES = 200_000         # the most lists and objects in it: brackets take fifty times as much memory as text
ENTRIES = 400_000       # the most entries of an array that the arguments of an ask can broadcast to
ITEMS = 2000            # the most items of a list, a tuple or a string in an ask
OUTPUT = 1 << 20        # the most bytes that a submission may print
KEPT = 8 << 10          # the bytes of them that are kept
QUESTIONS = 1_000_000   # the most calls of the grader's functions in one task
MESSAGES = {"result", "error", "ask"}


class Session:
    """A context with one worker for one submission. `trouble`: why it ended, in a sentence, or None."""

    def __init__(self, sandbox: Sandbox, program: bytes, module: str, packages: Sequence[str],
                 limits: Limits, probes: Path | None = None, stop: threading.Event | None = None):
        self.worker = sandbox.start({f"{module}.py": program}, packages, limits,
                                    {"probes.py": probes} if probes else {})
        self.answers = io.BufferedReader(second_handle(self.worker.process.stdout))
        self.errors = second_handle(self.worker.process.stderr)
        self.limits, self.module, self.packages = limits, module, packages
        self.given = self.came_back = self.trouble = None
        self.begun = False
        self.waited, self.since, self.ask_count, self.served = 0.0, None, 0, 0.0
        self.reading, self.total = threading.Lock(), 0  # the bytes that were printed
        self.printed, self.stop_reason = b"", ""  # stop_reason: why the worker was stopped
        self.over, self.stop = threading.Event(), stop or threading.Event()
        self.threads = [threading.Thread(target=run, daemon=True) for run in (self.drain, self.watch)]
        for thread in self.threads:
            thread.start()
        place = probes and f"{self.worker.settings['grader']}/probes.py"
        self.settings = {**self.worker.settings, "module": module, "probes": place}
        self.another = lambda: Session(sandbox, b"", module, packages, limits, probes, stop)

    def __enter__(self) -> Session: return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.worker.stop()
        for thread in self.threads:
            thread.join(2)
        self.answers.close()
        if "apart" in vars(self):
            self.apart.__exit__()

    @functools.cached_property
    def apart(self) -> Session:
        """Another worker with the probes alone, to run text that the submission wrote."""
        session = self.another()
        session.load(0)
        return session

    def runs(self) -> list[str]:
        """The runs of nodes in the submission's functions, before its import. Failed where it is too deep."""
        self.begin()
        try:
            return self.exchange(None, (), {}, "reading it")
        except Failed as error:  # Python may run what is too deep for a tree: nothing would be compared
            self.trouble = self.trouble or (f"{self.module}.py is not read: it is too long, or nested too "
                                            f"deeply ({error.came_back})")
            raise Failed("an answer", self.trouble) from None

    def begin(self) -> None:
        """Send the settings, which the worker reads first."""
        if not self.begun:
            self.begun = True
            self.send(json.dumps(self.settings).encode() + b"\n", "the import")

    def load(self, seed: int) -> None:
        """Import the submission. Failed if the import fails."""
        self.begin()
        try:
            self.exchange(None, (), {}, "the import", seed=seed)
        except Failed as error:
            last = self.output().strip().splitlines()[-1:]
            self.trouble = (" ".join([self.trouble, *last]) if self.trouble else
                            f"{self.module}.py could not be imported: {error.came_back}")
            if "ModuleNotFoundError" in str(error.came_back):
                self.trouble += (f" (of what is handed in {self.module}.py alone counts; it can import "
                                 f"Python's library and {', '.join(self.packages) or 'no package'})")
            raise Failed("an answer", self.trouble) from None

    def call(self, name: str, args: Sequence[Any], keywords: Mapping[str, Any],
             frozen: Sequence[int] = ()) -> Any:
        """The result of the submission's function of that name. Failed if there is none.

        frozen: the places of arguments that it cannot change.
        """
        texts = [shown_value(value, 120) for value in args]
        texts += [f"{key}={shown_value(value, 120)}" for key, value in keywords.items()]
        self.given, self.came_back = f"{name}({', '.join(texts)})", None
        result = self.exchange(name, args, keywords, name, frozen=[*frozen])
        self.came_back = shown_value(result)
        return result

    def exchange(self, name: str | None, args: Sequence[Any], keywords: Mapping[str, Any], activity: str,
                 **fields: Any) -> Any:
        """Ask a question, answer the submission's own questions meanwhile, and give back its answer."""
        if self.trouble:
            raise Failed("an answer", self.trouble)
        functions: dict[str, Callable] = {}

        def name_of(function: Callable) -> str:
            functions[key := str(len(functions))] = function
            return key
        nonce = secrets.token_hex(8)
        question = {"nonce": nonce, "call": name, "args": list(args), "keywords": dict(keywords), **fields}
        self.send(plain.encoded(question, name_of), activity)
        while "ask" in (answer := self.receive(nonce, activity)):
            self.ask_count += 1
            if self.ask_count > QUESTIONS:
                raise self.broken(f"it called the functions that it was given more than {QUESTIONS:,} times")
            self.send(self.reply(functions, answer, name_of), activity)
        if "error" in answer:
            error = answer["error"]
            raise Failed("an answer", harmless(error if isinstance(error, str) else shown_value(error), 1000))
        return answer["result"]

    def reply(self, functions: Mapping[str, Callable], answer: Mapping[str, Any],
              name_of: Callable[[Callable], str]) -> bytes:
        """The line with the result of the grader's function for the submission's arguments."""
        start = time.thread_time()
        try:
            line = plain.encoded({"result": functions[answer["ask"]](*bounded_args(answer["args"]))}, name_of)
            if len(line) > ANSWER:
                raise ValueError(f"the result has more than {ANSWER >> 20} MiB")
        except Exception as error:  # the submission's arguments are at fault, and it gets the error
            line = plain.encoded({"error": str(error)[:500], "kind": type(error).__name__})
        self.served += time.thread_time() - start
        return line

    def send(self, line: bytes, activity: str) -> None:
        try:
            self.since = time.monotonic()
            self.write(line)
        except (OSError, ValueError):
            raise self.ended(activity) from None

    def write(self, line: bytes) -> None:
        """Write the whole line to the unbuffered pipe."""
        remaining = memoryview(line)
        while remaining:
            remaining = remaining[self.worker.process.stdin.write(remaining):]

    def receive(self, nonce: str, activity: str) -> dict[str, Any]:
        """The next message of the worker. Failed if it is not valid; the worker is then ended."""
        try:
            line = self.answers.readline(ANSWER)
        except (OSError, ValueError):
            line = b""
        since, self.since = self.since, None  # at once, or watch would count the time twice
        self.waited += time.monotonic() - (since or time.monotonic())
        if not line.endswith(b"\n"):
            raise (self.ended(activity) if len(line) < ANSWER else
                   self.broken(f"its answer has more than {ANSWER >> 20} MiB"))
        start = time.thread_time()
        try:
            if line.count(b"[") + line.count(b"{") > NODES:
                raise ValueError(f"more than {NODES:,} lists, tuples and dicts")
            answer = plain.decoded(line)
        except ValueError:  # the error's text is the submission's, and not shown
            raise self.broken("its answer is not plain data") from None
        self.served += time.thread_time() - start
        # the grader's own time counts: a submission could waste it at no cost to itself
        if self.served > self.limits.cpu_seconds:
            raise self.broken(f"to answer it has taken the grader {self.limits.cpu_seconds} s of processor "
                              "time")
        valid = isinstance(answer, dict) and isinstance(answer.get("nonce"), str) and MESSAGES & answer.keys()
        if not valid or answer["nonce"] != nonce or "ask" in answer and not (
                isinstance(answer["ask"], str) and isinstance(answer.get("args"), (list, tuple))):
            raise self.broken("its answer does not belong to the question")
        return answer

    def broken(self, sentence: str) -> Failed:
        self.worker.stop()
        self.trouble = f"the process was stopped: {sentence}"
        return Failed("an answer", self.trouble)

    def ended(self, activity: str) -> Failed:
        """The end of the worker by itself or by a limit, in a sentence."""
        with suppress(subprocess.TimeoutExpired):  # it may have closed its end of the pipe, and run on
            self.worker.process.wait(1)
        status = self.worker.process.returncode
        self.worker.stop()
        why = self.stop_reason or reason(status, self.limits)
        self.trouble = f"the process {'was stopped' if self.stop_reason else 'ended'} in {activity}: {why}"
        return Failed("an answer", self.trouble)

    def drain(self) -> None:
        """Read what the submission prints until no process of it can print any more."""
        while not self.errors.closed:
            self.has_printed(None)  # wait without the lock, so that `output` can read meanwhile
            with self.reading:
                if self.has_printed(0, otherwise=True) and not self.read_printed():
                    self.errors.close()

    def has_printed(self, timeout: float | None, otherwise: bool = False) -> bool:
        """Whether there is something to read, within timeout seconds; `otherwise` if that cannot be known."""
        try:
            return bool(select.select([self.errors], [], [], timeout)[0])
        except (OSError, ValueError):  # on Windows, which cannot tell; or the pipe is closed
            return otherwise

    def read_printed(self) -> bool:
        """Keep the beginning of the submission's output, and stop the worker if it prints too much.

        False at the end of the pipe."""
        chunk = self.errors.read(1 << 16)
        self.total += len(chunk)
        self.printed += chunk[:max(KEPT - len(self.printed), 0)]
        if self.total > OUTPUT:
            self.stop_reason = f"it printed more than {OUTPUT >> 20} MiB"
            self.worker.stop()
        return bool(chunk)

    def watch(self) -> None:
        """Stop the worker when the grader has waited for longer than the limit, or is told to stop."""
        while not self.over.wait(0.05):
            since = self.since
            if (self.stop.is_set() or since is not None and self.waited + time.monotonic()
                - since > self.limits.wall_seconds):
                self.stop_reason = self.stop_reason or (
                    f"no answer within {self.limits.wall_seconds} s (does it sleep, or wait for something?)")
                self.worker.stop()
                return

    def output(self) -> str:
        """The beginning of what the submission has printed up to its last answer."""
        if self.reading.acquire(timeout=1):
            while self.has_printed(0) and self.read_printed():
                pass
            self.reading.release()
        return harmless(self.printed.decode("utf-8", "replace"), 4000)


def second_handle(pipe: IO[bytes]) -> io.FileIO:
    """The end of a pipe under a second number: stop closes the first, which another pipe may soon get."""
    return io.FileIO(os.dup(pipe.fileno()))


def bounded_args(args: Any) -> Any:
    """The arguments of an ask. ValueError if adding, multiplying or repeating them would give a large object.

    A whole number beyond 10,000 becomes a float, since its powers could take forever.
    """
    # broadcasting aligns shapes at their last axes, so they are kept reversed: (3, 1) and (4,) become
    # (1, 3) and (4,), and the larger entry of each axis gives (4, 3), 12 entries
    shapes: list[tuple[int, ...]] = []

    def tried(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            shapes.append(value.shape[::-1])
        elif isinstance(value, int):
            return value if abs(value) <= 10_000 else float(value)
        elif isinstance(value, dict):
            return {key: tried(item) for key, item in value.items()}
        elif isinstance(value, (str, list, tuple)):
            if len(value) > ITEMS:
                raise ValueError(f"a {type(value).__name__} of {len(value):,}, which is more than {ITEMS:,}: "
                                 "is an array meant?")
            return value if isinstance(value, str) else type(value)(map(tried, value))
        return value
    args = tried(list(args))
    if math.prod(map(max, itertools.zip_longest(*shapes, fillvalue=1))) > ENTRIES:
        raise ValueError(f"arrays that are too large together, of the shapes "
                         f"{[shape[::-1] for shape in shapes[:9]]}")
    return args


def reason(status: int | None, limits: Limits) -> str:
    """Why a process ended, from its exit status."""
    if status is None:
        return "it closed its end of the pipe"
    if (number := signal_of(status)) in (signal.SIGXCPU, signal.SIGKILL):
        return f"{limits.cpu_seconds} s of processor time were used, or it was killed (an endless loop?)"
    if number:
        names = {signal.SIGSEGV: "a segmentation fault (a recursion without end?)",
                 signal.SIGABRT: "it was aborted",
                 getattr(signal, "SIGSYS", None): "it made a system call that the sandbox does not allow",
                 signal.SIGXFSZ: f"a file grew beyond {limits.file_mib} MiB"}
        return names.get(number, f"signal {number}")
    return f"exit status {status}: did it leave Python?"


class Student:
    """The submission, for parts: student.name(…) calls the probe of this name, or else its function."""

    def __init__(self, session: Session):
        self._session = session

    def frozen(self, name: str, *args: Any, look: str | None = None, places: Any = None) -> Any:
        """The result of student.name(*args), where its lists, dicts and arrays cannot be changed.

        A function that changes one gets an error there, so that nobody has to look what became of them.
        look: the hint for it. places: the arguments that are meant, from 0 (None: all).
        """
        try:
            return self._session.call(name, args, {}, range(len(args)) if places is None else places)
        except Failed as failed:
            if any(words in str(failed.came_back) for words in plain.REFUSALS):
                failed.look = look
            raise

    @property
    def apart(self) -> Student:
        """The probes alone, in a worker without the submission."""
        return Student(self._session.apart)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *args, **keywords: self._session.call(name, args, keywords)
