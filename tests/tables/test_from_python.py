"""From Python: arrays, frames, sparse matrices, labels of any kind; each trains, is saved, and predicts what it was given."""
import re

import numpy as np
import pytest
from scipy import sparse

import xman
from xman import tables
from xman.models import MLP, LogisticRegression
from xman.tables import TableError
from xman.tables.preparing import scale_of
from xman.train import fit

pa = pytest.importorskip("pyarrow")

R = np.random.default_rng(0)
X = R.normal(size=(120, 3)) * [1, 100, 0.01] + [0, 5, -3]
NAMES = np.array(["low", "high"], object)[(X[:, 0] + (X[:, 1] - 5) / 100 > 0).astype(int)]
COLUMNS = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "size": NAMES}


def pandas():
    return pytest.importorskip("pandas").DataFrame(COLUMNS)


def polars():
    return pytest.importorskip("polars").DataFrame({name: x.tolist() for name, x in COLUMNS.items()})


def trained(data, pair, path, *hidden):
    loss = "softmaxCrossEntropy" if data.classes else "squaredError"
    network = MLP([data.shape[0], *hidden, len(data.classes) or 1], loss=loss)
    result = fit(network, pair, epochs=60, optimizer="adam", lr=0.02, progress=False, prepared=data)
    result.save(path)
    return xman.load(path)


@pytest.mark.parametrize("frame", [lambda: dict(COLUMNS), pandas, polars, lambda: pa.table(COLUMNS)],
                         ids=["dict", "pandas", "polars", "pyarrow"])
def test_a_frame_trains_and_predicts(frame, tmp_path):
    data = tables.prepared(frame(), "size")
    model = trained(data, data.pair(frame()), tmp_path / "m.safetensors")
    assert np.mean(model.predict(frame()) == NAMES) > 0.95 and model.target == "size"
    for other in (COLUMNS, X):
        assert np.array_equal(model.predict(frame()), model.predict(other))


@pytest.mark.parametrize("y", [NAMES, NAMES.tolist(), NAMES == "high", (NAMES == "high").astype(int), pa.array(NAMES)], ids=type)
def test_an_array_with_labels_of_any_kind(y, tmp_path):
    data = tables.prepared(X, y)
    model = trained(data, data.pair(X, y), tmp_path / "m.safetensors")
    labels = [str(label) for label in (y.to_pylist() if isinstance(y, pa.Array) else list(y))]
    assert np.mean(model.predict(X) == np.array(labels, object)) > 0.95 and model.predict_proba(X).shape == (120, 2)


def test_targets_of_one_dimension_are_fitted_one_by_one(tmp_path):
    y = X[:, 0] * 20 + 300
    data = tables.prepared(X, y)
    model = trained(data, data.pair(X, y), tmp_path / "m.safetensors")
    assert np.sqrt(np.mean((model.predict(X) - y) ** 2)) < 2 and data.classes == ()
    network = MLP([3, 1], loss="squaredError")
    result = fit(network, (X / [1, 100, 0.01], X[:, 0]), epochs=100, optimizer="adam", lr=0.05, progress=False)
    assert np.sqrt(np.mean((result.model().predict(X / [1, 100, 0.01]) - X[:, 0]) ** 2)) < 0.1


@pytest.mark.parametrize("train", [lambda model, pair: fit(model, pair, epochs=30, optimizer="adam", lr=0.05, progress=False,
                                                           validation=pair, class_weight={"high": 2.0}),
                                   lambda model, pair: xman.minimize(model, pair, validation=pair, progress=False)],
                         ids=["fit", "minimize"])
def test_targets_that_are_strings_are_classes(train, tmp_path):
    rows = (X - X.mean(0)) / X.std(0)
    result = train(MLP([3, 8, 2]), (rows, NAMES))
    result.save(tmp_path / "m.safetensors")
    model = xman.load(tmp_path / "m.safetensors")
    assert model.classes == ("high", "low") and np.mean(model.predict(rows) == NAMES) > 0.95
    assert {"optimizer", "best_epoch", "history"} <= model.settings.keys()
    with pytest.raises(xman.XManError, match="y has the label 'middle', which no training row has; there are high, low"):
        fit(MLP([3, 2]), (rows, NAMES), validation=(rows[:1], ["middle"]), progress=False)


def test_a_sparse_matrix_stays_sparse(tmp_path):
    S = sparse.random(200, 30, 0.3, "csr", np.float32, R)
    y = np.asarray(S[:, 0].todense()).ravel() > np.asarray(S[:, 1].todense()).ravel()
    data = tables.prepared(S, y)
    result = fit(LogisticRegression(30, 2), data.pair(S, y), epochs=80, optimizer="adam", lr=0.05, progress=False,
                 prepared=data)
    result.save(tmp_path / "m.safetensors")
    model = xman.load(tmp_path / "m.safetensors")
    assert data.features(S) is S and np.mean(model.predict(S) == np.where(y, "True", "False")) > 0.9
    assert np.allclose(model.outputs(S), model.outputs(S.toarray()), atol=1e-6)


def test_images_are_arrays_of_more_dimensions(tmp_path):
    images, y = R.normal(size=(60, 4, 5)), R.integers(0, 3, 60)
    data = tables.prepared(images, y)
    model = trained(data, data.pair(images, y), tmp_path / "m.safetensors")
    assert data.shape == (20,) and model.outputs(images[:7]).shape == (7, 3)
    with pytest.raises(TableError, match=r"wanted numbers of shape \(rows, 4, 5\)"):
        model.predict(images[:, :3])


def test_a_result_without_a_table_predicts_rows_as_it_was_given_them(tmp_path):
    y = (NAMES == "high").astype(int)
    result = fit(MLP([3, 2]), (X / [1, 100, 1], y), epochs=40, optimizer="adam", lr=0.05, progress=False)
    result.save(tmp_path / "m.safetensors")
    model = xman.load(tmp_path / "m.safetensors")
    assert np.mean(model.predict(X / [1, 100, 1]) == y) > 0.9 and model.settings["best_epoch"] == result.best


@pytest.mark.parametrize("call, words", [
    (lambda: tables.prepared(X, NAMES[:-1]), "119 targets for 120 rows"), (lambda: tables.prepared(3), "not a int"),
    (lambda: tables.prepared({"a": [1, 2], "b": [1]}), "no table"),
    (lambda: tables.prepared({"a": [[1], [2]], "y": [0, 1]}), "which xman does not read; leave that column out"),
    (lambda: tables.prepared(COLUMNS, "sise"), "did you mean 'size'")], ids=range(5))
def test_what_is_no_table_is_a_sentence(call, words):
    with pytest.raises(TableError, match=words):
        call()


def test_columns_may_have_the_names_of_registers_and_operators(tmp_path):
    names = "X y W1 z1 outputs class days prediction deviations fed_X scores Σ 1st a_b".split() + ["a b"]
    table = {name: R.normal(size=50) for name in names} | {"goal": R.normal(size=50)}
    data = tables.prepared(table, "goal")
    features, targets = data.pair(table)
    result = fit(MLP([15, 4, 1], loss="squaredError"), (features, targets), epochs=1, progress=False, prepared=data)
    result.save(tmp_path / "m.safetensors")
    W1, b1, W2, b2 = (result.parameters[name] for name in ("W1", "b1", "W2", "b2"))
    wanted = (np.tanh(features @ W1 + b1) @ W2 + b2)[:, 0] * data.scale[1] + data.scale[0]
    assert np.allclose(xman.load(tmp_path / "m.safetensors").predict(dict(reversed(table.items()))), wanted, rtol=1e-4, atol=1e-4)


HUGE = np.array([1.5, -1.5]) * 1e300


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("numbers", [HUGE, HUGE * 1e8, [1e160, 0]], ids=["1e300", "nearly the largest", "1e160"])
@pytest.mark.parametrize("frame", [lambda x, y: ({"a": x, "b": y}, None), lambda x, y: ({"a": y, "b": x}, "a"),
                                   lambda x, y: (np.stack([x, y], 1), y), lambda x, y: (y[:, None], x)])
def test_numbers_too_large_to_be_squared_are_refused_without_a_warning(numbers, frame):
    table, target = frame(np.resize(numbers, 60), np.arange(60) + 0.5)
    words = f"holds numbers from {min(numbers):g} to {max(numbers):g}, too large for their squares"
    with pytest.raises(TableError, match=re.escape(words)):
        tables.prepared(table, target, task="regress")


def test_the_scale_of_float32_is_computed_in_float64():
    y = np.array([1e25, 3e25], np.float32)
    assert scale_of("y", y, (), None) == pytest.approx((2e25, 1e25), rel=1e-6)
