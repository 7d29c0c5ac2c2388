"""Facts about cost: every operator is counted, the counts are those of the books, and so are the ratios."""

import inspect
import sys
from pathlib import Path

import numpy as np
import pytest
from lists_to_show import ADAMS, AT, BISHOP, HOUSE, LISTS

import ops
from xman import WengertList, XManError, eval
from xman.passes.held import most_held
from xman.show.cost import Cost, LineCost, ListCost, cost

lists = pytest.mark.parametrize(("steps", "values", "wrt"), LISTS.values(), ids=LISTS)


def flops(text, **values):
    """The operations of each line, in order."""
    values = {name: np.ones(shape) for name, shape in values.items()}
    steps = WengertList.from_text(text)
    return [line.flops for line in cost(steps, values=values, measured=False).lines]


# the counts


def test_every_operator_is_counted():
    assert not (lacking := [op for op in ops.OURS if not ops.operations(op)]), f"the rows of {lacking} do not say their flops"


def test_every_operator_has_a_count_for_every_case(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "ops")
    from operator_cases import CASES
    for op, cases in CASES.items():
        for args in cases:
            count = ops.operations(op)(ops.G[op](*args), *args)
            assert isinstance(count, (int, np.integer)) and count >= 0, op


@pytest.mark.parametrize(("text", "shapes", "count"), [
    ("y = mul(A, x)", dict(A=(4, 3), x=3), 12),
    ("y = tanh(A)", dict(A=(4, 3)), 12),
    ("y = dot(A, B)", dict(A=(4, 3), B=(3, 5)), 2 * 4 * 3 * 5),
    ("y = dot(A, x)", dict(A=(4, 3), x=3), 2 * 4 * 3),
    ("y = dot(x, B)", dict(x=3, B=(3, 5)), 2 * 3 * 5),
    ("y = dot(x, w)", dict(x=3, w=3), 2 * 3),
    ("y = dot(A, B)", dict(A=(7, 4, 3), B=(7, 3, 5)), 7 * 2 * 4 * 3 * 5),
    ("y = einsum(('ij,jk->ik',), A, B)", dict(A=(4, 3), B=(3, 5)), 2 * 4 * 3 * 5),
    ("y = einsum(('i,j->ij',), x, w)", dict(x=3, w=4), 12),
    ("y = einsum(('ij->i',), A)", dict(A=(4, 3)), 12),
    ("y = einsum(('...ij,...jk->...ik',), A, B)", dict(A=(7, 4, 3), B=(7, 3, 5)), 7 * 2 * 4 * 3 * 5),
    ("y = einsum(('ij->ji',), A)", dict(A=(4, 3)), 0),
    ("y = outer(x, w)", dict(x=3, w=4), 12),
    ("y = sum(A)", dict(A=(4, 3)), 12),
    ("y = mean(A, 1)", dict(A=(4, 3)), 12 + 4),
    ("y = softmax(A)", dict(A=(4, 3)), 5 * 12),
    ("y = transpose(A)", dict(A=(4, 3)), 0),
    ("y = getitem(A, 0)", dict(A=(4, 3)), 0),
    ("y = svdvals(A)", dict(A=(2, 9, 4)), 4 * 2 * 9 * 4 * 4),
])
def test_an_operator_takes_this_many_operations(text, shapes, count):
    assert flops(text, **shapes) == [count]


@pytest.mark.parametrize(("op", "n3"), [("inv", 2), ("det", 2 / 3), ("logabsdet", 2 / 3), ("cholesky", 1 / 3)])
def test_a_square_matrix_takes_a_multiple_of_its_side_cubed(op, n3):
    a = np.stack([np.eye(6)] * 5)
    assert ops.operations(op)(a, a) == round(5 * n3 * 6 ** 3)


def test_equations_take_two_thirds_of_n_cubed_and_2_n_squared_a_column():
    a, b = np.eye(6), np.ones((6, 4))
    assert ops.operations("solve")(b, a, b) == 2 * 6 ** 3 // 3 + 2 * 6 * 6 * 4


def test_a_sparse_product_counts_the_entries_that_are_stored():
    sparse = pytest.importorskip("scipy.sparse").csr_array(np.eye(50))
    found = cost([("y", "dot", ("S", "W"))], values={"S": sparse, "W": np.ones((50, 3))}, measured=False)
    assert (found.lines[0].flops, found.lines[0].read) == (2 * 50 * 3, 50 * 8 + 50 * 4 + 51 * 4 + 50 * 3 * 8)


def test_bytes_are_those_of_the_arguments_and_of_the_result_in_their_precision():
    line = cost([("y", "mul", ("x", "w"))], values={"x": np.ones(10, np.float32), "w": np.float32(2)}, measured=False).lines[0]
    assert (line.register, line.op, line.flops, line.read, line.written) == ("y", "mul", 10, 44, 40)
    assert line.intensity == 10 / 84


def test_an_operator_of_ones_own_needs_its_row(monkeypatch):
    monkeypatch.setitem(ops.G, "thrice", lambda x: 3 * x)
    monkeypatch.setitem(ops.DG, "thrice", [lambda d, out, x: 3.0 * d])
    monkeypatch.setitem(ops.TG, "thrice", [lambda d, out, x: 3.0 * d])
    steps = [("y", "thrice", ("x",))]
    with pytest.raises(XManError, match=r"nothing says how many operations 'thrice' takes; .*operator\('thrice', …, flops="):
        cost(steps, values={"x": 1.0}, measured=False)
    monkeypatch.setitem(ops.facts.FACTS, "thrice", ops.facts_of("exp"))
    assert cost(steps, values={"x": 1.0}, measured=False).evaluation.flops == 1


# the ratios


@lists
def test_tangents_and_adjoints_cost_at_most_six_evaluations(steps, values, wrt):
    assert max(cost(steps, None, wrt, values, measured=False).ratios) <= 6


@lists
def test_tangents_and_adjoints_typically_cost_two_or_three_evaluations(steps, values, wrt):
    assert all(1.5 <= ratio <= 3.5 for ratio in cost(steps, None, wrt, values, measured=False).ratios)


def test_the_ratio_of_a_layer_of_products_is_3_when_its_input_is_differentiated_too():
    values = {"X": np.ones((8, 50)), "W": np.ones((50, 40))}
    steps = [("y", "dot", ("X", "W")), ("loss", "sum", ("y",))]
    assert cost(steps, values=values, measured=False).ratios == pytest.approx((3, 3), rel=0.02)
    assert cost(steps, None, ["W"], values, measured=False).ratios == pytest.approx((2, 2), rel=0.02)


@lists
def test_the_lists_that_are_counted_hold_no_helpers(steps, values, wrt):
    found = cost(steps, None, wrt, values, measured=False)
    assert not {line.op for work in found for line in work.lines} & {"alias", "dot_left", "dot_right", "unbroadcast", "count"}


def test_the_list_itself_is_counted_line_by_line():
    found = cost(HOUSE, values=LISTS["House"][1], measured=False)
    assert [(line.register, line.flops) for line in found.lines] == [(dst, 1) for dst, _, _ in HOUSE]


def test_what_of_does_not_need_is_not_counted():
    assert len(cost(ADAMS, "v3", values=AT, measured=False).lines) == 1


def test_an_output_that_does_not_depend_on_wrt_costs_no_tangent():
    assert cost(ADAMS, "v3", ["x1"], AT, measured=False).ratios[0] == 1


# the measurement and the table


def test_seconds_are_measured_unless_they_are_switched_off(monkeypatch):
    monkeypatch.setattr(sys.modules[cost.__module__], "TIMED_SECONDS", 0.001)
    assert all(work.seconds > 0 for work in cost(BISHOP, values={"v1": 0.6, "v2": 1.4}))
    assert all(work.seconds is None for work in cost(BISHOP, values={"v1": 0.6, "v2": 1.4}, measured=False))


def test_the_table_has_counts_and_ratios_and_seconds_where_measured(monkeypatch):
    monkeypatch.setattr(sys.modules[cost.__module__], "TIMED_SECONDS", 0.001)
    text = str(cost(BISHOP, values={"v1": 0.6, "v2": 1.4}))
    assert "microseconds" in text and text.splitlines()[3].split()[:5] == ["with", "adjoints", "10", "10", "128"]
    assert "microseconds" not in str(cost(BISHOP, values={"v1": 0.6, "v2": 1.4}, measured=False))


def test_the_table_is_that_of_the_docstring():
    wanted = [line[4:] for line in inspect.getdoc(cost).splitlines() if line.startswith("    ") and ">>>" not in line]
    found = cost([("z1", "mul", ("h", "w")), ("area", "half", ("z1",))], values={"h": 3.0, "w": 6.0}, measured=False)
    assert str(found).splitlines() == wanted


def test_the_work_of_a_list_prints_line_by_line():
    text = str(cost(BISHOP, values={"v1": 0.6, "v2": 1.4}, measured=False).adjoint)
    assert len(text.splitlines()) == 11 and "v3 = mul(…)" in text


def test_a_list_without_arithmetic_has_no_ratio():
    assert np.isnan(cost([("y", "transpose", ("x",))], values={"x": np.ones((2, 3))}, measured=False).ratios[0])


def test_the_values_that_are_given_are_not_changed():
    values = dict(AT)
    cost(ADAMS, values=values, measured=False)
    assert values == AT and eval(ADAMS, values)["v1"] == 3


@pytest.mark.parametrize(("args", "words"), [
    ((ADAMS, "z", None, AT), "of names 'z', which the list does not have"),
    ((ADAMS, None, ["x3"], AT), "wrt names 'x3', which the list does not have"),
    ((ADAMS, None, [], AT), "there is nothing to differentiate by"),
    (([("y", "sum", ("k",))], None, None, {"k": np.arange(3)}), "there is nothing to differentiate by"),
    (([], None, None, {}), "the list is empty"),
    ((ADAMS, AT), "found a dictionary; the order is (steps, of, wrt, values)"),
    ((ADAMS, None, None, {"x1": 1.0}), "no value for the input 'x2'"),
])
def test_a_mistake_is_told_in_a_sentence(args, words):
    with pytest.raises(XManError) as caught:
        cost(*args, measured=False)
    assert words in str(caught.value) and "\n" not in str(caught.value)


# bugs that had survived planting


def test_the_table_has_microseconds_and_their_ratio_to_those_of_the_list():
    lines = [LineCost("y", "exp", 10, 8, 8)]
    rows = str(Cost(ListCost(lines, 2e-6), ListCost(lines, 3e-6), ListCost(lines, 5e-6))).splitlines()
    assert [row.split()[-2:] for row in rows[1:]] == [["2.0", "1.00"], ["3.0", "1.50"], ["5.0", "2.50"]]


def test_the_sum_of_a_number_is_no_operation():
    from xman.show.cost import cost
    assert cost([("y", "sum", ("x",))], values={"x": 1.0}, measured=False).evaluation.flops == 0


def test_the_adjoints_of_a_product_cost_what_the_product_costs():
    a, b, d = np.ones((4, 3)), np.ones((3, 5)), np.ones((4, 5))
    product, left, right = map(ops.operations, ("dot", "dot_left", "dot_right"))
    assert left(a, d, a, b) == right(b, d, a, b) == product(d, a, b) == 2 * 4 * 3 * 5


def test_the_seconds_are_the_median_of_three_runs_at_least(monkeypatch):
    import sys

    from xman.show.cost import timed
    clock = iter([0.0, 1.0, 1.0, 11.0, 11.0, 13.0])
    monkeypatch.setattr(sys.modules["xman.show.cost"].time, "perf_counter", lambda: next(clock))
    assert timed(lambda: None) == 2.0


def test_memory_that_several_registers_view_is_held_once():
    steps = [("v", "reshape", ("x", (100,))), ("t", "transpose", ("x",)), ("y", "sum", ("v",)), ("z", "sum", ("t",))]
    values = eval(steps, {"x": np.ones((10, 10))})
    assert most_held(steps, ["y", "z"], values) == 800 + 16
