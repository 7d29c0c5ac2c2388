"""Facts about learning rates by parameter: what they move, what is refused, and that a checkpoint holds them."""

import numpy as np
import pytest

from xman import XManError
from xman.models import LogisticRegression
from xman.train import OPTIMIZERS, Diverged, evaluate, find_rate, fit, load

LABELS = np.arange(30) % 3
X = np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32)
RATES = {"W": 0.05, "b": 0.2}


def train(lr=RATES, data=(X, LABELS), **settings):
    return fit(LogisticRegression(4, 3), data, lr=lr, **{"epochs": 4, "batch_size": 8, "progress": False, **settings})


def bits(result):
    return {name: w.tobytes() for name, w in result.parameters.items()}


def refusal(call, *args, error=XManError, **named):
    """The message of the error that the call raises: one line."""
    with pytest.raises(error) as caught:
        call(*args, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# what they move


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_one_rate_for_each_parameter_trains_to_the_bits_of_that_number(optimizer):
    assert bits(train({"W": 0.05, "b": 0.05}, optimizer=optimizer)) == bits(train(0.05, optimizer=optimizer))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_first_step_of_a_parameter_is_in_proportion_to_its_rate(optimizer):
    step = lambda lr: {name: w - LogisticRegression(4, 3).inputDict()[name] for name, w in
                       train(lr, optimizer=optimizer, epochs=1, batch_size=30).parameters.items()}
    one, two = step({"W": 0.05, "b": 0.2}), step({"W": 0.1, "b": 0.2})
    np.testing.assert_allclose(two["W"], 2 * one["W"], rtol=1e-4)
    assert np.array_equal(two["b"], one["b"])


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_rate_of_0_holds_its_parameter_and_no_other(optimizer):
    before, after = LogisticRegression(4, 3).inputDict(), train({"W": 0, "b": 0.2}, optimizer=optimizer).parameters
    assert np.array_equal(after["W"], before["W"]) and not np.any(after["b"] == before["b"])


# what is refused


@pytest.mark.parametrize("lr, message", [
    ({"W": 0.1, "b": 0.1, "w": 0.1}, "lr has a rate for 'w', which is no parameter of the loss; there are W, b"),
    ({"Wb": 0.1, "b": 0.1}, "lr has a rate for 'Wb', which is no parameter of the loss; there are W, b; did you mean 'b'?"),
    ({"X": 0.1, "W": 0.1, "b": 0.1}, "lr has a rate for 'X', which is no parameter"), ({0: 0.1}, "lr has a rate for 0, which"),
    ({"W": 0.1}, "lr has no rate for 'b'; a dict names every parameter, and a rate of 0 leaves one as it is"),
    ({}, "no rate for 'W', 'b'"),
    ({"W": 0, "b": 0}, "learning rate has to be"), ({"W": -0.1, "b": 0.1}, "learning rate has to be"),
    ({"W": "fast", "b": 0.1}, "learning rate has to be"), ({"W": np.nan, "b": 0.1}, "learning rate has to be"),
    ({"W": np.inf, "b": 0.1}, "learning rate has to be"), ({"W": None, "b": 0.1}, "learning rate has to be"),
], ids=str)
def test_rates_that_cannot_be_are_refused_by_name(lr, message):
    assert message in refusal(train, lr)


@pytest.mark.parametrize("b, words", [(0.5, "1e+39 or 0.5"), (1e39, "1e+39"), (0, "1e+39")])
def test_a_run_that_diverges_says_below_which_rates_to_go(b, words):
    message = refusal(train, {"W": 1e39, "b": b}, error=Diverged)
    assert f"try a learning rate below {words}, or look at the data" in message


# checkpoints


@pytest.fixture
def path(tmp_path):
    pytest.importorskip("safetensors")
    return tmp_path / "run.safetensors"


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_run_with_rates_goes_on_from_its_checkpoint_to_the_same_bits(path, optimizer):
    train(checkpoint=path, optimizer=optimizer, epochs=2)
    assert bits(train(checkpoint=path, optimizer=optimizer)) == bits(train(optimizer=optimizer))


def test_the_order_of_the_rates_and_numpys_numbers_are_no_other_run(path):
    train({"W": 0.5, "b": 0.25}, checkpoint=path, epochs=2)
    train({"b": np.float32(0.25), "W": np.float64(0.5)}, checkpoint=path)


@pytest.mark.parametrize("lr", [{"W": 0.05, "b": 0.1}, 0.05], ids=str)
def test_a_checkpoint_of_a_run_with_other_rates_is_refused_and_left_alone(path, lr):
    train(checkpoint=path, epochs=2)
    before = path.read_bytes()
    message = refusal(train, lr, checkpoint=path)
    assert f"a run with lr {RATES}, not {lr}" in message and path.read_bytes() == before


# the rate that is found


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_rate_that_is_found_trains_nearly_as_well_as_the_best_of_a_grid(optimizer):
    digits = load("digits")

    def loss(lr):
        result = fit(LogisticRegression(64, 10), digits.train, optimizer=optimizer, lr=lr, epochs=4, progress=False)
        return evaluate(LogisticRegression(64, 10), result.parameters, digits.test)[0]

    rate = find_rate(LogisticRegression(64, 10), digits.train, optimizer=optimizer)
    assert loss(rate.lr) < min(map(loss, 10.0 ** np.arange(-4, 2))) + 0.15
    assert len(rate.rates) == len(rate.losses) <= 100 and rate.rates[0] == 1e-6 and np.isfinite(rate.losses).all()


def test_a_search_for_a_rate_changes_no_model_and_has_its_refusals():
    model = LogisticRegression(4, 3)
    before = {name: np.copy(x) for name, x in model.inputDict().items()}
    assert len(find_rate(model, (X, LABELS), batch_size=8, greatest=1.0, steps=20).rates) == 20  # as it falls until then
    assert all(np.array_equal(x, before[name]) for name, x in model.inputDict().items())
    assert "find_rate has no setting 'lr'" in refusal(find_rate, model, (X, LABELS), lr=0.1)
    assert "lbfgs finds its own step size" in refusal(find_rate, model, (X, LABELS), optimizer="lbfgs")
    assert len(find_rate(model, (X, LABELS), batch_size=8, greatest=1.0, steps=10).rates) == 10
    assert "at least 10 steps" in refusal(find_rate, model, (X, LABELS), steps=9)
    assert "the loss falls at no rate from 100 to 1000" in refusal(find_rate, model, (X, LABELS), least=100, greatest=1000)


def test_a_setting_that_fit_lacks_is_named_with_the_nearest():
    words = refusal(train, epoch=3)
    assert "fit has no setting 'epoch'; there are validation, epochs" in words and "did you mean 'epochs'" in words
