"""Facts about steps that overwrite the parameters: what Ctrl-C, a NaN and another engine leave."""

import importlib.util
import signal
import threading

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import xman.train.step
from xman import XMan, XManError, f
from xman.engines import Compiled
from xman.files.container import restore, save
from xman.models import LSTM, MLP, LogisticRegression
from xman.scale.signals import CtrlC
from xman.train import OPTIMIZERS, Diverged, evaluate, fit

LABELS = np.arange(30) % 3
X = np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32)
ctrl_c_is_heard = pytest.mark.skipif(signal.getsignal(signal.SIGINT) == signal.SIG_IGN, reason="this process ignores Ctrl-C")


def train(model=None, data=(X, LABELS), **settings):
    return fit(model or MLP([4, 6, 3]), data, **{"epochs": 4, "batch_size": 8, "lr": 0.05, "progress": False, **settings})


def bits(result):
    return {name: w.tobytes() for name, w in result.parameters.items()}


@pytest.fixture
def path(tmp_path):
    pytest.importorskip("safetensors")
    return tmp_path / "run.safetensors"


# Ctrl-C


def interrupted(n):
    """Compiled, of programs in whose n-th run all in all Ctrl-C comes while half of the arrays are written."""
    calls = []

    def compile_for_test(steps, outputs, engine, inplace, adapts):
        program = Compiled(steps, outputs, engine, inplace, adapts)

        def step(values):
            calls.append(1)
            if len(calls) == n:
                half = {name: values[name].copy() for name in list(inplace)[::2]}
                for name in half:
                    values[name][...] = np.nan
                signal.raise_signal(signal.SIGINT)
                for name, a in half.items():
                    values[name][...] = a
            return program(values)
        step.engine = engine
        return step
    return compile_for_test


@ctrl_c_is_heard  # run 1 is a trial of the program and run 5 that of the one for the last minibatch, which is smaller
@pytest.mark.parametrize("n, t", [(1, 0), (2, 1), (4, 3), (5, 3), (6, 4), (9, 7)])
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_ctrl_c_in_the_middle_of_a_step_leaves_a_whole_state_that_goes_on_to_the_same_bits(path, monkeypatch, optimizer, n, t):
    with monkeypatch.context() as patch:
        patch.setattr(xman.train.step, "Compiled", interrupted(n))
        assert train(checkpoint=path, optimizer=optimizer).reason.startswith("interrupted in epoch")
    arrays, facts = restore(path)
    assert facts["state"]["t"] == t and all(np.isfinite(a).all() for a in arrays.values())
    assert bits(train(checkpoint=path, optimizer=optimizer)) == bits(train(optimizer=optimizer))


@ctrl_c_is_heard
def test_ctrl_c_waits_while_it_is_held_and_is_as_before_afterwards():
    before = signal.getsignal(signal.SIGINT)
    with CtrlC() as ctrl_c:
        ctrl_c.deferred = True
        signal.raise_signal(signal.SIGINT)
        ctrl_c.deferred = False
        assert ctrl_c.waiting
        with pytest.raises(KeyboardInterrupt):
            ctrl_c.deliver()
        assert not ctrl_c.waiting
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_run_in_another_thread_leaves_ctrl_c_to_the_main_thread():
    before, results = signal.getsignal(signal.SIGINT), []
    model = MLP([4, 6, 3])
    model.feed = lambda X, y: results.append(signal.getsignal(signal.SIGINT)) or MLP.feed(model, X, y)
    thread = threading.Thread(target=lambda: results.append(bits(train(model))))
    thread.start()
    thread.join()
    assert results.pop() == bits(train()) and set(results) == {before}


# a run that diverges


class Log(XMan):
    """w descends by 0.6 a row, whatever y is, and then the logarithm is that of a negative number."""
    X, y = f.input(), f.input()
    w = f.param(default=2.0)
    score = f.log(w)
    loss = f.mean(0.0 * X + w + 0.0 * score)


ONES = np.ones((10, 1))


@pytest.mark.parametrize("optimizer, minibatch", [("sgd", 5), ("momentum", 4)])  # of 1, or 1, 1.9, 2.71, times 0.6
def test_the_first_register_with_a_nan_is_found_in_the_middle_of_an_epoch(optimizer, minibatch):
    with pytest.raises(Diverged, match=f"epoch 1, minibatch {minibatch}: .*'score' .score = log.w.*below 0.6") as caught:
        train(Log(), (ONES, ONES), batch_size=1, lr=0.6, optimizer=optimizer)
    assert caught.value.result.parameters == {"w": 2.0}


def test_the_search_for_the_register_takes_the_steps_as_they_were_with_their_numbers_and_rates():
    with pytest.raises(Diverged, match="epoch 2, minibatch 5: .*'score' .score = log.w"):
        train(Log(), (ONES, ONES), batch_size=1, lr=0.6, schedule=lambda t: float(10 < t < 15))


class Root(XMan):
    """Its value is finite, and the derivative by v infinite where y is not 0."""
    X, y, w, v = f.input(), f.input(), f.param(default=1.0), f.param(default=0.0)
    inside = v * X
    loss = f.mean(f.where(y > 0, f.sqrt(inside), w * X))


SEVENTH = np.zeros((10, 1))
SEVENTH[np.random.default_rng([0, 1]).permutation(10)[6]] = 1.0  # in the order of epoch 1


def test_a_parameter_that_is_not_finite_at_the_end_of_an_epoch_stops_the_run_at_the_step_that_made_it_so():
    with pytest.raises(Diverged, match="epoch 1, minibatch 7: the first delta that is not finite is that of 'inside'"):
        train(Root(), (ONES, SEVENTH), batch_size=1)


def test_ctrl_c_saves_no_parameter_that_is_not_finite(path):
    def feed(X, y):
        calls.append(1)
        if len(calls) == 10:  # the first is a look at the shapes
            raise KeyboardInterrupt
        return {"X": X, "y": y}

    model, calls = Root(), []
    model.feed = feed
    with pytest.raises(Diverged, match="epoch 1, minibatch 7: .*'inside'"):
        train(model, (ONES, SEVENTH), batch_size=1, checkpoint=path)
    assert not path.exists()


def test_the_parameters_kept_are_those_of_the_best_epoch_when_a_later_one_breaks():
    with pytest.raises(Diverged, match="epoch 3, minibatch 2") as caught:  # two steps an epoch: 2, 1.6, 1.2, 0.8, 0.4, 0
        train(Log(), (ONES, ONES), batch_size=5, lr=0.4 + 1e-9)
    assert caught.value.result.best == 2 and abs(caught.value.result.parameters["w"] - 0.4) < 1e-8
    assert np.isfinite(evaluate(Log(), caught.value.result.parameters, (ONES, ONES))[0])


class Falling(XMan):
    """w goes from 1 to 0, where the loss is 0 and its derivative infinite."""
    X, y, w = f.input(), f.input(), f.param(default=1.0)
    loss = f.mean(f.sqrt(w) + 0.0 * X)


@pytest.mark.parametrize("model, lr, epoch, kept", [(Log, 0.6, 5, 0.2), (Falling, 2.0, 2, 0.0)])
def test_the_last_parameters_are_kept_where_their_loss_was_seen_and_those_before_them_where_it_was_nan(model, lr, epoch, kept):
    with pytest.raises(Diverged, match=f"epoch {epoch}, minibatch 1") as caught:
        train(model(), (ONES, ONES), batch_size=10, lr=lr, epochs=9)
    assert abs(caught.value.result.parameters["w"] - kept) < 1e-12


def test_a_feed_that_gives_a_nan_once_is_caught_with_what_it_gave():
    model, calls = MLP([4, 6, 3]), []
    model.feed = lambda x, y: calls.append(1) or MLP.feed(model, x * (np.nan if len(calls) == 8 else 1), y)
    with pytest.raises(Diverged, match="epoch 2, minibatch 3: the first register with a NaN is 'X'"):
        train(model)


@ctrl_c_is_heard
def test_ctrl_c_ends_the_search_for_the_register():
    model, calls = MLP([4, 6, 3]), []

    def feed(x, y):
        calls.append(1)
        if len(calls) == 6:  # in the search, which begins the epoch anew
            signal.raise_signal(signal.SIGINT)
        return MLP.feed(model, x * (np.nan if len(calls) == 5 else 1), y)

    model.feed = feed
    with pytest.raises(Diverged, match="epoch 1, minibatch 4: Ctrl-C ended the search"):
        train(model)


# engines


HERE = ["numpy", *(["llvm"] if importlib.util.find_spec("llvmlite") else [])]
SEQUENCES = np.eye(4, dtype=np.float32)[np.random.default_rng(1).integers(0, 4, (30, 3))]


MODELS = {"mlp": (lambda: MLP([4, 6, 3], activation="relu", loss="crossEntropy"), X),
          "logreg": (lambda: LogisticRegression(4, 3, dtype=float), X),
          "sparse": (lambda: LogisticRegression(4, 3), csr_matrix(np.where(X > 0, X, 0))),
          "lstm": (lambda: LSTM(4, 5, 3, steps=3), SEQUENCES),
          "hinge": (lambda: MLP([4, 6, 3], loss="hinge"), X)}


CASES = [*((optimizer, "mlp") for optimizer in OPTIMIZERS), *(("adam", model) for model in MODELS if model != "mlp")]
FEW = [("adamw", "mlp"), ("adam", "sparse")]  # to compile each takes a while
SETTINGS = {"weight_decay": 1e-3, "clip": 1.0, "lr": 0.01}


@pytest.mark.parametrize("engine, optimizer, model", [(engine, *case) for engine in HERE
                                                      for case in (FEW if engine == "llvm" else CASES)])
def test_the_engines_agree_with_the_interpreter(engine, optimizer, model):
    model, x = MODELS[model]
    one, two = (train(model(), (x, LABELS), engine=name, optimizer=optimizer, **SETTINGS) for name in (engine, "interpret"))
    for name, w in two.parameters.items():
        np.testing.assert_allclose(one.parameters[name], w, rtol=1e-3, atol=1e-4)
        assert one.parameters[name].dtype == w.dtype
    for row, wanted in zip(one.history, two.history, strict=True):
        assert row["loss"] == pytest.approx(wanted["loss"], rel=1e-4)


@pytest.mark.parametrize("engine", HERE)
def test_a_run_goes_on_from_its_checkpoint_to_the_same_bits_with_each_engine(path, engine):
    run = lambda **more: train(MODELS["mlp"][0](), engine=engine, optimizer="adamw", **SETTINGS, **more)
    run(checkpoint=path, epochs=2)
    assert bits(run(checkpoint=path)) == bits(run())


def test_an_engine_that_is_not_there_is_refused_by_its_name():
    with pytest.raises(XManError, match="there is no engine 'numpi'; there are .*; did you mean 'numpy'"):
        train(engine="numpi")


def test_the_loss_of_a_saturated_softmax_is_finite():
    model = MLP([4, 3], loss="crossEntropy")
    result = train(model, (X * 1e3, LABELS), validation=(X * 1e3, LABELS), epochs=2, lr=1.0)
    assert np.isfinite([row[key] for row in result.history for key in ("loss", "validation_loss")]).all()


@pytest.mark.parametrize("engine", ["interpret", *HERE])
def test_parameters_of_several_precisions_and_without_entries_keep_their_kinds(engine):
    class Mixed(XMan):
        X, y = f.input(), f.input()
        single, double = f.param(default=np.ones((1, 1), np.float32)), f.param(default=np.ones((1, 1)))
        none = f.param(default=np.zeros((0, 2)))
        loss = f.mean(f.squaredError(X @ (single + double), y)) + f.sum(none)

    found = train(Mixed(), (ONES, 0 * ONES), lr=0.1, optimizer="adam", engine=engine).parameters
    assert [found[name].dtype for name in ("single", "double", "none")] == [np.float32, np.float64, np.float64]
    assert found["none"].shape == (0, 2) and abs(found["double"]) < 0.5 and abs(found["single"] - found["double"]) < 1e-6


# checkpoints of another version


@pytest.mark.parametrize("facts", [{}, {"format": 1}, {"settings": {"optimizer": "sgd", "lr": 0.05, "batch_size": 8, "seed": 0}}])
def test_a_checkpoint_of_another_version_is_refused_in_a_sentence_and_left_alone(path, facts):
    save(path, {"parameters/W1": X}, facts)
    before = path.read_bytes()
    with pytest.raises(XManError) as caught:
        train(checkpoint=path)
    assert str(caught.value) == f"the checkpoint {path} is of another version of xman; move it away to begin anew"
    assert path.read_bytes() == before
