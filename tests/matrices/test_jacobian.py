"""The Jacobian of a list: products, modes, counts."""

import numpy as np
import pytest

from tests.jax_at_once import at_once, jax_in_double
from xman import XMan, XManError, f
from xman.matrices import Count, Jacobian
from xman.models import MLP

EQ17 = [("v1", "divide", ("x1", "x2")), ("v2", "sin", ("v1",)), ("v3", "exp", ("x2",)), ("v4", "subtract", ("v1", "v3")),
        ("v5", "add", ("v2", "v4")), ("y", "mul", ("v5", "v4"))]
AT = {"x1": 1.5, "x2": 0.5}
R = np.random.default_rng(3)


def network(dtype=np.float64, **options):
    model = MLP([3, 4, 2], dtype=dtype, **options)
    values = model.inputDict(X=R.normal(size=(5, 3)).astype(dtype), y=np.array([0, 1, 0, 1, 1]))
    return model.operationSequence(model.outputs), values


WEIGHTS = ["W1", "b1", "W2", "b2"]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_eq_17_of_adams_in_both_modes(mode):
    J = Jacobian(EQ17, "y", ["x1", "x2"], mode)(AT)
    assert np.allclose([J["x1"], J["x2"]], [3.0118433276739065, -13.723961509314076], rtol=1e-14)


@pytest.mark.parametrize("wrt", [["X"], WEIGHTS, ["b2"], ["W1", "X"]])
def test_both_modes_give_the_same_matrix(wrt):
    steps, values = network()
    forward, reverse = (Jacobian(steps, "outputs", wrt, mode)(values) for mode in ("forward", "reverse"))
    for x in wrt:
        assert forward[x].shape == reverse[x].shape == (5, 2, *values[x].shape)
        assert np.allclose(forward[x], reverse[x], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("x", WEIGHTS)
def test_it_is_what_central_differences_say(x):
    steps, values = network()
    J, h = Jacobian(steps, "outputs", [x])(values)[x], 1e-6
    from xman import eval
    for at in np.ndindex(values[x].shape):
        up, down = values[x].copy(), values[x].copy()
        up[at] += h
        down[at] -= h
        quotient = (eval(steps, {**values, x: up})["outputs"] - eval(steps, {**values, x: down})["outputs"]) / (2 * h)
        assert np.allclose(J[(..., *at)], quotient, atol=1e-9)


def test_it_is_jaxs():
    jax = jax_in_double()
    steps, values = network()

    def outputs(W1):
        h = jax.numpy.tanh(values["X"] @ W1 + values["b1"])
        return jax.nn.softmax(h @ values["W2"] + values["b2"])

    assert np.allclose(Jacobian(steps, "outputs", ["W1"])(values)["W1"], at_once(jax.jacobian(outputs), values["W1"]), rtol=1e-12, atol=1e-15)


def test_jv_is_the_matrix_times_the_vector():
    steps, values = network()
    J, v = Jacobian(steps, "outputs", ["W1"]), R.normal(size=(3, 4))
    assert np.allclose(J.jv(values, {"W1": v}), np.tensordot(J(values)["W1"], v, 2), rtol=1e-12)


def test_vj_is_the_vector_times_the_matrix():
    steps, values = network()
    J, u = Jacobian(steps, "outputs", WEIGHTS), R.normal(size=(5, 2))
    for x, image in J.vj(values, u).items():
        assert np.allclose(image, np.tensordot(u, J(values)[x], 2), rtol=1e-12, atol=1e-15)


def test_the_products_are_each_others_transpose():
    steps, values = network()
    J, u = Jacobian(steps, "outputs", WEIGHTS), R.normal(size=(5, 2))
    v = {x: R.normal(size=values[x].shape) for x in WEIGHTS}
    left = sum(np.sum(image * v[x]) for x, image in J.vj(values, u).items())
    assert left == pytest.approx(np.sum(u * J.jv(values, v)), rel=1e-12)


def test_a_vector_left_out_is_zero():
    steps, values = network()
    J, v = Jacobian(steps, "outputs", WEIGHTS), R.normal(size=(3, 4))
    assert (J.jv(values, {"W1": v}) == J.jv(values, {"W1": v, "b1": np.zeros((1, 4))})).all()


def test_a_pullback_is_good_for_many_vectors():
    steps, values = network()
    pull = Jacobian(steps, "outputs", ["W1"]).pullback(values)
    u, v = R.normal(size=(2, 5, 2))
    assert np.allclose(pull(u)["W1"] + pull(v)["W1"], pull(u + v)["W1"], rtol=1e-12)


def test_single_precision_stays_single():
    steps, values = network(np.float32)
    for mode in ("forward", "reverse"):
        assert {J.dtype for J in Jacobian(steps, "outputs", WEIGHTS, mode)(values).values()} == {np.dtype(np.float32)}


def test_what_the_output_does_not_depend_on_has_zeros_of_its_shape():
    for mode in ("forward", "reverse"):
        J = Jacobian([("y", "exp", ("x",)), ("z", "sin", ("w",))], "y", ["w"], mode)
        found = J({"x": np.ones(2), "w": np.ones((3, 1))})["w"]
        assert found.shape == (2, 3, 1) and not found.any()


def test_an_output_without_elements_has_a_jacobian_without_rows():
    found = Jacobian([("y", "exp", ("x",))], "y", ["x"])({"x": np.zeros((0, 2))})["x"]
    assert found.shape == (0, 2, 0, 2)


def test_one_jacobian_serves_batches_of_all_sizes():
    steps, values = network()
    J = Jacobian(steps, "outputs", ["b2"])
    assert [J({**values, "X": np.ones((n, 3))})["b2"].shape for n in (1, 4, 1)] == [(1, 2, 1, 2), (4, 2, 1, 2), (1, 2, 1, 2)]


def test_the_values_given_are_left_as_they_are():
    steps, values = network()
    before = {name: np.array(x) for name, x in values.items()}
    Jacobian(steps, "outputs", WEIGHTS)(values)
    assert all((before[name] == values[name]).all() for name in values) and before.keys() == values.keys()


def test_a_list_with_names_like_ours_is_differentiated_too():
    J = Jacobian([("y", "mul", ("x", "x_dot")), ("y_bar", "exp", ("y",))], "y", ["x", "x_dot"])
    assert {x: float(d) for x, d in J({"x": 2.0, "x_dot": 5.0}).items()} == {"x": 5.0, "x_dot": 2.0}


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_derivative_goes_through_a_second_name(mode):
    steps = [("z", "sin", ("x",)), ("y", "alias", ("z",))]
    assert Jacobian(steps, "y", ["x"], mode)({"x": 0.5})["x"] == np.cos(0.5)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_the_jacobian_of_an_input_by_itself_is_the_unit_matrix(mode):
    assert Jacobian([("y", "sin", ("x",))], "x", ["x"], mode)({"x": np.ones(2)})["x"].tolist() == [[1, 0], [0, 1]]


def test_it_goes_through_pickle():
    import pickle
    J = pickle.loads(pickle.dumps(Jacobian(EQ17, "y", ["x1"])))
    assert J(AT)["x1"] == pytest.approx(3.0118433276739065)


# the count


@pytest.mark.parametrize("wrt, mode, said", [
    (["X"], None, "15 inputs, 10 outputs: reverse mode, 10 passes (forward mode would take 15)"),
    (["b2"], None, "2 inputs, 10 outputs: forward mode, 2 passes (reverse mode would take 10)"),
    (["b2"], "reverse", "2 inputs, 10 outputs: reverse mode, 10 passes (forward mode would take 2)"),
    (WEIGHTS, None, "26 inputs, 10 outputs: reverse mode, 10 passes (forward mode would take 26)")])
def test_the_count_says_which_mode_and_why(wrt, mode, said):
    steps, values = network()
    assert str(Jacobian(steps, "outputs", wrt, mode).count(values)) == said


def test_where_the_counts_are_equal_the_mode_is_forward():
    assert Jacobian([("y", "exp", ("x",))], "y", ["x"]).count({"x": 1.0}) == Count(1, 1, "forward")


def test_one_of_a_kind_is_in_the_singular():
    assert str(Count(1, 2, "forward")) == "1 input, 2 outputs: forward mode, 1 pass (reverse mode would take 2)"


@pytest.mark.parametrize("mode, passes", [("forward", 3), ("reverse", 2)])
def test_a_jacobian_takes_as_many_passes_as_the_count_says(mode, passes, monkeypatch):
    J = Jacobian([("y", "getitem", ("x", slice(2)))], "y", ["x"], mode)
    made = []
    method = {"forward": "pushforward", "reverse": "pullback"}[mode]
    original = getattr(Jacobian, method)
    monkeypatch.setattr(Jacobian, method, lambda self, values: lambda v: made.append(v) or original(self, values)(v))
    J({"x": np.ones(3)})
    assert len(made) == passes == J.count({"x": np.ones(3)}).passes


# what users get wrong


class Pair(XMan):
    x, w, n = f.input(), f.param(), f.input()
    y = f.sin(x * w)
    z = y[n]


PAIR = Pair().setup().operationSequence(Pair.z)
GOOD = {"x": np.ones(3), "w": 2.0, "n": np.int64(1)}


@pytest.mark.parametrize("call, words", [
    (lambda: Jacobian(PAIR, "yy", ["x"]), "of names 'yy', which the list does not have; did you mean 'y'?"),
    (lambda: Jacobian(PAIR, "y", ["v"]), "wrt names 'v', which the list does not have"),
    (lambda: Jacobian(PAIR, "z", ["y"]), "wrt names 'y', which is computed; it takes inputs: x, w, n"),
    (lambda: Jacobian(PAIR, "y", ["x"], "backward"), "mode is 'forward', 'reverse', 'mixed' or None for the cheapest, not 'backward'"),
    (lambda: Jacobian(lambda x: x, "y", ["x"]), "steps is a function, not a list of lines"),
    (lambda: Jacobian(PAIR, "y", ["x"])({"x": np.ones(3)}), "no value for the input 'w'"),
    (lambda: Jacobian(PAIR, "y", ["x"])({"w": 1.0}), "there is no value for 'x', which wrt names"),
    (lambda: Jacobian(PAIR, "z", ["n"])({**GOOD, "n": np.array([1])}), "'n' holds int64, and whole numbers have no derivative"),
    (lambda: Jacobian([("y", "greater", ("x", 0))], "y", ["x"])({"x": 1.0}), "'y' holds bool, and only floats have derivatives"),
    (lambda: Jacobian(PAIR, "y", ["x"]).jv(GOOD, {"x": np.ones(2)}), "the vector given for 'x' has shape (2,), the register (3,)"),
    (lambda: Jacobian(PAIR, "y", ["x"]).jv(GOOD, np.ones(3)), "the vectors are a dictionary with one for each of x, not a ndarray"),
    (lambda: Jacobian(PAIR, "y", ["x"]).jv(GOOD, {"v": np.ones(3)}), "a vector was given for 'v', which wrt does not name"),
    (lambda: Jacobian(PAIR, "y", ["x"]).vj(GOOD, 1.0), "the vector given for 'y' has shape (), the register (3,)"),
    (lambda: Jacobian(PAIR, "y", ["x"])({**GOOD, "w": np.ones(2)}), "line 1, z1 = mul(x, w): x has shape (3,), w has shape (2,)")])
def test_what_is_wrong_gets_a_sentence(call, words):
    with pytest.raises(XManError) as error:
        call()
    assert words in str(error.value)


# bugs that had survived planting


def test_one_jacobian_serves_both_precisions():
    J = Jacobian([("a", "exp", (1.0,)), ("y", "mul", ("x", "a"))], "y", ["x"])
    assert [J({"x": x})["x"] for x in (np.float32(1), 1.0)] == [np.float32(np.exp(1.0)), np.exp(1.0)]


def test_one_jacobian_sums_over_each_batch_anew():
    J = Jacobian([("y", "mul", ("x", "w")), ("s", "sum", ("y",))], "s", ["w"], "reverse")
    assert [J({"x": np.ones(n), "w": np.ones(1)})["w"].tolist() for n in (1, 4, 1)] == [[1], [4], [1]]


def test_a_list_with_names_like_ours_is_differentiated_forwards_too():
    J = Jacobian([("y", "mul", ("x", "x_dot"))], "y", ["x", "x_dot"], "forward")
    assert J({"x": 2.0, "x_dot": 5.0}) == {"x": 5.0, "x_dot": 2.0}


def test_a_vector_of_as_many_entries_in_another_shape_is_refused():
    import pytest

    from xman import XManError
    J = Jacobian([("y", "exp", ("x",))], "y", ["x"])
    with pytest.raises(XManError, match=r"the vector given for 'x' has shape \(3, 2\), the register \(2, 3\)"):
        J.jv({"x": np.ones((2, 3))}, {"x": np.ones((3, 2))})


def test_a_product_has_the_precision_of_the_values_whatever_that_of_the_vector():
    J = Jacobian([("y", "exp", ("x",))], "y", ["x"])
    at, v = {"x": np.zeros(2, np.float32)}, np.ones(2)
    assert J.jv(at, {"x": v}).dtype == J.vj(at, v)["x"].dtype == np.float32


def test_a_jacobian_without_rows_has_the_precision_of_the_output():
    J = Jacobian([("y", "exp", ("x",))], "y", ["x"])
    assert J({"x": np.zeros(0, np.float32)})["x"].dtype == np.float32


def test_what_depends_on_the_values_alone_is_not_computed_for_each_vector():
    J = Jacobian([("y", "exp", ("x",))], "y", ["x"])
    fixed, moving = J.reverse.split({"x": np.ones(2), J.reverse.moving["y"]: np.ones(2)})
    assert [op for _, op, _ in fixed] == ["exp"] and "exp" not in str(moving)


def test_a_whole_number_of_python_counts_as_a_float():
    assert Jacobian([("y", "square", ("x",))], "y", ["x"])({"x": 3})["x"] == 6
