"""Facts about the optimizers: each is its formula, on arrays, in a list, and in PyTorch."""

from functools import partial

import numpy as np
import pytest

import xman
from xman import XManError, f
from xman.train import OPTIMIZERS, adam, adamw, fit, momentum, nesterov, rmsprop, sgd, training_list
from xman.train.optimizers import optimizer_of, unbiased

LR, STEPS = 0.07, 6
RANDOM = np.random.default_rng(0)
START, GRADIENTS = RANDOM.standard_normal((3, 4)), RANDOM.standard_normal((STEPS, 3, 4))
LINEAR = [("z1", "mul", ("w", "x")), ("loss", "sum", ("z1",))]  # its gradient with respect to w is x


def formulas():
    """The parameter after each step, written out for each optimizer from its source."""
    w = dict.fromkeys(OPTIMIZERS, START)
    v, theta, ball, total, mean_square, m, s = 0.0, START, 0.0, 0.0, 0.0, 0.0, 0.0
    for t, g in enumerate(GRADIENTS, 1):
        w["sgd"] = w["sgd"] - LR * g
        before, ball = w["momentum"], 0.9 * ball - LR * g
        w["momentum"] = before + ball
        v = 0.9 * v - LR * g                                    # Sutskever et al., eq. 3, with the gradient at θ + μ v
        theta = theta + v                                       # eq. 4
        w["nesterov"] = theta + 0.9 * v                         # where the next gradient is taken
        total = total + g ** 2
        w["adagrad"] = w["adagrad"] - LR / (np.sqrt(total) + 1e-10) * g
        mean_square = 0.9 * mean_square + 0.1 * g ** 2
        w["rmsprop"] = w["rmsprop"] - LR * g / (np.sqrt(mean_square) + 1e-8)
        m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g ** 2    # Kingma and Ba, Algorithm 1, line by line
        step = (m / (1 - 0.9 ** t)) / (np.sqrt(s / (1 - 0.999 ** t)) + 1e-8)
        w["adam"] = w["adam"] - LR * step
        w["adamw"] = w["adamw"] - LR * (step + 0.01 * w["adamw"])
        yield dict(w)


def on_arrays(rule, start=START, dtype=float):
    """The parameter after each step, by the rule on arrays."""
    optimizer = optimizer_of(rule)
    values = [start.astype(dtype), *(np.zeros_like(start, dtype) for _ in optimizer.moments)]
    for t, g in enumerate(GRADIENTS, 1):
        values = optimizer(values[0], g.astype(dtype), *values[1:], t=dtype(t), lr=dtype(LR), **optimizer.settings)
        yield values[0]


def in_a_list(rule, run=xman.eval, **options):
    """The parameter after each step, by the list, evaluated or run as `run` says."""
    training = training_list(LINEAR, "loss", ["w"], rule, **options)
    values = {"w": START.copy(), **{m: np.zeros_like(START) for m in training.moments}, training.lr: LR}
    for t, x in enumerate(GRADIENTS, 1):
        found = run(training.steps, values | {"x": x, training.t: float(t)})
        values |= {old: found[new] for old, new in training.inplace.items()}
        yield values["w"]


each_optimizer = pytest.mark.parametrize("name", OPTIMIZERS)


@each_optimizer
def test_a_rule_on_arrays_is_its_formula(name):
    for found, wanted in zip(on_arrays(name), formulas(), strict=True):
        np.testing.assert_allclose(found, wanted[name], rtol=1e-12)


@each_optimizer
def test_a_rule_in_a_list_is_its_formula(name):
    for found, wanted in zip(in_a_list(name), formulas(), strict=True):
        np.testing.assert_allclose(found, wanted[name], rtol=1e-12)


@each_optimizer
def test_a_compiled_list_overwrites_the_parameter_and_its_moments_by_its_formula(name):
    training = training_list(LINEAR, "loss", ["w"], name)
    step = xman.compile(training.steps, ["loss"], inplace=training.inplace)
    values = {"w": START.copy(), **{m: np.zeros_like(START) for m in training.moments}, training.lr: np.float64(LR)}
    w = values["w"]
    for t, (x, wanted) in enumerate(zip(GRADIENTS, formulas(), strict=True), 1):
        step(values | {"x": x, training.t: np.float64(t)})
        np.testing.assert_allclose(w, wanted[name], rtol=1e-12)


@each_optimizer
def test_a_rule_keeps_the_precision_of_its_arguments(name):
    single = list(on_arrays(name, dtype=np.float32))
    assert {w.dtype for w in single} == {np.dtype(np.float32)}
    np.testing.assert_allclose(single, list(on_arrays(name)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("t", [1, 2, 10, 100_000])
def test_what_the_start_at_zero_takes_from_a_mean_has_all_its_digits_in_single_precision(t):
    assert abs(unbiased(0.999, np.float32(t)) / -np.expm1(t * np.log(0.999)) - 1) < 3e-7


# PyTorch

TORCH = {"sgd": ("SGD", {}), "momentum": ("SGD", {"momentum": 0.9}), "nesterov": ("SGD", {"momentum": 0.9, "nesterov": True}),
         "adagrad": ("Adagrad", {}), "rmsprop": ("RMSprop", {"alpha": 0.9}), "adam": ("Adam", {}), "adamw": ("AdamW", {})}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [{}, {"weight_decay": 0.1}, {"clip": 1.5}, {"clip_value": 0.5}], ids=str)
@each_optimizer
def test_a_rule_is_that_of_pytorch(name, options):
    torch = pytest.importorskip("torch", reason="PyTorch, which the optimizers are compared with, is not installed")
    kind, settings = TORCH[name]
    w = torch.tensor(START, requires_grad=True)
    theirs = getattr(torch.optim, kind)([w], lr=LR, **settings, **{key: options[key] for key in options if key == "weight_decay"})
    for x, mine in zip(GRADIENTS, in_a_list(name, **options), strict=True):
        w.grad = torch.tensor(x)
        if "clip" in options:
            torch.nn.utils.clip_grad_norm_([w], options["clip"])
        if "clip_value" in options:
            torch.nn.utils.clip_grad_value_([w], options["clip_value"])
        theirs.step()
        np.testing.assert_allclose(mine, w.detach().numpy(), rtol=1e-5 if "clip" in options else 1e-11)  # theirs adds 1e-6


# rules with other settings, and of one's own


def ended(rule, **options):
    return list(in_a_list(rule, **options))[-1]


@pytest.mark.parametrize("rule, same", [
    (partial(momentum, beta=0.0), sgd), (partial(nesterov, beta=0), sgd), (partial(adamw, decay=0.0), adam),
    (partial(adam, beta1=0.0, eps=1e-8), partial(partial(adam, beta1=0.5), beta1=0.0))],
    ids=["momentum", "nesterov", "adamw", "adam"])
def test_a_setting_that_takes_a_part_away_leaves_the_other_rule(rule, same):
    np.testing.assert_allclose(ended(rule), ended(same), rtol=1e-12)


def test_the_weight_decay_of_adamw_is_its_setting():
    assert np.array_equal(ended("adamw", weight_decay=0.3), ended(partial(adamw, decay=0.3)))
    assert np.array_equal(ended("adamw", weight_decay=0), ended("adam"))
    assert not np.array_equal(ended("adamw"), ended("adam"))


def signs(w, d, old, *, lr, beta=0.5):
    """A rule of one's own: the sign of a running mean."""
    old = beta * old + (1 - beta) * d
    return w - lr * f.sign(old), old


def test_a_rule_of_ones_own_is_an_optimizer():
    model = xman.XMan()
    model.X, model.y, model.w = xman.f.input(), xman.f.input(), xman.f.param(default=np.zeros((2, 1)))
    model.loss = xman.f.mean(xman.f.squaredError(model.X @ model.w, model.y))
    result = fit(model, (np.eye(2), np.array([[1.0], [-1.0]])), optimizer=signs, lr=0.25, epochs=3, progress=False)
    assert result.parameters["w"].ravel().tolist() == [0.75, -0.75]
    assert str(optimizer_of(partial(signs, beta=0.25))) == "signs(beta=0.25)"


def test_a_rule_may_hand_a_register_on_as_it_is_and_under_two_names():
    training = training_list(LINEAR, "loss", ["w"], lambda w, d, last, still, *, lr: (w - lr * d, d, still))
    found = xman.eval(training.steps, {"w": START, "x": START, "w_last": 0 * START, "w_still": 1 + START, training.lr: 0.5})
    assert np.array_equal(found["w_next"], START / 2) and np.array_equal(found["w_still_next"], 1 + START)
    assert np.array_equal(found["w_last_next"], START)


@pytest.mark.parametrize("rule, words", [
    ("adm", "newton-cg; did you mean 'adam'?"),
    (3, "an optimizer is a name or a rule, rule(w, d, *moments, t, lr), not 3"),
    (partial(adam, bta=1), "the optimizer adam has not all of the settings bta"),
    (partial(adam, beta1=1.0), "the setting beta1 of the optimizer adam is a number from 0 to below 1, not 1.0"),
    (partial(rmsprop, eps=-1), "the setting eps of the optimizer rmsprop is a number of at least 0, not -1"),
    (partial(rmsprop, eps="small"), "not 'small'"),
    (lambda w, *, lr: w, "takes (w, *, lr)"), (lambda *values, lr: values, "takes (*values, lr)"),
    (lambda w, d, *, lr, beta: w, "the setting beta"),
    (lambda w, d, m, *, lr: w, "returns 1 values; it has 1 moments, and returns the next w and then each next moment"),
])
def test_what_is_no_optimizer_is_refused_in_a_sentence(rule, words):
    with pytest.raises(XManError) as caught:
        training_list(LINEAR, "loss", ["w"], rule)
    assert words in str(caught.value) and "\n" not in str(caught.value)
