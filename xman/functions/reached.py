"""What a function can read besides its arguments, and what it does besides returning: as `jit` has to know both."""
from __future__ import annotations

import copyreg
import functools
import operator
import pickle
import sys
import sysconfig
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dis import get_instructions
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from .derivative import Derivative, name_of
from .refusals import inside

STANDARD = sysconfig.get_path("stdlib")
WORLD = {"time", "posix", "nt", "os", "io", "_io", "random", "_random", "secrets", "uuid", "datetime", "logging", "warnings",
         "subprocess", "socket", "input"}  # modules whose functions do more, or other, than their arguments say
ACTS = {"print", "input", "open", "exec", "eval", "globals", "vars", "breakpoint"}  # and builtins
VALUES = (int, float, complex, str, bytes, type(None), np.generic, np.dtype, range, slice, type(Ellipsis))
GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator)
MOST = 20_000  # objects that are looked through
MISSING = object()


class Impure(Exception):
    """A function does or reads what a list cannot hold; the sentence says what."""


class Place(NamedTuple):
    """Something that holds others: what `read` found there, and how that is put back."""
    owner: Any
    read: Callable[[Any], Iterable]
    kept: tuple
    words: str

    def put_back(self) -> None:
        owner, read, kept, _ = self
        if read is whole:
            owner[...] = kept[0]
        elif read is flat:
            owner.flat = kept
        elif read is contents:
            owner.cell_contents, = kept
        elif read is members:
            owner.symmetric_difference_update(owner ^ kept[0])
        elif isinstance(read, Named):
            held = vars(owner) if isinstance(owner, ModuleType) else owner
            for name, x in zip(read.names, kept, strict=True):
                held.pop(name, None) if x is MISSING else held.update({name: x})
        elif read is pairs:
            owner.clear()
            owner.update(by_name(kept))
        elif read is attributes:
            now, before = by_name(attributes(owner)), by_name(kept)
            for name in now.keys() - before:
                delattr(owner, name)
            for name, x in before.items():
                if now.get(name, MISSING) is not x:
                    (type.__setattr__ if isinstance(owner, type) else object.__setattr__)(owner, name, x)
        elif isinstance(owner, list):
            owner[:] = kept
        else:
            owner.clear()
            owner.extend(kept)


def by_name(parts: Sequence) -> dict:
    return dict(zip(parts[::2], parts[1::2], strict=True))


class Named(NamedTuple):
    """What a module has under these names."""
    names: tuple[str, ...]

    def __call__(self, owner: Any) -> list:
        held = owner if isinstance(owner, dict) else vars(owner)
        return [held.get(name, MISSING) for name in self.names]


def unchanged(owner: Any, read: Callable, kept: tuple, _: str = "") -> bool:
    """Whether what is read there is what was kept."""
    found = tuple(read(owner))
    return len(found) == len(kept) and (all(map(operator.is_, kept, found)) or all(map(same, kept, found)))


def same(a: Any, b: Any) -> bool:
    """Whether b is a, or a value or an array that is equal to it to the last bit."""
    if a is b and type(a) is not np.ndarray:
        return True
    if type(a) is not type(b):
        return False
    if type(a) is np.ndarray:
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        size = a.dtype.itemsize
        return bool((a.view(f"u{size}") == b.view(f"u{size}")).all()) if size in (1, 2, 4, 8) else a.tobytes() == b.tobytes()
    return isinstance(a, VALUES) and a == a == b and repr(a) == repr(b) or a is b


def reached(roots: Iterable[Any]) -> tuple[list[Place], list[Any], set[CodeType]]:
    """(places, generators, codes) that lead from the roots: globals, closures, defaults, attributes, and what they hold."""
    names: set[str] = set()
    while True:  # until the attributes that the code names are known
        before, (places, generators, codes) = len(names), walk(roots, names)
        if len(names) == before:
            return places, generators, codes


def walk(roots: Iterable[Any], names: set[str]) -> tuple[list[Place], list[Any], set[CodeType]]:
    places, generators, codes, seen, todo = [], [], set(), {}, deque((x, name_of(x)) for x in roots)
    read: dict[int, tuple[dict, set, str]] = {}  # of each module the globals that code reads
    while todo:
        x, words = todo.popleft()
        if id(x) in seen or isinstance(x, VALUES):
            continue
        seen[id(x)] = x  # which keeps it alive
        if len(seen) > MOST:
            raise Impure(f"more than {MOST:,} objects can be reached from it, by {words}")
        if isinstance(x, FunctionType):
            if foreign(x.__code__.co_filename):
                continue
            held, wanted, _ = read.setdefault(id(x.__globals__), (x.__globals__, set(), x.__module__))
            for code in nested(x.__code__):
                codes.add(code)
                names.update(code.co_names)
                new = {i.argval for i in get_instructions(code) if i.opname.endswith(("_GLOBAL", "LOAD_NAME"))} - wanted
                wanted |= new
                todo += [(held[name], f"the global {name}") for name in sorted(new) if name in held]
                todo += [(sys.modules[i.argval], i.argval) for i in get_instructions(code)
                         if i.opname == "IMPORT_NAME" and i.argval in sys.modules]
            cells = dict(zip(x.__code__.co_freevars, x.__closure__ or (), strict=True))
            todo += [(cell, f"{name} around {x.__name__}") for name, cell in cells.items()]
            places.append(Place(x, settings, settings(x), f"the defaults of {x.__name__}"))
            todo += [(part, f"the defaults of {x.__name__}") for part in (x.__defaults__, x.__kwdefaults__)]
            continue
        if isinstance(x, GENERATORS):
            generators.append(x)
            continue
        how, behind = reading(x, names)
        kept = tuple(how(x)) if how else ()
        todo += [(part, f"{words}.{name}" if name else words) for name, part in labelled(how, kept)]
        todo += [(part, words) for part in behind]
        if how:
            places.append(Place(x, how, (x.copy(),), f"{words}, all its entries") if how is whole else Place(x, how, kept, words))
    for held, wanted, module in read.values():
        how = Named(tuple(sorted(wanted)))
        places.append(Place(held, how, tuple(how(held)), f"the globals {', '.join(n for n in how.names if n in held)} of {module}"))
    return places, generators, codes


def labelled(how: Any, parts: tuple) -> Iterable[tuple[str, Any]]:
    """The parts with their names, where they are attributes."""
    if isinstance(how, Named):
        return zip(how.names, parts, strict=True)
    if how is attributes:
        return zip(parts[::2], parts[1::2], strict=True)
    return (("", part) for part in parts)


def reading(x: Any, names: set[str]) -> tuple[Callable | None, Iterable]:
    """(how to read what x holds, what else it leads to); None where it holds nothing that can change."""
    kind = type(x)
    if isinstance(x, np.ndarray):
        fixed = x.base is None and not x.flags.writeable
        return flat if x.dtype == object else None if fixed else whole, ()
    if isinstance(x, CellType):
        return contents, ()
    if isinstance(x, ModuleType):
        return None if known_module(x.__name__) else Named(tuple(sorted(names & {*vars(x)}))), ()
    if isinstance(x, type):
        return (None, ()) if known_module(x.__module__) else (attributes, x.__bases__)
    if isinstance(x, Derivative):
        return None, x.made
    if kind in BOUND:
        return None, [getattr(x, name) for name in BOUND[kind]]
    if isinstance(x, tuple):
        return None, x
    if isinstance(x, frozenset | set):
        return members, x
    if isinstance(x, dict):
        return pairs, ()
    if isinstance(x, (BuiltinFunctionType, np.ufunc)) or kind.__module__.partition(".")[0] in WORLD:
        return None, ()
    if hasattr(x, "__next__"):
        raise Impure(f"it can read a {kind.__name__}, which is used up by reading; give it as an argument, or as a list")
    if hasattr(x, "__dict__") or copyreg._slotnames(kind):
        return attributes, (kind, *(x if isinstance(x, list) else ()))
    return (iter, ()) if isinstance(x, Collection) else (None, ())


def whole(array: np.ndarray) -> tuple: return (array,)
def flat(array: np.ndarray) -> Iterable: return array.flat
def members(x: Any) -> tuple: return (frozenset(x),)


def settings(x: FunctionType) -> tuple:
    return x.__code__, x.__defaults__, x.__kwdefaults__


def contents(cell: CellType) -> tuple:
    try:
        return (cell.cell_contents,)
    except ValueError:  # empty
        return ()


def pairs(held: Any) -> list:
    return [part for pair in held.items() for part in pair]


def attributes(x: Any) -> list:
    """The names and the values of what x has in its __dict__ and its slots."""
    slots = [] if isinstance(x, type) else [part for name in copyreg._slotnames(type(x)) if hasattr(x, name)
                                            for part in (name, getattr(x, name))]
    return pairs(vars(x)) + slots if hasattr(x, "__dict__") else slots


def nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from nested(part)


@functools.cache
def foreign(file: str) -> bool:
    """Whether a file is of this system, NumPy, SciPy or Python's library: that does not change."""
    return inside(file) or file.startswith(STANDARD) and "-packages" not in file


def known_module(name: str) -> bool:
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return name.partition(".")[0] in sys.stdlib_module_names or foreign(file)


def state(x: Any) -> dict:
    """Where a generator of random numbers is."""
    return x.get_state(legacy=False) if isinstance(x, np.random.RandomState) else getattr(x, "bit_generator", x).state


def put_back(x: Any, before: dict) -> None:
    if isinstance(x, np.random.RandomState):
        x.set_state(before)
    else:
        getattr(x, "bit_generator", x).state = before


BOUND = {MethodType: ("__self__", "__func__"), functools.partial: ("func", "args", "keywords"), property: ("fget",),
         staticmethod: ("__func__",), classmethod: ("__func__",),
         type(foreign): ("__wrapped__",)}


class Watch:
    """What a call does besides returning: `look` hears of each call that it makes, `changed` finds what it left behind."""

    def __init__(self, roots: Iterable[Any]):
        self.roots = list(roots)
        self.places, generators, self.codes = reached(self.roots)
        self.states = [(x, state(x)) for x in (np.random.mtrand._rand, *generators)]
        self.sentence = ""

    def look(self, frame: Any, event: str, called: Any) -> None:
        """Raise Impure before a function of the WORLD is called from the user's code."""
        if event == "c_call" and not foreign(frame.f_code.co_filename):
            owner, name = getattr(called, "__self__", None), called.__name__
            kind = owner if isinstance(owner, type) else type(owner)
            module = kind.__module__ if owner is not None and kind is not ModuleType else called.__module__ or ""
            if module in WORLD or module == "builtins" and called.__self__ is sys.modules["builtins"] and name in ACTS:
                self.stop(f"it calls {'' if module == 'builtins' else module.lstrip('_') + '.'}{name}")
        elif event == "call" and frame.f_back and not foreign(frame.f_back.f_code.co_filename):
            code, module = frame.f_code, frame.f_globals.get("__name__", "")
            if module.partition(".")[0] in WORLD:
                self.stop(f"it calls {module}.{code.co_name}")
            if not foreign(code.co_filename) and code not in self.codes:  # found while it runs: by getattr, in a list of a module
                self.codes.update(nested(code))
                self.roots.append(FunctionType(code, frame.f_globals, closure=tuple(CellType() for _ in code.co_freevars)))

    def stop(self, sentence: str) -> None:
        self.sentence = sentence  # the function may swallow the error
        raise Impure(sentence)

    def undone(self) -> str:
        """What the call did, as a sentence, or nothing; what it changed is as it was."""
        for x, before in self.states:
            if pickle.dumps(state(x)) != pickle.dumps(before):
                put_back(x, before)
                self.sentence = self.sentence or "it draws random numbers"
        for place in self.places:
            if not unchanged(*place):
                place.put_back()
                self.sentence = self.sentence or f"it changes {place.words}"
        return self.sentence
