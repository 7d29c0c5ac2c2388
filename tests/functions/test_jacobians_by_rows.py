"""Jacobians of many small functions, mapped, and all directions of a traced Jacobian at once."""
import warnings

import numpy as np
import pytest

import xman

RNG = np.random.default_rng(0)
X, Y, S = RNG.uniform(0.5, 2, (6, 3)), RNG.uniform(0.5, 2, (6, 2)), RNG.uniform(0.5, 2, 3)


def small(x, y, s):
    return np.stack([np.sum(np.sin(x) * s), y[0] / x[1]]), y[1] ** 2


@pytest.mark.parametrize("mode", ["forward", "reverse", None])
@pytest.mark.parametrize("around", [lambda fn: fn, xman.jit])
def test_a_map_of_jacobians_is_each_of_them(mode, around):
    of_one = xman.jacobian(small, (0, 1), mode)
    blocks = around(lambda x, y, s: xman.map(lambda row: of_one(*row, s), (x, y)))
    for _ in range(2):  # traced, then run
        for of, found in zip(zip(*map(of_one, X, Y, [S] * 6), strict=True), blocks(X, Y, S), strict=True):
            for one, other in zip(zip(*of, strict=True), found, strict=True):
                np.testing.assert_allclose(other, np.stack(one), rtol=1e-12)


def test_sparse_rows_put_each_block_into_its_columns():
    pose, place = RNG.normal(size=(2, 3)), RNG.normal(size=(4, 2))
    which, where = np.array([0, 1, 1, 0, 1]), np.array([3, 0, 0, 2, 1])
    fn = lambda a, b: np.stack([np.sum(a, axis=-1) * b[..., 0], b[..., 1] * a[..., 2]], axis=-1)
    of_one = xman.jacobian(fn, (0, 1))
    blocks = xman.map(lambda row: of_one(*row), (pose[which], place[where]))
    J = xman.sparse_rows(blocks, [3 * which[:, None] + np.arange(3), 6 + 2 * where[:, None] + np.arange(2)],
                         14)
    of_pose, of_place = xman.jacobian(lambda a, b: fn(a[which], b[where]), (0, 1))(pose, place)
    np.testing.assert_allclose(J.toarray(), np.hstack([of_pose.reshape(10, 6), of_place.reshape(10, 8)]),
                               rtol=1e-12)
    assert J.nnz == 50
    columns = [np.zeros((5, 3), int), np.zeros((5, 2), int)]
    for wrong, said in ((columns[:1], "for 1 arrays of columns"), ([columns[0], columns[0]], "do not fit"),
                        ([columns[0] + 14, columns[1]], "columns lie from 0 to 14"),
                        ([columns[0], columns[1] + 0.5], "whole numbers")):
        with pytest.raises(xman.XManError, match=said):
            xman.sparse_rows(blocks, wrong, 14)


A, B, C = RNG.normal(size=(5, 4)), RNG.normal(size=(4, 3)), RNG.normal(size=(2, 3, 3))
FUNCTIONS = [
    lambda x: A @ (x * np.sin(x)), lambda x: np.exp(x[:2]) / np.sum(x),
             lambda x: A @ (np.outer(x, x[:3]) * B) @ C,
    lambda x: np.concatenate([x, x[::2] ** 2, np.ones(2)]),
             lambda x: np.stack([x, x * 2, np.zeros(4)], 1).T.reshape(2, 6),
    lambda x: np.sqrt(x[[0, 1, 0]]), lambda x: np.cumsum(x) * x, lambda x: x.reshape(2, 2) @ x.reshape(2, 2).T,
    lambda x: np.sort(x) + np.max(x), lambda x: np.linalg.inv(np.outer(x, x) + np.eye(4)), lambda x: x[None] * x[:, None],
    lambda x: np.where(x > 1, x, x ** 2) @ A.T, lambda x: np.mean(np.tanh(A * x), axis=0, keepdims=True), lambda x: A[0] @ x,
    lambda x: np.split(x * x, 2)[1] @ A[:, :2].T, lambda x: (C @ x[:3])[:, None] @ np.outer(x[:3], x), lambda x: x[0] * x,
    lambda x: np.broadcast_to(x, (3, 4)) * A[:3], lambda x: np.pad(x, 1) * 2, lambda x: A[[[0, 1]], [[2], [3]]] * x[1:3, None]]


@pytest.mark.parametrize("k", range(len(FUNCTIONS)))
def test_all_directions_at_once_are_each_of_them(k):
    """Also where a slope is infinite and a direction does not lead there."""
    J = xman.jacobian(FUNCTIONS[k], mode="forward")
    for x in (X[:2].ravel()[:4], np.array([0.0, 1.0, 2.0, 0.5])):
        fast = xman.jit(J)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # of jit, that it is plain Python
            fast(x)
        np.testing.assert_allclose(fast(x), J(x), rtol=1e-12, atol=1e-12)


def test_more_directions_than_go_at_once_are_as_many_passes():
    from xman.functions.jacobian import AT_ONCE

    x, fast = RNG.normal(size=AT_ONCE + 3), xman.jit(xman.jacobian(lambda x: np.sin(x) * x[-1], mode="forward"))
    fast(x)
    np.testing.assert_allclose(fast(x), np.diag(np.cos(x) * x[-1]) + np.eye(x.size)[-1] * np.sin(x)[:, None], rtol=1e-12)


def test_positions_of_maxima_are_found_and_followed_within_loops():
    pytest.importorskip("llvmlite")
    near = lambda x, c: c[np.argmin(np.sum((x[:, None] - c) ** 2, axis=2), axis=1)] - x
    for slope in (near, xman.grad(lambda x, c: np.sum(near(x, c) ** 2), 1)):
        fast = xman.jit(slope, engine="llvm")
        for x in (X, np.where(X > 1.9, np.nan, X), X[:2].repeat(3, axis=0)):  # ties, and NaN, which comes first
            for _ in range(2):
                np.testing.assert_allclose(fast(x, X[::2]), slope(x, X[::2]), rtol=1e-12)
        assert "argmax(" not in (next(iter(fast.paths.values()))[0].program.source)
