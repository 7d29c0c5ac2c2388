"""What a difference says: how what came back differs, in words, and never what should have come."""

import functools

import numpy as np
import pytest

from xman.grade import Wrong, expect, expect_mapping, expect_probabilities, expect_that, scale
from xman.grade.compare import Failed, about_numbers, about_shapes, expect_share, given, listing, shown_value, slip, sort_of
from xman.grade.compare import told as told_of

A = np.array([[1.5, -2.0, 3.25], [0.5, 4.0, -1.0]])


def told(compare, *args, **keywords):
    with pytest.raises(Wrong) as wrong:
        compare(*args, **keywords)
    return wrong.value


@pytest.mark.parametrize("got, want", [
    (1.0, 1.0), (1, 1.0), (A, A), (A.astype(np.float32), A), (A + 1e-12, A), (np.nan, np.nan), (np.inf, np.inf), (None, None),
    ("z1", "z1"), ([1, (2.0, A)], [1, (2.0, A)]), ({"a": A, "more": 0}, {"a": A}), (np.zeros((0, 3)), np.zeros((0, 3))),
    (True, True), ([[1.0]], [[1.0]]), ((1, 2), [1, 2]), (np.bool_(True) + np.zeros(2), np.ones(2))])
def test_what_agrees_passes(got, want):
    expect(got, want, "z1")


@pytest.mark.parametrize("got, want, came_back, look", [
    (-A, A, "-1.5 at [0, 0], and 6 of 6 elements that are off", "sign"),
    (2 * A, A, "3 at [0, 0]", "twice"),
    (A / 2, A, "0.75 at [0, 0]", "half"),
    (A[:, :2].T, A[:, :2], "at [0, 1], and 2 of 4", "transposed"),
    (A * 7, A, "10.5 at [0, 0]", "one and the same factor"),
    (A * 0, A, "0 at [0, 0]", "zero everywhere"),
    (np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0, 3.0]), "1 at [0]", None),
    (np.arange(3.0) * 3 + 3, np.arange(3.0) + 1, "3 at [0]", "by the number of rows"),
    (A.T, A, "shape (3, 2)", "transposed"),
    (A.sum(0), A.sum(0, keepdims=True), "shape (3,)", "keepdims"),
    (A, A.sum(0, keepdims=True), "shape (2, 3)", "broadcast"),
    (A[:, :2], A, "shape (2, 2)", None), (A[:1, :2], A, "shape (1, 2)", None),
    (A + [0, 0, np.nan], A, "nan at [0, 2]", "overflow"),
    (np.inf, 2.0, "inf", "overflow"),
    (5.0, np.inf, "5, which is off", None),
    (np.array([1e308, -1e308]), np.array([1e-308, 1.7e308]), "1e+308 at [0]", None),
    (-np.inf, np.inf, "-inf, which is off", "sign"),
    (np.array([1.0, 2.0]), np.array([1.0, np.nan]), "2 at [1]", None),
    (np.ones(3, bool), np.ones(3), "True and False", None),
    (-2.5, 2.5, "-2.5, which is off", "sign"),
    (None, A, "nothing (None): is a return missing?", None),
    ({"a": None}, {"a": 1.0}, "nothing (None)", None),
    ("1.5", 1.5, "a string", None),
    (True, 1.0, "a bool", None),
    (0.0, 1.0, "0, which is off", None),
    (3.0, 1.5, "3, which is off", None),
    (np.full(3, 2.0), np.ones(3), "2 at [0]", None),
    (True, False, "True", None),
    ([1.5], 1.5, "a list", None),
    ({}, A, "a dict", None),
    ([1.0], [1.0, 2.0], "1 items: [1]", None),
    (3.0, None, "3", None),
    ("z2", "z1", "z2", None),
    ({"a": 1.0}, {"a": 1.0, "b": 2.0}, "entries for ['a']", None)])
def test_what_differs_is_said_in_words(got, want, came_back, look):
    wrong = told(expect, got, want, "delta of b1")
    assert "delta of b1" in wrong.expected and came_back in wrong.came_back
    assert look is None and wrong.look is None or look in wrong.look


@pytest.mark.parametrize("tolerance", [1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("want", [0.0, 1.0, 5e3, -5e3])
def test_the_tolerance_is_relative_to_one_and_the_number(want, tolerance):
    allowed = tolerance * (1 + abs(want))
    expect(want + 0.99 * allowed, want, "z", tolerance=tolerance)
    expect([want - 0.99 * allowed], [want], "z", tolerance=tolerance)
    assert f"agree to {tolerance:.0e}" in told(expect, want - 1.01 * allowed, want, "z", tolerance=tolerance).expected
    told(expect, {"a": [want + 1.01 * allowed]}, {"a": [want]}, "z", tolerance=tolerance)


def test_without_a_tolerance_nine_digits_have_to_agree():
    expect(1 + 1.9e-9, 1.0, "z")
    told(expect, 1 + 2.1e-9, 1.0, "z")


def test_a_context_says_what_was_given_and_has_a_hint_for_who_has_none():
    def raised(wrong, *call, **words):
        with pytest.raises(Wrong) as caught, given(*call, **words):
            raise wrong
        return caught.value.given, caught.value.look

    steps = [("z1", "mul", ("h", 2.0)), ("z2", "half", ("z1",))]
    assert raised(Wrong("a number"), steps, "Look at half.", h=3.0) == ("z1 = mul(h, 2.0); z2 = half(z1), h = 3", "Look at half.")
    assert raised(Wrong("a number", look="Its own."), "a list", "Look at half.") == ("a list", "Its own.")
    assert raised(Failed("a number"), "a list", "Of a number.", "Of an error.") == ("a list", "Of an error.")
    assert raised(Failed("a number"), None, "Of a number.") == (None, "Of a number.")
    assert raised(Failed("a number", "not written yet"), "a list", "Of a number.") == ("a list", None)
    inner = Wrong("a number")
    inner.given = "the inner one"
    assert raised(inner, "the outer one")[0] == "the inner one"


def test_a_part_is_told_with_the_words_of_its_case():
    @told_of("train with {0} epochs")
    def part(student, rng, epochs):
        expect(epochs, 3, "the number")
        return 0.5

    assert part(None, None, 3) == 0.5
    assert told(part, None, None, 4).given == "train with 4 epochs"


def test_a_slip_is_what_gives_the_same_result():
    slips = [(A, "It is A."), (2.0, "It is two."), (np.full(3, 2.0), "It is three twos.")]
    assert [slip(got, slips, "neither") for got in (A, 2, np.full(3, 2.0), 2.1, "A", None)] == [
        "It is A.", "It is two.", "It is three twos.", "neither", "neither", "neither"]


def test_a_list_is_on_one_line_and_a_long_one_is_cut_in_the_middle():
    assert listing([]) == "the empty list"
    long = listing([(f"z{k}", "half", ("x",)) for k in range(1000)], 100)
    assert len(long) == 103 and long.startswith("z0 = half(x); ") and long.endswith("z999 = half(x)") and " … " in long


def test_one_element_that_is_off_in_a_large_array_is_found():
    got = np.zeros((40, 50))
    got[7, 3] = 1e-3
    assert told(expect, got, np.zeros((40, 50)), "z").came_back == "0.001 at [7, 3], and 1 of 2000 elements that are off"


def test_the_number_that_was_wanted_is_never_told():
    rng = np.random.default_rng(0)
    for shape in (), (3,), (4, 3):
        want = rng.standard_normal(shape)
        wrong = told(expect, np.asarray(want + 1), want, "z")
        said = " ".join(filter(None, (wrong.expected, wrong.came_back, wrong.look)))
        assert not any(f"{x:.4g}" in said for x in want.flat)


def test_the_hint_of_the_part_follows_what_the_numbers_tell():
    assert told(expect, -A, A, "d", look="Look at subtract.").look == "Look at subtract. Its sign is the other way round."


@pytest.mark.parametrize("got, came_back", [
    (np.full((2, 3), 0.5), "a row of sum 1.5"), (np.array([[1.5, -0.5, 0]] * 2), "-0.5"), (np.full((2, 3), np.nan), "nan"),
    (np.ones((3, 2)) / 2, "shape (3, 2)"), (np.full((2, 3), 1e308), "inf"),
    ([[1.0]], "a list"), (np.zeros((2, 3), bool), "an array")])
def test_what_are_no_probabilities_is_refused(got, came_back):
    assert came_back in told(expect_probabilities, got, (2, 3), "p").came_back


def test_one_probability_that_is_nan_is_called_so():
    assert told(expect_probabilities, np.array([[np.nan, 1.0]]), (1, 2), "p").expected == "p: finite numbers"


def test_what_are_probabilities_passes():
    expect_probabilities(np.array([[0.25, 0.75], [1.0, 0.0]]), (2, 2), "p")
    expect_probabilities(np.array([[1.25, -0.25]]), (1, 2), "p", tolerance=0.25)


def test_a_condition_and_a_mapping_are_told_in_their_own_words():
    assert told(expect_that, False, "rows that sum to 1", A).came_back.endswith("shape (2, 3)")
    assert told(expect_mapping, None, ["W"], "the parameters").came_back.startswith("nothing")
    expect_that(True, "nothing")


@pytest.mark.parametrize("x, none, full, credit", [(0.9, 0.5, 0.9, 1), (0.7, 0.5, 0.9, 0.5), (0.2, 0.5, 0.9, 0),
                                                   (30, 60, 20, 0.75), (np.nan, 0, 1, 0), (np.inf, 0, 1, 0)])
def test_credit_by_scale(x, none, full, credit):
    assert scale(x, none, full) == pytest.approx(credit)


def test_what_is_shown_is_short():
    for value in (np.arange(1e6), "x" * 10**6, list(range(10**6)), {str(k): A for k in range(1000)}, [[A] * 50] * 50, len):
        assert len(shown_value(value)) <= 160
    assert shown_value(A) == "[[ 1.5 -2. 3.25] [ 0.5 4. -1. ]], shape (2, 3)" and shown_value(len) == "len"


@pytest.mark.parametrize("got, want, words", [
    ([1, 2, 3], [1, 2], "2 items"), (5, [1], "1 items"), ({"a": 1.0}, {c: 1.0 for c in "abcdefg"},
        "an entry for 'b', 'c', 'd', 'e'"),
    ({c: 1.0 for c in "bcdefgh"}, {"a": 1.0}, "an entry for 'a'"), ([], {"a": 1.0}, "a dict"), ("b", "a", "another str"), (1,
        "a", "a string"),
    (True, False, "another bool"), (1, None, "None"), (1, True, "a bool"), (np.True_, 1.0, "a number"), (np.ones(2, bool), A,
        "numbers"),
    (np.ones(2), A, "shape (2, 3)"), (1.0, np.ones(2), "shape (2,)"), (True, np.ones(2), "an array of shape (2,)"), (2.0, 1.0,
        "agree to 1e-09")])
def test_what_was_expected_is_said_by_its_kind(got, want, words):
    assert f"z{': ' * ('agree' not in words)}{' to ' * ('agree' in words)}{words}" in told(expect, got, want, "z").expected


def test_the_place_of_a_difference_is_said_and_the_hint_kept():
    for got, want, name in ([1.0, [2.0, 3.5]], [1.0, [2.0, 3.0]], "z[1][1]"), ({"a": (1.0, 4.0)}, {"a": (1.0, 2.0)}, "z['a'][1]"):
        wrong = told(expect, got, want, "z", "Look.", 1e-3)
        assert wrong.expected.startswith(f"{name} to agree to 1e-03") and wrong.look == "Look."
    assert told(expect, {"a": "b"}, {"a": "c"}, "z", "Look.").look == told(expect, None, [1], "z", "Look.").look == "Look."
    assert told(expect, [1], [1, 2], "z", "Look.").look == told(expect, np.ones(3, bool), np.ones(3), "z",
        "Look.").look == "Look."
    for got, want in (A.T, A), (A * np.inf, A), ("1", 1.0):
        assert told(expect, got, want, "z", "Look.").look == "Look."
    assert told(expect, -A, A, "z", "Look there").look == "Look there. Its sign is the other way round."
    assert told(expect, np.inf * A, A, "z").expected == "z: finite numbers" and told(expect, [np.nan], [1.0],
        "z").came_back == "nan"


def test_a_share_of_the_credit_is_told_below_1_alone():
    expect_share(1.0, "all", "x")
    wrong = told(expect_share, 0.75, "nine of ten", [1, 2], "Look.")
    assert (wrong.expected, wrong.came_back, wrong.look, wrong.credit) == ("nine of ten", "[1, 2]", "Look.", 0.75)
    assert told(expect_share, 0.0, "all", None).credit == 0 and Wrong("all").credit == 0


@pytest.mark.parametrize("shape", [(4,), (2, 3, 4)])
def test_probabilities_are_along_the_last_axis(shape):
    expect_probabilities(np.full(shape, 0.25), shape, "p")
    assert "rows that sum to 1" in told(expect_probabilities, np.full(shape, 0.2), shape, "p").expected


@pytest.mark.parametrize("factor, sentence", [
    (-1, "Its sign is the other way round."), (2, "It is twice what it should be."), (0.5,
        "It is half of what it should be."), (0, "It is zero everywhere: does anything arrive here?"),
    (4, "It is too large by the number of rows, as a sum in the place of a mean is."), (0.25,
        "It is too small by the number of rows, as a mean in the place of a sum is."),
    (3, "All elements are off by one and the same factor.")])
def test_a_slip_that_the_numbers_reveal_is_named_for_arrays_with_infinities_too(factor, sentence):
    want = np.arange(1.0, 13).reshape(4, 3)
    assert about_numbers(factor * want, want, 1e-9) == sentence
    assert not factor or about_numbers(factor * want + 1e-10, want, 1e-6) == sentence
    off = factor * want
    off[2, 1] += 0.5
    assert about_numbers(off, want, 1e-9) is None
    if factor > 1:
        want[0, 0] = np.inf
        assert about_numbers(factor * want, want, 1e-9) == sentence


def test_a_factor_is_told_by_the_largest_element_and_1_is_none():
    assert about_numbers(np.array([1.0000005, 2.0]), np.array([1.0, 2.0]), 1e-9) is None
    got, want = np.array([7.7e-12, 7.0, 14.0]), np.array([1e-12, 1.0, 2.0])
    assert about_numbers(got, want, 1e-9) == "All elements are off by one and the same factor."


def test_slips_are_no_slips_where_they_change_nothing():
    ones = np.ones((4, 4))
    assert about_numbers(2 * ones, ones, 1e-9) is None
    assert about_numbers(np.zeros(3), np.array([0, 0, 1.0]), 1e-9) is None
    symmetric = A.T @ A
    assert about_numbers(symmetric.T + 1.0, symmetric, 1e-9) is None
    assert about_numbers((symmetric + A[0]).T, symmetric + A[0], 1e-9) == "It is transposed."


@pytest.mark.parametrize("got, want, word", [
    ((2, 3), (3, 2), "transposed"), ((2, 3, 4), (4, 3, 2), "transposed"), ((6,), (2, 3), "keepdims"), ((1, 3), (3,), "keepdims"),
    ((1, 3), (2, 3), "broadcast"), ((2, 3), (1, 3), "broadcast"), ((2, 1), (2, 3), "broadcast"),
    ((4, 3), (2, 3), None), ((4, 1), (2, 3), None), ((3,), (2, 3), None), ((5,), (1, 2), None)])
def test_shapes_that_are_alike_have_a_sentence(got, want, word):
    sentence = about_shapes(got, want)
    assert sentence is None if word is None else word in sentence


def test_sorts_and_values_in_words():
    assert [sort_of(x) for x in (None, A, 1, 1.0, "a", True, [1], {}, np.float32(1))] == [
        "nothing (None): is a return missing?", "an array of shape (2, 3)", *["a number"] * 2, "a string", "a bool",
        "a list", "a dict", "a float32"]
    assert shown_value([*range(8)]) == "[0, 1, 2, 3, 4, 5, 6, 7]"
    assert shown_value([*range(9)]) == "[0, 1, 2, 3, 4, 5, 6, 7, … 9 in all]"
    assert shown_value((1,)) == "(1,)"
    assert shown_value((1, 2.5)) == "(1, 2.5)"
    assert shown_value(()) == "()"
    assert shown_value(1 / 3) == "0.3333333333"
    assert shown_value({k: k for k in range(6)}) == "{0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5}"
    assert shown_value({k: k for k in range(7)}).endswith("5: 5, …}")
    assert shown_value("x" * 158) == repr("x" * 158)
    assert shown_value("x" * 159) == repr("x" * 159)[:158] + " …"
    assert len(shown_value("x" * 159)) == 160
    assert shown_value("x" * 90, 20) == "'" + "x" * 17 + " …" and shown_value(functools.partial(len)) == "a function"
    assert shown_value(np.arange(7.0)) == "[0. 1. ... 5. 6.], shape (7,)"
    assert shown_value(A + 0.12345).startswith("[[ 1.6235 -1.8765")


def test_probabilities_may_be_off_by_the_tolerance_alone():
    row = np.array([[0.5, 0.5]])
    expect_probabilities(row + [[0, 9e-7]], (1, 2), "p")
    expect_probabilities(np.array([[1 + 9e-7, -9e-7]]), (1, 2), "p")
    assert told(expect_probabilities, row + [[0, 2e-5]], (1, 2), "p").expected == "p: rows that sum to 1"
    assert told(expect_probabilities, np.array([[1 + 2e-6, -2e-6]]), (1, 2), "p").expected == "p: no negative probability"
    assert told(expect_probabilities, np.array([[0.5, 0.25], [0.5, 0.75]]), (2, 2), "p").came_back == "a row of sum 0.75"
    assert told(expect_probabilities, row * np.inf, (1, 2), "p").look.startswith("Where does it overflow")
    assert scale(0.5, 0.0, 1.0) == 0.5 and scale(2.0, 0.0, 1.0) == 1.0 and scale(-1, 0.0, 2.0) == 0.0
