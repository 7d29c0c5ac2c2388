"""For `jit`: what a function can read besides its arguments, and whether it is as it was."""
from __future__ import annotations

import abc
import functools
import itertools
import operator
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ..functions.call import Derivative, name_of
from ..traced.arraylike import ArrayLike
from . import kinds
from .code import IDENTITY, LOOKS, TYPE, facts_of_code, imported, nested
from .kinds import MISSING, Fields, Impure, Names, Within, foreign, in_c, is_value

STANDARD = sys.stdlib_module_names
MOST = 20_000  # the most objects that are looked through


class Place(NamedTuple):
    """An object that holds others: how it is read, what was read there, and what a user calls it."""
    owner: Any
    read: Callable[[Any], Iterable]
    state: tuple
    words: str


def unchanged(owner: Any, read: Callable, state: tuple, _: str = "") -> bool:
    """Whether a place still holds what was read there; a cache may have more."""
    now = read(owner)
    if read is kinds.remembered:
        return {*map(id, state)} <= {*map(id, now)}
    same = still_same if read is kinds.numbers else still_like
    return len(now) == len(state) and (all(map(operator.is_, state, now)) or all(map(same, state, now)))


def steady(places: Iterable[Place]) -> Callable[[], bool]:
    """A function that says whether all places are unchanged; most hold the very objects that were read."""
    text: list[str] = []
    scope = {"unchanged": unchanged, "still_same": still_same, "MISSING": MISSING, "is_": operator.is_}
    for k, place in enumerate(places):
        scope |= {f"p{k}": place, f"owner{k}": place.owner, f"state{k}": place.state}
        scope |= {f"p{k}_{j}": x for j, x in enumerate(place.state)}
        count, x = len(place.state), f"owner{k}"
        if isinstance(place.read, Names):
            reads = [f"{x}.get({name!r}, MISSING)" for name in place.read.names]
        elif isinstance(place.read, Fields):
            reads = [f"{x}.{name}" for name in place.read.names]
        elif place.read is kinds.attributes and type(place.owner).__getattribute__ is object.__getattribute__:
            reads = [f"type({x})", f"{x}.__dict__"][:count]
        elif place.read is kinds.type_of:
            reads = [f"type({x})"]
        elif type(place.owner) is CellType:
            reads = [f"{x}.cell_contents"][:count]
        else:
            reads = []
        same = " and ".join(f"{read} is p{k}_{j}" for j, read in enumerate(reads))
        if type(place.owner) in (dict, list) and not reads:
            now, size = (f"(*{x}, *{x}.values())", count // 2) if type(place.owner) is dict else (x, count)
            same = f"len({x}) == {size} and all(map(is_, {now}, state{k}))" if count else f"not {x}"
        if place.owner is None:
            same = f"p{k}.read(None) == p{k}.state"
        if place.read is kinds.numbers and type(place.owner) is np.ndarray:
            flags, *strides = place.state[1:]
            at = f"{x}.flags.num == {flags} and {x}.strides == {(*strides,)}"
            text.append(f"{at} and still_same(p{k}_0, {x})")
            continue
        text.append(f"({same} or unchanged(*p{k}))" if same else f"unchanged(*p{k})")
    exec(compile(f"def steady():\n try: return {' and '.join(text) or 'True'}\n"
                 " except ValueError: return False", __file__, "exec"), scope)  # a cell is empty by now
    return scope["steady"]


def still_same(a: Any, b: Any) -> bool:
    """Whether b is a, or is equal to it to the last bit."""
    if type(a) is np.ndarray is type(b):
        return a.shape == b.shape and a.dtype == b.dtype and same_bits(a, b)
    return a is b or type(a) is type(b) and is_value(a) and a == b and repr(a) == repr(b)


def still_like(a: Any, b: Any) -> bool:
    """The same; an array in another's place may lie in memory in another order."""
    return still_same(a, b) and (type(a) is not np.ndarray or kinds.layout(a) == kinds.layout(b))


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether arrays of one shape and precision are the same, 0 and −0 apart."""
    if a.dtype.hasobject:
        return all(map(still_same, a.flat, b.flat))
    if a.nbytes <= 4096:  # a copy is quicker then
        return a.tobytes() == b.tobytes()
    if a.dtype.kind == "c":
        return same_bits(a.real, b.real) and same_bits(a.imag, b.imag)
    if a.dtype.itemsize in (1, 2, 4, 8):
        bits = f"u{a.dtype.itemsize}"
        return bool((a.view(bits) == b.view(bits)).all())
    if a.dtype.kind == "f":  # longdouble, whose bytes have unused bits
        return bool(((a == b) & (np.signbit(a) == np.signbit(b)) | (a != a) & (b != b)).all())
    return a.tobytes() == b.tobytes()


# ---- the walk ----------------------------------------------------------------------------------------------

class Reach:
    """What the roots lead to by globals, closures, defaults and attributes: the places, the generators of
    random numbers, and the code. Impure for what is of no kind in `kinds`.

    For `def loss(w): return np.sum(w * settings.rate)` the places are the function, for its code and its
    defaults; its globals, for the names np and settings; the module np, for the names that code has as
    attributes, of which it has sum; and the dictionary of settings with its class, then all that these hold.
    What is found late may have code that names another attribute of np: so the walk goes on until no code
    does.
    """

    def __init__(self, roots: Iterable[Any]):
        self.roots = list(roots)
        self.attributes: set[str] = set()
        self.asks: set[str] = set()
        self.handed: set[str] = set()
        size = -1
        # until all that code names is known
        while size != (size := len(self.attributes) + len(self.asks) + len(self.handed)):
            self.walk()

    def walk(self) -> None:
        self.places: list[Place] = []
        self.generators: list[Any] = []
        self.codes: set[CodeType] = set()
        self.scopes: dict[int, tuple[Mapping, set[str], str]] = {}  # dictionaries that are read by names
        self.todo = deque((x, name_of(x)) for x in self.roots)
        visited: dict[int, Any] = {}  # the objects too, so that an id stays its object's
        while self.todo:
            x, words = self.todo.popleft()
            if issubclass(type(x), ArrayLike):
                raise Within
            if id(x) in visited or is_value(x):
                continue
            visited[id(x)] = x
            if x is type and words != "the global type":  # only type(self) is known
                raise Impure(TYPE)
            if len(visited) > MOST:
                raise Impure(f"more than {MOST:,} objects can be reached from it, by {words}")
            if isinstance(x, kinds.GENERATORS):
                if not kinds.STATES_OF_GENERATORS.isdisjoint(self.attributes):
                    raise Impure("it can read the state of a generator of random numbers")
                self.generators.append(x)
            elif isinstance(x, ModuleType):
                self.module(x, words)
            elif isinstance(x, FunctionType):
                self.function(x, words)
            else:
                self.instance(x, words)
        for scope, names, words in filter(operator.itemgetter(1), self.scopes.values()):
            read = Names(tuple(sorted(names)))
            values = [(name, scope[name]) for name in read.names if name in scope]
            shown = ", ".join(name + (f" = {x!r}" if is_value(x) else "") for name, x in values)
            self.places.append(Place(scope, read, tuple(read(scope)), f"the globals {shown} of {words}"))
        for words, read in (kinds.SWITCHES[ask] for ask in kinds.SWITCHES if ask in self.asks):
            self.places.append(Place(None, read, read(None), words))

    def add(self, owner: Any, read: Callable, words: str) -> None:
        """Take up a place, and go on with what it holds."""
        state = tuple(read(owner))
        if read is kinds.numbers:
            self.enqueue([owner.dtype, *(owner.flat if owner.dtype.hasobject else [])], words)
            state, words = (state[0].copy("K"), *state[1:]), f"{words}, all its entries"
        elif read is not kinds.TITLE:
            self.enqueue(state, words)
        if not kinds.ADDRESSES.isdisjoint(x for x in state if type(x) is str):
            raise Impure("it can read where the numbers of an array lie")
        self.places.append(Place(owner, read, state, words))

    def enqueue(self, contents: Iterable, words: str) -> None:
        """Go on with what an object holds: a function too, which may then be called where nobody hears it."""
        for x in contents:
            library = issubclass(type(x), ModuleType) and "computed" in self.asks and x.__name__ in STANDARD
            for function in kinds.scope_of(x).values() if library else [x]:
                if not kinds.is_pure(function):
                    raise Impure(f"it can hand on {kinds.title_of(function)}")
            self.todo.append((x, words))

    def look_up(self, scope: Mapping, names: Iterable[str], module: str, words: str = "") -> None:
        """Read names of a module's dictionary."""
        _, looked_up, _ = self.scopes.setdefault(id(scope), (scope, set(), module))
        for name in {*names} - looked_up:
            looked_up.add(name)
            if name in scope and not (module == "builtins" and name in LOOKS):
                self.todo.append((scope[name], words or f"the global {name}"))
                if name in self.handed:
                    self.enqueue([scope[name]], words)

    def module(self, x: ModuleType, words: str) -> None:
        scope = kinds.scope_of(x)
        if x is sys and "modules" in self.attributes:
            raise Impure("it can read sys.modules; import the module by its name")
        of_user = not foreign(kinds.file_of(x))
        answers = of_user and "__getattr__" in scope  # for what is not there yet
        names = self.attributes if answers else self.named_in(scope)
        if of_user:
            self.add(x, kinds.type_of, words)
        self.look_up(scope, names | {"__getattr__"} if of_user else names, x.__name__, words)
        if "titles" in self.asks and of_user:
            self.look_up(scope, ("__name__", "__spec__", "__loader__", "__file__"), x.__name__, words)
        if "computed" in self.asks:
            self.scopes[id(scope)][1].update(scope)
            if of_user:
                self.todo += [(value, words) for name, value in scope.items() if not name.startswith("__")]

    def named_in(self, scope: Mapping) -> set[str]:
        """The attributes that code names, of those that there are, or of all if it may ask for another."""
        return self.attributes if "missing" in self.asks else self.attributes & scope.keys()

    def function(self, x: FunctionType, words: str) -> None:
        if x.__module__ in ("copy", "dataclasses"):
            self.asks.add("copies")
        cells = zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)
        self.todo += [(cell, f"{name} around {x.__name__}") for name, cell in cells]
        if not foreign(x.__code__.co_filename):
            self.add(x, kinds.SETTINGS, words := f"{x.__name__} and its defaults")
            if "titles" in self.asks:
                self.add(x, kinds.TITLE, f"the name and the text of {x.__name__}")
            if "__annotations__" in self.attributes:
                self.todo.append((x.__annotations__, words))
            self.todo.append((vars(x), words))
            self.code(x.__code__, x.__globals__, x.__module__)

    def code(self, code: CodeType, scope: dict, module: str) -> None:
        for part in nested(code):
            facts = facts_of_code(part)
            self.codes.add(part)
            self.attributes |= facts.attributes
            self.asks |= facts.asks
            self.handed |= facts.handed
            for name, level in facts.imports:
                name = imported(name, level, scope)
                packages = itertools.accumulate(name.split("."), "{}.{}".format)
                self.look_up(sys.modules, packages, "sys.modules", name)
            self.look_up(scope, facts.names, module)
            beyond = scope.get("__builtins__", {})
            beyond = vars(beyond) if isinstance(beyond, ModuleType) else beyond
            self.look_up(beyond, [name for name in facts.names if name not in scope], "builtins")
            self.enqueue((scope.get(name, beyond.get(name)) for name in facts.handed_globals), module)
            for name, attribute in facts.sentinels:
                x = scope.get(name, beyond.get(name))
                if attribute is not None:
                    x = vars(x).get(attribute) if isinstance(x, (ModuleType, type)) else [x]
                if not no_argument(x):
                    raise Impure(IDENTITY)

    def instance(self, x: Any, words: str) -> None:
        kind = type(x)
        if kind in (operator.attrgetter, operator.methodcaller) or any(
                x is look for look in (getattr, hasattr, vars, dir)):
            self.asks |= {"computed", "missing", "titles"}
        if isinstance(x, abc.ABCMeta):
            self.asks.add("abstract")
        if isinstance(x, type):
            if not (in_c(x) or kinds.of_library(x)):
                self.add(x, kinds.names_of_class, words)
                self.todo += [(base, words) for base in (kind, *x.__mro__[1:]) if base is not type]
            elif in_c(x) and not (x in kinds.CONTENTS or x in kinds.FIXED or x.__module__ == "builtins"
                                  or kinds.computes(x.__module__, x.__name__)):
                raise Impure(f"it can read {x.__module__}.{x.__qualname__}, whose objects have a state that "
                             "cannot be compared")
            elif not in_c(x):  # the rest of a library's class does not change
                self.look_up(vars(x), self.named_in(vars(x)), x.__name__, words)
                self.todo += [(base, words) for base in x.__mro__[1:]]
            return
        if isinstance(x, Derivative):
            self.todo += [(part, words) for part in x.recipe]
            return
        if hasattr(kind, "__next__"):
            raise Impure(f"it can read a {kind.__name__}, which is used up by reading; give it as an "
                         "argument, or as a list")
        if hasattr(kind, "tocsr"):
            raise Impure("it can read a sparse matrix, which a list cannot hold")
        if kind is np.memmap:  # its map has the same bytes
            self.add(x, kinds.numbers, words)
            return
        if kind.__name__ == "cython_function_or_method" or kind is type(np.sum):
            if not kinds.computes(x.__module__, x.__name__):  # no call of it is heard
                raise Impure(f"it can call {kinds.title_of(x)}")
            return
        if isinstance(x, np.ndarray) and ("computed" in self.asks or self.attributes & {"base", "obj"}):
            self.enqueue([x.base], words)
        base = kinds.base_of(kind)
        if base in kinds.CONTENTS:
            self.add(x, kinds.CONTENTS[base], words)
        elif base in kinds.FIXED:
            self.enqueue(kinds.FIXED[base](x), words)
        elif base not in kinds.STATELESS and (base not in kinds.VALUES or kind is base):
            raise Impure(f"it can read {words}, a {kind.__qualname__}, whose whole state cannot be compared")
        if kind is not base:
            self.add(x, kinds.attributes, words)
            if kinds.slots(x):
                self.add(x, kinds.slots, words)
        elif kind in (SimpleNamespace, functools.partial):
            self.todo.append((vars(x), words))


def no_argument(x: Any) -> bool:
    """Whether x is of a kind that stands for itself: no argument that becomes an input is the same object."""
    themselves = type, ModuleType, FunctionType, BuiltinFunctionType, Enum
    return x is None or type(x) is object or isinstance(x, themselves)
