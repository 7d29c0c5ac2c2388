"""Functions that lines apply give what is read and take what they need; all values stay. Drawn at random, and written down."""
import numpy as np
import pytest

import ops
from xman import eval
from xman.passes import simplify
from xman.passes.loops.trimmed import items_read, shorter

NAMES = "pqrstu"


def function(draw, name, n, gives, carries=0):
    """A function of n parameters, of which it may not read all, with so many results; carries keep their place."""
    parameters, lines = NAMES[:n], []
    for k in range(int(draw.integers(2, 5))):
        known = [*parameters, *[line[0] for line in lines]]
        lines.append((f"{name}{k}", str(draw.choice(["add", "mul", "subtract"])), tuple(map(str, draw.choice(known, 2)))))
    known = [*parameters, *[line[0] for line in lines]]
    return ("def", name, tuple(parameters), tuple(lines), tuple(map(str, draw.choice(known, carries + gives))))


def drawn(seed):
    """(steps, values): lines that apply functions to bundles, of what earlier ones gave."""
    draw = np.random.default_rng(seed)
    scalars, steps = ["a", "b", "c"], []
    values = {"a": 0.5, "b": -1.5, "c": 0.25, "X": draw.uniform(-1, 1, 4), "Y": draw.uniform(-1, 1, 4)}
    for k in range(int(draw.integers(2, 5))):
        n, kind = int(draw.integers(2, 6)), str(draw.choice(["scan", "call", "cond"]))
        some = lambda size: [str(x) if draw.random() < 0.85 else 0.75 for x in draw.choice(scalars, size)]
        if kind == "scan":
            carries, slices = int(draw.integers(1, n)), 1 if draw.random() < 0.5 or n < 4 else 2
            carries = min(carries, n - slices)
            one = function(draw, f"f{k}_", n, int(draw.integers(0, 3)), carries)
            entries = (*some(carries), *map(str, draw.choice(["X", "Y"], slices)), *some(n - carries - slices))
            gives, applied = len(one[4]), (one, carries, slices, f"B{k}", *[True] * int(draw.random() < 0.3))
        else:
            gives = int(draw.integers(1, 4))
            functions = [function(draw, f"{word}{k}_", n, gives) for word in ("f", "g")[:1 + (kind == "cond")]]
            entries, carries = some(n), gives
            applied = (*["m"] * (kind == "cond"), *functions, f"B{k}")
            steps += [("m", "greater", ("a", 0.0))] * (kind == "cond" and not any(dst == "m" for dst, *_ in steps))
        steps += [(f"B{k}", "bundle", tuple(entries)), (f"S{k}", kind, applied)]
        for i in range(gives):
            if i < carries:
                steps.append((f"y{k}_{i}", "item", (f"S{k}", i)))
                scalars.append(f"y{k}_{i}")
            else:
                steps += [(f"Y{k}_{i}", "item", (f"S{k}", i)), (f"y{k}_{i}", "sum", (f"Y{k}_{i}",))]
                scalars.append(f"y{k}_{i}")
    names = {a for _, op, args in steps for a in args if isinstance(a, str)}
    return steps, {x: v for x, v in values.items() if x in names}, scalars[3:], draw


@pytest.mark.parametrize("few", [1, 2, 4])
def test_values_stay_and_functions_give_what_is_read_and_take_what_they_need(few):
    for seed in range(60):
        steps, values, outputs, draw = drawn(100 * few + seed)
        keep = sorted({*map(str, draw.choice(outputs, few))})
        found, short = eval(steps, values), simplify(steps, keep, rewrites=())
        again = eval(short, {x: values[x] for x in short.inputs})
        for x in keep:
            np.testing.assert_array_equal(again[x], found[x], err_msg=str(seed))
        lines = {dst: (op, args) for dst, op, args in short}
        for dst, op, args in short:
            if op == "item":
                assert lines[args[0]][0] != "bundle", (seed, short)
            if op not in ("scan", "call", "cond"):
                continue
            functions, bundle = [a for a in args if ops.is_function(a)], next(a for a in args if isinstance(a, str) and a != "m")
            k, slices = args[1:3] if op == "scan" else (0, 0)
            read = {place for _, other, (source, *place) in short if other == "item" and source == dst for place in place}
            used = [{a for _, _, names in lines for a in names if isinstance(a, str)} | {*results} for _, _, _, lines, results in functions]
            assert {*range(k, len(functions[0][4]))} <= read, (seed, short)
            needed = [any(name[2][i] in names for name, names in zip(functions, used, strict=True)) for i in range(len(functions[0][2]))]
            assert all(needed) or op == "scan" and all(need or i < k or slices == 1 for i, need in enumerate(needed)), (seed, short)
            assert len(lines[bundle][1]) == len(functions[0][2])
            for _, _, _, body, results in functions:
                assert {line[0] for line in body} <= {a for _, _, names in body for a in names} | {*results}


STEP = ("def", "step", ("h", "g", "x", "w"), (("h1", "add", ("h", "x")), ("g1", "mul", ("g", "w")), ("y", "exp", ("h1",)), ("z", "sin", ("x",))),
        ("h1", "g1", "y", "z"))


@pytest.mark.parametrize("read, left, counts, results", [
    ([0], "hx", (1, 1), ["h1"]), ([1], "gxw", (1, 1), ["g1"]), ([2], "hx", (1, 1), ["h1", "y"]), ([3], "x", (0, 1), ["z"]), ([0, 1], "hgxw", (2, 1), ["h1", "g1"]),
    ([1, 3], "gxw", (1, 1), ["g1", "z"]), ([], "x", (0, 1), [])])
def test_of_a_step_is_left_what_leads_to_what_is_read(read, left, counts, results):
    (short,), found, places, moved = shorter([STEP], 2, 1, read, loop=True)
    assert "".join(short[2]) == left and found == counts and [*short[4]] == results
    assert "".join(STEP[2][i] for i in places) == left and [STEP[4][i] for i in moved] == results and [*moved.values()] == [*range(len(results))]
    assert shorter([STEP], 2, 1, range(4), loop=True) is None


def test_items_of_bundles_are_their_entries_and_are_taken_once():
    steps = [("b", "bundle", ("x", "y", 2.0)), ("u", "item", ("b", 1)), ("v", "item", ("b", 2)), ("w", "add", ("u", "v")), ("s", "call", ("f", "b")),
             ("p", "item", ("s", 1)), ("q", "item", ("s", 1)), ("o", "item", ("s", 0)), ("r", "add", ("p", "q"))]
    assert items_read(steps) == [steps[0], steps[2], ("w", "add", ("y", "v")), *steps[4:6], steps[7], ("r", "add", ("p", "p"))]
    assert items_read(steps, named=["u", "q"])[1:3] == steps[1:3] and ("q", "item", ("s", 1)) in items_read(steps, named=["u", "q"])
    assert items_read(steps[1:4], {"b": ("bundle", ("x", "y", 2.0))}) == [steps[2], ("w", "add", ("y", "v"))]
