"""One sweep over the tables: every operator, every case, every argument, every law."""
from __future__ import annotations

import numpy as np
import pytest
from operator_cases import APPLYING, CASES, LOOPS, NO_SECOND, R, in_each

import ops
from ops import DG, TG, G, f
from xman import Register, XMan, XManError, backprop, forward, grad, gradient, tangent, trace
from xman import eval as evaluate
from xman.passes.examples import examples

OURS, CASES = CASES.keys() | APPLYING.keys(), {**CASES, **LOOPS}
EVERY = [(op, k) for op, cases in CASES.items() for k in range(len(cases))]


def real(a) -> bool:
    return isinstance(a, (np.ndarray, np.floating)) and a.dtype.kind == "f"


def active(op, args) -> list[int]:
    """The positions with a rule and an argument that varies."""
    return [i for i, a in enumerate(args) if real(a) and DG[op][i] is not None]


def ruled(op, k, dtype=float):
    """(position, args, out, a delta, a tangent) for each argument that varies, all in one precision."""
    name = (np.dtype(dtype).name,)  # the literal of astype
    args = tuple(np.asarray(a, dtype) if real(a) else name if isinstance(a, tuple) and a == ("float64",) else a for a in CASES[op][k])
    out = G[op](*args)
    for i in active(op, args):
        yield i, args, out, draw(out), draw(args[i])


def draw(like):
    return np.asarray(R.uniform(0.5, 1.5, np.shape(like)) * R.choice([-1, 1], np.shape(like)), np.asarray(like).dtype)


def inner(a, b):
    return float(np.sum(np.asarray(a) * b))


def symbols(args):
    """Registers in the place of arrays, and the values that belong to them."""
    regs = [Register(f"a{i}") if isinstance(a, np.ndarray) else a for i, a in enumerate(args)]
    return regs, {f"a{i}": a for i, a in enumerate(args) if isinstance(a, np.ndarray)}


@in_each([(op,) for op in CASES])
def test_an_operator_says_how_many_arguments_it_takes(op):
    least, most = ops.table.arity(G[op])
    assert all(least <= len(args) <= most for args in CASES[op])
    assert (most == ops.table.MANY) == isinstance(DG[op], ops.Each)


@pytest.mark.parametrize("op", ["sum", "mean", "max", "min", "prod", "var", "std", "norm", "logsumexp"])
def test_a_reduction_takes_its_axis_by_name(op):
    assert getattr(f, op)(Register("x"), keepdims=True).definedAs.asStringTuple()[2] == ("x", None, True)
    np.testing.assert_array_equal(getattr(f, op)(np.eye(3), axis=1), G[op](np.eye(3), 1))


@in_each([(op, k) for op, k in EVERY if ops.facts_of(op).elementwise])
def test_of_numbers_of_python_it_gives_what_it_gives_of_numpys(op, k):
    numbers = [a.flat[0] if isinstance(a, np.ndarray) and a.size else a for a in CASES[op][k]]
    value, plain = G[op](*numbers), G[op](*[a.item() if isinstance(a, np.generic) else a for a in numbers])
    assert np.result_type(value) == np.result_type(plain) and np.array_equal(value, plain, equal_nan=True)


def test_the_sweep_has_every_operator():
    assert not ops.table.OURS ^ OURS, f"CASES in tests/ops/operator_cases.py: a row too few or too many, {ops.table.OURS ^ OURS}"


@in_each([(op,) for op in CASES])
def test_every_argument_with_a_rule_varies_in_some_case_or_is_refused_by_its_name(op):
    for i, rule in enumerate(DG[op] if isinstance(DG[op], list) else ()):
        if rule and not any(i in active(op, args) for args in CASES[op]):
            with pytest.raises(ValueError, match=f"{op} has no derivative by its argument"):
                rule(1.0, 1.0, *CASES[op][0])


@in_each(case for case in EVERY if case[0] != "stopGradient")
def test_a_value_does_not_move_with_an_argument_without_a_rule(op, k):
    args = CASES[op][k]
    for i, a in enumerate(args):
        if (real(a) or type(a) is float) and DG[op][i] is None:
            moved = (G[op](*args[:i], a + h, *args[i + 1:]) for h in (-1e-6, 1e-6))
            np.testing.assert_array_equal(*moved, err_msg=f"argument {i}")


@in_each(EVERY)
def test_the_adjoint_rule_is_the_transpose_of_the_tangent_rule(op, k):
    for i, args, out, d, t in ruled(op, k):
        left = inner(DG[op][i](d, out, *args), t)
        right = inner(d, TG[op][i](t, out, *args))
        assert left == pytest.approx(right, rel=1e-12, abs=1e-12), f"argument {i}"


@in_each(EVERY)
def test_the_tangent_rule_is_the_difference_quotient(op, k):
    for i, args, out, _, t in ruled(op, k):
        h = 1e-6
        above, below = (G[op](*args[:i], args[i] + s * h * t, *args[i + 1:]) for s in (1, -1))
        rise = np.subtract(above, below, where=np.not_equal(above, below), out=np.zeros(np.shape(out)))  # −∞ stays −∞
        np.testing.assert_allclose(TG[op][i](t, out, *args), rise / (2 * h), rtol=2e-7, atol=2e-8)


@in_each((op, k, name) for op, k in EVERY for name in ("adjoint", "tangent"))
def test_a_rule_on_registers_is_the_rule_on_arrays(op, k, name):
    table = DG if name == "adjoint" else TG
    for i, args, out, d, t in ruled(op, k):
        seed = d if table is DG else t
        regs, values = symbols(args)
        result = table[op][i](Register("seed"), Register("out"), *regs)
        steps = XMan().operationSequence(result)
        known = evaluate(steps, {**values, "seed": seed, "out": out})
        got = known[steps[-1][0] if steps else result.name]
        np.testing.assert_array_equal(got, table[op][i](seed, out, *args), strict=False)


@in_each(case for case in EVERY if case not in NO_SECOND)
def test_the_second_order_is_right_forward_and_in_reverse(op, k):
    for i, args, _, d, _ in ruled(op, k):
        regs, values = symbols(args)
        seed = Register("seed")
        steps = XMan().operationSequence(DG[op][i](seed, getattr(f, op)(*regs), *regs))
        if not steps:
            continue  # the rule returns the delta itself
        last, values = steps[-1][0], {**values, "seed": d}
        known = evaluate(steps, values)
        directions = {name: draw(x) for name, x in values.items() if real(x) and name in steps.inputs}
        weight = draw(known[last])
        slope = forward(steps, known, directions).get(last, np.zeros_like(weight))
        deltas = backprop(steps, known, **{last: weight})
        assert inner(weight, slope) == pytest.approx(sum(inner(deltas[name], t) for name, t in directions.items() if name in deltas),
                                                     rel=1e-10, abs=1e-10), f"argument {i}: the modes differ"
        h = 1e-6
        above, below = (evaluate(steps, {**values, **{name: values[name] + s * h * t for name, t in directions.items()}})[last]
                        for s in (1, -1))
        np.testing.assert_allclose(slope, (above - below) / (2 * h), rtol=1e-6, atol=2e-7)


EDGES = np.array([-np.inf, -1.0, -0.0, 0.0, 1.0, 1e200, np.inf])


@in_each([(op,) for op in CASES if ops.facts_of(op).elementwise and len(CASES[op][-1]) < 3 and all(map(real, CASES[op][-1]))])
@np.errstate(all="ignore")
def test_at_the_edges_lists_and_walks_of_both_modes_give_one_slope(op):
    grid = [x.ravel() for x in np.meshgrid(*[EDGES] * len(CASES[op][-1]))]
    values, ones = {f"x{i}": x for i, x in enumerate(grid)}, np.ones_like(grid[0])
    steps = [("y", op, tuple(values))]
    known = evaluate(steps, values)
    for x in values:
        slopes = [backprop(steps, known, wrt=[x], y=ones).get(x, 0.0), forward(steps, known, {x: ones}).get("y", 0.0),
                  evaluate(gradient(steps, "y", [x]), values).get(f"dy_d{x}", 0.0),
                  evaluate(tangent(steps, [x]), {**values, f"{x}_dot": ones}).get("y_dot", 0.0)]
        for other in slopes[1:]:
            np.testing.assert_array_equal(other, slopes[0], err_msg=x)


@in_each((op, k, dtype) for op, k in EVERY for dtype in (np.float32, np.float64))
def test_value_contribution_and_tangent_keep_shape_and_precision(op, k, dtype):
    for i, args, out, d, t in ruled(op, k, dtype):
        part, slope = np.asarray(DG[op][i](d, out, *args)), np.asarray(TG[op][i](t, out, *args))
        assert (np.asarray(out).dtype, part.dtype, slope.dtype) == (dtype, dtype, dtype), f"argument {i}"
        assert (part.shape, slope.shape) == (args[i].shape, np.shape(out)), f"argument {i}"


@in_each(case for case in EVERY if case[0] in ops.OURS - {*APPLYING, "sqrtm"})  # a hollow matrix has no root
def test_a_stand_in_has_the_shape_and_the_precision_of_the_value(op, k):
    values = {f"a{i}": a for i, a in enumerate(CASES[op][k]) if isinstance(a, (np.ndarray, np.floating))}
    args = tuple(f"a{i}" if f"a{i}" in values else a for i, a in enumerate(CASES[op][k]))
    found, out = examples([("out", op, args)], values)["out"], G[op](*CASES[op][k])
    assert (np.shape(found), np.asarray(found).dtype) == (np.shape(out), np.asarray(out).dtype)


def fortran(x):
    return np.asfortranarray(x)


def strided(x):
    wide = np.zeros([2 * size for size in x.shape], x.dtype)
    view = wide[tuple(slice(None, None, 2) for _ in x.shape)]
    view[...] = x
    return view


def backwards(x):
    return np.ascontiguousarray(x[tuple(slice(None, None, -1) for _ in x.shape)])[tuple(slice(None, None, -1) for _ in x.shape)]


@in_each((op, k, layout) for op, k in EVERY for layout in (fortran, strided, backwards))
def test_the_layout_in_memory_does_not_matter_and_nothing_is_written(op, k, layout):
    def locked(a):
        a = layout(np.array(a)) if np.ndim(a) else np.array(a)
        a.flags.writeable = False
        return a

    plain = CASES[op][k]
    args = tuple(locked(a) if isinstance(a, np.ndarray) else a for a in plain)
    out = G[op](*args)
    np.testing.assert_allclose(out, G[op](*plain), rtol=1e-13, atol=1e-14)
    for i, args_, out_, d, t in ruled(op, k):
        moved = tuple(locked(a) if isinstance(a, np.ndarray) else a for a in args_)
        for table, seed in ((DG, d), (TG, t)):
            np.testing.assert_allclose(table[op][i](locked(seed), locked(out_), *moved), table[op][i](seed, out_, *args_),
                                       rtol=1e-12, atol=1e-13)


@in_each(EVERY)
def test_one_register_in_every_place_gets_the_sum_of_the_contributions(op, k):
    args = CASES[op][k]
    like = [i for i in active(op, args) if args[i].shape == args[active(op, args)[0]].shape]
    if len(like) < 2:
        return
    x = abs(args[like[0]]) * 0.3 + 0.2  # within every domain
    same = tuple(x if i in like else a for i, a in enumerate(args))
    regs, values = symbols(same)
    shared = Register("x")
    steps = XMan().operationSequence(getattr(f, op)(*(shared if i in like else r for i, r in enumerate(regs))))
    known = evaluate(steps, {**values, "x": x})
    out = known[steps[-1][0]]
    d = draw(out)
    got = backprop(steps, known, **{steps[-1][0]: d}).get("x")
    np.testing.assert_allclose(got, sum(DG[op][i](d, out, *same) for i in like), rtol=1e-13, atol=1e-14)


WRITTEN_BY_RULES = {"dot_left", "dot_right", "einsum_back", "part", "diag_back", "prod_of_others", "recurrence", "cofactor_slope", "lower_half"}


@in_each((op, k) for op, k in EVERY[::3] if op not in WRITTEN_BY_RULES | APPLYING.keys())  # for arguments that fit
def test_whatever_spreads_gets_a_contribution_of_its_own_shape(op, k):
    """An argument in the place of which NumPy takes one with fewer entries."""
    for i, args, *_ in ruled(op, k):
        shape, few = args[i].shape, args[i].ravel()
        for less in {(), (1,) * len(shape), shape[1:], shape[:-1] + (1,)} - {shape} if few.size else ():
            spread = args[:i] + (np.resize(few, less),) + args[i + 1:]
            try:
                out = G[op](*spread)
            except (ValueError, IndexError, TypeError):
                continue
            for j in active(op, spread):
                d, t = draw(out), draw(spread[j])
                part = np.asarray(DG[op][j](d, out, *spread))
                assert part.shape == spread[j].shape, (less, j)
                assert inner(part, t) == pytest.approx(inner(d, TG[op][j](t, out, *spread)), rel=1e-9, abs=1e-9), (less, j)


@pytest.mark.parametrize("op", sorted(OURS - APPLYING.keys()))
def test_truth_values_alone_send_nothing_back_whatever_is_computed_of_them(op):
    """Neither through a list nor through a function, where the value is NumPy's."""
    args = CASES[op][0]
    names = [f"w{i}" if real(a) else a for i, a in enumerate(args)]
    values = {f"w{i}": a for i, a in enumerate(args) if real(a)}
    steps = [(f"m{i}", "greater", (f"w{i}", 0.0)) for i, a in enumerate(args) if real(a)]
    try:
        out = evaluate([*steps, ("out", op, tuple(f"m{x[1:]}" if type(x) is str else x for x in names))], values)["out"]
    except XManError:
        return  # NumPy has no such function of truth values
    if not values or np.asarray(out).dtype.kind not in "bf":
        return

    def function(w):
        given = iter(w)
        return np.sum(getattr(f, op)(*[next(given) > 0 if real(a) else a for a in args])) * np.sum(w[0])

    w = [*values.values()]
    steps = trace(function, w)
    steps = gradient(steps, of := steps[-1][0], ["w_0"])
    for slopes in (grad(function)(w)[0], evaluate(steps, {f"w_{i}": x for i, x in enumerate(w)})[f"d{of}_dw_0"]):
        np.testing.assert_allclose(slopes, np.full(np.shape(w[0]), np.sum(out), float))


@pytest.mark.parametrize("op", [op for op in CASES if all(DG[op][i] is None for i in range(len(CASES[op][0])))])
def test_a_value_without_derivative_stops_both_modes(op):
    for args in CASES[op]:
        regs, values = symbols(args)
        steps = XMan().operationSequence(getattr(f, op)(*regs))
        known = evaluate(steps, values)
        last = steps[-1][0]
        assert set(forward(steps, known, {name: 1.0 for name in values})) == set(values)
        assert set(backprop(steps, known, **{last: 1.0})) == {last}
