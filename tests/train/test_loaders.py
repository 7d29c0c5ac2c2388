"""Facts about the data sets that are installed, the readers of data files, and how a file becomes a data set."""

import gzip
import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
from data_files import IMAGES, idx, three

from xman.tables.readers import read_idx, read_libsvm, read_titles
from xman.train.loaders import load

ROOT = Path(__file__).parents[2]
FILES = [f"{name}.{part}" for name in ("digits", "names") for part in ("train", "valid", "test")]
COURSE = ROOT.parent / "shared" / "data" / "dbpedia"


# the data sets


@pytest.mark.parametrize("name, rows", [("digits", (1257, 180, 360)), ("names", (9448, 1181, 1181))])
def test_a_set_has_the_rows_its_readme_says(name, rows):
    data = load(name)
    readme = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    for part, (X, y), n in zip(("train", "valid", "test"), data[:3], rows, strict=True):
        assert X.shape[0] == n and y.shape == (n,)
        assert f"| `{name}.{part}` | {n:,} |" in readme


@pytest.mark.parametrize("file", FILES)
def test_a_file_has_the_sha256_its_readme_says(file):
    readme = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    written = re.search(rf"`{re.escape(file)}` \|[^|]*\| `([0-9a-f]{{64}})`", readme)[1]
    assert hashlib.sha256((ROOT / "data" / file).read_bytes()).hexdigest() == written


@pytest.mark.parametrize("name", ["digits", "names"])
def test_every_class_occurs_in_every_part(name):
    data = load(name)
    for X, y in data[:3]:
        assert X.dtype == np.float32 and y.dtype == np.int64
        assert sorted(set(y.tolist())) == list(range(len(data.classes)))


def test_pixels_of_digits_lie_between_0_and_1():
    data = load("digits")
    assert repr(data) == "<Dataset of rows (64,): train 1,257, valid 180, test 360; 10 classes>"
    assert data.classes == tuple("0123456789") and data.alphabet is None
    assert all(X.min() == 0 and X.max() == 1 and X.shape[1] == 64 for X, _ in data[:3])


def test_a_pixel_of_digits_is_a_sixteenth_of_an_integer():
    assert all(np.isin(X * 16, np.arange(17)).all() for X, _ in load("digits")[:3])


def test_names_are_20_characters_one_hot():
    data = load("names")
    assert len(data.classes) == 24 and data.classes == tuple(sorted(data.classes))
    assert list(data.alphabet) == sorted(set(data.alphabet))
    for X, _ in data[:3]:
        assert X.shape[1:] == (20, len(data.alphabet))
        assert set(np.unique(X.sum(axis=2))) == {0, 1}


def test_no_name_occurs_twice():
    names = [name.casefold() for file in FILES[3:] for name in read_titles(ROOT / "data" / file)[0]]
    assert len(set(names)) == len(names)


def test_max_len_sets_the_positions():
    assert load("names", max_len=3).test[0].shape[1] == 3


def test_max_len_0_is_refused():
    with pytest.raises(ValueError, match="max_len is 0, wanted at least 1"):
        load("names", max_len=0)


@pytest.mark.skipif(not COURSE.exists(), reason=f"the course's data are not at {COURSE}")
@pytest.mark.parametrize(
    "name, rows, characters", [("tiny", (1857, 221, 221), 132), ("smaller", (18312, 2330, 2331), 196)]
)
def test_the_data_of_the_course_load(name, rows, characters):
    data = load(COURSE / name)
    assert data.classes == ("Organisation", "Person", "Place", "Species", "Work")
    assert tuple(X.shape for X, _ in data[:3]) == tuple((n, 10, characters) for n in rows)


# round trips


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_idx_reads_back(write, pack):
    assert np.array_equal(read_idx(write("a", pack(idx(IMAGES)))), IMAGES)


def test_libsvm_reads_back(write):
    X, labels, _ = read_libsvm(write("a.svm", "# made by hand\n+1 1:0.5 3:-2 # first\n-1\n2.5 2:1e1\n"))
    assert X.format == "csr" and X.dtype == np.float32 and labels == ["1", "-1", "2.5"]
    assert X.toarray().tolist() == [[0.5, 0, -2], [0, 0, 0], [0, 10, 0]]


def test_libsvm_takes_the_number_of_features(write):
    assert read_libsvm(write("a.svm", "1 1:1\n"), 5)[0].shape == (1, 5)


def test_the_indices_of_libsvm_are_from_0_where_one_of_them_is_and_else_from_1(write):
    assert read_libsvm(write("a.svm", "1 2:1\n0 0:1\n"))[0].toarray().tolist() == [[0, 0, 1], [1, 0, 0]]
    assert read_libsvm(write("a.svm", "1 2:1\n"), 3, 0)[0].toarray().tolist() == [[0, 0, 1]]
    data = load(three(write, "x.svm", "1 1:5\n", "1 0:1\n", "1 2:1\n"))
    assert data.first == 0 and data.train[0].toarray().tolist() == [[0, 5, 0]]


def test_titles_read_back_percent_decoded(write):
    path = write("a", "%C3%89tang_d'Araing\tPlace\nCafé_100%25\u2028x\tWork\n")
    assert read_titles(path) == (["Étang_d'Araing", "Café_100%\u2028x"], ["Place", "Work"])


def test_titles_are_one_hot_cut_padded_and_zero_for_strangers(write):
    X = load(three(write, "x", "ab\tK\nb\tL\n", "?a\tK\n", "bbbb\tK\n"), max_len=3)
    a, b, none = [1, 0], [0, 1], [0, 0]
    assert X.train[0].dtype == np.float32 and X.train[0].tolist() == [[a, b, none], [b, none, none]]
    assert X.valid[0].tolist() == [[none, a, none]] and X.test[0].tolist() == [[b, b, b]]


# load


@pytest.mark.parametrize("part", ["", ".train", ".valid", ".test"])
def test_any_of_three_files_names_them_all(write, part):
    stem = three(write, "x.v2", "ab\tK\nb\tL\n", "a\tL\n", "c\tK\n")
    data = load(f"{stem}{part}", max_len=2)
    assert data.classes == ("K", "L") and data.alphabet == "ab"
    assert [y.tolist() for _, y in data[:3]] == [[0, 1], [1], [0]]
    assert data.test[0].tolist() == [[[0, 0], [0, 0]]]  # c is not in the alphabet of train


@pytest.mark.parametrize(
    "name, row",
    [("a.csv", "{i},1,{k}"), ("a.svm", "{k} 1:{i}"), ("a.txt", "t{i}\t{k}"), ("a", "{i},1,{k}"), ("a", "{k} 1:{i}")],
)
def test_one_file_is_cut_70_10_20(write, name, row):
    data = load(write(name, "\n".join(row.format(i=i, k=i % 3) for i in range(100))))
    assert [len(y) for _, y in data[:3]] == [70, 10, 20] == [X.shape[0] for X, _ in data[:3]]
    assert data.classes == ("0", "1", "2")


def test_cutting_keeps_rows_and_labels_together_and_loses_none(write):
    data = load(write("a.svm", "\n".join(f"{i % 7} 1:{i}" for i in range(50))))
    pairs = [(int(x), data.classes[k]) for X, y in data[:3] for (x,), k in zip(X.toarray(), y, strict=True)]
    assert sorted(pairs) == [(i, str(i % 7)) for i in range(50)]


def test_the_seed_sets_the_cut(write):
    path = write("a.csv", "\n".join(f"{i},{i % 2}" for i in range(50)))
    first, again, other = (load(path, seed=seed).test[0].ravel().tolist() for seed in (0, 0, 1))
    assert first == again != other


def test_each_class_of_one_file_is_in_train(write):
    path = write("a.csv", "\n".join(f"{i},{min(i, 5)}" for i in range(20)))
    for seed in range(20):
        assert set(load(path, seed=seed).train[1].tolist()) == set(range(6))


def test_classes_that_are_numbers_stand_in_their_order(write):
    assert load(write("a.svm", "\n".join(f"{i} 1:0" for i in (10, 9, -1) * 9))).classes == ("-1", "9", "10")


def test_sparse_parts_have_as_many_columns(write):
    data = load(three(write, "x.svm", "1 2:1\n", "1 7:1\n", "1 1:1\n"))
    assert [X.shape for X, _ in data[:3]] == [(1, 7)] * 3


@pytest.mark.parametrize("end, pack", [("", bytes), (".gz", gzip.compress)])
def test_mnist_files_load_with_their_labels_and_their_test_pair(write, end, pack):
    images, labels = np.full((20, 2, 2), 255, np.uint8), np.arange(20, dtype=np.uint8) % 2
    for part, n in ("train", 20), ("t10k", 5):
        path = write(f"{part}-images-idx3-ubyte{end}", pack(idx(images[:n])))
        write(f"{part}-labels-idx1-ubyte{end}", pack(idx(labels[:n])))
    data = load(path.with_name(f"train-images-idx3-ubyte{end}"))
    assert [X.shape for X, _ in data[:3]] == [(18, 4), (2, 4), (5, 4)] and data.classes == ("0", "1")
    assert data.test[0].dtype == np.float32 and (data.test[0] == 1).all() and data.test[1].tolist() == [0, 1, 0, 1, 0]


def test_a_lone_pair_of_idx_files_is_cut_70_10_20(write):
    write("x-labels.idx1-ubyte", idx(np.arange(10, dtype=np.uint8) % 2))
    data = load(write("x-images.idx3-ubyte", idx(np.zeros((10, 2, 2), np.uint8))))
    assert [len(y) for _, y in data[:3]] == [7, 1, 2]


def test_tables_in_three_parts_are_read_as_one_is_and_scaled_by_the_first(write):
    data = load(three(write, "x.csv", "n,word,kind\n0,a,u\n2,b,v\n", "word,n,kind\nb,4,u\n", "1,c,v\n"))
    assert data.classes == ("u", "v") and [c.name for c in data.prepared.columns] == ["n", "word"]
    assert data.train[0].tolist() == [[-1, 1, 0, 0], [1, 0, 1, 0]] and data.valid[0].tolist() == [[3, 0, 1, 0]]
    assert data.test[0].tolist() == [[0, 0, 0, 1]] and [y.tolist() for _, y in data[:3]] == [[0, 1], [0], [1]]


# numbers to be fitted


def test_labels_that_are_no_whole_numbers_are_what_is_fitted(write):
    rows = [(k, 0.25 * k - 1) for k in range(20)]
    data = load(write("a.svm", "".join(f"{y} 1:{x}\n" for x, y in rows)))
    assert data.classes == () and [len(y) for _, y in (data.train, data.valid, data.test)] == [14, 2, 4]
    mean, scale = data.prepared.scale
    found = sorted((float(x[0]), float(y)) for X, Y in data[:3] for x, (y,) in zip(X.toarray(), Y * scale + mean, strict=True))
    np.testing.assert_allclose(found, rows, atol=1e-6)
    assert data.train[1].dtype == np.float32


def test_numbers_may_be_those_of_libsvm_and_of_three_files(write):
    write("b.svm.train", "1.5 1:2\n-3 2:1\n")
    write("b.svm.valid", "7e2 1:1\n")
    path = write("b.svm.test", "0.125 1:1\n")
    data = load(path.with_suffix(""), task="count")
    assert [y.ravel().tolist() for _, y in data[:3]] == [[1.5, -3], [700], [0.125]]


def test_the_labels_of_idx_files_can_be_numbers_too(write):
    path = write("train-images-idx3-ubyte", idx(np.zeros((20, 2, 2), np.uint8)))
    write("train-labels-idx1-ubyte", idx(np.arange(20, dtype=np.uint8) % 5))
    assert sorted(y for _, part in load(path, task="count")[:3] for y in part.ravel().tolist()) == sorted([0.0, 1, 2, 3, 4] * 4)


def test_the_same_labels_are_classes_where_that_is_said(write):
    data = load(write("a.svm", "".join(f"{k % 2}.5 1:{k}\n" for k in range(20))), task="classify")
    assert data.classes == ("0.5", "1.5") and data.train[1].dtype == np.int64
