"""Cross-validation and searches: which rows are seen, what is chosen, what is refused."""

import numpy as np
import pytest

from xman import XManError
from xman.models import MLP, LogisticRegression
from xman.train import cross_validate, evaluate, fit, search, selection
from xman.train.run import Run
from xman.train.selection import Trial, mean_of

R = np.random.default_rng(2)
LABELS = np.repeat([0, 1, 2], [30, 12, 6])
X = np.eye(3, 4)[LABELS] * 2 + 0.4 * R.standard_normal((48, 4))
DATA = X, LABELS
QUICK = {"epochs": 3, "batch_size": 16, "progress": False}


def model(classes=3):
    return LogisticRegression(4, classes, dtype=np.float64)


def refusal(call, *args, **named):
    with pytest.raises(XManError) as caught:
        call(*args, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def seen(data, folds, **settings):
    """For each fold the first columns of the rows that it trains on, without repetition."""
    network, rows = model(), []

    def feed(X, y):
        rows.append(X[:, 0].copy())
        return LogisticRegression.feed(network, X, y)

    network.feed, found = feed, []
    for _ in cross_validate(network, data, folds, **{**QUICK, "epochs": 1, **settings}):
        found = rows
    ends = [k for k, part in enumerate(found) if len(part) == 1 and k] + [len(found)]  # a fold begins with a look at one row
    return [np.concatenate(found[a + 1:b]) for a, b in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize("folds", [2, 3, 6])
def test_each_fold_trains_on_the_rows_that_it_is_not_judged_on(folds):
    for rows in seen(DATA, folds):  # the last of them are those that it is judged on
        assert sorted(rows) == sorted(X[:, 0])
    tests = [set(rows[-(48 // folds):]) for rows in seen(DATA, folds)]
    assert set().union(*tests) == set(X[:, 0]) and sum(map(len, tests)) == 48


def test_each_fold_has_its_share_of_each_class():
    place = {x: label for x, label in zip(X[:, 0], LABELS, strict=True)}
    for rows in seen(DATA, 6):
        assert np.bincount([place[x] for x in rows[-8:]], minlength=3).tolist() == [5, 2, 1]


def test_a_fold_is_what_fit_and_evaluate_come_to():
    trials = cross_validate(model(), DATA, 4, seed=3, **QUICK)
    order = np.random.default_rng(3).permutation(48)
    some = np.sort(order[np.argsort(LABELS[order], kind="stable")][0::4])
    kept = np.setdiff1d(np.arange(48), some)
    result = fit(model(), (X[kept], LABELS[kept]), seed=3, **QUICK)
    assert trials[0][:3] == ({"fold": 1}, *evaluate(model(), result.parameters, (X[some], LABELS[some])))
    assert len({trial.loss for trial in trials}) == 4


def test_weights_go_with_their_rows():
    weights = np.where(LABELS == 2, 0.0, 1.0 + np.arange(48))
    alone = cross_validate(model(), DATA, 3, sample_weight=weights, **QUICK)[1]
    order = np.random.default_rng(0).permutation(48)
    kept = np.setdiff1d(order, order[np.argsort(LABELS[order], kind="stable")][1::3])
    same = fit(model(), (X[kept], LABELS[kept]), sample_weight=weights[kept], **QUICK)
    assert np.array_equal(alone.result.parameters["W"], same.parameters["W"])


def test_a_search_tries_every_combination_and_sorts_them_by_the_loss(capsys):
    trials = search(model(), DATA, {"lr": [1e-6, 0.5], "optimizer": ["sgd", "adam"]}, validation=DATA,
                    **QUICK | {"progress": True})
    assert sorted((t.settings["lr"], t.settings["optimizer"]) for t in trials) == [
        (1e-6, "adam"), (1e-6, "sgd"), (0.5, "adam"), (0.5, "sgd")]
    losses = [trial.loss for trial in trials]
    assert losses == sorted(losses) and trials[0].settings["lr"] == 0.5
    for trial in trials:
        assert trial.loss == min(row["validation_loss"] for row in trial.result.history)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 4 and said[0].startswith("lr 1e-06  optimizer sgd  validation 0.7366  acc")


def test_progress_is_shown_unless_it_is_not_wanted(capsys):
    search(model(), DATA, {"lr": [0.1]}, validation=DATA, **QUICK)
    cross_validate(model(), DATA, 2, **QUICK)
    assert capsys.readouterr() == ("", "")
    cross_validate(model(), DATA, 2, epochs=1, batch_size=16)
    assert len(capsys.readouterr().err.splitlines()) >= 2  # a fold's own, if nothing is said about it


def test_without_validation_the_loss_is_the_mean_over_folds():
    trials = search(model(), DATA, {"l2": [0.0, 5.0]}, folds=3, **QUICK)
    folds = cross_validate(model(), DATA, 3, l2=0.0, **QUICK)
    assert trials[0].settings == {"l2": 0.0} and trials[0].loss == pytest.approx(np.mean([fold.loss for fold in folds]))
    assert trials[0].accuracy == pytest.approx(np.mean([fold.accuracy for fold in folds]))


def test_the_mean_of_folds_is_of_losses_and_accuracies_and_has_the_result_of_the_worst():
    folds = [Trial({}, loss, accuracy, f"result {k}") for k, loss, accuracy in ((1, 1.0, 0.5), (2, 4.0, 0.8), (3, 2.5, 0.2))]
    assert mean_of(folds) == ({"folds": 3}, 2.5, 0.5, "result 2", (1.0, 4.0, 2.5))
    assert mean_of([folds[0], folds[1]._replace(accuracy=None)])[:4] == ({"folds": 2}, 2.5, None, "result 2")


def test_what_makes_models_is_given_the_combination():
    trials = search(lambda hidden, lr: MLP([4, hidden, 3]), DATA, {"hidden": [2, 7], "lr": [0.1]}, validation=DATA, **QUICK)
    assert {t.settings["hidden"]: t.result.parameters["W1"].shape for t in trials} == {2: (4, 2), 7: (4, 7)}


def test_a_trial_that_diverges_is_the_last():
    trials = search(MLP([4, 3, 3], activation="relu", loss="squaredError"), DATA, {"lr": [1e30, 0.01]}, validation=DATA, **QUICK)
    assert trials[0].settings == {"lr": 0.01} and trials[1].loss == np.inf and "a learning rate below" in trials[1].result.reason


@pytest.mark.parametrize("call, said", [
    (lambda: cross_validate(model(), DATA, 1), "folds is a whole number from 2 to the number of rows, 48, not 1"),
    (lambda: cross_validate(model(), DATA, 49), "not 49"),
    *[(lambda grid=grid: search(model(), DATA, grid), "the grid is a dict") for grid in ({}, {"lr": 0.1}, {"lr": []})]])
def test_what_cannot_be_searched_is_refused(call, said):
    assert said in refusal(call)


def test_a_random_search_draws_from_lists_and_distributions():
    from scipy.stats import loguniform
    trials = search(model(), DATA, {"lr": loguniform(1e-3, 1), "optimizer": ["sgd", "adam"]}, draws=4, validation=DATA, **QUICK)
    rates = {trial.settings["lr"] for trial in trials}
    assert len(rates) == len(trials) == 4 and all(1e-3 <= rate <= 1 for rate in rates)
    assert len(search(model(), DATA, {"lr": [0.1, 0.2, 0.3]}, draws=2, validation=DATA, **QUICK)) == 2


def test_trials_have_checkpoints_of_their_own_and_are_not_made_again(tmp_path, monkeypatch):
    path = tmp_path / "run.safetensors"
    settings = {"folds": 2, "epochs": 1, "progress": False, "checkpoint": path}
    first = search(model(), DATA, {"lr": [0.1, 0.2]}, **settings)
    assert {p.stem for p in tmp_path.iterdir()} == {f"run-{k}" for k in (1, 2, 3, 4)}
    monkeypatch.setattr(Run, "steps", lambda *_: pytest.fail("a step was taken"))
    assert [t.loss for t in search(model(), DATA, {"lr": [0.1, 0.2]}, **settings)] == [t.loss for t in first]


def test_a_fold_that_diverges_ends_cross_validation_and_ctrl_c_ends_all(monkeypatch):
    wild = MLP([4, 3, 3], activation="relu", loss="squaredError")
    with pytest.raises(XManError, match="not finite"):
        cross_validate(wild, DATA, 2, lr=1e30, **QUICK)
    assert [t.loss for t in search(wild, DATA, {"lr": [1e30]}, folds=2, **QUICK)] == [np.inf]
    real = selection.fit
    monkeypatch.setattr(selection, "fit", lambda *args, **named: real(*args, **named)._replace(reason="interrupted in epoch 1"))
    for call in lambda: cross_validate(model(), DATA, 2, **QUICK), lambda: search(model(), DATA, {"lr": [0.1]}, validation=DATA,
        **QUICK):
        with pytest.raises(KeyboardInterrupt):
            call()


def test_combinations_are_all_in_order_or_some_drawn_by_the_seed():
    from scipy.stats import uniform
    grid = {"lr": [1, 2, 3], "l2": (4, 5), "seed": np.array([6])}
    every = [(a, b, 6) for a in (1, 2, 3) for b in (4, 5)]
    assert selection.combinations_of(grid, None, 0) == every and sorted(selection.combinations_of(grid, 6, 0)) == every
    some = selection.combinations_of(grid, 4, 1)
    assert len({*some}) == 4 and {*some} <= {*every} and some == selection.combinations_of(grid, 4,
        1) != selection.combinations_of(grid, 4, 2)
    mixed = selection.combinations_of({"a": uniform(2, 3), "b": ["x", "y"]}, 40, 3)
    random = np.random.default_rng(3)
    assert mixed == [(2 + 3 * random.random(), ["x",
        "y"][random.integers(2)]) for _ in range(40)] and all(type(a) is float for a, _ in mixed)
    assert "the grid is a dict" in refusal(search, model(), DATA, {"lr": uniform(0,
        1)}) and "the grid is a dict" in refusal(search, model(), DATA, {"lr": "ab"})
    assert "the grid is a dict" in refusal(search, model(), DATA, {"lr": [1], "l2": ()}, draws=2)


def test_a_line_of_progress_says_settings_loss_and_accuracy():
    trial = Trial({"lr": 0.01, "batch_size": 32}, 0.12344, 0.965, None)
    assert selection.trial_text(trial) == "lr 0.01  batch_size 32  validation 0.1234  accuracy 96.50%"
    assert selection.trial_text(trial._replace(accuracy=None, settings={})) == "validation 0.1234"


def test_the_rows_of_a_fold_and_its_settings():
    y = np.arange(10.0)  # no classes
    rows, unseen, settings = selection.fold_of((y[:, None], y), 1, 4, seed=5, sample_weight=y, lr=0.3)
    order = np.random.default_rng(5).permutation(10)
    assert sorted(unseen[1]) == sorted(order[1::4]) and np.array_equal(rows[1], np.setdiff1d(y,
        unseen[1])) and np.array_equal(rows[0][:, 0], rows[1])
    assert {**settings, "sample_weight": settings["sample_weight"].tolist()} == {"seed": 5, "lr": 0.3,
        "sample_weight": rows[1].tolist()}
    assert selection.fold_of((y[:, None], y), 1, 4, lr=0.3)[2] == {"seed": 0, "lr": 0.3}
    assert selection.folds_of(DATA, np.int64(3)) == range(3) and selection.folds_of(DATA,
        2) == range(2) and selection.folds_of(DATA, 48) == range(48)
    assert "not 2.0" in refusal(selection.folds_of, DATA,
        2.0) and "from 2 to the number of rows, 48, not 0" in refusal(selection.folds_of, DATA, 0)


def test_trials_hold_the_network_and_the_validation_of_ones_own_settings():
    network = model()
    trials = search(network, DATA, {"lr": [0.1]}, validation=(X[:9], LABELS[:9]), seed=4, **QUICK)
    assert trials[0].result.network is network
    alone = fit(model(), DATA, validation=(X[:9], LABELS[:9]), lr=0.1, seed=4, **QUICK)
    assert np.array_equal(alone.parameters["W"], trials[0].result.parameters["W"])
    both = cross_validate(network, DATA, 2, seed=4, **QUICK)
    assert [t.settings for t in both] == [{"fold": 1}, {"fold": 2}] and all(t.result.network is network for t in both)
    made = []
    search(lambda lr, **more: made.append((lr, more)) or model(), DATA, {"lr": [0.1], "width": [3]}, validation=DATA, **QUICK)
    assert made == [(0.1, {"width": 3})]


def test_what_workers_compare_of_a_case_is_what_decides_its_outcome():
    of = lambda validation=DATA, **settings: selection.case_facts(DATA, validation, MLP([4, 2, 3]), QUICK | settings)
    assert "first values" in of() and of() == of(progress=True, checkpoint="no/such/folder/run.safetensors")
    for other in of(seed=1), of(lr=0.3), of(validation=(X[:9], LABELS[:9])):
        assert other.keys() == of().keys() and other != of()


WORDS = np.array(["ant", "bee", "cat"])[LABELS]


@pytest.mark.parametrize("judge", [
    lambda y: cross_validate(model(), (X, y), 3, **QUICK), lambda y: search(model(), (X, y), {"lr": [0.1]}, folds=2, **QUICK),
    lambda y: search(model(), (X, y), {"lr": [0.1]}, validation=(X[:35], y[:35]), **QUICK)], ids=["folds", "search", "rows"])
def test_targets_that_are_strings_are_judged_as_their_places_are(judge):
    numbers, words = judge(LABELS), judge(WORDS)
    assert [trial[1:3] for trial in words] == [trial[1:3] for trial in numbers] and words[0].accuracy is not None
    assert {trial.result.classes for trial in words} == {("ant", "bee", "cat")}


def test_a_class_that_a_fold_lacks_keeps_its_place():
    words = np.where(np.arange(48) == 0, "aardvark", WORDS)
    labels = np.where(np.arange(48) == 0, 0, LABELS + 1)
    by_word, by_number = (cross_validate(model(4), (X, y), 3, **QUICK) for y in (words, labels))
    assert [trial.loss for trial in by_word] == [trial.loss for trial in by_number]


def test_evaluate_is_told_the_classes_of_strings():
    result = fit(model(), (X, WORDS), **QUICK)
    judged = evaluate(model(), result.parameters, (X[36:], WORDS[36:]), classes=result.classes)
    assert judged == evaluate(model(), result.parameters, (X[36:], LABELS[36:]))
    assert "classes=fit(…).classes" in refusal(evaluate, model(), result.parameters, (X[36:], WORDS[36:]))
