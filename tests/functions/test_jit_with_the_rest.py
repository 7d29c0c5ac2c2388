"""jit with the rest: derivatives within and around it, methods, pickles, loops, NumPy's own checks."""
from __future__ import annotations

import functools
import pickle

import numpy as np
import pytest

from xman import XManError, eval, f, grad, hessian, jacobian, jit, jvp, scan, taylor, trace, value_and_grad, vmap

jit_ = functools.partial(jit, engine="numpy")
H, W = np.ones((2, 3)), np.arange(9.0).reshape(3, 3) / 9


def loss(params, X, y):
    h = X
    for W, b in params:
        h = np.tanh(h @ W + b)
    return np.mean((h - y) ** 2)


def test_it_takes_the_place_of_trace_gradient_simplify_and_compile():
    numbers = np.random.default_rng(0)
    params = [(numbers.normal(size=(3, 3)), np.zeros(3)) for _ in range(2)]
    X, y = numbers.normal(size=(2, 5, 3))
    step, plain = jit_(value_and_grad(loss)), value_and_grad(loss)
    for _ in range(3):
        (value, slopes), (wanted, theirs) = step(params, X, y), plain(params, X, y)
        assert value == pytest.approx(wanted, rel=1e-13)
        for (W, b), (V, c) in zip(slopes, theirs, strict=True):
            np.testing.assert_allclose(W, V, 1e-11)
            np.testing.assert_allclose(b, c, 1e-11)
        params = [(W - 0.1 * V, b - 0.1 * c) for (W, b), (V, c) in zip(params, theirs, strict=True)]


def test_within_a_derivative_or_another_jit_it_is_its_function():
    fast = jit_(lambda x: x * x if x > 0 else -x)
    assert grad(fast)(3.0) == 6.0 and jvp(fast, (-3.0,), (1.0,)) == (3.0, -1.0)
    assert jit_(lambda x: fast(x) + 1)(3.0) == 10.0


@pytest.mark.parametrize("way", [
    lambda fn: grad(lambda W: np.sum(fn(H, W)))(W), lambda fn: jvp(lambda W: fn(H, W), (W,), (W,)), lambda fn: jacobian(fn, 1)(H, W),
    lambda fn: hessian(lambda W: np.sum(fn(H, W)))(W), lambda fn: jit_(grad(lambda W: np.sum(fn(H, W))))(W),
    lambda fn: vmap(lambda row: fn(row, W))(H), lambda fn: scan(lambda c, x: (fn(c, W), x), H, np.ones(3))[0],
    lambda fn: taylor(lambda W: fn(H, W), W, W, 3), lambda fn: eval(trace(lambda W: fn(H, W), W), {"W": W})["result"]])
def test_arrays_that_are_differentiated_go_through_it(way):
    def layer(h, W): return np.tanh(h @ W)
    fast = jit_(layer)
    for _ in range(3):
        np.testing.assert_allclose(np.concatenate([*map(np.ravel, way(fast))]), np.concatenate([*map(np.ravel, way(layer))]), rtol=1e-12)
        fast(H, W)


def test_results_are_the_callers_own():
    data = np.ones(2)
    fast = jit_(lambda x: (x, data, np.ones(2), x + 0.0))
    for _ in range(3):
        x = np.zeros(2)
        for part in fast(x):
            part[:] = 7.0
        assert x.tolist() == [0, 0] and data.tolist() == [1, 1]
        assert [part.tolist() for part in fast(x)] == [[0, 0], [1, 1], [1, 1], [0, 0]]


def test_it_is_pickled_where_its_function_is():
    assert pickle.loads(pickle.dumps(jit_(grad(loss))))([(np.eye(2), np.zeros(2))], np.zeros((1, 2)), 0.0)[0][0].shape == (2, 2)
    with pytest.raises(XManError, match="cannot be pickled"):
        pickle.dumps(jit_(lambda x: x))


def test_a_method_is_compiled_with_its_object():
    class Line:
        def __init__(self, slope): self.slope = slope

        @jit_
        def at(self, x): return self.slope * x
    one, two = Line(1.0), Line(2.0)
    assert [line.at(3.0) for line in (one, two, one)] == [3.0, 6.0, 3.0]
    one.slope = 5.0
    assert one.at(3.0) == 15.0


def test_checks_of_numpys_own_are_guards_by_their_answer():
    numbers = np.random.default_rng(0)
    fast = jit_(lambda a, x: (np.linalg.cholesky(a), np.take_along_axis(x, np.argsort(x, 0), 0)))
    for _ in range(12):
        a, x = numbers.normal(size=(2, 3, 3))
        np.testing.assert_allclose(fast(a @ a.T, x), (np.linalg.cholesky(a @ a.T), np.sort(x, 0)), 1e-8)
    assert len(fast.lists) == 1
    with pytest.warns(RuntimeWarning, match="lower triangle alone"):
        np.testing.assert_array_equal(fast(a @ a.T + np.triu(a, 1), x)[0], np.linalg.cholesky(a @ a.T))


def test_the_product_of_two_vectors_may_be_the_result():
    both = jit_(value_and_grad(lambda x, y: x @ y, (0, 1)))
    for _ in range(2):
        value, (x, y) = both(np.arange(3.0), np.ones(3))
        assert (value, x.tolist(), y.tolist()) == (3.0, [1, 1, 1], [0, 1, 2])
    assert len(both.lists) == 1


def test_the_hessian_of_norms_along_an_axis_is_compiled():
    h = hessian(lambda x: np.sum(np.linalg.norm(x, axis=1) ** 3))
    x = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(jit(h, "numpy")(x), h(x))


def recurrence(w, x):
    s, total = np.zeros(3), 0.0
    for t in range(300):
        s = np.tanh(w * s + x[t])
        total = total + np.sum(s * s)
    return np.log(1.0 + total)


def leaves(x): return [leaf for part in x for leaf in leaves(part)] if isinstance(x, tuple) else [x]


@pytest.mark.parametrize("derivative", [value_and_grad(recurrence, (0, 1)), grad(recurrence), jvp, recurrence,
                                        hessian(recurrence), grad(lambda w, x: recurrence(w * 2.0, np.sin(x)))])
def test_a_long_loop_of_python_is_a_loop_of_the_list(derivative):
    w, x = np.array([0.3, -0.2, 0.5]), np.random.default_rng(0).normal(size=(300, 3))
    fn = (lambda w, x: jvp(recurrence, (w, x), (np.ones(3), x))) if derivative is jvp else derivative
    compiled = jit_(fn)
    for shift in (0.0, 0.1, -0.7):
        for one, other in zip(leaves(compiled(w + shift, x)), leaves(fn(w + shift, x)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10)
    assert [len(steps) < 300 for steps in compiled.lists] == [True]


def test_a_long_loop_beside_what_is_differentiated_is_one_of_the_list_too():
    def fn(w, x):
        s = np.zeros(3)
        for row in x:
            s = np.tanh(s + row)
        s = np.cos(s)
        for k in range(300):
            w = np.sin(w + s * x[k])
        return np.sum(w)
    compiled = jit(grad(fn))
    args = np.array([0.3, -0.2, 0.5]), np.random.default_rng(0).normal(size=(400, 3))
    np.testing.assert_allclose(compiled(*args), grad(fn)(*args), rtol=1e-10)
    np.testing.assert_allclose(compiled(*args), grad(fn)(*args), rtol=1e-10)
    assert [len(steps) < 300 for steps in compiled.lists] == [True]


def test_a_tangent_that_follows_from_an_adjoint_rule_is_compiled_too():
    a, t = np.eye(3) + np.arange(9.0).reshape(3, 3) ** .5, np.ones((3, 3)) + np.eye(3)  # of rank 1 it would give zeros
    for tangent in (lambda a: jvp(f.cofactor_slope, (a, a), (t, t))[1], lambda a: jvp(lambda a: jvp(f.cofactor, (a,), (t,))[1], (a,), (t,))[1]):
        np.testing.assert_allclose(jit(tangent, "numpy")(a), tangent(a), 1e-9, 1e-13)
