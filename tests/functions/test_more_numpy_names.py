"""What is composed of several operators, and xman.scipy, have NumPy's and SciPy's values, and derivatives that are right twice."""
from __future__ import annotations

import importlib
import os
import pickle

import numpy as np
import pytest
from more_numpy_cases import NOT_IN_JAX, NUMPY, NUMPY_ALONE, SCIPY

import xman.scipy
from tests.jax_at_once import at_once, jax_in_double
from tests.ops.operator_cases import in_each
from xman import Dual, XManError, grad, jit, jvp, trace, vjp
from xman import eval as evaluate

scipy = pytest.importorskip("scipy")


def modules(room):
    """xman's, theirs and JAX's."""
    return (np, np, "numpy") if room == "numpy" else (xman.scipy, scipy, "scipy")


CASES = [("numpy", *case) for case in NUMPY + NUMPY_ALONE] + [("scipy", *case) for case in SCIPY + NOT_IN_JAX]
KNOWN_TO_JAX = [("numpy", *case) for case in NUMPY] + [("scipy", *case) for case in SCIPY]


def each(cases):
    return in_each([(f"{room} {name}", room, fn, args) for room, name, fn, *args in cases])


EACH = each(CASES)
SOME = each(KNOWN_TO_JAX if os.environ.get("XMAN_ALL_CASES") else [])  # JAX compiles each for a second


def draw(like, seed):
    return np.asarray(np.random.default_rng(seed).uniform(0.5, 1.5, np.shape(like)))


@EACH
def test_the_value_is_theirs(_, room, fn, args):
    ours, theirs, _ = modules(room)
    mine, wanted = vjp(lambda *xs: fn(ours, *xs), *args)[0], fn(theirs, *args)
    np.testing.assert_allclose(mine, wanted, rtol=1e-11, atol=1e-13)
    assert mine.shape == np.shape(wanted) and mine.dtype == np.asarray(wanted).dtype


@EACH
def test_a_list_and_both_modes_agree_and_are_the_difference(_, room, fn, args):
    run = lambda *xs: fn(modules(room)[0], *xs)
    steps = trace(run, *args)
    values = evaluate(steps, {name: a for name, a in zip([f"xs_{i}" for i in range(len(args))], args, strict=True) if name in steps.inputs})
    out, pull = vjp(run, *args)
    np.testing.assert_allclose(values[steps[-1][0]], out, rtol=1e-11, atol=1e-13)
    tangents, u = [draw(a, i) for i, a in enumerate(args)], draw(out, 99)
    pushed = jvp(run, args, tangents)[1]
    assert np.sum(u * pushed) == pytest.approx(sum(np.sum(d * t) for d, t in zip(pull(u), tangents, strict=True)), rel=1e-10, abs=1e-10)
    dual = run(*(Dual(a, t) for a, t in zip(args, tangents, strict=True)))
    np.testing.assert_allclose(dual.tangent, pushed, rtol=1e-10, atol=1e-11)
    h = 1e-6
    above, below = (run(*(a + s * h * t for a, t in zip(args, tangents, strict=True))) for s in (1, -1))
    finite = np.isfinite(above)
    np.testing.assert_allclose(np.where(finite, pushed, 0), np.where(finite, above, 0) / (2 * h) - np.where(finite, below, 0) / (2 * h), rtol=2e-6, atol=2e-7)


@EACH
def test_the_second_derivative_is_the_difference_of_the_first(_, room, fn, args):
    run = lambda *xs: fn(modules(room)[0], *xs)
    u = draw(vjp(run, *args)[0], 5)
    slopes = lambda *xs: grad(lambda *ys: np.sum(np.where(np.isfinite(z := run(*ys)), z, 0.0) * u), range(len(args)))(*xs)
    tangents = [draw(a, i) for i, a in enumerate(args)]
    found, h = jvp(slopes, args, tangents)[1], 1e-6
    above, below = (slopes(*(a + s * h * t for a, t in zip(args, tangents, strict=True))) for s in (1, -1))
    for slope, up, down in zip(found, above, below, strict=True):
        np.testing.assert_allclose(slope, (up - down) / (2 * h), rtol=1e-5, atol=2e-6 * max(1.0, np.nanmax(np.abs(slope), initial=0)))


@SOME
def test_the_cotangents_are_those_of_jax(_, room, fn, args):
    jax = jax_in_double()
    ours, _, theirs = modules(room)
    for module in ("linalg", "special", "stats"):
        importlib.import_module(f"jax.scipy.{module}")
    out, pull = vjp(lambda *xs: fn(ours, *xs), *args)
    u = draw(out, 5)
    try:
        wanted = at_once(lambda args, u: jax.vjp(lambda *xs: fn(getattr(jax, theirs), *xs), *args)[1](u), args, u)
    except (AttributeError, NotImplementedError):  # JAX has it not
        return
    for mine, other, a in zip(pull(u), wanted, args, strict=True):
        if a.ndim == 2 and np.array_equal(a, a.T):  # NumPy reads one triangle of it, JAX both
            mine, other = mine + mine.T, other + other.T
        np.testing.assert_allclose(mine, np.where(np.isnan(a), mine, other), rtol=1e-8, atol=1e-9)


def test_what_has_no_derivative_is_refused_in_a_sentence():
    X = np.eye(3, 2)
    with pytest.raises(XManError, match="write full_matrices=False"):
        grad(lambda a: np.sum(np.linalg.svd(a)[0]))(X)
    with pytest.raises(XManError, match="gammainc has no derivative by its argument a here"):
        grad(lambda a: xman.scipy.special.gammainc(a, 0.5))(1.5)
    with pytest.raises(XManError, match="without full rank"):
        grad(lambda a: np.sum(np.linalg.lstsq(a, np.ones(3), rcond=None)[0]))(0 * X)
    for call in (scipy.special.logsumexp, lambda x: scipy.linalg.det(x[:, None] * x), scipy.stats.norm.logpdf):
        with pytest.raises(XManError, match="from xman.scipy"):
            grad(lambda x, call=call: np.sum(call(x)))(X[:, 0])


INFINITE = np.array([1.0, -2.0, np.inf, 3.0, np.nan, 0.5, -np.inf, 2.0])
EDGES = {
    "gradient": lambda x: np.gradient(x), "gradient h": lambda x: np.gradient(x, 0.5), "gradient edge 2": lambda x: np.gradient(x, edge_order=2),
    "gradient even places": lambda x: np.gradient(x, 2.0 * np.arange(8)), "gradient places": lambda x: np.gradient(x, np.arange(8.0) ** 2, edge_order=2),
    "searchsorted nan right": lambda x: np.searchsorted(np.sort(x), x, "right"), "searchsorted nan": lambda x: np.searchsorted(np.sort(x), x),
    "a square of truth values": lambda x: (x > 0) ** 2, "a cube of them": lambda x: (x > 0) ** 3, "their power": lambda x: np.power(x > 0, 2)}


@pytest.mark.parametrize("fn", EDGES.values(), ids=EDGES)
def test_at_the_edges_the_value_and_the_precision_are_numpys(fn):
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(jit(fn, engine="interpret")(INFINITE), want := fn(INFINITE), rtol=1e-12, strict=True)
        np.testing.assert_allclose(jvp(lambda x: fn(x) + 0.0 * x, (INFINITE,), (INFINITE,))[0], want + 0.0 * INFINITE, rtol=1e-12)


def test_a_median_over_no_axis_of_nothing_is_an_error_as_numpys_is():
    with pytest.raises(ValueError, match="no axis"):
        vjp(lambda x: np.median(x, axis=()), np.zeros((0, 3)))


LAYOUTS = [np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(6.0).reshape(3, 2).T]


@pytest.mark.parametrize("order", ["C", "F", "A", "K", None, "f"])
@pytest.mark.parametrize("fn", [lambda x, o: np.ravel(x, o), lambda x, o: x.flatten(o or "C"), lambda x, o: x.ravel(order=o),
                                lambda x, o: np.reshape(x, (3, 2), order=o), lambda x, o: x.reshape(-1, order=o)])
@pytest.mark.filterwarnings("ignore:jit.*goes by the layout of an array:RuntimeWarning")
def test_an_order_of_entries_is_that_of_numpy_or_refused(order, fn):
    call, program = lambda x: fn(x, order) * 1.0, jit(lambda x: fn(x, order) * 1.0, engine="interpret")
    for run in (lambda x: vjp(call, x)[0], program):  # one program for all layouts
        for x in LAYOUTS:
            try:
                want = call(x)
            except ValueError:
                with pytest.raises(ValueError):
                    run(x)
                continue
            if order in ("A", "K") and run is not program:
                with pytest.raises(XManError, match="goes by the layout of an array in memory"):
                    run(x)
            else:
                np.testing.assert_array_equal(run(x), want)
    assert vjp(lambda x: np.ravel(x, "K"), np.ones((1, 3)))[0].shape == (3,)  # all orders are one


def test_equal_eigenvalues_and_singular_values_turn_nothing_or_are_nan():
    """The projector on their space has a derivative; that of the vectors, which it is made of, does not tell it."""
    a, t = np.diag([2.0, 2.0, 1.0]), np.array([[1.0, 2, 3], [2, 4, 5], [3, 5, 6]])
    project = lambda a: (v := np.linalg.eigh(a)[1][:, 1:]) @ v.T  # depends on the space of the two, and not on a basis of it
    right, slope = np.array([[0, 0, 3], [0, 0, 5], [3, 5, 0]]), jvp(project, (a,), (t,))[1]
    np.testing.assert_allclose(slope, np.where(np.isnan(slope), np.nan, right), atol=1e-12)
    np.testing.assert_allclose(jvp(lambda a: np.linalg.svd(a)[1], (np.eye(3),), (t,))[1].sum(), 11, atol=1e-12)


@pytest.mark.parametrize("seed", range(9))
def test_vectors_have_the_signs_of_the_library_that_is_asked(seed):
    a = np.random.default_rng(seed).normal(size=(6, 6))
    for find in (lambda a: np.linalg.eigh(a)[1], lambda a: np.linalg.eigh(a, "U")[1], lambda a: xman.scipy.linalg.eigh(a)[1],
                 lambda a: xman.scipy.linalg.eigh(a, lower=False)[1], lambda a: np.linalg.svd(a).U, lambda a: np.linalg.svd(a)[2],
                 lambda a: xman.scipy.linalg.svd(a)[2], lambda a: np.linalg.qr(a)[0], lambda a: xman.scipy.linalg.qr(a)[1]):
        np.testing.assert_allclose(vjp(find, a)[0], find(a), rtol=1e-9, atol=1e-12)


def test_scipy_of_xman_is_scipy_on_plain_arrays():
    from xman.scipy import linalg, optimize, special, stats
    assert optimize is scipy.optimize and special.erf is scipy.special.erf and special.logsumexp([0.0, 0.0]) == np.log(2)
    assert stats.norm(1.0).pdf(1.0) == scipy.stats.norm(1.0).pdf(1.0) and stats.norm.rvs(size=3, random_state=0).shape == (3,)
    assert linalg.LinAlgError is scipy.linalg.LinAlgError and "logsumexp" in dir(special) and "norm" in dir(stats)
    assert pickle.loads(pickle.dumps(stats.norm)).cdf(0.0) == 0.5
    with pytest.raises(AttributeError):
        special.no_such_function()


@EACH
def test_the_gradient_of_single_precision_is_in_single_precision_however_it_is_had(_, room, fn, args):
    module = modules(room)[0]
    args = [np.float32(a) if isinstance(a, (float, np.floating)) or isinstance(a, np.ndarray) and a.dtype.kind == "f" else a for a in args]
    if np.asarray(fn(module, *args)).dtype == np.float32:
        slope = grad(lambda *args: np.sum(fn(module, *args)))
        steps = trace(slope, *args)
        kinds = [slope(*args).dtype, evaluate(steps, dict(zip(steps.inputs, args, strict=False)))["result"].dtype] if len(args) == 1 else []
        assert {*kinds, jit(slope, engine="interpret")(*args).dtype} == {np.dtype(np.float32)}


FOLDED = [np.add, np.multiply, np.maximum, np.minimum, np.subtract, np.divide, np.hypot, np.logaddexp, np.logaddexp2, np.fmax, np.fmin]


@pytest.mark.parametrize("call", [lambda u, x: u.reduceat(x, [0, 2, 3]), lambda u, x: u.reduceat(x, [0, 4, 1, 5]),
                                  lambda u, x: u.reduceat(x.reshape(2, 3), [0, 1], axis=-1), lambda u, x: u.accumulate(x),
                                  lambda u, x: u.accumulate(x.reshape(2, 3), axis=1), lambda u, x: u.reduce(x.reshape(3, 2), axis=1),
                                  lambda u, x: u.outer(x, x[:2])], ids=range(7))
@pytest.mark.parametrize("ufunc", [*FOLDED, np.power, np.arctan2], ids=lambda u: u.__name__)
def test_the_methods_of_ufuncs_are_numpys_and_have_slopes(ufunc, call):
    x, v = np.array([0.5, 2.0, 1.5, 0.7, 3.0, 1.1]), np.array([1.0, -0.5, 0.25, 2.0, -1.0, 0.5])
    if ufunc not in FOLDED and call.__code__.co_names[0].startswith("reduce"):
        with pytest.raises(XManError, match="has no .reduce"):
            jvp(lambda x: call(ufunc, x), (x,), (v,))
        return
    value, slope = jvp(lambda x: call(ufunc, x), (x,), (v,))
    np.testing.assert_allclose(value, call(ufunc, x), rtol=1e-14)
    np.testing.assert_allclose(slope, (call(ufunc, x + 1e-6 * v) - call(ufunc, x - 1e-6 * v)) / 2e-6, rtol=1e-6, atol=1e-8)


def test_reduceat_refuses_the_indices_that_numpy_refuses():
    with pytest.raises(IndexError):
        grad(lambda x: np.sum(np.add.reduceat(x, [0, 3])))(np.ones(3))


@pytest.mark.parametrize(("name", "shapes"), [("norm", ()), ("expon", ()), ("uniform", ()), ("gamma", (2.0,)), ("chi2", (3.0,)), ("beta", (2.0, 3.0))])
@pytest.mark.parametrize("method", ["pdf", "logpdf", "cdf", "sf"])
def test_a_distribution_at_nan_is_nan_as_in_scipy(name, shapes, method):
    from xman.scipy import stats

    values, _ = xman.vjp(lambda x: getattr(getattr(stats, name), method)(x, *shapes), np.array([np.nan, 0.4]))
    np.testing.assert_allclose(values, getattr(getattr(scipy.stats, name), method)([np.nan, 0.4], *shapes), rtol=1e-12)
