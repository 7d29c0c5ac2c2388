"""Facts about schedules: their values, that they change no program, and that a checkpoint knows them."""

import numpy as np
import pytest

import xman.train.step
from xman import XManError
from xman.models import LogisticRegression
from xman.train import OPTIMIZERS, cosine, exponential, fit, in_turn, product, step_decay, warm_up

LABELS = np.arange(30) % 3
X = np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32)


def train(schedule=None, lr=0.1, **settings):
    return fit(LogisticRegression(4, 3), (X, LABELS), lr=lr, schedule=schedule,
               **{"epochs": 4, "batch_size": 8, "progress": False, **settings})


def bits(result):
    return {name: w.tobytes() for name, w in result.parameters.items()}


@pytest.mark.parametrize("schedule, steps, factors", [
    (step_decay(3), [1, 3, 4, 6, 7], [1, 1, 0.1, 0.1, 0.01]), (step_decay(2, 0.5), [1, 2, 3, 5], [1, 1, 0.5, 0.25]),
    (exponential(0.5), [1, 2, 5], [1, 0.5, 1 / 16]), (cosine(4), [1, 2, 3, 5, 9], [1, 0.5 + 0.125 ** 0.5, 0.5, 0, 0]),
    (cosine(2, 0.2), [1, 2, 3], [1, 0.6, 0.2]), (warm_up(4), [1, 2, 4, 9], [0.25, 0.5, 1, 1]),
    (product(warm_up(4), exponential(0.5)), [1, 2, 5], [0.25, 0.25, 1 / 16]), (product(), [1], [1]),
    (in_turn(warm_up(2), 2, exponential(0.5)), [1, 2, 3, 4, 5], [0.5, 1, 1, 0.5, 0.25])])
def test_a_schedule_gives_these_factors_at_these_steps(schedule, steps, factors):
    assert [schedule(t) for t in steps] == pytest.approx(factors, abs=1e-15)


@pytest.mark.parametrize("make", [lambda: step_decay(0), lambda: step_decay(3, -1), lambda: exponential(np.nan),
                                  lambda: cosine(0), lambda: cosine(3, -1.0), lambda: cosine("10"), lambda: warm_up(0),
                                  lambda: in_turn(warm_up(1), -1, warm_up(1))])
def test_what_is_no_number_of_steps_or_factor_is_refused(make):
    with pytest.raises(XManError, match="of a schedule is a number of at least [01], not"):
        make()


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_schedule_of_ones_changes_no_bit_and_one_of_halves_is_half_the_rate(optimizer):
    assert bits(train(lambda t: 1.0, optimizer=optimizer)) == bits(train(optimizer=optimizer))
    assert bits(train(lambda t: 0.5, lr=0.5, optimizer=optimizer)) == bits(train(lr=0.25, optimizer=optimizer))


def test_a_schedule_is_asked_for_each_step_by_its_number_from_1_on():
    asked = []
    train(lambda t: asked.append(t) or 1.0)
    assert asked == list(range(1, 17))


def test_a_schedule_multiplies_the_rates_of_all_parameters():
    halved, held = train(lambda t: 0.5, lr={"W": 0.5, "b": 1.0}), train(lr={"W": 0.25, "b": 0.5})
    assert bits(halved) == bits(held)


def test_a_run_compiles_its_list_once_for_whole_minibatches_and_once_for_the_last(monkeypatch):
    made, Compiled = [], xman.train.step.Compiled
    monkeypatch.setattr(xman.train.step, "Compiled", lambda *args, **more: made.append(Compiled(*args, **more)) or made[-1])
    monkeypatch.setattr(xman.train.step, "WORTH_COMPILING", 1)
    train(cosine(16), optimizer="adam", weight_decay=0.1, clip=1.0)
    assert [(program.requested, len(program._programs)) for program in made] == [("auto", 1), ("numpy", 1)]
    made.clear()
    train(batch_size=1000)
    assert [program.requested for program in made] == ["auto"]
    monkeypatch.setattr(xman.train.step, "WORTH_COMPILING", 400)
    made.clear()
    train(batch_size=1000)
    assert [program.requested for program in made] == ["numpy"]
    made.clear()
    loop = xman.models.RNN(2, 3, 2, steps=4, unrolled=False)  # which NumPy would run in Python, step by step
    fit(loop, (np.ones((6, 4, 2), np.float32), np.eye(2, dtype=np.float32)[[0, 1] * 3]), epochs=1, batch_size=4, progress=False)
    assert [program.requested for program in made] == ["auto", made[0].engine]


@pytest.mark.parametrize("schedule, words", [
    (lambda t: -1.0, "the schedule gives -1.0 at step 1"), (lambda t: 1.0 if t < 5 else np.nan, "gives nan at step 5"),
    (lambda t: np.inf, "gives inf at step 1"), (0.5, "a schedule is a function from the number of the step"),
    ("cosin", "not 'cosin'; did you mean 'cosine'")])
def test_what_is_no_factor_is_refused_with_the_step(schedule, words):
    with pytest.raises(XManError, match=words):
        train(schedule)


@pytest.fixture
def path(tmp_path):
    pytest.importorskip("safetensors")
    return tmp_path / "run.safetensors"


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_run_with_all_settings_goes_on_from_its_checkpoint_to_the_same_bits(path, optimizer):
    settings = {"schedule": product(warm_up(5), cosine(20)), "optimizer": optimizer, "weight_decay": 0.01, "clip": 0.5,
                "clip_value": 0.3}
    train(checkpoint=path, epochs=2, **settings)
    assert bits(train(checkpoint=path, **settings)) == bits(train(**settings))


@pytest.mark.parametrize("change, words", [
    ({"schedule": cosine(30)}, "a run with another schedule"), ({"schedule": None}, "a run with another schedule"),
    ({"weight_decay": 0.2}, "a run with weight_decay 0.1, not 0.2"), ({"clip": 2.0}, "a run with clip 1.0, not 2.0"),
    ({"clip_value": None}, "a run with clip_value 1.0, not None")])
def test_a_checkpoint_of_a_run_with_other_settings_is_refused_and_left_alone(path, change, words):
    settings = {"schedule": cosine(20), "weight_decay": 0.1, "clip": 1.0, "clip_value": 1.0, "checkpoint": path}
    train(epochs=2, **settings)
    before = path.read_bytes()
    with pytest.raises(XManError) as caught:
        train(**settings | change)
    assert words in str(caught.value) and str(path) in str(caught.value) and path.read_bytes() == before
