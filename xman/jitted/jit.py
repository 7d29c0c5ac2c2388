"""jit: a plain function compiled by what it does, a list for each path that its calls take."""
from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ops import Expression, G, facts_of
from ops.kinks import unclear
from ops.loops.values import length

from ..engines.bodies import value_of
from ..engines.door import ENGINES, Compiled
from ..errors import XManError
from ..functions.call import Derivative, callable_or_refused, name_of
from ..functions.trace import is_input, traced_arguments, watched, written_down
from ..functions.tracer import CallTape, is_on
from ..functions.trees import (
    LEAF,
    TOO_DEEP,
    children,
    fields_of,
    flattened_tree,
    leaf_names,
    rebuilt,
    tree_map,
)
from ..interpreters.context import as_own, number_of
from ..notation import shortened
from ..wengert import WengertList
from .reached import VALUES, Impure, Place, Watch, Within, reached, steady, still_same

PATHS = 8  # the most that are kept for arguments of one kind
NUMBERS = frozenset(np.typecodes["AllInteger"] + np.typecodes["Float"] + "?")
KINDS = 64  # the most kinds of arguments (shapes, precisions and trees) that are kept
LONG = 20_000  # a loop that runs at least so many lines in all has its step compiled for the first call
SIZE = 10_000  # of outputs in which a NaN is looked for
DEEP = 50   # the most nested brackets in generated text: Python's parser takes few more


def jit(fn: Callable, engine: str = "auto", threads: int | None = None) -> Callable:
    """The function fn, compiled by what it does: the first call is traced, later ones run the program.

    fn: a function as `trace` takes it, or `grad` or `value_and_grad` of one; its inputs are those that
        `trace` has, and everything else in its arguments belongs to the program.
    engine, threads: those of `compile`.

    New shapes, precisions and trees are traced anew. Each call checks, before it returns, all that Python's
    way through fn depended on: the value of a branch, a loop's condition or an index, arguments that are no
    inputs, and what fn can read of globals, closures and attributes. If any of it has changed, fn is traced
    again, and the new path is kept beside the old ones. With more than 8 paths, or if fn does what a list
    cannot hold (it prints, draws random numbers, appends to a list outside), one RuntimeWarning says so and
    fn runs as plain Python.

    The result's `lists` are the paths as lists, and `guards` says in words what is checked for each path.
    Raises XManError as `trace` and `grad` do.
    """
    callable_or_refused("jit", fn)
    return Jitted(fn, engine, threads)


class Jitted(Derivative):
    """A function with the programs of the paths that its calls have taken; made by `jit`."""

    def __new__(cls, fn: Callable, engine: str, threads: int | None) -> Jitted:
        self = super().__new__(cls, jit, fn, fn, engine, threads)
        self.compiled = partial(Compiled, engine=engine, inplace=None, threads=threads)
        self.locks: dict[int, threading.Lock] = {}  # by process: a forked one finds no lock that is held
        self.latest: TracedPath | None = None  # the path of the latest call without options
        # by the kinds of the arguments: the paths, or the reason why there are none
        self.paths: dict[tuple, list[TracedPath] | str] = {}
        return self

    lists = property(lambda self: [path.steps for path in self._known() if isinstance(path, TracedPath)])
    guards = property(lambda self: [path.words if isinstance(path, TracedPath) else [path]
                                    for path in self._known()])

    def _known(self) -> list:
        return [path for paths in self.paths.values()
                for path in ([paths] if isinstance(paths, str) else paths)]

    def __call__(self, /, *args: Any, **options: Any) -> Any:
        """fn(*args, **options), by a path that holds for these values, or else by a new path."""
        latest, within, failed, missed = self.latest, False, [], []
        values = latest.reads(args) if latest and not options else None
        if values is not None:
            if (found := latest.outputs(values, failed, missed)) is not None:
                return self.__wrapped__(*args) if latest.unsure(found) else latest.result(found)
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
        if within or isinstance(paths, str):  # another trace is under way, or there are no paths
            return self.__wrapped__(*args, **options)
        rest = [path for path in paths if path is not latest]
        while rest:  # first those that go the way that the path before has found
            path = rest.pop(min(range(len(rest)), key=lambda k: rest[k].values[:len(missed)] != missed))
            if path.stands(fixed):
                found = path.outputs(dict(zip(path.inputs, inputs, strict=True)), failed, missed)
                if found is not None:
                    self.latest = None if options else path
                    return self.__wrapped__(*args, **options) if path.unsure(found) else path.result(found)
        return self._new_path(key, failed, fixed, args, options)

    def _new_path(self, key: tuple, failed: list, fixed: list, args: tuple, options: dict) -> Any:
        """The result of a call, traced; the path is kept."""
        fn = self.__wrapped__
        try:
            path, result = path_of(fn, key, args, options, fixed, self.compiled)
            if any(path.values == other.values for other in failed):
                raise Impure("its program does not run")
            known = self.paths.get(key, [])
            if len(known) >= PATHS:
                raise Impure(f"its calls took more than {PATHS} paths; the last went by {path.words[-1]}")
        except Within:
            return fn(*args, **options)
        except Impure as sentence:
            warnings.warn(f"jit({name_of(fn)}): {sentence}; it runs as plain Python for arguments like these",
                          RuntimeWarning, stacklevel=3)
            self.paths[key], self.latest = str(sentence), None
            return fn(*args, **options)
        with self.locks.setdefault(os.getpid(), threading.Lock()):
            if not isinstance(known := self.paths.pop(key, []), str):
                known = [path, *known]
            self.paths[key], self.latest = known, None if options else path
            for old in list(self.paths)[:-KINDS]:
                del self.paths[old]
        return fn(*args, **options) if path.kinks and any(map(unclear, flattened_tree(result)[0])) else result


class TracedPath:
    """One way that a call can take: the list, its program, and the conditions under which it holds."""

    def __init__(self, compiled: Callable, key: tuple, steps: WengertList, inputs: list[str],
                 args: tuple, fixed: list, places: list[Place], checks: dict[str, tuple[np.ndarray, str]],
                 outputs: list[tuple[str | None, Any]], structure: Any, walked: bool):
        self.key, self.steps, self.inputs, self.places, self.checks = key, steps, inputs, places, checks
        self.steady = steady(places)
        self.reads = reader(args, inputs, self.steady)
        self.fixed = [x.copy() if type(x) is np.ndarray else x for x in fixed]
        self.result = builder(structure, iter(outputs))
        wanted = dict.fromkeys((*checks, *(name for name, _ in outputs if name)))
        self.program = compiled(steps, wanted) if wanted else None
        self.values = [(name, comparable(was[()])) for name, (was, _) in checks.items()]
        # A derivative that is NaN: what 0·∞ is may be known to the second walk, which sees the numbers, and a
        # list is written without them (ops.kinks). Where all operators are tame, with finite slopes at
        # numbers, only infinite arguments make NaN; there numbers alone are looked at.
        self.kinks, self.slopes = walked, [name for name, _ in outputs if name] if walked else []
        self.size = 2 if all(facts_of(op).tame for _, op, _ in steps) else SIZE

    @property
    def words(self) -> list[str]:
        """The checks in words, in their order; where several have the same words, once."""
        shown = lambda was: shortened(was.item() if was.size == 1 else was)
        return list(dict.fromkeys((*(f"an argument is {shortened(x)}" for x in self.fixed),
                                   *(place.words for place in self.places),
                                   *(f"{line}: {shown(was)}" for was, line in self.checks.values()))))

    def unsure(self, outputs: dict) -> bool:
        """Whether a derivative is NaN in its outputs, so that the plain function is asked. Arrays of SIZE
        entries and more are not looked at, since that would cost as much as some programs."""
        return any([unclear(x) for name in self.slopes if getattr(x := outputs[name], "size", 1) < self.size])

    def stands(self, fixed: list) -> bool:
        """Whether the arguments that are no inputs, and what fn reads, are what they were."""
        return all(map(still_same, self.fixed, fixed)) and self.steady()

    def outputs(self, values: dict, failed: list, missed: list) -> dict | None:
        """The program's outputs; None if the program fails, as is noted in `failed`, or if this path does not
        hold: `missed` then becomes the checks up to that which found another value."""
        try:
            found = self.program(values) if self.program else {}
        except TimeoutError:
            raise
        except Exception:  # the values may be for another path; tracing raises fn's own errors
            failed.append(self)
            return None
        for k, (name, was) in enumerate(self.values):
            if (now := found[name]) is not was and (now := comparable(now)) != was:
                missed[:] = *self.values[:k], (name, now)
                return None
        return found


def comparable(x: np.ndarray | np.generic) -> np.bool_ | bytes:
    """A value of a check: NumPy has one object for each truth value, so that `is` tells them apart."""
    return x if type(x) is np.bool_ else x.tobytes()


def apart(tree: Any, inputs: list, fixed: list, tokens: list) -> bool:
    """Whether a leaf of the tree is traced. Adds the leaves to inputs or fixed, the structure to tokens."""
    kind = type(tree)
    if kind is np.ndarray and tree.dtype.char in NUMBERS:
        inputs.append(tree)
        tokens += tree.dtype, tree.shape
        return False
    if kind is float:
        inputs.append(np.float64(tree))
        tokens.append(kind)
        return False
    if kind is tuple or kind is list:
        tokens += kind, len(tree)
        return any([apart(part, inputs, fixed, tokens) for part in tree])
    if (below := children(tree)) is None:
        tokens.append(kind)
        if is_input(tree):
            inputs.append(tree)
            tokens += getattr(tree, "dtype", None), np.shape(tree)
        else:
            fixed.append(tree)
        return issubclass(kind, Expression)
    # keys in the order in which fn meets them
    tokens += kind, tuple(tree) if isinstance(tree, dict) else len(below)
    fixed += [x for _, x in fields_of(tree, static=True)]
    return any([apart(part, inputs, fixed, tokens) for _, part in below])


def reader(args: tuple, names: list[str], steady: Callable[[], bool]) -> Callable[[tuple], dict | None]:
    """The function from arguments like these to the inputs by name; it gives None for other arguments, and
    when steady() is false. names: of the inputs, in the order of `apart`."""
    text, known, leaves = [], {"real": np.float64, "steady": steady}, []

    def look(tree: Any, at: str) -> None:
        kind, own = type(tree), f"k{len(known)}"
        known[own] = kind
        text.append(f"type({at}) is not {own}")
        if kind is np.ndarray and tree.dtype.char in NUMBERS:
            known[f"d{own}"] = tree.dtype
            text.append(f"{at}.dtype != d{own} or {at}.shape != {tree.shape}")
            leaves.append(at)
        elif kind is float or kind is np.float64:
            leaves.append(f"real({at})" if kind is float else at)
        elif kind in (int, bool, str):
            known[f"n{own}"] = tree
            text.append(f"{at} != n{own}")
        elif kind in (tuple, list, dict) and at.count("[") < DEEP:
            known[f"n{own}"] = tuple(tree) if kind is dict else len(tree)
            text.append(f"tuple({at}) != n{own}" if kind is dict else f"len({at}) != n{own}")
            for key, part in children(tree):
                known[f"p{len(known)}"] = key
                look(part, f"{at}[p{len(known) - 1}]")
        else:
            text.append("True")

    look(args, "args")
    inputs = ", ".join(f"{name!r}: {leaf}" for name, leaf in zip(names, leaves, strict=False))
    return eval(f"lambda args: None if {' or '.join(text)} or not steady() else {{{inputs}}}", known)


def builder(structure: Any, outputs: Iterator[tuple[str | None, Any]]) -> Callable[[dict], Any]:
    """The function from a program's outputs to fn's result. outputs: (name, None) or (None, value) a leaf."""
    if structure is LEAF:
        name, constant = next(outputs)
        return (lambda found: as_own(constant)) if name is None else lambda found: number_of(found[name])
    parts, kind = {key: builder(part, outputs) for key, part in children(structure)}, type(structure)
    if kind is dict:
        parts = {key: parts[key] for key in structure}  # in the order in which fn made it
        return lambda found: {key: part(found) for key, part in parts.items()}
    made = [*parts.values()]
    if kind is tuple or kind is list:
        return lambda found: kind([part(found) for part in made])
    return lambda found: rebuilt(structure, [part(found) for part in made])


def path_of(fn: Callable, key: tuple, args: tuple, options: dict, fixed: list,
           compiled: Callable) -> tuple[TracedPath, Any]:
    """The path of a call, and its result. Impure where a list cannot hold the call, which is then undone;
    Within where it reads values of a trace around it."""
    watch, guards = Watch([fn, *fixed]), {}
    with CallTape(guards=guards, of_scan=scan_by_engine) as tape:
        given, inputs, names = traced_arguments(fn, args, tape)
        input_names, (leaves, look) = [names[x.name] for x in inputs], flattened_tree(given)
        try:
            result, variables = watched(fn, given, options, watch.look)
        except Exception:
            if watch.undone():
                raise Impure(watch.sentence) from None
            raise
        if watch.undone():
            raise Impure(watch.sentence)
        now = flattened_tree(given)
        if [*map(id, leaves)] != [*map(id, now[0])] or str(look) != str(now[1]):
            raise Impure("it writes into a list or a dict that it was given")
        ends, structure = flattened_tree(result)
        operands = (a for _, _, args in tape.lines for a in args)
        if any(issubclass(type(x), Expression) and not tape.has(x) for x in (*operands, *ends)):
            raise Within
        kinds = (*VALUES, np.ndarray)
        known = lambda x: is_on(tape, x) or isinstance(x, kinds) or any(x is y for y in fixed)
        if strange := [x for x in ends if not known(x)]:
            raise Impure(f"it returns a {type(strange[0]).__name__} of its own")
        stems = leaf_names(structure, name_of(fn) if name_of(fn).isidentifier() else "result")
        wanted = [(stem, x) for stem, x in zip(stems, ends, strict=True) if is_on(tape, x)]
        wanted += [(f"guard{k}", x) for k, (x, _) in enumerate(guards.values(), 1)]
        try:
            steps, found = written_down(tape, names, wanted, variables)
        except XManError as error:  # a sparse matrix, or a number of more than 64 bits
            raise Impure(str(error)) from None
        rest = iter(found)
        outputs = [(next(rest), None) if is_on(tape, x) else (None, as_own(x)) for x in ends]
        checks = {next(rest): (np.array(x.value), line) for x, line in guards.values()}
        path = TracedPath(compiled, key, steps, input_names, args, fixed, reached(watch.roots)[0], checks,
                          outputs, structure, tape.walked)
        return path, tree_map(lambda x: as_own(x.value if is_on(tape, x) else x), result)


def scan_by_engine(*args: Any) -> Any:
    """The value of a scan; the step of a long one is compiled. `Watch` does not hear of the calls in it."""
    (function, k, _, b, *_), value, before = args, G["scan"], sys.getprofile()
    if isinstance(b, tuple) and k < len(b) and length(b[k]) * len(function[3]) > LONG:
        installed = [e for e in ENGINES.values() if e.installed and not (e.on_device or e.as_written)]
        value = value_of("scan", max(installed, key=lambda engine: engine.rooms).name)
    sys.setprofile(None)
    try:
        return value(*args)
    finally:
        sys.setprofile(before)
