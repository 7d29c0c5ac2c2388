"""A list that came back across the pipe: read with care, and each way in which it is no list has its sentence."""

import numpy as np
import pytest

import ops
import xman
from xman.grade import Wrong
from xman.grade.lists import ENTRIES, LOOPS, MODEL, deltas_of, from_given, read_list, values_of, work_of

LINES = [["z1", "dot", ["X", "W"]], ["scores", "add", ["z1", "b"]], ["z2", "softmaxCrossEntropy", ["scores", "y"]],
         ["loss", "mean", ["z2"]]]
INPUTS = "X", "y", "W", "b"
VALUES = {"X": np.ones((3, 2)), "y": np.array([0, 1, 0]), "W": np.array([[0.1, 0.2], [0.3, -0.4]]), "b": np.zeros((1, 2))}


def refused(lines, inputs=INPUTS, **how):
    with pytest.raises(Wrong) as raised:
        read_list(lines, inputs, **how)
    wrong = raised.value
    said = f"{wrong.expected} | {wrong.came_back} | {wrong.look}"
    assert len(said) < 1500 and said.isprintable()
    return said


def test_a_valid_list_of_lists_or_tuples_is_the_wengert_list():
    steps = read_list(LINES, INPUTS)
    assert isinstance(steps, xman.WengertList) and steps == [tuple([dst, op, tuple(args)]) for dst, op, args in LINES]
    assert read_list([tuple([dst, op, tuple(args)]) for dst, op, args in LINES], INPUTS) == steps


def test_literals_are_numbers_none_and_axes():
    lines = [["z1", "sum", ["X", 1, True]], ["z2", "mul", [2.5, "z1"]], ["z3", "sum", ["z2", None]], ["z4", "sum", ["X", (0, 1)]],
             ["z5", "add", ["z3", "z4"]]]
    assert values_of(read_list(lines, INPUTS), VALUES)["z5"] == 21


@pytest.mark.parametrize("lines, words", [
    (None, "NoneType"), ({"z1": 1}, "dict"), ("z1 = dot(X, W)", "str"), (np.ones((2, 3)), "ndarray"),
    ([], "0 lines"), (LINES * 501, "2,004 lines"),
    ([["z1", "dot"]], "line 1 is no such triple"), ([LINES[0], 7], "line 2 is no such triple"),
    ([["z1", "half", "X"]], "('z2',)"),
    ([[["z1"], "half", ["X"]]], "no string"), ([[3, "half", ["X"]]], "no string"), ([["z1", ("half",), ["X"]]], "no string"),
    ([["z" * 81, "half", ["X"]]], "at most 80"), ([["z1", "half", ["X" * 10 ** 6]]], "at most 80"),
    ([["z\x1b[31m", "half", ["X"]]], "printable"),
    ([["z1", "dto", ["X", "W"]]], "did you mean 'dot'"), ([["z1", "reshape", ["X", (10 ** 9,)]]], "not among the operators"),
    ([["z1", "__class__", ["X"]]], "not among the operators"),
    ([["z1", "mul", ["X", 10 ** 40]]], "type int"), ([["z1", "mul", ["X", 1 + 2j]]], "type complex"),
    ([["z1", "mul", ["X", np.ones(3)]]], "type ndarray"), ([["z1", "mul", ["X", [1.0]]]], "type list"),
    ([["z1", "mul", ["X", {}]]], "type dict"),
    ([["z1", "mul", ["X", np.float64(2)]]], "type float64"),
    ([["z1", "sum", ["X", (0,) * 5]]], "type tuple"), ([["z1", "sum", ["X", (10 ** 6,)]]], "type tuple"),
    ([["z1", "sum", ["X", ("a",)]]], "type tuple"),
    ([["z1", "add", ["X"] * 9]], "9 arguments"),
    ([["z1", "add", ["X"]]], "gives add 1 argument"), ([["z1", "half", ["X"]], ["z1", "half", ["X"]]], "a second time"),
    ([["z1", "half", ["z2"]], ["z2", "half", ["X"]]], "has used already"), ([["half", "half", ["X"]]], "is an operator"),
    ([["lambda", "half", ["X"]]], "keyword"), ([["z 1", "half", ["X"]]], "not an identifier"),
    ([["z1", "dot", ["X", "w"]]], "reads 'w'; did you mean 'W'"), ([["z1", "half", ["Z"]]], "reads 'Z'"),
], ids=str)
def test_what_is_no_list_is_refused_with_a_sentence(lines, words):
    assert words in refused(lines)


def test_the_number_of_lines_and_the_operators_are_the_callers():
    assert "at most 3" in refused(LINES, most=3)
    assert "line 1, z1 = dot(…), calls 'dot'" in refused(LINES, operators={"add", "mean"})
    assert "your list" in refused([], what="your list")


def test_how_inputs_are_named_is_the_callers_to_tell():
    lines = [["z1", "half", ["h"]]]
    assert "(self.W is 'W')" in refused(lines)
    said = refused(lines, ["h_1"], names="the uses are named h_1, h_2, …")
    assert said.endswith("the uses are named h_1, h_2, …") and "self.W" not in said


def test_a_subclass_of_a_plain_type_is_no_literal():
    class Number(float):
        def __repr__(self):
            raise RuntimeError
    assert "type Number" in refused([["z1", "mul", ["X", Number(2)]]])


def test_every_operator_of_models_has_a_value_and_a_count():
    assert set(ops.G) >= MODEL and all(map(ops.operations, MODEL))


@np.errstate(all="ignore")  # arccosh of ½
def test_no_operator_of_models_gives_more_axes_or_longer_ones():
    a, b = np.full((3, 4), 0.5), np.full((4, 5), 0.5)
    for op in MODEL:
        least, most = ops.table.arity(ops.G[op])
        for args in ([b, b.argmax(1)], [a, b], [a], [a, a], [a, a, a], [a > 0, a, a], [a, 0.0, 1.0]):
            if least <= len(args) <= most:
                try:
                    out = np.asarray(ops.G[op](*args))
                except (ValueError, TypeError, IndexError):
                    continue
                assert out.ndim <= 2 and max(out.shape, default=0) <= 5, op


def test_values_and_deltas_are_those_of_the_interpreters():
    steps = read_list(LINES, INPUTS)
    values = values_of(steps, VALUES)
    want = xman.eval(steps, VALUES)
    deltas = deltas_of(steps, values, "loss", ["W", "b"])
    known = xman.backprop(steps, want, loss=1.0)
    assert values["loss"] == want["loss"] and deltas.keys() == {"W", "b"}
    assert all(np.array_equal(deltas[name], known[name]) for name in deltas)
    seed = np.arange(6.0).reshape(3, 2)
    assert np.array_equal(deltas_of(steps, values, "scores", ["b"], delta=seed)["b"], seed.sum(0, keepdims=True))


def test_shapes_that_do_not_fit_are_told_with_their_line():
    with pytest.raises(Wrong) as raised:
        values_of(read_list([["z1", "dot", ["W", "X"]], ["z2", "dot", ["z1", "X"]]], INPUTS), VALUES)
    assert "line 1, z1 = dot(W, X): W has shape (2, 2), X has shape (3, 2)" in raised.value.came_back


def test_an_input_without_a_value_is_told():
    with pytest.raises(Wrong) as raised:
        values_of(read_list(LINES, INPUTS), {"X": VALUES["X"], "W": VALUES["W"], "b": VALUES["b"]})
    assert "'y'" in raised.value.came_back


def test_a_list_that_takes_too_much_is_stopped():
    wide = {"a": np.ones((3000, 1)), "b": np.ones((1, 3000))}
    with pytest.raises(Wrong) as raised:
        values_of(read_list([["z1", "mul", ["a", "b"]], ["z2", "mul", ["a", "b"]]], "ab"), wide)
    assert "line 2, z2 = mul(a, b)" in raised.value.came_back and f"{2 * 3000 ** 2:,} numbers" in raised.value.came_back
    assert 3000 ** 2 < ENTRIES < 2 * 3000 ** 2
    square = {"a": np.ones((600, 600))}
    chain = [["z0", "half", ["a"]], *([f"z{k}", "dot", [f"z{k - 1}", "a"]] for k in range(1, 20))]
    with pytest.raises(Wrong) as raised:
        values_of(read_list(chain, "a"), square)
    assert "line 4" in raised.value.came_back


STEP = ["def", "step", ["h", "x", "W"],
        [["z1", "dot", ["x", "W"]], ["z2", "add", ["h", "z1"]], ["h1", "tanh", ["z2"]]], ["h1", "h1"]]
LOOP = [["z1", "bundle", ["h0", "Xs", "W"]], ["z2", "scan", [STEP, 1, 1, "z1"]],
        ["H", "item", ["z2", 1]], ["loss", "mean", ["H"]]]
GIVEN = {"h0": np.zeros((3, 2)), "Xs": np.ones((4, 3, 2)), "W": np.eye(2)}


def looped(*first, given=GIVEN, results=STEP[4], parameters=STEP[2]):
    """The values of the loop, where the step begins with lines of its own."""
    step = [*STEP[:2], parameters, [*first, *STEP[3]], results]
    lines = [LOOP[0], ["z2", "scan", [step, 1, 1, "z1"]], *LOOP[2:]]
    return values_of(read_list(lines, list(given), MODEL | LOOPS), given)


def test_a_list_that_applies_functions_is_read_where_a_task_allows_it():
    steps = read_list(LOOP, list(GIVEN), MODEL | LOOPS)
    values, plain = values_of(steps, GIVEN), xman.eval(steps, GIVEN)
    slope = deltas_of(steps, values, "loss", ["W"])["W"]
    np.testing.assert_array_equal(slope, xman.backprop(steps, plain, wrt="W", loss=1.0)["W"])
    assert values["loss"] == plain["loss"] and work_of(steps, values).flops > 4 * work_of(steps[:1], values).flops
    with pytest.raises(Wrong) as raised:
        read_list(LOOP, list(GIVEN))
    assert "line 1, z1 = bundle(…), calls 'bundle', which is not among the operators" in raised.value.came_back


@pytest.mark.parametrize("first, how, words", [
    ([["q", "eye", [9]]], {}, "line 1 of step, q = eye(…), calls 'eye', which is not among"),
    ([["q", "mul", ["h", 10 ** 40]]], {}, "line 1 of step, q = mul(…), has an argument of type int"),
    ([["q", "half", ["y"]]], {}, "y is neither a parameter nor assigned: a function is closed"),
    ([7], {}, "line 1 of step is no such triple"),
    ([["q", "half", ["h"]]] * 2000, {}, "more than that"),
    ([], {"results": ["h1"] * 41}, "line 2 has a function that is not one"),
    ([], {"parameters": [*STEP[2], *(f"p{k}" for k in range(38))]}, "line 2 has a function that is not one"),
    ([], {"results": 7}, "an argument of type list"),
    ([], {"given": GIVEN | {"W": np.eye(3)}}, "in step, line 1, z1 = dot(…): x has shape (3, 2)"),
    ([], {"given": GIVEN | {"Xs": np.ones((50_000, 1, 2))}}, "50,000 steps of step run 200,000 lines: too many"),
    ([], {"given": GIVEN | {"Xs": np.float64(9.0)}}, "a slice is an array with a leading axis"),
    ([], {"given": GIVEN | {"W": np.ones((2, 4000)), "h0": np.ones((1, 1)), "Xs": np.ones((9, 3000, 2))}},
     "numbers here, more than"),
], ids=range(12))
def test_what_a_function_of_a_list_may_not_is_said_with_its_line(first, how, words):
    with pytest.raises(Wrong) as raised:
        looped(*first, **how)
    assert words in raised.value.came_back


def test_a_loss_that_is_no_number_and_one_that_does_not_depend_on_a_parameter_are_wrong():
    steps = read_list(LINES[:3], INPUTS)
    with pytest.raises(Wrong) as raised:
        deltas_of(steps, values_of(steps, VALUES), "z2", ["W"])
    assert raised.value.expected.endswith("z2 is one number") and raised.value.came_back == "shape (3, 1)"
    lines = [LINES[0], ["z2", "stopGradient", ["z1"]], ["scores", "add", ["z2", "b"]], ["loss", "mean", ["scores"]]]
    steps = read_list(lines, INPUTS, MODEL | {"stopGradient"})
    with pytest.raises(Wrong) as raised:
        deltas_of(steps, values_of(steps, VALUES), "loss", ["b", "W"])
    assert raised.value.came_back == "nothing arrives at W"


def test_work_counts_every_line_as_it_stands():
    steps = read_list([LINES[0], ["z2", "dot", ["X", "W"]]], INPUTS)
    assert work_of(steps, values_of(steps, VALUES)) == (2, 2 * 2 * 3 * 2 * 2)


def test_what_follows_from_a_register_is_judged_without_what_leads_to_it():
    steps = read_list([["z1", "dot", ["W", "X"]], *LINES[1:], ["z9", "half", ["loss"]]], INPUTS)  # z1 is wrong
    cut = from_given(steps, "loss", ["scores"])
    assert cut == steps[2:4] and set(cut.inputs) == {"scores", "y"}
    assert from_given(steps, "loss", []) == steps[:4]
