"""For `jit`: what a function can read besides its arguments, and what it does besides returning."""
from __future__ import annotations

import copyreg
import functools
import gc
import operator
import os
import pickle
import sys
import sysconfig
import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dis import get_instructions
from itertools import repeat
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..functions.call import Derivative, name_of
from ..traced.arraylike import ArrayLike
from ..traced.refusals import inside

STANDARD = sysconfig.get_path("stdlib")
# modules whose functions do more than return a value of their arguments
WORLD = {*("time posix nt os io _io random _random secrets uuid datetime logging warnings subprocess "
           "socket importlib _contextvars").split()}
ACTS = {"print", "input", "open", "exec", "eval", "globals", "vars", "breakpoint"}  # such builtins
VALUES = (int, float, complex, str, bytes, type(None), np.generic, np.dtype, range, slice, type(Ellipsis))
GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator)
MOST = 20_000  # the most objects that are looked through
MISSING = object()


class Impure(Exception):
    """A function does or reads what a list cannot hold; the message says what."""


class Within(Exception):
    """A function reads a traced value of a call around it, whose trace it belongs to."""


class Place(NamedTuple):
    """An object that holds others: how it is read, what was read there, and what a user calls it."""
    owner: Any
    read: Callable[[Any], Iterable]
    kept: tuple
    words: str


class Globals(NamedTuple):
    """The values that a module's dictionary has under these names."""
    names: tuple[str, ...]

    def __call__(self, held: dict) -> list: return [*map(held.get, self.names, repeat(MISSING))]


def whole_array(array: np.ndarray) -> tuple: return (np.asarray(array),)
def entries(array: np.ndarray) -> Iterable: return array.flat
def pairs(held: dict) -> list: return [*held, *held.values()]
def own_names(kind: type) -> list: return pairs(vars(kind))
def slots(x: Any) -> list: return [getattr(x, name, MISSING) for name in copyreg._slotnames(type(x))]
def settings(x: FunctionType) -> tuple: return x.__code__, x.__defaults__, x.__kwdefaults__
def cell_contents(cell: CellType) -> list: return gc.get_referents(cell)  # nothing if it is empty


def remembered(cache: Any) -> list:
    """The keys and the results of a function with lru_cache, and objects of its own."""
    parts = gc.get_referents(cache)
    return parts + [x for held in parts if type(held) is dict for x in pairs(held)]


WRAPPERS = {MethodType, type(vars(type)), functools.partial, property, staticmethod, classmethod}


def unchanged(owner: Any, read: Callable, kept: tuple, _: str = "") -> bool:
    """Whether a place still holds what was kept of it; a cache may have more."""
    found = read(owner)
    if read is remembered:
        return {*map(id, kept)} <= {*map(id, found)}
    if type(found) not in (list, tuple):
        found = tuple(found)
    return len(found) == len(kept) and (all(map(operator.is_, kept, found))
                                        or all(map(still_same, kept, found)))


def steady(places: Iterable[Place]) -> Callable[[], bool]:
    """A function that says whether all places are unchanged; most hold the very objects that were kept."""
    text, known = [], {"unchanged": unchanged, "MISSING": MISSING}
    for k, place in enumerate(places):
        known |= {f"p{k}": place, f"owner{k}": place.owner}
        known |= {f"p{k}_{j}": x for j, x in enumerate(place.kept)}
        reads = {settings: [".__code__", ".__defaults__", ".__kwdefaults__"]}.get(place.read, [])
        if isinstance(place.read, Globals):
            reads = [f".get({name!r}, MISSING)" for name in place.read.names]
        same = " and ".join(f"owner{k}{read} is p{k}_{j}" for j, read in enumerate(reads))
        empty = place.read is pairs and not place.kept
        text.append(f"({same or empty and f'not owner{k}'} or unchanged(*p{k}))")
    return eval(f"lambda: {' and '.join(text) or 'True'}", known)


def still_same(a: Any, b: Any) -> bool:
    """Whether b is a, or is equal to it to the last bit."""
    if type(a) is np.ndarray is type(b):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.dtype.hasobject:
            return all(map(still_same, a.flat, b.flat))
        if a.nbytes <= 4096:  # a copy is quicker then
            return a.tobytes() == b.tobytes()
        bits = f"u{a.dtype.itemsize}" if a.dtype.itemsize in (1, 2, 4, 8) else a.dtype
        return bool((a.view(bits) == b.view(bits)).all())
    return a is b or type(a) is type(b) and isinstance(a, VALUES) and a == b and repr(a) == repr(b)


def put_back(owner: Any, read: Callable, kept: tuple, _: str) -> None:
    """Put what was kept where it was."""
    if isinstance(owner, np.ndarray):
        owner.flat = kept[0].flat if read is whole_array else kept
    elif read is cell_contents:
        owner.cell_contents, = kept
    elif isinstance(read, Globals):
        for name, x in zip(read.names, kept, strict=True):
            owner.pop(name, None) if x is MISSING else owner.update({name: x})
    elif read is own_names:
        before = by_name(kept)
        for name in vars(owner).keys() - before:
            delattr(owner, name)
        for name, x in before.items():
            if vars(owner).get(name) is not x:
                setattr(owner, name, x)
    elif read is slots:
        for name, x in zip(copyreg._slotnames(type(owner)), kept, strict=True):
            object.__delattr__(owner, name) if x is MISSING else object.__setattr__(owner, name, x)
    elif read not in (settings, remembered):
        owner.clear() if hasattr(owner, "clear") else owner.__delitem__(slice(None))  # array.array
        owner.update(by_name(kept)) if read is pairs else getattr(owner, "update",
                                                                  getattr(owner, "extend", None))(kept)


def by_name(kept: tuple) -> dict: return dict(zip(kept[:len(kept) // 2], kept[len(kept) // 2:], strict=True))


def reached(roots: Iterable[Any]) -> tuple[list[Place], list[Any], set[CodeType]]:
    """(places, generators, codes) that the roots lead to by globals, closures, defaults and attributes."""
    attributes: set[str] = set()
    while True:  # until all attributes that the code names are known
        before, found = len(attributes), walk(roots, attributes)
        if len(attributes) == before:
            return found


def walk(roots: Iterable[Any], attributes: set[str]) -> tuple[list[Place], list[Any], set[CodeType]]:
    places, generators, codes, seen, todo = [], [], set(), {}, deque((x, name_of(x)) for x in roots)
    wanted: dict[int, tuple[dict, set, str]] = {}  # for each module the globals that code reads
    while todo:
        x, words = todo.popleft()
        if issubclass(type(x), ArrayLike):
            raise Within
        if id(x) in seen or isinstance(x, VALUES):
            continue
        seen[id(x)] = x  # this keeps x alive, so its id stays its own
        if len(seen) > MOST:
            raise Impure(f"more than {MOST:,} objects can be reached from it, by {words}")
        if isinstance(x, GENERATORS):
            generators.append(x)
            continue
        if isinstance(x, FunctionType) and not foreign(x.__code__.co_filename):
            held, names, _ = wanted.setdefault(id(x.__globals__), (x.__globals__, set(), x.__module__))
            for code in nested(x.__code__):
                codes.add(code)
                # strings too: getattr(module, "rate"), vars(module)["rate"]
                attributes.update(code.co_names, (text for text in code.co_consts if isinstance(text, str)))
                for name, imported in named_in(code):
                    if imported:
                        todo += [(sys.modules[name], name)] if name in sys.modules else []
                    elif name not in names:
                        names.add(name)
                        todo += [(held[name], f"the global {name}")] if name in held else []
            cells = zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)
            todo += [(cell, f"{name} around {x.__name__}") for name, cell in cells]
            todo += [(part, f"the defaults of {x.__name__}") for part in (x.__defaults__, x.__kwdefaults__)]
            places.append(Place(x, settings, settings(x), words := f"{x.__name__} and its defaults"))
            todo.append((vars(x), words))
            continue
        places_of_it, behind = reading(x, attributes)
        todo += [(part, words) for part in behind]
        for owner, read in places_of_it:
            kept = tuple(read(owner))
            todo += [(part, words) for part in kept if part is not x]
            if read is whole_array:
                kept, words = (kept[0].copy(),), f"{words}, all its entries"
            places.append(Place(owner, read, kept, words))
    for held, names, module in filter(lambda found: found[1], wanted.values()):
        read = Globals(tuple(sorted(names)))
        found = [(name, held[name]) for name in read.names if name in held]
        words = ", ".join(name + (f" = {x!r}" if isinstance(x, VALUES) else "") for name, x in found)
        places.append(Place(held, read, tuple(read(held)), f"the globals {words} of {module}"))
    return places, generators, codes


def reading(x: Any, attributes: set[str]) -> tuple[list[tuple[Any, Callable]], Iterable]:
    """([(an object whose contents can change, how they are read), …], what else x leads to)."""
    kind = type(x)
    if isinstance(kind.__getattribute__, FunctionType):
        raise Impure(f"it can read a {kind.__name__}, whose attributes are what __getattribute__ returns")
    if hasattr(kind, "tocsr"):
        raise Impure("it can read a sparse matrix, which a list cannot hold")
    if issubclass(kind, np.ndarray) and kind not in (np.ndarray, np.memmap, np.matrix):
        raise Impure(f"it can read a {kind.__name__}, which is more than its entries")
    if isinstance(x, np.ndarray):
        fixed = x.base is None and not x.flags.writeable
        return [(x, entries)] if x.dtype == object else [] if fixed else [(x, whole_array)], ()
    if isinstance(x, CellType):
        return [(x, cell_contents)], ()
    if isinstance(x, ModuleType):
        if x is sys and "modules" in attributes:
            raise Impure("it can read sys.modules; import the module by its name")
        if known_module(x.__name__):
            return [], [os.environ] if x is os and "environ" in attributes else []
        return [(vars(x), Globals(tuple(sorted(attributes & {*vars(x)}))))], ()
    if x is os.environ:
        return [(x, pairs)], ()
    if isinstance(x, type):
        return ([], ()) if known_module(str(x.__module__)) else ([(x, own_names)], (kind, *x.__bases__))
    if isinstance(x, Derivative):
        return [], x.made
    if kind in WRAPPERS:
        return [], gc.get_referents(x)
    if kind is type(inside):
        return [(x, remembered)], ()
    if isinstance(x, weakref.ref):
        return [], [x()]
    room = str(kind.__module__).partition(".")[0]  # a class of C may have a descriptor there
    if room in WORLD or isinstance(x, (FunctionType, BuiltinFunctionType, np.ufunc)):
        return [], ()
    if hasattr(kind, "__next__"):
        raise Impure(f"it can read a {kind.__name__}, which is used up by reading; give it as an argument, "
                     "or as a list")
    found = [(vars(x), pairs)] if hasattr(x, "__dict__") else []
    found += [(x, slots)] if copyreg._slotnames(kind) else []
    if isinstance(x, dict):
        found.append((x, pairs))
    elif isinstance(x, Collection) and not found and not isinstance(x, tuple):
        found.append((x, iter))
    return found, (kind, *(x if isinstance(x, (tuple, frozenset)) else ()))


def nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from nested(part)


@functools.lru_cache
def named_in(code: CodeType) -> list[tuple[str, bool]]:
    """(name, whether it is imported) of each global and each module that the code names."""
    kinds = "_GLOBAL", "LOAD_NAME", "IMPORT_NAME"
    steps = [step for step in get_instructions(code) if step.opname.endswith(kinds)]
    return [(step.argval, step.opname == "IMPORT_NAME") for step in steps]


@functools.cache
def foreign(file: str) -> bool:
    """Whether a file is of xman, NumPy, SciPy or Python's library, which do not change."""
    return inside(file) or file.startswith(STANDARD) and "-packages" not in file


def known_module(name: str) -> bool:
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return name.partition(".")[0] in sys.stdlib_module_names or foreign(file)


def state_of(x: Any) -> dict:
    if isinstance(x, np.random.RandomState):
        return x.get_state(legacy=False)
    return getattr(x, "bit_generator", x).state


class Watch:
    """Watches what a call does besides returning: `look` hears of its calls, `undone` finds its changes."""

    def __init__(self, roots: Iterable[Any]):
        self.roots, self.sentence = list(roots), ""
        self.places, generators, self.codes = reached(self.roots)
        # callbacks of the garbage collector, which can run at any moment
        self.collecting = {getattr(callback, "__code__", None) for callback in gc.callbacks}
        self.states = [(x, state_of(x)) for x in (np.random.mtrand._rand, *generators)]

    def look(self, frame: Any, event: str, called: Any) -> None:
        """Raise Impure before the user's code calls a function of a module in WORLD."""
        user = frame if event == "c_call" else frame.f_back if event == "call" else None
        if user is None or foreign(user.f_code.co_filename) or frame.f_code in self.collecting:
            return
        if event == "c_call":
            owner, name = getattr(called, "__self__", None), called.__name__
            kind = owner if isinstance(owner, type) else type(owner)
            module = called.__module__ or "" if owner is None or kind is ModuleType else kind.__module__
            if module in WORLD or module == "builtins" and kind is ModuleType and name in ACTS:
                self.stop(f"it calls {'' if module == 'builtins' else module.lstrip('_') + '.'}{name}")
        else:
            code, module = frame.f_code, frame.f_globals.get("__name__", "")
            if module.partition(".")[0] in WORLD:
                self.stop(f"it calls {module}.{code.co_name}")
            # a function that only the run itself finds: by getattr, or in a module's list
            if not foreign(code.co_filename) and code not in self.codes:
                self.codes.update(nested(code))
                self.roots.append(FunctionType(code, frame.f_globals,
                                               closure=tuple(CellType() for _ in code.co_freevars)))

    def stop(self, sentence: str) -> None:
        self.sentence = sentence  # kept, since the function may swallow the error
        raise Impure(sentence)

    def undone(self) -> str:
        """A sentence for what the call changed, or ""; the changes are undone."""
        for x, before in self.states:
            if pickle.dumps(state_of(x)) != pickle.dumps(before):
                self.sentence = self.sentence or "it draws random numbers"
                if isinstance(x, np.random.RandomState):
                    x.set_state(before)
                else:
                    getattr(x, "bit_generator", x).state = before
        for place in self.places:
            if not unchanged(*place):
                put_back(*place)
                self.sentence = self.sentence or f"it changes {place.words}"
        return self.sentence
