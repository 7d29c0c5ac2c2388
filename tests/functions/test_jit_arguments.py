"""jit: what stands for an argument answers as the argument would."""
from __future__ import annotations

import builtins
import collections
import itertools
import json
import math
import numbers
import pathlib
import tempfile
import typing
import weakref

import numpy as np
import pytest

from xman import jit
from xman.functions.guarded import GuardedTape, GuardedTracer

FOLDER = pathlib.Path(tempfile.mkdtemp())


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


@pytest.mark.filterwarnings("ignore:jit", "ignore:the matrix subclass")
@pytest.mark.parametrize("engine", ["auto", "numpy"])
@pytest.mark.parametrize(("fn", "args", "why"), [
    (lambda x, n: x * n, (1.5, 10 ** 20), "none longer than 64 bits"),
    (lambda x: x * 2, (np.ma.array([1.0, 2.0], mask=[0, 1]),), "a MaskedArray, which a list takes for an array"),
    (lambda p: p["a"] * p["a"], ({"a": np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix)},), "a matrix, which")])
def test_an_argument_that_no_list_holds_is_for_plain_python_at_every_call(fn, args, why, engine):
    fast = jit(fn, engine)
    assert {repr(fast(*args)) for _ in range(4)} == {repr(fn(*args))} and why in fast.why


@pytest.mark.filterwarnings("ignore:jit")
@pytest.mark.parametrize("engine", ["auto", "numpy"])
@pytest.mark.parametrize("fn", [lambda p: p["a"], lambda p: (p["a"][::-1], p["a"].T), lambda p: [print(end=""), p["a"]][1]])
def test_no_result_lies_in_the_memory_of_an_argument_at_any_call(fn, engine):
    fast, a = jit(fn, engine), np.arange(3.0)
    results = [x for _ in range(4) for x in [fast({"a": a})]]
    assert not any(np.shares_memory(x, a) for result in results for x in (result if type(result) is tuple else [result]))


@pytest.mark.parametrize("engine", ["auto", "numpy"])
@pytest.mark.parametrize("x", [1.5, np.float64(1.5), np.array(1.5)], ids=["float", "number", "array"])
def test_arrays_without_axes_and_numbers_are_what_they_are_in_numpy_at_every_call(x, engine):
    fn = lambda x: (np.where(x > 0, x, -x), np.sum(x), np.reshape(x, ()), x * 2, x)
    fast = jit(fn, engine)
    assert [[*map(type, fast(x))] for _ in range(4)] == [[*map(type, fn(x))]] * 4


@pytest.mark.filterwarnings("ignore:jit")
def test_a_result_that_is_no_tree_is_for_plain_python():
    pair = type("Pair", (tuple,), {"__new__": lambda cls, x, y: tuple.__new__(cls, (x, y))})
    fast = jit(lambda x: pair(x, x * 2))
    assert [fast(1.0) for _ in range(3)] == [(1.0, 2.0)] * 3 and "cannot be rebuilt" in fast.why


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


def test_whether_a_result_is_a_number_is_known_without_a_search_of_the_tape():
    class Closed(list):
        def __iter__(self): raise AssertionError("in 10,000 lines it would be looked for 10,000 times")
        __reversed__ = __iter__
    with GuardedTape() as tape:
        x = tape.argument(np.array(1.0))
        results = [x * 2.0, np.sum(x), np.reshape(x, ())]
        tape.lines = Closed(tape.lines)
        assert [*map(GuardedTracer.kinds, results)] == [[np.float64], [np.float64], [np.float64, np.ndarray]]
