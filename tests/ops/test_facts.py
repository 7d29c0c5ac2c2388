"""What a row says of its operator is what is measured of it: a law for each fact."""
import functools
import itertools

import numpy as np
import pytest
from operator_cases import CASES, in_each, slope_by

import ops
import xman
from ops import DG, G
from ops.facts import is_tame, operations, parameters, shaped_by
from ops.functions import ORDERED
from ops.table import SLOPES, arity
from xman.files.bounds import most_entries

EVERY = [(op, k) for op, cases in CASES.items() for k in range(len(cases))]
POINTS = np.array([-1e300, -1200.0, -30.0, -1.5, -1.0, -0.5, -1e-9, 0.0, 1e-9, 0.5, 1.0, 1.5, 30.0, 1200.0, 1e300])


def arrays_in(args): return [a for a in args if isinstance(a, (np.ndarray, np.floating))]
def overlap(out, args): return any(isinstance(a, np.ndarray) and np.shares_memory(out, a) for a in args)


@in_each(EVERY)
def test_a_result_is_of_the_kind_the_size_and_the_memory_that_the_row_says(op, k):
    args, facts = CASES[op][k], ops.facts_of(op)
    out = G[op](*args)
    if all(a.dtype.kind == "f" for a in arrays_in(args)) and op not in ("codes", "days", "characters", "words"):
        assert np.asarray(out).dtype.kind == {float: "f", int: "i", bool: "b"}[facts.gives]
    assert np.size(out) <= most_entries(op, args)
    assert np.size(out) == 0 or not overlap(out, args) or facts.view
    if facts.within:
        assert np.ndim(out) <= max(map(np.ndim, arrays_in(args))) and max(np.shape(out), default=0) <= max(max(np.shape(a),
            default=0) for a in arrays_in(args))
    if (place := shaped_by(op)) is not None and isinstance(like := args[place], np.ndarray):
        np.testing.assert_array_equal(out, G[op](*args[:place], np.full_like(like, 7), *args[place + 1:]))
        assert np.shape(out) == like.shape or op == "einsum_back"
        if facts.like is not None:
            assert np.asarray(G[op](*args[:place], like.astype(np.float32), *args[place + 1:])).dtype in (np.float32, np.result_type(args[0],
                np.float32))
    for i, a in enumerate(args):  # entries are picked from those before the keys, and keys say where
        assert (i >= facts.keys) <= (a is None or isinstance(a, (int, slice,
            type(Ellipsis))) or np.asarray(a).dtype.kind in "ib" or i == len(args) - 1)
    count = operations(op)(out, *args) if operations(op) else 0
    assert count == int(count) >= 0


UP_TO_ZEROS = {"scale", "maximum", "minimum", "logaddexp", "hypot", "squaredError"}  # or in their derivatives: the order may matter


@in_each([(op,) for op in CASES if arity(G[op]) == (2, 2)])
def test_two_arguments_may_change_places_just_where_the_row_says_so(op):
    pairs = [args for args in CASES[op] if all(isinstance(a, np.ndarray) and a.shape == args[0].shape for a in args)]
    if len(pairs) > 1:
        with np.errstate(all="ignore"):
            assert all(np.array_equal(G[op](*args), G[op](*args[::-1])) for args in pairs) == ops.facts_of(op).commutes or op in UP_TO_ZEROS


@in_each([(op,) for op in CASES])
def test_a_name_of_numpys_is_the_function_and_a_square_is_the_square(op):
    facts = ops.facts_of(op)
    for args in CASES[op]:
        if facts.numpy:
            module, _, name = facts.numpy.rpartition(".")
            places = [a for key, a in zip(parameters(G[op])[0], args, strict=False) if key not in ("axis", "keepdims")]
            named = {key: a for key, a in zip(parameters(G[op])[0], args, strict=False) if key in ("axis", "keepdims")}
            np.testing.assert_array_equal(getattr(getattr(np, module) if module else np, name)(*places, **named), G[op](*args))
        if facts.squared and op != "power":  # of the root alone
            np.testing.assert_allclose(G[facts.squared](*args), np.square(G[op](*args)), rtol=1e-12)


FINITE_HERE = {"tan", "logNdtr", "scale", "hypot", "arctan2", "recurrence", "pinv", "eigvalsh", "svdvals", "sylvester"}  # but not everywhere
ENTRYWISE = [op for op in CASES if ops.facts_of(op).elementwise and op not in ("polygamma", "betainc")]


@pytest.mark.parametrize("op", [op for op in ENTRYWISE if arity(G[op])[1] <= 2])
@np.errstate(all="ignore")
def test_slopes_are_finite_where_a_row_says_so_and_infinite_somewhere_if_not(op):
    args = np.meshgrid(*[POINTS] * arity(G[op])[1])
    out = G[op](*args)
    slopes = [np.broadcast_to(slope_by(op, i)(out, *args), out.shape) for i in range(len(args)) if SLOPES[op][i] and (i or op not in ORDERED)]
    assert all(np.isfinite(s).all() for s in slopes) == (ops.facts_of(op).tame is True) or op in FINITE_HERE


@pytest.mark.parametrize("op", [op for op in ENTRYWISE if callable(ops.facts_of(op).tame)])
@np.errstate(all="ignore")
def test_a_line_is_tame_where_its_numbers_make_its_slopes_finite(op):
    assert not is_tame(op, (POINTS, POINTS)) and not is_tame(op, (2.0, POINTS))
    numbers = [0, 1, 2, 3, -1, 0.5, -2.0, 1e-310, 1e300, np.inf, np.nan]
    tame = [y for y in numbers if is_tame(op, (POINTS, y))]
    assert tame and all(np.isfinite(slope_by(op, 0)(G[op](POINTS, y), POINTS, y)).all() for y in tame)
    assert len(tame) < len(numbers) and 0 not in tame
    x = np.array([-2.0, -1.0, 0.0, 1.0, 3.0])
    for k, y in itertools.product(range(1, 4), tame):  # and their slopes, as the list writes them
        high = functools.reduce(lambda fn, _: xman.grad(lambda x: fn(x).sum()), range(k), lambda x: getattr(ops.f, op)(x, y))
        assert np.isfinite(high(x)).all()


@pytest.mark.parametrize("op", [op for op in ENTRYWISE if arity(G[op])[0] == 1])
@np.errstate(all="ignore")
def test_a_row_says_whether_it_overflows_and_whether_it_settles(op):
    facts, out = ops.facts_of(op), G[op](POINTS)
    assert np.isinf(out[[0, 1, -2, -1]]).any() == (facts.overflows or facts.grows) or op in ("Gamma", "gammaln", "digamma", "logNdtr", "erfinv", "ndtri",
        "arctanh")
    assert not (facts.grows and facts.overflows) and (not facts.grows or np.isinf(out[[1, -2]]).any())
    assert np.isfinite(G[op](np.array([-np.inf, np.inf]))).any() == (facts.settles == 0) or op in ("logNdtr", "relu", "elu", "leakyRelu")
    if facts.convex:
        x, y = np.meshgrid(*[POINTS[1:-1]] * 2)
        assert np.all(G[op]((x + y) / 2) <= (G[op](x) + G[op](y)) / 2 * (1 + 1e-12) + 1e-12)


@in_each((op, k) for op, k in EVERY if not ops.facts_of(op).elementwise and isinstance(DG[op],
    list) and DG[op][0] and op not in FINITE_HERE | {"crossEntropy", "oneHot"})
@np.errstate(all="ignore")
def test_adjoints_of_zeros_and_of_far_numbers_are_finite_where_a_row_says_so(op, k):
    for fill in (0.0, 1e150):
        args = [np.where(np.arange(a.size).reshape(a.shape) % 2, fill, -fill) if isinstance(a,
            np.ndarray) and a.dtype.kind == "f" else a for a in CASES[op][k]]
        if ops.facts_of(op).tame:
            assert np.isfinite(DG[op][0](np.ones_like(out := G[op](*args)), out, *args)).all()


def test_an_operator_that_has_no_row_is_not_tame():
    assert not is_tame("unknown", ("x",))


def test_what_a_list_of_a_model_is_made_of_and_what_is_convex_and_tame():
    named = lambda fact: {op for op in ops.OURS if getattr(ops.facts_of(op), fact) and not (ops.facts_of(op).elementwise and fact == "tame")}
    assert named("within") == {*"""sum mean max min prod var std norm squaredNorm frobeniusNorm logsumexp softmax logSoftmax crossEntropy softmaxCrossEntropy hinge oneHot
                                   transpose mT dot""".split()}
    assert named("convex") == {*"square exp norm frobeniusNorm logsumexp softplus softmaxCrossEntropy sigmoidCrossEntropy squaredError".split()}
    untamed = ops.OURS - named("tame") - {*ENTRYWISE}
    assert untamed == {*"""angle polygamma betainc prod cumprod prod_of_others recurrence inv det logabsdet cofactor pinv cofactor_slope solve
                           cholesky eigvalsh eigenvectors inverse_gaps inverse_values svdvals left_vectors right_vectors orthonormal upper
                           expm sylvester sqrtm bundle item cond call scan while_loop""".split()}


def test_qr_in_the_language_leaves_a_triangular_matrix_as_it_is():
    a = np.triu(np.arange(1.0, 10.0).reshape(3, 3))
    for op, expected in ("upper", a), ("orthonormal", np.eye(3)):
        np.testing.assert_array_equal(ops.facts_of(op).elsewhere(a), expected)
        np.testing.assert_array_equal(G[op](a), expected)


@in_each([("gammainc", 2, "a"), ("gammaincc", 2, "a"), ("betainc", 3, "a"), ("betainc", 3, "b")])
def test_a_slope_that_there_is_not_is_an_error_with_the_argument(op, n, argument):
    args = np.full(n, 0.5)
    with pytest.raises(ValueError, match=f"{op} has no derivative by its argument {argument} here"):
        DG[op]["ab".index(argument)](1.0, G[op](*args), *args)


def test_an_operator_has_its_name_and_the_docstring_of_its_value():
    for op, value in G.items():
        assert (getattr(ops.f, op).__name__, getattr(ops.f, op).__doc__) == (op, value.__doc__)


def test_the_bound_of_a_row_that_gives_none_is_all_entries_and_an_axis_of_none_counts_as_one():
    assert [most_entries("cumsum", (np.ones(shape),)) for shape in ((), (1, 3), (0, 3), (2, 3))] == [1, 3, 3, 6]
    assert most_entries("concat", (0, np.ones((1, 3)), np.ones((4, 1)))) == 7
