"""jit: a plain function compiled by what it does, a list for each path that its calls take."""
from __future__ import annotations

import itertools
import os
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from ops.kinks import unclear
from ops.silence import ERRORS, loud

from ..engines.door import Compiled
from ..errors import XManError, habit, with_habits
from ..functions.call import Derivative, callable_or_refused, name_of
from ..functions.trees import TOO_DEEP, flattened_tree, unflatten
from .kinds import MISSING, Impure, Within
from .leaves import apart
from .path import TracedPath, path_of
from .reached import still_same
from .watch import Watch, run_plainly

PATHS = 8  # the most that are kept for arguments of one kind
A_WHILE = 1.0  # seconds of a first call with large arrays: after a longer one nobody waits for a trace
KINDS = 64  # the most kinds of arguments (shapes, precisions and trees) that are kept
LARGE = 2 ** 18  # bytes of a first call's arrays, above which they may go before the second


@with_habits
def jit(fn: Callable, engine: str = "auto", threads: int | None = None) -> Callable:
    """The function fn, compiled by what it does: a list of each path that calls take, run by an engine.

    fn: a function as `trace` takes it, or `grad` or `value_and_grad` of one; its inputs are those that
        `trace` has, and everything else in its arguments belongs to the program.
    engine, threads: those of `compile`. With auto the first call of each kind of arguments (shapes,
        precisions and trees) is fn's own, as plain Python, and the second is traced, so that a function that
        is called once waits for nothing; with more than 256 KiB of arrays, for which a trace takes about as
        long as the call, a first call of less than a second is traced at once. The next call runs a program.
        The last bits of results may change while that goes on. With an engine that is named the first call
        waits for the program, and all give the same bits. No result lies in the memory of an argument.

    Each call checks, before it returns, all that Python's way through fn depended on: the value of a branch,
    a loop's condition or an index, arguments that are no inputs, and what fn can read of globals, closures
    and attributes. If any of it has changed, fn is traced again, and the new path is kept beside the old
    ones. With more than 8 paths, or if fn does what a list cannot hold (it prints, draws random numbers,
    appends to a list outside) or reads what is of no kind whose whole state is compared (`jitted/kinds.py`
    has them), one RuntimeWarning says so and fn runs as plain Python.

    The result's `lists` are the paths as lists, and `guards` says in words what is checked for each path.
    `engine` and `why` say what has answered last; `settle()` makes auto choose without a clock, and wait, as
    an engine does that is named. Raises what fn raises.
    """
    callable_or_refused("jit", fn)
    return Jitted(fn, engine, threads)


class Jitted(Derivative):
    """A function with the programs of the paths that its calls have taken; made by `jit`."""

    def __new__(cls, fn: Callable, engine: str, threads: int | None) -> Jitted:
        self = super().__new__(cls, jit, fn, fn, engine, threads)
        self.compiled = partial(Compiled, engine=engine, inplace=None, threads=threads, rolls=False)
        self.locks: dict[int, threading.Lock] = {}  # by process: a forked one finds no lock that is held
        # whether a call waits for its program: where the user named the engine
        self.waits = {engine, os.environ.get("XMAN_ENGINE", "auto")} != {"auto"}
        # of the latest first call, until the second: the leaves of arguments and options, and their structure
        self.first: tuple[list[Callable], Any] | None = None
        self.latest: TracedPath | None = None  # the path of the latest call without options
        # by the kinds of the arguments: the paths, or the reason why there are none
        self.paths: dict[tuple, list[TracedPath] | str] = {}
        return self

    lists = property(lambda self: [path.steps for path in self._every_path() if not isinstance(path, str)])
    guards = property(lambda self: [[x] if isinstance(x, str) else x.words for x in self._every_path()])
    engine = property(lambda self: self._answers()[0])
    why = property(lambda self: self._answers()[1])

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a function of jit has no attribute {name!r}{habit(name)}")

    def _every_path(self) -> list[TracedPath | str]:
        if self.first:
            leaves = [leaf() for leaf in self.first[0]]
            if not any(x is None for x in leaves):
                args, options = unflatten(self.first[1], leaves)
                self(*args, **options)
        every = ([paths] if isinstance(paths, str) else paths for paths in self.paths.values())
        return [*itertools.chain.from_iterable(every)]

    def _answers(self) -> tuple[str, str]:
        """The engine of the path that was taken last, and the reason for it."""
        gone = "its only call had large arrays, which are gone" if self.first else "it has not been called"
        path = self.latest or next(reversed(self._every_path()), gone)
        if isinstance(path, str) or not path.program:
            return "python", path if isinstance(path, str) else "its result depends on no input"
        if path.program.engine == "auto":
            return "python", "its calls were plain Python and then traced; the next one runs the program"
        return path.program.engine, path.program.why

    def settle(self) -> None:
        """End the choice of auto, as `settle` of a compiled list does; from now on, calls wait for theirs."""
        self.waits = True
        for path in self._every_path():
            if not isinstance(path, str) and path.program:
                path.program.settle()

    def __call__(self, /, *args: Any, **options: Any) -> Any:
        """fn(*args, **options), by a path that holds for these values, or else by a new path."""
        fn, latest, within, failed, missed = self.__wrapped__, self.latest, False, [], []
        values = latest.reads(args) if latest and not options else None
        if values is not None:
            if (outputs := latest.outputs(values, failed, missed)) is not None:
                return own(fn(*args), args) if latest.unsure(outputs) else latest.result(outputs)
            key, fixed, inputs = latest.key, latest.fixed, values.values()
        else:
            latest, inputs, fixed, tokens = None, [], [], []
            try:
                within = apart(args, inputs, fixed, tokens)
                for name in options:
                    tokens.append(name)
                    within |= apart(options[name], fixed, fixed, tokens)
            except RecursionError:
                raise XManError(TOO_DEEP) from None
            key = tuple(tokens)
        paths = self.paths.get(key, [])
        # another trace is under way, there are no paths, or NumPy is to raise errors
        if within or isinstance(paths, str) or loud(ERRORS.get()):
            return own(fn(*args, **options), args, options)
        untried = [path for path in paths if path is not latest]
        while untried:  # first those that go the way that the path before has found
            strays = lambda k: untried[k].values[:len(missed)] != missed
            path = untried.pop(min(range(len(untried)), key=strays))
            if path.stands(fixed):
                outputs = path.outputs(dict(zip(path.inputs, inputs, strict=True)), failed, missed)
                if outputs is not None:
                    self.latest = None if options else path
                    plainly = path.unsure(outputs)
                    return own(fn(*args, **options), args, options) if plainly else path.result(outputs)
        return self._new_path(key, failed, inputs, fixed, args, options)

    def _new_path(self, key: tuple, failed: list, inputs: Iterable, fixed: list, args: tuple,
                  options: dict) -> Any:
        """The result of a call, as plain Python; then the path of the call is traced and kept, if a list can
        hold it. So nothing that a trace does has to be taken back."""
        fn, result, begins = self.__wrapped__, MISSING, key not in self.paths
        if begins:
            self._keep(key, [])
        self.first = None
        # a trace of small arrays takes many times the call; of large ones about as long, and they may go
        if begins and not self.waits and bytes_in([*inputs, *fixed]) <= LARGE:
            result = own(run_plainly(fn, args, options), args, options)
            self.first = remembered(args, options)
            return result
        try:
            watch, started = Watch([fn, *fixed]), time.perf_counter()
            before = copied(args)
            result = own(watch.run(fn, args, options), args, options)
            if begins and not self.waits and not watch.sentence and time.perf_counter() - started > A_WHILE:
                self.first = remembered(args, options)
                return result
            if watch.sentence:
                raise Impure(watch.sentence)
            if sentence := watch.changes():
                if begins:  # what it has built at its first call may serve all others
                    return result
                raise Impure(sentence)
            if not all(map(still_same, before, copied(args))):
                raise Impure("it writes into a list, a dict or an array that it was given")
            path, values = path_of(fn, key, args, options, fixed, self.compiled, watch.errors, result)
            if any(path.values == other.values for other in failed):
                raise Impure("its program does not run")
            if not agree(values, result, path.kinks):
                raise Impure("its list gives another result than Python does")
            if len(self.paths.get(key, [])) >= PATHS:
                raise Impure(f"its calls took more than {PATHS} paths; the last went by {path.words[-1]}")
        except Within:
            return own(fn(*args, **options), args, options) if result is MISSING else result
        except Impure as sentence:
            words = f"jit({name_of(fn)}): {sentence}; it runs as plain Python for arguments like these"
            warnings.warn(words, RuntimeWarning, stacklevel=3)
            self.paths[key], self.latest = str(sentence), None
            return own(fn(*args, **options), args, options) if result is MISSING else result
        self._keep(key, [path])
        self.latest = None if options else path
        if not self.waits:
            return result if path.kinks and any(map(unclear, flattened_tree(values)[0])) else values
        if path.program:
            path.program.settle()
        outputs = path.outputs(dict(zip(path.inputs, inputs, strict=True)), [], [])
        return result if outputs is None or path.unsure(outputs) else path.result(outputs)

    def _keep(self, key: tuple, paths: list[TracedPath]) -> None:
        """Put paths before those of the kind; kinds that have had no new path for longest go."""
        with self.locks.setdefault(os.getpid(), threading.Lock()):
            if not isinstance(others := self.paths.pop(key, []), str):
                others = [*paths, *others]
            self.paths[key] = others
            for old in list(self.paths)[:-KINDS]:
                del self.paths[old]


def remembered(args: tuple, options: dict) -> tuple[list[Callable], Any]:
    """The leaves, a function for each that gives it, and their structure. Large arrays are not kept alive for
    those who may ask what answers: their functions then give None."""
    leaves, structure = flattened_tree((args, options))
    weak = np.ndarray if bytes_in(leaves) > LARGE else ()
    return [weakref.ref(x) if isinstance(x, weak) else lambda x=x: x for x in leaves], structure


def own(result: Any, *arguments: Any) -> Any:
    """The result of a plain call, with copies of the arrays in it that lie in the memory of arguments."""
    is_array = lambda x: issubclass(type(x), np.ndarray)  # a traced value says that it is one
    arrays = [*filter(is_array, flattened_tree(arguments)[0])]
    shares = lambda x: is_array(x) and any([np.may_share_memory(x, a) for a in arrays])
    try:
        leaves, structure = flattened_tree(result)
    except XManError:  # it is no tree that could be built again
        return result
    if not any(map(shares, leaves)):
        return result
    return unflatten(structure, [x.copy() if shares(x) else x for x in leaves])


def bytes_in(leaves: list) -> int: return sum(x.nbytes for x in leaves if isinstance(x, np.ndarray))


def copied(args: tuple) -> list:
    """The arguments' leaves, with copies of arrays, and their structure in words."""
    leaves, structure = flattened_tree(args)
    return [str(structure), *(x.copy() if type(x) is np.ndarray else x for x in leaves)]


def agree(values: Any, result: Any, unclear_too: bool) -> bool:
    """Whether the values of a trace are the plain function's result, but for their last digits. unclear_too:
    a NaN may stand for a number, as where the second walk knows it."""
    (ours, shape), (theirs, structure) = flattened_tree(values), flattened_tree(result)
    pairs = zip(ours, theirs, strict=True)
    return str(shape) == str(structure) and all(close(x, y, unclear_too) for x, y in pairs)


def close(x: Any, y: Any, unclear_too: bool) -> bool:
    if x is y or still_same(x, y) or type(x) is slice and x == y:
        return True
    x, y = np.asarray(x), np.asarray(y)
    if x.shape != y.shape or x.dtype != y.dtype or x.dtype == object:
        return False
    if x.dtype.kind != "f":
        return bool((x == y).all())
    if unclear_too:
        y = np.where(np.isnan(x), x, y)
    rounding = np.finfo(x.dtype).eps ** 0.5
    return bool(np.allclose(x, y, rounding, rounding, equal_nan=True))
