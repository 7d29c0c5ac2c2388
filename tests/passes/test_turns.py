"""What turns are made of: which literals stack, where a turn begins, which places an axis goes along, how a carry begins."""
import numpy as np
import pytest

import xman
from xman.passes.loops.repeats import FEWEST, beginnings, lines_in, may_vary, places, regions_that_repeat, token
from xman.passes.loops.turns import NoLoop, movement, moving_axes, place_along, stacked_literals

A, F = np.arange(3.0), np.arange(3, dtype=np.float32)
F64, F32, I64, I32, BOOL = map(np.dtype, ("f8", "f4", "i8", "i4", "?"))


@pytest.mark.parametrize("literals, dtype, stack", [
    ([A, A + 1], F64, np.stack([A, A + 1])), ([F, F + 1], F64, np.stack([F, F + 1])), ([np.arange(3)] * 2, F64, np.stack([np.arange(3)] * 2)), ([A,
        A[:2]], F64, None), ([A, F], F64, None), ([A, 1.0], F64, None),
    ([1, 2.5], F64, [1.0, 2.5]), ([1, 2.5], F32, [1.0, 2.5]), ([1, 2], I64, [1, 2]), ([1, 2], I32, [1, 2]), ([1, 2.5], I64, None), ([1.0, 2.0], I64,
        None), ([True, 2], I64, None), ([True, False], BOOL, None),
    ([np.float64(1), 2.5], F64, [1.0, 2.5]), ([np.float32(1), 2.5], F64, None), ([np.float32(1), np.float32(2)], F64, np.array([1, 2],
        F32)), ([np.float64(1), 2.5], F32, None)])
def test_literals_are_stacked_as_the_line_reads_them(literals, dtype, stack):
    if stack is None:
        with pytest.raises(NoLoop, match="literals differ in shape or precision"):
            stacked_literals(literals, dtype)
    else:
        found = stacked_literals(literals, dtype)
        np.testing.assert_array_equal(found, stack)
        assert found.dtype == getattr(stack, "dtype", dtype)


def test_places_along_an_axis():
    assert [place_along(k, 5) for k in (0, 4, -1, -5)] == [0, 4, 4, 0]
    assert [place_along(slice(*k), 5) for k in ((0, 5), (1, 3), (1, 5, 2), (2, 2))] == [[0, 1, 2, 3, 4], [1, 2], [1, 3], []]
    for k in (slice(0, 6), slice(-1, 3), slice(3, 1)):
        with pytest.raises(NoLoop, match="a slice goes past an end"):
            place_along(k, 5)
    keys = [(0, 1, slice(0, 2)), (0, 2, slice(0, 2)), (0, 3, slice(0, 2))]
    assert moving_axes(keys) == [1] and moving_axes(keys[:1]) == [] and moving_axes([(0, 1), (1, 2)]) == [0, 1]
    assert movement("x", keys) == movement("x", [(5, *key[1:]) for key in keys]) != movement("x", keys[::-1]) and movement("x",
        keys) != movement("w", keys)


def test_what_has_to_be_the_same_in_all_turns():
    same = [[("y", "add", ("x", 1.0)), ("z", "add", ("w", 2)), ("u", "add", ("w", "x")), ("u", "add", ("w", np.float64(3)))], [("y", "exp", ("x",)),
        ("z", "exp", (A,)), ("z", "exp", (A + 1,))],
            [("y", "getitem", ("x", 1)), ("y", "getitem", ("w", -2))], [("y", "getitem", ("x", slice(1, 3))), ("y", "getitem", ("x", slice(2, 4)))],
            [("y", "getitem", ("x", "k")), ("y", "getitem", ("w", "j"))], [("y", "power", ("x", 2))], [("y", "power", ("x", 2.0))], [("y", "power",
                ("x", 3))], [("y", "sum", ("x", 0))], [("y", "sum", ("x", 1))],
            [("y", "getitem", ("x", slice(1, 4)))], [("y", "getitem", ("x", slice(1, 3, 1)))], [("y", "getitem", ("x", slice(None)))], [("y",
                "getitem", ("x", 1, 2))], [("y", "add", ("x", True))], [("y", "exp", (np.arange(3),))]]
    tokens = [{token(line) for line in lines} for lines in same]
    assert all(len(kinds) == 1 for kinds in tokens) and len(set.union(*tokens)) == len(same)
    assert [may_vary(a, op) for a, op in (("x", "exp"), (1, "mul"), (1.5, "maximum"), (1, "power"), (True, "mul"), (A, "exp"), (np.float32(1),
        "exp"), (np.arange(2), "exp"), ((1,), "mul"))] == [
        True, True, True, False, False, True, True, False, False]


def handed_on(lines, at):
    """How many registers made before a line are read from it on."""
    made = {dst for dst, _, _ in lines[:at]}
    return len({a for _, _, args in lines[at:] for a in args} & made)


def test_a_turn_begins_where_the_fewest_registers_are_handed_on():
    draw, period, turns = np.random.default_rng(4), 7, 9
    for _ in range(40):
        back = [sorted({*draw.integers(1, 5, 2).tolist()}) for _ in range(period)]
        lines = [(f"z{i}", f"op{i % period}", tuple(f"z{i - k}" if i >= k else "x" for k in back[i % period])) for i in range(period * turns)]
        middle = period * (turns // 2)
        carries = [handed_on(lines, middle + first) for first in range(period)]
        starts = beginnings(lines, 0, len(lines), period)
        order = sorted(range(period), key=lambda first: (carries[first], -((len(lines) - first) // period), first))
        assert starts == order[:3]
    assert beginnings(lines[:FEWEST * period], 0, FEWEST * period, period) == [0]
    shifted = [("a", "first", ("x",)), ("b", "second", ("x",)), *lines]
    assert beginnings(shifted, 2, len(shifted), period) == [start + 2 for start in starts]


def test_where_lines_repeat():
    chain = [(f"z{i}", ("sin", "cos", "exp")[i % 3], (f"z{i - 1}",)) for i in range(1, 13)]
    assert (0, 12, 3) in regions_that_repeat(chain) and lines_in(regions_that_repeat(chain)) == 12
    other = [("a", "tan", ("x",)), *chain, ("b", "tanh", ("z12",)), ("c", "log", ("b",))]
    assert (1, 13, 3) in regions_that_repeat(other) and lines_in(regions_that_repeat(other)) == 12
    assert regions_that_repeat(chain[:11]) == [] and lines_in(regions_that_repeat(chain[:11])) == 0 and regions_that_repeat([]) == []
    found = [*places(other, regions_that_repeat(other))]
    assert found[0] == (1, 3, 4) and all(count >= FEWEST for *_, count in found)
    long = [(f"z{i}", ("sin", "cos", "exp")[i % 3], (f"z{i - 1}",)) for i in range(1, 40)]
    assert [p for p in places(long, regions_that_repeat(long)) if p[1] == 3 and p[0] % 3 == 0] == [(0, 3, 13), (3, 3, 12), (6, 3, 11), (9, 3, 10)]


START = {"x": np.float64(0.5), "i": np.int64(3), "f": np.float32(0.5), "v": np.ones(3), "b": np.bool_(True), "g": F}


@pytest.mark.parametrize("start, op, other, loop", [
    (0.5, "mul", "x", True), (1, "mul", "x", True), (2, "mul", "i", True), (np.nan, "mul", "x", True), (0.5, "mul", "f", True), (0.1, "mul", "f",
        False), (1, "mul", "f", True),
    (2.0, "floor_divide", "i", False), (True, "mul", "i", False), (1.0, "mul", "v", False), (np.ones(3), "mul", "v", True), (np.ones(2), "mul", "x",
        True), (F, "mul", "g", True), (F, "mul", "v", False),
    ("x", "mul", "x", True), ("f", "mul", "x", False), ("i", "add", "i", True), ("v", "mul", "x", True), ("x", "mul", "v", False), (2 ** 60 + 1,
        "mul", "x", False), (2 ** 60 + 1, "add", "i", True), (-0.0, "mul", "x", True)])
def test_a_carry_begins_with_what_has_its_kind_to_the_last_bit(start, op, other, loop):
    """Where it has not, the first turn stays a line."""
    steps = [(f"z{k}", op, (f"z{k - 1}" if k else start, other)) for k in range(6)]
    values = {name: START[name] for name in {other, start} & START.keys()} if isinstance(start, str) else {other: START[other]}
    with np.errstate(all="ignore"):
        whole = xman.eval(steps, values)["z5"]
        rolled = xman.roll(steps, values)
        found = xman.eval(rolled, values)["z5"]
    assert np.asarray(found).dtype == np.asarray(whole).dtype and np.array_equal(found, whole, equal_nan=True)
    assert "scan" in [op for _, op, _ in rolled] and (rolled[0][1] in ("bundle",)) == loop, rolled


def test_places_behind_an_ellipsis_are_no_slice():
    steps = [line for t in range(5) for line in ((f"e{t}", "getitem", ("x", Ellipsis, t)), (f"m{t}", "sum", (f"e{t}",)),
                                                 (f"s{t}", "add", (f"s{t - 1}" if t else 0.0, f"m{t}")))]
    likes = {"x": np.arange(120.0).reshape(4, 5, 6)}
    assert xman.eval(xman.roll(steps, likes), likes)["s4"] == likes["x"][..., :5].sum()


def test_a_step_takes_the_names_of_the_list():
    lines = [line for t in range(40) for line in ((f"z{t + 1}", "mul", (f"h{t}", "w")), (f"h{t + 1}", "tanh", (f"z{t + 1}",)))]
    assert str(xman.roll(lines, {"h0": 1.0, "w": 2.0})).partition("\n\n")[0] == (
        "def step(h40, t, w):\n    z1   = mul(h40, w)\n    h401 = tanh(z1)\n    return h401")


def test_turns_read_parts_of_an_array_that_is_a_literal():
    steps = [(f"g{t}", "getitem", (A, "k")) for t in range(8)]
    steps += [line for t in range(8) for line in ((f"a{t}", "mul", (f"h{t}", f"g{t}")), (f"h{t + 1}", "sin", (f"a{t}",)))]
    values = {"h0": 0.5, "k": np.int64(1)}
    assert xman.eval(xman.roll(steps, likes=values), values)["h8"] == xman.eval(steps, values)["h8"]
