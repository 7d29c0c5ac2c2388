"""What is no data file is refused in a sentence with the file and the line."""

import gzip

import numpy as np
import pytest
from data_files import IMAGES, idx, refusal, three

from xman import XManError
from xman.models import MLP
from xman.tables import TableError
from xman.tables.readers import read_idx, read_libsvm, read_titles
from xman.train import fit
from xman.train.loaders import load

# what is refused


@pytest.mark.parametrize("read", [read_idx, read_libsvm, read_titles, load])
def test_a_missing_file_is_refused(tmp_path, read):
    path = tmp_path / "none"
    assert refusal(read, path) == f"{path}: cannot be read: No such file or directory."


def test_a_misspelt_data_set_is_refused_with_its_name():
    assert refusal(load, "digit") == "there is no data set 'digit'; did you mean 'digits'? There are digits and names."


def test_a_data_set_in_the_place_of_a_pair_is_refused_with_its_pairs():
    with pytest.raises(XManError, match=r"data is a pair \(X, y\), not a Dataset of 10; its pairs are .train, .valid"):
        fit(MLP([64, 10]), load("digits"))


def test_a_missing_part_is_refused(write):
    path = write("a.train", "a\tK\n")
    assert refusal(load, path) == f"{path.with_suffix('.valid')}: cannot be read: No such file or directory."


@pytest.mark.parametrize("read", [read_libsvm, read_titles, load])
@pytest.mark.parametrize("content", ["", "\n\n", " \n", "\ufeff"])
def test_an_empty_file_is_refused(write, read, content):
    path = write("a", content)
    assert refusal(read, path) == f"{path}: the file is empty, wanted at least one line."


@pytest.mark.parametrize("read", [read_libsvm, read_titles, load])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_bytes_that_are_not_utf8_are_refused(write, read, mark):
    path = write("a", mark + b"a\tb\n\xff\tb\n")
    assert refusal(read, path) == f"{path}, line 2: found byte 0xff, wanted UTF-8 text."


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "byte 0: found nothing, wanted the magic 00 00 08 and 1 to 4 axes."),
        (b"\0\0", "byte 0: found 00 00, wanted the magic 00 00 08 and 1 to 4 axes."),
        (b"\0\0\x0d\3" + bytes(99), "byte 0: found 00 00 0d 03, wanted the magic 00 00 08 and 1 to 4 axes."),
        (b"\0\0\x08\0" + bytes(99), "byte 0: found 00 00 08 00, wanted the magic 00 00 08 and 1 to 4 axes."),
        (idx(IMAGES)[:9], "byte 9: the header ends, wanted 3 lengths of 4 bytes."),
        (idx(IMAGES)[:-1], "byte 16: found 23 bytes, wanted 2 x 3 x 4 = 24, at least 1."),
        (idx(IMAGES) + b"x", "byte 16: found more bytes, wanted 2 x 3 x 4 = 24, at least 1."),
        (idx(IMAGES[:0]), "byte 16: found 0 bytes, wanted 0 x 3 x 4 = 0, at least 1."),
        (gzip.compress(idx(IMAGES)[:-1], mtime=0), "byte 16: found 23 bytes, wanted 2 x 3 x 4 = 24, at least 1."),
        (gzip.compress(idx(IMAGES) + bytes(10**6), mtime=0), "byte 16: found more bytes, wanted 2 x 3 x 4 = 24, at least 1."),
    ],
)
def test_an_idx_file_that_is_not_right_is_refused(write, content, message):
    path = write("a", content)
    assert refusal(read_idx, path) == f"{path}, {message}"


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_huge_idx_header_is_refused_before_memory_is_taken(write, pack):
    path = write("a", pack(idx(IMAGES, [2**32 - 1] * 3)))
    assert f"wanted 4294967295 x 4294967295 x 4294967295 = {(2**32 - 1) ** 3}" in refusal(read_idx, path)


def test_a_broken_gzip_file_is_refused(write):
    path = write("a", gzip.compress(idx(IMAGES), mtime=0)[:-10])
    assert refusal(read_idx, path).startswith(f"{path}: cannot be read: ")


def test_image_and_label_counts_that_differ_are_refused(write):
    labels = write("x-labels-idx1-ubyte", idx(np.zeros(3, np.uint8)))
    images = write("x-images-idx3-ubyte", idx(IMAGES))
    assert refusal(load, images) == f"{labels}, byte 4: found shape (3,), wanted 2 labels as in {images.name}."


def test_the_labels_file_in_place_of_the_images_is_refused(write):
    path = write("x-labels-idx1-ubyte", idx(np.zeros(3, np.uint8)))
    assert "wanted that of the images" in refusal(load, path)


@pytest.mark.parametrize(
    "line, message",
    [
        ("1:0.5 2:1 1", "found '1:0.5', wanted a finite number, the label, first."),
        ("# 1 1:2", "found '', wanted a finite number, the label, first."),
        ("nan 1:2", "found 'nan', wanted a finite number, the label, first."),
        ("1 1:0.5 -1", "found '-1' after the label, wanted index:value with an index from 0 on."),
        ("1 -2:0.5", "found '-2:0.5' after the label, wanted index:value with an index from 0 on."),
        ("1 3:1 2:1", "found index 2, wanted one above 3, rising from 0 on."),
        ("1 3:1 3:1", "found index 3, wanted one above 3, rising from 0 on."),
        ("1 2147483648:1", "found index 2147483648, wanted at most 2147483647."),
        ("1 " + "9" * 5000 + ":1", f"found index {'9' * 20}, wanted at most 2147483647."),
        ("1 1:x", "found '1:x', wanted a finite number as the value."),
        ("1 1:nan", "found '1:nan', wanted a finite number as the value."),
        ("1 1:1e39", "found '1:1e39', wanted a finite number as the value."),
    ],
)
def test_a_libsvm_line_that_is_not_right_is_refused(write, line, message):
    path = write("a.svm", f"1 1:1\n{line}\n")
    assert refusal(read_libsvm, path) == f"{path}, line 2: {message}"


def test_a_libsvm_index_above_the_features_is_refused(write):
    assert refusal(read_libsvm, write("a.svm", "1 3:1\n"), 2).endswith("line 1: found index 3, wanted at most 2.")


def test_a_libsvm_file_of_comments_is_refused(write):
    assert "line 1: found only comments" in refusal(read_libsvm, write("a.svm", "# nothing\n"))


@pytest.mark.parametrize(
    "line, message",
    [
        ("Fleur Carnivore", "found 'Fleur Carnivore', wanted a title, one TAB and a label."),
        ("a\tb\tc", "found 'a\\tb\\tc', wanted a title, one TAB and a label."),
        ("\tWork", "found '\\tWork', wanted a title, one TAB and a label."),
        ("a\t", "found 'a\\t', wanted a title, one TAB and a label."),
        ("", "found '', wanted a title, one TAB and a label."),
        ("x" * 99, f"found '{'x' * 40}…', wanted a title, one TAB and a label."),
        ("100%_sure\tWork", "found '%_s', wanted two hexadecimal digits after %."),
        ("100%\tWork", "found '%', wanted two hexadecimal digits after %."),
        ("%C3x\tWork", "found '%C3x', wanted escapes that are UTF-8."),
    ],
)
def test_a_title_line_that_is_not_right_is_refused(write, line, message):
    path = write("a", f"a\tWork\n{line}\nb\tWork\n")
    assert refusal(read_titles, path) == f"{path}, line 2: {message}"


@pytest.mark.parametrize(
    "stem, known, stranger",
    [("x", "a\tK\n", "a\tL\n"), ("x.svm", "# c\n1 1:1\n", "2 1:1\n")],
)
def test_a_label_that_train_does_not_know_is_refused_with_its_line(write, stem, known, stranger):
    path = three(write, stem, known, known, known + stranger)
    line, label = known.count("\n") + 1, "2" if stem == "x.svm" else "L"
    assert refusal(load, path) == f"{path}.test, line {line}: found label '{label}', which never occurs in train."


def test_a_label_that_only_the_mnist_test_pair_has_is_refused(write):
    for part, n, last in ("train", 20, 0), ("t10k", 5, 7):
        path = write(f"{part}-images-idx3-ubyte", idx(np.zeros((n, 2, 2), np.uint8)))
        write(f"{part}-labels-idx1-ubyte", idx(np.array([0] * (n - 1) + [last], np.uint8)))
    message = refusal(load, path.with_name("train-images-idx3-ubyte"))
    assert message == f"{path}, label 5: found label '7', which never occurs in train."


@pytest.mark.parametrize("test, said", [("1,0\n", "lacks the column 'y'"),
                                        ("a,b,y\n1,2,M\n", "row 1, column 'y': found 'M', which no"),
                                        ("a,b,y\n1,z,K\n", "row 1, column 'b': found 'z', wanted a number")])
def test_a_part_of_a_table_that_is_not_as_the_first_is_refused(write, test, said):
    path = three(write, "x.csv", "a,b,y\n1,2,K\n3,4,L\n", "1,2,K\n", test)
    with pytest.raises(TableError) as caught:
        load(path)
    assert f"{path}.test" in str(caught.value) and said in str(caught.value)


def test_indices_from_0_are_refused_where_they_are_known_to_be_from_1(write):
    path = write("a.svm", "1 0:1\n")
    assert refusal(read_libsvm, path, 3, 1) == f"{path}, line 1: found index 0, wanted one above 0, rising from 1 on."


@pytest.mark.parametrize("content, rows", [("a\tK\n" * 9, "9 rows"),
                                           ("".join(f"a\t{i}\n" for i in range(10)), "10 rows of 10 classes"),
                                           ("a\tK\n", "1 row")])
def test_a_file_too_small_to_cut_is_refused(write, content, rows):
    assert f"found {rows}, too few to be split; wanted 10 or more, or a file for each part." in refusal(load, write("a", content))
