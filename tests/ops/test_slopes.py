"""What a row has to state, and what is refused: a rule in the place of a slope, a rule that is missing, a wrong shape."""

import math

import numpy as np
import pytest
from operator_cases import slope_by

import ops
from ops import elementwise, f, operator
from xman import XManError, backprop, eval, forward, grad, jvp


def test_a_slope_serves_both_modes():
    elementwise("cubed", lambda x: x ** 3, lambda out, x: 3 * x ** 2)
    assert grad(lambda x: f.cubed(x))(2.0) == jvp(lambda x: f.cubed(x), (2.0,), (1.0,))[1] == 12
    assert grad(grad(lambda x: f.cubed(x)))(2.0) == slope_by("cubed", 0)(8.0, 2.0) == 12


@pytest.mark.parametrize("rule", [lambda d, out, x: d * 3 * x ** 2, lambda d, out, *args: d, lambda t, y, x: t])
def test_a_rule_in_the_place_of_a_slope_is_refused_and_shown_the_new_form(rule):
    with pytest.raises(ValueError, match=r"takes slopes, and found a rule of .*: …, as lambda out, x: 3 \* x \*\* 2 for x³"):
        elementwise("cubed", lambda x: x ** 3, rule)
    assert "cubed" not in ops.G


@pytest.mark.parametrize("value, takes", [(lambda x, s: x * s, "2"), (lambda x, s, *keys: x * s, "at least 2")])
def test_a_row_with_fewer_rules_than_arguments_is_refused(value, takes):
    with pytest.raises(ValueError, match=f"scaled_by takes {takes} arguments, and has 1 rule; write one for each argument"):
        operator("scaled_by", value, lambda d, out, x, s: d * s)


def test_a_value_without_rules_is_traced_whatever_the_number_of_its_arguments():
    operator("timesAll", lambda *xs: math.prod(xs))
    operator("timesTwo", lambda x, y: x * y)
    assert grad(lambda x, y, z: f.timesAll(x, f.timesTwo(y, z)), (0, 1, 2))(2.0, 3.0, 4.0) == (12, 8, 6)


@pytest.mark.parametrize("default", [2.0, None])
def test_an_argument_without_a_rule_is_an_error_in_every_way_of_asking(default):
    operator("scaled", lambda x, s=default: x * s, lambda d, out, x, s=default: d * s)
    steps = [("y", "scaled", ("x", "s"))]
    values = eval(steps, {"x": 3.0, "s": 2.0})
    for ask in (lambda: grad(lambda s: f.scaled(3.0, s))(2.0), lambda: jvp(lambda s: f.scaled(3.0, s), (2.0,), (1.0,)),
                lambda: backprop(steps, values, y=1.0), lambda: forward(steps, values, s=1.0)):
        with pytest.raises(XManError, match="scaled has no rule for its argument 2|gives scaled 2 arguments; it has rules for 1"):
            ask()
    assert grad(lambda x: f.scaled(x, 5.0))(3.0) == 5


def test_what_a_rule_returns_has_the_shape_of_its_argument():
    operator("squares", lambda x: np.sum(x ** 2), lambda d, out, x: (2 * d * x)[:, None])
    with pytest.raises(XManError, match=r"the rule of squares for its argument 1 returned the shape \(3, 1\); wanted \(3,\)"):
        grad(lambda x: f.squares(x * np.ones(3)))(np.ones(3))


@pytest.mark.parametrize(("y", "slope"), [(0.0, np.inf), (np.inf, 0.0), (4.0, 0.25)])
def test_the_slope_of_a_ratio_by_what_is_above_is_one_over_what_is_below(y, slope):
    steps, values = [("q", "ratio", ("x", "y"))], {"x": 1.0, "y": y}
    assert backprop(steps, eval(steps, values), q=1.0)["x"] == slope == forward(steps, eval(steps, values), x=1.0)["q"]


@pytest.mark.parametrize("x", [0.0, 1.0, 1.5, 2.0, 3.0])
def test_a_number_at_a_bound_of_clip_moves_by_itself_alone(x):
    slopes = grad(lambda x, low, high: f.clip(x, low, high), (0, 1, 2))(x, 1.0, 2.0)
    assert slopes == ((x >= 1) & (x <= 2), x < 1, x > 2)
