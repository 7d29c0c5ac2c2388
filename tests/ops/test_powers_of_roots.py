"""A power of a root goes past its root: which lines are such powers, and their derivatives at 0 and elsewhere."""
import itertools

import numpy as np
import pytest

import ops
from ops import f
from ops.expression import ROOTS
from ops.kinks import half_power, past_roots
from xman import grad, hessian, jvp

X = ("r", "norm", ("x",))


@pytest.mark.parametrize("lines, powers", [
    ([X, ("y", "power", ("r", 3))], {"y": ("squaredNorm", ("x",), "r", 3)}), ([X, ("y", "power", ("r", 2.5))], {"y": ("squaredNorm", ("x",), "r", 2.5)}),
    ([X, ("y", "square", ("r",))], {"y": ("squaredNorm", ("x",), "r", 2)}), ([X, ("y", "mul", ("r", "r"))], {"y": ("squaredNorm", ("x",), "r", 2)}),
    ([X, ("y", "power", ("r", 1.5))], {}), ([X, ("y", "power", ("r", -2))], {}), ([X, ("y", "power", ("r", 0))], {}), ([X, ("y", "power", ("r", "n"))], {}), ([X, ("y", "power", ("r", True))], {}),
    ([X, ("y", "power", (2.0, "r"))], {}), ([X, ("q", "norm", ("x",)), ("y", "mul", ("r", "q"))], {}), ([X, ("y", "mul", ("r", "x"))], {}), ([X, ("y", "mul", ("x", "r"))], {}),
    ([X, ("u", "power", ("r", 1.5)), ("y", "mul", ("u", "r"))], {"y": ("squaredNorm", ("x",), "r", 2.5)}),
    ([X, ("u", "square", ("r",)), ("y", "sqrt", ("u",)), ("v", "power", ("u", 1.5))], {"u": ("squaredNorm", ("x",), "r", 2), "v": ("squaredNorm", ("x",), "r", 3.0)}),
    ([X, ("u", "power", ("r", 3)), ("y", "square", ("u",))], {"u": ("squaredNorm", ("x",), "r", 3), "y": ("squaredNorm", ("x",), "r", 6)}),
    ([("r", "norm", ("x", 1, True)), ("y", "square", ("r",))], {"y": ("squaredNorm", ("x", 1, True), "r", 2)}), ([("r", "sqrt", ("x",)), ("y", "square", ("r",))], {"y": ("alias", ("x",), "r", 2)}),
    ([("r", "power", ("x", 0.5)), ("y", "power", ("r", 3))], {"y": ("alias", ("x",), "r", 3)}), ([("r", "power", ("x", 1.5)), ("y", "square", ("r",))], {}),
    ([("r", "power", ("x", 1)), ("y", "square", ("r",))], {}), ([("r", "abs", ("x",)), ("y", "power", ("r", 3))], {"y": ("square", ("x",), "r", 3)}),
    ([("r", "hypot", ("x", "w")), ("y", "square", ("r",))], {"y": ("squared_hypot", ("x", "w"), "r", 2)}), ([("r", "std", ("x", 0)), ("y", "square", ("r",))], {"y": ("var", ("x", 0), "r", 2)}),
    ([("y", "square", ("x",))], {}), ([X, ("y", "exp", ("r",))], {})], ids=range(26))
def test_which_lines_are_powers_of_roots(lines, powers):
    assert past_roots(lines, ops.DG) == powers
    assert past_roots(lines, {op: rule for op, rule in ops.DG.items() if op != "alias"}) == {}


@pytest.mark.parametrize("n", [2, 2.5, 3, 4, 5.5])
def test_the_slope_of_a_power_by_the_square_of_the_root(n):
    r = np.array([0.25, 1.0, 3.0])
    np.testing.assert_allclose(half_power(r, n), n / 2 * r ** (n - 2), rtol=1e-15)
    at_0 = half_power(np.array([0.0]), n)
    assert np.isfinite(at_0).all() and (n == 2 or at_0[0] == 0)


OF_X = {  # roots of a vector, their squares, and points: 0, where the root has no slope, and another one
    "norm": (lambda x: f.norm(x), lambda x: f.squaredNorm(x)), "sqrt": (lambda x: f.sqrt(f.sum(x * x)), lambda x: f.sum(x * x)), "hypot": (lambda x: f.hypot(x[0], x[1]), lambda x: x[0] * x[0] + x[1] * x[1]),
    "abs": (lambda x: f.abs(x[0]), lambda x: x[0] * x[0]), "std": (lambda x: f.std(x), lambda x: f.var(x)), "frobeniusNorm": (lambda x: f.frobeniusNorm(f.reshape(x, (1, 2))), lambda x: f.sum(x * x)),
    "power": (lambda x: f.sum(x * x) ** 0.5, lambda x: f.sum(x * x)), "modulus": (lambda x: f.modulus(x[0]), lambda x: x[0] * x[0])}
POWERS = {2: (lambda r: r ** 2, lambda r: r * r, lambda r: f.square(r), lambda r: f.sqrt(r ** 4)), 4: (lambda r: r ** 4, lambda r: r * r * r * r, lambda r: f.square(f.square(r)), lambda r: (r ** 3) * r, lambda r: r ** 2.5 * r ** 1.5)}


def test_every_root_is_among_them(): assert OF_X.keys() == ROOTS


@pytest.mark.parametrize("root", OF_X)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_derivatives_of_powers_of_roots_are_those_of_the_squares(root):
    of_x, square = OF_X[root]
    for n, spelt in POWERS.items():
        for power, x in itertools.product(spelt, (np.zeros(2), np.full(2, 0.0), np.array([0.5, -2.0]))):
            fn, same, t = lambda x, power=power: power(of_x(x)), lambda x, n=n: square(x) ** (n // 2), np.array([1.0, 0.5])
            np.testing.assert_allclose(grad(fn)(x), grad(same)(x), rtol=1e-12, atol=1e-14)
            np.testing.assert_allclose(jvp(fn, (x,), (t,))[1], jvp(same, (x,), (t,))[1], rtol=1e-12, atol=1e-14)
            if x.any() or n == 2 and power is spelt[0]:
                np.testing.assert_allclose(hessian(fn)(x), hessian(same)(x), rtol=1e-10, atol=1e-12)
