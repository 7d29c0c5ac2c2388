"""Facts about simplify: what it may not change, what it removes, and what it refuses."""

import numpy as np
import pytest
from lists_with_values import LISTS
from random_lists import random_list

from xman import WengertList, XManError, eval
from xman.passes import ALGEBRA, EXACT, STABLE, gradient, simplify

every_list = pytest.mark.parametrize(("steps", "values", "of"), LISTS.values(), ids=LISTS)
with_and_without_likes = pytest.mark.parametrize("shaped", [False, True], ids=["shapes unknown", "shapes known"])
in_both_precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32])
seeds = pytest.mark.parametrize("seed", range(120))


def assert_same_bits(got, want):
    """The same shape, precision and bits, but for those of NaN."""
    np.testing.assert_array_equal(got, want, strict=True)
    numbers = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(want)[numbers])


def in_precision(values, dtype):
    return {name: np.asarray(x, dtype)[()] if np.asarray(x).dtype.kind == "f" else x for name, x in values.items()}


def adjoints_of(steps, values, of):
    """The gradient list by all inputs of floats, and the names of the gradients."""
    wrt = [name for name, x in values.items() if np.asarray(x).dtype.kind == "f"]
    return gradient(steps, of, wrt), [f"d{of}_d{x}" for x in wrt]


# what stays


@seeds
@in_both_precisions
@with_and_without_likes
def test_a_random_list_keeps_its_values_to_the_last_bit_for_ordinary_and_special_inputs(seed, dtype, shaped):
    steps, ordinary, special = random_list(seed, dtype=dtype)
    keep = [dst for dst, _, _ in steps[-6:]]
    shorter = simplify(steps, keep, ordinary if shaped else None)
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


def test_literals_that_print_alike_but_differ_in_type_stay_apart():
    assert lines("a = getitem(x, 1)\nb = getitem(x, True)\nc = dot(a, b)") == 3


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
    assert "dotRight" not in str(simplify(steps, ["dloss_dW"], {"X": (5, 3), "W": (3, 2)}))


def test_without_likes_the_helpers_stay_and_the_list_serves_every_shape():
    steps = simplify(gradient([("y", "mul", ("x", "w")), ("z", "sum", ("y",))], "z", ["w"]), ["dz_dw"])
    for shape in [(), (3,), (2, 3)]:
        assert eval(steps, {"x": np.full(shape, 2.0), "w": 1.0})["dz_dw"] == 2 * np.prod(shape)


def test_without_likes_a_number_made_of_literals_keeps_its_precision():
    steps, x = [("a", "exp", (1.0,)), ("y", "add", ("x", "a"))], np.ones(2, np.float32)
    assert_same_bits(eval(simplify(steps), {"x": x})["y"], eval(steps, {"x": x})["y"])


def test_a_kept_number_has_the_single_precision_of_the_list():
    steps, values = gradient([("y", "exp", ("x",)), ("z", "sin", ("v",))], "y", ["v"]), {"x": np.float32(1), "v": np.float32(1)}
    assert_same_bits(eval(simplify(steps, ["dy_dv"], values), values)["dy_dv"], np.float32(0))


def test_subtracting_minus_zero_is_left_alone():
    steps = [("y", "subtract", ("x", -0.0))]
    assert_same_bits(eval(simplify(steps, likes={"x": 1.0}), {"x": -0.0})["y"], np.float64(0.0))


def test_a_product_that_cancels_keeps_the_sign_of_its_zero():
    steps, values = [("z", "negative", ("a",)), ("y", "dot", ("z", "b"))], {"a": np.array([1.0, -1.0]), "b": np.ones(2)}
    assert_same_bits(eval(simplify(steps), values)["y"], eval(steps, values)["y"])


def test_conditions_that_are_summed_to_a_shape_take_its_precision():
    steps = [("m", "greater", ("A", 0)), ("y", "unbroadcast", ("m", "x"))]
    values = {"A": np.eye(3), "x": np.ones(3)}
    assert_same_bits(eval(simplify(steps, likes=values), values)["y"], eval(steps, values)["y"])


def test_a_helper_is_left_alone_where_the_shapes_are_not_those_of_a_product():
    steps = [("y", "dotLeft", ("v", "A", "B"))]
    values = {"v": np.ones(3), "A": np.ones((2, 3)), "B": np.ones((3, 3))}
    assert_same_bits(eval(simplify(steps, likes=values), values)["y"], eval(steps, values)["y"])


def test_a_dead_line_of_another_precision_does_not_hold_rewrites_back():
    steps = [("m", "greater", ("x", 0)), ("h", "tanh", ("m",)), ("b", "broadcast", ("n", "x")), ("y", "mul", ("x", "b"))]
    assert len(simplify(steps, ["y"], {"x": np.ones(3), "n": 1.0})) == 1


def test_keep_as_a_string_is_refused():
    with pytest.raises(XManError, match="list of names"):
        simplify([("y", "exp", ("x",))], "y")


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


# whole numbers and conditions, whose arithmetic is another


@pytest.mark.parametrize("rewrites", [EXACT, EXACT + STABLE + ALGEBRA], ids=["EXACT", "all"])
@pytest.mark.parametrize("likes", [False, True])
@pytest.mark.parametrize("text", [
    "z = negative(u)\ny = add(x, z)", "z = negative(u)\ny = subtract(x, z)", "z = negative(u)\ny = mul(z, x)",
    "z = negative(u)\ny = divide(x, z)", "c = greater(x, w)\nd = greater_equal(x, w)\np = mul(x, c)\nq = mul(x, d)\ny = add(p, q)",
    "c = greater(x, w)\np = mul(x, c)\ny = add(x, p)"])
def test_an_exact_value_of_whole_numbers_and_conditions_stays(text, likes, rewrites):
    values = {"x": np.array([3.0, 1.0]), "w": np.array([1.0, 1.0]), "u": np.array([1, 200], np.uint8)}
    if rewrites != EXACT and "u" in text and not likes:
        return  # without likes STABLE and ALGEBRA take it for floats
    steps = WengertList.from_text(text)
    assert_same_bits(eval(simplify(steps, ["y"], values if likes else None, rewrites), values)["y"], eval(steps, values)["y"])


@pytest.mark.parametrize("text", ["s = add(1.0, u)\ny = log(s)", "y = power(u, 2.0)", "y = power(u, 0.5)", "e = exp(u)\ny = log(e)",
                                  "s = mul(200, u)\ny = mul(s, x)", "p = mul(w, u)\nq = mul(w, v)\ny = add(p, q)"])
def test_with_likes_no_rewrite_takes_small_whole_numbers_for_floats(text):
    values = {"x": np.array([3.0, 1.0]), "w": np.array([1.0, 2.0]), "u": np.array([1, 200], np.uint8), "v": np.array([200, 200], np.uint8)}
    steps = WengertList.from_text(text)
    assert simplify(steps, ["y"], values, EXACT + STABLE + ALGEBRA) == steps


def test_the_gradient_of_maximum_survives_algebra():
    steps, values = [("m", "maximum", ("x", "y")), ("l", "sum", ("m",))], {"x": np.array([3.0, 1, 2]), "y": np.array([1.0, 1, 3])}
    g = gradient(steps, "l", ["x"])
    for likes in (None, values):
        assert eval(simplify(g, ["dl_dx"], likes, EXACT + ALGEBRA), values)["dl_dx"].tolist() == [1, 0.5, 0]


# bugs that had survived planting


def test_literal_arrays_of_the_same_bytes_but_another_shape_stay_apart():
    steps = [("a", "mul", ("x", np.zeros((1, 2)))), ("b", "mul", ("x", np.zeros((2, 1)))), ("y", "dot", ("a", "b"))]
    assert len(simplify(steps)) == 3 and eval(simplify(steps), {"x": 1.0})["y"].shape == (1, 1)


def test_literal_arrays_of_the_same_bytes_but_another_precision_stay_apart():
    steps = [("a", "mul", ("x", np.zeros(2))), ("b", "mul", ("x", np.zeros(4, np.float32)))]
    assert len(simplify(steps)) == 2 and "alias" not in str(simplify(steps))


def test_a_maximum_is_not_the_same_in_the_other_order():
    steps = [("a", "maximum", ("x", "y")), ("b", "maximum", ("y", "x")), ("c", "dot", ("a", "b"))]
    assert len(simplify(steps)) == 3  # of 0 and −0 it may be either


def test_a_simplified_product_with_a_sparse_matrix_can_be_differentiated_again():
    import pytest

    from xman.passes import gradient
    values = {"S": pytest.importorskip("scipy.sparse").csr_array(np.eye(3)), "W": np.ones((3, 2))}
    steps = [("a", "dot", ("S", "W")), ("b", "square", ("a",)), ("s", "sum", ("b",))]
    short = simplify(gradient(steps, "s", ["W"]), ["s", "ds_dW"], values)
    assert np.array_equal(eval(gradient(short, "ds_dW", ["W"]), values)["dds_dW_dW"], np.full((3, 2), 2.0))


def test_with_an_operator_of_ones_own_under_a_name_of_ours_no_rewrite_applies():
    import ops
    steps = [("y", "mul", ("x", 1.0))]
    assert simplify(steps, None, {"x": 3.0}, G={**ops.G, "mul": lambda x, y: x + y}) == steps


def test_minus_zero_is_not_the_default_zero():
    steps, values = [("y", "shift", ("x", 0, -0.0))], {"x": np.ones(2)}
    assert np.signbit(eval(simplify(steps), values)["y"][0])


def test_a_register_in_the_place_of_a_default_is_kept():
    assert simplify([("y", "clip", ("x", "low"))]) == [("y", "clip", ("x", "low"))]


def test_a_sum_over_an_array_stays():
    assert simplify([("y", "sum", ("x",))], likes={"x": np.ones(3)}, rewrites=EXACT + ALGEBRA) == [("y", "sum", ("x",))]


def test_whole_numbers_in_the_shape_of_floats_are_whole_numbers():
    steps = [("a", "mul", ("v", 2.0)), ("k2", "reshape", ("k", "a")), ("y", "mul", ("k2", 1.0))]
    assert len(simplify(steps, ["y"])) == 3


def test_a_number_in_single_precision_stays_that_beside_doubles():
    steps, values = [("b", "broadcast", (0.1, "s")), ("y", "mul", ("b", "x"))], {"s": np.float32(1), "x": np.ones(2)}
    assert_same_bits(eval(simplify(steps, ["y"], values), values)["y"], eval(steps, values)["y"])


def test_a_whole_number_among_the_likes_is_a_real_number():
    steps = [("y", "power", ("x", -1)), ("b", "broadcast", (1.0, "y")), ("z", "mul", ("b", "y"))]
    assert simplify(steps, ["z"], {"x": 2}) == [("z", "power", ("x", -1))]


def test_what_dead_lines_alone_read_is_dead_too():
    steps = [("m", "greater", ("x", 0)), ("h", "tanh", ("m",)), ("e", "exp", ("h",)), ("b", "broadcast", ("n", "x")), ("y", "mul", ("x", "b"))]
    assert len(simplify(steps, ["y"], {"x": np.ones(3), "n": 1.0})) == 1
