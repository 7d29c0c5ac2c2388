"""Products with the Gauss–Newton matrix, against the matrix of the outer products, and what is no such loss."""

import numpy as np
import pytest

from xman import WengertList, XMan, XManError, f
from xman.matrices import GaussNewton, Hessian, Jacobian, outer_products, packed, unpacked
from xman.models import MLP

R = np.random.default_rng(840)
WEIGHTS = ["W1", "b1", "W2", "b2"]


def network(loss, outputs=3, rows=6):
    model = MLP([3, 4, outputs], dtype=np.float64, loss=loss)
    y = R.integers(0, outputs, rows) if outputs > 1 else R.integers(0, 2, (rows, 1))
    return model.operationSequence(model.loss), model.inputDict(X=R.normal(size=(rows, 3)), y=y)


def matrix(G, values):
    """The matrix, by a product with each unit vector, and as a sparse one."""
    times, n = G.product_at(values), sum(values[w].size for w in G.wrt)
    by_products = np.stack([packed(times(unpacked(e, values, G.wrt)), G.wrt) for e in np.eye(n)], 1)
    np.testing.assert_allclose(G(values).toarray(), by_products, rtol=1e-12, atol=1e-14)
    return by_products


def test_residuals_of_neighbours_take_three_passes():
    steps = WengertList.from_text("a = getitem(w, slice(1, None))\nb = getitem(w, slice(None, -1))\nt = tanh(a)\nr = mul(t, b)\n"
                                  "d = subtract(r, y)\nq = squaredError(d, 0.0)\nloss = sum(q)")
    values = {"w": R.normal(size=40), "y": R.normal(size=39)}
    G = GaussNewton(steps, "loss", ["w"])
    matrix(G, values)
    assert G(values).nnz == 118 and G.compressed(values).passes == 3


@pytest.mark.parametrize("loss, error, weight, outputs", [
    ("softmaxCrossEntropy", "softmax", 1 / 6, 3), ("squaredError", "squares", 1 / 18, 3), ("squaredError", "squares", 1 / 6, 1),
    ("sigmoidCrossEntropy", "logistic", 1 / 18, 3), ("sigmoidCrossEntropy", "logistic", 1 / 6, 1)])
def test_a_product_is_that_with_the_outer_products(loss, error, weight, outputs):
    steps, values = network(loss, outputs)
    G = GaussNewton(steps, "loss", WEIGHTS)
    assert G.through == ("scores",)
    wanted = outer_products(steps, "scores", WEIGHTS, values, error, weight)
    np.testing.assert_allclose(matrix(G, values), wanted, rtol=1e-10, atol=1e-14)


def model_of(make):
    """(steps, values) of the loss that make writes of scores X w, targets y, and the parameters w."""
    m = XMan()
    m.X, m.y, m.c, m.w = f.input(), f.input(), f.input(), f.param()
    m.loss = make(f.tanh(m.X @ m.w), m.y, m.w, m.c)
    return m.setup().operationSequence(m.loss), {"X": R.normal(size=(7, 4)), "w": R.normal(size=4), "c": np.float64(0.7),
                                                 "y": R.uniform(size=7)}


@pytest.mark.parametrize("make", [
    lambda a, y, w, c: f.half(f.sum(f.square(a - y))), lambda a, y, w, c: 0.5 * f.sum((lambda e: e * e)(y - a)),
    lambda a, y, w, c: f.sum((a - y) ** 2) / 2, lambda a, y, w, c: f.sum(f.squaredError(a, y)),
    lambda a, y, w, c: f.sum(f.reshape(f.squaredError(a, y), (7, 1))[1:]) + f.squaredError(a, y)[0] - y[0],
    lambda a, y, w, c: c * f.sum(f.squaredError(a, y)) / c - c])
def test_half_a_sum_of_squares_is_j_t_j_however_it_is_written(make):
    steps, values = model_of(make)
    G = GaussNewton(steps, "loss", ["w"])
    J = Jacobian(steps, steps[1][0], ["w"])(values)["w"]  # tanh(X w)
    np.testing.assert_allclose(matrix(G, values), J.T @ J, rtol=1e-12, atol=1e-15)


def test_a_penalty_has_its_own_hessian_and_several_losses_add_up():
    steps, values = model_of(lambda a, y, w, c: f.sum(f.squaredError(a, y)) + c * f.frobeniusNorm(w) + f.sum(f.softplus(2.0 * a)))
    G = GaussNewton(steps, "loss", ["w"])
    a = np.tanh(values["X"] @ values["w"])
    J, s, n = (1 - a ** 2)[:, None] * values["X"], 1 / (1 + np.exp(-2 * a)), np.linalg.norm(values["w"])
    penalty = 0.7 * (np.eye(4) / n - np.outer(values["w"], values["w"]) / n ** 3)
    np.testing.assert_allclose(matrix(G, values), J.T @ ((1 + 4 * s * (1 - s))[:, None] * J) + penalty, rtol=1e-10)
    assert "w" in G.through


def test_of_what_is_linear_it_is_the_hessian():
    m = XMan()
    m.X, m.y, m.w = f.input(), f.input(), f.param()
    m.loss = f.mean(f.sigmoidCrossEntropy(m.X @ m.w, m.y))
    steps, values = m.setup().operationSequence(m.loss), {"X": R.normal(size=(7, 4)), "w": R.normal(size=4), "y": R.uniform(size=7)}
    np.testing.assert_allclose(matrix(GaussNewton(steps, "loss", ["w"]), values), Hessian(steps, "loss", ["w"])(values), rtol=1e-10)


def test_it_is_never_negative_where_the_hessian_is():
    steps, values = network("softmaxCrossEntropy")
    values |= {w: 2 * values[w] for w in WEIGHTS}
    assert np.linalg.eigvalsh(Hessian(steps, "loss", WEIGHTS)(values)).min() < -1e-4
    assert np.linalg.eigvalsh(matrix(GaussNewton(steps, "loss", WEIGHTS), values)).min() > -1e-15


def test_single_precision_stays_single_and_a_parameter_without_part_in_the_loss_gets_zeros():
    steps, values = network("squaredError")
    values = {name: x.astype(np.float32) for name, x in values.items()} | {"y": values["y"]}
    found = GaussNewton(steps, "loss", WEIGHTS).times(values, {"W1": np.ones((3, 4))})
    assert {x.dtype for x in found.values()} == {np.dtype(np.float32)}
    steps = [("a", "square", ("w",)), ("loss", "sum", ("a",)), ("u", "exp", ("v",))]
    found = GaussNewton(steps, "loss", ["w", "v"]).times({"w": np.ones(2), "v": np.ones(3)}, {"w": [1.0, 2.0], "v": np.ones(3)})
    assert found["w"].tolist() == [2, 4] and found["v"].tolist() == [0, 0, 0]


@pytest.mark.parametrize("make, words", [
    (lambda a, y, w, c: f.mean(f.hinge(a[:, None], y[:, None])), "hinge(z3, z4): this is no loss that Gauss–Newton knows to be convex"),
    (lambda a, y, w, c: f.sum(a * f.exp(a)), "mul(z2, z3): this is no loss"),
    (lambda a, y, w, c: f.sum(a ** 3), "power(z2, 3): this is no loss"),
    (lambda a, y, w, c: 1.0 - f.sum(f.square(a)), "subtract(1.0, z4): its slope is negative, so that the loss is not convex in z2"),
    (lambda a, y, w, c: f.sum(f.square(a)) - f.sum(f.exp(a)), "its slope is negative, so that the loss is not convex in"),
    (lambda a, y, w, c: -2.0 * f.sum(f.square(a)), "mul(-2.0, z4): its slope is negative, so that the loss is not convex in z2; take the Hessian"),
    (lambda a, y, w, c: (c - 1.0) * f.sum(f.square(a)), "is negative, so that the loss is not convex in z3; take the Hessian"),
    (lambda a, y, w, c: f.sum(f.square(y)), "wrt names 'w', which the list does not have")])
def test_what_is_no_convex_loss_of_something_gets_a_sentence(make, words):
    steps, values = model_of(make)
    with pytest.raises(XManError) as error:
        GaussNewton(steps, "loss", ["w"]).times(values, {})
    assert words in str(error.value) and "\n" not in str(error.value)


def test_what_has_no_curvature_gets_a_sentence():
    with pytest.raises(XManError, match="'loss' has no part with a curvature that depends on w"):
        GaussNewton([("loss", "sum", ("w",))], "loss", ["w"])
