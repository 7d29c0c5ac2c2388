"""Objects that hold a number: how each is made, how a function reads the number, and how it is changed."""
from __future__ import annotations

import abc
import array
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
import json
import math
import multiprocessing.sharedctypes
import numbers
import operator
import os
import pathlib
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
from scipy import special

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
    "warned": (lambda: warnings.filterwarnings("ignore", "divide by zero"), lambda b: of_warning(),
               lambda b, k: warnings.filterwarnings("error", "divide by zero")),
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
