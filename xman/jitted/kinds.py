"""What `jit` knows: the kinds of objects whose whole state it compares, and the functions that only compute.

This is the promise. A function may read objects of these kinds and call these functions; where it reads or
calls anything else, it runs as plain Python, and a sentence says what that was. Nothing is believed constant
for want of a reason against it.
"""
from __future__ import annotations

import abc
import array
import builtins
import collections
import datetime
import functools
import gc
import operator
import re
import sys
import sysconfig
import types
import typing
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from ..traced.refusals import inside

TITLES = "__name__", "__qualname__", "__module__", "__doc__", "__annotations__"  # of a function
STANDARD = sysconfig.get_path("stdlib")
MISSING = object()


class Impure(Exception):
    """A function does or reads what a list cannot hold; the message says what."""


class Within(Exception):
    """A function reads a traced value of a call around it, whose trace it belongs to."""


# ---- how the contents of an object are read ----------------------------------------------------------------

class Names(NamedTuple):
    """Reads the values that a dictionary has under these names."""
    names: tuple[str, ...]

    def __call__(self, scope: dict) -> list: return [*map(scope.get, self.names, repeat(MISSING))]


class Entries(NamedTuple):
    """Reads a container by the methods of its type in C, whatever a subclass has made of them."""
    base: type

    def __call__(self, x: Any) -> list:
        entries = [*self.base.__iter__(x)]  # not by keys: one may have another hash by now
        return entries + [*dict.values(x)] if issubclass(self.base, dict) else entries


def pairs(scope: dict) -> list: return [*scope, *scope.values()]
def layout(x: np.ndarray) -> tuple: return x.flags.num, *x.strides
def numbers(x: np.ndarray) -> tuple: return x.view(np.ndarray), *layout(x)
def settings(x: types.FunctionType) -> tuple: return x.__code__, x.__defaults__, x.__kwdefaults__
def title(x: types.FunctionType) -> list: return [getattr(x, name) for name in TITLES]
def factory(x: collections.defaultdict) -> list: return [*Entries(dict)(x), x.default_factory]
def applied(x: functools.partial) -> tuple: return x.func, x.args, x.keywords
def typecode(x: array.array) -> list: return [x.typecode, *x]


def attributes(x: Any) -> tuple:
    """The class of x, and its dictionary, if it has one."""
    try:
        return type(x), object.__getattribute__(x, "__dict__")
    except AttributeError:
        return (type(x),)


def slots(x: Any) -> list:
    """The values of the slots that the classes of x have in Python."""
    return [in_slot(member, x) for kind in type(x).__mro__ if not in_c(kind) for member in vars(kind).values()
            if type(member) is types.MemberDescriptorType]


def in_slot(member: Any, x: Any) -> Any:
    try:
        return member.__get__(x)
    except AttributeError:
        return MISSING


def names_of_class(kind: type) -> list:
    registered = [ref() for ref in abc._get_dump(kind)[0]] if "_abc_impl" in vars(kind) else []
    bases = [base for base in kind.__mro__ if base is not type]
    return [*bases, kind.__name__, kind.__qualname__, *registered, *pairs(vars(kind))]


def remembered(cache: Any) -> list:
    """The keys and the results of a function with lru_cache, and objects of its own."""
    parts = gc.get_referents(cache)
    return parts + [x for part in parts if type(part) is dict for x in pairs(part)]


# ---- kinds -------------------------------------------------------------------------------------------------

def classes(module: types.ModuleType, names: str) -> tuple[type, ...]:
    return tuple([getattr(module, name) for name in names.split()])


# values: they cannot change, and lead nowhere
VALUES = (
    *classes(builtins, "int float complex str bytes bool range"),
    *classes(types, "NoneType EllipsisType NotImplementedType"),
    *classes(datetime, "date datetime time timedelta timezone"), re.Pattern)
# what cannot change, and leads to other objects
FIXED: dict[type, Callable[[Any], Iterable]] = {
    tuple: Entries(tuple), frozenset: Entries(frozenset), slice: lambda x: (x.start, x.stop, x.step),
    functools.cached_property: lambda x: (x.func,)}
FIXED |= dict.fromkeys((
    *classes(types, "MethodType BuiltinFunctionType MappingProxyType GenericAlias UnionType"),
    *classes(builtins, "property staticmethod classmethod"), *map(type, ({}.keys(), {}.values(), {}.items())),
    *classes(operator, "attrgetter itemgetter methodcaller")), gc.get_referents)
# what can change: it is read at each call
CONTENTS: dict[type, Callable[[Any], Iterable]] = {
    kind: Entries(kind) for kind in (list, set, bytearray, dict, *classes(collections, "deque OrderedDict"))}
CONTENTS |= {
    collections.defaultdict: factory, array.array: typecode, np.ndarray: numbers,
    types.CellType: gc.get_referents, functools.partial: applied, type(inside): remembered}
DESCRIPTORS = classes(types, "WrapperDescriptorType MethodDescriptorType GetSetDescriptorType "
                             "ClassMethodDescriptorType BuiltinFunctionType")
# what has no state but its attributes in Python
STATELESS = {
    object, np.ufunc, type(np.sum), type(vars(abc.ABC)["_abc_impl"]), type(vars(Names)["names"]),
    *classes(types, "SimpleNamespace CodeType MemberDescriptorType MethodWrapperType"),
    *classes(typing, "Generic TypeVar"), *DESCRIPTORS} - {types.BuiltinFunctionType}
GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator)

STATES_OF_GENERATORS = {"bit_generator", "get_state", "__getstate__", "__reduce__"}  # where they are read

HEAP = 1 << 9  # the flag of a type that is no static one; all that Python's `class` makes have it


def in_c(kind: type) -> bool:
    """Whether a class is made in C: then it has methods of its own in C, and may have a state of any form."""
    return not kind.__flags__ & HEAP or any(
        kind is (x.__self__ if type(x) is types.BuiltinFunctionType else x.__objclass__)
        for name, x in vars(kind).items()
        if type(x) in DESCRIPTORS and name not in ("__dict__", "__weakref__"))


def base_of(kind: type) -> type:
    """The class in C by which the instances of a class are laid out, or the one in Python of `FIXED`."""
    laid_out = lambda base: base is functools.cached_property or base is not object and in_c(base)
    return next(filter(laid_out, kind.__mro__), object)


def is_value(x: Any) -> bool:
    """Whether x cannot change and leads to nothing else."""
    kind = type(x)
    if kind in (datetime.datetime, datetime.time):  # a time zone may be an object of the user's
        return type(x.tzinfo) in (type(None), datetime.timezone)
    return kind in VALUES or isinstance(x, np.generic) and in_c(kind) or (
        isinstance(x, np.dtype) and in_c(kind) and x.metadata is None) or (
        issubclass(kind, tuple) and hasattr(kind, "n_sequence_fields"))  # as sys.version_info


@functools.cache
def foreign(file: str) -> bool:
    """Whether a file is of xman, NumPy, SciPy or Python's library, or a list's code; it does not change."""
    ours = inside(file) or file.endswith(" of a list>")
    return ours or file.startswith(STANDARD) and "-packages" not in file


def of_library(kind: type) -> bool:
    """Whether a class is one of Python's library, NumPy, SciPy or xman: it stands there under its name. One
    that dataclasses.make_dataclass or abc.ABCMeta makes for the user has their module's name, too."""
    module: Any = sys.modules.get(kind.__module__) if isinstance(kind.__module__, str) else None
    place = scope_of(module) if foreign(file_of(module)) else {}
    *owners, name = kind.__qualname__.split(".")
    for owner in owners:
        place = vars(place[owner]) if isinstance(place.get(owner), type) else {}
    return place.get(name) is kind


def scope_of(module: types.ModuleType) -> dict:
    """The dictionary of a module, whose class may have a __getattribute__ of its own."""
    return object.__getattribute__(module, "__dict__")


def file_of(module: Any) -> str:
    """The file of a module, which is not asked itself: it may have a __getattr__."""
    return (scope_of(module).get("__file__") or "") if isinstance(module, types.ModuleType) else ""


# ---- functions ---------------------------------------------------------------------------------------------

# modules of Python's library whose functions only compute
LIBRARY = frozenset("""
    math cmath operator _operator itertools functools _functools collections _collections _collections_abc copy
    copyreg dataclasses enum typing types abc _abc _py_abc numbers fractions statistics _statistics contextlib
    string _string re _sre sre_compile sre_parse textwrap bisect _bisect heapq _heapq struct _struct weakref
    _weakref _weakrefset keyword reprlib json _json hashlib _hashlib unicodedata graphlib difflib array zlib
    binascii base64""".split())
# NumPy, SciPy and xman, with all that is below them but these modules and functions
ROOMS = ("numpy", "scipy", "ops", "xman")
WORLD = frozenset("""
    numpy.lib._npyio_impl numpy.lib._datasource numpy.lib._format_impl numpy.lib.format numpy.lib.npyio
    numpy.lib._utils_impl numpy.lib.introspect numpy._core.arrayprint numpy._core.printoptions
    numpy._core.memmap numpy.ctypeslib numpy.testing numpy.f2py scipy.io scipy.datasets xman.files xman.train
    xman.cli xman.grade xman.tables xman.scale xman.export xman.explorer xman.estimators xman.show xman.plots
    xman.manager xman.register""".split())
STATES = frozenset("""is_ is_not geterr seterr geterrcall seterrcall getbufsize setbufsize fromfile _get_extobj_dict
                      _make_extobj get_handler_name get_handler_version""".split())
BUILTINS = vars(builtins).keys() - set(
    "print input open exec eval compile globals __import__ breakpoint id help exit quit".split())
OF_TYPES = frozenset("""mro fromkeys from_bytes fromhex maketrans __new__ __init__ __init_subclass__
                        __subclasshook__ __prepare__ __instancecheck__ __subclasscheck__ __class_getitem__
                        __call__ __getattribute__""".split())
# names with two underscores that code may read; of others, as __globals__, nothing is known
DUNDERS = {name for kind in (*classes(builtins, "object type float list dict set"), types.ModuleType,
                             types.FunctionType, np.ndarray) for name in vars(kind)}
DUNDERS |= {"__name__", "__wrapped__", "__func__", "__self__", "__dict__"}
DUNDERS -= {"__globals__", "__builtins__", "__subclasses__"}
ADDRESSES = {"__array_interface__", "__array_struct__"}  # they say where the numbers of an array lie


@functools.cache
def computes(module: str, name: str) -> bool:
    """Whether a function of a module only computes."""
    room = module.partition(".")[0]
    if room == "typing" and name.endswith("check__"):  # isinstance of its names asks for type(x)
        return False
    if room in ROOMS:
        places = [module.rsplit(".", k)[0] for k in range(module.count(".") + 1)]
        return WORLD.isdisjoint(places) and name not in STATES
    if module == "builtins":
        return name in BUILTINS
    if (module, name) == ("threading", "RLock"):  # every generator of random numbers has one
        return True
    return room in LIBRARY and name not in STATES or module.startswith("importlib._bootstrap")


def method_computes(owner: Any, name: str) -> bool:
    """Whether a method in C of an object reads and changes nothing but what is compared."""
    if isinstance(owner, type):
        return name in OF_TYPES and (not of_library(owner) or computes(owner.__module__, owner.__name__))
    base = base_of(type(owner))
    return (any(base in table for table in (VALUES, FIXED, CONTENTS, STATELESS))
            or base.__module__.partition(".")[0] in ("builtins", "numpy", "re", "itertools"))


def doing(module: str, name: str) -> str:
    """The sentence for a call of what does more than compute."""
    return f"it calls {'' if module == 'builtins' else module.lstrip('_') + '.'}{name}"
