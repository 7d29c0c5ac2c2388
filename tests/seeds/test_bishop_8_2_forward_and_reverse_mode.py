"""Bishop, Deep Learning, §8.2.1 and 8.2.2, (8.49) to (8.76), example by example: evaluation traces, tangents, adjoints."""

from pathlib import Path

import numpy as np
import pytest

from ops import facts_of
from xman import Hessian, Jacobian, WengertList, XMan, backprop, eval, f, forward, gradient, hvp, tangent
from xman.models import MLP
from xman.show.cost import cost
from xman.show.explain import explain


def same(found, right):
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-13)


class Trace(XMan):
    """Fig. 8.5: v7 is f1 of (8.49), v8 is f2 of (8.65)."""
    x1, x2 = f.input(), f.input()
    v1, v2 = f.alias(x1), f.alias(x2)
    v3 = v1 * v2
    v4 = f.sin(v2)
    v5 = f.exp(v3)
    v6 = v3 - v4
    v7 = v5 + v6
    v8 = v6 * v5


M = Trace().setup()
STEPS = M.operationSequence(M.v1, M.v2, M.v3, M.v4, M.v5, M.v6, M.v7)     # Fig. 8.4
BOTH = M.operationSequence(M.v1, M.v2, M.v3, M.v4, M.v5, M.v6, M.v7, M.v8)     # Fig. 8.5
V = ["v1", "v2", "v3", "v4", "v5", "v6", "v7"]
AT = pytest.mark.parametrize("x1, x2", [(0.7, 1.3), (-1.2, 0.4), (2.0, -1.5), (1.9, 1.8)])


def at(x1, x2, steps=BOTH):
    return eval(steps, {"x1": x1, "x2": x2})


def f1(x1, x2):
    return x1 * x2 + np.exp(x1 * x2) - np.sin(x2)                           # (8.49)


def f2(x1, x2):
    return (x1 * x2 - np.sin(x2)) * np.exp(x1 * x2)                         # (8.65)


def slopes(x1, x2):
    """The Jacobian of f1 and f2, found by hand."""
    e, g = np.exp(x1 * x2), x1 * x2 - np.sin(x2)
    return np.array([[x2 + x2 * e, x1 + x1 * e - np.cos(x2)], [(x2 + g * x2) * e, (x1 - np.cos(x2) + g * x1) * e]])


def along(steps, values, x1=0.0, x2=0.0):
    """The tangents of all registers in the direction given."""
    return forward(steps, values, {"x1": x1, "x2": x2})


def parts(steps, values):
    """∂v_i/∂v_j for each line and each of its arguments, by (i, j), each line taken by itself."""
    return {(line[0], a): Jacobian([line], line[0], [a])(values)[a] for line in steps for a in line[2]}


# (8.49) to (8.56): the evaluation trace


def test_8_50_to_8_56_and_figure_8_4_the_evaluation_trace_is_the_list():
    assert STEPS == WengertList.from_text("""\
v1 = alias(x1)
v2 = alias(x2)
v3 = mul(v1, v2)
v4 = sin(v2)
v5 = exp(v3)
v6 = subtract(v3, v4)
v7 = add(v5, v6)""")


@AT
def test_8_49_the_last_register_is_the_function(x1, x2):
    same(at(x1, x2)["v7"], f1(x1, x2))


@AT
def test_8_50_to_8_56_the_primal_variables(x1, x2):
    v1, v2 = x1, x2
    v3 = v1 * v2
    v4, v5 = np.sin(v2), np.exp(v3)
    v6 = v3 - v4
    v7 = v5 + v6
    same([at(x1, x2)[v] for v in V], [v1, v2, v3, v4, v5, v6, v7])


# (8.57) to (8.67): forward mode


@AT
def test_8_57_a_tangent_is_the_sum_over_the_parents(x1, x2):
    values = at(x1, x2)
    dots, of = along(BOTH, values, x1=1.0), parts(BOTH, values)
    for i, _, parents in BOTH:
        same(dots[i], sum(dots[j] * of[i, j] for j in parents))


def tangents_of_the_book(v, v1_dot, v2_dot):
    v1, v2, v3, *_ = (v[name] for name in V)
    v3_dot = v1 * v2_dot + v1_dot * v2                                      # (8.60)
    v4_dot = v2_dot * np.cos(v2)                                            # (8.61)
    v5_dot = v3_dot * np.exp(v3)                                            # (8.62)
    v6_dot = v3_dot - v4_dot                                                # (8.63)
    v7_dot = v5_dot + v6_dot                                                # (8.64)
    return [v1_dot, v2_dot, v3_dot, v4_dot, v5_dot, v6_dot, v7_dot]


@AT
def test_8_58_to_8_64_the_tangent_variables(x1, x2):
    values = at(x1, x2)
    book = tangents_of_the_book(values, v1_dot=1.0, v2_dot=0.0)             # (8.58), (8.59)
    dots = along(STEPS, values, x1=1.0)
    same([dots[v] for v in V], book)
    same([row.tangent for row in explain(STEPS, values={"x1": x1, "x2": x2}, wrt="x1") if row.register in V], book)


@AT
def test_8_58_to_8_64_as_a_list_with_each_tangent_after_its_primal(x1, x2):
    doubled = tangent(STEPS[2:], ["v1", "v2"])
    lines = [dst for dst, _, _ in doubled if not dst.startswith("z")]
    assert lines == [name for v in V[2:] for name in (v, f"{v}_dot")]
    values = eval(doubled, {"v1": x1, "v2": x2, "v1_dot": 1.0, "v2_dot": 0.0})
    same([values[f"{v}_dot"] for v in V], tangents_of_the_book(values, 1.0, 0.0))


@AT
def test_8_2_1_the_required_derivative_is_that_of_v7(x1, x2):
    """The book prints that the tuples are evaluated until v̇5 is obtained, "the required derivative"; meant is v̇7."""
    dots = along(STEPS, at(x1, x2), x1=1.0)
    same(dots["v7"], slopes(x1, x2)[0, 0])
    assert abs(dots["v5"] - slopes(x1, x2)[0, 0]) > 0.1


@AT
def test_8_65_a_second_output_is_one_line_more_and_both_derivatives_come_from_one_forward_pass(x1, x2):
    assert BOTH[:-1] == STEPS and BOTH[-1] == ("v8", "mul", ("v6", "v5"))
    values = at(x1, x2)
    same(values["v8"], f2(x1, x2))
    dots = along(BOTH, values, x1=1.0)
    same([dots["v7"], dots["v8"]], slopes(x1, x2)[:, 0])


@AT
def test_8_65_the_derivatives_by_x2_take_a_separate_forward_pass(x1, x2):
    dots = along(BOTH, at(x1, x2), x2=1.0)
    same([dots["v7"], dots["v8"]], slopes(x1, x2)[:, 1])


@AT
def test_8_66_each_forward_pass_gives_a_column_of_the_jacobian(x1, x2):
    columns = [along(BOTH, at(x1, x2), **{x: 1.0}) for x in ("x1", "x2")]  # the unit vectors
    same([[dots[out] for dots in columns] for out in ("v7", "v8")], slopes(x1, x2))


def mapping(inputs, outputs):
    """(list of y, values) of a two-layer map, at random."""
    random, m = np.random.default_rng(66), XMan()
    m.x, m.u, m.w = (f.input(random.normal(size=size)) for size in [inputs, (7, inputs), (outputs, 7)])
    m.y = f.softmax(m.w @ f.tanh(m.u @ m.x))
    return m.setup().operationSequence(m.y), m.inputDict()


def by_hand(values):
    z, y = np.tanh(values["u"] @ values["x"]), eval(mapping(1, 1)[0], values)["y"]
    return (np.diag(y) - np.outer(y, y)) @ values["w"] @ np.diag(1 - z ** 2) @ values["u"]


@pytest.mark.parametrize("inputs, outputs", [(3, 5), (5, 3)])
def test_8_66_the_jacobian_takes_d_forward_passes_or_k_reverse_passes(inputs, outputs):
    steps, values = mapping(inputs, outputs)
    for mode, passes in [("forward", inputs), ("reverse", outputs), (None, 3)]:
        J = Jacobian(steps, "y", ["x"], mode)
        same(J(values)["x"], by_hand(values))
        assert J.count(values).passes == passes


def test_8_66_column_by_column_and_row_by_row():
    steps, values = mapping(3, 5)
    values = eval(steps, values)
    same(np.stack([forward(steps, values, {"x": e})["y"] for e in np.eye(3)], axis=1), by_hand(values))
    same(np.stack([backprop(steps, values, y=e)["x"] for e in np.eye(5)]), by_hand(values))


def test_8_67_the_product_of_the_jacobian_with_a_vector_takes_one_forward_pass():
    """The book prints "J =" before the product; meant is J r, a vector, to the right alone."""
    steps, values = mapping(5, 3)
    r = np.random.default_rng(67).normal(size=5)
    same(forward(steps, eval(steps, values), {"x": r})["y"], by_hand(values) @ r)
    same(Jacobian(steps, "y", ["x"]).jv(values, {"x": r}), by_hand(values) @ r)


# (8.68) to (8.76): reverse mode


@AT
def test_8_68_an_adjoint_is_the_derivative_of_the_output_by_the_register(x1, x2):
    """∂f/∂v_i where v_i is an input of what comes after it: that list in forward mode, the whole list in reverse mode."""
    values = at(x1, x2)
    bars = backprop(STEPS, values, v7=1.0)
    for v in V[:-1]:
        rest = [line for line in STEPS if line[0] != v]
        same(bars[v], forward(rest, values, {v: 1.0})["v7"])


@AT
@pytest.mark.parametrize("output", ["v7", "v8"])
def test_8_69_an_adjoint_is_the_sum_over_the_children(x1, x2, output):
    values = at(x1, x2)
    bars, of = backprop(BOTH, values, **{output: 1.0}), parts(BOTH, values)
    for i in [*V, "x1", "x2"]:
        if i != output:
            same(bars.get(i, 0.0), sum(bars.get(j, 0.0) * of[j, i] for j, _, args in BOTH if i in args))


def adjoints_of_the_book(v):
    v1, v2, _, _, v5, *_ = (v[name] for name in V)
    v7_bar = 1.0                                                            # (8.70)
    v6_bar = v7_bar                                                         # (8.71)
    v5_bar = v7_bar                                                         # (8.72)
    v4_bar = -v6_bar                                                        # (8.73)
    v3_bar = v5_bar * v5 + v6_bar                                           # (8.74)
    v2_bar = v3_bar * v1 + v4_bar * np.cos(v2)                              # (8.75), as it is meant
    v1_bar = v3_bar * v2                                                    # (8.76)
    return [v1_bar, v2_bar, v3_bar, v4_bar, v5_bar, v6_bar, v7_bar]


@AT
def test_8_70_to_8_76_the_adjoint_variables(x1, x2):
    """(8.75) is printed as v̄2 = v̄2 v1 + v̄4 cos(v2); meant is v̄3 v1 + v̄4 cos(v2)."""
    values = at(x1, x2)
    bars, book = backprop(STEPS, values, v7=1.0), adjoints_of_the_book(values)
    same([bars[v] for v in V], book)
    same([row.adjoint for row in explain(STEPS, values={"x1": x1, "x2": x2}) if row.register in V], book)
    same([bars["x1"], bars["x2"]], slopes(x1, x2)[0])


@AT
def test_8_75_as_printed_gives_a_wrong_number_however_it_is_read(x1, x2):
    """v̄2 = v̄2 v1 + v̄4 cos(v2): an assignment, where v̄2 is 0 before it, or an equation that v̄2 is to satisfy."""
    v = at(x1, x2)
    right, v4_bar = slopes(x1, x2)[0, 1], -1.0
    assigned = 0.0 * v["v1"] + v4_bar * np.cos(v["v2"])
    satisfied = v4_bar * np.cos(v["v2"]) / (1 - v["v1"])
    same(backprop(STEPS, v, v7=1.0)["v2"], right)
    assert abs(assigned - right) > 0.1 and abs(satisfied - right) > 0.1


@AT
def test_8_2_2_one_reverse_pass_gives_the_derivatives_by_all_inputs_of_one_output(x1, x2):
    values = at(x1, x2)
    rows = [backprop(BOTH, values, **{out: 1.0}) for out in ("v7", "v8")]
    same([[bars[x] for x in ("x1", "x2")] for bars in rows], slopes(x1, x2))


def test_8_2_2_k_outputs_take_k_reverse_passes_and_one_gives_only_their_sum():
    values = at(0.7, 1.3)
    together = backprop(BOTH, values, v7=1.0, v8=1.0)
    same([together["x1"], together["x2"]], slopes(0.7, 1.3).sum(axis=0))


# of an evaluation; the derivative of each is a longer calculation than the operator is
MORE_THAN_6 = {
    "arctan2": 9, "arccosh": 7, "arccos": 7, "Beta": 12, "betaln": 10, "betainc": 10, "gammainc": 7, "gammaincc": 8, "logNdtr": 33, "besselIe": 9, "besselK": 7,
    "besselKe": 7, "prod_of_others": 10, "cumprod": 7, "det": 38, "cholesky": 29, "eigvalsh": 9.8, "svdvals": 8.8, "upper": 9.5, "expm": 9,
    "ratio": 8, "dawsn": 31, "ellipe": 45, "ellipk": 48, "erfcx": 30}


def times(op, args):
    """The operations with tangents, or with adjoints if those are more, over those of the operator; 0 where it has none."""
    values = {f"x{i}": a for i, a in enumerate(args) if isinstance(a, np.ndarray)}
    if not any(a.size and a.dtype.kind == "f" for a in values.values()) or (
            facts_of(op).elementwise and len({a.shape for a in values.values()}) > 1):  # a sum over what was broadcast is unbroadcast's
        return 0
    found = cost([("y", op, tuple(f"x{i}" if f"x{i}" in values else a for i, a in enumerate(args)))], values=values, measured=False)
    return max(found.ratios) if found.evaluation.flops else 0


def test_8_2_2_either_mode_takes_at_most_6_times_the_operations_of_every_operator_but_these(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "ops")
    from operator_cases import CASES
    found = {op: max(times(op, args) for args in cases) for op, cases in CASES.items()}
    assert {op: round(ratio, 1) for op, ratio in found.items() if ratio > 6} == MORE_THAN_6


@AT
def test_8_2_2_either_mode_takes_2_to_3_times_the_operations_of_8_49(x1, x2):
    assert all(2 <= ratio <= 3 for ratio in cost(STEPS, values={"x1": x1, "x2": x2}, measured=False).ratios)


@pytest.mark.parametrize("sizes, activation", [([64, 32, 10], "tanh"), ([20, 30, 30, 5], "sigmoid"), ([8, 50, 3], "relu"), ([64, 10], "tanh")])
def test_8_2_2_either_mode_typically_takes_2_or_3_times_the_operations_of_a_network(sizes, activation):
    model, random = MLP(sizes, activation=activation), np.random.default_rng(6)
    values = model.inputDict(X=random.normal(size=(16, sizes[0])), y=random.integers(0, sizes[-1], 16))
    weights = [name for name in values if name not in ("X", "y")]
    ratios = cost(model.operationSequence(model.loss), "loss", weights, values, measured=False).ratios
    assert all(round(ratio) in (2, 3) for ratio in ratios)


def test_8_2_2_reverse_mode_stores_all_intermediate_variables_and_forward_mode_does_not():
    peaks = {}
    for n in (10, 40):
        steps = [(f"v{k}", "sin", (f"v{k - 1}",)) for k in range(1, n + 1)] + [("y", "sum", (f"v{n}",))]
        costs = cost(steps, "y", ["v0"], {"v0": np.ones(1000)})
        peaks[n] = costs.evaluation.peak, costs.tangent.peak, costs.adjoint.peak
    assert peaks[10][:2] == peaks[40][:2] == (24_000, 48_000)
    assert peaks[40][2] - peaks[10][2] == 30 * 8_000


# Pearlmutter: forward and reverse mode together


def vector_and_network():
    model, random = MLP([3, 4, 2], dtype=np.float64), np.random.default_rng(94)
    values = model.inputDict(X=random.normal(size=(6, 3)), y=random.integers(0, 2, 6))
    wrt = ["W1", "b1", "W2", "b2"]
    return model.operationSequence(model.loss), values, wrt, {x: random.normal(size=values[x].shape) for x in wrt}


def test_8_2_2_the_directional_derivative_differentiated_in_reverse_mode_is_the_hessian_times_the_vector():
    """Pearlmutter's H v, reverse over forward: vᵀ∇f as a list, and then its gradient; forward over reverse gives the same.
    The book prints "a vector b" where it begins, and sets ẋ = v; meant is one vector, v."""
    steps, values, wrt, v = vector_and_network()
    pushed = tangent(steps, wrt)
    reverse_over_forward = gradient(pushed, "loss_dot", wrt)
    found = eval(reverse_over_forward, values | {f"{x}_dot": v[x] for x in wrt})
    same(found["loss_dot"], sum(np.sum(backprop(steps, eval(steps, values), loss=1.0)[x] * v[x]) for x in wrt))
    forward_over_reverse = Hessian(steps, "loss", wrt).times(values, v)
    blocks = Hessian(steps, "loss", wrt).blocks(values)
    for x in wrt:
        same(found[f"dloss_dot_d{x}"], forward_over_reverse[x])
        same(found[f"dloss_dot_d{x}"], sum(np.tensordot(blocks[x, y], v[y], 2) for y in wrt))


def test_8_2_2_for_a_quadratic_form_it_is_the_symmetric_part_of_its_matrix_times_the_vector():
    random = np.random.default_rng(95)
    A, x, v = random.normal(size=(4, 4)), random.normal(size=4), random.normal(size=4)
    same(hvp(lambda x: 0.5 * x @ A @ x, (x,), (v,)), (A + A.T) / 2 @ v)


def test_8_2_2_the_product_with_the_hessian_holds_bytes_in_proportion_to_w():
    steps = [("t", "tanh", ("w",)), ("s", "squaredNorm", ("t",)), ("E", "square", ("s",))]
    H = Hessian(steps, "E", ["w"])
    held = lambda W: cost(H.steps, values={"w": np.linspace(0, 1, W), "w_dot": np.ones(W)}, measured=False).evaluation.peak
    assert held(10_000) < 10.1 * held(1000) and held(1000) < 20 * 8 * 1000   # the matrix has 8 W²
    w, v = np.linspace(0, 1, 7), np.arange(7.0)
    same(H.times({"w": w}, {"w": v})["w"], H({"w": w}) @ v)


def test_8_65_the_trace_with_the_numbers_put_in_ends_in_the_derivative_by_hand():
    both = WengertList.from_text("v3 = mul(x1, x2)\nv4 = sin(x2)\nv5 = exp(v3)\nv6 = subtract(v3, v4)\nv8 = mul(v6, v5)")
    lines = explain(both, "v8", "x1", {"x1": 0.7, "x2": 1.3}, 8).interleaved().splitlines()
    assert lines[-1].startswith("v8′ = v5·v6′ + v6·v5′ = ") and lines[-1].endswith(" = 3.05664674")
    assert abs((1 + 0.7 * 1.3 - np.sin(1.3)) * 1.3 * np.exp(0.7 * 1.3) - 3.05664674) < 1e-8
