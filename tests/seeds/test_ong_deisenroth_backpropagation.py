"""Ong and Deisenroth, Backpropagation and automatic differentiation (slides, 2020), slide by slide."""

from collections import Counter

import numpy as np
import pytest
from scipy.linalg import expm

import ops
from xman import Dual, Jacobian, XMan, XManError, backprop, cost, derivative, eval, explain, f, forward, grad, jacobian, trace
from xman.passes import gradient

R = np.random.default_rng(2020)
POINTS = pytest.mark.parametrize("x", [-1.5, 0.3, 2.0, 3.0])


def same(found, right):
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-14)


def counting(calls):
    """The table of values, which writes each call of an operator into calls."""
    return {op: lambda *args, op=op: calls.update([op]) or ops.G[op](*args) for op in ops.G}


# gradients in machine learning; motivation


def test_gradients_in_machine_learning_a_curve_is_fitted_by_descent():
    X = np.column_stack([np.ones(20), np.linspace(-1, 1, 20)])
    y = np.sin(2 * X[:, 1])
    slope, w = grad(lambda w: 0.5 * np.sum((X @ w - y) ** 2)), np.zeros(2)
    for _ in range(200):
        w = w - 0.05 * slope(w)
    same(w, np.linalg.lstsq(X, y, rcond=None)[0])


def test_gradients_in_machine_learning_the_means_of_a_mixture_are_drawn_by_responsibilities():
    x, means = R.normal(size=9), np.array([-1.0, 0.5, 2.0])
    densities = lambda means: np.exp(-0.5 * (x[:, None] - means) ** 2)
    responsibilities = densities(means) / np.sum(densities(means), axis=1, keepdims=True)
    likelihood = lambda means: np.sum(np.log(np.sum(densities(means), axis=1)))
    same(grad(likelihood)(means), np.sum(responsibilities * (x[:, None] - means), axis=0))


def quotient(x):
    return np.exp(x) / x ** 2


@POINTS
def test_motivation_the_gradient_of_exp_x_over_x_squared(x):
    right, steps = np.exp(x) * (x - 2) / x ** 3, trace(quotient, x)
    values = eval(steps, {"x": x})
    adjoint, tangent = backprop(steps, values, quotient=1.0)["x"], forward(steps, values, {"x": 1.0})["quotient"]
    for found in (adjoint, tangent, grad(quotient)(x), derivative(quotient)(x)):
        np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-15 * np.exp(x))  # at 2 it is 0


def test_motivation_the_gradient_looks_more_complex_and_yet_nothing_is_computed_twice():
    """Value and gradient as they are printed take two exponentials; the list caches the one."""
    steps, calls = gradient(trace(quotient, 3.0), "quotient", ["x"]), Counter()
    assert len(steps) > 3
    eval(steps, {"x": 3.0}, counting(calls))
    assert calls["exp"] == 1


def test_motivation_caching_trades_computation_for_space():
    """y_k = sin(y_{k−1})·y_{k−1}, 12 times: without a cache each y_{k−1} is computed anew for both of its uses."""
    calls, depth = Counter(), 12

    def uncached(k):
        calls.update(["y"])
        return np.sin(uncached(k - 1)) * uncached(k - 1) if k else 1.2

    def cached(x):
        for _ in range(depth):
            x = np.sin(x) * x
        return x

    steps, cached_calls = trace(cached, 1.2), Counter()
    values = eval(steps, {"x": 1.2}, counting(cached_calls))
    same(values["cached"], uncached(depth))
    assert (calls["y"], cached_calls["sin"]) == (2 ** (depth + 1) - 1, depth)
    assert len(values) == 1 + 2 * depth  # the space


# the chain rule


@POINTS
def test_scalar_chain_rule_composition_of_functions_is_multiplication_of_gradients(x):
    inner, outer = (lambda x: x ** 3 - x), np.sin
    composed = derivative(lambda x: outer(inner(x)))(x)
    same([composed] * 2, [derivative(outer)(inner(x)) * derivative(inner)(x), np.cos(x ** 3 - x) * (3 * x ** 2 - 1)])


A, B, POINT = R.normal(size=(3, 4)), R.normal(size=(2, 3)), R.normal(size=4)


def inner(x):
    """R⁴ → R³."""
    return np.tanh(A @ x)


def outer(y):
    """R³ → R²."""
    return np.exp(B @ y) * y[0]


def test_vector_chain_rule_is_a_product_of_jacobians():
    y, J = inner(POINT), jacobian(lambda x: outer(inner(x)))(POINT)
    df_dx = (1 - y ** 2)[:, None] * A
    dg_df = (np.exp(B @ y) * y[0])[:, None] * B + np.outer(np.exp(B @ y), [1, 0, 0])
    same(J, dg_df @ df_dx)
    same(J, jacobian(outer)(y) @ jacobian(inner)(POINT))


def test_the_gradient_is_a_row_vector_of_the_partial_derivatives():
    """Here a gradient has the shape of its argument; the row vector is the Jacobian of a function to R¹."""
    of_row = jacobian(lambda x: np.sum(np.sin(x) * x, keepdims=True))(POINT)
    assert of_row.shape == (1, 4)
    same(of_row[0], [np.cos(x) * x + np.sin(x) for x in POINT])
    same(of_row[0], grad(lambda x: np.sum(np.sin(x) * x))(POINT))


def test_why_row_vectors_the_gradient_by_s_and_t_is_a_matrix_multiplication():
    m = XMan()
    m.s, m.t = f.input(0.7), f.input(-1.1)
    m.x1, m.x2 = m.s * f.exp(m.t), f.sin(m.s) + m.t * m.t
    m.y = m.x1 * m.x1 * m.x2
    steps = m.setup().operationSequence(m.y)
    values = eval(steps, m.inputDict())
    s, t, x1, x2 = (values[name] for name in ("s", "t", "x1", "x2"))
    df_dx = np.array([[2 * x1 * x2, x1 ** 2]])
    dx_dst = np.array([[np.exp(t), s * np.exp(t)], [np.cos(s), 2 * t]])
    deltas = backprop(steps, values, y=1.0)
    same([[deltas["s"], deltas["t"]]], df_dx @ dx_dst)
    same([[deltas["x1"], deltas["x2"]]], df_dx)


@POINTS
def test_careful_with_notation_dz_dy_is_taken_at_y_of_x(x):
    y, z = (lambda x: x ** 2 + 1), np.cos
    dz_dx = derivative(lambda x: z(y(x)))(x)
    same([dz_dx] * 2, [derivative(z)(y(x)) * derivative(y)(x), -np.sin(x ** 2 + 1) * 2 * x])
    assert abs(dz_dx - derivative(z)(x) * derivative(y)(x)) > 0.1


# automatic differentiation as cached chain rule

CHAIN = [("x", "sin", ("w",)), ("y", "exp", ("x",)), ("z", "square", ("y",))]  # e, f, g


def chain(w):
    """(values, dx/dw, dy/dx, dz/dy) by hand."""
    x, y = np.sin(w), np.exp(np.sin(w))
    return {"w": w, "x": x, "y": y, "z": y ** 2}, np.cos(w), np.exp(x), 2 * y


@POINTS
def test_cached_chain_rule_one_cache_of_values_and_another_of_adjoints(x):
    values = eval(CHAIN[1:], {"x": x})
    assert values == {"x": x, "y": np.exp(x), "z": np.exp(x) ** 2}
    deltas = backprop(CHAIN[1:], values, z=1.0)
    assert list(deltas) == ["z", "y", "x"]  # right to left
    same(list(deltas.values()), [1, 2 * values["y"], 2 * values["y"] ** 2])


@POINTS
def test_g_of_f_of_e_in_forward_mode_caches_from_the_left_of_the_diagram(x):
    """dz/dw = dz/dy (dy/dx dx/dw). The slide says "from the left": of the diagram, which is the right of the product."""
    values, dx_dw, dy_dx, dz_dy = chain(x)
    tangents = forward(CHAIN, eval(CHAIN, {"w": x}), {"w": 1.0})
    assert list(tangents) == ["w", "x", "y", "z"]
    same(list(tangents.values()), [1, dx_dw, dy_dx * dx_dw, dz_dy * (dy_dx * dx_dw)])
    same(list(eval(CHAIN, {"w": x}).values()), list(values.values()))


@POINTS
def test_g_of_f_of_e_in_reverse_mode_caches_from_the_right_of_the_diagram(x):
    """dz/dw = (dz/dy dy/dx) dx/dw: input adjoint = output adjoint × forward partial."""
    _, dx_dw, dy_dx, dz_dy = chain(x)
    deltas = backprop(CHAIN, eval(CHAIN, {"w": x}), z=1.0)
    assert list(deltas) == ["z", "y", "x", "w"]
    same(list(deltas.values()), [1, dz_dy, dz_dy * dy_dx, (dz_dy * dy_dx) * dx_dw])


SIZES = pytest.mark.parametrize("D, M, mode", [(2, 50, "forward"), (50, 2, "reverse")])


def vector_chain(D, M, hidden=20):
    """The list of G: R^D → R^M through two hidden vectors, and its inputs."""
    steps = [("a", "dot", ("E", "w")), ("x", "tanh", ("a",)), ("b", "dot", ("F", "x")), ("y", "tanh", ("b",)),
             ("z", "dot", ("H", "y"))]
    random = np.random.default_rng(D)
    return steps, {name: random.normal(size=size) for name, size in
                   {"E": (hidden, D), "F": (hidden, hidden), "H": (M, hidden), "w": D}.items()}


@SIZES
def test_both_groupings_have_the_same_value_and_the_work_of_each_depends_on_inputs_and_outputs(D, M, mode):
    steps, given = vector_chain(D, M)
    values = eval(steps, given)
    parts = {"dx_dw": (1 - values["x"] ** 2)[:, None] * given["E"], "dy_dx": (1 - values["y"] ** 2)[:, None] * given["F"],
             "dz_dy": given["H"]}
    grouped = {"forward": [("inner", "dot", ("dy_dx", "dx_dw")), ("dz_dw", "dot", ("dz_dy", "inner"))],
               "reverse": [("inner", "dot", ("dz_dy", "dy_dx")), ("dz_dw", "dot", ("inner", "dx_dw"))]}
    for name, product in grouped.items():
        same(eval(product, parts)["dz_dw"], Jacobian(steps, "z", ["w"], name)(given)["w"])
    work = {name: cost(product, values=parts, measured=False).evaluation.flops for name, product in grouped.items()}
    assert min(work, key=work.get) == mode and max(work.values()) > 5 * min(work.values())


@SIZES
def test_forward_mode_is_efficient_where_d_is_small_and_reverse_mode_where_m_is_small(D, M, mode):
    steps, given = vector_chain(D, M)
    count = Jacobian(steps, "z", ["w"]).count(given)
    assert (count.inputs, count.outputs, count.mode, count.passes) == (D, M, mode, 2)


# think of a pair of numbers: forward mode with matrices. What the slides write as ←x beside x there is its tangent.

x_, dx, y_, dy = 1.3, 0.4, -0.8, 2.5


def test_forward_mode_a_dual_number_is_a_pair_and_a_matrix():
    a = Dual(x_, dx)
    assert (a.value, a.tangent) == (x_, dx)
    assert a.matrix().tolist() == [[x_, dx], [0, x_]]
    assert repr(Dual.from_matrix(a.matrix())) == repr(a)


def test_forward_mode_the_gradient_of_a_sum_is_the_sum_of_the_gradients():
    z = Dual(x_, dx) + Dual(y_, dy)
    assert (z.value, z.tangent) == (x_ + y_, dx + dy)
    same(Dual(x_, dx).matrix() + Dual(y_, dy).matrix(), z.matrix())


def test_forward_mode_the_gradient_of_a_product_is_the_product_rule():
    z = Dual(x_, dx) * Dual(y_, dy)
    same([z.value, z.tangent], [x_ * y_, x_ * dy + y_ * dx])
    same(Dual(x_, dx).matrix() @ Dual(y_, dy).matrix(), z.matrix())


@POINTS
def test_forward_mode_is_matrix_multiplication_for_the_motivating_example_too(x):
    """exp(X) X⁻² of the 2×2 matrix X, by matrix functions that know nothing of derivatives."""
    X = Dual(x, 1.0).matrix()
    by_matrices = expm(X) @ np.linalg.inv(X @ X)
    np.testing.assert_allclose(by_matrices, quotient(Dual(x, 1.0)).matrix(), rtol=1e-11, atol=1e-13)


# reverse mode


def test_reverse_mode_two_phases_written_out():
    """Forward: values and all partials are cached. Reverse: the adjoint of the output is 1, inputs' are increased by products."""
    steps = [("a", "mul", ("u", "v")), ("b", "sin", ("a",)), ("c", "add", ("b", "u")), ("z", "mul", ("c", "a"))]
    partial = {"mul": lambda x, y: (y, x), "sin": lambda x: (np.cos(x),), "add": lambda x, y: (1.0, 1.0)}
    values = eval(steps, {"u": 0.6, "v": 1.7})
    cached = {dst: partial[op](*(values[a] for a in args)) for dst, op, args in steps}
    adjoint = dict.fromkeys(values, 0.0) | {"z": 1.0}
    for dst, _, args in reversed(steps):
        for a, d in zip(args, cached[dst], strict=True):
            adjoint[a] += adjoint[dst] * d
    found = backprop(steps, values, z=1.0)
    assert found.keys() == adjoint.keys()
    same([found[name] for name in adjoint], list(adjoint.values()))


def test_reverse_mode_key_challenge_the_computations_are_in_topological_order():
    m = XMan()
    m.u, m.v = f.input(0.6), f.input(1.7)
    z = (product := m.u * m.v) + f.sin(product)
    m.early, m.late = z, product  # named the other way round
    order = [dst for dst, _, _ in m.setup().operationSequence(m.early)]
    assert order.index("late") < order.index("z1") < order.index("early")
    with pytest.raises(XManError, match="assigns a, which line 1 has used already"):
        backprop([("b", "sin", ("a",)), ("a", "mul", ("u", "v"))], {"u": 1.0, "v": 1.0, "a": 1.0, "b": 1.0}, b=1.0)


def pulled(steps, z_bar, **inputs):
    """The adjoints of x and y, where that of z is z_bar."""
    deltas = backprop(steps, eval(steps, inputs), z=z_bar)
    return deltas["x"], deltas["y"]


def test_branches_a_sum_has_the_derivatives_1_and_1_and_so_an_add_gate_is_a_gradient_distributor():
    assert pulled([("z", "add", ("x", "y"))], 1.0, x=3.0, y=-5.0) == (1, 1)
    assert pulled([("z", "add", ("x", "y"))], 7.0, x=3.0, y=-5.0) == (7, 7)


def test_branches_a_multiplication_gate_is_a_gradient_switcher():
    assert pulled([("z", "mul", ("x", "y"))], 7.0, x=3.0, y=-5.0) == (7 * -5, 3 * 7)


def test_branches_the_adjoint_of_a_variable_that_is_used_twice_is_increased_twice():
    steps = [("p", "mul", ("x", "y")), ("z", "add", ("p", "x"))]  # z = xy + x
    assert pulled(steps, 7.0, x=3.0, y=-5.0) == (7 * -5 + 7, 3 * 7)
    assert pulled([("p", "mul", ("x", "x")), ("z", "add", ("p", "y"))], 7.0, x=3.0, y=-5.0) == (7 * 3 + 3 * 7, 7)


def test_summary_think_of_the_pair_of_variable_and_its_adjoint():
    pairs = {row.register: (row.value, row.adjoint) for row in explain(CHAIN, values={"w": 0.3})}
    values, dx_dw, dy_dx, dz_dy = chain(0.3)
    adjoints = [dz_dy * dy_dx * dx_dw, dz_dy * dy_dx, dz_dy, 1]
    same(list(pairs.values()), list(zip(values.values(), adjoints, strict=True)))
