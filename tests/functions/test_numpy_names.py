"""Every function of NumPy that can be traced has NumPy's value, and JAX's derivative in both modes and by dual numbers."""
from __future__ import annotations

import os

import numpy as np
import pytest
from more_numpy_cases import NUMPY, NUMPY_ALONE
from numpy_cases import CASES

from tests.jax_at_once import at_once, jax_in_double
from tests.ops.operator_cases import in_each
from xman import eval as evaluate
from xman.functions import Dual, grad, jvp, trace, vjp
from xman.traced.arraylike import NAMES


def each(cases):
    return in_each([(name, fn, args) for name, fn, *args in cases])


EACH = each(CASES)
# JAX takes half a minute to compile them all, and its word on every operator is in tests/ops: XMAN_ALL_CASES=1 asks it of all
SOME = each(CASES if os.environ.get("XMAN_ALL_CASES") else CASES[::18])


def draw(like, seed):
    return np.asarray(np.random.default_rng(seed).uniform(0.5, 1.5, np.shape(like)))


def full_name(function):
    return f"linalg.{function.__name__}" if getattr(function, "__module__", "") == "numpy.linalg" else function.__name__


def test_the_sweep_has_every_name():
    assert {full_name(function) for function in NAMES} - {name.split()[0] for name, *_ in CASES + NUMPY + NUMPY_ALONE} == set()


@EACH
def test_the_value_is_that_of_numpy(_, fn, args):
    mine, theirs = vjp(lambda *xs: fn(np, *xs), *args)[0], fn(np, *args)
    np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-13)
    assert mine.shape == np.shape(theirs) and mine.dtype == np.asarray(theirs).dtype


@EACH
def test_the_list_that_trace_gives_has_the_value_of_numpy(_, fn, args):
    steps = trace(lambda *x: fn(np, *x), *args)
    values = evaluate(steps, {f"x_{i}": a for i, a in enumerate(args)})
    np.testing.assert_allclose(values[steps[-1][0]], fn(np, *args), rtol=1e-12, atol=1e-13)


@EACH
def test_both_modes_and_dual_numbers_agree(_, fn, args):
    run = lambda *xs: fn(np, *xs)
    out, pull = vjp(run, *args)
    tangents, u = [draw(a, i) for i, a in enumerate(args)], draw(out, 99)
    pushed = jvp(run, args, tangents)[1]
    back = sum(np.sum(d * t) for d, t in zip(pull(u), tangents, strict=True))
    assert np.sum(u * pushed) == pytest.approx(back, rel=1e-12, abs=1e-12)
    dual = run(*(Dual(a, t) for a, t in zip(args, tangents, strict=True)))
    np.testing.assert_allclose(dual.tangent, pushed, rtol=1e-12, atol=1e-13)


@SOME
def test_the_cotangents_are_those_of_jax(_, fn, args):
    jax = jax_in_double()
    out, pull = vjp(lambda *xs: fn(np, *xs), *args)
    u = draw(out, 5)
    theirs = at_once(lambda args, u: jax.vjp(lambda *xs: fn(jax.numpy, *xs), *args)[1](u), args, u)
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


# bugs that had survived planting


X = np.array([[0.5, -1.5, 2.0], [1.0, 3.0, -0.5]])


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "var", "std", "cumsum", "cumprod"])
def test_a_reduction_is_taken_in_the_precision_that_is_asked_for(name):
    fn = lambda x: getattr(np, name)(x, dtype=np.float64)
    value, pull = vjp(fn, np.float32(X))
    assert value.dtype == np.float64 and pull(np.ones_like(value))[0].dtype == np.float32


N = np.array([[np.inf, -np.inf, np.nan], [1.0, 3.0, -0.5]])


OPTIONS = {
    "cov ddof": lambda x: np.cov(x, ddof=0), "cov ddof 2": lambda x: np.cov(x, ddof=2), "cov bias": lambda x: np.cov(x, bias=True), "cov of columns": lambda x: np.cov(x, rowvar=False),
    "average axis −1": lambda x: np.average(x, -1, weights=np.array([1.0, 2.0, 3.0])),
    "argmax keepdims": lambda x: x - np.argmax(x, 1, keepdims=True), "argmin keepdims of all": lambda x: x - np.argmin(x, keepdims=True),
    "sort of all": lambda x: np.sort(x, None), "sort axis 0": lambda x: np.sort(x, 0), "sort": lambda x: np.sort(x),
    "median of nan": lambda x: np.median(np.concatenate([x[0], np.array([np.nan])])),
    "trapezoid of rows": lambda x: np.trapezoid(x, x * x + x, axis=0), "trapezoid dx": lambda x: np.trapezoid(x, dx=0.5),
    "matrix_power −2": lambda x: np.linalg.matrix_power(x[:, :2], -2),
    "norm −1": lambda x: np.linalg.norm(x, -1), "norm −inf": lambda x: np.linalg.norm(x, -np.inf),
    "expand_dims −1": lambda x: np.expand_dims(x, -1), "expand_dims −2": lambda x: np.expand_dims(x, (0, -2)),
    "squeeze axis": lambda x: np.squeeze(x[None, :, None], 0), "take_along_axis": lambda x: np.take_along_axis(x, np.array([[0, 2], [1, 1]]), 1),
    "triu k": lambda x: np.triu(x, 1), "tril k": lambda x: np.tril(x, -1), "diff axis 0": lambda x: np.diff(x, axis=0),
    "diff axis −2": lambda x: np.diff(x, 1, -2), "append": lambda x: np.append(x, x), "append axis": lambda x: np.append(x, x, 0),
    "flip axis": lambda x: np.flip(x, 1), "flip": lambda x: np.flip(x),
    "nan_to_num posinf 0": lambda x: np.nan_to_num(x + N, posinf=0.0, neginf=0.0), "nan_to_num": lambda x: np.nan_to_num(x + N),
    "argsort axis 0": lambda x: x + np.argsort(x, 0), "argsort of all": lambda x: np.ravel(x) + np.argsort(x, None),
    "add.reduce": lambda x: np.add.reduce(x), "add.reduce axis": lambda x: np.add.reduce(x, axis=1), "maximum.reduce": lambda x: np.maximum.reduce(x),
    "add.accumulate": lambda x: np.add.accumulate(x), "multiply.outer": lambda x: np.multiply.outer(x, x[0]),
    "isclose atol": lambda x: x * np.isclose(0.0 * x, 1e-7), "isclose is of the second": lambda x: x * np.isclose(x, x * 1.2, rtol=0.18, atol=0),
    "fmod": lambda x: np.fmod(x, -0.7), "mod": lambda x: np.mod(x, -0.7), "interp at the last": lambda x: np.interp(x, np.array([-1.0, 0.0, 3.0]), np.array([1.0, 5.0, 2.0])),
    "convolve same": lambda x: np.convolve(np.ravel(x), np.array([1.0, 2.0, 3.0, 5.0]), "same"), "cross": lambda x: np.cross(x, x[::-1]),
    "quantile keepdims": lambda x: np.quantile(x, 0.3, 1, keepdims=True), "ptp axis": lambda x: np.ptp(x, 0), "roll axis": lambda x: np.roll(x, 1, 1),
    "var ddof keepdims": lambda x: np.var(x, 1, ddof=1, keepdims=True), "cumsum axis": lambda x: np.cumsum(x, 0), "rot90 3": lambda x: np.rot90(x, 3),
    "linspace": lambda x: np.linspace(x[0], x[1], 4, endpoint=False), "repeat axis": lambda x: np.repeat(x, 2, 1), "repeat": lambda x: np.repeat(x, [1, 0, 2, 1, 1, 1]),
}


@pytest.mark.parametrize("fn", OPTIONS.values(), ids=OPTIONS)
def test_an_option_means_what_it_means_in_numpy(fn):
    with np.errstate(all="ignore"):
        want = fn(X)
    np.testing.assert_allclose(vjp(fn, X)[0], want, rtol=1e-13, atol=1e-14, strict=True)


def test_a_ufunc_in_another_precision_is_cast():
    assert vjp(lambda x: np.add(x, x, dtype=np.float32), X)[0].dtype == np.float32


def test_an_option_of_a_ufunc_that_would_be_ignored_is_refused():
    from xman import XManError
    with pytest.raises(XManError, match="takes no where here"):
        grad(lambda x: np.sum(np.exp(x, where=x > 0)))(X)
