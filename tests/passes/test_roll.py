"""`roll` finds the loops that Python wrote out. Law: written out again, they are the lines that they were."""
import os

import numpy as np
import pytest

import ops
import xman
from tests.passes.looped_programs import drawn_program
from tests.passes.programs_of_loops import (
    ROLLED,
    adams_bashforth,
    garch,
    hmm,
    listed,
    lstm,
    nested,
    r,
    regulator,
    scaled,
    scattered,
    wave,
    windows,
)
from xman.errors import XManError


def computed(steps, values, numbers):
    """A number for each output, the same for the same operators of the same numbers, whatever their names.

    numbers: by what was computed; what only takes entries out of the inputs is known by its entries.
    """
    known, views, number = xman.eval(steps, values), {*steps.inputs}, {}
    entries = lambda a: ("entries", np.shape(a), np.asarray(a, float).tobytes())
    for x in steps.inputs:
        number[x] = numbers.setdefault(entries(known[x]), len(numbers))
    for dst, op, args in steps:
        dtype = np.asarray(known[dst]).dtype  # to which a Python number is converted first
        literal = lambda a, dtype=dtype: np.asarray(a, dtype if dtype.kind == "f" else None)
        read = [number[a] if isinstance(a, str) else numbers.setdefault(entries(literal(a)), len(numbers))
                if isinstance(a, (int, float, np.ndarray)) else repr(a) for a in args]
        if op in ("getitem", "alias", "transpose") and views.issuperset(a for a in args if isinstance(a, str)):
            views.add(dst)
            number[dst] = numbers.setdefault(entries(known[dst]), len(numbers))
        else:
            number[dst] = read[0] if op == "alias" else numbers.setdefault((op, *read), len(numbers))
    return [number[x] for x in steps.outputs]


@pytest.mark.parametrize("fn", ROLLED, ids=lambda fn: fn.__name__)
def test_a_loop_is_found_and_written_out_again_is_what_it_was(fn):
    most, *args = ROLLED[fn]
    steps, values = listed(fn, args)
    rolled = xman.roll(steps, values)
    assert len(rolled) <= most, f"{len(rolled)} lines:\n{rolled}"
    for x in steps.outputs:
        a, b = xman.eval(steps, values)[x], xman.eval(rolled, values)[x]
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes(), fn.__name__
    numbers = {}
    again = xman.unroll(rolled, values)
    assert computed(again, values, numbers) == computed(steps, values, numbers), str(again)
    assert str(xman.WengertList.from_text(str(rolled))) == str(rolled)
    known = xman.eval(rolled, values)
    for scan, (_, k, _, bundle) in [(dst, args[:4]) for dst, op, args in rolled if op == "scan"]:
        for start, last in zip(known[bundle][:k], known[scan][:k], strict=True):
            assert (np.shape(start), np.asarray(start).dtype) == (np.shape(last), np.asarray(last).dtype)


def test_its_gradient_is_that_of_the_lines():
    for fn in (garch, wave, lstm, hmm, adams_bashforth, regulator, nested, scattered, windows):
        steps, values = listed(fn, ROLLED[fn][1:])
        (out,), wrt = steps.outputs, list(steps.inputs)
        seed = {out: np.ones_like(xman.eval(steps, values)[out])}
        expected, loops = [xman.backprop(lines, xman.eval(lines, values), wrt=wrt, **seed)
                           for lines in (steps, xman.roll(steps, values))]
        for x in wrt:
            np.testing.assert_allclose(loops[x], expected[x], rtol=1e-9, atol=1e-12)


def test_compile_finds_loops_before_a_gradient_is_written():
    steps, values = listed(garch, (-2.0, 0.1, 0.8, r(250)))
    d = xman.gradient(steps, "garch", ["w", "a", "b"])
    expected, names = xman.eval(d, values), ["garch", "dgarch_dw", "dgarch_da", "dgarch_db"]
    step = xman.compile(d, names, engine="numpy")
    for x, number in step(values).items():
        np.testing.assert_allclose(number, expected[x], rtol=1e-9)
    sizes = {stage: len(text.splitlines()) for stage, text in step.plan.stages}
    assert sizes["written"] == len(d) > 8_000 and sizes["rolled"] < 120 and "loops were found" in step.why
    inside = xman.compile(d, ["dgarch_dw", "dgarch_dl"], engine="numpy")  # l is a register of the last turn
    assert np.array_equal(inside(values)["dgarch_dl"], expected["dgarch_dl"])


def test_the_way_back_runs_no_turn_of_a_loop_again_for_its_carries():
    for fn, args in ((garch, (-2.0, 0.1, 0.8, r(250))), (three_turns_ago, (0.4,))):
        run = xman.jit(xman.value_and_grad(fn), engine="numpy")
        run(*args)
        assert [op for _, op, _ in run.lists[0]].count("scan") == 2, run.lists[0]


def test_seeds_are_in_the_precision_of_what_is_differentiated():
    def loss(c, X):
        for t in range(300):
            c = c + X[2 * t]
        for _ in range(300):
            c = c + np.tanh(c) * X[0] + c
        return c
    x = np.full(600, 1e-3, "f")
    value, slopes = xman.value_and_grad(loss, (0, 1))(x[0], x)
    run = xman.jit(xman.value_and_grad(loss, (0, 1)), engine="numpy")
    for a, b in zip([value, *slopes], [run(x[0], x)[0], *run(x[0], x)[1]], strict=True):
        assert a.dtype == b.dtype == np.float32
        np.testing.assert_allclose(a, b, 1e-4)
    gained = xman.jit(xman.grad(lambda c, x: np.sum(x) + c), engine="numpy")
    assert gained(x[0], x).dtype == np.float32


def three_turns_ago(x):
    a, b, c = x, np.sin(x), np.cos(x)
    for _ in range(400):
        a, b, c = b, c, np.tanh(a + 0.5 * b - c)
    return c


def test_long_lists_without_loops_and_lists_of_other_values_are_compiled_as_they_are():
    draw = np.random.default_rng(1).integers
    lines = [(f"z{k}", ("sin", "tanh", "exp", "sqrt", "log1p", "square")[draw(6)], ("x" if k < 2 else f"z{k - draw(1, 9) % k}",))
             for k in range(1, 1_500)]
    masked = [*[(f"m{t}", "greater", ("x", t / 1e3)) for t in range(600)], *[(f"g{t}", "getitem", ("x", f"m{t}")) for t in range(600)],
              ("y", "sum", ("g599",))]
    for steps, of, x in ((lines, "z1499", 0.5), (masked, "y", np.arange(4.0))):
        step = xman.compile(steps, [of], engine="numpy")
        assert np.array_equal(step({"x": x})[of], xman.eval(steps, {"x": x})[of], equal_nan=True)
        assert "loops were found" not in step.why


# ---- what is no loop ---------------------------------------------------------------------------------------

def triangular(x):
    total = 0.0
    for i in range(1, 6):
        total = total + np.sum(np.sin(x[:i]))
    return total


def growing(x):
    for _ in range(5):
        x = np.concatenate([x, x + 1])
    return np.sum(x)


def growing_windows(x):
    total = 0.0
    for i in range(5):
        total = total + np.sum(np.sin(x[1:i + 2]))
    return total


def windows_made_before(x):
    parts, total = [x[a:b] for a, b in ((0, 2), (1, 4), (2, 6), (0, 5), (3, 5))], 0.0
    for part in parts:
        total = total + np.sum(part)
    return total


def exponents(x):
    for k in (2, 3, 5, 7):
        x = np.sin(x ** k)
    return x


def three_turns(x):
    for _ in range(3):
        x = np.sin(x) * 2.0
    return x


@pytest.mark.parametrize("fn", [triangular, growing, growing_windows, windows_made_before, exponents, three_turns])
def test_what_is_no_loop_is_left_alone(fn):
    steps = xman.trace(fn, r(6))
    assert xman.roll(steps, {"x": r(6)}) == steps


def test_turns_whose_shapes_go_by_values_are_left_alone():
    lines = []
    for t in range(5):
        lines += [(f"w{t}", "getitem", ("w", t)), (f"m{t}", "greater", ("x", f"w{t}")), (f"g{t}", "getitem", ("x", f"m{t}")),
                  (f"s{t}", "sum", (f"g{t}",)), (f"y{t}", "add", (f"y{t - 1}" if t else 0.0, f"s{t}"))]
    likes = {"x": np.arange(6.0), "w": np.arange(5.0)}
    assert xman.roll(lines, likes) == lines


def test_a_turn_that_begins_two_reads_of_one_carry_with_two_values_is_peeled():
    lines = []
    for t in range(1, 30):
        a, b = ("a", "b") if t == 1 else (f"h{t - 1}",) * 2
        lines += [(f"y{t}", "mul", (a, 1.01)), (f"z{t}", "mul", (b, 0.1)), (f"h{t}", "add", (f"y{t}", f"z{t}"))]
    likes = {"a": 0.3, "b": 0.9}
    rolled = xman.roll(lines, likes)
    assert len(rolled) == 6 and xman.eval(rolled, likes)["h29"] == xman.eval(lines, likes)["h29"]


def test_a_turn_of_another_precision_is_peeled():
    lines = []  # i + 1.5 is a float, and i + 2 a whole number, which float64 does not hold
    for t, literal in enumerate((1.5, 2, 3, 4, 5)):
        lines += [(f"k{t}", "add", ("i", literal)), (f"r{t}", "remainder", (f"k{t}", 7)),
                  (f"y{t}", "add", (f"y{t - 1}" if t else 0.0, f"r{t}"))]
    likes = {"i": np.int64(2 ** 60 + 1)}
    rolled = xman.roll(lines, likes)
    assert rolled[0] == lines[0] and xman.eval(rolled, likes)["y4"] == xman.eval(lines, likes)["y4"] == 16.0


def test_layers_are_stacked_if_one_asks():
    def layers(x, W, b):
        for w, shift in zip(W, b, strict=True):
            x = np.tanh(x @ w + shift)
        return x
    args = r(3), [scaled(3, 3) for _ in range(5)], [r(3) for _ in range(5)]
    steps = xman.trace(layers, *args)
    in_order = [args[0], *[a for pair in zip(*args[1:], strict=True) for a in pair]]
    values = dict(zip(steps.inputs, in_order, strict=True))
    assert xman.roll(steps, values) == steps
    rolled = xman.roll(steps, values, stacked=True)
    assert [op for _, op, _ in rolled] == ["stack", "stack", "bundle", "scan", "item"]
    assert np.array_equal(xman.eval(rolled, values)["layers"], xman.eval(steps, values)["layers"])


def test_registers_that_are_kept_stay():
    steps = xman.WengertList([("z1", "sin", ("x",)), *[(f"z{k}", "sin", (f"z{k - 1}",)) for k in range(2, 9)],
                              ("y", "mul", ("z8", 2.0))])
    rolled = xman.roll(steps, {"x": 0.3}, ["z3", "y"])
    expected, values = xman.eval(steps, {"x": 0.3}), xman.eval(rolled, {"x": 0.3})
    assert len(rolled) < len(steps) and (values["z3"], values["y"]) == (expected["z3"], expected["y"])


@pytest.mark.parametrize(("change", "sentence"), [
    (dict(steps=[("y", "sin", ("y",))]), "y"), (dict(keep=["q"]), "keep names 'q', which the list does not have"),
    (dict(likes={}), "x"), (dict(steps="y = sin(x)"), "a str, not a list of lines")])
def test_bad_input_is_a_sentence(change, sentence):
    with pytest.raises(XManError, match=sentence):
        xman.roll(**{"steps": [("y", "sin", ("x",))], "likes": {"x": 1.0}, **change})


def test_a_table_of_ones_own_runs_what_comes_out():
    chain = lambda op, *literal: [(f"z{k}", op, (f"z{k - 1}" if k > 1 else "x", *literal)) for k in range(1, 8)]
    for own, steps in (({"double": lambda x: x * 2.0}, chain("double")),
                       ({**ops.G, "add": lambda a, b: np.float32(a) + np.float32(b)}, chain("add", 0.1))):
        assert xman.roll(steps, {"x": 1.0}, G=own) == steps
    own = {**ops.G, "double": lambda x: x * 2.0}
    rolled = xman.roll(chain("double"), {"x": 1.0}, G=own)
    assert len(rolled) == 3 and xman.eval(rolled, {"x": 1.0}, own)["z7"] == 128.0


def test_nothing_and_one_line():
    assert xman.roll([], {}) == []
    assert xman.roll([("y", "sin", ("x",))], {"x": 1.0}) == [("y", "sin", ("x",))]


def test_many_turns_are_a_few_lines():
    lines = [("z1", "sin", ("x",)), *[(f"z{k}", "sin", (f"z{k - 1}",)) for k in range(2, 20_001)]]
    steps = xman.WengertList(lines)
    assert len(xman.roll(steps, {"x": 0.3})) == 3


# ---- drawn at random ---------------------------------------------------------------------------------------

def drawn(seed):
    """A program with a loop: each line of a turn reads earlier lines, turns before, entries and literals."""
    draw = np.random.default_rng(seed)
    turns, lines, depth = int(draw.integers(4, 9)), int(draw.integers(1, 6)), int(draw.integers(1, 4))
    operators = [np.add, np.multiply, np.subtract, lambda a, b: np.tanh(a - b),
                 lambda a, b: np.where(a > b, a, b),
                 lambda a, b: np.sin(a) + b, lambda a, b: np.maximum(a, b) * 0.5]
    chosen = [operators[k] for k in draw.integers(len(operators), size=lines)]
    maps = [lambda t: t, lambda t: 2 * t, lambda t: turns - 1 - t, lambda t: -1 - t,
            lambda t: (t * t) % 5, lambda t: t + 1]

    def source(k):
        kind = draw.integers(7)
        if kind == 0 and k:
            j = int(draw.integers(k))
            return lambda t, made, history, a, X, w: made[j]
        if kind in (1, 2):
            j, ago = int(draw.integers(lines)), int(draw.integers(1, depth + 1))
            return lambda t, made, history, a, X, w: history[-ago][j]
        if kind == 3:
            place = maps[draw.integers(len(maps))]
            return lambda t, made, history, a, X, w: X[place(t)]
        if kind == 4:
            place, column = maps[draw.integers(len(maps))], int(draw.integers(3))
            return lambda t, made, history, a, X, w: X[place(t), column]
        if kind == 5:
            table = draw.standard_normal(turns).round(2).tolist()
            return lambda t, made, history, a, X, w: table[t] * w
        return lambda t, made, history, a, X, w: w
    sources = [(source(k), source(k)) for k in range(lines)]
    handed, begin = draw.random() < 0.3, draw.random() < 0.5

    def program(a, X, w):
        history = [[a * (k + 1.0) if begin else 0.5 for k in range(lines)] for _ in range(depth)]
        for t in range(turns):
            made = []
            for operator, (left, right) in zip(chosen, sources, strict=True):
                made.append(operator(left(t, made, history, a, X, w), right(t, made, history, a, X, w)))
            history.append(made)
        if handed:
            return np.stack([made[-1] + np.zeros(3) for made in history[depth:]])
        return history[-1][-1] + history[-2][0]
    dtype = "f" if draw.random() < 0.3 else float
    return program, (r(3).astype(dtype), r((20, 3)).astype(dtype), r(3).astype(dtype))


def test_of_programs_drawn_at_random():
    loops = 0
    for seed in range(400 if os.environ.get("XMAN_ALL_CASES") else 60):
        fn, args = drawn(seed)
        steps, values = listed(fn, args)
        rolled = xman.roll(steps, values)
        loops += any(op == "scan" for _, op, _ in rolled)
        for x in steps.outputs:
            a, b = xman.eval(steps, values)[x], xman.eval(rolled, values)[x]
            assert np.asarray(a).dtype == np.asarray(b).dtype and np.array_equal(a, b, equal_nan=True), seed
        numbers = {}
        again = xman.unroll(rolled, values)
        assert computed(again, values, numbers) == computed(steps, values, numbers), seed
    assert loops > 20


def test_of_nested_programs_drawn_as_text():
    loops = 0
    for seed in range(300 if os.environ.get("XMAN_ALL_CASES") else 20):
        fn, parameters = drawn_program(seed)
        if len(steps := xman.trace(fn, parameters)) > 500:
            continue  # computed by its lines, which takes long
        by_name = {f"P_{k}": x for k, x in parameters.items()} | {f"P_L_{k}": x for k, x in enumerate(parameters["L"])}
        values = {x: by_name[x] for x in steps.inputs}
        rolled = xman.roll(steps, values)
        loops += any(op == "scan" for _, op, _ in rolled)
        a, b = [xman.eval(lines, values)["program"] for lines in (steps, rolled)]
        assert a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True), seed
        numbers = {}
        again = xman.unroll(rolled, values)
        assert computed(again, values, numbers) == computed(steps, values, numbers), seed
    assert loops > 5


def test_two_entries_of_a_row_are_read_from_one_slice():
    def line(W, s):
        for t in range(6):
            s = s * W[t, 0] + W[t, 1]
        return s
    values = {"W": np.arange(18.0).reshape(6, 3), "s": 1.0}
    rolled = xman.roll(xman.trace(line, *values.values()), values)
    (_, _, (step, carries, slices, _)), = (line for line in rolled if line[1] == "scan")
    assert (carries, slices) == (1, 1) and [line[2] for line in step[3] if line[1] == "getitem"] == [("W_t", 0), ("W_t", 1)]


def test_an_entry_that_each_turn_reads_from_a_line_of_its_own_is_a_constant():
    lines = [(f"a{t}", "getitem", ("p", 1)) for t in range(9)]
    for t in range(9):
        lines += [(f"b{t}", "mul", (f"s{t - 1}" if t else "x", f"a{t}")), (f"s{t}", "tanh", (f"b{t}",))]
    values = {"p": np.array([0.3, 0.8]), "x": np.float64(0.5)}
    steps = xman.roll(lines, values)
    assert len(steps) < 9 and xman.eval(steps, values)["s8"] == xman.eval(lines, values)["s8"]
