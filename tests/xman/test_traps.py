"""Traps that libraries fall into, beyond the conventions: each a fact that was once wrong, or could silently become so."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import ops
from xman import WengertList, XMan, XManError, backprop, check, f
from xman import eval as evaluate


def gradient(fn, *xs):
    """The values of the list of sum(fn(x0, x1, …)), and the deltas of its inputs."""
    model = XMan()
    regs = [f.input(f"x{i}") for i in range(len(xs))]
    model.out = f.sum(fn(*regs))
    steps = model.operationSequence(model.out)
    values = evaluate(steps, {f"x{i}": x for i, x in enumerate(xs)})
    return values, backprop(steps, values, out=1.0)


@pytest.mark.parametrize(("fn", "at"), [
    (lambda x: f.where(x < 100, f.expm1(x), x), [1000.0, 0.0]),
    (lambda x: f.where(x > 0, f.log1p(x), x), [-1.0, 0.5]),
    (lambda x: f.where(x > 0, 1.0 / x, x), [0.0, 2.0]),
    (lambda x: f.where(x < 800, f.cosh(x), x), [900.0, 0.0]),
])
def test_a_branch_not_taken_sends_back_nothing(fn, at):
    assert np.isfinite(gradient(fn, np.array(at))[1]["x0"]).all()


def test_the_slope_of_leaky_relu_at_0_is_that_of_the_left():
    assert ops.DG["leakyRelu"][0](1.0, 0.0, np.array(0.0), 0.01) == 0.01


def test_the_derivative_of_sqrt_is_infinite_and_positive_at_both_zeros():
    assert gradient(f.sqrt, np.array([0.0, -0.0]))[1]["x0"].tolist() == [np.inf, np.inf]


def test_the_deviation_of_a_constant_that_is_no_binary_fraction_is_0_and_flat():
    values, deltas = gradient(f.std, np.full(3, 0.1))
    assert values["out"] == 0 and deltas["x0"].tolist() == [0, 0, 0]


def test_a_sparse_matrix_by_a_vector_sends_back_the_transposed_product():
    a = csr_array(np.array([[0.0, 2.0], [3.0, 0.0], [0.0, 5.0]]))
    assert gradient(lambda a, w: a @ w, a, np.ones(2))[1]["x1"].tolist() == [3.0, 7.0]


def test_a_sparse_matrix_that_is_computed_is_refused_by_name():
    with pytest.raises(XManError, match="z2 is a sparse matrix"):
        gradient(lambda a, w: f.sum(a * w), csr_array(np.eye(2)), np.ones((2, 2)))


@pytest.mark.parametrize("dtype", [int, np.uint8, bool])
def test_integers_have_a_softmax(dtype):
    np.testing.assert_allclose(ops.G["softmax"](np.array([[1, 0]], dtype)), [[1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))]])


@pytest.mark.parametrize("y", [np.zeros((4, 1)), np.zeros(4), 0])
@pytest.mark.parametrize("loss", [f.softmaxCrossEntropy, f.crossEntropy])
def test_labels_given_as_floats_are_refused(loss, y):
    with pytest.raises(XManError, match="labels are integers"):
        gradient(loss, np.full((4, 3), 0.5), y)


def test_a_masked_logit_costs_the_hinge_nothing():
    values, deltas = gradient(lambda z: f.hinge(z, np.array([0])), np.array([[1.0, -np.inf, 0.5]]))
    assert values["out"] == 0.5 and deltas["x0"].tolist() == [[-1, 0, 1]]


def test_a_check_of_whole_numbers_is_refused_and_not_passed():
    with pytest.raises(XManError, match="whole numbers"):
        check([("a", "square", ("x",))], {"x": np.array([1, 2])})


def test_the_mean_of_nothing_is_nan_without_a_warning():
    assert np.isnan(ops.G["mean"](np.zeros(0)))


def test_an_attribute_that_is_given_another_register_changes_its_role():
    model = XMan()
    model.x = f.input()
    assert model.isInput("x")
    model.x = f.param()
    assert model.isParam("x")


@pytest.mark.parametrize("way", [lambda s: WengertList.from_text(str(s)), lambda s: WengertList.from_json(s.to_json())])
def test_an_array_in_a_list_that_was_read_cannot_be_written(way):
    steps = way(WengertList([("y", "mul", ("x", np.array([1.0, 2.0])))]))
    assert not steps[0][2][1].flags.writeable


@pytest.mark.parametrize("line", [lambda a: a + "b", lambda a: "b" * a, lambda a: a @ "b", lambda a: f.where(a, a, "b"),
                                  lambda a: f.stack(0, a, "b"), lambda a: f.sum("b", a)])
def test_a_word_in_the_place_of_numbers_is_refused_where_it_is_written(line):
    with pytest.raises(XManError, match=r"\w+ was given a str; an operator takes registers, numbers"):
        line(f.input())


def test_words_are_arguments_of_operators_that_take_words():
    X = f.input()
    lines = f.einsum("i,i->", X, X), f.astype(X, "float32"), f.codes(X, ("a", "b")), f.equal(X, "a")
    assert [r.definedAs.args[-1] for r in lines[1:]] == [("float32",), ("a", "b"), ("a",)]
    assert lines[0].definedAs.args[0] == ("i,i->",)
