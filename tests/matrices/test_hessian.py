"""The Hessian of a list, and the outer products that approximate it."""

import tracemalloc

import numpy as np
import pytest
from scipy.special import softmax

from xman import XManError, backprop, eval
from xman.matrices import GaussNewton, Hessian, Jacobian, becker_lecun, inverse_outer_products, outer_products, packed, unpacked
from xman.models import MLP, LogisticRegression

R = np.random.default_rng(5)
WEIGHTS = ["W1", "b1", "W2", "b2"]


def network(dtype=np.float64, rows=6, **options):
    model = MLP([3, 4, 2], dtype=dtype, **options)
    values = model.inputDict(X=R.normal(size=(rows, 3)).astype(dtype), y=R.integers(0, 2, rows))
    return model.operationSequence(model.loss), values


def regression(features, classes, rows, **options):
    model = LogisticRegression(features, classes, dtype=np.float64, **options)
    return model.operationSequence(model.loss), model.inputDict(X=R.normal(size=(rows, features)), y=R.integers(0, classes, rows))


def gradient_at(steps, values, wrt=WEIGHTS):
    return packed(backprop(steps, eval(steps, values), loss=1.0), wrt)


def test_a_product_is_the_central_difference_of_two_gradients():
    steps, values = network()
    v = {x: R.normal(size=values[x].shape) for x in WEIGHTS}
    h = 1e-6
    up, down = ({**values, **{x: values[x] + s * h * v[x] for x in WEIGHTS}} for s in (1, -1))
    quotient = (gradient_at(steps, up) - gradient_at(steps, down)) / (2 * h)
    assert np.allclose(packed(Hessian(steps, "loss", WEIGHTS).times(values, v), WEIGHTS), quotient, atol=1e-8)


def test_the_matrix_is_symmetric():
    steps, values = network()
    H = Hessian(steps, "loss", WEIGHTS)(values)
    assert H.shape == (26, 26) and np.allclose(H, H.T, rtol=1e-12, atol=1e-15)


def test_a_product_is_the_matrix_times_the_vector():
    steps, values = network()
    H, v = Hessian(steps, "loss", WEIGHTS), R.normal(size=26)
    image = H.times(values, unpacked(v, values, WEIGHTS))
    assert np.allclose(packed(image, WEIGHTS), H(values) @ v, rtol=1e-12, atol=1e-15)


def test_the_diagonal_is_that_of_the_matrix():
    steps, values = network()
    H = Hessian(steps, "loss", WEIGHTS)
    assert np.allclose(packed(H.diagonal(values), WEIGHTS), np.diag(H(values)), rtol=1e-14)


def test_the_blocks_make_up_the_matrix():
    steps, values = network()
    H = Hessian(steps, "loss", ["W1", "b2"])
    blocks = H.blocks(values)
    assert blocks["W1", "b2"].shape == (3, 4, 1, 2)
    rows = [np.concatenate([blocks[x, y].reshape(values[x].size, -1) for y in ("W1", "b2")], 1) for x in ("W1", "b2")]
    assert (np.concatenate(rows) == H(values)).all()


def test_it_is_the_jacobian_of_the_gradient():
    from xman.passes import gradient
    steps, values = network()
    J = Jacobian(gradient(steps, "loss", ["W1"]), "dloss_dW1", ["W1"], "reverse")(values)["W1"]
    assert np.allclose(J.reshape(12, 12), Hessian(steps, "loss", ["W1"])(values), rtol=1e-12, atol=1e-15)


def test_the_full_hessian_of_softmax_regression_on_64_pixels_is_the_closed_form_to_1e_10():
    """Bishop, eq. (4.110) of his book of 2006: the mean of x xᵀ ⊗ (diag p − p pᵀ)."""
    steps, values = regression(64, 10, 32)
    p, x = softmax(values["X"] @ values["W"] + values["b"], axis=1), np.c_[values["X"], np.ones(32)]
    between = p[:, :, None] * (np.eye(10) - p[:, None, :])
    expected = np.einsum("na,nb,nij->aibj", x, x, between, optimize=True).reshape(650, 650) / 32
    assert np.abs(Hessian(steps, "loss", ["W", "b"])(values) - expected).max() < 1e-10


def test_what_the_number_is_linear_in_has_a_hessian_of_zeros():
    H = Hessian([("z", "mul", ("x", 3.0)), ("y", "sum", ("z",))], "y", ["x"])
    assert (H({"x": np.ones(2)}) == np.zeros((2, 2))).all()


def test_single_precision_stays_single():
    steps, values = network(np.float32)
    assert Hessian(steps, "loss", WEIGHTS)(values).dtype == np.float32


def test_newtons_method_finds_the_minimum_of_a_convex_loss_in_a_few_steps():
    steps, values = regression(2, 2, 40, penalty=0.0)
    values["W"], H = np.zeros((2, 2)), Hessian(steps, "loss", ["W", "b"])
    for _ in range(8):
        slope = gradient_at(steps, values, ["W", "b"])
        step = np.linalg.lstsq(H(values), slope, rcond=None)[0]  # the softmax has a direction without curvature
        values |= {x: values[x] - d for x, d in unpacked(step, values, ["W", "b"]).items()}
    assert np.abs(gradient_at(steps, values, ["W", "b"])).max() < 1e-12


def test_of_nothing_it_is_a_matrix_without_entries():
    assert Hessian([("y", "sum", ("x",))], "y", ["x"])({"x": np.zeros(0)}).shape == (0, 0)


# outer products


@pytest.mark.parametrize("classes", [2, 5])
def test_the_outer_products_of_softmax_are_the_hessian_where_the_scores_are_linear(classes):
    steps, values = regression(4, classes, 12)
    H = Hessian(steps, "loss", ["W", "b"])(values)
    assert np.allclose(outer_products(steps, "scores", ["W", "b"], values, "softmax", 1 / 12), H, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("loss, error, weight", [("squaredError", "squares", 1 / 12), ("sigmoidCrossEntropy", "logistic", 1 / 12)])
def test_the_outer_products_are_the_hessian_of_a_single_linear_layer(loss, error, weight):
    steps, values = regression(3, 1, 12, loss=loss)
    values["y"] = R.integers(0, 2, (12, 1))
    H = Hessian(steps, "loss", ["W", "b"])(values)
    assert np.allclose(outer_products(steps, "scores", ["W", "b"], values, error, weight), H, rtol=1e-10, atol=1e-14)


def test_the_squares_are_the_jacobian_with_itself():
    steps, values = network(rows=40)
    J = Jacobian(steps, "scores", WEIGHTS)(values)
    J = np.concatenate([J[x].reshape(80, -1) for x in WEIGHTS], 1)
    assert np.allclose(outer_products(steps, "scores", WEIGHTS, values, "squares"), J.T @ J, rtol=1e-12)


def test_forward_mode_and_one_row_at_a_time_give_the_same(monkeypatch):
    steps, values = network(rows=20)
    one = outer_products(steps, "scores", WEIGHTS, values)
    from xman.matrices import jacobian
    monkeypatch.setattr(jacobian, "passes_counted", lambda inputs, outputs, mode=None: jacobian.Count(inputs, outputs, "reverse"))
    assert np.allclose(one, outer_products(steps, "scores", WEIGHTS, values), rtol=1e-12, atol=1e-15)


def test_they_come_near_the_hessian_of_a_network_that_fits_its_data():
    """8.39: the neglected term is weighted with y − t."""
    model = MLP([1, 3, 1], dtype=np.float64, loss="squaredError", seed=1)
    steps = model.operationSequence(model.loss)
    values = model.inputDict(X=np.linspace(-1, 1, 20)[:, None])
    fitted = eval(model.operationSequence(model.outputs), values)["outputs"]

    def distance(noise):
        at = {**values, "y": fitted + noise * R.normal(size=fitted.shape)}
        H = Hessian(steps, "loss", WEIGHTS)(at)
        return np.linalg.norm(H - outer_products(steps, "scores", WEIGHTS, at, "squares", 1 / 20)) / np.linalg.norm(H)

    assert distance(0.0) < 1e-12 < distance(1e-3) < 1e-2 < distance(1.0)


@pytest.mark.parametrize("error", ["squares", "logistic", "softmax"])
def test_the_inverse_built_one_example_at_a_time_is_the_inverse(error):
    steps, values = network(rows=15)
    H = outer_products(steps, "scores", WEIGHTS, values, error) + 0.1 * np.eye(26)
    assert np.allclose(inverse_outer_products(steps, "scores", WEIGHTS, values, error, alpha=0.1) @ H, np.eye(26), atol=1e-11)


def test_with_one_output_each_example_is_the_formula_of_hassibi_and_stork():
    steps = [("a", "dot", ("X", "w"))]
    values = {"X": R.normal(size=(7, 3)), "w": np.ones(3)}
    inverse = np.eye(3) / 0.5
    for b in values["X"]:  # the gradient of a_n
        inverse = inverse - np.outer(inverse @ b, b @ inverse) / (1 + b @ inverse @ b)
    assert np.allclose(inverse_outer_products(steps, "a", ["w"], values, "squares", alpha=0.5), inverse, rtol=1e-12)


# what users get wrong

MODEL, GOOD = network()


@pytest.mark.parametrize("call, words", [
    (lambda: Hessian(MODEL, "lose", WEIGHTS), "of names 'lose', which the list does not have; did you mean 'loss'?"),
    (lambda: Hessian(MODEL, "loss", ["W9"]), "wrt names 'W9', which the list does not have"),
    (lambda: Hessian(MODEL, "loss", ["h1"]), "wrt names 'h1', which is computed; it takes inputs: X, W1"),
    (lambda: Hessian(MODEL, "scores", WEIGHTS)(GOOD), "'scores' has shape (6, 2); a Hessian is that of one number"),
    (lambda: Hessian(MODEL, "loss", ["y"])(GOOD), "'y' holds int64, and whole numbers have no derivative; give it as floats"),
    (lambda: Hessian(MODEL, "loss", WEIGHTS)({}), "there is no value for 'W1'"),
    (lambda: Hessian(MODEL, "loss", WEIGHTS).times(GOOD, {"W1": np.ones(4)}), "for 'W1' has shape (4,), the register (3, 4)"),
    (lambda: Hessian(MODEL, "loss", WEIGHTS).times(GOOD, np.ones(26)), "the vectors are a dictionary with one for each of W1, b1"),
    (lambda: Hessian(MODEL, "loss", WEIGHTS).times(GOOD, {"W": 1.0}), "'W', which wrt does not name; there are W1, b1, W2, b2; did you mean 'W"),
    (lambda: outer_products(MODEL, "scores", WEIGHTS, GOOD, "hinge"), "there is no error 'hinge'; there are squares, logistic, softmax"),
    (lambda: outer_products(MODEL, "score", WEIGHTS, GOOD), "of names 'score', which the list does not have; did you mean 'scores'?"),
    (lambda: outer_products(MODEL, "scores", WEIGHTS, GOOD, weight=0), "the weight of an example is a positive number, not 0"),
    (lambda: outer_products(MODEL, "scores", [], GOOD), "wrt is empty"),
    (lambda: outer_products(MODEL, "scores", WEIGHTS, {**GOOD, "X": np.zeros((0, 3)), "y": np.zeros(0, int)}), "there are no examples"),
    (lambda: inverse_outer_products(MODEL, "scores", WEIGHTS, GOOD, alpha=0.0), "alpha is a positive number")])
def test_what_is_wrong_gets_a_sentence(call, words):
    with pytest.raises(XManError) as error:
        call()
    assert words in str(error.value)


# bugs that had survived planting


def test_the_diagonal_of_single_precision_stays_single():
    H = Hessian([("s", "exp", ("x",)), ("y", "sum", ("s",))], "y", ["x"])
    assert H.diagonal({"x": np.zeros(3, np.float32)})["x"].dtype == np.float32


def test_scores_of_a_thousand_do_not_overflow_the_softmax():
    steps, values = [("a", "dot", ("X", "W"))], {"X": np.ones((1, 1)), "W": np.array([[1000.0, 1000.0]])}
    assert np.allclose(outer_products(steps, "a", ["W"], values), [[0.25, -0.25], [-0.25, 0.25]])


def test_a_list_with_the_name_of_a_tangent_of_ours_has_a_hessian():
    H = Hessian([("s", "square", ("x",)), ("y", "mul", ("s", "dy_dx_dot"))], "y", ["x"])
    assert H({"x": 3.0, "dy_dx_dot": 5.0}) == 10


IN_PROPORTION_TO_THE_WEIGHTS = {
    "diagonal": lambda steps, at, v: Hessian(steps, "loss", [*v]).diagonal(at),
    "times": lambda steps, at, v: Hessian(steps, "loss", [*v]).times(at, v),
    "becker_lecun": lambda steps, at, v: becker_lecun(steps, "loss", [*v], at),
    "outer": lambda steps, at, v: GaussNewton(steps, "loss", [*v]).times(at, v),
    "jv": lambda steps, at, v: Jacobian(steps, "loss", [*v]).jv(at, v),
    "vj": lambda steps, at, v: Jacobian(steps, "loss", [*v]).vj(at, 1.0),
    "backprop": lambda steps, at, v: backprop(steps, eval(steps, at), loss=1.0)}


@pytest.mark.parametrize("way", IN_PROPORTION_TO_THE_WEIGHTS)
def test_memory_grows_as_the_weights_and_not_as_the_matrix(way):
    def bytes_a_weight(hidden):
        model = MLP([8, hidden, 4], dtype=np.float64)
        steps, at = model.operationSequence(model.loss), model.inputDict(X=R.normal(size=(1, 8)), y=np.array([0]))
        vectors = {x: np.ones_like(at[x]) for x in WEIGHTS}
        IN_PROPORTION_TO_THE_WEIGHTS[way](steps, at, vectors)
        tracemalloc.start()
        IN_PROPORTION_TO_THE_WEIGHTS[way](steps, at, vectors)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak / sum(v.size for v in vectors.values())
    assert bytes_a_weight(160) < 1.5 * bytes_a_weight(40)
