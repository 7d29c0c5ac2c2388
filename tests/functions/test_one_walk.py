"""What grad, vjp and jvp do on their tape is what the interpreters do over the list, to the last bit, and cheap."""
from __future__ import annotations

import inspect
import itertools
import tracemalloc

import numpy as np
import pytest
from bench.rows.functions import functions, same

import ops
from ops import f
from xman import Dual, XManError, backprop, eval, forward, jit
from xman.functions import grad, jvp, trace, vjp
from xman.functions.trees import flattened_tree, leaf_names

A = np.random.default_rng(1).normal(size=(40, 40))


def two_precisions(x):
    return np.sum(np.tanh(A @ np.tanh(x * x)))


CASES = [*functions(np, f), ("two precisions", two_precisions, np.linspace(0, 1, 80, dtype=np.float32).reshape(40, 2))]
each_function = pytest.mark.parametrize("fn, point", [case[1:] for case in CASES], ids=[case[0] for case in CASES])


@each_function
def test_reverse_and_forward_mode_are_those_of_the_interpreters(fn, point):
    steps, leaves = trace(fn, point), flattened_tree(point)[0]
    names = list(leaf_names(point, next(iter(inspect.signature(fn).parameters))))
    values = eval(steps, dict(zip(names, leaves, strict=True)))
    deltas = backprop(steps, values, ops.DG, names, **{steps.outputs[0]: 1.0})
    tangents = {name: np.cos(x) for name, x in zip(names, leaves, strict=True)}
    np.testing.assert_equal(flattened_tree(grad(fn)(point))[0], [deltas[name] for name in names])
    np.testing.assert_equal(flattened_tree(vjp(fn, point)[1](1.0))[0], [deltas[name] for name in names])
    along = filled(point, iter(tangents.values()))
    np.testing.assert_equal(jvp(fn, (point,), (along,))[1], forward(steps, values, tangents)[steps.outputs[0]])


def filled(tree, leaves):
    """The tree with other leaves."""
    if isinstance(tree, dict):
        return {key: filled(tree[key], leaves) for key in sorted(tree)}
    return type(tree)(filled(part, leaves) for part in tree) if isinstance(tree, (list, tuple)) else next(leaves)


def test_gradients_share_no_memory():
    slopes = grad(lambda x, y, z: np.sum(x + y + np.reshape(z, (2, 2))), (0, 1, 2))(np.ones((2, 2)), np.ones((2, 2)), np.ones(4))
    assert not any(np.may_share_memory(a, b) for a, b in itertools.combinations(slopes, 2))
    assert all(d.flags.owndata for d in slopes)


@pytest.mark.parametrize("fn, point", [case[1:] for case in CASES[:-1]], ids=[case[0] for case in CASES[:-1]])
def test_autograd_gives_the_same_gradient(fn, point):
    autograd = pytest.importorskip("autograd")
    anp, special = (pytest.importorskip(f"autograd.{name}") for name in ("numpy", "scipy.special"))
    other = next(other for what, other, _ in functions(anp, special) if other.__name__ == fn.__name__)
    same(grad(fn)(point), autograd.grad(other)(point))


def test_an_axis_that_a_sum_spreads_is_spread_where_all_axes_are_as_long():
    w = np.arange(40.0)
    slope = grad(lambda b: np.sum(np.einsum("...i,ij->...", A, b) * w))(A)
    np.testing.assert_allclose(slope, np.outer(w @ A, np.ones(40)), rtol=1e-12)


def test_a_line_of_a_long_loop_takes_less_than_half_a_kilobyte():
    def loop(x, n):
        y = x
        for _ in range(n):
            y = y * x + 1.0
        return y

    def most(n):
        tracemalloc.start()
        try:
            grad(loop)(0.5, n)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert most(1000) - most(200) < 2 * 800 * 500


def test_a_rule_that_fails_is_named_with_the_shapes_of_its_arguments():
    def rule(d, out, x):
        raise ValueError("no such matrix")

    ops.table.operator("brokenSine", np.sin, rule, tangents=[rule])
    for run in (lambda fn: grad(fn)(np.ones(3)), lambda fn: jvp(fn, (np.ones(3),), (np.ones(3),))):
        with pytest.raises(XManError, match=r"the derivative of brokenSine, of arguments of shape \(3,\): no such matrix"):
            run(lambda x: np.sum(x * f.brokenSine(2 * x) * x))


# forward mode discards (Bishop, Deep Learning, §8.2.2)


def sines(x, n):
    for _ in range(n):
        x = np.sin(x)
    return np.sum(x)


def jitted_jvp(n):
    return jit(lambda x, v: jvp(lambda x: sines(x, n), (x,), (v,)))


@pytest.mark.parametrize("way", [lambda n: lambda x, v: jvp(lambda x: sines(x, n), (x,), (v,)), jitted_jvp,
                                 lambda n: lambda x, v: sines(Dual(x, v), n)], ids=["jvp", "jit", "Dual"])
def test_forward_mode_keeps_as_many_arrays_however_many_lines_there_are(way):
    x, peaks = np.ones(20_000), []
    for n in 10, 60:
        call = way(n)
        call(x, x)
        tracemalloc.start()
        call(x, x)
        peaks.append(tracemalloc.get_traced_memory()[1] / x.nbytes)
        tracemalloc.stop()
    assert max(peaks) < 12


def nan_at_the_end(x): return np.sum(x / (np.sqrt(x * x) + 1e-8))
def power_of_a_root(x): return np.linalg.norm(np.sin(x)) ** 3 + np.sum(np.exp(x))
def branch(x): return np.sum(np.where(x > 0, np.sqrt(np.abs(np.sin(x))), 0.0))


@pytest.mark.parametrize("x", [np.zeros(3), np.array([0.0, 1.0, -2.0])], ids=["zeros", "mixed"])
@pytest.mark.parametrize("fn", [nan_at_the_end, power_of_a_root, branch])
def test_what_was_discarded_is_computed_again_for_a_walk_through_all_lines(fn, x):
    v = np.array([1.0, 2.0, 3.0])
    calls = []
    value, slope = jvp(lambda x: calls.append(1) or fn(x * 1.0), (x,), (v,))
    np.testing.assert_allclose([value, slope], [fn(x), np.sum(grad(fn)(x) * v)], rtol=1e-12)
    assert len(calls) == 1


def test_a_traced_value_that_comes_in_later_ends_the_discarding():
    fn = lambda w: jvp(lambda x: np.sum(np.sin(np.cos(np.cos(x))) * w), (np.ones(3),), (np.ones(3),))[1]
    np.testing.assert_allclose(grad(fn)(2.0), fn(1.0), rtol=1e-14)

