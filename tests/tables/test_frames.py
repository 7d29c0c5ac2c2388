"""Frames, arrays of objects and columns of every type are tables as files are."""

from fractions import Fraction

import numpy as np
import pytest

from xman import tables

pa = pytest.importorskip("pyarrow")
R = np.random.default_rng(0)
X, NAMES = R.normal(size=(60, 2)), np.array(["low", "high"] * 30)


WORDS, MIXED = np.array(["a", "b", "c"] * 20), np.array([1, "b", 2.5] * 20, object)
OF_PANDAS = {
    "categories": lambda pd: pd.Categorical(WORDS),
    "strings": lambda pd: pd.array(WORDS, "string"),
    "objects": lambda pd: MIXED,
    "sparse": lambda pd: pd.arrays.SparseArray(np.arange(60) % 3 * 1.5),
    "durations": lambda pd: pd.to_timedelta(np.arange(60), "h"),
    "periods": lambda pd: pd.period_range("2020-01", periods=60, freq="M"),
    "whole numbers or none": lambda pd: pd.array([1, None, 3] * 20, "Int64"),
    "truth or none": lambda pd: pd.array([True, None, False] * 20, "boolean"),
    "intervals": lambda pd: pd.cut(np.arange(60), 5),
    "intervals of no category": lambda pd: pd.IntervalIndex.from_breaks(np.arange(61), "left"),
    "half floats": lambda pd: np.arange(60, dtype=np.float16),
    "fractions": lambda pd: [Fraction(k, 7) for k in range(60)],
    "whole numbers past 64 bits": lambda pd: [10**30 + k for k in range(60)],
    "zones": lambda pd: pd.date_range("2020", periods=60, tz="Asia/Tokyo"),
}


@pytest.mark.parametrize("kind", OF_PANDAS)
def test_columns_of_pandas_of_each_kind_are_read(kind):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"c": OF_PANDAS[kind](pd), "y": np.arange(60) % 2})
    data = tables.prepared(frame)
    assert np.isfinite(data.features(frame)).all() and data.features(frame)[:, 0].std() > 0


def test_classes_of_polars_and_an_index_and_columns_that_are_numbers():
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    for kind in (pl.Categorical, pl.Enum(["a", "b", "c"]), pl.String):
        frame = pl.DataFrame(
            {"x": np.arange(60.0), "y": pl.Series(WORDS.tolist(), dtype=kind), "z": pl.Series(WORDS.tolist(), dtype=kind)}
        )
        data = tables.prepared(frame, "y")
        assert data.classes == ("a", "b", "c") and data.pair(frame)[1].tolist() == [0, 1, 2] * 20
    frame = pd.DataFrame({0: np.arange(60.0), 1: np.arange(60) % 2}, index=pd.Index(R.permutation(60), name="id"))
    assert [column.name for column in tables.prepared(frame, 1).columns] == ["0"]
    assert [column.name for column in tables.prepared({"Unnamed: 0": X[:, 0], "a": X[:, 1], "y": NAMES}).columns] == ["a"]


def test_a_target_is_named_as_its_frame_names_it_and_an_array_of_moments_is_a_column():
    pd = pytest.importorskip("pandas")
    for other, name in ((("a", "x"), ("b", "y")), (1.5, 2.5), (6, 7)):
        frame = pd.DataFrame({other: np.arange(60.0), name: np.arange(60) % 2})
        assert tables.prepared(frame, name).target.name == str(name)
    days = np.arange("2024-01-01", "2024-03-01", dtype="datetime64[D]")[:60, None]
    assert tables.prepared(days, WORDS).columns[0].kind == "date"


def test_what_no_cell_can_hold_is_refused_by_a_sentence():
    pl = pytest.importorskip("polars")
    for frame, words in ({"c": [object()] * 60, "y": WORDS}, "no table: Could not convert <object"), (
            pl.DataFrame({"c": [b"a", b"b"] * 30, "y": WORDS.tolist()}), "'c' holds binary, which xman does not read"):
        with pytest.raises(tables.TableError, match=words):
            tables.prepared(frame)


def test_arrays_of_objects_are_numbers_or_columns_of_each_kind():
    numbers, mixed = np.stack([X[:60, 0], X[:60, 1]], 1), np.stack([X[:60, 0].astype(object), WORDS.astype(object)], 1)
    plain, objects = tables.prepared(numbers, WORDS), tables.prepared(numbers.astype(object), WORDS)
    assert np.array_equal(plain.features(numbers), objects.features(numbers.astype(object)))
    data = tables.prepared(mixed, WORDS)
    assert [column.kind for column in data.columns] == ["number", "category"] and data.features(mixed).shape == (60, 5)


def test_a_number_in_a_column_of_words_is_the_word_that_writes_it():
    for words, cells in (
        (["01", "02", "A7"], [1, 2]),
        (["1.0", "2.0", "A7"], [1.0, 2.0]),
        (["1", "01", "A7"], [1, 1]),
        (["1", "2", "A7"], [1.0, 2.0]),
    ):
        data = tables.prepared({"c": words * 20, "y": np.arange(60) % 2})
        spelled = [words[0], words[1]] if cells[0] != cells[1] else ["1", "1"]
        assert (
            np.array_equal(data.features({"c": cells}), data.features({"c": spelled}))
            and data.features({"c": cells}).sum() == 2
        )
