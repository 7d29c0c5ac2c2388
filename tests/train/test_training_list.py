"""Facts about the list of a training step: that it is one, what it computes, and what its registers are called."""

import numpy as np
import pytest

from xman import WengertList, XManError, backprop, compile, eval
from xman.models import LSTM, MLP
from xman.train import OPTIMIZERS, training_list

SQUARE = [("z1", "mul", ("w", "x")), ("loss", "square", ("z1",))]
TWO = [("z1", "mul", ("v", "w")), ("loss", "sum", ("z1",))]  # the gradient of v is w and that of w is v
V, W = np.array([3.0, -4.0, 0.0]), np.array([0.0, 12.0, 0.0])  # of norm 13 together


def after(steps, values, parameters, optimizer="sgd", lr=1.0, t=1.0, **options):
    """All values of the step, moments beginning as zeros."""
    training = training_list(steps, "loss", parameters, optimizer, **options)
    start = {m: np.zeros_like(values[w]) for m, w in training.moments.items()}
    return eval(training.steps, {**values, **start, training.lr: lr, training.t: t})


def test_the_list_of_a_step_is_values_gradient_and_update():
    training = training_list(SQUARE, "loss", ["w"], "momentum")
    assert repr(training.steps) == """\
z1 = mul(w, x)
loss = square(z1)
dloss_dloss = broadcast(1.0, loss)
z2 = mul(2, z1)
dloss_dz1 = mul(dloss_dloss, z2)
z3 = mul(dloss_dz1, x)
dloss_dw = unbroadcast(z3, w)
z4 = mul(0.9, w_velocity)
z5 = mul(lr, dloss_dw)
w_velocity_next = subtract(z4, z5)
w_next = add(w, w_velocity_next)"""
    assert training[1:] == ({"w": "w_next", "w_velocity": "w_velocity_next"}, {"w_velocity": "w"}, "lr", "t")


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_list_reads_back_from_its_text_and_from_json(optimizer):
    steps = training_list(TWO, "loss", ["v", "w"], optimizer, clip=1.0, clip_value=0.5, weight_decay=0.1).steps
    assert WengertList.from_text(str(steps)) == steps == WengertList.from_json(steps.to_json())


@pytest.mark.parametrize("model, X", [(MLP([4, 5, 3], dtype=float), (7, 4)), (LSTM(4, 5, 3, steps=3, dtype=float), (7, 3, 4))],
                         ids=["mlp", "lstm"])
def test_the_list_has_the_values_and_the_gradient_of_the_interpreters(model, X):
    random = np.random.default_rng(0)
    steps = model.operationSequence(model.loss)
    values = model.inputDict(**model.feed(random.standard_normal(X), np.arange(7) % 3))
    names = [name for name in steps.inputs if model.isParam(name)]
    known = eval(steps, values)
    deltas = backprop(steps, known, loss=1.0)
    found = after(steps, values, names, lr=0.25)
    assert found["loss"] == known["loss"]
    for name in names:
        np.testing.assert_allclose(found[f"dloss_d{name}"], deltas[name], rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(found[f"{name}_next"], values[name] - 0.25 * deltas[name], rtol=1e-12, atol=1e-15)


def test_a_factor_multiplies_the_rate_of_its_parameter_and_0_leaves_it_out():
    found = after(TWO, {"v": V, "w": W}, {"v": 0.5, "w": 0}, lr=0.1)
    np.testing.assert_allclose(found["v_next"], V - 0.05 * W)
    assert not {"w_next", "dloss_dw"} & found.keys()


def test_outputs_that_the_list_had_beside_the_loss_are_kept():
    steps = [*SQUARE, ("outputs", "tanh", ("z1",))]
    assert "outputs" in training_list(steps, "loss", ["w"]).steps.outputs


# clipping and decay


@pytest.mark.parametrize("clip, factor", [(6.5, 0.5), (13.0, 1.0), (1e9, 1.0)])
def test_gradients_are_shortened_together_to_the_norm_where_theirs_is_larger(clip, factor):
    found = after(TWO, {"v": V, "w": W}, ["v", "w"], clip=clip)
    assert found["gradient_norm"] == 13
    assert np.array_equal(found["v_next"], V - factor * W) and np.array_equal(found["w_next"], W - factor * V)


def test_a_gradient_of_zeros_stays_when_it_is_clipped():
    found = after(TWO, {"v": 0 * V, "w": 0 * W}, ["v", "w"], clip=1.0)
    assert np.array_equal(found["v_next"], 0 * V)


def test_the_entries_of_a_gradient_are_held_between_the_bounds():
    found = after(TWO, {"v": V, "w": W}, ["w"], clip_value=3.5)
    assert np.array_equal(W - found["w_next"], [3.0, -3.5, 0.0])


def test_weight_decay_is_added_to_the_clipped_gradient_and_not_to_the_loss():
    found = after(TWO, {"v": V, "w": W}, ["w"], clip=1.0, weight_decay=0.5)
    np.testing.assert_allclose(W - found["w_next"], V / 5 + 0.5 * W)
    assert found["loss"] == -48


# names


def test_a_name_that_the_list_has_already_gets_a_longer_one():
    steps = [("t", "mul", ("lr", "w")), ("w_next", "mul", ("t", "w_velocity")), ("gradient_norm", "square", ("w_next",)),
             ("loss", "sum", ("gradient_norm",))]
    training = training_list(steps, "loss", ["w"], "momentum", clip=1e9)
    assert training[1:] == ({"w": "w_next_", "w_velocity_": "w_velocity__next"}, {"w_velocity_": "w"}, "lr_", "t_")
    values = {"lr": np.float64(2), "w": np.ones(2), "w_velocity": np.ones(2)}
    step = compile(training.steps, ["loss", "gradient_norm_"], inplace=training.inplace)
    found = step(values | {"w_velocity_": np.zeros(2), "lr_": np.float64(0.125)})  # the derivative of 4 w² is 8 w
    assert (found["loss"], found["gradient_norm_"], values["w"].tolist()) == (8.0, 128 ** 0.5, [0.0, 0.0])


@pytest.mark.parametrize("parameters, options, words", [
    (["u"], {}, "parameters names 'u', which the list does not have"),
    (["z1"], {}, "parameters names 'z1', which is computed; it takes inputs: w, x"),
    ([], {}, "no parameter is to move"), ({"w": 0}, {}, "no parameter is to move"),
    (["w"], {"loss": "cost"}, "loss names 'cost', which the list does not have"),
    (["w"], {"weight_decay": -1}, "weight_decay is a number, not -1"), (["w"], {"clip": 0}, "clip is a positive number, not 0"),
    (["w"], {"clip_value": np.nan}, "clip_value is a positive number, not nan"),
    (["w"], {"clip": "1"}, "clip is a positive number, not '1'"),
], ids=str)
def test_what_cannot_be_a_step_is_refused_in_a_sentence(parameters, options, words):
    with pytest.raises(XManError) as caught:
        training_list(SQUARE, **{"loss": "loss", "parameters": parameters, **options})
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_a_list_that_has_the_gradient_already_is_refused_by_its_name():
    with pytest.raises(XManError, match="the list has a register dloss_dw already"):
        training_list([*SQUARE, ("dloss_dw", "mul", (2, "z1"))], "loss", ["w"])
