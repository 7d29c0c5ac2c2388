"""Facts about derivatives of every order, in every order of the two modes: generated, and compared with what must come out.

XMAN_ALL_CASES=1 runs them all; otherwise some of each kind.
"""

import itertools
import math
import os

import numpy as np
import pytest
from scipy import special

from ops import f
from xman import derivative, eval, grad, gradient, hessian, jacobian, jvp, tangent, trace

ALL = bool(os.environ.get("XMAN_ALL_CASES"))


def forward(function):
    return lambda x: jvp(function, (x,), (np.ones_like(x),))[1]


MODES = {"reverse": grad, "forward": forward, "dual": derivative}


def differentiated(function, modes):
    for mode in modes:
        function = MODES[mode](function)
    return function


def some(cases, step):
    """All of them, or each step-th."""
    return list(cases) if ALL else list(cases)[::step]


# ---- g(xⁿ) at 0 -----------------------------------------------------------------------------------------------------

def binomial(a):
    return [math.prod((a - i) / (i + 1) for i in range(j)) for j in range(6)]


EXP, LOG = [1 / math.factorial(j) for j in range(6)], [0, *((-1) ** (j + 1) / j for j in range(1, 6))]
POWERS = {  # g, and its Taylor coefficients at 0
    "exp": (np.exp, EXP), "exp(-u)": (lambda u: np.exp(-u), [(-1) ** j * c for j, c in enumerate(EXP)]),
    "u exp(u)": (lambda u: u * np.exp(u), [0, *EXP[:5]]), "expm1": (np.expm1, [0, *EXP[1:]]),
    "2^u": (lambda u: 2.0 ** u, [math.log(2) ** j * c for j, c in enumerate(EXP)]),
    "sqrt(1+u)": (lambda u: np.sqrt(1 + u), binomial(.5)), "(1+u)^.5": (lambda u: (1 + u) ** .5, binomial(.5)),
    "(1+u)^-1.5": (lambda u: (1 + u) ** -1.5, binomial(-1.5)), "(1+u)^3": (lambda u: (1 + u) ** 3, binomial(3)),
    "cbrt(1+u)": (lambda u: np.cbrt(1 + u), binomial(1 / 3)), "1/(1+u)": (lambda u: 1 / (1 + u), binomial(-1)),
    "log1p": (np.log1p, LOG), "log(1+u)": (lambda u: np.log(1 + u), LOG), "sin": (np.sin, [0, 1, 0, -1 / 6, 0, 1 / 120]),
    "cos": (np.cos, [1, 0, -1 / 2, 0, 1 / 24, 0]), "tan": (np.tan, [0, 1, 0, 1 / 3, 0, 2 / 15]),
    "tanh": (np.tanh, [0, 1, 0, -1 / 3, 0, 2 / 15]), "arctan": (np.arctan, [0, 1, 0, -1 / 3, 0, 1 / 5]),
    "arcsinh": (np.arcsinh, [0, 1, 0, -1 / 6, 0, 3 / 40]), "sinh": (np.sinh, [0, 1, 0, 1 / 6, 0, 1 / 120]),
    "cosh": (np.cosh, [1, 0, 1 / 2, 0, 1 / 24, 0]), "u^2": (lambda u: u ** 2, [0, 0, 1, 0, 0, 0]), "u": (lambda u: u, [0, 1, 0, 0, 0, 0]),
    "u u": (lambda u: u * u, [0, 0, 1, 0, 0, 0]), "square": (np.square, [0, 0, 1, 0, 0, 0]),
    "hypot(u, 1)": (lambda u: np.hypot(u, 1.0), [1, 0, 1 / 2, 0, -1 / 8, 0])}
EXPONENTS = {"int": int, "float": float, "int64": np.int64, "array": lambda n: np.array(float(n))}
CALLS = [(g, n, kind, order, mode) for g in POWERS for n in range(5) for kind in EXPONENTS for order in range(1, 6) for mode in MODES]


def test_powers_with_whole_exponents_have_every_derivative_at_0():
    for g, n, kind, order, mode in some(CALLS, 151):
        outer, taylor = POWERS[g]
        right = math.factorial(order) * sum(c for j, c in enumerate(taylor) if j * n == order)
        got = differentiated(lambda x: outer(np.power(x, EXPONENTS[kind](n))), [mode] * order)(0.0)  # noqa: B023
        assert got == pytest.approx(right, rel=1e-9, abs=1e-9), (g, n, kind, order, mode)


ZEROS = {  # functions in which something is 0 at 0 that varies, and their derivatives there
    "xlog1py": (lambda x: special.xlog1py(x, x), [0, 2, -3, 8]), "scale": (lambda x: f.scale(x, np.exp(x)), [1, 2, 3, 4]),
    "ratio": (lambda x: f.ratio(x, np.exp(x)), [1, -2, 3, -4]), "hypot": (lambda x: np.hypot(x, 1.0), [0, 1, 0, -3]),
    "norm": (lambda x: np.linalg.norm(np.stack([x, 1 + 0 * x])), [0, 1, 0, -3]), "arctan2": (lambda x: np.arctan2(x, 1 + x), [1, -2, 4, 0]),
    "std": (lambda x: np.std(np.stack([x + 1, x - 1, 0 * x])) * 3 / 2 ** .5, [0, 1 / 3 ** .5, 0, -3 ** -.5]),
    "power": (lambda x: (1 + x) ** x, [0, 2, -3, 20]), "prod": (lambda x: np.prod(np.stack([x, x, np.exp(x)])), [0, 2, 6, 12])}


@pytest.mark.parametrize("name", ZEROS)
def test_a_zero_that_varies_is_no_mask_in_any_order_of_modes_nor_in_lists(name):
    function, right = ZEROS[name]
    for order in range(1, 5 if ALL else 4):
        for modes in (*itertools.product(("reverse", "forward"), repeat=order), ("dual",) * order):
            assert differentiated(function, modes)(0.0) == pytest.approx(right[order - 1], abs=1e-12), modes
    steps = trace(function, 0.5)
    first = gradient(steps, of := steps[-1][0], ["x"])
    assert eval(gradient(first, f"d{of}_dx", ["x"]), {"x": 0.0})[f"dd{of}_dx_dx"] == pytest.approx(right[1])


@pytest.mark.parametrize("n", (1, 2, 3))
def test_a_power_whose_exponent_varies_has_finite_derivatives_at_0(n):
    slopes = hessian(lambda v: v[0] ** v[1])(np.array([0.0, n]))
    assert slopes[0, 0] == (2.0 if n == 2 else 0.0) and np.isfinite(slopes).all()


# ---- where: what is left out is as if it were not there ----------------------------------------------------------------

LEFT_OUT = [
    np.sqrt, np.log, np.log1p, np.log2, np.log10, np.cbrt, np.arccos, np.arcsin, np.arctanh, np.arccosh, np.tan, np.reciprocal, abs,
    lambda x: 1 / x, lambda x: np.sin(x) / x, lambda x: x ** .5, lambda x: x ** -1, lambda x: x ** 1.5, lambda x: x ** x,
    lambda x: x * np.log(x), lambda x: np.log(x) / x, lambda x: x / np.log(x), lambda x: abs(np.log(x)), lambda x: np.log(x) ** 2,
    lambda x: np.square(np.log(x)), lambda x: np.exp(1 / x), lambda x: np.exp(np.exp(900 * x)), lambda x: np.sqrt(x * x),
    lambda x: np.sin(np.log(x)), lambda x: np.tanh(1 / x), lambda x: np.arctan2(x, x), lambda x: np.hypot(x, 0 * x),
    lambda x: np.logaddexp(np.log(x), 1 / x), lambda x: np.sinh(900 * x), lambda x: 1 / (1 + np.exp(1 / x)), lambda x: np.inf * x,
    lambda x: np.maximum(np.log(x), 0), lambda x: np.clip(np.log(x), -1, 1), lambda x: np.maximum(np.log(x), np.sqrt(x)),
    lambda x: np.where(x > 1, np.sqrt(x), np.log(x)), lambda x: np.log(np.maximum(x, 0)), lambda x: np.nan * x,
    lambda x: np.sin(x + np.inf)]
TAKEN = [lambda x: x, lambda x: x * x, np.sin, lambda x: np.exp(x / 9)]
WHERES = [  # what is left out and what is taken, and the same without the where
    (lambda b, g: lambda x: np.where(x > 9, b(x), g(x)), lambda g: g), (lambda b, g: lambda x: np.where(x < 9, g(x), b(x)), lambda g: g),
    (lambda b, g: lambda x: np.where(x > 9, b(x), np.where(x > 8, b(x) * x, g(x))), lambda g: g),
    (lambda b, g: lambda x: np.sin(np.where(x > 9, b(x), g(x))) * x, lambda g: lambda x: np.sin(g(x)) * x),
    (lambda b, g: lambda x: np.where(x > 9, b(np.sin(x) * x), g(x)), lambda g: g),
    (lambda b, g: lambda x: np.where(x > 9, np.where(x < 8, b(x), b(b(x))), g(x)), lambda g: g),
    (lambda b, g: lambda x: np.where(x > 9, grad(b)(x), g(x)), lambda g: g)]
ORDERS = [modes for order in (1, 2, 3) for modes in itertools.product(("reverse", "forward"), repeat=order)]


def test_what_a_where_leaves_out_changes_no_derivative_in_any_order_of_modes():
    for (b, bad), g, (where, without), modes, x in some(itertools.product(
            enumerate(LEFT_OUT), TAKEN, WHERES, [*ORDERS, ("dual",) * 3], (0.0, -1.0, 2.0, -0.0)), 563):
        got, right = (differentiated(h, modes)(x) for h in (where(bad, g), without(g)))
        assert got == pytest.approx(right, rel=1e-9, abs=1e-12), (b, modes, x)


@pytest.mark.parametrize("mask", [f.scale, lambda c, x: f.where(c, x, 0.0)], ids=["scale", "where"])
@pytest.mark.parametrize("left_out", [np.sqrt, np.log, np.reciprocal, lambda x: x ** .3])
def test_what_a_mask_leaves_out_sends_nothing_in_lists_either(mask, left_out):
    steps = trace(lambda x: mask(x > 0, left_out(x)), 0.5)
    of, at = steps[-1][0], {"x": 0.0, "x_dot": 1.0}
    assert eval(gradient(steps, of, ["x"]), at)[f"d{of}_dx"] == eval(tangent(steps, ["x"]), at)[f"{of}_dot"] == 0


def columns(function):
    return lambda x: np.stack([jvp(function, (x,), (e,))[1] for e in np.eye(len(x))], -1)


HESSIANS = [lambda f: jacobian(grad(f)), lambda f: columns(grad(f)), lambda f: jacobian(columns(f)), lambda f: columns(columns(f))]
REDUCED = [np.sum, np.linalg.norm, np.std, np.prod, np.max, np.mean, lambda x: np.logaddexp.reduce(x)]


def test_what_a_where_leaves_out_changes_no_hessian_of_arrays():
    x, taken = np.array([-1.0, 0.0, 1.0, 2.0]), np.array([True, True, False, False])
    for (b, bad), reduce, second in some(itertools.product(enumerate(LEFT_OUT), REDUCED, HESSIANS), 89):
        whole = second(lambda x: np.where(np.sum(x) > 99, reduce(bad(x)), np.sum(np.sin(x))))(x)  # noqa: B023
        each = second(lambda x: np.sum(np.where(taken, np.sin(x), np.where(x > 9, bad(x) / reduce(bad(x)), x))))(x)  # noqa: B023
        np.testing.assert_allclose(whole, np.diag(-np.sin(x)), atol=1e-12, err_msg=str(b))
        np.testing.assert_allclose(each, np.diag(-np.sin(x) * taken), atol=1e-12, err_msg=str(b))


# ---- where a finite answer exists, it is found -------------------------------------------------------------------------

FLAT = {  # functions that are flat at x, though on the way something is infinite
    "1 / (1 + exp(-x))": (lambda x: 1 / (1 + np.exp(-x)), -1000.0), "its square": (lambda x: (1 / (1 + np.exp(-x))) ** 2, -1000.0),
    "reciprocal": (lambda x: np.reciprocal(1 + np.exp(-x)), -1000.0), "1 / cosh": (lambda x: 1 / np.cosh(x), 1000.0),
    "sqrt of maximum": (lambda x: np.sqrt(np.maximum(x, 0)), -1.0), "sqrt of clip": (lambda x: np.sqrt(np.clip(x, 0, 5)), -1.0),
    "a power of the sum": (lambda x: (1 + np.exp(-x)) ** -2, -1000.0), "exp of a difference": (lambda x: np.exp(x - np.exp(x)), 1000.0),
    "power of maximum": (lambda x: np.maximum(0, x) ** .5, -1.0), "sqrt of minimum": (lambda x: np.sqrt(-np.minimum(x, 0)), 1.0),
    "std of one": (lambda x: np.std(np.stack([x])), 3.0), "std of equals": (lambda x: np.std(np.stack([x, x])), 3.0)}


@pytest.mark.parametrize("name", FLAT)
def test_a_function_is_flat_in_every_order_of_modes(name):
    function, x = FLAT[name]
    assert [modes for modes in ORDERS if differentiated(function, modes)(x) != 0] == []


@pytest.mark.parametrize("square", [lambda n: n ** 2, np.square, lambda n: n * n], ids=["power", "square", "mul"])
@pytest.mark.parametrize(("root", "right"), [
    (np.linalg.norm, np.diag([2.0, 2.0])), (lambda x: abs(x[0]), np.diag([2.0, 0.0])), (np.std, np.array([[.5, -.5], [-.5, .5]]))],
    ids=["norm", "abs", "std"])
def test_the_square_of_a_root_has_its_hessian_at_0(root, square, right):
    for second in HESSIANS:
        np.testing.assert_allclose(second(lambda x: square(root(x)))(np.zeros(2)), right)


def test_the_square_of_a_square_root_has_the_derivative_of_what_is_under_it_at_0():
    kernel = lambda x: np.exp(-np.sqrt(x * x) ** 2)
    assert [float(differentiated(kernel, modes)(0.0)) for modes in (*ORDERS, ("dual",) * 2)] == [
        pytest.approx({1: 0, 2: -2, 3: 0}[len(modes)]) for modes in (*ORDERS, ("dual",) * 2)]


def test_the_delta_of_a_root_that_is_squared_is_there_where_it_is_wanted():
    from xman import WengertList, backprop
    steps, x = WengertList.from_text("n = norm(x)\ny = power(n, 2)"), np.array([3.0, 4.0])
    values = eval(steps, {"x": x})
    for found in (backprop(steps, values, y=1.0), eval(gradient(steps, "y", ["n", "x"]), {"x": x})):
        assert found.get("n" if "dy_dn" not in found else "dy_dn") == 10.0
        np.testing.assert_allclose(found.get("dy_dx", found["x"]), [6.0, 8.0])


def test_the_derivative_of_logsumexp_with_minus_infinity_is_finite_in_every_order():
    function = lambda x: np.logaddexp.reduce(np.stack([x, -np.inf * np.ones(())]))
    assert [float(differentiated(function, modes)(1.0)) for modes in ORDERS] == [1.0 * (len(modes) == 1) for modes in ORDERS]
