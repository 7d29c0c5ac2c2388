"""The tape against the interpreters: every operator on numbers, random lists, batches."""

import os
import sys
import threading

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="the tape's loops need llvmlite")

import ops
from ops import operator
from xman import WengertList, XManError, backprop, eval, gradient, scan, trace
from xman.engines import compile
from xman.engines.tape.engine import Interpreted, Recorded, Tape
from xman.engines.tape.lines import ROWS

ALL = bool(os.environ.get("XMAN_ALL_CASES"))  # else LLVM compiles every sixth call
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 710.0, np.inf, -np.inf, np.nan])
SLOPES = np.array([1.0, -2.0, 0.0, np.inf])


def random_list(seed, lines=2000, window=50, inputs=10):
    """(lines, values): every line reads some of the last registers."""
    random = np.random.default_rng(seed)
    names, steps = [f"x{k}" for k in range(inputs)], []
    arity = {"add": 2, "subtract": 2, "mul": 2, "half": 1, "negative": 1, "sin": 1, "cos": 1, "tanh": 1, "abs": 1, "sigmoid": 1,
             "maximum": 2, "logaddexp": 2, "arctan": 1, "softplus": 1, "alias": 1, "sum": 1, "stopGradient": 1, "arctan2": 2}
    for k, op in enumerate(random.choice(list(arity), lines)):
        args = [names[i] for i in random.integers(max(0, len(names) - window), len(names), arity[op])]
        if arity[op] == 2 and random.uniform() < 0.2:
            args[random.integers(2)] = round(random.normal(), 3)
        steps.append((f"z{k}", str(op), tuple(args)))
        names.append(f"z{k}")
    return steps, {f"x{k}": float(x) for k, x in enumerate(random.normal(size=inputs))}


def reference(steps, values, of):
    """The value and the gradient, by the interpreters."""
    found = eval(steps, values)
    deltas = backprop(steps, found, **{of: 1.0})
    return found[of], {x: deltas.get(x, 0.0) for x in values}


def agree(steps, values, of=None, rtol=1e-12):
    tape = Tape(steps, of)
    assert isinstance(tape._machine, Recorded)
    of_value, slopes = reference(WengertList(steps), values, tape.of)
    found, gradient = tape.value_and_gradient(values)
    np.testing.assert_allclose(tape.value(values), of_value, rtol=rtol)
    np.testing.assert_allclose(found, of_value, rtol=rtol)
    assert gradient.keys() == set(tape.inputs)
    for x in gradient:
        np.testing.assert_allclose(gradient[x], slopes[x], rtol=rtol, atol=1e-300, err_msg=x)


# ---- operators ---------------------------------------------------------------------------------------------------------

OTHERS = {"reciprocal": ("x",), "where": ("c", "x", "y"), "sum": ("x",), "mean": ("x", None, True), "max": ("x",), "alias": ("x",),
          "prod": ("x",), "min": ("x",), "broadcast": ("x", "y"), "unbroadcast": ("x", "y"), "reshape": ("x", "y"), "transpose": ("x",),
          "round": ("x",)}
CALLS = [(op, ("x", "y")[:n]) for op, (n, _, _) in ROWS.items() if op in ops.table.OURS and n < 3] + list(OTHERS.items()) + [
    ("power", ("x", 2)), ("power", ("x", 3.0)), ("power", ("x", -0.5)), ("power", (2, "x")), ("clip", ("x", -0.5, 0.75)),
    ("clip", ("x", None, 0.5)), ("clip", ("x", 0.5)), ("clip", ("x", None, None)), ("leakyRelu", ("x",)), ("elu", ("x",)),
    ("leakyRelu", ("x", 0.2)), ("round", ("x", 0)), ("mul", (2, "x")), ("subtract", (np.array(0.5), "x")), ("where", ("c", 1, "x")),
    ("where", ("c", "x", 0.0)), ("maximum", ("x", 0)), ("divide", ("x", -0.0)), ("add", ("x", "x")),
    ("mul", ("x", "x")), ("subtract", ("x", "x")), ("divide", ("x", "x")), ("power", ("x", "x")), ("maximum", ("x", "x")),
    ("where", ("c", "x", "x"))]


@pytest.mark.parametrize("power", [-3, -2, -1, 0, 1, 2, 3, -2.0, 0.5])
def test_a_power_that_is_a_literal_is_that_power(power):
    steps, values = [("y", "power", ("x", power)), ("r", "mul", ("y", "w"))], {"x": 1.7, "w": 3.0}
    assert compile(steps, engine="tape")(values)["r"] == pytest.approx(1.7 ** power * 3.0, rel=1e-14)


def test_a_clip_without_bounds_is_its_argument():
    tape = Tape([("z", "clip", ("x", None, None)), ("r", "mul", ("z", "w"))])
    value, slopes = tape.value_and_gradient({"x": np.nan, "w": 2.0})
    assert np.isnan(value) and slopes["x"] == 2.0


@pytest.mark.filterwarnings("ignore")
def test_operators_agree_with_the_interpreters_at_special_values_and_infinite_deltas():
    for op, args in CALLS[::1 if ALL else 6]:
        agree_at_special_values(op, args)


def agree_at_special_values(op, args):
    steps = WengertList([("c", "greater", ("w", 0.0)), ("z", op, args), ("r", "mul", ("z", "w"))])
    batch = dict(zip("xyw", (a.ravel() for a in np.meshgrid(SPECIAL, SPECIAL, SLOPES)), strict=True))
    values = {x: batch[x] for x in steps.inputs}
    if op in ("sum", "mean", "max", "min", "prod"):  # over the whole batch, to eval
        values = {x: v[:3] for x, v in values.items()}
        rows = [reference(steps, {x: v[k] for x, v in values.items()}, "r") for k in range(3)]
        expected, slopes = np.array([row[0] for row in rows]), {x: np.array([row[1][x] for row in rows]) for x in values}
    else:
        expected, slopes = reference(steps, values, "r")
    tape = Tape(steps)
    assert isinstance(tape._machine, Recorded)
    found, gradient = tape.value_and_gradient(values)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(tape.value(values), expected, rtol=1e-12)
    for x in gradient:
        wanted = slopes[x] + np.zeros(len(found))
        for k in np.flatnonzero(np.isnan(wanted)):  # of so many, backprop does not ask forward mode for each
            wanted[k] = reference(steps, {x: v[k] for x, v in values.items()}, "r")[1][x]
        clear = ~(np.isnan(wanted) & np.isinf(values["w"]))  # of infinite deltas the rules make NaN where it need not be
        np.testing.assert_allclose(gradient[x][clear], wanted[clear], rtol=1e-12, atol=1e-300, err_msg=x)
    for k in range(0, len(found), 7):  # the loops for one set of inputs
        value, one = tape.value_and_gradient({x: v[k] for x, v in values.items()})
        np.testing.assert_allclose([value, *one.values()], [found[k], *(gradient[x][k] for x in one)], rtol=1e-13, atol=1e-300)


# ---- lists -------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", range(4))
def test_a_random_list_agrees_with_the_interpreters(seed):
    steps, values = random_list(seed, window=50 if seed % 2 else 2000)
    agree(steps, values)
    agree(steps, values, steps[1500][0])


def test_a_batch_is_its_rows():
    steps, values = random_list(7, 500)
    tape, random = Tape(steps), np.random.default_rng(1)
    X = random.normal(size=(19, len(tape.inputs)))
    found, slopes = tape.value_and_gradient(X)
    rows = [tape.value_and_gradient(row) for row in X]
    np.testing.assert_allclose(found, [value for value, _ in rows], rtol=1e-12)
    np.testing.assert_allclose(slopes, [slope for _, slope in rows], rtol=1e-12, atol=1e-300)
    np.testing.assert_array_equal(tape.value(X), found)
    assert found.shape == (19,) and slopes.shape == X.shape
    named, gradient = tape.value_and_gradient(dict(zip(tape.inputs, X.T, strict=True)))
    np.testing.assert_array_equal(named, found)
    np.testing.assert_array_equal([gradient[x] for x in tape.inputs], slopes.T)


def test_numbers_stand_for_all_rows_of_a_batch_and_whole_numbers_for_floats():
    tape = Tape([("z", "divide", ("x", "y")), ("r", "power", ("z", 2))])
    found, gradient = tape.value_and_gradient({"x": np.array([1, 2, 3]), "y": 2})
    np.testing.assert_array_equal(found, [0.25, 1.0, 2.25])
    np.testing.assert_array_equal(gradient["x"], [0.5, 1.0, 1.5])
    np.testing.assert_array_equal(gradient["y"], [-0.25, -1.0, -2.25])
    assert tape.value({"x": True, "y": np.float32(2)}) == 0.25
    assert tape.value({"x": [], "y": 1.0}).shape == (0,)


def test_long_runs_agree_with_the_interpreters():
    random = np.random.default_rng(0)
    steps = [(f"y{k}", str(op), (f"x{k}",)) for k, op in enumerate(random.choice(["sin", "cos", "exp", "tanh", "sqrt"], 400))]
    steps += [(f"z{k}", "mul", (f"y{k}", f"y{399 - k}")) for k in range(400)]
    total = "z0"
    for k in range(1, 400):
        steps.append((f"t{k}", "add", (total, f"z{k}")))
        total = f"t{k}"
    values = {f"x{k}": float(x) for k, x in enumerate(random.uniform(0.1, 3, 400))}
    agree(steps, values)


@pytest.mark.parametrize("x", [1.5e6, -3e12, 1e300, 2e5, -7e4])
def test_sines_of_large_arguments_agree_with_numpy(x):
    tape = Tape([("s", "sin", ("x",)), ("c", "cos", ("x",)), ("r", "subtract", ("s", "c"))])
    for found, slope in (tape.value_and_gradient({"x": x}), tape.value_and_gradient({"x": np.array([0.5, x])})):
        np.testing.assert_allclose(np.ravel(found)[-1], np.sin(x) - np.cos(x), rtol=1e-12)
        np.testing.assert_allclose(np.ravel(slope["x"])[-1], np.cos(x) + np.sin(x), rtol=1e-12)


def test_arguments_that_repeat_and_a_register_in_the_middle():
    steps = [("a", "mul", ("x", "x")), ("b", "add", ("a", "a")), ("c", "where", ("p", "b", "b")), ("p2", "power", ("c", "c"))]
    agree(steps, {"x": 0.7, "p": 1.0})
    agree(steps, {"x": 0.7, "p": 0.0}, "b")


def test_an_input_a_constant_and_a_register_without_some_inputs():
    steps = [("two", "add", (1, 1)), ("a", "mul", ("x", "two")), ("b", "exp", ("y",)), ("c", "alias", ("x",)), ("g", "greater", ("x", 1))]
    for of, value, slopes in [("x", 3.0, (1.0, 0.0)), ("two", 2.0, (0.0, 0.0)), ("a", 6.0, (2.0, 0.0)), ("b", 1.0, (0.0, 1.0)),
                              ("c", 3.0, (1.0, 0.0)), ("g", True, (0.0, 0.0))]:
        assert Tape(steps, of).value_and_gradient({"x": 3.0, "y": 0.0}) == (value, dict(zip("xy", slopes, strict=True)))
    assert Tape(steps, "a", ["y"]).value_and_gradient(np.array([3.0, 0.0]))[1].tolist() == [0.0]


def test_what_sends_no_delta_leaves_no_nan():
    steps = [("a", "divide", ("x", "y")), ("b", "mul", ("a", "a")), ("c", "floor", ("b",)), ("d", "mul", ("c", "z"))]
    steps += [("e", "where", ("b", "x", "d"))]
    for of in ("d", "e"):
        agree(steps, {"x": 1.0, "y": 0.0, "z": 2.0}, of)


def test_truth_values_and_whole_numbers_among_floats():
    steps = [("p", "greater", ("x", 0)), ("q", "less", ("x", 2)), ("r", "logical_and", ("p", "q")), ("k", "where", ("r", 3, 5)),
             ("a", "mul", ("p", "x")), ("b", "add", ("a", "k")), ("c", "where", ("p", "q", "r")), ("d", "where", ("c", "b", 1.0))]
    for x in (-1.0, 1.0, 3.0):
        agree(steps, {"x": x})
        for of in ("r", "k", "c"):
            assert Tape(steps, of).value({"x": x}) == eval(steps, {"x": x})[of]


@pytest.mark.parametrize("line", [("b", "add", ("p", "p")), ("b", "exp", ("p",)), ("b", "subtract", (True, "k")), ("b", "divide", ("k", 2)),
                                  ("b", "mul", (np.float32(2.1), "x")), ("b", "gammaln", ("x",)), ("b", "clip", ("x", "x")),
                                  ("b", "floor_divide", ("x", 0.3)), ("b", "remainder", ("x", 0.3))])
def test_what_is_not_of_floats_alone_is_left_to_the_interpreter(line):
    steps = [("p", "greater", ("x", 0.0)), ("k", "where", ("p", 3, 5)), line]
    tape = Tape(steps)
    assert isinstance(tape._machine, Interpreted) and "line 3, b = " in tape.plan
    assert tape.value({"x": 1.5}) == eval(steps, {"x": 1.5})["b"]
    np.testing.assert_array_equal(tape.value({"x": np.array([1.5, 2.5])}), [eval(steps, {"x": x})["b"] for x in (1.5, 2.5)])


def test_an_operator_of_the_users_own_is_left_to_the_interpreter_under_any_name():
    for name, value, slope in [("rint", lambda x: x * x, 3.0), ("atMost", lambda x: 2.0 ** x, 2.0 ** 1.5 * np.log(2.0))]:
        operator(name, value)
        try:
            tape = Tape([("a", name, ("x",)), ("b", "mul", ("a", "y"))])
            found, slopes = tape.value_and_gradient({"x": np.array([1.5, 1.5]), "y": 1.0})
            np.testing.assert_allclose([found[0], slopes["x"][1]], [value(1.5), slope])
            found, slopes = tape.value_and_gradient(np.array([1.5, 2.0]))
            np.testing.assert_allclose([found, *slopes], [2 * value(1.5), 2 * slope, value(1.5)])
        finally:
            for table in (ops.G, ops.DG, ops.TG):
                del table[name]


def test_a_chain_of_100_000_lines():
    steps = [("z0", "sin", ("x",)), *((f"z{k}", "add", (f"z{k - 1}", "x")) for k in range(1, 100_000))]
    value, slope = Tape(steps).value_and_gradient({"x": 0.5})
    np.testing.assert_allclose([value, slope["x"]], [np.sin(0.5) + 99_999 * 0.5, np.cos(0.5) + 99_999])


def test_two_threads_may_run_one_tape():
    steps, _ = random_list(3, 300)
    tape = Tape(steps)
    X = np.random.default_rng(2).normal(size=(60, len(tape.inputs)))
    expected = [tape.value_and_gradient(row) for row in X]
    wrong = []

    def work(order):
        for k in order:
            value, slope = tape.value_and_gradient(X[k])
            if value != expected[k][0] or (slope != expected[k][1]).any():
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(order,)) for order in (range(60), range(59, -1, -1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_values_that_are_given_stay_as_they_are_and_results_are_new():
    tape = Tape([("a", "mul", ("x", "x"))], "x")
    x = np.array([1.0, 2.0])
    found, slopes = tape.value_and_gradient({"x": x})
    found[0] = slopes["x"][0] = 7.0
    assert x.tolist() == [1.0, 2.0] and tape.value({"x": x}).tolist() == [1.0, 2.0]


def test_without_llvmlite_lists_are_interpreted_and_the_plan_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    tape = Tape([("a", "exp", ("x",))])
    assert "pip install 'xman[fast]'" in tape.plan and tape.value({"x": 0.0}) == 1.0


def test_a_loop_of_numbers_is_on_the_tape_step_by_step():
    logistic = trace(lambda r, x: scan(lambda x, _: (r * x * (1 - x), None), x, length=50)[0], 3.7, 0.3)
    x, r = np.array([[0.3, 3.7], [0.4, 3.9]]).T
    tape, written = Tape(logistic), gradient(logistic, logistic[-1][0], ["x", "r"])
    assert tape.plan.startswith("150 lines")
    for k in range(2):
        wanted = eval(written, {"x": x[k], "r": r[k]})
        value, slopes = tape.value_and_gradient({"x": x, "r": r})
        assert value[k] == wanted[logistic[-1][0]] and compile(written, engine="tape")({"x": x[k], "r": r[k]}) == {
            y: wanted[y] for y in written.outputs}
        np.testing.assert_allclose([slopes["x"][k], slopes["r"][k]], [wanted[y] for y in written.outputs], rtol=1e-12)


# ---- mistakes ----------------------------------------------------------------------------------------------------------

LINES = [("a", "mul", ("x", "y"))]


@pytest.mark.parametrize("make, sentence", [
    (lambda: Tape([]), "the list is empty"),
    (lambda: Tape(LINES, "b"), "of names 'b', which the list does not have"),
    (lambda: Tape(LINES, "a", ["a"]), "wrt names 'a', which is computed"),
    (lambda: Tape([("z", "mul", ("x", "y")), ("a", "dot", ("z", "y"))]), r"line 2, a = dot\(z, y\): the tape is for lists of numbers"),
    (lambda: Tape([("a", "sin", ("x",)), ("b", "bundle", ("a",))]), r"line 2, z1 = bundle\(a\): the tape is for lists of numbers, and for no while_loop and no cond"),
    (lambda: Tape([("a", "add", ("x", np.ones(2)))]), "line 1, .*the tape is for lists of numbers; use engine numpy"),
    (lambda: Tape(LINES).value({"x": 1.0}), "no value for the input 'y'"),
    (lambda: Tape(LINES).value({"x": 1.0, "y": None}), "no value for the input 'y'"),
    (lambda: Tape(LINES).value({"x": 1.0, "y": "two"}), "the value of 'y' is 'two'"),
    (lambda: Tape(LINES).value({"x": np.ones((2, 2)), "y": 1.0}), r"x has shape \(2, 2\); the tape is for lists of numbers"),
    (lambda: Tape(LINES).value({"x": np.ones(2), "y": np.ones(3)}), "x has 2 rows and y has 3"),
    (lambda: Tape(LINES).value(np.ones(3)), r"float64 of shape \(3,\); wanted numbers of shape \(2,\) or \(batch, 2\)"),
    (lambda: Tape(LINES).value(np.array([1j, 2])), "an array of complex128"),
    (lambda: Tape(LINES).value(3.0), "the values are a dictionary"),
])
def test_a_mistake_is_named(make, sentence):
    with pytest.raises(XManError, match=sentence):
        make()


# ---- the engine --------------------------------------------------------------------------------------------------------

STEPS = WengertList([("a", "mul", ("x", "y")), ("b", "exp", ("a",)), ("c", "sin", ("y",)), ("d", "greater", ("c", 0.0))])


@pytest.mark.parametrize("x", [2.0, 3, True, np.float32(0.3)], ids=repr)
def test_the_engine_gives_what_eval_gives(x):
    outputs = ["b", "c", "d", "x"]
    found, wanted = compile(STEPS, outputs, "tape")({"x": x, "y": 0.5}), eval(STEPS, {"x": x, "y": 0.5})
    for name in outputs:
        assert np.shape(found[name]) == np.shape(wanted[name]) and np.result_type(found[name]) == np.result_type(wanted[name])
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-14)


@pytest.mark.parametrize("steps, values, sentence", [
    (STEPS, {"x": np.ones(2), "y": 1.0}, "x is an array of shape (2,): the tape is for numbers"),
    ([("a", "dot", ("x", "x"))], {"x": np.ones(3)}, "line 1, a = dot(x, x): the tape is for lists of numbers"),
])
def test_what_the_engine_is_not_for_runs_on_numpy_and_the_reason_is_named(steps, values, sentence):
    step = compile(steps, engine="tape")
    wanted = eval(steps, values)
    with pytest.warns(RuntimeWarning, match="the engine tape cannot build this list: .*; it runs on numpy instead") as said:
        assert all(np.array_equal(x, wanted[name]) for name, x in [*step(values).items(), *step(values).items()])
    assert len(said) == 1
    assert step.engine == "numpy" and f"tape was asked for; tape gave way to numpy: {sentence}" in step.why


def test_batches_of_different_lengths_are_told_as_eval_tells_them():
    with pytest.raises(XManError, match=r"x has shape \(2,\), y has shape \(3,\)"):
        compile(STEPS, engine="tape")({"x": np.ones(2), "y": np.ones(3)})
