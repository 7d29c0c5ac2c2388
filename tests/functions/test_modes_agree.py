"""The law of the modes: reverse and forward, and all orders of them, give one number at a point, or none of them a finite one.

The functions are random compositions, the points those where something is infinite, flat or tied. XMAN_ALL_CASES=1 tries more.
"""

import functools
import itertools
import os

import numpy as np
import pytest
from scipy import special

import ops
from tests.functions.test_one_answer import ways
from xman import derivative, eval, f, grad, gradient, jacobian, jit, jvp, simplify, tangent, trace

ALL = bool(os.environ.get("XMAN_ALL_CASES"))
MODES = {"reverse": grad, "forward": lambda h: lambda x: jvp(h, (x,), (np.ones_like(x),))[1], "dual": derivative}
UNARY = {
    "exp": lambda n, x: n.exp(x), "log": lambda n, x: n.log(x), "sqrt": lambda n, x: n.sqrt(x), "cbrt": lambda n, x: n.cbrt(x),
    "square": lambda n, x: x * x, "x^3": lambda n, x: x ** 3, "x^.5": lambda n, x: x ** .5, "x^-1": lambda n, x: x ** -1,
    "1/x": lambda n, x: 1 / x, "-x": lambda n, x: -x, "tanh": lambda n, x: n.tanh(x), "sin": lambda n, x: n.sin(x),
    "arctan": lambda n, x: n.arctan(x), "log1p": lambda n, x: n.log1p(x), "expm1": lambda n, x: n.expm1(x), "cosh": lambda n, x: n.cosh(x),
    "1+x": lambda n, x: 1 + x, "1-x": lambda n, x: 1 - x, "2x": lambda n, x: 2 * x, "abs": lambda n, x: abs(x),
    "relu": lambda n, x: n.maximum(x, 0), "clip": lambda n, x: n.clip(x, -1, 1), "arcsin": lambda n, x: n.arcsin(x),
    "x>0": lambda n, x: n.where(x > 0, x, 0.0), "sqrt x>0": lambda n, x: n.where(x > 0, n.sqrt(x), x),
    "first": lambda n, x: n.sqrt(n.stack([x, 0 * x + 0.0]))[0], "max of two": lambda n, x: n.max(n.stack([n.log(x), 1 + x]))}
BINARY = {"x+y": lambda n, x, y: x + y, "x-y": lambda n, x, y: x - y, "xy": lambda n, x, y: x * y, "x/y": lambda n, x, y: x / y,
          "max": lambda n, x, y: n.maximum(x, y), "min": lambda n, x, y: n.minimum(x, y), "x^y": lambda n, x, y: n.power(x, y),
          "where": lambda n, x, y: n.where(x > y, x, y)}
POINTS = (0.0, -0.0, 1.0, -1.0, 1000.0, -1000.0, 1e30, -1e30, 1e-30, -1e-30)  # whose ninth powers are floats, too
ORDERS = [*((m,) for m in MODES), *itertools.product(("reverse", "forward"), repeat=2), ("dual", "dual")]


def drawn(rng):
    """A random function of a module of NumPy's names and a number, with its name; nudges: how much the values on the way, and
    their derivatives of all orders, are changed."""
    nudged = lambda x, nudge: x * (1 + nudge) * abs(x) ** nudge if nudge and x else x
    if rng.random() < .3:
        (b, outer), (u, one), (v, two) = (list(t.items())[rng.integers(len(t))] for t in (BINARY, UNARY, UNARY))
        return f"{b} of {u} and {v}", lambda n, x, nudges=(0, 0, 0): outer(n, nudged(one(n, x), nudges[0]), nudged(two(n, x), nudges[1]))
    names = [list(UNARY)[k] for k in rng.integers(len(UNARY), size=rng.integers(2, 4))]

    def chain(n, x, nudges=(0, 0, 0)):
        for name, nudge in zip(names, nudges, strict=False):
            x = nudged(UNARY[name](n, x), nudge)
        return x
    return " then ".join(names), chain


def differentiated(function, modes):
    for mode in modes:
        function = MODES[mode](function)
    return function


def same(numbers, rounding=lambda: 0.0):
    """Whether they are one number, but for rounding, or none is finite. rounding(): how far it moves them."""
    finite = [float(x) for x in numbers if np.isfinite(x)]
    far = np.ptp(finite or [0.0]) - 1e-9 * max(1e-290, *map(abs, finite or [0.0]))
    return not finite or len(finite) == len(numbers) and (far <= 0 or far <= rounding())


def rounding(function, x, modes):
    """How far a derivative moves if the values on the way are rounded, each a few times; 0 where it jumps, as at a kink."""
    def moved(bits):
        slope = lambda nudges: differentiated(lambda x: function(np, x, nudges), modes)(x)
        return max(abs(slope([2 ** -bits, *(sign * 2 ** -bits for sign in signs)]) - slope((0, 0, 0)))
                   for signs in itertools.product((1, -1), repeat=2))
    return moved(48) if moved(48) < moved(44) / 4 else 0.0


def cases(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield *drawn(rng), np.float64(POINTS[rng.integers(len(POINTS))])


@np.errstate(all="ignore")
def test_the_modes_and_their_orders_give_one_number_or_none_that_is_finite():
    apart = []
    for name, function, x in cases(11, 5_000 if ALL else 250):
        h = lambda x: function(np, x)  # noqa: B023
        for order in (1, 2):
            found = {modes: differentiated(h, modes)(x) for modes in ORDERS if len(modes) == order}
            if not same([*found.values()], lambda: rounding(function, x, ("reverse",) * order)):  # noqa: B023
                apart.append((name, x, *map(float, found.values())))
    assert not apart, f"{len(apart)}: {apart[:20]}"


@pytest.mark.filterwarnings("ignore:jit.*runs as plain Python")
@np.errstate(all="ignore")
def test_lists_tapes_interpreters_and_compiled_functions_give_one_derivative():
    """A list is written without the numbers and makes no second walk: it may be NaN where they are known to make 0."""
    apart = []
    for name, function, x in cases(12, 2_000 if ALL else 40):
        h = lambda x: function(np, x)  # noqa: B023
        steps = trace(h, 1.0)
        if not steps or (of := steps[-1][0]) == (z := steps.inputs[0]):
            continue
        slopes = ways(h, x) | {"grad": grad(h)(x), "tangent": eval(tangent(steps, [z]), {z: x, f"{z}_dot": 1.0}).get(f"{of}_dot", 0.0)}
        told = [slope for way, slope in slopes.items() if way not in ("list", "tangent") or not np.isnan(slope)]
        if not same(told, lambda: rounding(function, x, ("reverse",))):  # noqa: B023
            apart.append((name, x, {way: float(slope) for way, slope in slopes.items()}))
    assert not apart, f"{len(apart)}: {apart[:20]}"


ARRAY = np.array([0.0, -1.0])
RIGHT = {  # functions that are masked on the way, where they are and what they are there in the first and second order
    "x / (1 + exp(x))": (lambda x: x / (1 + np.exp(x)), 0.0, 0.5, -0.5), "clip": (lambda x: np.clip(x, -1, 1) / np.exp(x), 0.0, 1.0, -2.0),
    "index": (lambda x: np.sqrt(np.stack([x, 0 * x]))[0], 4.0, 0.25, -1 / 32), "sum of a slice": (
        lambda x: np.sum(np.log(np.stack([x - 2, x]))[1:]), 2.0, 0.5, -0.25), "take": (
        lambda x: np.take(np.log(np.stack([x - 2, x])), 1), 2.0, 0.5, -0.25), "mask": (
        lambda x: np.sum(np.log(np.stack([x - 2, x]))[np.array([False, True])]), 2.0, 0.5, -0.25), "concatenate": (
        lambda x: np.sum(np.sqrt(np.concatenate([np.stack([x]), np.zeros(1)]))), 4.0, 0.25, -1 / 32), "overflow": (
        lambda x: 1 / (1 + np.exp(-x)), -1000.0, 0.0, 0.0), "of what is x": (
        lambda x: np.where(x > 9, np.log(-x), x / (2 + np.exp(x))), 0.0, 1 / 3, -2 / 9), "scale by infinity": (
        lambda x: np.where(x < 0, x * x, f.scale(np.inf, x)), -1.0, -2.0, 2.0), "power 0": (
        lambda x: np.log(x) ** 0 * x, 0.0, 1.0, 0.0), "beside arrays": (
        lambda x: np.sum(np.where(ARRAY > 0, np.sqrt(x * ARRAY), 2 * x * ARRAY)), 0.0, -2.0, 0.0)}


@pytest.mark.parametrize("name", RIGHT)
@np.errstate(all="ignore")
def test_a_masked_derivative_is_right_in_every_order_of_modes_and_in_lists(name):
    function, x, *right = RIGHT[name]
    for modes in ORDERS:
        assert differentiated(function, modes)(x) == pytest.approx(right[len(modes) - 1], rel=1e-12, abs=1e-300), modes
    assert jit(grad(function), "numpy")(x) == pytest.approx(right[0], rel=1e-12)
    steps = trace(function, x)
    first = gradient(steps, of := steps[-1][0], [z := steps.inputs[0]])
    for twice, end in ((gradient(first, f"d{of}_d{z}", [z]), f"dd{of}_d{z}_d{z}"), (tangent(first, [z]), f"d{of}_d{z}_dot")):
        found = eval(twice, {z: x, f"{z}_dot": 1.0})
        assert [found[f"d{of}_d{z}"], found.get(end, 0.0)] == pytest.approx(right, rel=1e-12, abs=1e-300)


ROOTS = {"norm": np.linalg.norm, "hypot": lambda v: np.hypot(v[0], v[1]), "sqrt": lambda v: np.sqrt(v[0] * v[0] + v[1] * v[1]),
         "power": lambda v: (v[0] ** 2 + v[1] ** 2) ** .5, "twice": lambda v: np.hypot(.6 * v[0], .8 * v[0]), "abs": lambda v: abs(v[0])}
POWERS = {"2": (2, lambda r: r ** 2), "3": (3, lambda r: r ** 3), "4": (4, lambda r: r ** 4), "5/2": (2.5, lambda r: r ** 2.5),
          "r r r r": (4, lambda r: r * r * (r * r)), "(r r)^3": (6, lambda r: np.square(r) ** 3)}


@pytest.mark.parametrize("root", ROOTS)
@np.errstate(all="ignore")
def test_a_power_of_a_root_has_the_hessian_of_what_is_under_it_in_all_orders_of_modes_and_in_lists(root):
    alone = np.diag([1.0, root not in ("twice", "abs")])
    columns = lambda h: lambda v: np.stack([jvp(h, (v,), (e,))[1] for e in np.eye(2)], -1)
    for (p, (n, power)), v in itertools.product(POWERS.items(), (np.zeros(2), np.array([.6, -.8]))):
        if root in ("sqrt", "power") and n < 4 and n != 2 and not v.any():
            continue  # that what is under them is flat there is not seen
        h, u, r = (lambda v: power(ROOTS[root](v))), alone @ v, np.linalg.norm(alone @ v)  # noqa: B023
        right = n * r ** (n - 2) * alone + (n * (n - 2) * r ** (n - 4) * np.outer(u, u) if r else 0)
        for outer, inner in itertools.product((jacobian, columns), (grad, columns)):
            np.testing.assert_allclose(outer(inner(h))(v), right, atol=1e-12, err_msg=f"{p} {v}")
        steps = trace(h, v)
        first = gradient(steps, of := steps[-1][0], [z := steps.inputs[0]])
        found = [eval(tangent(first, [z]), {z: v, f"{z}_dot": e})[f"d{of}_d{z}_dot"] for e in np.eye(2)]
        np.testing.assert_allclose(found, right, atol=1e-12, err_msg=f"{p} {v}")
        assert same([derivative(derivative(lambda t: h(v + np.stack([t, -t]))))(0.0), right @ [1, -1] @ [1, -1]])  # noqa: B023


POLES = (lambda x: 1 / (1 / x + 1 / 2), lambda x: 2 / (3 + x ** -1), lambda x: 1 / np.log(x), lambda x: np.reciprocal(np.sqrt(1 / x)))


POLES += tuple(lambda x, outer=outer, pole=pole, inner=inner: outer(pole(inner(x))) for outer in (np.reciprocal, np.tanh)
               for pole, zero in ((np.log, 0.0), (np.log1p, -1.0), (np.log2, 0.0), (np.arctanh, 1.0))
               for inner in (lambda x, zero=zero: 2 * x + zero, lambda x, zero=zero: np.arctan(x) + zero, lambda x, zero=zero: x * x + zero))


@pytest.mark.parametrize("function", POLES)
@np.errstate(all="ignore")
def test_at_a_pole_within_a_quotient_the_derivative_is_not_said_to_be_0(function):
    assert all(np.isnan(differentiated(function, modes)(0.0)) for modes in ORDERS)


INNER = {"x": lambda x: x, "x/1e-200": lambda x: x / 1e-200, "1+1e150x": lambda x: 1 + 1e150 * x, "1/x": lambda x: 1 / x}
BEYOND = {"z**2": lambda z: z ** 2, "z**4": lambda z: z ** 4, "square": np.square, "z*z": lambda z: z * z, "z*z*z*z": lambda z: z * z * z * z,
          "z/1e-200": lambda z: z / 1e-200, "(z*z)**2.5": lambda z: (z * z) ** 2.5, "sum": lambda z: np.sum(np.stack([z, 2 * z]) ** 2),
          "½(z-3)²": lambda z: .5 * (z - 3) ** 2, "1e200/(3/z)": lambda z: 1e200 / (3 / z), "z^z": lambda z: abs(z) ** abs(z), "z exp z": lambda z: z * np.exp(z)}
V = lambda z: np.stack([z, 2 * z, 1 + 0 * z])  # two of the entries overflow, or none
REDUCED = {"dot": lambda z: np.dot(V(z), V(z)), "norm**2": lambda z: np.linalg.norm(V(z)) ** 2, "var": lambda z: np.var(V(z)),
           "std": lambda z: np.std(V(z)), "mean": lambda z: np.mean(V(z) ** 2), "polyval": lambda z: np.polyval([1.0, 0.0, 2.0, 3.0], z) ** 2,
           "sum of rows": lambda z: np.sum(np.stack([V(z), V(z)]) ** 2, axis=1)[0], "matrix": lambda z: np.dot(np.ones((2, 3)) * 1e200, V(z))[1],
           "einsum": lambda z: np.einsum("i,i->", V(z), V(z)), "prod": lambda z: np.prod(V(z)[:2])}
FLAT = {"exp(-u)": lambda u: np.exp(-u), "tanh": np.tanh, "1/(1+u)": lambda u: 1 / (1 + u), "u**-2": lambda u: u ** -2, "arctan": np.arctan}


@np.errstate(all="ignore")
def test_where_a_product_a_power_or_a_quotient_overflows_what_settles_is_flat_in_all_modes():
    met = 0
    for (i, inner), (g, beyond), (o, flat) in itertools.product(INNER.items(), {**BEYOND, **REDUCED}.items(), FLAT.items()):
        for x in (-3.0,) if g in REDUCED else (-3.0, 1e-200, 1e200):
            if g in REDUCED and o not in ("tanh", "u**-2") and not ALL:
                continue
            if np.isfinite(z := inner(x := np.float64(x))) and np.isinf(u := beyond(z)) and np.isfinite(flat(u)):
                found = [differentiated(lambda x: flat(beyond(inner(x))), modes)(x)  # noqa: B023
                         for modes in (ORDERS if g in REDUCED else ORDERS[:3])]
                assert not np.any(found), (i, g, o, x, found)
                met += 1
    assert met > 200
    for power in (2, 4, 2.5):
        for modes in ORDERS:
            assert differentiated(lambda x: np.exp(-abs(x / 1e-200) ** power), modes)(1.0) == 0  # noqa: B023


OVERFLOWING = {  # by row a function of it whose slope is infinite at x, as its value is
    "mul": (lambda x: x * x * x, 1e200), "square": (np.square, 1.5e308), "one_minus_square": (f.one_minus_square, 1.5e308),
    "squared_hypot": (lambda x: f.squared_hypot(x, 1.0), 1.5e308), "prod": (lambda x: np.prod(np.stack([x, x, x])), 1e200),
    "var": (lambda x: np.var(np.stack([x, -x])), 1.5e308), "squaredNorm": (lambda x: f.squaredNorm(np.stack([x, x])), 1.5e308), "erfcx": (f.erfcx, -26.8)}


@np.errstate(all="ignore")
def test_what_settles_is_flat_after_each_row_that_says_it_overflows():
    assert OVERFLOWING.keys() == {op for op in ops.table.OURS if ops.facts_of(op).overflows}
    for (op, (row, x)), modes in itertools.product(OVERFLOWING.items(), ORDERS[:6]):
        assert differentiated(lambda x: np.tanh(row(x)), modes)(np.float64(x)) == 0, (op, modes)  # noqa: B023


def test_all_entries_of_an_array_that_one_mode_does_not_tell_are_told_by_the_other():
    x = np.zeros(100)
    onward = jvp(lambda x: x / (np.sqrt(x * x) + 1e-8), (x,), (np.ones(100),))[1]
    np.testing.assert_array_equal(onward, np.full(100, 1e8))
    long = lambda x: functools.reduce(lambda y, _: y * 1.0, range(200), x / (np.sqrt(x * x) + 1e-8))
    np.testing.assert_array_equal(jvp(long, (x,), (np.ones(100),))[1], np.full(100, 1e8))


def test_the_other_mode_is_not_asked_where_that_would_take_minutes(monkeypatch):
    monkeypatch.setattr("ops.kinks.derivatives.LINES", 99)
    onward = jvp(lambda x: x / (np.sqrt(x * x) + 1e-8), (np.zeros(100),), (np.ones(100),))[1]
    assert np.isnan(onward).all()


@pytest.mark.parametrize("outer", [np.exp, np.expm1])
@pytest.mark.parametrize("inner", [np.exp, np.expm1])
def test_what_overflows_in_what_does_not_settle_there_is_not_said_to_be_flat(outer, inner):
    for modes, root in itertools.product(ORDERS, (lambda y: y ** .5, np.log, np.cbrt)):
        assert differentiated(lambda x: outer(root(inner(x))), modes)(np.float64(1000.0)) != 0.0  # noqa: B023


@pytest.mark.parametrize("root", [lambda x: x ** .5, lambda x: x ** .25, np.sqrt, np.cbrt, np.log, np.log1p, np.arcsinh])
@np.errstate(all="ignore")
def test_a_root_of_what_overflows_is_not_said_to_be_flat(root):
    for inner, slope in itertools.product((np.exp, np.expm1, np.exp2, np.sinh, np.cosh), MODES.values()):
        assert slope(lambda x: root(inner(x)))(np.float64(2000.0)) != 0.0  # noqa: B023


@np.errstate(all="ignore")
def test_the_lists_of_tangents_and_gradients_are_flat_where_what_settles_is_after_what_grows():
    for grows, settles in itertools.product((np.exp, np.expm1, np.exp2, np.cosh), (np.tanh, np.arctan, np.reciprocal, f.sigmoid)):
        steps = trace(lambda x: settles(grows(x)), 0.5)  # noqa: B023
        y, at = steps[-1][0], {"x": 2000.0, "x_dot": 1.0}
        assert eval(tangent(steps, ["x"]), at)[f"{y}_dot"] == eval(gradient(steps, y, ["x"]), at)[f"d{y}_dx"] == 0


@np.errstate(all="ignore")
def test_the_list_of_a_tangent_is_nan_where_the_value_is():
    steps = trace(lambda x: np.log1p(x) / np.cosh(x), 1.0)
    assert np.isnan(eval(tangent(steps, ["x"]), {"x": -1000.0, "x_dot": 1.0})[f"{steps[-1][0]}_dot"])


@pytest.mark.parametrize("x", [0.0, -0.0])
@pytest.mark.parametrize(("fn", "sign"), [(np.cbrt, 1), (special.entr, 1), (lambda x: special.xlogy(x, x), -1)], ids=["cbrt", "entr", "xlogy"])
def test_what_is_infinitely_steep_at_0_is_so_in_all_orders_and_in_lists(fn, sign, x):
    curvature = sign if fn is np.cbrt and np.signbit(x) else -sign
    assert {differentiated(fn, modes)(np.float64(x)) for modes in ORDERS if len(modes) == 1} == {sign * np.inf}
    assert {differentiated(fn, modes)(np.float64(x)) for modes in ORDERS if len(modes) == 2} == {curvature * np.inf}
    steps = trace(fn, 0.5)
    slope = gradient(steps, steps[-1][0], steps.inputs)
    for lines in (slope, simplify(slope)):
        assert eval(lines, {steps.inputs[0]: x})[slope[-1][0]] == sign * np.inf
