"""Facts about explain: the traces of Adams and Bishop, and how arrays, whole numbers and mistakes are shown."""

import inspect

import numpy as np
import pytest
from lists_to_show import ADAMS, AT, BISHOP

from xman import XManError, backprop, eval, forward
from xman.models import MLP
from xman.show.explain import Explanation, explain


def column(explanation, k):
    """The k-th column of the table as printed, from the right, by register."""
    return {line.split()[0]: line.split()[k] for line in str(explanation).splitlines()[1:]}


def test_the_values_of_adams_stand_digit_for_digit_but_for_the_last_which_he_computed_from_rounded_factors():
    values = column(explain(ADAMS, values=AT, wrt="x1"), -3)  # 1.4924 × 1.3513 is 2.0167; the product itself is 2.01665
    assert values == {"x1": "1.5000", "x2": "0.5000", "v1": "3.0000", "v2": "0.1411", "v3": "1.6487", "v4": "1.3513",
                      "v5": "1.4924", "y": "2.0166"}


def test_the_tangents_of_adams_stand_digit_for_digit():
    tangents = column(explain(ADAMS, values=AT, wrt="x1"), -2)
    assert tangents == {"x1": "1.0000", "x2": "0.0000", "v1": "2.0000", "v2": "-1.9800", "v3": "0.0000", "v4": "2.0000",
                        "v5": "0.0200", "y": "3.0118"}


def test_the_adjoints_of_adams_stand_digit_for_digit_but_for_that_of_x2_which_is_13_72396():
    adjoints = column(explain(ADAMS, values=AT, wrt="x1"), -1)  # he has −13.7239, again from rounded factors
    assert adjoints == {"y": "1.0000", "v5": "1.3513", "v4": "2.8437", "v3": "-2.8437", "v2": "1.3513", "v1": "1.5059",
                        "x2": "-13.7240", "x1": "3.0118"}


def test_the_trace_of_bishop_has_the_inputs_first_and_v2_with_the_tangent_0():
    rows = explain(BISHOP, values={"v1": 0.6, "v2": 1.4}, wrt="v1")
    assert [row.register for row in rows] == ["v1", "v2", "v3", "v4", "v5", "v6", "v7"]
    assert (rows[0].tangent, rows[1].tangent, rows[3].tangent) == (1, 0, 0)


def test_a_row_has_the_line_its_value_its_tangent_and_its_adjoint():
    rows = explain(BISHOP, values={"v1": 0.6, "v2": 1.4}, wrt="v1")
    values = eval(BISHOP, {"v1": 0.6, "v2": 1.4})
    tangents, adjoints = forward(BISHOP, values, {"v1": 1.0}), backprop(BISHOP, values, v7=1.0)
    assert rows[4] == ("v5", "exp", ("v3",), values["v5"], tangents["v5"], adjoints["v5"])


def test_the_table_is_that_of_the_docstring():
    steps = [("z1", "mul", ("h", "w")), ("area", "half", ("z1",))]
    wanted = [line[4:] for line in inspect.getdoc(explain).splitlines() if line.startswith("    ") and ">>>" not in line]
    assert str(explain(steps, values={"h": 3, "w": 6}, wrt="h")).splitlines() == wanted[:5]


def test_without_wrt_there_is_no_column_of_tangents():
    explanation = explain(ADAMS, values=AT)
    assert "tangent" not in str(explanation) and {row.tangent for row in explanation} == {None}


def test_wrt_may_be_a_direction():
    both = explain(ADAMS, values=AT, wrt={"x1": 2.0, "x2": -1.0})
    assert both[-1].tangent == pytest.approx(2 * 3.01184333 + 13.72396151)
    assert "tangent along x1, x2" in str(both)


def test_of_names_the_register_whose_adjoints_are_shown():
    explanation = explain(ADAMS, values=AT, of="v3")
    assert "adjoint ∂v3/∂" in str(explanation) and explanation[1].adjoint == np.exp(0.5) and explanation[-1].adjoint == 0


def test_of_an_array_its_sum_is_differentiated_and_the_heading_says_so():
    assert "adjoint ∂Σy/∂" in str(explain([("y", "square", ("x",))], values={"x": np.ones(2)}))


def test_a_small_array_is_shown_whole_in_one_line():
    assert "[[1.0000 -2.0000] [0.5000 0.0000]]" in str(explain([("y", "alias", ("x",))], values={"x": np.array([[1, -2], [0.5, -0.0]])}))


def test_a_large_array_is_shown_as_its_shape_its_range_and_its_norm():
    assert "(3, 4) -1.0000 to 10.0000, norm 19.6469" in str(explain([("y", "alias", ("x",))], values={"x": np.arange(-1.0, 11).reshape(3, 4)}))


def test_an_array_of_one_number_says_so():
    assert "(10, 10) all 1.0000" in str(explain([("y", "sum", ("x",))], values={"x": np.zeros((10, 10))}))


@pytest.mark.parametrize(("x", "shown"), [(0.0, "0.0000"), (-0.0, "0.0000"), (1e-7, "1.0000e-07"), (-3e9, "-3.0000e+09"),
                                          (np.nan, "nan"), (np.inf, "inf"), (0.00005, "0.0001"), (12345.678, "12345.6780")])
def test_a_number_is_shown_to_four_decimals_or_as_a_power_of_ten_where_nothing_would_be_left(x, shown):
    assert column(explain([("y", "alias", ("x",))], values={"x": x}), -2)["x"] == shown


def test_digits_are_the_callers_choice():
    assert column(explain(ADAMS, values=AT, digits=6), -2)["y"] == "2.016647"


def test_whole_numbers_and_conditions_have_neither_tangent_nor_adjoint():
    model = MLP([2, 2], dtype=float)
    values = {**model.inputDict(), "X": np.ones((3, 2)), "y": np.array([0, 1, 1])}
    row = next(row for row in explain(model.operationSequence(model.loss), values=values, wrt="W1") if row.register == "y")
    assert (row.tangent, row.adjoint) == (None, None)
    assert explain([("m", "greater", ("x", 0)), ("y", "mul", ("m", "x"))], values={"x": np.ones(2)})[1].adjoint is None


def test_a_sparse_input_is_shown_by_its_shape():
    sparse = pytest.importorskip("scipy.sparse").csr_array(np.eye(5))
    assert "sparse (5, 5)" in str(explain([("y", "dot", ("S", "x"))], values={"S": sparse, "x": np.ones(5)}))


def test_arrays_without_entries_are_shown():
    assert "[]" in str(explain([("y", "sum", ("x",))], values={"x": np.zeros(0)}))


def test_an_explanation_is_a_list_of_its_rows():
    explanation = explain(ADAMS, values=AT)
    assert isinstance(explanation, Explanation) and isinstance(explanation, list) and len(explanation) == 8


@pytest.mark.parametrize(("options", "words"), [
    (dict(of="z"), "of names 'z', which the list does not have"),
    (dict(of="v"), "did you mean"),
    (dict(wrt="x3"), "'x3'"),
    (dict(wrt=["x1", "x2"]), "wrt names one register here, and found x1, x2"),
    (dict(wrt={"x1": np.ones(3)}), "the tangent given for 'x1' has shape (3,), the register ()"),
])
def test_a_mistake_is_told_in_a_sentence(options, words):
    with pytest.raises(XManError) as caught:
        explain(ADAMS, values=AT, **options)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_an_empty_list_is_refused():
    with pytest.raises(XManError, match="the list is empty"):
        explain([], values={})


def test_whole_numbers_cannot_be_moved():
    with pytest.raises(XManError, match="'k', which holds whole numbers"):
        explain([("y", "mul", ("x", "k"))], values={"x": 1.0, "k": np.array([1, 2])}, wrt="k")


# bugs that had survived planting


def test_an_array_of_six_entries_is_printed_whole():
    assert "[0.0000 1.0000 2.0000 3.0000 4.0000 5.0000]" in str(explain([("y", "exp", ("x",))], values={"x": np.arange(6.0)}))


def test_the_norm_of_single_precision_does_not_overflow():
    x = np.float32(1e30) * np.arange(1, 9, dtype=np.float32)
    assert "norm 1.4283e+31" in str(explain([("y", "half", ("x",))], values={"x": x}))


# several outputs, a direction, and the numbers put in


def test_several_outputs_have_a_column_of_adjoints_each_beside_one_of_tangents():
    """(8.65) and (8.67): one pass forwards along (2, −1), and one back for each output."""
    both, direction = [*BISHOP, ("v8", "mul", ("v6", "v5"))], {"v1": 2.0, "v2": -1.0}
    values = eval(both, {"v1": 0.7, "v2": 1.3})
    rows = explain(both, ["v7", "v8"], direction, values)
    tangents = forward(both, values, direction)
    for k, of in enumerate(("v7", "v8")):
        adjoints = backprop(both, values, **{of: 1.0})
        assert [row.adjoint[k] for row in rows] == [adjoints.get(row.register, 0.0) for row in rows]
        assert tangents[of] == pytest.approx(sum(adjoints[x] * direction[x] for x in direction))
    assert rows.table()[0][3:] == ["tangent along v1, v2", "adjoint ∂v7/∂", "adjoint ∂v8/∂"]
    assert len(explain(both, [], None, values).table()[0]) == 3


def test_the_interleaved_trace_has_each_tangent_after_its_value_with_the_numbers_put_in():
    """Adams, (18) to (35), in four decimals."""
    lines = explain(ADAMS, "y", "x1", AT).interleaved().splitlines()
    assert lines[4:8] == ["v1 = x1/x2 = 1.5000/0.5000 = 3.0000", "v1′ = 1/x2·x1′ - x1/x2^2·x2′ = 1/0.5000·1.0000 - 1.5000/0.5000^2·0.0000 = 2.0000",
                          "v2 = sin(v1) = sin(3.0000) = 0.1411", "v2′ = cos(v1)·v1′ = cos(3.0000)·2.0000 = -1.9800"]
    assert lines[-1] == "y′ = v4·v5′ + v5·v4′ = 1.3513·0.0200 + 1.4924·2.0000 = 3.0118"
    assert explain(ADAMS, "y", None, AT).interleaved().splitlines() == lines[::2]
    with pytest.raises(XManError, match="s is not a number made of numbers|x is not a number"):
        explain([("s", "sum", ("x",))], "s", "x", {"x": np.ones(3)}).interleaved()
