"""One question, one answer: every way to a derivative gives the same number, over random compositions of functions."""

import os

import numpy as np
import pytest

from ops import elementwise, f
from xman import Dual, Tape, backprop, derivative, eval, forward, grad, gradient, jit, jvp, trace

SEEDS = 3000 if os.environ.get("XMAN_ALL_CASES") else 70
UNARY = [np.exp, np.log, np.sqrt, np.square, np.tanh, abs, np.sin, np.negative, np.reciprocal, np.log1p, np.arctan, f.sigmoid, f.softplus,
         f.relu, lambda x: x ** 3, lambda x: x ** 1.5, lambda x: np.where(x > 0, np.sqrt(x), 0.0), lambda x: np.maximum(x, 0.0)]
BINARY = [np.add, np.subtract, np.multiply, np.divide, np.hypot]
POINTS = 0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, 800.0, -800.0


def composed(random, depth):
    """A random function of one number, so many functions deep."""
    if depth == 0:
        return lambda x: x
    inner = composed(random, depth - 1)
    if random.random() < 0.65:
        unary = UNARY[random.integers(len(UNARY))]
        return lambda x: unary(inner(x))
    binary, other = BINARY[random.integers(len(BINARY))], composed(random, int(random.integers(depth)))
    return lambda x: binary(inner(x), other(x))


def ways(fn, x):
    """The derivative of fn at x by every way to it; tapes are of numbers."""
    steps = trace(fn, 2.5)
    of, values = steps.outputs[-1], eval(steps, {"x": x})
    tape = {} if any(map(np.ndim, values.values())) else {"tape": Tape(steps).value_and_gradient({"x": x})[1]["x"]}
    return tape | {"jvp": jvp(fn, (x,), (1.0,))[1], "Dual": derivative(fn)(x), "jit(grad)": jit(grad(fn), "interpret")(x),
            "jit(jvp)": jit(lambda x: jvp(fn, (x,), (1.0,))[1], "interpret")(x), "backprop": backprop(steps, values, wrt="x", **{of: 1.0})["x"],
            "backprop by all": backprop(steps, values, **{of: 1.0})["x"], "forward": forward(steps, values, x=1.0)[of],
            "list": eval(gradient(steps, of, ["x"]), {"x": x})[f"d{of}_dx"]}


@pytest.mark.filterwarnings("ignore")
def test_all_ways_to_a_derivative_agree_at_kinks_and_at_infinity():
    """A list is written without the numbers and makes no second walk: it may be NaN where they are known to make 0."""
    for seed in range(SEEDS):
        random = np.random.default_rng(seed)
        fn, x = composed(random, int(random.integers(1, 4))), random.choice(POINTS)
        right = grad(fn)(x)
        for way, slope in ways(fn, x).items():
            if not (way == "list" and np.isnan(slope)):
                np.testing.assert_allclose(slope, right, rtol=1e-9, atol=1e-15, err_msg=f"{way}, seed {seed}, at {x}")


def test_a_power_of_a_root_of_ones_own_goes_past_it_by_the_slope_of_its_square():
    elementwise("rootExp", lambda x: np.exp(0.5 * x), lambda out, x: 0.5 * out, squared="exp")
    steps, right = [("r", "rootExp", ("x",)), ("y", "power", ("r", 4))], 2 * np.exp(2.0)
    values = eval(steps, {"x": 1.0})
    slopes = [grad(lambda x: f.rootExp(x) ** 4)(1.0), (f.rootExp(Dual(1.0, 1.0)) ** 4).tangent, forward(steps, values, x=1.0)["y"],
              *(backprop(steps, values, wrt=wrt, y=1.0)["x"] for wrt in (None, "x", ["x", "r"])),
              eval(gradient(steps, "y", ["x"]), {"x": 1.0})["dy_dx"]]
    np.testing.assert_allclose(slopes, right, rtol=1e-14)
    assert backprop(steps, values, y=1.0)["r"] == pytest.approx(4 * np.exp(1.5))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("base", "x"), [(-2.5, 1.0), (-1.0, 1.0), (-2.5, 0.0), (-np.inf, 0.0)])
def test_a_slope_that_is_nan_stays_so_behind_a_factor(base, x):
    """bˣ of a negative b is a number for whole x alone: it has no slope by x, in any way to a derivative."""
    assert all(np.isnan(slope) for slope in ways(lambda x: (base ** x) * 3.0, x).values())
    steps = [("z", "power", ("b", "x")), ("r", "mul", ("z", "w"))]
    assert np.isnan(backprop(steps, eval(steps, {"b": base, "x": x, "w": 3.0}), r=1.0)["x"])


def test_roots_of_0_have_no_say_in_their_powers_with_all_deltas_as_with_one():
    steps = [("r", "sqrt", ("x",)), ("q", "square", ("r",)), ("y", "power", ("q", 2))]
    values = eval(steps, {"x": 0.0})
    assert backprop(steps, values, wrt="x", y=1.0)["x"] == 0
    assert backprop(steps, values, y=1.0) == {"x": 0, "r": 0, "q": 0, "y": 1}


def test_a_recurrence_of_3_000_steps_behind_an_exponential_needs_no_recursion():
    def loss(w):
        s = v = np.exp(w)
        for _ in range(3_000):
            s = v / (1.0 + s)
        return s
    assert np.isfinite(jit(grad(loss))(0.5))
