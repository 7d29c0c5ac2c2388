"""Formulas a book would print: fractions are joined, and what cancels is gone."""
import builtins
import math

import numpy as np
import pytest

from xman import WengertList, backprop, derivation, eval, paths

LIKELIHOOD = "l1 = log(y)\nz1 = mul(t, l1)\nu = subtract(1, t)\nv = subtract(1, y)\nl2 = log(v)\nz2 = mul(u, l2)\ns = add(z1, z2)\nE = negative(s)"


@pytest.mark.parametrize("text, of, wrt, formula", [
    ("y = sigmoid(a)\n" + LIKELIHOOD, "E", "a", "sigmoid(a) - t"),  # the canonical link, Bishop (8.11)
    (LIKELIHOOD, "E", "y", "(y - t)/(y*(1 - y))"),
    ("u = exp(x)\nv = square(x)\nf = divide(u, v)", "f", "x", "exp(x)*(x - 2)/x**3"),  # Ong and Deisenroth
    ("e = exp(z)\nn = add(1, e)\ny = divide(e, n)", "y", "z", "exp(z)/(exp(z) + 1)**2"),
    ("e1 = exp(a)\ne2 = exp(b)\ns = add(e1, e2)\np = divide(e1, s)\nl = log(p)\nE = negative(l)", "E", "a", "-exp(b)/(exp(a) + exp(b))"),
    ("m = negative(a)\ne = exp(m)\nn = add(1, e)\ny = divide(1, n)\n" + LIKELIHOOD, "E", "a", "1/(exp(-a) + 1) - t"),
    ("a = divide(1, u)\nb = divide(1, v)\nc = add(a, b)\nf = divide(1, c)", "f", "u", "v**2/(u + v)**2"),  # two lenses
    ("a = mul(s, 2.5066282746310002)\nb = square(x)\nc = half(b)\nd = negative(c)\ne = exp(d)\ng = divide(e, a)", "g", "x",
     "-0.3989422804014327*x*exp(-0.5*x**2)/s"),
    ("a = add(x, 1)\nb = divide(x, a)\nc = square(b)", "c", "x", "2*x/(x + 1)**3"),
    ("a = add(x, y)\nb = divide(x, a)", "b", "y", "-x/(x + y)**2"),
    ("a = mul(3, x)\nb = add(a, 6)\nc = divide(y, b)\nd = add(x, 2)\ne = divide(x, d)\nf = add(c, e)", "f", "x", "(6 - y)/(3*(x + 2)**2)"),
    ("a = add(x, y)\nb = sqrt(a)\nc = divide(x, b)", "c", "x", "1/sqrt(x + y) - 0.5*x/sqrt(x + y)**3"), ("a = mul(x, y)\nb = square(a)", "b", "x", "2*x*y**2"),
    ("a = mul(x, y)\nb = sin(y)\nc = subtract(a, b)\nd = exp(a)\nf = mul(c, d)", "f", "x", "y*exp(x*y)*(x*y - sin(y) + 1)"),  # Bishop, (8.65)
    ("a = mul(w, h)\ny = sigmoid(a)\nd = subtract(y, v)\ns = square(d)\nc = half(s)", "c", "w",
     "h*sigmoid(h*w)*(1 - sigmoid(h*w))*(sigmoid(h*w) - v)"),  # Reps, Fig. 9
    ("y = tanh(x)\nd = subtract(t, y)\ns = square(d)\nc = half(s)", "c", "x", "(1 - tanh(x)**2)*(tanh(x) - t)"),
    ("a = exp(x)\nb = sin(x)\nc = mul(a, b)", "c", "x", "exp(x)*(cos(x) + sin(x))")])
def test_a_derivative_is_printed_over_one_denominator_and_with_what_its_terms_have_in_common_in_front(text, of, wrt, formula):
    steps = WengertList.from_text(text)
    assert paths(steps, of, wrt).symbolic() == formula
    assert derivation(steps, of, wrt)[-1].step.endswith(formula.replace("**", "^").replace("*", "·"))
    values = eval(steps, dict(zip(steps.inputs, np.random.default_rng(3).uniform(0.2, 0.8, len(steps.inputs)), strict=True)))
    functions = {"exp": math.exp, "sin": math.sin, "cos": math.cos, "tanh": math.tanh, "sqrt": math.sqrt, "sigmoid": lambda x: 1 / (1 + math.exp(-x))}
    value = builtins.eval(formula, functions, values)
    assert value == pytest.approx(backprop(steps, values, **{of: 1.0})[wrt], rel=1e-12)
