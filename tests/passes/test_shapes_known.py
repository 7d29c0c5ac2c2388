"""Helpers of rules where shapes are known: for each pair of shapes and precisions the same bits, and no helper where none is needed."""
import itertools

import numpy as np
import pytest

from tests.passes.lists_with_values import assert_same_bits
from tests.passes.random_lists import random_list
from xman import eval
from xman.passes import ALGEBRA, EXACT, STABLE, simplify
from xman.passes.lower import lowered

R = np.random.default_rng(8)
SHAPES = [(), (1,), (3,), (0,), (1, 3), (2, 3), (2, 1), (1, 1), (4, 2, 3), (4, 1, 1), (0, 3), (1, 2, 3)]
DTYPES = [(np.float64, np.float64), (np.float32, np.float32), (np.float32, np.float64), (np.float64, np.float32), (np.int64, np.float64), (np.bool_,
    np.float64)]


def drawn(shape, dtype):
    x = R.choice([0.0, -0.0, 1.5, -2.0, np.inf, np.nan, 0.25], shape) if np.dtype(dtype).kind == "f" else R.integers(0, 2, shape)
    return np.asarray(x, dtype)[()]


def same(steps, values, rewrites=EXACT):
    """The shorter list, whose last register has the same bits as that of steps. None if there are no values."""
    of = steps[-1][0]
    try:
        want = eval(steps, values)[of]
    except ValueError:
        return None
    short = simplify(steps, [of], values, rewrites)
    with np.errstate(all="ignore"):
        got = eval(short, values)[of]
    np.testing.assert_array_equal(got, want, strict=True, err_msg=str(short))
    np.testing.assert_array_equal(np.signbit(got) & ~np.isnan(got), np.signbit(want) & ~np.isnan(want),
        err_msg=str(short)) if np.asarray(want).dtype.kind == "f" else None
    return [op for _, op, _ in short]


@pytest.mark.parametrize("of_x, of_like", DTYPES)
@np.errstate(all="ignore")
def test_what_spreads_or_is_summed_to_a_shape(of_x, of_like):
    for few, many in itertools.product(SHAPES, SHAPES):
        x, like = drawn(few, of_x), drawn(many, of_like)
        found = same([("y", "broadcast", ("x", "l"))], {"x": x, "l": like})
        whole = same([("y", "unbroadcast", ("l", "x"))], {"x": drawn(few, of_like), "l": drawn(many, of_x)})
        if found is not None:
            needless = few == many and of_x == of_like
            assert found == (["alias"] if needless else ["broadcast"]), (few, many)
        if whole is not None and of_x == of_like == np.float64:
            added = [i for i in range(len(many)) if i < len(many) - len(few) or few[i - len(many) + len(few)] == 1 != many[i]]
            one_way = len(many) == len(few) or len(added) == len(many) - len(few)
            assert whole == (["alias"] if few == many else ["sum"] if added and one_way else ["unbroadcast"]), (few, many)
        same([("y", "reshape", ("x", "l"))], {"x": x, "l": like})
        shaped = same([("y", "reshape", ("x", many))], {"x": x})
        assert shaped is None or shaped == (["alias"] if few == many else ["reshape"])
    for shape in SHAPES:
        assert same([("y", "transpose", ("x",))], {"x": drawn(shape, of_x)}) == (["alias"] if len(shape) < 2 else ["transpose"])
    for axis in (0, 1, (0, 1), ()):
        for op in ("broadcast", "unbroadcast"):
            for a, b in itertools.product(((), (2,), (3,), (2, 3)), repeat=2):
                same([("y", op, ("x", "l", axis))], {"x": drawn(a, of_x), "l": drawn(b, of_like)})


OPERATORS = ("add", "subtract", "mul", "divide", "scale", "ratio", "maximum", "minimum", "share", "where")


@np.errstate(all="ignore")
def test_a_broadcast_goes_where_the_operator_spreads_by_itself():
    some = [(), (1,), (3,), (2, 3), (2, 1)]
    for op, (n, spread, other) in itertools.product(OPERATORS, itertools.product(some, repeat=3)):
        for first, dtype in ((True, np.float64), (False, np.float64), (True, np.float32)):
            values = {"n": drawn(n, dtype), "s": drawn(spread, np.float64), "o": drawn(other, np.float64), "c": np.array(True)}
            args = ("z", "o") if first else ("o", "z")
            found = same([("z", "broadcast", ("n", "s")), ("y", op, ("c", *args) if op == "where" else args)], values)
            if found and dtype == np.float64:
                needed = np.broadcast_shapes(n, other) != np.broadcast_shapes(spread, other)
                assert ("broadcast" in found) == needed, (op, n, spread, other)


@np.errstate(all="ignore")
def test_adjoints_of_products_by_shapes():
    sides = [(3,), (2, 3), (5, 2, 3), (1, 2, 3), (0, 3), (2, 1)], [(3,), (3, 2), (5, 3, 2), (3, 0), (1, 2)]
    for a, b in itertools.product(*sides):
        try:
            d = np.shape(np.ones(a) @ np.ones(b))
        except ValueError:
            continue
        values = {"d": R.normal(size=d), "a": R.normal(size=a), "b": R.normal(size=b)}
        for op in ("dot_left", "dot_right"):
            steps = [("y", op, ("d", "a", "b"))]
            short = simplify(steps, ["y"], values)
            np.testing.assert_allclose(eval(short, values)["y"], eval(steps, values)["y"], rtol=1e-14, atol=1e-15, strict=True)
            others = simplify(steps, ["y"], {**values, "d": R.normal(size=(7,))})
            assert [line[1] for line in others] == [op]  # a delta of another shape: as it is


@np.errstate(all="ignore")
def test_labels_and_shares_of_a_shape():
    for y, like in itertools.product(SHAPES, SHAPES):
        for of_y in (np.float64, np.int64):
            found = same([("r", "oneHot", ("y", "l"))], {"y": drawn(y, of_y), "l": drawn(like, np.float64)})
            assert found is None or found == (["alias"] if of_y == np.float64 else ["oneHot"])
    for c, x in itertools.product(SHAPES, SHAPES):
        for of_c in (np.bool_, np.float64, np.int64):
            same([("z", "broadcast", ("c", "x")), ("y", "not_equal", ("z", 0.0))], {"c": drawn(c, of_c), "x": drawn(x, np.float64)})
        for x_is in (np.float64, np.float16, np.int64):
            for axis in (None, 0, -1, (0,)):
                same([("n", "count", ("x", axis)), ("y", "add", ("n", "w"))], {"x": drawn(x, x_is), "w": np.float64(1.5)})


@np.errstate(all="ignore")
def test_values_stay_whichever_shapes_are_known():
    for seed in range(30):
        steps, values, special = random_list(seed)
        known = {x: v for x, v in values.items() if R.uniform() < 0.6}
        keep = [dst for dst, _, _ in steps[-6:]]
        short = simplify(steps, keep, known)
        for inputs in (values, special):
            want, got = eval(steps, inputs), eval(short, inputs)
            for x in keep:
                assert_same_bits(got[x], want[x])
    for op in ("oneHot", "reshape", "broadcast", "unbroadcast", "equal", "maximum", "where", "transpose"):
        args = ("c", "x", "w") if op == "where" else ("x",) if op == "transpose" else ("x", "w")
        values = {"c": np.array([True, False]), "x": np.ones((2, 2)) if op == "transpose" else np.array([1.0, 2.0]), "w": np.array([1.0, 3.0])}
        for known in ((), ("x",), ("w",), ("c",), ("c", "x")):
            short = simplify([("y", op, args)], ["y"], {x: values[x] for x in known if x in args})
            assert [line[1:] for line in short] == [(op, args)], (op, known)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("batch", [(), (5,)])
def test_cofactors_of_small_matrices_are_written_out(n, batch):
    a = R.normal(size=(*batch, n, n))
    steps = [("y", "cofactor", ("a",))]
    short = simplify(steps, ["y"], {"a": a}, lowered())
    np.testing.assert_allclose(eval(short, {"a": a})["y"], eval(steps, {"a": a})["y"], rtol=1e-9, atol=1e-12)
    assert ("cofactor" in [op for _, op, _ in short]) == (n == 4)


@pytest.mark.parametrize("lines", [
    [("e", "exp", ("x",)), ("y", "log", ("e",))], [("e", "softmax", ("x",)), ("y", "log", ("e",))], [("e", "sigmoid", ("x",)), ("y", "log",
        ("e",))], [("e", "exp", ("x",)), ("s", "sum", ("e", 0)), ("y", "log", ("s",))],
    [("e", "exp", ("x",)), ("s", "sum", ("e", 1, True)), ("y", "log", ("s",))], [("e", "exp", ("x",)), ("d", "exp", ("w",)), ("s", "mul", ("e",
        "d")), ("y", "log", ("s",))],
    [("e", "exp", ("x",)), ("d", "exp", ("w",)), ("s", "divide", ("e", "d")), ("y", "log", ("s",))], [("e", "exp", ("x",)), ("d", "exp", ("w",)),
        ("s", "add", ("e", "d")), ("y", "log", ("s",))],
    [("e", "exp", ("x",)), ("s", "power", ("e", 3)), ("y", "log", ("s",))], [("e", "exp", ("x",)), ("s", "power", ("e", -0.5)), ("y", "log",
        ("s",))], [("e", "exp", ("x",)), ("s", "mul", (2.5, "e")), ("y", "log", ("s",))],
    [("e", "exp", ("x",)), ("s", "add", (1, "e")), ("y", "log", ("s",))], [("e", "exp", ("x",)), ("s", "add", ("e", 2.0)), ("y", "log",
        ("s",))], [("e", "exp", ("x",)), ("s", "divide", (3.0, "e")), ("y", "log", ("s",))],
    [("e", "softmax", ("x", 0)), ("s", "getitem", ("e", 1)), ("y", "log", ("s",))], [("e", "exp", ("x",)), ("s", "take", ("e", "k", 1)), ("y",
        "log", ("s",))], [("e", "exp", ("x",)), ("s", "transpose", ("e",)), ("t", "flip", ("s", 0)), ("y", "log", ("t",))],
    [("e", "exp", ("x",)), ("s", "reshape", ("e", (6,))), ("y", "log", ("s",))], [("e", "exp", ("x",)), ("d", "sum", ("e", 1, True)), ("q",
        "divide", ("e", "d")), ("s", "sum", ("q", 0)), ("y", "log", ("s",))],
    [("e", "exp", ("x",)), ("d", "exp", ("w",)), ("y", "divide", ("e", "d"))], [("e", "exp", ("x",)), ("y", "divide", (1, "e"))], [("e", "exp",
        ("x",)), ("y", "divide", (2.0, "e"))], [("e", "softmax", ("x",)), ("d", "exp", ("w",)), ("y", "divide", ("e", "d"))]], ids=range(23))
def test_logarithms_and_quotients_of_exponentials_have_none_left_and_are_finite_where_these_overflow(lines):
    for size in (1.0, 800.0, -800.0):
        values = {"x": R.normal(size=(2, 3)) + size, "w": R.normal(size=(2, 3)) + size, "k": np.array([2, 0])}
        values = {name: x for name, x in values.items() if name in {a for _, _, args in lines for a in args if isinstance(a, str)}}
        short = simplify(lines, ["y"], values, EXACT + STABLE)
        names = [op for _, op, _ in short]
        assert "log" not in names and (lines[-1][1] == "divide" or "exp" not in names) and "divide" not in names
        found = eval(short, values)["y"]
        if size == 1.0:
            np.testing.assert_allclose(found, eval(lines, values)["y"], rtol=1e-12)
        elif lines[-1][1] == "log":
            assert np.isfinite(found).all() and (abs(found) < 3000).all()


@pytest.mark.parametrize("lines", [
    [("y", "log", ("x",))], [("e", "exp", ("x",)), ("s", "mul", ("e", "w")), ("y", "log", ("s",))], [("e", "exp", ("x",)), ("s", "mul", (-2.0,
        "e")), ("y", "log", ("s",))], [("e", "exp", ("x",)), ("s", "add", ("e", 0.0)), ("y", "log", ("s",))],
    [("e", "exp", ("x",)), ("s", "power", ("e", "w")), ("y", "log", ("s",))], [("e", "exp", ("x",)), ("s", "subtract", ("e", "w")), ("y", "log",
        ("s",))], [("e", "exp", ("x",)), ("s", "mean", ("e",)), ("y", "log", ("s",))],
    [("e", "exp", ("k",)), ("s", "sum", ("e",)), ("y", "log", ("s",))], [("e", "exp", ("x",)), ("s", "mul", (np.inf, "e")), ("y", "log",
        ("s",))], [("e", "exp", ("x",)), ("y", "divide", ("w", "e"))], [("e", "exp", ("x",)), ("y", "divide", ("e",
            "w"))], [("e", "exp", ("x",)), ("y", "divide", ("e", 2.0))]], ids=range(12))
@np.errstate(all="ignore")
def test_logarithms_of_what_is_not_made_of_exponentials_stay(lines):
    values = {"x": R.normal(size=(2, 3)), "w": R.uniform(0.1, 0.2, (2, 3)), "k": np.array([2, 0])}
    values = {name: x for name, x in values.items() if name in {a for _, _, args in lines for a in args if isinstance(a, str)}}
    for rewrites in (EXACT + STABLE, EXACT + STABLE + ALGEBRA):
        short = simplify(lines, ["y"], values, rewrites)
        assert rewrites != EXACT + STABLE or lines[-1][1] in [op for _, op, _ in short]
        np.testing.assert_allclose(eval(short, values)["y"], eval(lines, values)["y"], rtol=1e-12)
