"""Facts about third derivatives: their lists do not swell once simplified (Bishop, Deep Learning, (8.42) to (8.48))."""

import numpy as np
import pytest
from lists_with_values import LISTS, R, written

from tests.jax_at_once import at_once, jax_in_double
from xman import WengertList, eval
from xman.passes import ALGEBRA, EXACT, gradient, simplify, tangent
from xman.passes.differentiate import ending


def third_derivative(steps, of, x):
    for _ in range(3):
        steps, of = gradient(steps, of, [x]), f"d{of}_d{x}"
    return steps, of


EXPONENTIAL = written("z = exp(x)\ny = mul(x, z)", "y", x=0.7)


@pytest.mark.parametrize(("options", "length"), [
    (dict(rewrites=()), 54), (dict(likes={"x": 0.7}), 5), (dict(likes={"x": 0.7}, rewrites=EXACT + ALGEBRA), 3)])
def test_the_third_derivative_of_x_exp_x_is_54_lines_and_less_once_simplified(options, length):
    steps, values, of = EXPONENTIAL
    steps, of = third_derivative(steps, of, "x")
    shorter = simplify(steps, [of], **options)
    assert (len(steps), len(shorter)) == (54, length)
    assert eval(shorter, values)[of] == pytest.approx((0.7 + 3) * np.exp(0.7), rel=1e-15)


def along_a_line():
    """The loss of two layers along V + t·DV and W + t·DW."""
    steps, values, _ = LISTS["two layers"]
    path = "tV = mul(t, DV)\nV1 = add(V, tV)\ntW = mul(t, DW)\nW1 = add(W, tW)\n"
    steps = WengertList.from_text(path + str(steps).replace("dot(X, V)", "dot(X, V1)").replace("dot(h, W)", "dot(h, W1)"))
    return steps, values | {"t": np.float64(0), "DV": R.standard_normal((4, 3)), "DW": R.standard_normal((3, 3))}


def test_the_third_directional_derivative_of_a_network_is_191_lines_and_less_than_half_of_it_once_simplified():
    steps, values = along_a_line()
    steps, of = third_derivative(steps, "loss", "t")
    exact, shortest = simplify(steps, [of], values), simplify(steps, [of], values, EXACT + ALGEBRA)
    assert len(steps) == 191 and len(exact) <= 79 and len(shortest) <= 71


def test_the_third_directional_derivative_of_a_network_is_that_of_jax():
    jax = jax_in_double()
    steps, values = along_a_line()
    X, T, V, W, DV, DW = (values[name] for name in ("X", "T", "V", "W", "DV", "DW"))
    loss = lambda t: jax.numpy.mean((jax.numpy.tanh(X @ (V + t * DV)) @ (W + t * DW) - T) ** 2)
    steps, of = third_derivative(steps, "loss", "t")
    for rewrites in ((), EXACT, EXACT + ALGEBRA):
        got = eval(simplify(steps, [of], values, rewrites), values)[of]
        assert got == pytest.approx(float(at_once(jax.grad(jax.grad(jax.grad(loss))), 0.0)), rel=1e-12)


def test_the_tangent_of_the_tangent_of_the_tangent_is_the_third_derivative_too():
    steps, values, of = EXPONENTIAL
    for _ in range(3):
        dot = ending(steps)
        steps, of, values = tangent(steps, ["x"]), of + dot, values | {"x" + dot: 1.0}
    short = simplify(steps, [of], values)
    assert eval(short, values)[of] == pytest.approx((0.7 + 3) * np.exp(0.7), rel=1e-15) and len(short) < len(steps) / 2
