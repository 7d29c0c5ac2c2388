"""jit: whatever a function reads, and wherever it finds that, a change of it changes the next call.

The cases are a product: objects that hold a number (with a way to read it and a way to change it), the routes by
which a function comes to the object, and what is compiled. All are run with XMAN_ALL_CASES, a drawn sample else.
"""
from __future__ import annotations

import abc
import array
import builtins
import codecs
import collections
import contextvars
import copy
import copyreg
import ctypes
import dataclasses
import datetime
import decimal
import enum
import functools
import importlib.util
import itertools
import json
import math
import multiprocessing.sharedctypes
import numbers
import operator
import os
import pathlib
import random
import sqlite3
import sys
import tempfile
import threading
import time
import types
import typing
import warnings
import weakref
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import special

from xman import jit, value_and_grad

FOLDER = pathlib.Path(tempfile.mkdtemp())
ROOM = types.ModuleType("room")
sys.modules["room_of_test"] = ROOM


class Plain:
    rate = 2.0


class Slotted:
    __slots__ = ("rate",)


class Layers(list):
    pass


class Table(dict):
    pass


class Tags(set):
    pass


class Window(collections.deque):
    pass


class Quantity(float):
    pass


class Text(str):
    pass


class Pair(tuple):
    pass


class Mapped(types.ModuleType):
    @property
    def rate(self): return self.__dict__["hidden"]


class Computed:
    def __init__(self): self.store = {"rate": 2.0}
    def __getattr__(self, name): return self.store[name]


class Always:
    stored = [2.0]
    def __getattribute__(self, name): return Always.stored[0]


class Owned:
    stored = {"rate": 2.0}
    @property
    def rate(self): return self.stored["rate"]


class Meta(type):
    level = 2.0
    @property
    def rate(cls): return cls.level


@dataclasses.dataclass
class Settings:
    rate: float = 2.0


def made(x, **attributes):
    for name, value in attributes.items():
        setattr(x, name, value)
    return x


def kind_with(rate): return type("Kind", (), {"rate": rate})
def weighed(rate): return made(enum.IntEnum("Weight", "A").A, rate=rate)
def frozen(x):
    x.flags.writeable = False
    return x


def thawed(x, k):
    x.flags.writeable = True
    x[0] = k
    x.flags.writeable = False


def cached():
    @functools.lru_cache
    def zeros(n): return np.full(n, 2.0)
    return zeros


def function(rate):
    def fn(y=rate): return y
    return fn


def in_file(k):
    (FOLDER / "k.txt").write_text(str(k))
    np.save(FOLDER / "k.npy", np.array([k]))
    return FOLDER


def database():
    base = sqlite3.connect(":memory:", check_same_thread=False)
    base.execute("create table t(k real)")
    base.execute("insert into t values(2.0)")
    return base


def element():
    one = ElementTree.Element("a")
    one.set("rate", "2.0")
    return one


def local(rate): return made(threading.local(), rate=rate)
def variable(rate):
    one = contextvars.ContextVar("rate")
    one.set(rate)
    return one


class Structure(ctypes.Structure):
    _fields_ = [("rate", ctypes.c_double)]


PACKAGE = made(types.ModuleType("package_of_test"), __path__=[], module=types.ModuleType("package_of_test.module"))
sys.modules |= {"package_of_test": PACKAGE, "package_of_test.module": PACKAGE.module}


def rate_of_module():
    import room_of_test
    return room_of_test.rate


def matched(b):
    match b:
        case types.ModuleType(rate=k):
            return k
    return 2.0


def mapped(b):
    match b:
        case {}:
            return 5.0
    return 2.0


class Ordered:
    a, b = 2.0, 5.0


def by_place(b):
    match b:
        case Ordered(k):
            return k
    return 0.0


@typing.runtime_checkable
class Going(typing.Protocol):
    def go(self): ...


def repeated(k=2.0):
    while True:
        k = (yield k) or k


def of_warning():
    with np.errstate(divide="warn"):
        try:
            return 2.0 + 0 * (np.float64(1.0) / 0.0 == 0)
        except RuntimeWarning:
            return 5.0


def deep(n):
    try:
        return deep(n - 1) if n else 2.0
    except RecursionError:
        return 5.0


def of_special():
    try:
        return 2.0 + 0 * np.isinf(special.gamma(-1.0))
    except special.SpecialFunctionError:
        return 5.0


NOON = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
def zone(name):
    os.environ["TZ"] = name
    time.tzset()


def rate_in_package():
    import package_of_test.module
    return package_of_test.module.rate


# name: (the object with 2.0, how a function reads the number, how it is changed)
by_rate = (lambda b: b.rate, lambda b, k: setattr(b, "rate", k))
by_entry = (lambda b: b[0], lambda b, k: b.__setitem__(0, k))
by_key = (lambda b: b["rate"], lambda b, k: b.__setitem__("rate", k))
OBJECTS = {
    "list": (lambda: [2.0], *by_entry), "list_grows": (lambda: [2.0], lambda b: sum(b), lambda b, k: b.append(k - sum(b))),
    "list_in_tuple": (lambda: ([2.0],), lambda b: b[0][0], lambda b, k: b[0].__setitem__(0, k)),
    "layers": (lambda: Layers([2.0]), *by_entry), "layers_rate": (lambda: made(Layers(), rate=2.0), *by_rate),
    "dict": (lambda: {"rate": 2.0}, *by_key), "table": (lambda: Table(rate=2.0), *by_key),
    "dict_order": (lambda: {"a": 2.0, "b": 5.0}, lambda b: next(iter(b.values())), lambda b, k: b.update(a=b.pop("a") * 0 + 5.0, b=k)),
    "dict_default": (lambda: {}, lambda b: b.get("rate", 2.0), lambda b, k: b.update(rate=k)),
    "ordered": (lambda: collections.OrderedDict(a=2.0, b=5.0), lambda b: next(iter(b.values())), lambda b, k: b.move_to_end("a")),
    "defaultdict": (lambda: collections.defaultdict(float, rate=2.0), *by_key),
    "counter": (lambda: collections.Counter(rate=2), *by_key), "userdict": (lambda: collections.UserDict(rate=2.0), *by_key),
    "userlist": (lambda: collections.UserList([2.0]), *by_entry),
    "chainmap": (lambda: collections.ChainMap({}, {"rate": 2.0}), lambda b: b["rate"], lambda b, k: b.maps[1].update(rate=k)),
    "proxy": (lambda: (types.MappingProxyType(d := {"rate": 2.0}), d), lambda b: b[0]["rate"], lambda b, k: b[1].update(rate=k)),
    "proxy_alone": (lambda: made(Plain(), d=(d := {"rate": 2.0}), p=types.MappingProxyType(d)), lambda b: b.p["rate"],
                    lambda b, k: b.d.update(rate=k)),
    "values": (lambda: made(Plain(), d=(d := {"rate": 2.0}), p=d.values()), lambda b: sum(b.p), lambda b, k: b.d.update(rate=k)),
    "set": (lambda: {2.0}, lambda b: sum(b), lambda b, k: b.add(k)), "tags": (lambda: Tags({2.0}), lambda b: sum(b), lambda b, k: b.add(k)),
    "deque": (lambda: collections.deque([2.0]), *by_entry), "window": (lambda: Window([2.0]), *by_entry),
    "array": (lambda: np.full(2, 2.0), *by_entry), "array_of_one": (lambda: np.array(2.0), lambda b: float(b), lambda b, k: b.fill(k)),
    "large_array": (lambda: np.full(5000, 2.0), lambda b: b[4999], lambda b, k: b.__setitem__(4999, k)),
    "view": (lambda: made(Plain(), a=(a := np.full((2, 2), 2.0)), v=a[1]), lambda b: b.v[0], lambda b, k: b.a.__setitem__((1, 0), k)),
    "read_only_view": (lambda: made(Plain(), a=(a := np.full(2, 2.0)), v=frozen(a[:])), lambda b: b.v[0], lambda b, k: b.a.fill(k)),
    "toggled": (lambda: frozen(np.full(2, 2.0)), lambda b: b[0], thawed),
    "from_bytes": (lambda: made(Plain(), a=(a := bytearray(np.full(2, 2.0).tobytes())), v=np.frombuffer(a)), lambda b: b.v[0],
                   lambda b, k: b.a.__setitem__(slice(None), np.full(2, k).tobytes())),
    "objects": (lambda: np.array([2.0, [2.0]], object), lambda b: b[1][0], lambda b, k: b[1].__setitem__(0, k)),
    "records": (lambda: np.array([(2.0, 1)], [("rate", "f8"), ("n", "i4")]), lambda b: b["rate"][0], lambda b, k: b.__setitem__(0, (k, 1))),
    "masked": (lambda: np.ma.array([2.0, 3.0], mask=[0, 1]), lambda b: float(b.sum()), lambda b, k: b.mask.__setitem__(1, False)),
    "matrix": (lambda: np.asmatrix([[2.0]]), lambda b: b[0, 0], lambda b, k: b.__setitem__((0, 0), k)),
    "complex": (lambda: np.full(2, 2.0 + 0j), lambda b: b[0].real, lambda b, k: b.__setitem__(0, k)),
    "negative_zero": (lambda: np.zeros(5000, np.longdouble), lambda b: math.copysign(2.0, b[0]), lambda b, k: b.__setitem__(0, -0.0)),
    "polynomial": (lambda: np.polynomial.Polynomial([2.0]), lambda b: b(1.0), lambda b, k: b.coef.__setitem__(0, k)),
    "array_array": (lambda: array.array("d", [2.0]), *by_entry), "bytearray": (lambda: bytearray(b"\2"), lambda b: b[0], lambda b, k: b.append(1) or b.__setitem__(0, 5)),
    "memoryview": (lambda: memoryview(bytearray(b"\2")), lambda b: b[0], lambda b, k: b.__setitem__(0, 5)),
    "object": (lambda: made(Plain(), rate=2.0), *by_rate), "class_rate": (lambda: kind_with(2.0)(), lambda b: b.rate, lambda b, k: setattr(type(b), "rate", k)),
    "class": (lambda: kind_with(2.0), *by_rate), "slots": (lambda: made(Slotted(), rate=2.0), *by_rate), "dataclass": (Settings, *by_rate),
    "base_rate": (lambda: type("Below", (kind_with(2.0),), {})(), lambda b: b.rate, lambda b, k: setattr(type(b).__mro__[1], "rate", k)),
    "bases": (lambda: type("Below", (kind_with(2.0),), {}), lambda b: b().rate, lambda b, k: setattr(b, "__bases__", (kind_with(k),))),
    "class_of": (lambda: kind_with(2.0)(), lambda b: b.rate, lambda b, k: setattr(b, "__class__", kind_with(k))),
    "dict_of": (lambda: made(Plain(), rate=2.0), lambda b: b.rate, lambda b, k: setattr(b, "__dict__", {"rate": k})),
    "subclasses": (lambda: kind_with(2.0), lambda b: 2.0 + len(b.__subclasses__()), lambda b, k: setattr(ROOM, "kept", type("C", (b,), {}))),
    "absent_of_class": (lambda: kind_with(2.0)(), lambda b: getattr(b, "other", 2.0), lambda b, k: setattr(type(b), "other", k)),
    "property": (Owned, lambda b: b.rate, lambda b, k: Owned.stored.update(rate=k)), "metaclass": (lambda: Meta("K", (), {}), lambda b: b.rate, lambda b, k: setattr(Meta, "level", k)),
    "getattr": (Computed, lambda b: b.rate, lambda b, k: b.store.update(rate=k)),
    "getattribute": (Always, lambda b: b.rate, lambda b, k: Always.stored.__setitem__(0, k)),
    "namespace": (lambda: types.SimpleNamespace(rate=2.0), *by_rate),
    "float": (lambda: made(Quantity(1.0), rate=2.0), *by_rate), "text": (lambda: made(Text("a"), rate=2.0), *by_rate),
    "tuple": (lambda: made(Pair((1.0,)), rate=2.0), *by_rate), "member": (lambda: weighed(2.0), *by_rate),
    "function_rate": (lambda: made(function(1.0), rate=2.0), *by_rate), "default": (lambda: function(2.0), lambda b: b(), lambda b, k: setattr(b, "__defaults__", (k,))),
    "code": (lambda: function(2.0), lambda b: b(), lambda b, k: setattr(b, "__code__", (lambda y: y + 3.0).__code__)),
    "partial": (lambda: functools.partial(lambda y: y, y=2.0), lambda b: b(), lambda b, k: b.keywords.update(y=k)),
    "partial_state": (lambda: functools.partial(lambda y: y, 2.0), lambda b: b(), lambda b, k: b.__setstate__((b.func, (k,), {}, {}))),
    "lru_cache": (cached, lambda b: b(1)[0], lambda b, k: b(1).fill(k)),
    "module": (lambda: made(types.ModuleType("m"), rate=2.0), *by_rate), "module_absent": (lambda: types.ModuleType("m"), lambda b: getattr(b, "rate", 2.0), by_rate[1]),
    "module_hasattr": (lambda: types.ModuleType("m"), lambda b: 5.0 if hasattr(b, "rate") else 2.0, by_rate[1]),
    "module_computed": (lambda: made(types.ModuleType("m"), rate=2.0), lambda b: getattr(b, "RATE".lower()), by_rate[1]),
    "module_dict": (lambda: made(types.ModuleType("m"), rate=2.0), lambda b: b.__dict__["ra" + "te"], by_rate[1]),
    "module_vars": (lambda: made(types.ModuleType("m"), rate=2.0), lambda b: sum(v for n, v in vars(b).items() if n[:1] != "_"), by_rate[1]),
    "module_property": (lambda: made(Mapped("m"), hidden=2.0), lambda b: b.rate, lambda b, k: setattr(b, "hidden", k)),
    "module_lazy": (lambda: made(types.ModuleType("m"), __getattr__=(s := {"rate": 2.0}).__getitem__, store=s), lambda b: b.rate,
                    lambda b, k: b.store.update(rate=k)),
    "imported": (lambda: made(ROOM, rate=2.0), lambda b: __import__("room_of_test").rate, by_rate[1]),
    "ctypes": (lambda: ctypes.c_double(2.0), lambda b: b.value, lambda b, k: setattr(b, "value", k)), "structure": (lambda: Structure(2.0), *by_rate),
    "shared": (lambda: multiprocessing.sharedctypes.RawValue("d", 2.0), lambda b: b.value, lambda b, k: setattr(b, "value", k)),
    "local": (lambda: local(2.0), *by_rate), "context": (lambda: variable(2.0), lambda b: b.get(), lambda b, k: b.set(k)),
    "element": (element, lambda b: float(b.get("rate")), lambda b, k: b.set("rate", str(k))),
    "weak": (lambda: made(Plain(), a=(a := made(Plain(), rate=2.0)), w=weakref.ref(a)), lambda b: b.w().rate, lambda b, k: setattr(b.a, "rate", k)),
    "environment": (lambda: os.environ.update(XMAN_RATE="2.0"), lambda b: float(os.environ["XMAN_RATE"]), lambda b, k: os.environ.update(XMAN_RATE=str(k))),
    "getenv": (lambda: os.environ.update(XMAN_RATE="2.0"), lambda b: float(os.getenv("XMAN_RATE")), lambda b, k: os.environ.update(XMAN_RATE=str(k))),
    "argv": (lambda: sys.argv.append("2.0"), lambda b: float(sys.argv[-1]), lambda b, k: sys.argv.__setitem__(-1, str(k))),
    "text_file": (lambda: in_file(2.0), lambda b: float((b / "k.txt").read_text()), lambda b, k: in_file(k)),
    "opened": (lambda: in_file(2.0), lambda b: float(open(b / "k.txt").read()), lambda b, k: in_file(k)),
    "loaded": (lambda: in_file(2.0), lambda b: np.load(b / "k.npy")[0], lambda b, k: in_file(k)),
    "loadtxt": (lambda: in_file(2.0), lambda b: float(np.loadtxt(b / "k.txt")), lambda b, k: in_file(k)),
    "fromfile": (lambda: in_file(2.0), lambda b: np.fromfile(b / "k.npy", offset=128)[0], lambda b, k: in_file(k)),
    "exists": (lambda: in_file(2.0), lambda b: 5.0 if (b / "flag").exists() else 2.0, lambda b, k: (b / "flag").touch()),
    "size": (lambda: in_file(2.0), lambda b: os.path.getsize(b / "k.txt"), lambda b, k: in_file(10 * k)),
    "database": (database, lambda b: b.execute("select k from t").fetchone()[0], lambda b, k: b.execute("update t set k = ?", (k,))),
    "decimal": (lambda: made(decimal.getcontext(), prec=28), lambda b: float(decimal.Decimal(1) / decimal.Decimal(3)), lambda b, k: setattr(b, "prec", 3)),
    "options": (lambda: np.set_printoptions(precision=8), lambda b: len(str(np.array([1 / 3]))), lambda b, k: np.set_printoptions(precision=3)),
    "error_state": (lambda: None, lambda b: 5.0 if np.geterr()["under"] == "raise" else 2.0, lambda b, k: np.seterr(under="raise")),
    "thread_name": (threading.current_thread, lambda b: len(threading.current_thread().name), lambda b, k: setattr(b, "name", b.name + "x")),
    "recursion": (lambda: None, lambda b: sys.getrecursionlimit(), lambda b, k: sys.setrecursionlimit(sys.getrecursionlimit() + 1)),
    "lock": (threading.Lock, lambda b: 5.0 if b.locked() else 2.0, lambda b, k: b.acquire()),
    "function_name": (lambda: function(2.0), lambda b: len(b.__name__), lambda b, k: setattr(b, "__name__", "another")),
    "function_doc": (lambda: made(function(2.0), __doc__="ab"), lambda b: len(b.__doc__), lambda b, k: setattr(b, "__doc__", "abcde")),
    "annotation": (lambda: made(function(2.0), __annotations__={"y": 2.0}), lambda b: b.__annotations__["y"], lambda b, k: b.__annotations__.update(y=k)),
    "function_text": (lambda: function(2.0), lambda b: len(f"{b}".split(" at ")[0]), lambda b, k: setattr(b, "__qualname__", "another")),
    "class_name": (lambda: kind_with(2.0), lambda b: len(b.__name__), lambda b, k: setattr(b, "__name__", "Another")),
    "class_text": (lambda: kind_with(2.0)(), lambda b: len(repr(b).split(" ")[0]), lambda b, k: setattr(type(b), "__qualname__", "Another")),
    "module_text": (lambda: types.ModuleType("m"), lambda b: len(repr(b)), lambda b, k: setattr(b, "__name__", "another")),
    "writeable": (lambda: np.ones(2), lambda b: 2.0 + b.flags.writeable, lambda b, k: frozen(b)),
    "order": (lambda: [np.arange(4.0).reshape(2, 2)], lambda b: b[0].ravel("K")[1], lambda b, k: b.__setitem__(0, np.asfortranarray(b[0]))),
    "strides": (lambda: [np.ones((2, 2))], lambda b: b[0].strides[0], lambda b, k: b.__setitem__(0, np.ones((2, 4))[:, :2])),
    "interface": (lambda: (a := np.full(1, 2.0), type("Kind", (), {"__array_interface__": a.__array_interface__})()), lambda b: np.asarray(b[1])[0],
                  lambda b, k: b[0].fill(k)),
    "metadata": (lambda: [np.dtype("f4", metadata={"k": 2.0})], lambda b: b[0].metadata["k"], lambda b, k: b.__setitem__(0, np.dtype("f4", metadata={"k": k}))),
    "module_replaced": (lambda: sys.modules.update(room_of_test=made(types.ModuleType("room"), rate=2.0)), lambda b: rate_of_module(),
                        lambda b, k: sys.modules.update(room_of_test=made(types.ModuleType("room"), rate=k))),
    "module_in_package": (lambda: made(PACKAGE, module=made(PACKAGE.module, rate=2.0)), lambda b: rate_in_package(),
                          lambda b, k: setattr(b, "module", made(types.ModuleType("module"), rate=k))),
    "made_by_dataclasses": (lambda: dataclasses.make_dataclass("Made", [("rate", float, 2.0)]), lambda b: b().rate, lambda b, k: setattr(b.__init__, "__defaults__", (k,))),
    "registered": (lambda: abc.ABCMeta("Kind", (), {}), lambda b: 5.0 if isinstance(2, b) else 2.0, lambda b, k: b.register(int)),
    "by_format": (lambda: made(types.ModuleType("m"), rate=2.0), lambda b: float(str.format(*("{0.rate}", b))), by_rate[1]),
    "by_map": (lambda: made(types.ModuleType("m"), rate=2.0), lambda b: float("{m.rate}".format_map({"m": b})), by_rate[1]),
    "matched": (lambda: made(types.ModuleType("m"), rate=2.0), matched, by_rate[1]), "matched_absent": (lambda: types.ModuleType("m"), matched, by_rate[1]),
    "class_of_library": (lambda: setattr(collections.UserDict, "rate", 2.0), lambda b: collections.UserDict.rate, lambda b, k: setattr(collections.UserDict, "rate", k)),
    "state_of_generator": (lambda: np.random.RandomState(1), lambda b: b.get_state()[1][0], lambda b, k: b.seed(2)),
    "state_of_bits": (lambda: np.random.default_rng(1), lambda b: b.bit_generator.state["state"]["state"] % 1000, lambda b, k: b.random()),
    "module_getattribute": (lambda: types.new_class("Odd", (types.ModuleType,), {}, lambda d: d.update(__getattribute__=lambda s, n: 2.0))("m"), lambda b: b.rate,
                            lambda b, k: setattr(type(b), "__getattribute__", lambda s, n: k)),
    "metaclass_without_hash": (lambda: type("Meta", (type,), {"__eq__": lambda a, b: a is b})("Kind", (), {"rate": 2.0})(), lambda b: b.rate, lambda b, k: setattr(type(b), "rate", k)),
    "record": (lambda: np.array([(2.0, 1)], [("rate", "f8"), ("n", "i4")])[0], *by_key),
    "record_of_table": (lambda: (a := np.rec.array([(2.0, 1)], [("rate", "f8"), ("n", "i4")]), a[0]), lambda b: b[1].rate, lambda b, k: b[0].fill((k, 1))),
    "records_with_lists": (lambda: np.array([([2.0], 1)], [("rate", object), ("n", "i4")]), lambda b: b["rate"][0][0], lambda b, k: b["rate"][0].__setitem__(0, k)),
    "names_of_fields": (lambda: np.array([(2.0, 5.0)], [("rate", "f8"), ("n", "f8")]), lambda b: b["rate"][0], lambda b, k: setattr(b.dtype, "names", ("n", "rate"))),
    "names_within": (lambda: np.array([((2.0, 5.0),)], [("inner", [("rate", "f8"), ("n", "f8")])]), lambda b: b["inner"]["rate"][0],
                     lambda b, k: setattr(b.dtype["inner"], "names", ("n", "rate"))),
    "base_of_view": (lambda: np.full(9, 2.0)[:4], lambda b: b.base[8], lambda b, k: b.base.fill(k)),
    "base_of_iterator": (lambda: np.full(9, 2.0)[:4], lambda b: b.flat.base.base[8], lambda b, k: b.base.fill(k)),
    "outside_view": (lambda: np.full(9, 2.0)[:1], lambda b: np.lib.stride_tricks.as_strided(b, (9,))[8], lambda b, k: b.base.fill(k)),
    "memory": (lambda: [(a := np.zeros(2))[:1], a[:1]], lambda b: 2.0 + np.shares_memory(*b), lambda b, k: b.__setitem__(0, np.zeros(2)[:1])),
    "cached_property": (lambda: type("Kind", (), {"rate": functools.cached_property(function(2.0))}), lambda b: b.rate.func(), lambda b, k: setattr(b.rate, "func", function(k))),
    "registered_number": (lambda: type("Kind", (), {})(), lambda b: 2.0 + isinstance(b, numbers.Real), lambda b, k: numbers.Real.register(type(b))),
    "matched_mapping": (lambda: type("Kind", (), {})(), mapped, lambda b, k: collections.abc.Mapping.register(type(b))),
    "registered_copy": (lambda: made(Plain(), rate=2.0), lambda b: copy.copy(b).rate, lambda b, k: copyreg.pickle(Plain, lambda b: (types.SimpleNamespace, (), {"rate": k}))),
    "clone_of_generator": (lambda: np.random.default_rng(1), lambda b: copy.deepcopy(b).random(), lambda b, k: b.random()),
    "recursion_caught": (lambda: None, lambda b: deep(800), lambda b, k: sys.setrecursionlimit(600)),
    "special_error": (lambda: None, lambda b: of_special(), lambda b, k: special.seterr(all="raise")),
    "time_zone": (lambda: zone("UTC"), lambda b: 2.0 + NOON.astimezone().hour, lambda b, k: zone("Asia/Tokyo")),
    "codec": (lambda: codecs.register_error("test", lambda e: ("ab", e.end)), lambda b: len("ä".encode("ascii", "test")), lambda b, k: codecs.register_error("test", lambda e: ("abcde", e.end))),
    "size_of_list": (lambda: [1.0], lambda b: b.__sizeof__(), lambda b, k: b.extend(range(99))),
    "module_class": (lambda: made(types.ModuleType("m"), rate=2.0), lambda b: b.rate, lambda b, k: setattr(b, "__class__", type("M", (types.ModuleType,), {"rate": property(lambda m: k)}))),
    "module_found": (lambda: (FOLDER / "found_by_test.py").unlink(True), lambda b: 2.0 + (importlib.util.find_spec("found_by_test") is None),
                     lambda b, k: ((FOLDER / "found_by_test.py").touch(), importlib.invalidate_caches())),
    "references": (Plain, lambda b: 2.0 + weakref.getweakrefcount(b), lambda b, k: setattr(b, "own", weakref.ref(b, print))),
    "finalized": (lambda: [a := Plain(), weakref.finalize(a, int)], lambda b: 2.0 + b[-1].alive, lambda b, k: b.pop(0)),
    "mapped_in_c": (lambda: in_file("2.0"), lambda b: sum(s.st_size for s in map(os.stat, [str(b / "k.txt")])), lambda b, k: in_file("2.05")),
    "computed_in_c": (lambda: in_file("2.0"), lambda b: sum(s.st_size for s in map(getattr(os, "STAT".lower()), [str(b / "k.txt")])), lambda b, k: in_file("2.05")),
    "applied_in_c": (lambda: functools.partial(os.stat, in_file("2.0") / "k.txt"), lambda b: b().st_size, lambda b, k: in_file("2.05")),
    "property_in_c": (lambda: type("Kind", (str,), {"state": property(os.stat)})(in_file("2.0") / "k.txt"), lambda b: b.state.st_size, lambda b, k: in_file("2.05")),
    "ufunc_in_c": (lambda: (np.frompyfunc(os.stat, 1, 1), in_file("2.0") / "k.txt"), lambda b: b[0](b[1]).st_size, lambda b, k: in_file("2.05")),
    "ufunc_of_python": (lambda: (r := [2.0], np.frompyfunc(lambda y: y * r[0], 1, 1)), lambda b: b[1](1.0), lambda b, k: b[0].__setitem__(0, k)),
    "vectorized": (lambda: (np.vectorize(os.path.getsize), str(in_file("2.0") / "k.txt")), lambda b: int(b[0](b[1])), lambda b, k: in_file("2.05")),
    "property_again": (lambda: type("Kind", (), {"rate": property(lambda b: 2.0)})(), lambda b: b.rate, lambda b, k: vars(type(b))["rate"].__init__(lambda b: k)),
    "static_again": (lambda: type("Kind", (), {"rate": staticmethod(lambda: 2.0)}), lambda b: b.rate(), lambda b, k: vars(b)["rate"].__init__(lambda: k)),
    "text_of_library": (lambda: setattr(json.JSONEncoder, "item_separator", ", "), lambda b: len(json.dumps([1, 2])),
                         lambda b, k: setattr(json.JSONEncoder, "item_separator", ",   ")),
    "type_hints": (lambda: made(function(2.0), __annotations__={}), lambda b: 2.0 + len(typing.get_type_hints(b)), lambda b, k: b.__annotations__.update(y=int)),
    "warned": (lambda: None, lambda b: of_warning(), lambda b, k: warnings.filterwarnings("error", "divide by zero")),
    "match_args": (lambda: made(Ordered, __match_args__=("a",))(), by_place, lambda b, k: setattr(Ordered, "__match_args__", ("b",))),
    "slot_moved": (lambda: made(type("Kind", (), {"__slots__": ("a", "b")})(), a=2.0, b=5.0), lambda b: b.a, lambda b, k: setattr(type(b), "a", type(b).b)),
    "member_of_value": (lambda: enum.Enum("Kind", {"A": 2.0, "B": 5.0}), lambda b: b(2.0).value, lambda b, k: b._value2member_map_.update({2.0: b.B})),
    "field_default": (lambda: dataclasses.make_dataclass("Kind", [("rate", float, 2.0)]), lambda b: dataclasses.fields(b)[0].default,
                      lambda b, k: setattr(b.__dataclass_fields__["rate"], "default", k)),
    "partial_method": (lambda: type("Kind", (), {"two": functools.partialmethod(lambda b, k: k, 2.0)})(), lambda b: b.two(), lambda b, k: setattr(vars(type(b))["two"], "args", (k,))),
    "protocol": (lambda: type("Kind", (), {})(), lambda b: 2.0 + isinstance(b, Going), lambda b, k: setattr(type(b), "go", int)),
    "mapping_of_view": (lambda: made(Plain(), d=(d := {"rate": 2.0}), v=d.keys()), lambda b: b.v.mapping["rate"], lambda b, k: b.d.update(rate=k)),
    "of_exception": (lambda: ValueError(2.0), lambda b: b.args[0], lambda b, k: setattr(b, "args", (k,))),
    "of_frame": (lambda: (g := repeated(), next(g))[0], lambda b: b.send(None), lambda b, k: b.send(k)),
    "foreign_absent": (lambda: vars(math).pop("mine", None), lambda b: getattr(math, "mine", 2.0), lambda b, k: setattr(math, "mine", k)),
}

# special methods that a class is given another of: (what calls it, its result as a function of a number)
METHODS = {"len": (len, int), "call": (lambda b: b(), float), "float": (float, float), "getitem": (lambda b: b[3], float), "hash": (hash, int),
           "contains": (lambda b: 2.0 + (1 in b), lambda k: k > 2), "iter": (sum, lambda k: iter([k])), "bool": (lambda b: 2.0 + bool(b), lambda k: k > 2),
           "add": (lambda b: b + 1, float), "radd": (lambda b: 1 + b, float), "eq": (lambda b: 2.0 + (b == 3), lambda k: k > 2), "abs": (abs, float),
           "str": (lambda b: len(str(b)), lambda k: "a" * int(k)), "format": (lambda b: len(f"{b}"), lambda k: "a" * int(k)), "index": (operator.index, int),
           "array": (lambda b: np.asarray(b)[0], lambda k: np.full(1, k)), "copy": (copy.copy, float), "trunc": (math.trunc, int), "reversed": (lambda b: reversed(b)[0], lambda k: [k])}


def answering(name, k):
    _, result = METHODS[name]
    return lambda self, *args, **options: result(k)


for _name in METHODS:  # of a class for its objects, and of its metaclass for the class
    OBJECTS[f"__{_name}__"] = (lambda n=_name: type("Kind", (), {f"__{n}__": answering(n, 2.0)})(), METHODS[_name][0],
                               lambda b, k, n=_name: setattr(type(b), f"__{n}__", answering(n, k)))
    if _name not in ("hash", "eq", "copy", "array"):
        OBJECTS[f"meta__{_name}__"] = (lambda n=_name: type("Meta", (type,), {f"__{n}__": answering(n, 2.0)})("Kind", (), {}), *OBJECTS[f"__{_name}__"][1:])


# name: from the object and its reader a function of x, and what sets another object in its place (None: nothing does)
def closure(box, read):
    def fn(x): return np.sum(x) * read(box)
    return fn


def default(box, read):
    def fn(x, b=box): return np.sum(x) * read(b)
    return fn


def keyword(box, read): return functools.partial(lambda x, b: np.sum(x) * read(b), b=box)
def positional(box, read): return functools.partial(lambda b, x: np.sum(x) * read(b), box)


def in_list(box, read):
    boxes = [None, box]
    return lambda x: np.sum(x) * read(boxes[len(boxes) - 1])


def in_dict(box, read):
    boxes = {"the box": box}
    return lambda x: np.sum(x) * read(boxes["the " + "box"])


def of_object(box, read):
    holder = made(Plain(), box=box)
    return lambda x: np.sum(x) * read(holder.box)


def of_method(box, read):
    class Model:
        def __init__(self): self.box = box
        def __call__(self, x): return np.sum(x) * self.factor()
        def factor(self): return read(self.box)
    return Model()


def of_class(box, read):
    class Model:
        boxes = (box,)
        @classmethod
        def at(cls, x): return np.sum(x) * read(cls.boxes[0])
    return Model.at


def of_module(box, read):
    room = made(types.ModuleType("holder"), box=box, read=read)
    return lambda x: np.sum(x) * room.read(room.box)


def by_computed_name(box, read):
    room = made(types.ModuleType("holder"), box=box)
    return lambda x: np.sum(x) * read(getattr(room, "b" + "OX".lower()))


def of_global(box, read):
    room = made(types.ModuleType("holder"), box=box, read=read)
    exec("import numpy as np\ndef fn(x): return np.sum(x) * read(box)", vars(room))
    return room.fn


def by_helper(box, read):
    def helper(): return read(box)
    def wrapped(*args): return helper(*args)
    return lambda x: sum(map(lambda y: y * wrapped(), x))


def in_comprehension(box, read): return lambda x: np.sum(np.stack([y * read(b) for b in [box] for y in x]))


def caught(box, read):
    def fn(x):
        try:
            return np.sum(x) * read(box)
        except LookupError:
            return np.sum(x)
    return fn


ROUTES = [closure, default, keyword, positional, in_list, in_dict, of_object, of_method, of_class, of_module, by_computed_name,
          of_global, by_helper, in_comprehension, caught]
CASES = [*itertools.product(OBJECTS, ROUTES, (False, True))]
if not os.environ.get("XMAN_ALL_CASES"):
    CASES = [(name, random.Random(name).choice(ROUTES), k % 2 == 0) for k, name in enumerate(OBJECTS)]


@pytest.mark.filterwarnings("ignore:jit.*runs as plain Python", "ignore::ResourceWarning", "ignore:.*matrix subclass")
@pytest.mark.parametrize(("name", "route", "gradient"), CASES, ids=[f"{name}-{route.__name__}-{g:d}" for name, route, g in CASES])
def test_a_change_of_what_is_read_changes_the_next_call(name, route, gradient, monkeypatch):
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    monkeypatch.setenv("XMAN_RATE", "2.0")
    monkeypatch.setenv("TZ", os.environ.get("TZ", "UTC"))
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setitem(sys.modules, "room_of_test", ROOM)
    for folder, key, value in ((Owned.stored, "rate", 2.0), (Always.stored, 0, 2.0)):
        folder[key] = value
    Meta.level = 2.0
    (FOLDER / "flag").unlink(missing_ok=True)
    limit, thread = sys.getrecursionlimit(), threading.current_thread().name
    make, read, change = OBJECTS[name]
    box = make()
    plain = route(box, read)
    plain = value_and_grad(plain) if gradient else plain
    fast, x = jit(plain, "numpy"), np.array([1.0, 2.0])
    try:
        with np.errstate(all="warn"), np.printoptions():
            before = [plain(x), fast(x), fast(x), fast(x)]
            change(box, 5.0)
            after = [plain(x), fast(x), fast(x)]
    finally:
        sys.setrecursionlimit(limit)
        threading.current_thread().name = thread
        decimal.getcontext().prec = 28
        special.seterr(all="ignore")
        copyreg.dispatch_table.pop(Plain, None)
        vars(math).pop("mine", None)
        json.JSONEncoder.item_separator = ", "
    numbers = lambda calls: [float(call[0] if gradient else call) for call in calls]
    assert len({*numbers(before)}) == 1 == len({*numbers(after)})
    assert numbers(before)[0] != numbers(after)[0]  # the case changes something


# ---- what stands for an argument -----------------------------------------------------------------------------------------

class Tagged(np.ndarray):
    rate = 5.0


class Fine(float):
    rate = 5.0


def of_exception(read, x):
    try:
        return read(x)
    except (AttributeError, TypeError):
        return 7.0


def kind_of(x, kind=type): return len(kind(x).__name__)
def kind_of_own(self): return len(type(self).__name__)
def kind_by_module(x): return len(builtins.type(x).__name__)


ONES, ZERO_D, HALVES = np.ones(2), np.array(2.0), np.ones(2, np.float32)
# what a function asks of an argument; the first values of its factor are 0, so that no check of results tells the answers apart
ASKED = {
    "dtype": lambda x: len(str(getattr(x, "dtype", ""))), "shape": lambda x: 1.0 + hasattr(x, "shape"), "ndim": lambda x: of_exception(lambda y: y.ndim, x),
    "T": lambda x: 1.0 + hasattr(x, "T"), "len": lambda x: of_exception(len, x), "item": lambda x: 1.0 + hasattr(x, "item"), "index": lambda x: of_exception(lambda y: 1.0 + (y[()] == 0) * 0, x),
    "name": lambda x: 1.0 + hasattr(x, "name"), "value": lambda x: 1.0 + hasattr(x, "va" + "lue"), "tape": lambda x: len(getattr(x, "tape", "1")),
    "__len__": lambda x: 1.0 + hasattr(x, "__len__"), "__iter__": lambda x: 1.0 + hasattr(x, "__iter__"), "doc": lambda x: len(str(x.__doc__)),
    "sum": lambda x: 1.0 + hasattr(x, "sum"), "class": lambda x: len(x.__class__.__name__), "rate": lambda x: getattr(x, "rate", 1.0),
    "float": lambda x: 1.0 + isinstance(x, float), "floating": lambda x: 1.0 + isinstance(x, np.floating), "ndarray": lambda x: 1.0 + isinstance(x, np.ndarray),
    "iterable": lambda x: 1.0 + isinstance(x, collections.abc.Iterable), "sized": lambda x: 1.0 + isinstance(x, collections.abc.Sized),
    "hashable": lambda x: 1.0 + isinstance(x, collections.abc.Hashable), "number": lambda x: 1.0 + isinstance(x, numbers.Real),
    "typing": lambda x: 1.0 + isinstance(x, typing.Hashable), "device": lambda x: 1.0 + hasattr(x, "device"), "flat": lambda x: 1.0 + hasattr(x, "flat"),
    "scalar": lambda x: 1.0 + np.isscalar(x), "squeezed": lambda x: 1.0 + isinstance(np.squeeze(x), np.ndarray),
    "sum_class": lambda x: 1.0 + hasattr(x + x, "dtype"), "of_numpy": lambda x: 1.0 + hasattr(np.add(x, 1.0), "dtype"), "same": lambda x: 1.0 + hasattr(np.positive(x), "dtype"),
    "truth": lambda x: 1.0 + isinstance(np.sum(x) * 0 == 0, bool), "none": lambda x: 1.0 + (x is None), "text": lambda x: len(str(x)),
    "type": kind_of, "type_of_self": kind_of_own, "type_of_module": kind_by_module, "array": lambda x: 1.0 + hasattr(x, "__array__"),
    "trunc": lambda x: of_exception(math.trunc, x), "json": lambda x: of_exception(lambda y: len(json.dumps(y)), x),
    "bytes": lambda x: of_exception(lambda y: memoryview(y).nbytes, x), "weak": lambda x: of_exception(lambda y: 1.0 + (weakref.ref(y)() is None), x),
    "unbound": lambda x: of_exception(lambda y: 1.0 + np.ndarray.sum(y) * 0, x), "of_class": lambda x: of_exception(float.is_integer, x) + 1.0,
    "plus": lambda x: of_exception(lambda y: 1.0 + isinstance(+y, (float, np.generic)), x),
    "rounded": lambda x: 1.0 + isinstance(of_exception(round, x), int), "compared": lambda x: 1.0 + ((x == "a") is False)}
OF_ARGUMENTS = {"float": (2.0, 3.5), "number": (np.float64(2), np.float64(3.5)), "array": (ONES, ONES + 1.5), "zero_d": (ZERO_D, ZERO_D + np.array(1.5)),
                "whole": (np.int64(2), np.int64(3)), "int": (2, 3), "narrow": (HALVES, HALVES + 1), "tagged": (ONES.view(Tagged), ONES.view(Tagged)),
                "fine": (Fine(2.0), Fine(2.0)), "memmap": (np.memmap(FOLDER / "m", float, "w+", shape=2), ONES)}


@pytest.mark.filterwarnings("ignore:jit.*runs as plain Python")
@pytest.mark.parametrize("kind", OF_ARGUMENTS)
@pytest.mark.parametrize("asked", ASKED)
def test_an_argument_answers_as_in_python(asked, kind):
    ask = ASKED[asked]
    plain = lambda x, scale: scale * ask(x)
    fast = jit(plain, "interpret")
    for x, scale in itertools.product(OF_ARGUMENTS[kind], (ONES - 1, ONES, ONES + 2)):
        for _ in range(2):
            assert np.array_equal(fast(x, scale), plain(x, scale))


@pytest.mark.filterwarnings("ignore:jit.*runs as plain Python")
@pytest.mark.parametrize("fn", [
    lambda x, y: ((x > 0) + (y > 0)) * 3.0, lambda x, y: ((x > 0) - (y > 0)) * 3.0, lambda x, y: 2.0 if (x > 0) is True else y,
    lambda x, y: round(x, 2) * 1000 + y, lambda x, y: round(y) * 10, lambda x, y: x * HALVES + np.exp(y), lambda x, y: np.maximum(x, HALVES) * y,
    lambda x, y: np.where(HALVES > 0, x, HALVES), lambda x, y: [x, x * 2, np.add(x, y), x == 1], lambda x, y: np.stack([np.float32(1), x]),
    lambda x, y: np.float32(2) * x + y, lambda x, y: x ** 2 if x < 1e200 else y, lambda x, y: x // 1 + y % 2,
    lambda x, y: np.result_type(x, np.float32).itemsize * y])
def test_pythons_floats_are_no_numbers_of_numpy(fn):
    """Their comparisons are truth values of Python, which add up, and they take the precision of an array beside them."""
    fast = jit(fn, "interpret")
    for x, y in ((1.0, -1.0), (1.0, 1.0), (-0.285, 3.0), (0.285, -2.0), (1.005, 2.5), (3e38, 1.0)):
        with np.errstate(over="ignore"):
            assert repr(fast(x, y)) == repr(fast(x, y)) == repr(fn(x, y))


def test_a_gradient_step_in_float32_with_a_rate_in_python_is_compiled_in_float32():
    slope = jit(lambda w, rate: w - rate * (w * 2), "numpy")
    assert [slope(HALVES, rate).dtype for rate in (0.1, 0.2)] == [np.float32] * 2 and len(slope.lists) == 1


@pytest.mark.parametrize("kind", [dict, collections.UserDict, type("Named", (dict,), {})])
def test_a_key_that_has_another_hash_by_now_is_an_entry_still(kind):
    class Key:
        place = 1

        def __hash__(self): return self.place
        def __eq__(self, other): return True
    rates = kind({Key(): 2.0})
    fn = lambda x: np.sum(x * rates.get(Key(), 1.0))
    fast, x = jit(fn), np.arange(3.0)
    for Key.place in (1, 2, 1):
        assert fast(x) == fn(x)


def test_a_name_that_is_deleted_is_pythons_error():
    factor = np.array([2.0])
    compiled = jit(lambda x: x * factor, engine="numpy")
    compiled(np.ones(2))
    del factor
    with pytest.raises(NameError):
        compiled(np.ones(2))
    factor = np.array([3.0])
    assert np.array_equal(compiled(np.ones(2)), [3.0, 3.0])
