"""What NumPy gives, a traced function gives: value, shape, precision, sign of zero, error; or a sentence. Never another number."""
from __future__ import annotations

import collections
import copy
import functools
import os
import re

import numpy as np
import pytest
from calls_of_numpy import FUNCTIONS, arrays_of, calls, compared, difference, full_name, outcome, verdict

import ops
import xman
import xman.numpy
from tests.ops.operator_cases import in_each
from xman import XManError
from xman.functions import Dual, derivative, grad, jacobian, jvp, trace, value_and_grad, vjp
from xman.functions.tracer import CallTape, Tracer
from xman.traced.arraylike import plain

# the sentences of what is refused though NumPy has a value: options without a derivative, and what no operator does
REFUSED = re.compile(
    r"with (append|aweights|axis|axis[abc]|bias|casting|ddof|device|dtype|fweights|hermitian|method|mode|out|period|prepend|rcond|retstep|"
    r"rtol|to_begin|to_end|upper)= has no derivative|takes no where here|bitwise functions of whole|in whole numbers has|in-place write"
    r"|for a plain q|vectors of three|full rank|(vecdot|reciprocal) of (bool|u?int\d+)|lower triangle|mode='(linear_ramp|mean)'|one argument gives"
    r"|no \.reduce here|order='A' goes by the layout|a mean of more axes|qr with mode=|for a whole order|(hermitian=True |with (full|cov|sorter|subok|weights|order|kind|like)= )has no derivative|full_matrices=False|a conversion to an array would|positions are of an array with axes")
ALL = bool(os.environ.get("XMAN_ALL_CASES"))


@in_each([(full_name(function), function) for function in FUNCTIONS])
def test_a_call_gives_what_numpy_gives_or_a_sentence(_, function):
    seen = collections.Counter()
    for args, options, only, found in compared(function, every=1 if ALL else 32):
        assert found in ("same", "both raise") or found.startswith("refused") and REFUSED.search(found), (args, options, only, found)
        seen[found[:7]] += 1
    assert seen["same"] or not ALL or getattr(function, "nin", 0) > 2  # three arguments are not drawn: test_more_numpy_names


def test_the_sweep_sees_what_differs():
    x = np.array([1.0, -0.0])
    pairs = [(x, -x), (x, x[:1]), (x, np.float32(x)), (x, x + 1e-6), ((x, x), [x, x]), (x, x * np.nan), (1, True), (x > 0, x >= 0)]
    assert "same" not in [difference(got, want) for got, want in pairs] and difference(x, x.copy()) == difference((x,), (x,)) == "same"
    assert len(list(calls(np.mean))) > 100 and len(arrays_of([x, [x, (x,)], {"a": x}])) == 4
    assert verdict(np.heaviside, (np.array([np.nan]), np.array([1.0])), {}) == "same"
    assert verdict(np.add, (x, x), {"where": x > 0}, 0).startswith("refused")
    assert verdict(np.reshape, (x, (3, 3)), {}) == "both raise"


X = np.array([[0.5, -1.5, 2.25], [1.0, 3.0, -0.75]])
METHODS = """mean() mean(1) mean(axis=0,keepdims=True) mean(dtype=np.float32) std(ddof=1) std(0) var((0,1)) var(1,None,None,1) sum() sum(-1)
    sum(dtype=np.float32) sum(0,None,None,True) prod(axis=0) max(axis=1) min() min(1,keepdims=True) all() all(0) any(axis=1) argmax(1) argmax() argmin(keepdims=True) argsort()
    argsort(axis=0) clip(0.0) clip(-1.0,1.0) clip(max=1.0) clip(None,1.0) cumsum(1) cumsum() cumprod(axis=0) diagonal(1) diagonal() trace() trace(offset=-1) repeat(2) repeat([1,2],axis=0)
    repeat(repeats=2,axis=1) round() round(decimals=1) squeeze() squeeze(0) swapaxes(0,1) take([0,2]) take(indices=1,axis=0) ravel() ravel(order="C") flatten() nonzero() copy() copy("F")
    astype(np.float32) astype(dtype=int) astype("f8",copy=False) astype(bool) transpose() transpose(1,0) transpose((1,0)) transpose(None) dot(np.ones(3)) compress([True,False],axis=0)
    compress([0,1,1]) reshape(3,2) reshape((3,2)) reshape(-1) reshape([6]) reshape(3,-1,order="C") conj() conjugate() T mT real shape ndim size dtype tolist itemsize nbytes""".split()


@pytest.mark.parametrize("text", METHODS)
def test_a_method_gives_what_it_gives_in_numpy(text):
    call = eval(f"lambda x: x.{text}", {"np": np})
    if text == "tolist":
        call = lambda x: x.tolist() if x.dtype.kind != "f" else None
    for x in (X, np.float32(X), X > 0, X.astype(int), X[:, :0]):
        with CallTape() as tape:
            want, got = outcome(call, (x,), {}), outcome(call, (Tracer(x, tape),), {})
        assert isinstance(got, Exception) if isinstance(want, Exception) else difference(got, want) == "same", (x, got)


def test_a_traced_number_and_a_traced_array_behave_as_numpys():
    seen = []

    def fn(x):
        n, i = x[0, 0], np.argmax(x)
        assert isinstance(x, np.ndarray) and not np.isscalar(x) and not isinstance(x, float)
        assert np.isscalar(n) and isinstance(n, float) and isinstance(n, np.float64) and not isinstance(n, (np.ndarray, int))
        assert isinstance(i, np.integer) and not isinstance(i, int) and isinstance(x > 0, np.ndarray) and isinstance(n > 0, np.bool_)
        assert len(x) == 2 and 2.25 in x and 7.0 not in x and [float(plain(a)) for a in x[0]] == [0.5, -1.5, 2.25] and not np.iterable(n)
        assert f"{n:.3f}|{n}" == "0.500|0.5" and copy.copy(x) is x is copy.deepcopy({"x": x})["x"] and x.tolist is not None
        assert i.item() == 4 and np.argsort(x[0]).tolist() == [1, 0, 2] and (x > 0).item(1) is False and int(i) == 4 and float(i) == 4.0
        assert (x == X).all() and n == 0.5 and not n != 0.5 and divmod(n, 0.2)[0] == 2 and abs(x).sum() == 9.0 and x.real is x
        seen.append(functools.singledispatch(lambda a: "object").register(np.ndarray, lambda a: "array")(x))
        match x:
            case np.ndarray():
                seen.append("array")
        return x.sum()

    for use in (grad, lambda fn: jacobian(fn), lambda fn: lambda x: vjp(fn, x), lambda fn: lambda x: jvp(fn, (x,), (x,)),
                lambda fn: lambda x: jvp(grad(fn), (x,), (x,))):
        seen.clear()
        use(fn)(X)
        assert set(seen) == {"array"}
    assert derivative(lambda t: t * 2 if isinstance(t, float) and np.isscalar(t) else t, 2)(1.0) == 0.0
    assert derivative(lambda t: t ** 3 if isinstance(t, float) else t)(2.0) == 12.0 and isinstance(Dual(X, X), np.ndarray)


@pytest.mark.parametrize("use", [lambda x: {1.0: 2.0}.get(x, x), lambda x: x in {1.0, 2.0}, lambda x: {x: 1.0} and x, lambda x: hash(x) * x,
                                 lambda x: functools.cache(lambda y: y)(x), lambda x: float(x), lambda x: x.item(), lambda x: complex(x),
                                 lambda x: np.max(x * 1j), lambda x: np.sum(np.sort(np.fft.fft(x * np.ones(3))).real), lambda x: np.emath.sqrt(x)])
def test_what_cannot_be_right_is_refused(use):
    for differentiated in (grad, derivative, lambda fn: lambda x: trace(fn, x)):
        with pytest.raises(XManError, match="; "):
            differentiated(lambda x: use(x))(1.0)


def test_an_array_has_no_hash_as_in_numpy():
    with pytest.raises(TypeError, match="unhashable"):
        grad(lambda x: {x: 1.0} and x.sum())(X)


@pytest.mark.parametrize("engine", ["interpret", "numpy", *(["llvm", "tape", "jax", "auto"] if ALL else [])])  # they compile for seconds
def test_a_compiled_step_takes_traced_values_for_no_arrays_of_its_own(engine):
    pytest.importorskip({"llvm": "llvmlite"}.get(engine, engine if engine == "jax" else "numpy"))
    step = xman.compile(trace(lambda x, w: np.exp(x * w) + x, 0.5, 2.0), ["result"], engine=engine)
    for use in (grad, derivative):
        assert use(lambda x: step({"x": x, "w": 2.0})["result"])(0.5) == pytest.approx(2.0 * np.exp(1.0) + 1.0, rel=1e-12)
        assert grad(use(lambda x: step({"x": x, "w": 2.0})["result"]))(0.5) == pytest.approx(4.0 * np.exp(1.0), rel=1e-12)
    if engine != "tape":
        values = {"x": np.ones((2, 3)), "w": np.arange(3.0)}
        total = grad(lambda w: step(values | {"w": w})["result"].sum())(values["w"])
        np.testing.assert_allclose(total, 2 * np.exp(values["w"]), rtol=1e-12)


# ---- import xman.numpy as np ------------------------------------------------------------------------------------------

MADE = {
    "a list": lambda np, x: np.array([x[0], 2 * x[1], 3]), "rows": lambda np, x: np.array([[x[0], 1.0], [2, x[1] * x[2]]]), "rows of arrays": lambda np, x: np.array([x, x * x]),
    "tuples": lambda np, x: np.asarray(((x[0], x[1]), (x[2], 0))), "an array": lambda np, x: np.asarray(x) * np.asanyarray(x), "in float32": lambda np, x: np.array([x[0], x[1]], dtype=np.float32),
    "ndmin": lambda np, x: np.array(x, ndmin=2) @ np.array(x), "contiguous": lambda np, x: np.ascontiguousarray(x.T), "plain beside": lambda np, x: np.array([1, 2, 3]) * np.array([x[0]]),
    "r_": lambda np, x: np.r_[x, 1, x[0] ** 2, 0:3], "r_ of rows": lambda np, x: np.r_[np.array([x, x]), np.ones((1, 3))], "c_": lambda np, x: np.c_[x, x ** 2, np.ones(3)],
    "c_ with a slice": lambda np, x: np.c_[0:3, x], "c_ of rows": lambda np, x: np.c_[np.ones((3, 2)), x], "full": lambda np, x: np.full((2, 2), x[0] * x[1]), "full of rows": lambda np, x: np.full((2, 3), x),
    "full_like": lambda np, x: np.full_like(np.ones(4), x[2]), "full_like of ints": lambda np, x: np.full_like(np.ones(4, int), 2.5) * x[0], "plain r_": lambda np, x: np.r_[0:3, 1] * x[0],
    "atleast": lambda np, x: np.atleast_2d(np.array([x[0], x[1]])), "linalg": lambda np, x: np.linalg.norm(np.array([x[0], 1.0])) * np.ones(2), "a column": lambda np, x: np.array([[t] for t in x]),
    "nothing traced": lambda np, x: np.full(3, 2.0) + np.full_like(x, 1.0) + np.asarray([1.0], dtype=float), "a number": lambda np, x: np.array(x[0]) * np.ones(1), "pi": lambda np, x: np.float64(np.pi) * x}


@pytest.mark.parametrize("fn", MADE.values(), ids=MADE)
def test_what_numpy_lets_nobody_intercept_is_had_by_xman_numpy(fn):
    x = np.array([0.5, -1.5, 2.0])
    mine = lambda x: fn(xman.numpy, x)
    value, pull = vjp(mine, x)
    assert difference(mine(x), fn(np, x)) == difference(value, fn(np, x)) == "same"
    h = 1e-6
    slopes = np.stack([(fn(np, x + h * e).astype(float) - fn(np, x - h * e)) / (2 * h) for e in np.eye(3)], -1)
    np.testing.assert_allclose(jacobian(mine)(x), slopes, atol=1e-8 if value.dtype == float else 0.1)
    assert pull(np.ones_like(value))[0].shape == (3,)


def test_the_rest_of_xman_numpy_is_numpy():
    import xman.numpy.linalg as linalg

    from xman.numpy import fft, float64, pi, random, sin
    assert (linalg, fft, random, float64, sin, pi) == (np.linalg, np.fft, np.random, np.float64, np.sin, np.pi)
    space = {}
    exec("from xman.numpy import *", space)
    assert space["array"] is xman.numpy.array and space["cos"] is np.cos
    with pytest.raises(AttributeError, match="no_such"):
        exec("xman.numpy.no_such", {"xman": xman})
    with pytest.raises(XManError, match="letters of np.r_"):
        grad(lambda x: xman.numpy.r_["-1", x, x].sum())(X)
    with pytest.raises(ValueError, match="same shape"):
        grad(lambda x: xman.numpy.array([x[0], x[0, 0]]).sum())(X)


@pytest.mark.parametrize("fn", [lambda x: np.array([x[0], x[1]]).sum(), lambda x: np.asarray(x).sum(), lambda x: np.r_[x, 1.0].sum(), lambda x: np.c_[x, x].sum(), lambda x: np.full(3, x[0]).sum()])
def test_the_refusal_of_a_conversion_names_xman_numpy(fn):
    with pytest.raises(XManError, match="import xman.numpy as np"):
        grad(fn)(np.ones(3))


# ---- derivatives of what is mended ------------------------------------------------------------------------------------

SMOOTH = {
    "cov by columns": lambda x: np.cov(x, rowvar=False), "cov of two": lambda x: np.cov(x[0], x[1]), "corrcoef by columns": lambda x: np.corrcoef(x.T @ x + np.eye(3), rowvar=False),
    "piecewise": lambda x: np.piecewise(x, [x > -1, x > 1], [lambda t: t ** 3, lambda t: t * t, 4.0]), "copysign": lambda x: np.copysign(x, x[::-1]), "heaviside": lambda x: np.heaviside(x, 0.5) * x,
    "modf": lambda x: np.modf(x)[0] * x, "fmod": lambda x: np.fmod(x, -0.7) + np.fmod(5.0, x), "median": lambda x: np.median(x, (0, 1), keepdims=True), "quantiles": lambda x: np.quantile(x, [0.2, 0.7], axis=1, keepdims=True),
    "percentile of all": lambda x: np.percentile(x, 35), "tensordot": lambda x: np.tensordot(x, x, ([1], [1])), "average": lambda x: np.average(x, axis=1, weights=x * x, returned=True)[0],
    "interp": lambda x: np.interp(x, np.array([-2.0, 0.2, 4.0]), x[0], left=x[0, 0] ** 2), "vector_norm": lambda x: np.linalg.vector_norm(x, axis=(0, 1), ord=3), "nanmax": lambda x: np.nanmax(x, axis=0),
    "select": lambda x: np.select([x > 1, x > 0], [x * x, x ** 3], 1.0), "linspace": lambda x: np.linspace(x[0], x[1], 5), "trapezoid": lambda x: np.trapezoid(x, x ** 3 + x, axis=0), "pad": lambda x: np.pad(x, ((1, 0), (0, 2)), mode="reflect"),
    "tile": lambda x: np.tile(x, (2, 1)) ** 2, "delete": lambda x: np.delete(x, 1, axis=1) ** 2, "rot90": lambda x: np.rot90(x, k=3) ** 2, "split": lambda x: np.split(x, [1, 2], axis=1)[1] ** 2, "xlogy": lambda x: np.std(x, axis=0, correction=1),
    "where": lambda x: np.sum(x ** 3, 0, where=x > 0, initial=2.0) * np.mean(x * x, 1, where=[[True, False, True]])[0] + np.prod(x, where=x < 0),
    "initial": lambda x: np.max(x * x, 0, initial=1.0, where=x > 0.7) * np.var(x, 0, where=x < 3) + np.nanstd(x, where=x < 3) + np.min(x, initial=x[0, 0] ** 3 - 9),
}


@pytest.mark.parametrize("fn", SMOOTH.values(), ids=SMOOTH)
def test_the_derivatives_of_what_takes_options_are_differences(fn):
    h, directions = 1e-6, np.eye(6).reshape(6, 2, 3)
    x = X + 0.137  # no kink of these functions is near
    slopes = np.stack([(fn(x + h * e) - fn(x - h * e)) / (2 * h) for e in directions], -1)
    mine = jacobian(fn)(x)
    np.testing.assert_allclose(mine.reshape(slopes.shape), slopes, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(np.stack([jvp(fn, (x,), (e,))[1] for e in directions], -1), mine.reshape(slopes.shape), rtol=1e-10, atol=1e-10)


def test_the_variance_of_entries_that_rounding_makes_nearly_alike_is_numpys():
    x = np.array([1e16, 1e16 + 2])
    assert value_and_grad(np.var)(x)[0] == np.var(x) and grad(np.std)(np.full(3, 0.1)).tolist() == [0.0] * 3


def test_the_value_of_an_operator_without_rules_takes_the_branch_that_it_takes_with_arrays():
    ops.operator("tripled", lambda x: x * 3.0 if isinstance(x, np.ndarray) else x * 0.0)
    assert grad(lambda x: ops.f.tripled(x).sum())(X).tolist() == [[3.0] * 3] * 2
    assert jvp(ops.f.tripled, (X,), (X,))[1].tolist() == (3.0 * X).tolist()
