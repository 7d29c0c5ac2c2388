"""Values at the edges: where the short formula overflows, cancels or sorts otherwise."""
import itertools

import numpy as np
import pytest
from operator_cases import CASES, in_each, slope_by

import ops
from ops import G, elementwise, f, operator
from ops.arrays.products import einsum_parts
from ops.facts import facts_of, parameters_of, taken_by


@pytest.mark.parametrize("row", [elementwise, operator])
def test_a_row_with_more_rules_than_arguments_is_refused(row):
    with pytest.raises(ValueError, match="twice takes 1 argument, and was given 2 rules: one an argument"):
        row("twice", lambda x: 2 * x, lambda out, x: 2, lambda out, x: 2)
    assert "twice" not in G


@pytest.mark.parametrize("fact, words", [({"flw": "moved"}, "the fact 'flw', which nothing reads; there are commutes,"), ({"flow": "move"},
    "the flow 'move',.* moved,")])
def test_a_misspelt_fact_of_a_row_is_refused(fact, words):
    with pytest.raises(ValueError, match=words):
        elementwise("twice", lambda x: 2 * x, lambda out, x: 2, **fact)
    assert "twice" not in G


def test_what_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"of shape \(3,\) no rim of widths 2 can be taken off"):
        f.unpad(np.ones(3), 2)
    with pytest.raises(ValueError, match=r"an array of shape \(2, 3\) does not spread to \(3,\), of which a sum is wanted"):
        f.unbroadcast(np.ones(3), np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"an array of shape \(1, 3\) does not spread to \(3,\)"):
        f.broadcast(np.ones((1, 3)), np.ones(3))
    with pytest.raises(ValueError, match=r"correlate takes the longer vector first, not 1 numbers and 3"):
        f.correlate(np.ones(1), np.ones(3))
    with pytest.raises(ValueError, match=r"matrices of shape \(1, 3\) are not square"):
        f.eigvalsh(np.ones((1, 3)))


@pytest.mark.parametrize("k", [-7, -3, -2, 2, 3, 7])
def test_a_diagonal_past_a_corner_is_empty(k):
    x = np.arange(6.0).reshape(3, 2)
    for diagonal in f.diag, facts_of("diag").formula:
        np.testing.assert_array_equal(diagonal(x, k), np.diag(x, k))


def test_a_difference_of_unsigned_numbers_does_not_wrap_round():
    np.testing.assert_allclose(f.exp_difference(np.uint8([1, 3]), np.uint8([2, 3])), np.exp([-1.0, 0.0]), rtol=1e-3)


def test_argsort_leaves_equal_entries_in_their_own_order():
    x = np.tile([1.0, 0.0], 100)
    assert f.argsort(x).tolist() == [*range(1, 200, 2), *range(0, 200, 2)]


def test_the_sign_of_a_determinant_does_not_underflow():
    assert f.det_sign(-1e-200 * np.eye(3)) == -1


def test_what_where_leaves_out_at_the_edge_of_arccosh_sends_back_0():
    from xman import backprop, eval
    steps = [("a", "arccosh", ("x",)), ("m", "greater", ("x", 1.5)), ("y", "where", ("m", "a", 0.0)), ("s", "sum", ("y",))]
    assert backprop(steps, eval(steps, {"x": np.array([1.0, 2.0])}), s=1.0)["x"].tolist() == [0, 1 / np.sqrt(3)]


def test_the_slope_of_arcsinh_does_not_underflow_where_the_square_overflows():
    from xman import backprop, eval
    steps = [("y", "arcsinh", ("x",))]
    assert np.isclose(backprop(steps, eval(steps, {"x": 1e200}), y=1.0)["x"], 1e-200, rtol=1e-15, atol=0)


@pytest.mark.parametrize(("fn", "times"), [(np.arcsin, 1), (np.arccos, -1), (np.arctanh, 2)])
def test_a_second_derivative_that_is_0_at_0_has_its_digits_near_it(fn, times):
    from xman import grad
    assert [grad(grad(fn))(x) / x for x in (1e-9, -1e-30)] == pytest.approx([times] * 2, rel=1e-12)


def test_the_slope_of_arccosh_does_not_cancel_near_1():
    from xman import backprop, eval
    steps, e = [("y", "arccosh", ("x",))], 2.0 ** -40
    assert np.isclose(backprop(steps, eval(steps, {"x": 1 + e}), y=1.0)["x"], 1 / np.sqrt(2 * e + e * e), rtol=1e-15)


@pytest.mark.parametrize("op", ["stack", "concat"])
def test_arrays_given_as_numpy_takes_them_are_told_the_order(op):
    with pytest.raises(TypeError, match=rf"{op} takes an axis and then the arrays, {op}\(0, a, b\), and found list alone"):
        getattr(f, op)([np.ones(2), np.ones(2)])


@pytest.mark.parametrize("function, taken", [
    (lambda a, b=1, /, c=2, *rest, d, e=3, **more: 0, (("a", "b", "c"), {"b": 1, "c": 2}, "rest", {"d", "e"})),
    (lambda: 0, ((), {}, "", set())), (np.add, ((), {}, "", set())), (dict.fromkeys, (("iterable", "value"), {"value": None}, "", set())),
    (max, ((), {}, "", set()))], ids=["all", "nothing", "a ufunc", "in C", "in C, which does not say"])
def test_what_a_function_takes_is_seen_by_kind_with_defaults(function, taken):
    *found, named = parameters_of(function)
    assert (*found, {*named}) == taken
    assert taken_by(function, c=4, d=5, f=6) == {name: x for name, x in (("c", 4), ("d", 5)) if name in taken[0] or name in taken[3]}


@pytest.mark.parametrize("x", [np.array([2, 3]), np.array([2, 0]), np.array([True, True])])
def test_products_of_other_whole_numbers_are_whole_whether_one_is_0_or_not(x):
    assert G["prod_of_others"](x).dtype == int and G["prod_of_others"](x).tolist() == x[::-1].tolist()


@pytest.mark.parametrize("a, b, q", [(np.zeros((0, 3)), np.eye(2), np.ones((3, 2))), (np.eye(2), np.eye(2), 1.0), (2.0, np.eye(1), np.eye(1))])
def test_an_equation_of_sylvester_whose_shapes_do_not_fit_is_refused(a, b, q):
    with pytest.raises(ValueError, match=r"sylvester takes matrices a \(m, m\), b \(n, n\) and q \(m, n\)"):
        G["sylvester"](a, b, q)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1.0, 1e150, 1e200, 1e300])
def test_the_slopes_of_arctan2_and_arccosh_neither_overflow_nor_underflow(size):
    y, x = np.float64(3 * size), np.float64(4 * size)
    slopes = [slope_by("arctan2", i)(np.arctan2(y, x), y, x) for i in (0, 1)]
    np.testing.assert_allclose(slopes, [4 / 25 / size, -3 / 25 / size], 1e-15)
    if size >= 1e150:
        np.testing.assert_allclose(slope_by("arccosh", 0)(np.arccosh(x), x), 1 / x, 1e-15)


def test_a_recurrence_is_that_of_its_steps_for_few_columns_and_for_many():
    R = np.random.default_rng(5)
    for shape, axis in ((100,), 0), ((2, 100), 1), ((2, 2, 200), -1), ((60, 60), 0), ((1,), 0), ((0,), 0), ((40, 0), 0):
        for dtype in (float, np.float32, np.float16):
            x, a = (R.normal(size=shape).astype(dtype) for _ in range(2))
            for factors in (a, np.where(a > 1, 0, a), np.where(a > 1.5, np.inf, a)):
                y, steps = np.moveaxis(x.copy(), axis, 0), np.moveaxis(factors, axis, 0)
                bound = np.abs(y).astype(float)  # of all that is added up: terms of both signs leave their roundings
                with np.errstate(all="ignore"):
                    for i in range(1, len(y)):
                        y[i] += steps[i] * y[i - 1]
                        bound[i] += np.abs(steps[i]) * bound[i - 1]
                    found = np.moveaxis(f.recurrence(x, factors.astype(dtype), axis), axis, 0)
                    close = np.abs(found - y) <= 8 * np.finfo(dtype).eps * bound
                assert found.dtype == y.dtype and found.shape == y.shape
                assert np.all(np.where(np.isfinite(y), close, (found == y) | np.isnan(found) & np.isnan(y)))


# ---- values in the language ------------------------------------------------------------------------------------------

WRITTEN = {op: {*filter(None, (ops.facts_of(op).formula, ops.facts_of(op).elsewhere))} for op in CASES}
FAR = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-9, -1e-20, 30.0, -800.0, 1e200, np.inf, -np.inf, np.nan])
OF_GAMMA = {"gammaln", "digamma", "Gamma", "Beta", "betaln"}  # at their poles SciPy takes the sign of the zero


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of branches that are not chosen
@in_each((op, k) for op, cases in CASES.items() if WRITTEN[op] and op != "pad" for k in range(len(cases)))  # pad's is for lists
def test_a_value_that_is_written_in_the_language_is_the_value(op, k):
    args = CASES[op][k]
    if ops.facts_of(op).elementwise or all(a.ndim and a.size for a in args if isinstance(a, np.ndarray)):
        for formula in WRITTEN[op]:
            np.testing.assert_allclose(formula(*args), G[op](*args), rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@in_each((op,) for op in CASES if WRITTEN[op] and ops.facts_of(op).elementwise and op not in OF_GAMMA)
def test_it_is_the_value_at_zeros_infinities_and_far_numbers_too(op):
    if all(isinstance(a, np.ndarray) and a.dtype.kind == "f" for a in CASES[op][-1]):
        for formula in WRITTEN[op]:
            args = np.meshgrid(*[FAR] * len(CASES[op][-1]))
            np.testing.assert_allclose(formula(*args), G[op](*args), rtol=1e-12, atol=1e-14)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@in_each((op,) for op in CASES if WRITTEN[op] and ops.facts_of(op).elementwise and len(CASES[op][-1]) > 1)
def test_it_is_the_value_where_an_argument_is_a_number_of_python(op):
    if all(isinstance(a, np.ndarray) and a.dtype.kind == "f" for a in CASES[op][-1]):
        for formula, i, number in itertools.product(WRITTEN[op], range(len(CASES[op][-1])), (0.0, 0.3, 2.0, 3)):
            args = [*CASES[op][-1]]
            args[i] = number
            np.testing.assert_allclose(formula(*args), G[op](*args), rtol=1e-12, atol=1e-14)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("op", sorted({*OF_GAMMA, "polygamma"}))
def test_functions_of_gamma_are_right_on_both_sides_of_their_poles(op):
    x = np.array([-6.3, -5.5, -1.7, -0.3, -1e-3, 1e-3, 0.2, 0.5, 0.7, 3.3, 9.5, 10.5, 40.0])
    for args in [(n, x) for n in (1, 2, 3)] if op == "polygamma" else [(x, x[::-1] + 0.05)] if op in ("Beta", "betaln") else [(x,)]:
        for formula in WRITTEN[op]:
            np.testing.assert_allclose(formula(*args), G[op](*args), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("keys", [(slice(None), "i"), ("i",), ("i", slice(1, 50)), (None, "i"), (Ellipsis, "i"), ("i", None), ("m",), (slice(0, 60,
    2), "i"), ("i", "i"), (3,)], ids=str)
def test_many_entries_are_added_where_the_keys_say_with_numpys_bits(keys):
    random = np.random.default_rng(6)
    keys = tuple(random.integers(0, 60, 70) if key == "i" else random.uniform(size=60) < 0.7 if isinstance(key, str) else key for key in keys)
    like = np.zeros((60, 60))
    for d in random.normal(size=np.shape(like[keys])), np.float64(1.5):
        want = np.zeros((60, 60))
        np.add.at(want, keys, d)
        np.testing.assert_array_equal(f.scatterAdd(d, like, *keys), want)


@pytest.mark.parametrize("subscripts", ["i...->i", "i...,j->ij", "...i->i...", "ij...->ij", "ij...", "...i,j...->ij"])
def test_dots_that_do_not_stand_first_have_no_derivative(subscripts):
    with pytest.raises(ValueError, match="can only stand first"):
        einsum_parts(subscripts)


def test_a_rim_may_take_all_entries():
    assert f.unpad(np.ones((2, 3)), ((1, 1), (0, 0))).shape == (0, 3)


@np.errstate(divide="ignore")
def test_formulas_of_losses_leave_out_classes_that_cannot_be():
    z, y = np.array([[-np.inf, 1.0, 2.0]]), np.array([[0.0, 1.0, 0.0]])
    for op, x in ("softmaxCrossEntropy", z), ("crossEntropy", f.softmax(z)):
        np.testing.assert_allclose(ops.facts_of(op).formula(x, y), G[op](x, y), rtol=1e-15)


def test_centered_is_zero_only_where_all_entries_of_the_mean_are_equal():
    columns = np.array([[0.1, 1.0], [0.1, 1.0], [0.1, 4.0]])
    assert f.centered(columns, 0).tolist() == [[0.0, -1.0], [0.0, -1.0], [0.0, 2.0]]
    assert not f.centered(np.full(3, 0.1)).any() and f.centered(np.array([1.0, 1.0, 4.0])).tolist() == [-1.0, -1.0, 2.0]


def test_cofactors_of_what_is_not_finite_are_nan_and_those_beside_are_not():
    a = np.stack([np.diag([1.0, 2.0]), np.full((2, 2), np.inf), np.diag([0.0, 3.0])])
    out = f.cofactor(a)
    np.testing.assert_allclose(out[[0, 2]], [np.diag([2.0, 1.0]), np.diag([3.0, 0.0])], atol=1e-15)
    assert np.isnan(out[1]).all() and f.cofactor(a.astype(np.float32)).dtype == np.float32
