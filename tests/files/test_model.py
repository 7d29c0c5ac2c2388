"""A model is one list from raw cells to probabilities: it is written, read back, and run by eval alone."""
import numpy as np
import pytest

import xman
from xman import files, tables
from xman.models import MLP
from xman.train import fit

pa = pytest.importorskip("pyarrow")
datasets = pytest.importorskip("sklearn.datasets")


def iris() -> dict:
    """The flowers, with a column of words, of which one category is rare, and with one cell missing."""
    data = datasets.load_iris()
    table = {name: x.copy() for name, x in zip(data.feature_names, data.data.T, strict=True)}
    table["petal length (cm)"][7] = np.nan
    table["garden"] = np.where(np.arange(150) % 3 == 0, "east", "west").astype(object)
    table["garden"][11] = "north"
    return table | {"species": np.array(data.target_names, object)[data.target]}


@pytest.fixture(scope="module")
def model():
    data = tables.prepared(iris(), "species")
    X, y = data.features(iris()), data.targets(iris())
    network = MLP([X.shape[1], 16, 3], loss="softmaxCrossEntropy")
    result = fit(network, (X, y), epochs=40, optimizer="adam", lr=1e-2, progress=False)
    return files.trained(network, result.parameters, data)


def test_eval_alone_leads_from_the_cells_of_a_file_to_probabilities(model, tmp_path):
    model.save(tmp_path / "iris.safetensors")
    read = xman.load(tmp_path / "iris.safetensors")
    cells = {column.register: np.asarray(iris()[column.name]) for column in read.columns}
    found = xman.eval(read.steps, {**read.values, **cells})[read.output]
    assert np.allclose(found.sum(1), 1, atol=1e-6) and found.dtype == np.float32
    assert np.mean(np.array(read.classes)[found.argmax(1)] == iris()["species"]) > 0.95
    assert np.array_equal(found, model.predict_proba(iris())) and np.isfinite(found).all()


def test_what_is_read_is_what_was_written(model, tmp_path):
    model.save(tmp_path / "iris.safetensors")
    read = xman.load(tmp_path / "iris.safetensors")
    assert str(read.steps) == str(model.steps) and read[2:-1] == model[2:-1]
    assert read.values.keys() == model.values.keys() and all(np.array_equal(read.values[k], x) for k, x in model.values.items())


def test_a_model_is_not_saved_under_the_ending_of_another_kind(model, tmp_path):
    with pytest.raises(xman.XManError, match="save writes safetensors, as model.safetensors; `xman export` writes ONNX"):
        model.save(tmp_path / "m.onnx")
    assert not [*tmp_path.iterdir()]


def test_a_missing_number_and_a_word_that_is_new_have_places_of_their_own(model):
    table = {name: x[:3] for name, x in iris().items()}
    table["garden"] = np.array(["south", "", "east"], object)
    table["petal length (cm)"] = np.array([1.4, np.nan, np.inf])
    with pytest.warns(UserWarning, match="'garden': 2 cells hold what no training row had, .*: 'south' .1."):
        assert model.predict(table).tolist() == ["setosa"] * 3


def test_rows_in_another_order_with_more_columns_are_right_and_a_column_that_lacks_is_named(model):
    table = dict(reversed((iris() | {"more": np.arange(150)}).items()))
    assert np.array_equal(model.predict(table), model.predict(iris()))
    with pytest.raises(xman.XManError, match="lacks the column 'garden'; the model was trained with 'sepal length"):
        model.predict({name: x for name, x in table.items() if name != "garden"})


def test_the_list_of_a_model_reads_its_columns_and_its_parameters(model):
    text = repr(model.steps)
    assert "codes(garden, ('east', 'north', 'west'))" in text and text.endswith("outputs = softmax(scores)")
    assert set(model.steps.inputs) == {column.register for column in model.columns} | {"W1", "b1", "W2", "b2"}
