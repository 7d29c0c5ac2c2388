"""Facts about eval, backprop, forward, shapes and check: what they agree on, what they refuse, and with which words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ops
from ops.facts import operator_called
from ops.table import Each
from xman import Report, WengertList, XManError, backprop, check, eval, forward, partials, shapes

EXP2 = [("z", "exp", ("x",)), ("y", "exp", ("z",))]
LAYER = [("z1", "dot", ("X", "W")), ("z2", "add", ("z1", "b")), ("z3", "tanh", ("z2",)), ("loss", "mean", ("z3",))]
RNG = np.random.default_rng(0)
INPUTS = {"X": RNG.standard_normal((5, 3)), "W": RNG.standard_normal((3, 2)), "b": RNG.standard_normal(2)}


def refusal(call, *args, **named):
    """The message of the XManError that the call raises: one line."""
    with pytest.raises(XManError) as caught:
        call(*args, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# values


def test_eval_returns_the_inputs_and_the_value_of_each_line():
    assert eval([("z", "add", ("x", 2)), ("y", "mul", ("z", "z"))], {"x": 1.0}) == {"x": 1.0, "z": 3.0, "y": 9.0}


def test_eval_warns_of_nothing_and_leaves_infinities_in_the_result():
    assert eval([("z", "exp", ("x",)), ("y", "subtract", ("z", "z"))], {"x": 1000.0})["z"] == np.inf


def test_tables_of_ones_own_are_in_use_only_meanwhile():
    thrice = {**ops.G, "thrice": lambda x: 3 * x}
    assert eval([("y", "thrice", ("x",))], {"x": 2.0}, thrice)["y"] == 6 == thrice["thrice"](2.0)
    with pytest.raises(KeyError, match="thrice"):
        operator_called("thrice")(2.0)


def test_eval_ignores_values_that_the_list_does_not_use():
    assert eval(EXP2, {"x": 0.0, "unused": None})["z"] == 1


def test_a_missing_input_is_named_with_its_line_and_the_nearest_name():
    message = refusal(eval, LAYER, {"X": 1.0, "V": 2.0, "bb": 3.0})
    assert "line 1, z1 = dot(X, W)" in message and "'W'" in message and "without a value: W, b" in message


def test_a_missing_input_beside_an_array_literal_is_named():
    assert "'x'" in refusal(eval, [("z", "add", (np.ones(2), "x"))], {"y": 1.0})


def test_shapes_that_do_not_fit_are_told_with_their_line():
    message = refusal(eval, LAYER, {**INPUTS, "b": np.zeros(7)})
    assert "line 2, z2 = add(z1, b)" in message and "z1 has shape (5, 2)" in message and "b has shape (7,)" in message


@pytest.mark.parametrize("line", [("z", "getitem", ("x", slice(0, 1), 5)), ("z", "add", ("x", np.ones(3)))], ids=str)
def test_an_operator_that_fails_beside_a_slice_or_an_array_literal_is_told_with_its_line(line):
    message = refusal(eval, [line], {"x": np.ones(2)})
    assert "line 1, z = " in message and "x has shape (2,)" in message


def test_an_operator_that_raises_is_told_with_its_line():
    message = refusal(eval, [("z", "exp", ("a",)), ("y", "inv", ("x",))], {"a": 1.0, "x": np.zeros((2, 2))})
    assert "line 2, y = inv(x)" in message and "Singular" in message


@pytest.mark.parametrize("once", [lambda: (line for line in EXP2), lambda: map(tuple, EXP2), lambda: iter(EXP2)])
@pytest.mark.parametrize("use", [
    lambda s: eval(s, {"x": 1.0}), lambda s: backprop(s, {"x": 1.0, "y": 1.0}, y=1.0), lambda s: check(s, {"x": 1.0}),
    lambda s: forward(s, {"x": 1.0}, {"x": 1.0}), lambda s: shapes(s, {"x": ()})],
    ids=["eval", "backprop", "check", "forward", "shapes"])
def test_steps_that_can_be_read_only_once_are_refused(use, once):
    message = refusal(use, once())
    assert "not a list of lines" in message and "WengertList(steps)" in message


@pytest.mark.parametrize("steps", [EXP2, WengertList(EXP2), tuple(EXP2)], ids=["list", "WengertList", "tuple"])
def test_a_list_serves_eval_and_backprop_again_and_again(steps):
    for _ in range(3):
        values = eval(steps, {"x": 0.0})
        assert (len(steps), values["z"], backprop(steps, values, z=1.0)["x"]) == (2, 1, 1)


# backprop and forward


def test_a_missing_rule_is_named_by_operator_and_line():
    rules = {name: rule for name, rule in ops.DG.items() if name != "tanh"}
    message = refusal(backprop, LAYER, eval(LAYER, INPUTS), rules, loss=1.0)
    assert "line 3, z3 = tanh(z2)" in message and "no adjoint rule for the operator 'tanh'" in message


def test_a_missing_rule_for_one_argument_is_named_by_the_argument():
    message = refusal(backprop, LAYER, eval(LAYER, INPUTS), {**ops.DG, "dot": ops.DG["dot"][:1]}, loss=1.0)
    assert "line 1, z1 = dot(X, W)" in message and "dot" in message and "2 arguments" in message


def test_a_rule_that_nobody_needs_may_be_missing():
    rules = {"exp": ops.DG["exp"]}
    steps = [*EXP2, ("unused", "tanh", ("x",))]
    assert backprop(steps, eval(steps, {"x": 0.0}), rules, z=1.0)["x"] == 1


def test_a_missing_tangent_rule_is_named():
    values = eval(LAYER, INPUTS)
    rules = {name: rule for name, rule in ops.TG.items() if name != "tanh"}
    assert "no tangent rule for the operator 'tanh'" in refusal(forward, LAYER, values, {"W": 1.0}, rules)


def test_an_operator_that_the_tangent_does_not_meet_needs_no_tangent_rule():
    steps = [("a", "tanh", ("y",)), ("z", "mul", ("x", "a"))]
    rules = {"mul": ops.TG["mul"]}
    assert forward(steps, eval(steps, {"x": 1.0, "y": 0.0}), {"x": 1.0}, rules)["z"] == 0


def test_a_delta_of_a_wrong_shape_is_refused_with_both_shapes():
    message = refusal(backprop, LAYER, eval(LAYER, INPUTS), z3=np.ones((4, 4)))
    assert "'z3'" in message and "(4, 4)" in message and "(5, 2)" in message


def test_a_delta_for_an_unknown_register_is_refused_with_the_nearest():
    message = refusal(backprop, LAYER, eval(LAYER, INPUTS), los=1.0)
    assert "'los'" in message and "did you mean 'loss'?" in message


def test_a_tangent_for_an_unknown_register_is_refused_with_the_nearest():
    assert "'BB'" in refusal(forward, LAYER, eval(LAYER, INPUTS), {"BB": 1.0})


def test_backprop_without_eval_names_the_register_without_a_value():
    message = refusal(backprop, EXP2, {"x": 1.0, "y": 2.0}, y=1.0)
    assert "line 2" in message and "no value" in message and "'z'" in message


def test_forward_without_eval_names_the_register_without_a_value():
    message = refusal(forward, EXP2, {"x": 1.0}, {"x": 1.0})
    assert "line 1" in message and "no value" in message and "'z'" in message


def test_a_delta_of_a_number_is_spread_over_its_register():
    values = eval(LAYER, INPUTS)
    assert backprop(LAYER, values, z3=1.0)["z3"].tolist() == np.ones((5, 2)).tolist()


def test_deltas_of_two_outputs_are_added():
    values = eval(EXP2, {"x": 0.0})
    both = backprop(EXP2, values, z=2.0, y=3.0)["x"]
    assert both == backprop(EXP2, values, z=2.0)["x"] + backprop(EXP2, values, y=3.0)["x"]


def test_a_register_that_the_output_does_not_depend_on_has_no_delta():
    steps = [("a", "exp", ("x",)), ("b", "exp", ("y",))]
    assert set(backprop(steps, eval(steps, {"x": 0.0, "y": 0.0}), a=1.0)) == {"a", "x"}


@pytest.mark.parametrize("x, has_delta", [
    (np.array(3), True), (np.int64(3), True), (3, True), (np.array(True), False), (True, False), (np.array([3]), False)])
def test_a_whole_number_has_a_delta_and_truth_values_and_arrays_of_them_have_none(x, has_delta):
    steps = [("y", "mul", ("x", 2.5))]
    deltas = backprop(steps, eval(steps, {"x": x}), y=1.0)
    assert deltas.get("x") == (2.5 if has_delta else None)


def test_backprop_with_wrt_gives_the_same_deltas_as_without():
    values = eval(LAYER, INPUTS)
    some, everything = backprop(LAYER, values, ops.DG, ["W"], loss=1.0), backprop(LAYER, values, loss=1.0)
    np.testing.assert_array_equal(some["W"], everything["W"])


def test_backprop_with_wrt_spares_the_rules_of_other_arguments():
    called = []
    rules = {**ops.DG, "dot": [lambda *args: called.append("X"), ops.DG["dot"][1]]}
    deltas = backprop(LAYER, eval(LAYER, INPUTS), rules, ["W"], loss=1.0)
    assert not called and set(deltas) == {"loss", "z3", "z2", "z1", "W"}


@pytest.mark.parametrize("wrt", [["weights"], ["W", "weights"]])
def test_backprop_with_an_unknown_name_in_wrt_is_refused(wrt):
    assert "'weights'" in refusal(backprop, LAYER, eval(LAYER, INPUTS), ops.DG, wrt, loss=1.0)


def test_a_rule_that_returns_one_array_twice_gives_two_deltas_of_their_own():
    ones = np.ones(2)
    values = eval([("z", "add", ("x", "y"))], {"x": np.zeros(2), "y": np.zeros(2)})
    deltas = backprop([("z", "add", ("x", "y"))], values, {"add": [lambda d, out, x, y: ones] * 2}, z=1.0)
    assert not np.shares_memory(deltas["x"], deltas["y"])


def test_a_delta_given_that_is_one_of_the_values_is_copied():
    steps = [("z", "add", ("x", "y"))]
    values = eval(steps, {"x": np.arange(2.0), "y": np.ones(2)})
    deltas = backprop(steps, values, z=values["x"])
    assert not any(np.shares_memory(d, value) for d in deltas.values() for value in values.values())
    tangents = forward(steps, values, {"x": values["y"]})
    assert not any(np.shares_memory(t, value) for t in tangents.values() for value in values.values())


def test_forward_gives_no_tangent_to_what_does_not_depend_on_the_direction():
    steps = [("a", "exp", ("x",)), ("b", "exp", ("y",))]
    assert set(forward(steps, eval(steps, {"x": 0.0, "y": 0.0}), {"x": 1.0})) == {"x", "a"}


UNARY = ["sin", "tanh", "exp", "half", "square", "softplus", "softmax", "logSoftmax", "alias", "negative", "cumsum", "mT"]
BINARY = ["add", "subtract", "mul", "maximum", "logaddexp", "dot", "concat", "where"]


@st.composite
def random_lists(draw):
    """A list on 4×4 matrices, a column and a row, of which each line reads what stands before it."""
    steps, known = [], ["a", "b", "c", "r"]
    for k in range(draw(st.integers(1, 12))):
        op, x, y = draw(st.sampled_from(UNARY + BINARY)), draw(st.sampled_from(known)), draw(st.sampled_from(known))
        full = f"m{k}"  # every line works on a matrix, so that any two fit
        steps.append((full, "broadcast", (x, "a")))
        line = {"cumsum": ("cumsum", (full, 0)),
                "concat": ("concat", (0, full, full)), "where": ("where", (np.eye(4) > 0, full, y))}
        name, args = line.get(op, (op, (full,) if op in UNARY else (full, y) if op != "dot" else (full, "a")))
        steps.append((f"z{k}", name, args))
        if op == "concat":
            steps.append((f"s{k}", "getitem", (f"z{k}", slice(1, 5))))
        steps.append((f"t{k}", "sin", (f"s{k}" if op == "concat" else f"z{k}",)))  # bounded
        known.append(f"t{k}")
    return steps


@settings(deadline=None, derandomize=True, max_examples=150, database=None)
@given(steps=random_lists(), seed=st.integers(0, 10 ** 6))
def test_forward_and_backprop_are_transposes_of_each_other_on_random_lists(steps, seed):
    rng = np.random.default_rng(seed)
    sizes = {"a": (4, 4), "b": (4, 1), "c": (), "r": (4,)}
    inputs, tangent = ({name: np.array(rng.standard_normal(size)) for name, size in sizes.items()} for _ in range(2))
    values, end = eval(steps, inputs), steps[-1][0]
    u = rng.standard_normal(values[end].shape)
    t, deltas = forward(steps, values, tangent), backprop(steps, values, **{end: u})
    there = np.sum(u * t[end])
    back = sum(np.sum(deltas[name] * tangent[name]) for name in sizes if name in deltas)
    size = sum(np.sum(abs(deltas[name] * tangent[name])) for name in sizes if name in deltas)
    assert abs(there - back) <= 1e-12 * max(1.0, size)


# rules from partial derivatives

PARTIALS = {"add": [lambda x, y: 1, lambda x, y: 1.0], "mul": [lambda x, y: y, lambda x, y: x], "exp": [np.exp],
            "divide": [lambda x, y: 1 / y, lambda x, y: -x / y ** 2], "tanh": [lambda x: 1 - np.tanh(x) ** 2]}


@settings(deadline=None, derandomize=True, max_examples=60, database=None)
@given(st.data())
def test_rules_from_partials_are_those_of_the_table_whatever_is_broadcast(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10 ** 6)))
    names, steps = ["a", "b", "c", "r"], []
    for k in range(data.draw(st.integers(1, 8))):
        op = data.draw(st.sampled_from(sorted(PARTIALS)))
        args = tuple(data.draw(st.sampled_from([*names, 2.0])) for _ in PARTIALS[op])
        steps.append((f"z{k}", op, args if any(isinstance(a, str) for a in args) else ("a", *args[1:])))
        names.append(f"z{k}")
    values = eval(steps, {"a": 0.5 + rng.random((2, 3)), "b": 0.5 + rng.random((2, 1)), "c": 0.7, "r": 0.5 + rng.random(3)})
    if np.isfinite(values[steps[-1][0]]).all():
        start = {steps[-1][0]: rng.standard_normal(np.shape(values[steps[-1][0]]))}
        found, right = backprop(steps, values, partials(PARTIALS), **start), backprop(steps, values, **start)
        assert found.keys() == right.keys()
        size = max(np.max(abs(delta)) for delta in right.values())  # of what may cancel
        for name, delta in right.items():
            np.testing.assert_allclose(found[name], delta, rtol=1e-11, atol=1e-13 * size)
            assert np.shape(found[name]) == np.shape(delta)


def test_rules_from_partials_are_none_where_the_partial_is_and_keep_the_precision_of_the_argument():
    rules = partials({"clip": [lambda x, low, high: (low <= x) & (x <= high), None, None]})
    assert rules["clip"][1:] == [None, None] and partials({}) == {}
    steps = [("y", "clip", ("x", "low", 1.0))]
    values = eval(steps, {"x": np.array([-1, 0.5, 2], np.float32), "low": 0.0})
    deltas = backprop(steps, values, rules, y=3.0)
    assert deltas["x"].tolist() == [0, 3, 0] and deltas["x"].dtype == np.float32 and "low" not in deltas


def test_a_table_of_partials_that_is_handed_in_for_rules_is_told_apart():
    steps, table = [("y", "square", ("x",))], {"square": [lambda a: 2 * a]}
    with pytest.raises(XManError, match=r"line 1, y = square\(x\): a rule is given the delta .* goes in as partials\(DG\)"):
        backprop(steps, eval(steps, {"x": 3.0}), table, y=1.0)


def test_a_rule_that_fails_is_told_of_at_once_where_an_operator_takes_any_number_of_arguments():
    def rule(d, out, *arrays):
        raise TypeError("no such thing")

    with pytest.raises(XManError, match=r"line 1, y = concat\(0, x\): .* no such thing"):
        backprop([("y", "concat", (0, "x"))], {"x": np.ones(2), "y": np.ones(2)}, {"concat": Each(lambda i: rule, None)}, y=1.0)


def test_a_table_of_partials_is_not_changed_and_its_faults_are_told_with_their_line():
    table = {"exp": [lambda x: x.nothing]}
    rules = partials(table)
    assert table["exp"][0] is not rules["exp"][0]
    assert "line 2, y = exp(z)" in refusal(backprop, EXP2, eval(EXP2, {"x": 0.0}), rules, y=1.0)
    assert "operator 'tanh'" in refusal(backprop, LAYER, eval(LAYER, INPUTS), rules, z3=1.0)


# shapes


@pytest.mark.parametrize("like", [(5, 3), ((5, 3), "float64"), np.ones((5, 3))], ids=["shape", "pair", "array"])
def test_shapes_of_all_registers_follow_from_those_of_the_inputs(like):
    found = shapes(LAYER, {"X": like, "W": (3, 2), "b": (2,)})
    assert {name: shape for name, (shape, _) in found.items()} == {
        "X": (5, 3), "W": (3, 2), "b": (2,), "z1": (5, 2), "z2": (5, 2), "z3": (5, 2), "loss": ()}


def test_precisions_of_all_registers_follow_from_those_of_the_inputs():
    found = shapes(LAYER, {"X": ((5, 3), "float32"), "W": ((3, 2), "float32"), "b": (2,)})
    assert [found[name][1] for name in ("z1", "z2", "loss")] == [np.float32, np.float64, np.float64]


def test_shapes_that_do_not_fit_are_refused_with_the_line():
    message = refusal(shapes, LAYER, {"X": (5, 3), "W": (4, 2), "b": (2,)})
    assert "line 1, z1 = dot(X, W)" in message and "(5, 3)" in message and "(4, 2)" in message


def test_shapes_of_a_list_with_labels_and_an_inverse_are_found():
    steps = [("i", "inv", ("A",)), ("z", "softmaxCrossEntropy", ("i", "y"))]
    assert shapes(steps, {"A": (3, 3), "y": ((3,), int)})["z"] == ((3, 1), np.float64)


# check

WRONG = {**ops.DG, "add": [ops.DG["add"][0], lambda d, out, x, y: np.array([1.0, 1.5]) * d.sum(0)]}


@pytest.mark.parametrize("sides", [1, 2])
def test_right_rules_pass_the_check(sides):
    report = check(LAYER, INPUTS, sides=sides)
    assert isinstance(report, Report) and report.ok and len(report.entries) == 15 + 6 + 2 and not report.wrong


@pytest.mark.parametrize("sides", [1, 2])
def test_a_wrong_rule_is_found_and_named_by_register_and_element(sides):
    report = check(LAYER, INPUTS, ops.G, WRONG, sides=sides)
    assert not report.ok and [(e.register, e.where) for e in report.wrong] == [("b", (1,))]
    assert "WRONG b[1]: backprop says" in str(report) and "b            1 of 2 elements agree" in str(report)


def test_a_wrong_rule_is_found_in_directions_where_elements_are_many():
    report = check(LAYER, INPUTS, ops.G, WRONG, wrt=["b", "W"], most=1, directions=4)
    assert {e.where for e in report.entries} == {f"direction {k}" for k in (1, 2, 3, 4)}
    assert {e.register for e in report.wrong} == {"b"} and "b in direction" in str(report)


def test_a_delta_of_a_wrong_shape_is_reported_and_not_broadcast():
    rules = {**ops.DG, "add": [ops.DG["add"][0], lambda d, out, x, y: d]}
    report = check(LAYER, INPUTS, ops.G, rules, wrt=["b"])
    assert not report.ok and "delta of b has shape (5, 2), the register has shape (2,)" in str(report)


def test_the_check_of_a_float32_list_is_made_in_float64():
    assert check(LAYER, {name: x.astype("f") for name, x in INPUTS.items()}).ok


@pytest.mark.parametrize("offset", [0.0, -1e4, 1e4])
@pytest.mark.parametrize("sides", [1, 2])
def test_the_check_allows_for_the_rounding_of_a_large_value_and_not_for_more(offset, sides):
    steps = [("z", "add", ("x", offset)), ("y", "sum", ("z",))]
    rules = {**ops.DG, "add": [lambda d, out, x, y: 3 * d, None]}
    assert check(steps, {"x": INPUTS["X"]}, sides=sides).ok and not check(steps, {"x": INPUTS["X"]}, ops.G, rules, sides=sides).ok


def test_a_register_that_is_not_a_number_is_checked_too():
    assert check(LAYER, INPUTS, of="z2").ok


@pytest.mark.parametrize("sides", [1, 2])
def test_at_a_kink_every_slope_between_those_of_its_sides_is_right(sides):
    steps, at = [("z", "relu", ("x",)), ("y", "sum", ("z",))], {"x": np.array([-1.0, 0.0, 2.0])}
    assert check(steps, at, sides=sides).ok and check([("y", "abs", ("x",))], at, sides=sides).ok
    for share, right in ((0.5, True), (2, False), (-1.5, False)):
        rules = {**ops.DG, "relu": [lambda d, out, x, share=share: d * np.where(x == 0, share, x > 0)]}
        assert check(steps, at, ops.G, rules, sides=sides).ok is right, share


def test_nan_at_a_kink_cannot_be_checked_and_elsewhere_it_is_wrong():
    steps = [("s", "dot", ("x", "x")), ("n", "sqrt", ("s",))]
    assert "this cannot be checked: n has a kink here, with the slopes -1 and 1" in refusal(check, steps, {"x": np.zeros(2)})
    rules = {**ops.DG, "square": [lambda d, out, x: d * x / x]}
    assert "backprop says nan, the difference quotient 0" in str(check([("y", "square", ("x",))], {"x": 0.0}, ops.G, rules))


@pytest.mark.parametrize("wrt", [None, ["weights"]])
def test_a_check_names_the_input_without_a_value_and_the_nearest(wrt):
    with pytest.raises(XManError, match="no value for the input 'weights'; did you mean 'wieghts'"):
        check([("a", "square", ("weights",))], {"wieghts": 3.0}, wrt=wrt)
    with pytest.raises(XManError, match="the values are a dictionary"):
        check([("a", "square", ("weights",))], 3.0, wrt=wrt)


def test_check_refuses_three_sides_an_empty_list_and_names_that_are_not_there():
    assert "1 or 2 sides, not 3" in refusal(check, LAYER, INPUTS, sides=3)
    assert "empty" in refusal(check, [], INPUTS)
    assert "'los'" in refusal(check, LAYER, INPUTS, of="los") and "'V'" in refusal(check, LAYER, INPUTS, wrt=["V"])
    assert "'z1', which is computed" in refusal(check, LAYER, INPUTS, wrt=["z1"])


def test_a_missing_input_is_an_error_of_check_too():
    assert "'b'" in refusal(check, LAYER, {"X": INPUTS["X"], "W": INPUTS["W"]})


def test_a_table_without_the_square_of_a_root_goes_through_the_root():
    steps, x = [("r", "norm", ("x",)), ("y", "power", ("r", 3))], np.array([3.0, 4.0])
    rules = {op: rule for op, rule in ops.DG.items() if op != "squaredNorm"}
    assert backprop(steps, eval(steps, {"x": x}), rules, y=1.0)["x"].tolist() == [45.0, 60.0]
