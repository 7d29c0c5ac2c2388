"""For `jit`: a call as plain Python, and what it does besides returning."""
from __future__ import annotations

import gc
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np

from ops import G, f, is_function
from ops.loops.values import LARGE_LOOP

from ..engines.door import Compiled
from ..functions.trace import watched
from ..functions.tracer import unheard
from ..traced.arraylike import ArrayLike
from .code import TYPE, facts_of_code, nested
from .kinds import computes, dotted, foreign, is_pure, title_of
from .reached import Place, Reach, unchanged

IMPORTS = "<frozen importlib._bootstrap"  # the file of Python's import


class Watch:
    """What a function can read, and what its calls do: `hear` is told of the calls that it makes, and
    `changes` finds what it has changed. `sentence` says what a list cannot hold."""

    def __init__(self, roots: Iterable[Any]):
        self.roots, self.sentence = list(roots), ""
        self.errors: list[tuple[CodeType, int, type]] = []  # that the user's code has met, each with its line
        self.importing: FrameType | None = None
        self.reach = Reach(self.roots)
        self.states = [(x, state_of(x)) for x in (np.random.mtrand._rand, *self.reach.generators)]

    def run(self, fn: Callable, args: Sequence, options: dict) -> Any:
        """fn(*args, **options), as plain Python. The garbage collector waits: it can call anything."""
        collects = gc.isenabled()
        gc.disable()
        try:
            return self.call(fn, args, options, run_plainly)[0]
        finally:
            if collects:
                gc.enable()

    def call(self, fn: Callable, args: Sequence, options: dict, run: Callable) -> tuple[Any, dict]:
        """What `watched` gives. Where code can catch errors they are noted, unless a debugger is at work."""
        notes = "caught" in self.reach.asks and sys.gettrace() is None
        if notes:
            sys.settrace(self.note)
        try:
            return watched(fn, args, options, self.hear, run=run)
        finally:
            if notes:
                sys.settrace(None)

    def note(self, frame: FrameType, event: str, error: Any) -> Callable | None:
        if event == "call":
            if foreign(frame.f_code.co_filename):
                return None
            frame.f_trace_lines = False
        elif event == "exception" and not issubclass(error[0], StopIteration):
            self.errors.append((frame.f_code, frame.f_lineno, error[0]))
        return self.note

    def hear(self, frame: FrameType, event: str, called: Any) -> None:
        """Note a call of a function that is not known only to compute, where the user's code makes it."""
        caller = frame if event == "c_call" else frame.f_back
        of_library = caller is None or foreign(caller.f_code.co_filename)
        file = frame.f_code.co_filename
        if of_library and foreign(file) and not file.startswith(IMPORTS):
            return  # first, since most calls are of this kind
        if self.sentence or self.imports(frame):
            return
        if event == "call" and not foreign(frame.f_code.co_filename):
            self.enter(frame)
            return
        name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        if not (is_pure(called) if event == "c_call" else computes(*name)):
            self.sentence = f"it calls {title_of(called) if event == 'c_call' else dotted(*name)}"

    def imports(self, frame: FrameType) -> bool:
        """Whether the call belongs to a first import: a module's body and the finders run once."""
        above: FrameType | None = frame
        while self.importing and above is not self.importing:
            above = above and above.f_back
            self.importing = self.importing if above else None
        if frame.f_code.co_filename.startswith(IMPORTS):
            self.importing = self.importing or frame
        return self.importing is not None

    def enter(self, frame: FrameType) -> None:
        """Take up a function that only the run itself finds, since a library has kept it."""
        if frame.f_globals.get("__name__", "").startswith("namedtuple_"):
            return  # its __new__, which stands in no file, only makes a tuple
        if "own" in facts_of_code(frame.f_code).asks and any(
                issubclass(type(frame.f_locals.get(name)), ArrayLike) for name in ("self", "cls")):
            self.sentence = TYPE
        if frame.f_code not in self.reach.codes and not foreign(frame.f_globals.get("__file__") or ""):
            self.reach.codes.update(nested(frame.f_code))
            if frame.f_code.co_freevars:
                self.sentence = f"it calls {frame.f_code.co_name}, which cannot be found from it"
            else:
                self.roots.append(FunctionType(frame.f_code, frame.f_globals))

    def changes(self) -> str:
        """A sentence for what has changed since the beginning, or ""."""
        if any(pickle.dumps(state_of(x)) != pickle.dumps(before) for x, before in self.states):
            return "it draws random numbers"
        return next((f"it changes {place.words}" for place in self.reach.places if not unchanged(*place)), "")

    def places(self) -> list[Place]:
        """What the function can read, with what the run itself has found."""
        return Reach(self.roots).places


def run_plainly(fn: Callable, args: Sequence, options: dict) -> Any:
    """fn(*args, **options), with large loops by an engine."""
    with large_loops(compiled_loop):
        return fn(*args, **options)


@contextmanager
def large_loops(run: Callable | None) -> Iterator[None]:
    """A context in which `run` computes large loops of arrays."""
    before = LARGE_LOOP.set(run)
    try:
        yield
    finally:
        LARGE_LOOP.reset(before)


def compiled_loop(op: str, *args: Any) -> Sequence:
    """A loop of arrays by an engine; as plain NumPy where errors of numbers are to be raised or told."""
    function, after, k, bundle = args[:4]
    count = k + 1 if is_function(after) else len(function[4])  # of its results

    def by_engine():
        entries = {f"x{i}": x for i, x in enumerate(bundle)}
        items = [(f"y{i}", "item", ("out", i)) for i in range(count)]
        lines = [("b", "bundle", tuple(entries)), ("out", op, (*args[:3], "b", *args[4:])), *items]
        program = Compiled(lines, [dst for dst, *_ in items], "auto", None, adapts=False)
        return f.bundle(*program(entries).values())
    with large_loops(None):
        loud = {*np.geterr().values()} - {"ignore", "warn"} or bundle.table
        return G[op](*args) if loud else unheard(by_engine)  # unheard too when the program goes


def state_of(x: Any) -> dict:
    if isinstance(x, np.random.RandomState):
        return x.get_state(legacy=False)
    return getattr(x, "bit_generator", x).state
