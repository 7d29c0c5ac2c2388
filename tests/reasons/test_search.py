"""The pieces of the search for a reason: signs and their bounds, what is harmless, the greatest factors."""
import numpy as np
import pytest

from ops.causes.search import HUGE, LEAST, Node, Search, leaves, marked, shows, sign_of, with_harmless
from ops.kinks.masked import Masked
from ops.loops.bodies import Bundle, Parts
from xman import backprop, eval

X = np.array([1.0, np.nan, np.inf, 0.0, 2e10, 0.5e-10])


def test_a_sign_is_that_of_some_entry_and_zeros_of_all():
    assert [sign_of(np.array(x)) for x in (np.nan, -np.inf, -2e10, 0.0, 0.9e-10, 1.0, 0.9e10, 1.5e-10, HUGE, 1 / HUGE)] == [
        "NaN", "infinite", "huge", "zero", "vanished", "", "", "", "", ""]
    assert sign_of(X) == "NaN" and sign_of(X[2:]) == "infinite" and sign_of(X[3:]) == "huge" and sign_of(np.array([0.0,
        1.0])) == ""
    assert sign_of(np.zeros(2)) == "zero" and sign_of(np.zeros(0)) == "" and sign_of(np.array(["a"])) == "" and sign_of(X,
        signs=["infinite"]) == "infinite"
    assert [sign_of(X, (k,)) for k in range(6)] == ["", "NaN", "infinite", "zero", "huge", "vanished"]
    assert shows(X, "NaN", (0, 0)) and not shows(X, "zero") and not shows(X, "NaN", (0,)) and shows(np.full(2, 1e-11), "vanished")
    assert not shows(np.array([1e-11, 1.0]), "vanished") and shows((np.zeros(1), np.zeros(2)),
        "zero") and not shows((np.zeros(1), np.ones(2)), "zero")


def test_places_are_those_in_the_flat_arrays():
    assert marked(X, "NaN").tolist() == [1] and marked((X, X[:2]), "NaN").tolist() == [1, 7] and marked({0: X[:1]},
        "NaN").tolist() == []
    assert [a.tolist() for a in leaves(Bundle((1.0, np.array([2, 3]), "a")))] == [1.0, [2, 3]] and leaves(np.array(["a"])) == []
    assert [a.tolist() for a in leaves(Masked(np.array([1.0])))] == [[1.0]]


@pytest.mark.parametrize("least", LEAST)
def test_harmless_numbers_stand_for_what_has_the_sign_and_no_two_are_alike(least):
    mended = with_harmless(X, "NaN", None, least)
    assert np.array_equal(mended[[0, 2, 3, 4, 5]], X[[0, 2, 3, 4, 5]]) and least <= mended[1] < least + 1
    all_of = with_harmless(np.full(7, np.nan), "NaN", None, least)
    assert len({*all_of}) == 7 and (all_of >= least).all() and (all_of < least + 1).all()
    assert with_harmless(X, "NaN", np.array([0, 2]), least)[1:4:2].tolist()[1] == 0 and np.isnan(with_harmless(X, "NaN",
        np.array([0, 2]), least)[1])
    assert with_harmless(np.zeros(2, int), "zero", None, least).tolist() == [1, 1] and with_harmless(np.nan, "NaN", None,
        least) >= least
    two = with_harmless((X, np.full(1, np.nan)), "NaN", None, least)
    assert type(two) is tuple and np.array_equal(two[0], mended, equal_nan=True) and two[1][0] >= least
    parts = with_harmless(Parts({3: X}), "NaN", None, least)
    assert type(parts) is Parts and np.array_equal(parts[3], mended, equal_nan=True)
    masked = Masked(X)
    assert np.array_equal(with_harmless(masked, "NaN", None, least).value, mended, equal_nan=True)
    assert not isinstance(with_harmless(masked, "zero", None, least), Masked)


def test_the_greatest_factors_lead_back_to_where_an_adjoint_began():
    steps = [("a", "mul", ("x", 3.0)), ("b", "mul", ("x", 0.01)), ("c", "mul", ("a", 0.5)), ("y", "add", ("b", "c"))]
    values = eval(steps, {"x": np.array([0.25, 0.5])})
    deltas = backprop(steps, values, keep=True, y=np.full(2, 0.125)) if "keep" in backprop.__code__.co_varnames else {
        "y": np.full(2, 0.125), "b": np.full(2, 0.125), "c": np.full(2, 0.125), "a": np.full(2, 0.0625), "x": np.full(2, 0.18875)}
    way = Search(steps, values, {"adjoint": deltas}).factors(Node("adjoint", "x"))
    assert [(term.line[0], term.place, factor) for term, factor in way] == [("a", 0, 3.0), ("c", 0, 0.5), ("y", 1, 1.0)]
    assert Search(steps, values, {"adjoint": {}}).factors(Node("adjoint", "x")) == []
