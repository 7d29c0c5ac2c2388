"""The rows that read strings and dates: their values against Python's own."""
import datetime
import os
from importlib.util import find_spec

import numpy as np
import pytest

import ops
from ops import G
from ops.arrays.indexing import add_at
from xman import compile, eval, gradient


@pytest.mark.parametrize("kind", [str, object, np.dtypes.StringDType()])
def test_codes_are_the_places_of_categories_and_what_is_not_there_is_one_more(kind):
    x = np.array(["b", "a", "", "B", "b"], kind)
    assert G["codes"](x, ("a", "b")).tolist() == [1, 0, 2, 2, 1] and G["codes"](x, ("", "b")).tolist() == [1, 2, 0, 2, 1]


def test_a_missing_cell_is_an_empty_one():
    x = np.array([None, "a"], object)
    assert G["codes"](x, ("a", "")).tolist() == [1, 0] and G["codes"](x, ("a",)).tolist() == [1, 0]
    assert G["characters"](x, 2).tolist() == [[0, 0], [97, 0]] and G["words"](x, ("a",)).tolist() == [[0], [1]]
    assert np.isnan(G["days"](np.array([None], object))).all()


def test_characters_are_code_points_beyond_the_first_plane_too():
    strings = ["Ærø", "", "𝔘nix", "a" * 50]
    wanted = [[ord(c) for c in s[:5]] + [0] * (5 - len(s[:5])) for s in strings]
    assert G["characters"](np.array(strings), 5).tolist() == wanted == G["characters"](np.array(strings, object), 5).tolist()
    assert G["characters"](np.zeros((0,), object), 3).shape == (0, 3) and G["characters"](np.zeros((2, 1), "U1"), 3).shape == (2, 1, 3)


def test_words_are_counted_whatever_their_case():
    x = np.array(["Don't stop, DON'T!", "nothing", "stop-stop"], object)
    assert G["words"](x, ("don't", "stop")).tolist() == [[2, 1], [0, 0], [0, 2]]


def test_days_are_those_since_1970():
    random = np.random.default_rng(0)
    for second in random.integers(-4 * 10 ** 9, 4 * 10 ** 9, 50).tolist():
        date = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=second)
        for x in (np.array([date.isoformat()], object), np.array([date.isoformat()]), np.array([date], "datetime64[s]")):
            assert G["days"](x)[0] == second / 86400
    assert G["days"](np.array(["2024-01-31", ""])).tolist()[0] == 19753.0


@pytest.mark.parametrize("engine", ["interpret", "numpy", "llvm", pytest.param("jax", marks=pytest.mark.skipif(
    find_spec("jax") is None, reason="this engine needs jax")), "tape", "auto"])
def test_every_engine_runs_a_list_that_begins_with_strings(engine):
    steps = [("c", "codes", ("colour", ("blue", "red"))), ("k", "getitem", ("c", slice(None), None)),
             ("one", "equal", ("k", np.array([0, 1, 2]))), ("day", "days", ("sold",)), ("t", "stack", (1, "day", "size")),
             ("text", "characters", ("name", 3)), ("w", "words", ("name", ("a",))), ("all", "concat", (1, "one", "t", "text", "w")),
             ("x", "astype", ("all", ("float32",))), ("z", "dot", ("x", "W")), ("p", "softmax", ("z",))]
    values = {"colour": np.array(["red", "green", ""], object), "sold": np.array(["2024-01-31", "1970-01-02", None], object),
              "name": np.array(["a", "b a", ""]), "size": np.array([1.0, 2.0, 3.0]), "W": np.linspace(-1, 1, 18).reshape(9, 2) / 1e4}
    program, wanted = compile(steps, ["p", "c"], engine), eval(steps, values)
    for _ in range(2):
        found = program(values)
        assert np.allclose(found["p"], wanted["p"], equal_nan=True) and found["c"].tolist() == [1, 2, 2]
    assert {"codes", "characters", "words", "days"} <= ops.G.keys()


WORDS = ["b", "", "A rose is a rose", "é𝔘", "a", "2024-01-31"]
KINDS = {"str": str, "object": object, "StringDType": np.dtypes.StringDType(), "dates": "datetime64[D]", "seconds": "datetime64[s]"}
CALLS = [("codes", (("a", "b"),)), ("codes", (("",),)), ("codes", ((),)), ("characters", (1,)), ("characters", (4,)),
         ("words", (("a", "rose"),)), ("words", ((),))]


@pytest.mark.filterwarnings("ignore:the engine tape cannot build this list:RuntimeWarning")  # dates: numpy runs it, and that is said
@pytest.mark.parametrize("engine", ["interpret", "numpy", "tape"] + ["llvm", "jax", "auto"] * bool(os.environ.get("XMAN_ALL_CASES")))
@pytest.mark.parametrize("kind", KINDS)
def test_every_engine_reads_strings_of_any_kind_and_shape_as_eval_does(kind, engine):
    """One list of all calls, with a gradient behind each, for no rows, one, several, and rows of several cells."""
    dates = kind in ("dates", "seconds")
    calls = [("days", ())] if dates else CALLS
    steps = [line for k, (op, literals) in enumerate(calls) for line in (
        (f"r{k}", op, ("x", *literals)), (f"f{k}", "astype", (f"r{k}", ("float64",))), (f"m{k}", "mul", (f"f{k}", "w")),
        (f"s{k}", "sum", (f"m{k}",)))]
    steps += [("sums", "stack", (0, *(f"s{k}" for k in range(len(calls))))), ("y", "sum", ("sums",))]
    slopes = gradient(steps, "y", ["w"])
    for shape in ((0,), (1,), (6,), (3, 2)):
        cells = np.resize(np.array(["2024-01-31", "1969-12-31"] if dates else WORDS), shape).astype(KINDS[kind])
        values = {"x": cells, "w": np.array(1.5)}
        outputs = ["y", "dy_dw", *(f"r{k}" for k in range(len(calls)))]
        wanted, found = eval(slopes, values), compile(slopes, outputs, engine)(values)
        for name in outputs:
            np.testing.assert_allclose(found[name], wanted[name], rtol=1e-12, err_msg=f"{name} {shape}")
            assert np.shape(found[name]) == np.shape(wanted[name]), (name, shape)


TWICE = np.array([0, -1, 0, 3, 1, -1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("keys", [
    (TWICE,), (TWICE.reshape(2, 3),), (TWICE.tolist(),), (TWICE, TWICE % 3), (TWICE, TWICE % 3, TWICE), (TWICE, 1), (2, TWICE % 3),
    (slice(None), TWICE % 3), (Ellipsis, TWICE), (None, TWICE), (TWICE, slice(0, 2), TWICE), (TWICE[:, None], TWICE[:2]),
    (np.arange(4) > 1,), (np.arange(12).reshape(4, 3) % 2 > 0,), (True, TWICE), (np.array(2), TWICE % 3), (np.array([], int),)])
def test_entries_are_added_at_the_places_of_any_keys_with_the_bits_of_numpys_add_at(keys, dtype):
    random = np.random.default_rng(0)
    expected, sums = np.zeros((4, 3, 1000), dtype), np.zeros((4, 3, 1000), dtype)
    d = random.normal(size=expected[keys].shape).astype(dtype)
    for delta in (d, d[..., -1:] if d.ndim else d):  # the second spreads
        expected, sums = np.zeros_like(expected), np.zeros_like(sums)
        np.add.at(expected, keys, delta)
        add_at(sums, keys, delta)
        np.testing.assert_array_equal(sums, expected)
