"""Facts about simplify: what it may not change, what it removes, and what it refuses."""

import numpy as np
import pytest
from lists_with_values import LISTS, assert_same_bits
from random_lists import random_list

from xman import WengertList, XManError, eval
from xman.passes import ALGEBRA, EXACT, STABLE, gradient, simplify

every_list = pytest.mark.parametrize(("steps", "values", "of"), LISTS.values(), ids=LISTS)
with_and_without_likes = pytest.mark.parametrize("shaped", [False, True], ids=["shapes unknown", "shapes known"])
in_both_precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32])
seeds = pytest.mark.parametrize("seed", range(120))


def in_precision(values, dtype):
    return {name: np.asarray(x, dtype)[()] if np.asarray(x).dtype.kind == "f" else x for name, x in values.items()}


def adjoints_of(steps, values, of):
    """The gradient list by all inputs of floats, and the names of the gradients."""
    wrt = [name for name, x in values.items() if np.asarray(x).dtype.kind == "f"]
    return gradient(steps, of, wrt), [f"d{of}_d{x}" for x in wrt]


# what stays


@seeds
@in_both_precisions
def test_a_random_list_keeps_its_values_to_the_last_bit_for_ordinary_and_special_inputs(seed, dtype):
    steps, ordinary, special = random_list(seed, dtype=dtype)
    keep = [dst for dst, _, _ in steps[-6:]]
    for shorter in (simplify(steps, keep, likes) for likes in (ordinary, None)):
        for values in (ordinary, special):
            want, got = eval(steps, values), eval(shorter, values)
            for name in keep:
                assert_same_bits(got[name], want[name])


@every_list
@in_both_precisions
@with_and_without_likes
def test_a_gradient_list_keeps_its_values_to_the_last_bit(steps, values, of, dtype, shaped):
    values = in_precision(values, dtype)
    steps, keep = adjoints_of(steps, values, of)
    want, got = eval(steps, values), eval(simplify(steps, keep, values if shaped else None), values)
    for name in keep:
        assert_same_bits(got[name], want[name])


@pytest.mark.parametrize("rewrites", [EXACT, STABLE, ALGEBRA, EXACT + STABLE + ALGEBRA], ids=["exact", "stable", "algebra", "all"])
@every_list
def test_every_table_keeps_values_and_gradients_to_rounding(steps, values, of, rewrites):
    steps, keep = adjoints_of(steps, values, of)
    want, got = eval(steps, values), eval(simplify(steps, keep, values, rewrites), values)
    for name in keep:
        np.testing.assert_allclose(got[name], want[name], rtol=1e-12, atol=1e-13)


@every_list
def test_stable_rewrites_before_differentiation_keep_the_gradient(steps, values, of):
    adjoints, keep = adjoints_of(steps, values, of)
    want = eval(adjoints, values)
    got = eval(adjoints_of(simplify(steps, [of], values, EXACT + STABLE), values, of)[0], values)
    for name in keep:
        np.testing.assert_allclose(got[name], want[name], rtol=1e-12, atol=1e-13)


@with_and_without_likes
def test_with_mixed_precisions_a_gradient_keeps_its_bits(shaped):
    steps, values, of = LISTS["two layers"]
    values = values | {"V": values["V"].astype(np.float32)}
    steps, keep = adjoints_of(steps, values, of)
    want, got = eval(steps, values), eval(simplify(steps, keep, values if shaped else None), values)
    for name in keep:
        assert_same_bits(got[name], want[name])


@seeds
def test_simplifying_twice_is_simplifying_once(seed):
    steps, values, _ = random_list(seed)
    for likes in (None, values):
        once = simplify(steps, None, likes)
        assert simplify(once, WengertList(steps).outputs, likes) == once


@every_list
def test_a_simplified_gradient_has_nothing_left_to_simplify(steps, values, of):
    steps, keep = adjoints_of(steps, values, of)
    once = simplify(steps, keep, values)
    assert simplify(once, keep, values) == once and len(once) <= len(steps)


@seeds
def test_every_kept_register_is_there_under_its_name(seed):
    steps, values, _ = random_list(seed)
    keep = [dst for dst, _, _ in steps[::3]] + [WengertList(steps).inputs[0]]
    assert set(keep) <= eval(simplify(steps, keep, values), values).keys()


def test_without_keep_the_outputs_are_kept():
    assert simplify([("y", "exp", ("x",)), ("z", "sin", ("x",))]).outputs == ("y", "z")


def test_registers_keep_the_names_of_their_user():
    steps = simplify([("first", "exp", ("x",)), ("second", "exp", ("x",)), ("y", "mul", ("first", "second"))])
    assert steps == [("first", "exp", ("x",)), ("y", "mul", ("first", "first"))]


def test_a_kept_register_that_equals_another_becomes_its_alias():
    assert simplify([("y", "exp", ("x",)), ("z", "exp", ("x",))]) == [("y", "exp", ("x",)), ("z", "alias", ("y",))]


def test_the_list_that_is_given_is_not_changed():
    steps = [("y", "alias", ("x",)), ("z", "mul", ("y", 1.0))]
    simplify(steps, ["z"], {"x": 1.0})
    assert steps == [("y", "alias", ("x",)), ("z", "mul", ("y", 1.0))]


def test_the_empty_list_stays_empty():
    assert simplify([]) == []


# what goes


def lines(text, **options):
    return len(simplify(WengertList.from_text(text), **options))


def test_an_expression_is_written_once():
    assert lines("a = exp(x)\nb = exp(x)\nc = dot(a, b)") == 2


def test_a_sum_and_a_product_are_the_same_in_either_order():
    assert lines("a = mul(x, y)\nb = mul(y, x)\nc = subtract(a, b)") == 2


def test_a_difference_is_not_the_same_in_the_other_order():
    assert lines("a = subtract(x, y)\nb = subtract(y, x)\nc = dot(a, b)") == 3


def test_default_arguments_that_are_written_out_are_no_difference():
    assert lines("a = sum(x, None, False)\nb = sum(x)\nc = mul(a, b)") == 2


def test_a_line_that_nothing_needs_goes():
    assert lines("a = exp(x)\nb = sin(x)", keep=["b"]) == 1


def test_what_literals_alone_make_becomes_a_literal():
    assert simplify([("a", "half", (3.0,)), ("y", "mul", ("x", "a"))]) == [("y", "mul", ("x", 1.5))]


def test_a_line_that_fails_for_the_likes_is_kept_and_raises_when_it_runs():
    steps = simplify([("y", "dot", ("x", "x"))], likes={"x": np.ones((2, 3))})
    assert steps == [("y", "dot", ("x", "x"))]


def test_likes_may_be_shapes_alone():
    steps = gradient([("y", "dot", ("X", "W")), ("loss", "sum", ("y",))], "loss", ["W"])
    assert "dot_right" not in str(simplify(steps, ["dloss_dW"], {"X": (5, 3), "W": (3, 2)}))


def test_without_likes_the_helpers_stay_and_the_list_serves_every_shape():
    steps = simplify(gradient([("y", "mul", ("x", "w")), ("z", "sum", ("y",))], "z", ["w"]), ["dz_dw"])
    for shape in [(), (3,), (2, 3)]:
        assert eval(steps, {"x": np.full(shape, 2.0), "w": 1.0})["dz_dw"] == 2 * np.prod(shape)


def test_a_dead_line_of_another_precision_does_not_hold_rewrites_back():
    steps = [("m", "greater", ("x", 0)), ("h", "tanh", ("m",)), ("b", "broadcast", ("n", "x")), ("y", "mul", ("x", "b"))]
    assert len(simplify(steps, ["y"], {"x": np.ones(3), "n": 1.0})) == 1


KINKS = {  # lists whose gradients have a 0/0 or a 0·∞ that is 0, and the point where they do
    "norm(0)": ("y = norm(x)", {"x": np.zeros(3)}),
    "norm(0) over an axis": ("n = norm(x, 1)\ny = sum(n)", {"x": np.array([[0.0, 0.0], [3.0, 4.0]])}),
    "norm of a number": ("y = norm(x)", {"x": 0.0}),
    "std of equal numbers": ("y = std(x)", {"x": np.ones(3)}),
    "hypot(0, 0)": ("y = hypot(x, w)", {"x": 0.0, "w": 0.0}),
    "arctan2(0, 0)": ("y = arctan2(x, w)", {"x": 0.0, "w": 0.0}),
    "powers of 0": ("y = power(x, w)", {"x": np.zeros(3), "w": np.array([0.0, 1.0, 2.0])}),
    "a branch not taken": ("c = greater(x, 0)\nr = sqrt(x)\ny = where(c, r, x)", {"x": np.array([-1.0, 0.0, 4.0])}),
    "products with 0": ("y = prod(x)", {"x": np.array([0.0, 2.0, 0.0])}),
    "half a norm": ("n = norm(x)\nh = mul(n, 0.5)\ny = divide(h, 2.0)", {"x": np.zeros(2)}),
}


@pytest.mark.parametrize("rewrites", [EXACT, ALGEBRA, EXACT + ALGEBRA], ids=["EXACT", "ALGEBRA", "both"])
@pytest.mark.parametrize("kink", KINKS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_gradient_at_a_kink_is_the_same_simplified(kink, rewrites):
    text, values = KINKS[kink]
    steps = gradient(WengertList.from_text(text), "y", list(values))
    keep = [f"dy_d{x}" for x in values]
    want = eval(steps, values)
    for likes in None, values:
        got = eval(simplify(steps, keep, likes, rewrites), values)
        for x in keep:
            np.testing.assert_allclose(got[x], want[x], 1e-15)
    assert np.isfinite(want["dy_dx"]).all()


UNSTABLE = {  # a list that overflows, the point where it does, and its gradient there
    "crossEntropy(softmax)": ("p = softmax(x)\nl = crossEntropy(p, k)\ny = sum(l)", np.array([1000.0, 0.0, 0.0]), [1, -1, 0]),
    "log(sigmoid)": ("p = sigmoid(x)\ny = log(p)", np.float64(-1000), 1),
    "log(1 + exp)": ("e = exp(x)\nd = add(1, e)\ny = log(d)", np.float64(1000), 1),
    "log(1 - sigmoid)": ("p = sigmoid(x)\nd = subtract(1, p)\ny = log(d)", np.float64(1000), -1),
    "1 / (1 + exp)": ("e = exp(x)\nd = add(1, e)\ny = divide(1, d)", np.float64(1000), 0),
}


@pytest.mark.parametrize("likes", [False, True], ids=["shapes unknown", "shapes known"])
@pytest.mark.parametrize("text, x, slope", UNSTABLE.values(), ids=UNSTABLE)
@pytest.mark.filterwarnings("error")
def test_stable_rewrites_mend_a_gradient_that_was_written_before(text, x, slope, likes):
    values = {"x": x, "k": np.array(1)} if "k" in text else {"x": x}
    steps = gradient(WengertList.from_text(text), "y", ["x"])
    got = eval(simplify(steps, ["y", "dy_dx"], values if likes else None, EXACT + STABLE), values)
    np.testing.assert_allclose(got["dy_dx"], slope, atol=1e-12)
    assert np.isfinite(got["y"])


def test_a_second_gradient_is_stable_too():
    first = gradient(WengertList.from_text("e = exp(x)\nd = add(1, e)\ny = log(d)"), "y", ["x"])
    steps = simplify(gradient(first, "dy_dx", ["x"]), ["ddy_dx_dx"], None, EXACT + STABLE)
    assert eval(steps, {"x": np.float64(1000)})["ddy_dx_dx"] == 0


@pytest.mark.parametrize("change", [lambda steps: None, lambda steps: steps.append(("w", "exp", ("x",)))])
def test_adjoints_of_registers_that_stable_rewrites_leave_out_stay(change):
    values = {"x": np.array([1.0, 2.0, 0.0]), "k": np.array(1)}
    steps = gradient(WengertList.from_text("p = softmax(x)\ny = crossEntropy(p, k)"), "y", ["p", "x"])
    change(steps)
    keep = ["y", "dy_dp", "dy_dx"]
    got, want = eval(simplify(steps, keep, values, EXACT + STABLE), values), eval(steps, values)
    for name in keep:
        np.testing.assert_allclose(got[name], want[name], 1e-12)


def test_a_list_that_was_changed_after_its_gradient_is_not_differentiated_anew():
    primal = WengertList.from_text("e = exp(x)\ny = log1p(e)")
    steps = gradient(primal, "y", ["x"])
    primal[1] = ("y", "sin", ("e",))
    got = eval(simplify(steps, ["y", "dy_dx"], None, EXACT + STABLE), {"x": 0.0})
    np.testing.assert_allclose([got["y"], got["dy_dx"]], [np.log(2), 0.5])


# what is refused


@pytest.mark.parametrize(("call", "words"), [
    (lambda: simplify([("y", "exp", ("x",))], ["yy"]), "keep names 'yy', which the list does not have; did you mean 'y'?"),
    (lambda: simplify([("y", "exq", ("x",))]), "'exq', which is not in the table of operators; did you mean 'exp'?"),
    (lambda: simplify(line for line in []), "write WengertList(steps)"),
])
def test_what_cannot_be_simplified_is_refused_in_a_sentence(call, words):
    with pytest.raises(XManError) as caught:
        call()
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_a_simplified_product_with_a_sparse_matrix_can_be_differentiated_again():
    import pytest

    from xman.passes import gradient
    values = {"S": pytest.importorskip("scipy.sparse").csr_array(np.eye(3)), "W": np.ones((3, 2))}
    steps = [("a", "dot", ("S", "W")), ("b", "square", ("a",)), ("s", "sum", ("b",))]
    short = simplify(gradient(steps, "s", ["W"]), ["s", "ds_dW"], values)
    assert np.array_equal(eval(gradient(short, "ds_dW", ["W"]), values)["dds_dW_dW"], np.full((3, 2), 2.0))


def test_what_dead_lines_alone_read_is_dead_too():
    steps = [("m", "greater", ("x", 0)), ("h", "tanh", ("m",)), ("e", "exp", ("h",)), ("b", "broadcast", ("n", "x")), ("y", "mul", ("x", "b"))]
    assert len(simplify(steps, ["y"], {"x": np.ones(3), "n": 1.0})) == 1


def test_whole_numbers_are_known_by_their_operator_where_no_shapes_are():
    steps = [("k", "argmax", ("x",)), ("r", "power", ("k", 2)), ("s", "power", ("x", 2))]
    assert [op for _, op, _ in simplify(steps, ["r", "s"], rewrites=EXACT + ALGEBRA)] == ["argmax", "power", "square"]
