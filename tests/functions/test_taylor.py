"""Taylor series: the terms of mpmath to order 20, of nested derivatives, through loops, in lists, of equations."""
from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

import xman
from xman import WengertList, XManError, cond, eval, f, grad, jit, jvp, scan, series, taylor, taylor_ode, trace, while_loop

A, B = np.random.default_rng(0).normal(size=(3, 3)) + 3 * np.eye(3), np.array([1.0, 2.0, 3.0])
MP = {  # the function, mpmath's, and the point
    "exp": (np.exp, lambda m, x: m.exp(x), 0.3), "log": (np.log, lambda m, x: m.log(x), 1.7),
    "sin": (np.sin, lambda m, x: m.sin(x), 0.4), "cos": (np.cos, lambda m, x: m.cos(x), 0.4), "tan": (np.tan, lambda m, x: m.tan(x), 0.4),
    "tanh": (np.tanh, lambda m, x: m.tanh(x), 0.5), "arctan": (np.arctan, lambda m, x: m.atan(x), 0.5),
    "arcsin": (np.arcsin, lambda m, x: m.asin(x), 0.3), "sqrt": (np.sqrt, lambda m, x: m.sqrt(x), 1.3),
    "power": (lambda x: x ** 2.3, lambda m, x: x ** m.mpf(2.3), 1.2), "cube": (lambda x: x ** 3 + x ** 5, lambda m, x: x ** 3 + x ** 5, 0.0),
    "inverse": (lambda x: x ** -3 + 1 / x, lambda m, x: x ** -3 + 1 / x, 1.2), "x to x": (lambda x: x ** x, lambda m, x: x ** x, 1.2),
    "2 to x": (lambda x: 2.0 ** x, lambda m, x: m.mpf(2) ** x, 1.2), "sigmoid": (f.sigmoid, lambda m, x: 1 / (1 + m.exp(-x)), 0.2),
    "quotient": (lambda x: (1 + x * x) / (2 - x) / (x + 3) / 7, lambda m, x: (1 + x * x) / (2 - x) / (x + 3) / 7, 0.2),
    "norm": (lambda x: np.linalg.norm(np.stack([x, 2 * x + 1])), lambda m, x: m.sqrt(x * x + (2 * x + 1) ** 2), 0.3),
    "besselJ": (lambda x: f.besselJ(0, x), lambda m, x: m.besselj(0, x), 1.2),
    "composed": (lambda x: np.exp(np.sin(x)) / (1 + np.tanh(x) ** 2), lambda m, x: m.exp(m.sin(x)) / (1 + m.tanh(x) ** 2), 0.2)}


@pytest.mark.parametrize("name", MP)
def test_the_terms_are_those_of_mpmath_to_order_20(name):
    mp = pytest.importorskip("mpmath").mp
    fn, reference, x = MP[name]
    with mp.workdps(60):
        wanted = [float(y) for y in mp.taylor(lambda x: reference(mp, x), mp.mpf(x), 20)]
    np.testing.assert_allclose(taylor(fn, x, 1.0, 20), wanted, rtol=1e-12, atol=1e-25)


FACTORIAL = np.cumprod([1.0, *range(1, 16)])
AT_0 = {  # the function, and its terms at 0
    "sinc": (np.sinc, np.cos(np.arange(15) * np.pi / 2) * np.pi ** np.arange(15) / FACTORIAL[1:]),
    "exprel": (special.exprel, 1 / FACTORIAL[1:]), "boxcox": (lambda x: special.boxcox(np.e, x), 1 / FACTORIAL[1:]),
    "j1": (special.j1, np.where(np.arange(15) % 2, np.imag(1j ** np.arange(15)) * [
        1 / (special.factorial(k // 2) * special.factorial(k // 2 + 1) * 2.0 ** k) for k in range(15)], 0.0)),
    "pseudo_huber": (lambda x: special.pseudo_huber(1.0, x), np.where(np.arange(15) % 2, 0, special.binom(.5, np.arange(15) / 2)) - np.eye(15)[0]),
    "rgamma": (special.rgamma, [0, 1, np.euler_gamma, -0.6558780715202538, -0.0420026350340952, 0.1665386113822915])}  # A&S 6.1.34


@pytest.mark.parametrize("name", AT_0)
def test_the_terms_of_special_functions_are_right_at_0_whatever_the_order(name):
    fn, wanted = AT_0[name]
    np.testing.assert_allclose(taylor(fn, 0.0, 1.0, len(wanted) - 1), wanted, rtol=1e-13, atol=1e-15)


def scanned(x):
    last, ys = scan(lambda c, t: (np.sin(c) * x + t, c * c), x, np.arange(4.0))
    return last + np.sum(ys)


ARRAYS = {
    "scan": scanned,
    "while": lambda x: while_loop(lambda c: c[1] < 4, lambda c: (np.sin(c[0]) * x + x, c[1] + 1), (x, 0))[0],
    "cond": lambda x: cond(x > 0, lambda x: x * 0 + 1.0, np.exp, x) * x,
    "solve": lambda x: np.sum(np.linalg.solve(A + x * np.diag(B), np.sin(x * B)) ** 2),
    "solve of columns": lambda x: np.sum(np.linalg.solve(A + x * np.diag(B), np.stack([np.sin(x * B), B], 1)) ** 2),
    "inv": lambda x: np.sum(np.linalg.inv(A + x * np.diag(B))), "logdet": lambda x: np.linalg.slogdet(A + x * np.diag(B))[1],
    "cholesky": lambda x: np.sum(np.linalg.cholesky(A @ A.T + x * np.diag(B))),
    "eigenvalues": lambda x: np.linalg.eigvalsh(A + A.T + x * np.diag(B))[1], "expm": lambda x: np.sum(f.expm(A * x)),
    "einsum": lambda x: np.einsum("ij,jk,k->i", A * x, np.sin(A * x), B * x)[1], "dot": lambda x: (A * x) @ np.sin(A * x) @ B @ (B * x),
    "max": lambda x: np.max(np.sin(B * x)), "where": lambda x: np.where(x > 0, x ** 3, x), "abs": lambda x: np.abs(np.sin(-3 * x)),
    "std": lambda x: np.std(np.sin(B * x)), "cumprod": lambda x: np.cumprod(np.sin(x * B))[2], "sort": lambda x: np.sort(np.cos(B * x))[1],
    "concat": lambda x: np.sum(np.concatenate([np.stack([x, 1.0]), B * x]) ** 2), "softmax": lambda x: f.softmax(x * B)[1],
    "loss": lambda x: np.sum(f.softmaxCrossEntropy(A * x, np.array([0, 1, 2]))), "grad": lambda x: grad(lambda y: np.sin(y * x) * y)(x * x),
    "powers of 0": lambda x: (x - 0.4) ** 99 + (x - 0.4) ** 3,
    "recurrence": lambda x: np.sum(f.recurrence(np.sin(x * B), np.cos(x * B), 0)),
    "sylvester's a": lambda x: np.sum(f.sylvester(A * x, np.diag(B), A)), "sylvester's b": lambda x: np.sum(f.sylvester(A, np.diag(B) * x, A)),
    "prod": lambda x: np.prod(np.sin(B * x) - 1), "det": lambda x: np.linalg.det(np.sin(A * x) + A), "no entries": lambda x: np.prod(B[:0] * x) * x,
    "prod of axes": lambda x: np.sum(np.prod(np.sin(A * x), 1) * np.prod(A * x, (-1, 0), keepdims=True) + np.cumprod(A * x)[4])}


NESTED = {  # loops within loops, both of the array
    "map": lambda x: np.sum(xman.map(lambda t: xman.map(lambda s: xman.map(lambda r: np.sin(r * s * t), x), x), x)),
    "scan": lambda x: np.sum(xman.map(lambda t: scan(lambda c, s: (np.sin(c * t) * s, c), t, x)[1], x)),
    "while": lambda x: np.sum(xman.map(lambda t: while_loop(lambda c: np.sum(c) < 1, lambda c: c * 2 + x, x * t), x)),
    "cond": lambda x: np.sum(xman.map(lambda t: cond(t > .5, lambda u: np.sum(x * u), lambda u: np.sum(np.sin(x) * u), t), x))}


@pytest.mark.parametrize("name", NESTED)
def test_loops_within_loops_over_the_same_array_have_series(name):
    fn, x = NESTED[name], np.array([0.3, 0.7])
    first = lambda y: jvp(fn, (y,), (x,))[1]
    np.testing.assert_allclose(taylor(fn, x, x, 2), [fn(x), first(x), jvp(first, (x,), (x,))[1] / 2], rtol=1e-13)


@pytest.mark.parametrize("name", ARRAYS)
def test_the_terms_are_those_of_nested_derivatives(name):
    def terms(fn, n): return [fn(0.4), *(y / k for k, y in enumerate(terms(lambda x: jvp(fn, (x,), (1.0,))[1], n - 1), 1))] if n else [fn(0.4)]
    nested = [y * 1.0 for y in terms(ARRAYS[name], 3)]
    np.testing.assert_allclose(taylor(ARRAYS[name], 0.4, 1.0, 3), nested, rtol=1e-9, atol=1e-11)
    steps = trace(ARRAYS[name], 0.4)
    if name != "grad":  # the list says the same
        expanded = series(steps, ["x"], 3)
        values = eval(expanded, {"x": 0.4, "x_t1": 1.0})
        end = steps[-1][0]
        np.testing.assert_allclose([values.get(f"{end}_t{k}", 0.0) for k in (1, 2, 3)], nested[1:], rtol=1e-9, atol=1e-11)


def test_trees_go_in_and_out_and_what_does_not_move_has_zeros():
    terms = taylor(lambda p: {"y": p["W"] @ p["x"], "c": 3.0}, {"W": A, "x": B}, {"W": np.eye(3), "x": 0 * B}, 2)
    np.testing.assert_allclose([t["y"] for t in terms], [A @ B, B, 0 * B])
    assert [t["c"] for t in terms] == [3, 0, 0]


def test_terms_are_differentiated_and_compiled_like_any_other_function():
    assert np.isclose(grad(lambda x: taylor(np.sin, x, 1.0, 3)[3])(0.4), math.sin(0.4) / 6)
    third = jit(lambda x: taylor(scanned, x, 1.0, 3)[3])
    np.testing.assert_allclose([third(x) for x in (0.4, 0.5)], [taylor(scanned, x, 1.0, 3)[3] for x in (0.4, 0.5)], rtol=1e-12)


def test_the_number_of_operations_grows_as_the_square_of_the_order():
    counts = [len(series([("y", "exp", ("x",)), ("z", "tanh", ("y",))], ["x"], n)) for n in (8, 16, 32)]
    assert counts[2] / counts[1] < 4.2 and counts[1] / counts[0] < 4.2


@pytest.mark.parametrize("fn", [
    np.prod, np.cumprod, np.linalg.det, f.cofactor, f.expm, lambda x: f.sqrtm(x @ x), lambda x: f.recurrence(x, x, 0),
    lambda x: f.sylvester(x, x @ x, np.sin(x))], ids="prod cumprod det cofactor expm sqrtm recurrence sylvester".split())
def test_what_has_products_in_its_rules_has_a_series_in_the_square_of_the_order(fn):
    steps = trace(fn, A)
    counts = [len(series(steps, steps.inputs, n)) for n in (4, 8, 16)]
    assert counts[2] / counts[1] < 4.2 and counts[1] / counts[0] < 4.2
    terms, h = taylor(fn, A, B * A, 14), 0.02
    np.testing.assert_allclose(np.sum([y * h ** k for k, y in enumerate(terms)], 0), fn(A + h * B * A), rtol=1e-12, atol=1e-12)


def test_the_series_of_a_singular_determinant_begins():
    np.testing.assert_allclose(taylor(np.linalg.det, np.ones((2, 2)), A[:2, :2], 2), [0, A[0, 0] + A[1, 1] - A[0, 1] - A[1, 0], np.linalg.det(A[:2, :2])])


def test_the_list_of_a_series_reads_like_the_recurrence():
    assert str(series([("y", "exp", ("x",))], ["x"], 2)) == """\
y    = exp(x)
y_t1 = mul(x_t1, y)
z1   = mul(x_t1, y_t1)
y_t2 = divide(z1, 2)"""


def kepler(state):
    x, y, u, v = state
    cube = (x * x + y * y) ** 1.5
    return u, v, -x / cube, -y / cube


def test_keplers_ellipse_closes_to_1e_14():
    e, steps = 0.5, 64
    start = state = (1 - e, 0.0, 0.0, math.sqrt((1 + e) / (1 - e)))
    for _ in range(steps):
        terms = taylor_ode(kepler, state, 24)
        state = tuple(sum(t[i] * (2 * math.pi / steps) ** k for k, t in enumerate(terms)) for i in range(4))
    np.testing.assert_allclose(state, start, atol=2e-14)


def test_the_series_of_a_solution_is_that_of_the_equation():
    np.testing.assert_allclose(taylor_ode(lambda x: x, 1.0, 8), [1 / math.factorial(k) for k in range(9)], rtol=1e-15)
    tangent = taylor_ode(lambda p: {"t": 1.0, "y": 1 + p["y"] ** 2}, {"t": 0.0, "y": 0.0}, 7)
    np.testing.assert_allclose([t["y"] for t in tangent], taylor(np.tan, 0.0, 1.0, 7), atol=1e-15)
    assert [t["t"] for t in tangent] == [0, 1, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(("call", "message"), [
    (lambda: taylor(np.sin, 1.0, np.ones(2), 2), "v has .* of shape"), (lambda: taylor(np.sin, 1.0, 1.0, -1), "order of taylor is a whole"),
    (lambda: taylor(np.sin, 1, "x", 2), "v"), (lambda: taylor(3, 1.0, 1.0, 2), "takes a function"),
    (lambda: taylor(lambda x: f.besselJ(x, 1.0), 1.0, 1.0, 2), "no derivative by its argument v"),
    (lambda: taylor_ode(lambda x: (x, x), 1.0, 2), "result of"), (lambda: taylor_ode(lambda x: x[:1], np.ones(3), 2), "shape"),
    (lambda: taylor_ode(lambda x: "x", 1.0, 2), "taylor_ode wants arrays of numbers$"), (lambda: series([("y", "exp", ("x",))], ["y"], 2), "is computed"),
    (lambda: series(WengertList([("x_t1", "exp", ("x",))]), ["x"], 2), "x_t1 already"),
    (lambda: taylor_ode(lambda x: scan(lambda c, t: (np.sin(c), c), x, np.arange(3.0))[0], 1.0, 2), "write the loop in Python")])
def test_what_has_no_series_is_refused_in_a_sentence(call, message):
    with pytest.raises(XManError, match=message):
        call()
