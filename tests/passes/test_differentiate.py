"""Facts about gradient and tangent: lists that compute what backprop and forward do, under names one can foretell."""

import numpy as np
import pytest
from lists_with_values import LISTS, R
from operator_cases import CASES, NO_SECOND, in_each

import ops
from ops import f
from xman import WengertList, XManError, backprop, eval, forward
from xman.passes import gradient, tangent
from xman.passes.differentiate import adjoints, tangents

every_list = pytest.mark.parametrize(("steps", "values", "of"), LISTS.values(), ids=LISTS)
every_case = in_each([(op, k) for op, cases in CASES.items() for k in range(len(cases))])
PRODUCT = [("y", "mul", ("x", "w")), ("z", "sum", ("y",))]


def floats(values):
    return [name for name, x in values.items() if np.asarray(x).dtype.kind == "f"]


def refusal(call, *args, **named):
    """The message of the XManError that the call raises: one line."""
    with pytest.raises(XManError) as caught:
        call(*args, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def weighted(op, k, dtype=float):
    """The list of the sum of op's result with weights, its values, and the registers that can vary."""
    names = [f"a{i}" if isinstance(a, (np.ndarray, np.floating)) else a for i, a in enumerate(CASES[op][k])]
    values = {f"a{i}": np.asarray(a, dtype if a.dtype.kind == "f" else a.dtype)
              for i, a in enumerate(CASES[op][k]) if isinstance(a, (np.ndarray, np.floating))}
    steps = [("out", op, tuple(names)), ("weighed", "mul", ("out", "weight")), ("total", "sum", ("weighed",))]
    values["weight"] = np.asarray(R.uniform(0.5, 1.5, np.shape(eval(steps[:1], values)["out"])), dtype)
    return steps, values, [name for name in floats(values) if name != "weight"]


# the same as the interpreters


@every_list
def test_the_gradient_list_has_the_deltas_of_backprop_to_the_last_bit(steps, values, of):
    wrt = floats(values)
    got = eval(gradient(steps, of, wrt), values)
    deltas = backprop(steps, eval(steps, values), **{of: 1.0})
    for name in wrt:
        np.testing.assert_array_equal(got[f"d{of}_d{name}"], deltas[name], strict=True)


@every_list
def test_the_tangent_list_has_the_tangents_of_forward_to_the_last_bit(steps, values, of):
    direction = {name: np.asarray(R.standard_normal(np.shape(values[name])))[()] for name in floats(values)}
    got = eval(tangent(steps, list(direction)), values | {f"{name}_dot": t for name, t in direction.items()})
    for name, t in forward(steps, eval(steps, values), direction).items():
        np.testing.assert_array_equal(got[f"{name}_dot"], t, strict=True)


@every_case
def test_the_gradient_list_of_an_operator_is_what_backprop_finds(op, k):
    steps, values, wrt = weighted(op, k)
    got = eval(gradient(steps, "total", wrt), values)
    deltas = backprop(steps, eval(steps, values), total=1.0)
    for name in wrt:
        np.testing.assert_array_equal(got[f"dtotal_d{name}"], deltas.get(name, np.zeros_like(values[name])), strict=True)


@every_case
def test_the_tangent_list_of_an_operator_is_what_forward_finds(op, k):
    steps, values, wrt = weighted(op, k)
    direction = {name: np.asarray(R.uniform(0.5, 1.5, values[name].shape))[()] for name in wrt}
    if not wrt:
        return
    got = eval(tangent(steps, wrt), values | {f"{name}_dot": t for name, t in direction.items()})
    for name, t in forward(steps, eval(steps, values), direction).items():
        np.testing.assert_array_equal(got[f"{name}_dot"], t, strict=True)


@in_each([(op, next(k for k, args in enumerate(cases) if np.size(args[-1]) > 1 or k == len(cases) - 1))
         for op, cases in CASES.items() if (op, 0) not in NO_SECOND])
def test_reverse_over_reverse_is_forward_over_reverse_and_the_difference_quotient(op, k):
    steps, values, wrt = weighted(op, k)
    for name in wrt[:1]:
        first, slope, v = gradient(steps, "total", [name]), f"dtotal_d{name}", R.uniform(0.5, 1.5, values[name].shape)
        reverse = eval(gradient(first, slope, [name], seed="u"), values | {"u": v})[f"d{slope}_d{name}"]
        over = tangent(first, [name])
        found = eval(over, values | {f"{name}_dot": v})
        np.testing.assert_allclose(reverse, found.get(f"{slope}_dot", np.zeros_like(v)), rtol=1e-10, atol=1e-10)
        h = 1e-6
        above, below = (eval(first, values | {name: values[name] + s * h * v})[slope] for s in (1, -1))
        np.testing.assert_allclose(reverse, (above - below) / (2 * h), rtol=1e-6, atol=2e-7)


def test_the_third_derivative_of_the_cube_is_6():
    steps, values, _ = LISTS["cube"]
    for of in ("f1", "df1_dx", "ddf1_dx_dx"):
        steps = gradient(steps, of, ["x"])
    assert eval(steps, values)["dddf1_dx_dx_dx"] == 6


def test_the_gradient_of_the_triangle_is_the_list_of_its_docstring():
    assert gradient(LISTS["triangle"][0], "area", ["h"])[2:] == [
        ("darea_darea", "broadcast", (1.0, "area")), ("darea_dz1", "half", ("darea_darea",)),
        ("z2", "mul", ("darea_dz1", "w")), ("darea_dh", "unbroadcast", ("z2", "h"))]


def test_each_line_is_followed_by_its_tangent():
    steps = tangent(LISTS["Bishop"][0], ["x1", "x2"])
    order = [dst for dst, _, _ in steps if not dst.startswith("z")]
    assert order == ["v3", "v3_dot", "v4", "v4_dot", "v5", "v5_dot", "v6", "v6_dot", "v7", "v7_dot"]


def test_a_sum_of_adjoints_that_fit_is_the_gradient_as_it_stands():
    steps = [("a", "mul", ("x", "c")), ("b", "mul", ("x", "d")), ("y", "mul", ("a", "b")), ("s", "sum", ("y",))]
    assert gradient(steps, "s", ["x"])[-1][:2] == ("ds_dx", "add")


def test_the_gradient_of_what_is_no_number_is_that_of_its_sum():
    x = R.standard_normal(3)
    assert np.array_equal(eval(gradient([("y", "square", ("x",))], "y", ["x"]), {"x": x})["dy_dx"], 2 * x)


def test_a_seed_is_a_further_input_that_the_adjoints_start_from():
    values = {"x": 2.0, "w": 3.0, "u": 10.0}
    steps = gradient(PRODUCT, "y", ["x"], seed="u")
    assert "u" in steps.inputs and eval(steps, values)["dy_dx"] == 30


def test_a_seed_of_one_number_is_spread_over_the_register():
    assert list(eval(gradient(PRODUCT, "y", ["w"], seed="u"), {"x": np.ones(3), "w": np.ones(3), "u": 2.0})["dy_dw"]) == [2, 2, 2]


def test_a_computed_register_has_a_gradient_too():
    assert eval(gradient(PRODUCT, "z", ["y"]), {"x": np.ones(2), "w": 3.0})["dz_dy"].tolist() == [1, 1]


def test_an_alias_of_a_computed_register_has_a_tangent_of_its_own():
    assert "y_dot" in eval(tangent([("a", "exp", ("x",)), ("y", "alias", ("a",))], ["x"]), {"x": 1.0, "x_dot": 1.0})


# shapes, precisions, sizes


def test_what_of_does_not_depend_on_has_zeros_of_its_shape_and_precision():
    steps = [("y", "exp", ("x",)), ("z", "sin", ("v",))]
    got = eval(gradient(steps, "y", ["v"]), {"x": 1.0, "v": np.ones((2, 1), np.float32)})["dy_dv"]
    np.testing.assert_array_equal(got, np.zeros((2, 1), np.float32), strict=True)


def test_what_does_not_depend_on_wrt_has_no_tangent():
    assert "z_dot" not in str(tangent([("y", "exp", ("x",)), ("z", "sin", ("v",))], ["x"]))


@in_each([(op,) for op in CASES])
def test_the_gradient_list_stays_in_single_precision(op):
    for k in range(len(CASES[op])):
        steps, values, wrt = weighted(op, k, np.float32)
        got = eval(gradient(steps, "total", wrt), values)
        assert {np.asarray(got[f"dtotal_d{name}"]).dtype for name in wrt} <= {np.dtype(np.float32)}, k


def test_with_mixed_precisions_each_adjoint_has_that_of_its_register():
    steps, values, of = LISTS["two layers"]
    values = values | {"V": values["V"].astype(np.float32)}
    got = eval(gradient(steps, of, ["V", "W"]), values)
    deltas = backprop(steps, eval(steps, values), loss=1.0)
    assert (got["dloss_dV"].dtype, got["dloss_dW"].dtype) == (np.float32, np.float64)
    np.testing.assert_array_equal(got["dloss_dV"], deltas["V"])


def test_a_chain_of_20000_lines_has_its_gradient():
    steps = [(f"x{k + 1}", "half" if k % 2 else "add", (f"x{k}",) if k % 2 else (f"x{k}", f"x{k}")) for k in range(20_000)]
    assert eval(gradient(steps, "x20000", ["x0"]), {"x0": 3.0})["dx20000_dx0"] == 1


def test_a_list_that_is_given_is_not_changed():
    steps = WengertList(PRODUCT)
    gradient(steps, "z", ["x"]), tangent(steps, ["x"])
    assert steps == PRODUCT


def test_a_pass_takes_a_plain_list_and_returns_a_list_that_prints_itself():
    assert repr(gradient(PRODUCT, "z", ["x"])).endswith("dz_dx = unbroadcast(z1, x)")


def test_a_students_own_adjoint_rules_write_the_gradient():
    DG = {**ops.DG, "exp": [lambda d, out, x: d * 100.0]}
    assert eval(gradient([("y", "exp", ("x",))], "y", ["x"], DG=DG), {"x": 1.0})["dy_dx"] == 100


def test_a_students_own_tangent_rules_write_the_tangent():
    TG = {**ops.TG, "exp": [lambda t, out, x: t * 100.0]}
    assert eval(tangent([("y", "exp", ("x",))], ["x"], TG=TG), {"x": 1.0, "x_dot": 2.0})["y_dot"] == 200


# names


def test_a_gradient_is_called_d_of_d_wrt_and_a_tangent_wrt_dot():
    assert gradient(PRODUCT, "z", ["x"])[-1][0] == "dz_dx" and tangent(PRODUCT, ["x"]).inputs == ("x_dot", "x", "w")


def test_the_tangent_of_a_tangent_ends_in_dot_dot():
    assert "z_dot_dot = " in repr(tangent(tangent(PRODUCT, ["x"]), ["x"]))


def test_no_temporary_takes_a_name_of_the_list():
    steps = [("z1", "mul", ("x", "z2")), ("z3", "sum", ("z1",))]
    assert eval(gradient(steps, "z3", ["x", "z2"]), {"x": 2.0, "z2": 5.0})["dz3_dx"] == 5


@pytest.mark.parametrize(("call", "words"), [
    (lambda: gradient(PRODUCT, "zz", ["x"]), "of names 'zz', which the list does not have; did you mean 'z'?"),
    (lambda: gradient(PRODUCT, "z", ["xx"]), "wrt names 'xx', which the list does not have; did you mean 'x'?"),
    (lambda: tangent(PRODUCT, ["xx"]), "wrt names 'xx', which the list does not have; did you mean 'x'?"),
    (lambda: gradient([*PRODUCT, ("dz_dx", "exp", ("x",))], "z", ["x"]), "the list has a register dz_dx already"),
    (lambda: gradient(PRODUCT, "z", ["x"], seed="w"), "the list has a register w already"),
    (lambda: gradient([], "z", ["x"]), "of names 'z', which the list does not have"),
    (lambda: tangent([], ["x"]), "wrt names 'x', which the list does not have"),
    (lambda: tangent(PRODUCT, []), "wrt is empty: name at least one of the inputs"),
    (lambda: gradient(PRODUCT, "z", ["x"], DG={**ops.DG, "mul": []}), "mul"),
    (lambda: gradient(PRODUCT, "z", ["x"], DG={"sum": ops.DG["sum"]}), "mul"),
])
def test_what_cannot_be_differentiated_is_refused_in_a_sentence(call, words):
    assert words in refusal(call)


def test_a_name_that_wrt_has_twice_counts_once():
    assert gradient(PRODUCT, "z", ["x", "x"]) == gradient(PRODUCT, "z", ["x"])


def test_wrt_may_be_read_only_once():
    assert gradient(PRODUCT, "z", iter(["x", "w"])) == gradient(PRODUCT, "z", ["x", "w"])


def test_a_tangent_by_a_computed_register_is_refused():
    assert "wrt names 'y'" in refusal(tangent, PRODUCT, ["y"])


def test_an_input_that_is_read_thousands_of_times_has_its_gradient():
    steps = [("z1", "sin", ("x",)), *((f"z{k}", "mul", (f"z{k - 1}", "x")) for k in range(2, 3000))]
    assert eval(gradient(steps, "z2999", ["x"]), {"x": 1.0})["dz2999_dx"] == pytest.approx(np.cos(1) + 2998 * np.sin(1))


def test_a_sum_of_itself_forty_times_over_has_its_gradient_at_once():
    steps = [(f"z{k}", "add", (f"z{k - 1}", f"z{k - 1}")) for k in range(1, 41)]
    assert eval(gradient(steps, "z40", ["z0"]), {"z0": 1.0})["dz40_dz0"] == 2.0 ** 40


# bugs that had survived planting


def test_no_temporary_takes_the_name_of_the_seed():
    assert eval(gradient(PRODUCT, "y", ["x"], seed="z1"), {"x": 2.0, "w": 3.0, "z1": 10.0})["dy_dx"] == 30


def test_an_alias_and_what_it_is_an_alias_of_both_have_their_tangent():
    steps = tangent([("a", "exp", ("x",)), ("y", "alias", ("a",))], ["x"])
    found = eval(steps, {"x": 0.0, "x_dot": 2.0})
    assert found["a_dot"] == found["y_dot"] == 2


def test_an_adjoint_that_is_that_of_another_register_too_keeps_the_name_that_was_asked_for():
    DG = {**ops.DG, "mul": [lambda d, out, x, y: f.unbroadcast(d * y, y), None]}  # y like x, and x alone has an adjoint
    steps = [("a", "alias", ("x",)), ("y", "mul", ("a", "x"))]
    assert eval(gradient(steps, "y", ["x"], DG=DG), {"x": 3.0})["dy_dx"] == 3


def test_beyond_a_change_of_precision_each_adjoint_has_that_of_its_register():
    steps = [("a", "exp", ("x",)), ("b", "astype", ("a", ("float64",)))]
    assert eval(gradient(steps, "b", ["x"]), {"x": np.float32(1)})["db_da"].dtype == np.float32


def test_what_belongs_to_no_line_is_said_to():
    steps = [("y", "exp", ("x",)), ("z", "sin", ("w",)), ("u", "mul", ("y", "y"))]
    origins = {line[0]: origin and origin[0] for line, origin in adjoints(steps, "u", ["x", "w"])}
    assert origins == {**dict.fromkeys(["y", "z", "u", "du_du", "du_dx", "du_dw"]), **dict.fromkeys(["z1", "z2", "z3", "z4", "du_dy"], "u"), "z5": "y"}
    dots = {line[0]: origin and origin[0] for line, origin in tangents(steps, ["x"])}
    assert dots["y_dot"] == "y" and dots["u_dot"] == "u" and dots["y"] is dots["z"] is dots["u"] is None
