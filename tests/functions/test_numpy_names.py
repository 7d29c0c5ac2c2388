"""Every function of NumPy that can be traced has NumPy's value, and JAX's derivative in both modes and by dual numbers."""
from __future__ import annotations

import numpy as np
import pytest
from numpy_cases import CASES

from xman import eval as evaluate
from xman.functions import Dual, jvp, trace, vjp
from xman.functions.arraylike import NAMES

EACH = pytest.mark.parametrize(("fn", "args"), [pytest.param(fn, args, id=name) for name, fn, *args in CASES])


def draw(like, seed):
    return np.asarray(np.random.default_rng(seed).uniform(0.5, 1.5, np.shape(like)))


def full_name(function):
    return f"linalg.{function.__name__}" if function.__module__ == "numpy.linalg" else function.__name__


def test_the_sweep_has_every_name():
    assert {full_name(function) for function in NAMES} - {name.split()[0] for name, *_ in CASES} == set()


@EACH
def test_the_value_is_that_of_numpy(fn, args):
    mine, theirs = vjp(lambda *xs: fn(np, *xs), *args)[0], fn(np, *args)
    np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-13)
    assert mine.shape == np.shape(theirs) and mine.dtype == np.asarray(theirs).dtype


@EACH
def test_the_list_that_trace_gives_has_the_value_of_numpy(fn, args):
    steps = trace(lambda *x: fn(np, *x), *args)
    values = evaluate(steps, {f"x_{i}": a for i, a in enumerate(args)})
    np.testing.assert_allclose(values[steps[-1][0]], fn(np, *args), rtol=1e-12, atol=1e-13)


@EACH
def test_both_modes_and_dual_numbers_agree(fn, args):
    run = lambda *xs: fn(np, *xs)
    out, pull = vjp(run, *args)
    tangents, u = [draw(a, i) for i, a in enumerate(args)], draw(out, 99)
    pushed = jvp(run, args, tangents)[1]
    back = sum(np.sum(d * t) for d, t in zip(pull(u), tangents, strict=True))
    assert np.sum(u * pushed) == pytest.approx(back, rel=1e-12, abs=1e-12)
    dual = run(*(Dual(a, t) for a, t in zip(args, tangents, strict=True)))
    np.testing.assert_allclose(dual.tangent, pushed, rtol=1e-12, atol=1e-13)


@EACH
def test_the_cotangents_are_those_of_jax(fn, args):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    out, pull = vjp(lambda *xs: fn(np, *xs), *args)
    u = draw(out, 5)
    theirs = jax.vjp(lambda *xs: fn(jax.numpy, *xs), *map(jax.numpy.asarray, args))[1](jax.numpy.asarray(u))
    for mine, other, a in zip(pull(u), theirs, args, strict=True):
        np.testing.assert_allclose(mine, np.where(np.isnan(a), mine, other), rtol=1e-9, atol=1e-9)
        assert mine.shape == a.shape


def test_names_that_give_no_array_have_the_value_of_numpy():
    x, seen = np.array([0.0, 2.0, -3.0]), []

    def fn(x):
        seen.append((np.allclose(x, x + 1e-12), np.allclose(x, x + 1), np.array_equal(x, x), np.array_equal(x, x[:2]),
                     np.array2string(x), np.array_repr(x), np.array_str(x), f"{x[1]:.2f}", np.iscomplexobj(x)))
        return np.sum(x[np.nonzero(x)] * np.flatnonzero(x)) + np.sum(x.nonzero()[0])

    total, pull = vjp(fn, x)
    assert seen[0] == (True, False, True, False, "[ 0.  2. -3.]", "array([ 0.,  2., -3.])", "[ 0.  2. -3.]",
                       "2.00", False)
    assert total == -1 and pull(1.0)[0].tolist() == [0, 1, 2]
