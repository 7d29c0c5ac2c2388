"""jit: what a function does beyond giving a result, which no list can hold."""
from __future__ import annotations

import contextvars
import functools
import random
import sys
import time

import numpy as np
import pytest

from xman import XManError, jit, trace

jit_ = functools.partial(jit, engine="numpy")

LOG: list = []
GENERATOR = np.random.default_rng(1)
COUNTS = np.zeros(1)
LETTERS = iter("abc" * 99)
CONTEXT = contextvars.ContextVar("rate", default=2.0)


class Counter:
    n = 0


def appends(x):
    LOG.append(1)
    LOG.append(x)
    return x * len(LOG)


def draws(x): return x * GENERATOR.normal()
def draws_as_of_old(x): return x + np.random.normal(size=2)  # noqa: NPY002
def draws_afresh(x): return x + np.random.default_rng().normal()
def draws_by_python(x): return x * random.random() + random.gauss(0, 1)
def tells_the_time(x): return x + time.perf_counter()
def uses_up(x): return x * len(next(LETTERS))


def counts(x):
    COUNTS[0] += 1
    return x * COUNTS[0]


def keeps(x):
    Counter.n += 1
    return x * Counter.n


def reads_a_module_by_its_name(x): return x * len(sys.modules["types"].__name__)
def reads_a_context(x): return x * CONTEXT.get()


def prints(x):
    print("value", x)
    return x * 2


def writes_into_its_argument(x, d):
    d["a"] = 1.0
    return x


def swallows(x):
    try:
        print("twice")
    except Exception:
        return x * 3
    return x


EFFECTS = [(appends, "changes the global LOG"), (draws, "random"), (draws_as_of_old, "random"), (draws_afresh, "random"),
           (draws_by_python, "random"), (tells_the_time, "time.perf_counter"), (counts, "changes the global COUNTS"),
           (keeps, "changes the global Counter"), (uses_up, "used up by reading"), (prints, "calls print"), (swallows, "calls print"),
           (reads_a_module_by_its_name, "can read sys.modules"), (reads_a_context, "can read the global CONTEXT, a ContextVar")]


@pytest.mark.parametrize(("fn", "words"), EFFECTS, ids=[fn.__name__ for fn, _ in EFFECTS])
def test_what_does_more_than_return_says_so_once_and_does_it_once_a_call(fn, words, capsys):
    def run(function, times):
        LOG.clear()
        GENERATOR.bit_generator.state = np.random.default_rng(1).bit_generator.state
        np.random.seed(1)  # noqa: NPY002
        random.seed(1)
        COUNTS[0] = Counter.n = 0
        found = [function(2.0) for _ in range(times)]
        return found, [*map(float, LOG)], capsys.readouterr().out
    wanted = run(fn, 3)
    fast = jit_(fn)
    with pytest.warns(RuntimeWarning, match=words) as said:
        found = run(fast, 3)
    assert len(said) == 1
    if fn is not draws_afresh and fn is not tells_the_time:
        assert str(found) == str(wanted)


def test_a_dict_that_was_given_is_written_into_by_the_plain_function():
    given = {}
    with pytest.warns(RuntimeWarning, match="writes into a list, a dict or an array that it was given"):
        jit_(writes_into_its_argument)(2.0, given)
    assert given == {"a": 1.0}


def test_a_seeded_draw_is_the_same_at_each_call():
    fast = jit_(lambda x: x * np.random.default_rng(3).normal(size=2))
    assert (fast(2.0) == fast(2.0)).all() and len(fast.lists) == 1


@pytest.mark.parametrize("x", [np.ma.array([1.0, 2.0], mask=[False, True]), np.ma.array([[1.0]]).view(np.matrix)])
def test_an_array_of_a_kind_with_its_own_products_is_refused_by_trace(x):
    with pytest.raises(XManError, match="has products or sums of its own"):
        trace(np.square, x)


def test_an_in_place_write_runs_as_plain_python():
    def fn(x):
        x[0] = 1.0
        return x
    with pytest.warns(RuntimeWarning, match="writes into"):
        assert jit_(fn)(np.zeros(2)).tolist() == [1.0, 0.0]
