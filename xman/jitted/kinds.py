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
import copyreg
import datetime
import functools
import gc
import locale
import operator
import re
import sys
import sysconfig
import types
import typing
import warnings
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from ..traced.refusals import inside

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


class Fields(NamedTuple):
    """Reads the attributes that every object of a kind has."""
    names: tuple[str, ...]

    def __call__(self, x: Any) -> list: return [getattr(x, name) for name in self.names]


class Entries(NamedTuple):
    """Reads a container by the methods of its type in C, whatever a subclass has made of them."""
    base: type

    def __call__(self, x: Any) -> list:
        entries = [*self.base.__iter__(x)]  # not by keys: one may have another hash by now
        return entries + [*dict.values(x)] if issubclass(self.base, dict) else entries


def keys_and_values(scope: dict) -> list: return [*scope, *scope.values()]
def layout(x: np.ndarray) -> tuple: return x.flags.num, *x.strides
def numbers(x: np.ndarray) -> tuple: return x.view(np.ndarray), *layout(x)
def factory(x: collections.defaultdict) -> list: return [*Entries(dict)(x), x.default_factory]
def typecode(x: array.array) -> list: return [x.typecode, *x]
def applies(x: np.ufunc) -> list: return [y for y in gc.get_referents(x) if type(y) is not dict]
def type_of(x: Any) -> tuple: return (type(x),)


TITLE = Fields(("__name__", "__qualname__", "__module__", "__doc__", "__annotations__"))  # of a function
SETTINGS = Fields(("__code__", "__defaults__", "__kwdefaults__"))  # of a function


def record(x: np.void) -> tuple:
    """The bytes of a record, which is a view into an array of records."""
    if x.dtype.hasobject:
        raise Impure("it can read a record that holds objects")
    return x.dtype, x.tobytes()


def fields(x: np.dtype) -> list:
    """The names of the fields of a record, which can be assigned, and what they hold."""
    if x.metadata is not None:
        raise Impure("it can read the metadata of a dtype")
    return [*(x.names or ()), *([x[name] for name in x.names] if x.names else [x.base])]


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
    bases = [base for base in kind.__mro__ if base is not type]
    return [*bases, kind.__name__, kind.__qualname__, *keys_and_values(vars(kind))]


def remembered(cache: Any) -> list:
    """The keys and the results of a function with lru_cache, and objects of its own."""
    parts = gc.get_referents(cache)
    return parts + [x for part in parts if type(part) is dict for x in keys_and_values(part)]


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
    np.ufunc: applies}
FIXED |= dict.fromkeys((
    *classes(types, "MethodType BuiltinFunctionType MappingProxyType GenericAlias UnionType"),
    *map(type, ({}.keys(), {}.values(), {}.items())),
    *classes(operator, "attrgetter itemgetter methodcaller")), gc.get_referents)
# what can change: it is read at each call
CONTENTS: dict[type, Callable[[Any], Iterable]] = {
    kind: Entries(kind) for kind in (list, set, bytearray, dict, *classes(collections, "deque OrderedDict"))}
CONTENTS |= {
    collections.defaultdict: factory, array.array: typecode, np.ndarray: numbers, np.void: record,
    type(np.dtype("V1")): fields, types.CellType: gc.get_referents, type(inside): remembered,
    functools.partial: Fields(("func", "args", "keywords")),
    functools.cached_property: Fields(("func", "attrname")),
    property: Fields(("fget", "fset", "fdel", "__doc__")),  # its __init__ can be called again
    **dict.fromkeys((staticmethod, classmethod), Fields(("__func__", "__wrapped__")))}
DESCRIPTORS = classes(types, "WrapperDescriptorType MethodDescriptorType GetSetDescriptorType "
                             "ClassMethodDescriptorType BuiltinFunctionType")
# what has no state but its attributes in Python
STATELESS = {
    object, type(np.sum), type(vars(abc.ABC)["_abc_impl"]), type(vars(Names)["names"]),
    *classes(types, "SimpleNamespace CodeType MemberDescriptorType MethodWrapperType"),
    *classes(typing, "Generic TypeVar"), *DESCRIPTORS} - {types.BuiltinFunctionType}
GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator)

# names by which the state of a generator is read, and by which another is made of it
STATES_OF_GENERATORS = {
    *"bit_generator get_state __getstate__ spawn jumped deepcopy asdict astuple".split()}


def raising(_: None) -> tuple:
    """What decides whether Python, NumPy and SciPy raise an error."""
    warned = [row for row in warnings.filters if row[0] == "error"]
    numpys = np.geterr() if warned else {}
    special = sys.modules["scipy.special"].geterr() if "scipy.special" in sys.modules else {}
    return (sys.getrecursionlimit(), getattr(sys, "get_int_max_str_digits", int)(), *warned,
            *numpys.values(), *special.values())


# what functions can read of settings, by what their code asks
SWITCHES: dict[str, tuple[str, Callable[[None], tuple]]] = {
    "caught": ("what is an error", raising),
    "titles": ("the locale", lambda _: (locale.setlocale(locale.LC_ALL),)),
    "abstract": ("the classes that abstract ones count as their own", lambda _: (abc.get_cache_token(),)),
    "copies": ("how objects are copied", lambda _: (*keys_and_values(copyreg.dispatch_table),))}

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
    return kind in VALUES or isinstance(x, np.generic) and in_c(kind) and kind is not np.void or (
        isinstance(x, np.dtype) and in_c(kind) and x.metadata is None and x.base.names is None) or (
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
    string _string re _sre sre_compile sre_parse bisect _bisect heapq _heapq struct _struct weakref
    _weakref _weakrefset array""".split())
# NumPy, SciPy and xman, with all that is below them but these modules and functions
ROOMS = ("numpy", "scipy", "ops", "xman")
WORLD = frozenset("""
    numpy.lib._npyio_impl numpy.lib._datasource numpy.lib._format_impl numpy.lib.format numpy.lib.npyio
    numpy.lib._utils_impl numpy.lib.introspect numpy._core.arrayprint numpy._core.printoptions
    numpy._core.memmap numpy.ctypeslib numpy.testing numpy.f2py scipy.io scipy.datasets xman.files xman.train
    xman.cli xman.grade xman.tables xman.scale xman.export xman.explorer xman.estimators xman.show xman.plots
    xman.manager xman.register""".split())
STATES = frozenset("""is_ is_not geterr seterr geterrcall seterrcall getbufsize setbufsize fromfile _get_extobj_dict
                      _make_extobj get_handler_name get_handler_version get_workers get_overloads datetime64
                      shares_memory may_share_memory byte_bounds as_strided _dump
                      getweakrefcount getweakrefs alive peek get_type_hints""".split())
BUILTINS = vars(builtins).keys() - set(
    "print input open exec eval compile globals __import__ breakpoint id help exit quit".split())
OF_TYPES = frozenset("""mro fromkeys from_bytes fromhex maketrans __new__ __init__ __init_subclass__
                        __subclasshook__ __prepare__ __instancecheck__ __subclasscheck__ __class_getitem__
                        __call__ __getattribute__""".split())
# names with two underscores that code may read; of others, as __globals__, nothing is known
DUNDERS = {name for kind in (*classes(builtins, "object type float list dict set"), types.ModuleType,
                             types.FunctionType, np.ndarray) for name in vars(kind)}
DUNDERS |= {"__name__", "__wrapped__", "__func__", "__self__", "__dict__"}
DUNDERS -= set("__globals__ __builtins__ __subclasses__ __sizeof__ __reduce__ __reduce_ex__".split())
# methods in C that read or write more than their object: time zones, files, tables of codecs
WORLDLY = frozenset("astimezone timestamp strftime tofile dump encode decode".split())
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
    # every generator of random numbers has a lock, and the environment codes its texts
    if (module, name) in (("threading", "RLock"), ("os", "encode"), ("os", "decode")):
        return True
    return room in LIBRARY and name not in STATES or module.startswith("importlib._bootstrap")


def is_pure(x: Any) -> bool:
    """Whether x, if it is a function in C or of a library, reads and changes nothing but what is compared."""
    if type(x) is types.FunctionType:
        return not foreign(x.__code__.co_filename) or computes(module_of(x), x.__code__.co_name)
    if type(x) not in DESCRIPTORS:
        return True
    owner, name = getattr(x, "__self__", None), x.__name__
    if hasattr(x, "__objclass__") or name in WORLDLY:
        return name not in WORLDLY
    if owner is None or isinstance(owner, types.ModuleType):
        return computes(module_of(x), name)
    if isinstance(owner, type):
        return name in OF_TYPES and (not of_library(owner) or computes(owner.__module__, owner.__name__))
    base = base_of(type(owner))
    return (any(base in table for table in (VALUES, FIXED, CONTENTS, STATELESS))
            or base.__module__.partition(".")[0] in ("builtins", "numpy", "re", "itertools"))


def module_of(x: Any) -> str:
    """The module of a function, which may have another's __module__, or of the class whose method it is."""
    owner = getattr(x, "__objclass__", getattr(x, "__self__", None))
    if type(x) is types.FunctionType:
        return x.__globals__.get("__name__") or ""
    if owner is None or isinstance(owner, types.ModuleType):
        return x.__module__ or ""
    return (owner if isinstance(owner, type) else type(owner)).__module__


def title_of(x: Any) -> str:
    return dotted(module_of(x), x.__name__)


def dotted(module: str, name: str) -> str:
    return name if module == "builtins" else f"{module.lstrip('_')}.{name}"
