"""Estimators of scikit-learn: its own checks, and what people do with estimators."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("sklearn")

from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from xman import XManError
from xman.estimators import XManClassifier, XManRegressor
from xman.models import MLP, LogisticRegression
from xman.optimize.minimize import WITH_PRODUCTS

LINEAR = {"model": (), "engine": "interpret"}
IRIS = load_iris(return_X_y=True)
SLOW = [{}, {"model": (8,), "optimizer": "adam", "lr": 0.02, "batch_size": 100}]


@parametrize_with_checks([XManClassifier(**LINEAR), XManRegressor(**LINEAR)])
def test_every_check_of_the_installed_scikit_learn_passes(estimator, check):
    check(estimator)


@pytest.mark.skipif(not os.environ.get("XMAN_ALL_CASES"), reason="minutes; XMAN_ALL_CASES=1 runs it")
@pytest.mark.parametrize("settings", [LINEAR, *SLOW, *({**LINEAR, "optimizer": each} for each in WITH_PRODUCTS)], ids=str)
def test_every_check_passes_of_networks_too_and_none_is_skipped(settings):
    code = ("import warnings; warnings.simplefilter('ignore')\n"
            "from sklearn.utils.estimator_checks import check_estimator\n"
            "from xman.estimators import XManClassifier, XManRegressor\n"
            f"print({{x['status'] for kind in (XManClassifier, XManRegressor) for x in check_estimator(kind(**{settings}))}})")
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout == "{'passed'}\n", done.stderr


def test_without_hidden_layers_they_are_scikit_learns_linear_models():
    X, y = StandardScaler().fit_transform(IRIS[0]), IRIS[1]
    ours = XManClassifier((), l2=0.1, optimizer="trust-krylov", tolerance=1e-9).fit(X, y)
    theirs = Theirs(C=1 / (0.1 * len(y)), tol=1e-9, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    X, y = load_diabetes(return_X_y=True)
    ours = XManRegressor((), l2=0.01, optimizer="trust-krylov", tolerance=1e-8).fit(X, y)  # half the mean square
    np.testing.assert_allclose(ours.predict(X), Ridge(alpha=0.01 * len(y)).fit(X, y).predict(X), rtol=1e-6)


def test_in_pipelines_and_grids_they_learn_iris():
    pipeline = make_pipeline(StandardScaler(), XManClassifier((8,), epochs=60, random_state=0))
    assert cross_val_score(pipeline, *IRIS, cv=3).mean() > 0.93
    grid = GridSearchCV(pipeline, {"xmanclassifier__l2": [1e-3, 10.0], "xmanclassifier__model": [(), (4,)]}, cv=2).fit(*IRIS)
    assert grid.best_params_["xmanclassifier__l2"] == 1e-3 and grid.score(*IRIS) > 0.93


def test_string_labels_feature_names_and_sparse_rows():
    pandas = pytest.importorskip("pandas")
    names = np.array(["setosa", "versicolor", "virginica"])
    frame = pandas.DataFrame(IRIS[0], columns=list("abcd"))
    settings = {"model": (), "l2": 0.1, "optimizer": "trust-ncg", "tolerance": 1e-10}  # an end that no rounding moves by 1e-6
    fitted = XManClassifier(**settings).fit(frame, names[IRIS[1]])
    assert list(fitted.feature_names_in_) == list("abcd") and list(fitted.classes_) == list(names)
    assert fitted.score(frame, names[IRIS[1]]) > 0.95
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame[list("dcba")])
    sparse = XManClassifier(**settings).fit(csr_array(IRIS[0]), names[IRIS[1]])
    np.testing.assert_allclose(sparse.predict_proba(csr_array(IRIS[0])), fitted.predict_proba(frame), rtol=1e-6)


@pytest.mark.parametrize("optimizer", ["adam", "L-BFGS-B"])
def test_steps_on_parts_learn_digits_go_on_after_a_pickle_and_take_weights(optimizer):
    X, y = load_digits(return_X_y=True)
    X, y = X.astype(np.float32) / 16, y
    model = XManClassifier((), optimizer=optimizer, lr=0.02, random_state=0)
    for k in range(0, 1500, 50):
        model = pickle.loads(pickle.dumps(model)) if k == 700 else model
        model.partial_fit(X[k:k + 50], y[k:k + 50], classes=range(10) if k == 0 else None)
    assert model.score(X[1500:], y[1500:]) > 0.8 and model.parameters_["W1"].dtype == np.float32
    half = y[:50] < 5
    all_of_it = clone(model).partial_fit(X[:50], y[:50], range(10), sample_weight=half * 50 / half.sum())
    some = clone(model).partial_fit(X[:50][half], y[:50][half], range(10))
    np.testing.assert_allclose(all_of_it.parameters_["W1"], some.parameters_["W1"], atol=1e-6)


def test_a_step_goes_on_from_where_fit_came_to():
    fitted = XManRegressor((), random_state=0, lr=1e-9).fit(*load_diabetes(return_X_y=True))
    before = fitted.parameters_["W1"]
    fitted.partial_fit(*load_diabetes(return_X_y=True))
    assert 0 < np.abs(fitted.parameters_["W1"] - before).max() < 1e-8


def test_one_seed_gives_the_same_bits_and_another_does_not():
    one, same, other = (XManClassifier((4,), optimizer="adam", epochs=3, random_state=seed).fit(*IRIS).predict_proba(IRIS[0])
                        for seed in (1, 1, 2))
    assert np.array_equal(one, same) and not np.array_equal(one, other)


class Sigmoid(LogisticRegression):
    """One output for two classes."""

    def __init__(self, features, outputs, seed=0):
        super().__init__(features, 1, loss="sigmoidCrossEntropy", seed=seed, dtype=np.float64)

    def feed(self, X, y):
        return {"X": X, "y": None if y is None else np.reshape(y, (-1, 1)) * 1.0}


class Vector(Sigmoid):
    """The same as a vector, a number for each row."""

    def __init__(self, features, outputs, seed=0):
        super().__init__(features, outputs, seed)
        self.outputs = self.outputs[:, 0]
        self.setup()


@pytest.mark.parametrize("model", [LogisticRegression, LogisticRegression(4, 2), MLP([4, 3, 2]), Sigmoid, Vector,
                                   lambda features, outputs: MLP([features, 5, outputs], activation="tanh")], ids=range(6))
def test_any_model_can_be_an_estimator(model):
    X, y = IRIS[0][:100], np.array(["no", "yes"])[IRIS[1][:100]]
    fitted = clone(XManClassifier(model, random_state=0)).fit(X, y)
    assert fitted.score(X, y) == 1 and fitted.predict_proba(X).shape == (100, 2)
    assert pickle.loads(pickle.dumps(fitted)).score(X, y) == 1 if model is LogisticRegression else True


def test_weights_of_classes_move_the_border():
    X, y = IRIS[0][50:], IRIS[1][50:]
    found = [np.sum(XManClassifier((), class_weight=w).fit(X, y).predict(X) == 2) for w in (None, {2: 50.0}, "balanced")]
    assert found[0] == found[2] < found[1]


@pytest.mark.parametrize("settings, said", [
    ({"model": "mlp"}, "model is a tuple of the sizes of hidden layers"),
    ({"optimizer": "lbfgs"}, "there is no optimizer 'lbfgs'"),
    ({"model": lambda features, outputs: 3}, "gave a int, which is no XMan"), ({"l2": -1}, "l2 is a number of at least 0")])
def test_settings_that_cannot_be_are_refused_when_it_is_fitted(settings, said):
    with pytest.raises(XManError) as caught:
        XManClassifier(**settings).fit(*IRIS)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_what_comes_later_has_to_fit_what_came_first():
    with pytest.raises(XManError, match="y has the class 3; there are 0, 1, 2"):
        XManClassifier(()).partial_fit(*IRIS).partial_fit(IRIS[0], IRIS[1] + 1)
    with pytest.raises(XManError, match="y has 2 targets a row, and the first rows had 1"):
        XManRegressor(()).partial_fit(*IRIS).partial_fit(IRIS[0], IRIS[0][:, :2])


def test_without_scikit_learn_the_error_names_the_extra():
    code = ("import sys; sys.modules['sklearn'] = None; import xman.estimators\n"
            "try: xman.estimators.XManClassifier\nexcept ValueError as error: print(error)")
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "XManClassifier, an estimator of scikit-learn, needs the package sklearn: pip install 'xman[sklearn]'\n"


def test_a_name_that_is_not_there_is_told_with_the_nearest():
    import xman.estimators
    with pytest.raises(AttributeError, match="did you mean 'XManClassifier'"):
        getattr(xman.estimators, "XmanClassifier")  # noqa: B009


@pytest.mark.parametrize("scale", [1e6, 1e-2, 1e-6, 1e-12])
def test_a_regressor_fits_targets_of_any_size_alike(scale):
    rows = np.random.default_rng(0).normal(size=(80, 3))
    y = np.stack([rows @ [1.0, 2.0, -1.0] + 5, rows @ [0.1, 0.0, 0.3]], 1)
    plain, sized = (XManRegressor((), l2=1e-3, random_state=0).fit(rows, s * y) for s in (1.0, scale))
    assert np.allclose(sized.predict(rows) / scale, plain.predict(rows), rtol=1e-4, atol=1e-4) and plain.score(rows, y) > 0.999


def test_scores_and_coefficients_are_those_of_scikit_learns_linear_models():
    X, y = StandardScaler().fit_transform(IRIS[0]), IRIS[1]
    for rows, l2, share in ((slice(None), 0.1, 1), (y < 2, 0.2, 2)):  # two columns share one weight
        ours = XManClassifier((), l2=l2, tolerance=1e-7).fit(X[rows], y[rows])
        theirs = Theirs(C=share / (l2 * len(y[rows])), tol=1e-9, max_iter=1000).fit(X[rows], y[rows])
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
        scores = ours.decision_function(X[rows])
        scores = scores - scores.mean(1, keepdims=True) if scores.ndim > 1 else scores
        np.testing.assert_allclose(scores, theirs.decision_function(X[rows]), atol=1e-3)
        assert ours.intercept_.shape == theirs.intercept_.shape
    X, y = load_diabetes(return_X_y=True)
    ours, theirs = XManRegressor((), l2=0.01, tolerance=1e-7).fit(X, y), Ridge(alpha=0.01 * len(y)).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.01)
    assert not hasattr(XManRegressor((3,), epochs=1).fit(X, y), "coef_") and not hasattr(XManRegressor(()), "coef_")


@pytest.mark.parametrize("settings", [{}, {"optimizer": "adam", "lr": 0.01, "dropout": 0.2}], ids=str)
def test_training_stops_early_on_rows_that_it_holds_out(settings):
    estimator = XManRegressor((40,), early_stopping=True, patience=3, random_state=0, **settings)
    estimator.fit(*load_diabetes(return_X_y=True))
    assert estimator.n_iter_ < 200 and estimator.reason_ == "no better for 3 epochs"
    assert "validation_loss" in estimator.history_[0]


def test_a_warm_start_begins_where_the_last_fit_ended():
    X, y = load_diabetes(return_X_y=True)
    warm = XManRegressor((4,), epochs=20, warm_start=True, random_state=0).fit(X, y)
    first, second = warm.history_[-1]["loss"], warm.fit(X, y).history_[0]["loss"]
    assert second <= first and XManRegressor((4,), epochs=20, random_state=0).fit(X, y).history_[0]["loss"] > first
    with pytest.raises(XManError, match="warm_start is for models that the estimator makes"):
        XManRegressor(MLP([10, 1], loss="squaredError"), warm_start=True, epochs=1).fit(X, y).fit(X, y)


def test_dropout_takes_an_optimizer_of_fit():
    with pytest.raises(XManError, match="draws inputs, and dropout or noise|this model draws inputs"):
        XManRegressor((4,), dropout=0.5).fit(*load_diabetes(return_X_y=True))


def test_frames_have_columns_of_words_truth_values_and_dates():
    pandas = pytest.importorskip("pandas")
    k = np.arange(90)
    frame = pandas.DataFrame({"x": k % 7 * 1.5, "word": np.where(k % 3, "red", "blue"), "flag": k % 2 == 0,
                              "day": pandas.date_range("2020-01-01", periods=90)})
    y = np.where(k % 3, "u", "v")
    estimator = XManClassifier(()).fit(frame, y)
    assert estimator.score(frame[["day", "flag", "word", "x"]], y) == 1
    assert estimator.feature_names_in_.tolist() == [*frame.columns]
    assert cross_val_score(XManRegressor(()), frame, k % 7 + 10.0 * (k % 3 > 0), cv=3).min() > 0.99
    assert XManClassifier(()).fit(frame, y).fit(frame[["x"]], y).n_features_in_ == 1


def test_columns_of_words_may_lack_cells_wherever_they_are_read_and_y_is_judged_as_that_of_arrays():
    pandas = pytest.importorskip("pandas")
    k = np.arange(90)
    whole = pandas.DataFrame({"target": k % 3 * 1.0, "word": np.where(k % 2, "p", "q")})
    holes, y = whole.mask(np.arange(180).reshape(90, 2) % 13 == 0), np.where(k % 3, "NA", "v")
    for fitted in (XManClassifier(()).fit(whole, y), XManClassifier(()).fit(holes, y),
                   XManClassifier(()).partial_fit(whole, y).partial_fit(holes, y)):
        assert {*fitted.predict(holes)} <= {"NA", "v"} == {*fitted.classes_} and fitted.n_features_in_ == 2
    assert XManClassifier(()).fit(whole, k % 45).classes_.size == 45
    for X, goal, words in ((whole, y[1:], "inconsistent numbers of samples"), (whole[:0], y[:0], "no rows"), (
            whole.assign(l=[[1]] * 90), y, "leave that column out"), (whole[["word"]].assign(word="p"), y, "no column tells")):
        with pytest.raises(ValueError, match=words) as caught:
            XManClassifier(()).fit(X, goal)
        assert "--" not in str(caught.value)


@pytest.mark.parametrize("target", ["a", None, {}], ids=repr)
def test_a_target_of_a_regressor_that_is_no_number_is_a_sentence(target):
    X = np.arange(20.0).reshape(10, 2)
    for train in XManRegressor(**LINEAR).fit, XManRegressor(**LINEAR).partial_fit:
        with pytest.raises(XManError, match=f"y holds {target!r}, its entry 7; a regressor's targets are numbers, and XManCl"):
            train(X, [*range(7), target, 8, 9])
    assert XManRegressor(**LINEAR).fit(X, ["1.5", "2.5"] * 5).predict(X).shape == (10,)
