"""jit: a plain function compiled by what it does, a list for each path that its calls take."""
from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ops import Expression

from ..engines.door import Compiled
from ..notation import shortened
from ..wengert import WengertList
from .call import number_of
from .derivative import Derivative, callable_or_refused, name_of
from .reached import VALUES, Impure, Watch, reached, same, unchanged
from .trace import is_input, parameter_names, unused, watched, written_down
from .tracer import CallTape, Tracer, is_on
from .trees import LEAF, children, flattened_tree, leaf_names, rebuilt, tree_map, unflatten

PATHS = 8  # of values, for arguments of one kind
NUMBERS = frozenset(np.typecodes["AllInteger"] + np.typecodes["Float"] + "?")
KINDS = 64  # of arguments: shapes, precisions and trees


def jit(fn: Callable, engine: str = "auto") -> Callable:
    """fn, compiled by what it does: its first call is traced, later ones run the program, which gives what fn would give.

    fn: a function as `trace` takes it, or `grad` or `value_and_grad` of one; its inputs are those that `trace` has, and
    everything else in its arguments belongs to the program. New shapes, precisions and trees are traced anew. What
    Python went by is checked at each call before a result is returned: the value of a branch, a loop's condition or an
    index, arguments that are no inputs, and what fn can read of globals, closures and attributes. Where that has
    changed, fn is traced again, and the new path is kept beside the old ones. With more than 8 of them, and where fn does what a
    list cannot hold (it prints, draws random numbers, appends to a list of its surroundings), one RuntimeWarning
    says so and fn runs as plain Python. engine: as in `compile`.

    `fn.lists` are the paths as lists, `fn.guards` what is checked for each of them, in words.
    Raises XManError as `trace` and `grad` do.
    """
    callable_or_refused("jit", fn)
    return Jitted(fn, engine)


class Jitted(Derivative):
    """A function with the programs of the paths that its calls have taken; made by `jit`."""

    def __init__(self, fn: Callable, engine: str):
        super().__init__(jit, fn, fn, engine)
        self.engine, self.lock = engine, threading.Lock()
        self.paths: dict[tuple, list[Path] | str] = {}  # by the kinds of the arguments; or why there are none

    lists = property(lambda self: [path.steps for path in self._known() if isinstance(path, Path)])
    guards = property(lambda self: [path.words if isinstance(path, Path) else [path] for path in self._known()])

    def _known(self) -> list:
        return [path for paths in self.paths.values() for path in ([paths] if isinstance(paths, str) else paths)]

    def __call__(self, /, *args: Any, **options: Any) -> Any:
        """fn(*args, **options), by a path that holds for these values; else by a new one."""
        inputs: list = []
        fixed: list = []
        tokens: list = []
        within = apart(args, inputs, fixed, tokens)
        for name in options:
            tokens.append(name)
            within |= apart(options[name], fixed, fixed, tokens)
        if within:  # another trace
            return self.__wrapped__(*args, **options)
        key, failed = tuple(tokens), []
        paths = self.paths.get(key, [])
        if isinstance(paths, str):
            return self.__wrapped__(*args, **options)
        for path in paths:
            if path.stands(fixed):
                try:
                    found = path.program(dict(zip(path.inputs, inputs, strict=True))) if path.program else {}
                except TimeoutError:
                    raise
                except Exception:  # of values for another path, or fn's own, which tracing raises
                    failed.append(path)
                    continue
                if path.taken(found):
                    if path is not paths[0]:
                        self.paths[key] = [path, *(other for other in paths if other is not path)]
                    return path.result(found)
        return self._new_path(key, failed, fixed, args, options)

    def _new_path(self, key: tuple, failed: list, fixed: list, args: tuple, options: dict) -> Any:
        """The result of a call, traced; the path is kept."""
        fn = self.__wrapped__
        try:
            path, result = traced(fn, args, options, fixed, self.engine)
            if any(path.checks == other.checks for other in failed):
                raise Impure("its program does not run")
            known = self.paths.get(key, [])
            if len(known) >= PATHS:
                raise Impure(f"its calls took more than {PATHS} paths; the last went by {path.words[-1] if path.words else ''}")
        except Impure as sentence:
            warnings.warn(f"jit({name_of(fn)}): {sentence}; it runs as plain Python for arguments like these", RuntimeWarning,
                          stacklevel=4)
            self.paths[key] = str(sentence)
            return fn(*args, **options)
        with self.lock:
            if not isinstance(known := self.paths.pop(key, []), str):
                known = [path, *known]
            self.paths[key] = known
            for old in list(self.paths)[:-KINDS]:
                del self.paths[old]
        return result


class Path:
    """One way that a call can take: the list, its program, and what has to be so."""

    def __init__(self, engine: str, steps: WengertList, inputs: list[str], fixed: list, places: list,
                 checks: dict[str, tuple[Any, str]], outputs: list, structure: Any):
        self.steps, self.inputs, self.places, self.checks = steps, inputs, places, checks
        self.fixed = [x.copy() if type(x) is np.ndarray else x for x in fixed]
        self.result = builder(structure, iter(outputs))
        wanted = dict.fromkeys((*checks, *(name for name, _ in outputs if name)))
        self.program = Compiled(steps, wanted, engine, None) if wanted else None
        self.values = [(name, was.tobytes()) for name, (was, _) in checks.items()]

    @property
    def words(self) -> list[str]:
        """What is checked, from first to last."""
        return [*(f"an argument is {shortened(x)}" for x in self.fixed), *dict.fromkeys(place.words for place in self.places),
                *(f"{line}: {shortened(was.item() if was.size == 1 else was)}" for was, line in self.checks.values())]

    def stands(self, fixed: list) -> bool:
        """Whether the arguments that are no inputs, and what fn reads, are what they were."""
        return all(map(same, self.fixed, fixed)) and all([unchanged(*place) for place in self.places])

    def taken(self, found: dict) -> bool:
        """Whether the values are those that Python went by."""
        return all([found[name].tobytes() == was for name, was in self.values])


def apart(tree: Any, inputs: list, fixed: list, tokens: list) -> bool:
    """Put the leaves of a tree among the inputs or what is fixed, all else that is to be said of it into tokens.

    The result says whether one of them is traced already.
    """
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
    tokens += kind, tuple(tree) if isinstance(tree, dict) else len(below)  # keys in the order in which fn meets them
    fixed += [getattr(tree, each.name) for each in getattr(tree, "__dataclass_fields__", {}).values() if each.metadata.get("static")]
    return any([apart(part, inputs, fixed, tokens) for _, part in below])


def builder(structure: Any, outputs: Iterable[tuple[str | None, Any]]) -> Callable[[dict], Any]:
    """The function from what the program gave to the tree of that structure; outputs: each leaf's name, or what it always is."""
    if structure is LEAF:
        name, constant = next(outputs)
        return (lambda found: as_own(constant)) if name is None else lambda found: number_of(found[name])
    below = children(structure)
    parts = [builder(part, outputs) for _, part in below]
    if type(structure) is dict:
        order = {key: parts[k] for key in structure for k in range(len(below)) if below[k][0] is key}
        return lambda found: {key: part(found) for key, part in order.items()}
    if type(structure) in (tuple, list):
        kind = type(structure)
        return lambda found: kind([part(found) for part in parts])
    return lambda found: rebuilt(structure, [part(found) for part in parts])


def traced(fn: Callable, args: tuple, options: dict, fixed: list, engine: str) -> tuple[Path, Any]:
    """The path of a call, and its result. Impure where a list cannot hold what it does; it has then done nothing yet."""
    watch, guards = Watch([fn, *fixed]), {}
    with CallTape(guards=guards) as tape:
        names: dict[int, str] = {}
        inputs, given = [], []
        for name, arg in zip(parameter_names(fn, len(args)), args, strict=True):
            leaves, structure = flattened_tree(arg)
            for k, path in enumerate(leaf_names(structure, name)):
                if is_input(leaves[k]):
                    leaves[k] = Tracer(np.array(leaves[k])[()], tape)
                    inputs.append(leaves[k])
                    names[id(leaves[k])] = unused(path, names.values())
            given.append(unflatten(structure, leaves))
        before = flattened_tree(given)
        try:
            result, variables = watched(fn, given, options, watch.look)
        except Exception:
            if watch.undone():
                raise Impure(watch.sentence) from None
            raise
        if watch.undone():
            raise Impure(watch.sentence)
        after = flattened_tree(given)
        if [*map(id, before[0])] != [*map(id, after[0])] or str(before[1]) != str(after[1]):
            raise Impure("it writes into a list or a dict that it was given")
        ends, structure = flattened_tree(result)
        for end in ends:
            if not is_on(tape, end) and not isinstance(end, (*VALUES, np.ndarray)) and not any(end is x for x in fixed):
                raise Impure(f"it returns a {type(end).__name__} of its own")
        wanted: list[tuple[str, Any]] = []
        names_taken = {*names.values()}
        stems = [*leaf_names(structure, name_of(fn) if name_of(fn).isidentifier() else "result"), *(f"guard{k}" for k in range(1, len(guards) + 1))]
        outputs, checks = [], {}
        for stem, end in zip(stems, [*ends, *(x for x, _ in guards.values())], strict=True):
            if is_on(tape, end):
                wanted.append((unused(stem, names_taken), end))
                names_taken.add(wanted[-1][0])
            name = wanted[-1][0] if is_on(tape, end) else None
            if len(outputs) < len(ends):
                outputs.append((name, None if name else as_own(end)))
            else:
                checks[name] = np.array(end.value), guards[id(end)][1]
        input_names = [names[id(x)] for x in inputs]
        steps = written_down(tape, names, wanted, variables, inputs)
        places = reached(watch.roots)[0]
        path = Path(engine, steps, input_names, fixed, places, checks, outputs, structure)
        return path, tree_map(lambda x: as_own(x.value if is_on(tape, x) else x), result)


def as_own(x: Any) -> Any:
    """An array that nobody else has; anything else as it is."""
    return number_of(np.array(x)) if isinstance(x, np.ndarray) else x
