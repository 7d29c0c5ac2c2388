"""Sparse derivatives: patterns are those of the dense matrix, colours never collide, and matrices are right."""
import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array, eye_array, random_array, vstack

import xman
from xman import colour, f, grad, hessian, jacobian, scan, sparse_hessian, sparse_jacobian, sparsity, trace
from xman.errors import XManError
from xman.sparse.colours import rows_and_columns
from xman.sparse.passes import passes_of

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "scripts"))
from sparse_programs import PROGRAMS

A, B, D = np.ones((4, 6)), np.ones((6, 3)), np.eye(6) - np.eye(6, k=1)
PLACES = np.array([3, 1, 1, 0])


def grid(u):
    p = np.pad(u, 1)
    return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u + np.exp(u)


def running_state(x):
    return scan(lambda c, x_t: (0.5 * np.roll(c, 1), c * x_t), x, x)[1]


# patterns that are those of the dense matrix: by the shape of the argument, functions of it
EXACT = {
    6: [lambda x: x[1:-1] * (x[2:] - x[:-2]), lambda x: np.roll(x, 1) * x, lambda x: np.convolve(x, np.ones(3)),
        lambda x: np.correlate(x, np.ones(3)), lambda x: x[PLACES] ** 2, lambda x: x[:, None] * x[None, :], np.diag,
        lambda x: np.concatenate([x[::2], np.sin(x[1:3]), np.ones(2)]), lambda x: np.outer(x, np.ones(3)),
        lambda x: D @ np.sin(D @ x), lambda x: np.where(x > 1, x ** 2, np.flip(x)), lambda x: A @ x, np.cumsum,
        lambda x: np.cumprod(x), lambda x: np.linalg.solve(np.eye(6) * 2 + 1, x), lambda x: np.mean(x) * x[:2],
        lambda x: np.tril(np.outer(x, x)), lambda x: x * (np.arange(6) % 2.0), lambda x: f.softmax(x), np.diff,
        lambda x: scan(lambda c, x_t: (c * x_t, np.sin(c) + x_t), 1.0, x)[1], running_state,
        lambda x: np.stack([x[:3], x[3:]], 1), lambda x: np.repeat(x, 2) * np.tile(x[:3], 4), lambda x: np.pad(x, (1, 2)),
        lambda x: xman.call(lambda y: y[::-1] * 2.0, x), lambda x: np.sum(x.reshape(2, 3), 0), lambda x: np.max(x[:4]),
        lambda x: x[np.arange(3)] + x[3:], lambda x: np.einsum("i,j->ij", x[:2], x[2:]), lambda x: f.logaddexp(x[:5], x[1:]),
        lambda x: np.broadcast_to(x, (2, 6)) * 3.0, lambda x: np.polyval(np.ones(3), x), lambda x: np.take(x, [5, 5, 0]),
        lambda x: np.ones(4), lambda x: np.stack([x[0] * 0.0, x[1] ** 2, x[2] * x[3]]),
        lambda x: grad(lambda x: x @ (D @ np.exp(x)))(x)],
    (4, 6): [grid, lambda X: A @ X.T, lambda X: np.tanh(X @ B), lambda X: f.softmax(X), lambda X: np.sum(X ** 2, 1),
             lambda X: np.max(X, 0) + np.min(X, 0), lambda X: np.linalg.norm(X, axis=1), lambda X: f.logsumexp(X, 0),
             lambda X: np.var(X, 0) + np.std(X, 0) + np.prod(X, 0), lambda X: np.cumsum(X, 1), lambda X: np.mean(X, (0, 1)),
             lambda X: f.crossEntropy(f.softmax(X), np.ones((4, 6)) / 6),
             lambda X: f.softmaxCrossEntropy(X, np.ones((4, 6)) / 6),
             lambda X: X.T.reshape(3, 8), lambda X: X[1:, ::2] * X[:-1, 1::2], lambda X: np.einsum("ij->i", X),
             lambda X: X - np.mean(X, 0), lambda X: np.trace(X[:, :4]), lambda X: np.rot90(X),
             lambda X: f.softmax(X[1:, 1:])[::-1] * X[1:, 1:]],
    (3, 3): [lambda X: np.sort(X, 1)[:, 1:] ** 2, lambda X: np.median(X, 0), lambda X: np.einsum("bi,ij->bj", X, np.tri(3) + 1),
             lambda X: np.take(X, np.argmax(X[0]), 1), lambda X: grad(lambda X: np.sum(np.prod(np.sort(X, 0), 0) ** 2))(X)],
    (2, 3, 3): [np.linalg.inv, np.linalg.det, lambda X: X @ np.ones((2, 3, 1)), lambda X: np.swapaxes(X, 0, 2)],
}


def small(name):
    """A program that the manual measures, with about 32 columns: (how many it has, its derivative, its function)."""
    kind, make, _ = PROGRAMS[name]
    program, n = make(32)
    fn = lambda x: program(x, np)
    return n, kind, fn


for n, kind, fn in map(small, PROGRAMS):
    EXACT.setdefault(n, []).append(fn if kind == "jacobian" else grad(fn))


def dense_pattern(fn, shape):
    """Where the dense matrix is not 0 at one of twenty points."""
    draw = np.random.default_rng(1)
    points = [draw.uniform(0.3, 1.7, shape) + (2 * np.eye(3) if shape == (2, 3, 3) else 0) for _ in range(20)]
    matrices = [np.reshape(jacobian(fn)(x), (-1, np.size(x))) != 0 for x in points]
    return np.any(matrices, 0)


@pytest.mark.parametrize(("shape", "k"), [(shape, k) for shape, fns in EXACT.items()
                                              for k in range(len(fns))])
def test_a_pattern_is_that_of_the_dense_matrix(shape, k):
    fn = EXACT[shape][k]
    x = np.random.default_rng(0).uniform(0.3, 1.7, shape) + (2 * np.eye(3) if shape == (2, 3, 3) else 0)
    steps = trace(fn, x)
    if not steps.inputs:
        return
    found = sparsity(steps, steps.outputs[0], steps.inputs[0], {steps.inputs[0]: x}).toarray()
    np.testing.assert_array_equal(found, dense_pattern(fn, shape))


def test_a_pattern_holds_for_any_values():
    x = np.array([0.3, 0.9, 1.4])
    turned = lambda x: xman.cond(x[0] > 0, lambda x: x, lambda x: x[::-1], x)
    moved = lambda x: xman.while_loop(lambda c: c[0] < 9.0, lambda c: np.stack([c[0] + 1, c[0], c[1]]), x)
    for fn, expected in [(lambda x: np.sort(x), np.ones((3, 3))), (turned, [[1, 0, 1], [0, 1, 0], [1, 0, 1]]),
                         (moved, [[1, 0, 0], [1, 1, 0], [1, 1, 1]])]:
        steps = trace(fn, x)
        np.testing.assert_array_equal(sparsity(steps, steps.outputs[0], "x", {"x": x}).toarray(), expected)


IN_LOOPS = [
    lambda x: scan(lambda c, t: (c[[1, 0]], c * t), x, x)[0],  # an array in the step's own lines
    lambda x: xman.cond(x[0] > 0, lambda x, y: x[[1, 0]] * y, lambda x, y: x * y, x, x * 2),
    lambda x: xman.map(lambda r: np.sum(np.array([1.0, 2.0]) * r) ** 2, np.stack([x, x[::-1]])),
    # of a number that stands for any, s * t would never become large
    lambda x: xman.map(lambda t: xman.while_loop(lambda s: s < 30.0, lambda s: s * t, t), x),
    lambda x: xman.while_loop(lambda c: np.sum(c) < 30.0, lambda c: 2 * xman.while_loop(
        lambda d: np.sum(d) < 3, lambda d: d * x + 1, c), x)]


@pytest.mark.parametrize("fn", IN_LOOPS)
def test_what_stands_in_a_loop_has_a_pattern(fn):
    x = np.array([2.0, 3.0])
    np.testing.assert_allclose(sparse_jacobian(fn)(x).toarray(), jacobian(fn)(x))


def test_where_values_decide_how_many_steps_a_gradient_has_is_a_sentence():
    turned = lambda x: xman.while_loop(lambda c: c < 30.0, lambda c: c * x[0], x[1])
    with pytest.raises(XManError, match="the number of steps of .* depends on the values, .*hessian.* dense"):
        sparse_hessian(turned)(np.array([2.0, 3.0]))


def test_whole_numbers_among_the_inputs_are_any_or_those_of_likes():
    steps, likes = [("y", "getitem", ("x", "i"))], {"x": np.ones(4), "i": np.array([2, 0])}
    assert sparsity(steps, "y", "x", likes).nnz == 8
    np.testing.assert_array_equal(sparsity(steps, "y", "x", likes, local=True).toarray(), np.eye(4)[[2, 0]])


@pytest.mark.parametrize("fn", [
    lambda X: np.where(X > 1, X[::-1] ** 2, X), lambda X: f.relu(X - 1) + X[0] ** 2, lambda X: np.maximum(X, X.T),
    lambda X: np.minimum(X[0], 1.0) * np.clip(X, 0.5, 1.2), lambda X: np.max(X, 1) + np.min(X), lambda X: np.sort(X, 1),
    lambda X: np.median(X, 0), lambda X: X[np.argmax(X[:, 0])], lambda X: np.max(X, 0) @ np.tanh(np.maximum(X, 1.0))])
def test_a_pattern_at_values_has_only_what_these_choose(fn):
    X = np.random.default_rng(3).uniform(0.3, 1.7, (3, 3))
    steps = trace(fn, X)
    local, anywhere = (sparsity(steps, steps.outputs[0], "X", {"X": X}, local=local).toarray() for local in (True, False))
    np.testing.assert_array_equal(local, np.reshape(jacobian(fn)(X), (-1, 9)) != 0)
    assert np.all(anywhere >= local)


def test_a_pattern_at_values_has_all_that_a_loop_may_take():
    X = np.random.default_rng(3).uniform(0.3, 1.7, (3, 3))
    steps = trace(lambda X: scan(lambda c, row: (np.maximum(c, row), c * 2.0), X[0], X)[1], X)
    local, anywhere = (sparsity(steps, steps.outputs[0], "X", {"X": X}, local=local).toarray() for local in (True, False))
    np.testing.assert_array_equal(local, anywhere)


@pytest.mark.parametrize("n", [5, 60_000])  # with as many entries as the latter some random labels are equal
def test_each_entry_of_arrays_that_are_joined_depends_on_its_own(n):
    x = np.ones(n)
    steps = trace(lambda x: np.concatenate([x, x * x, np.ones(1)]), x)
    pattern = sparsity(steps, steps.outputs[0], "x", {"x": x})
    np.testing.assert_array_equal(pattern.indices, np.tile(np.arange(n), 2))
    np.testing.assert_array_equal(np.diff(pattern.indptr), np.repeat([1, 0], [2 * n, 1]))


def test_what_would_be_too_large_is_a_sentence():
    with pytest.raises(XManError, match="every entry that softmax gives may depend on every one that it takes: 1,600,000,000"):
        sparsity([("y", "softmax", ("x",))], "y", "x", {"x": np.ones(40_000)})


# ---- colours -----------------------------------------------------------------------------------------------

def drawn_patterns():
    draw = np.random.default_rng(0)
    for _ in range(40):
        n = int(draw.integers(2, 20))
        pattern = csr_array(random_array((n, n + 3), density=0.2, rng=draw)).astype(bool)
        square = random_array((n, n), density=0.2, rng=draw) + eye_array(n)
        yield pattern, csr_array((square + square.T).astype(bool))


@pytest.mark.parametrize("order", ["largest", "natural"])
def test_no_two_entries_of_a_colour_collide(order):
    for pattern, symmetric in drawn_patterns():
        rows, columns = rows_and_columns(pattern)
        for by, lines, others in (("columns", rows, columns), ("rows", columns, rows)):
            colours = colour(pattern, by, order)
            assert Counter(zip(lines, colours[others], strict=True)).most_common(1)[0][1] == 1
        of_rows, of_columns = colour(pattern, "both", order)
        by_row = Counter(zip(columns, of_rows[rows], strict=True))
        by_column = Counter(zip(rows, of_columns[columns], strict=True))
        for i, j in zip(rows, columns, strict=True):
            assert (of_rows[i] >= 0 and by_row[j, of_rows[i]] == 1
                    or of_columns[j] >= 0 and by_column[i, of_columns[j]] == 1)
        near = [[j for j in row if j != i] for i, row in enumerate(symmetric.tolil().rows)]
        colours = colour(symmetric, "star", order)
        paths = [(a, b, c, d) for a in range(len(near)) for b in near[a] for c in near[b] for d in near[c]]
        assert all(colours[a] != colours[b] for a, b, _, _ in paths)
        assert all(len({*path}) < 4 or len({*colours[[*path]]}) > 2 for path in paths)
        colours = colour(symmetric, "acyclic", order)
        for a, b in {(a, b) for a in colours for b in colours if a < b}:
            edges = sum(a == colours[v] and b == colours[w] for v in range(len(near)) for w in near[v])
            tree = {v for v in range(len(near)) if colours[v] in (a, b)}
            assert edges == len(tree) - parts_of(tree, near, {a, b}, colours)


def parts_of(vertices, near, two, colours):
    """How many connected parts the vertices make: a forest has as many edges fewer than vertices."""
    left, parts = set(vertices), 0
    while left:
        parts, reached = parts + 1, [left.pop()]
        while reached:
            v = reached.pop()
            beside = [w for w in near[v] if w in left and colours[w] in two]
            left.difference_update(beside)
            reached += beside
    return parts


def test_a_pattern_that_is_too_large_is_refused_before_it_is_made():
    W = np.ones((300, 300))
    steps = [("y", "dot", ("X", "W"))]
    xman.sparsity(steps, "y", "W", {"X": np.ones((2, 300)), "W": W})  # what it imports is not counted
    tracemalloc.start()
    with pytest.raises(XManError, match="every entry that dot gives may depend on every one that it takes: 360,000,000"):
        xman.sparsity(steps, "y", "W", {"X": np.ones((4000, 300)), "W": W})
    largest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert largest < 2e8


def test_one_long_row_costs_no_memory_for_all_rows():
    n = 4000
    pattern = csr_array(vstack([eye_array(n), np.ones((1, n))]))
    colour(pattern[:5])  # what it imports is not counted
    tracemalloc.start()
    assert colour(pattern).max() == n - 1
    largest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert largest < 1e7  # a count of n places a row would take 128 megabytes


@pytest.mark.parametrize("pattern", ["abc", None, 5, [[1, 2], [3]], [1, 0, 1], np.zeros((2, 2, 2)), object()])
def test_a_pattern_that_is_no_matrix_is_refused(pattern):
    with pytest.raises(XManError, match="^a pattern is a matrix"):
        colour(pattern)


def test_as_many_colours_as_are_known():
    n = 1000
    band = lambda *offsets: diags_array([np.ones(n)] * len(offsets), offsets=offsets, shape=(n, n))
    arrow = eye_array(n).tolil()
    arrow[0, :] = arrow[:, 0] = 1
    assert colour(band(-1, 0, 1)).max() + 1 == 3 and colour(band(-2, -1, 0, 1, 2)).max() + 1 == 5
    assert colour(band(-1, 0, 1), "star").max() + 1 == 3 and colour(band(-1, 0, 1), "acyclic").max() + 1 == 2
    assert colour(arrow, "star").max() + 1 == 2 and colour(arrow).max() + 1 == n
    assert [c.max() + 1 for c in colour(arrow, "both")] == [1, 2]


@pytest.mark.parametrize(("shape", "columns"), [((9, 9), 3), ((8, 9), 3), ((9, 8), 3)])
def test_of_as_many_passes_those_of_columns_are_taken(shape, columns):
    band = csr_array(diags_array([np.ones(9)] * 3, offsets=(-1, 0, 1), shape=shape))
    passes = passes_of(band, None)
    assert (len(passes.columns), len(passes.rows)) == (columns, 0)


# the widest row's entries, which no colouring of columns has fewer than, or as many as CasADi's colourings have
@pytest.mark.parametrize(("name", "colours"), [
    ("Burgers' equation", 3), ("Brusselator, 32 × 32", 12), ("bundle adjustment", 9), ("control, 100 steps", 5),
    ("its Lagrangian", 2), ("Rosenbrock", 3), ("arrow", 2), ("KKT matrix", 4), ("triangle mesh", 16)])
def test_the_programs_of_the_manual_take_as_many_passes_as_are_known(name, colours):
    kind, make, usual = PROGRAMS[name]
    program, n = make(usual)
    steps, x = trace(lambda x: program(x, np), np.linspace(0.5, 1.5, n)), {"x": np.linspace(0.5, 1.5, n)}
    assert getattr(xman, kind.capitalize())(steps, steps.outputs[0], ["x"], sparse=True).compressed(x).passes == colours


@pytest.mark.parametrize(("change", "sentence"), [
    (dict(by="stars"), "the colours are by columns, rows, star, acyclic, both"), (dict(order="random"), "the order is"),
    (dict(by="star"), "a star colouring is of a symmetric matrix; this one, of shape \\(2, 3\\), is not")])
def test_a_colouring_that_is_none_is_a_sentence(change, sentence):
    with pytest.raises(XManError, match=sentence):
        colour(**{"pattern": np.ones((2, 3)), **change})


# ---- matrices ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("by", [None, "columns", "rows", "both"])
def test_a_sparse_jacobian_is_the_dense_one(by):
    draw = np.random.default_rng(0)
    programs = [(n, fn) for n, kind, fn in map(small, PROGRAMS) if kind == "jacobian"]
    for shape, fn in [(12, EXACT[6][0]), ((3, 4), grid), (5, lambda x: np.ones(3)), *programs,
                      (7, lambda x: np.concatenate([np.sum(x ** 2)[None], x[1:] * x[0]]))]:
        sparse = sparse_jacobian(fn, by=by, engine="numpy")
        for _ in range(3):
            x = draw.uniform(0.5, 1.5, shape)
            expected = np.reshape(jacobian(fn)(x), (-1, x.size))
            np.testing.assert_allclose(sparse(x).toarray(), expected, rtol=1e-10, atol=1e-12)


def test_a_sparse_hessian_is_the_dense_one():
    draw = np.random.default_rng(0)
    programs = [(n, fn) for n, kind, fn in map(small, PROGRAMS) if kind == "hessian"]
    for n, fn in [(8, lambda x: np.sum(np.sin(x)) + np.sum(x[:2]) ** 2), (8, lambda x: np.sum(x)), (8, f.logsumexp), *programs]:
        sparse = sparse_hessian(fn, engine="numpy")
        for _ in range(3):
            x = draw.uniform(0.5, 1.5, n)
            np.testing.assert_allclose(sparse(x).toarray(), hessian(fn)(x), rtol=1e-10, atol=1e-10)


def test_a_branch_that_is_taken_has_a_pattern_of_its_own():
    def fn(x): return np.cumsum(x) if x[0] > 1 else x[::-1] * x[0]
    sparse = sparse_jacobian(fn, engine="numpy")
    for x in (np.array([0.5, 2.0, 3.0]), np.array([1.5, 2.0, 3.0]), np.array([0.7, 1.0, 3.0])):
        np.testing.assert_allclose(sparse(x).toarray(), jacobian(fn)(x))


def test_a_million_columns_take_three_passes():
    n = 100_000
    J = sparse_jacobian(lambda u: u[1:-1] * (u[2:] - u[:-2]), engine="numpy")
    u = np.random.default_rng(0).uniform(size=n)
    matrix, middle = J(u), np.arange(n - 2)
    assert matrix.nnz == 3 * (n - 2)
    np.testing.assert_allclose(matrix[middle, middle + 2], u[1:-1])
    np.testing.assert_allclose(matrix[middle, middle + 1], u[2:] - u[:-2])


@pytest.mark.parametrize(("make", "args", "sentence"), [
    (lambda: sparse_jacobian(3), (), "sparse_jacobian takes a function"),
    (lambda: sparse_jacobian(np.sin, by="diagonal"), (), "by is 'columns', 'rows', 'both' or None"),
    (lambda: sparse_jacobian(lambda x: (x, x)), (np.ones(2),), "is of one array by one array"),
    (lambda: sparse_jacobian(lambda x: x, argnums=(0, 1)), (np.ones(2),), "argnums is its position"),
    (lambda: sparse_hessian(lambda x: x), (np.ones(2),), "grad")])
def test_bad_input_is_a_sentence(make, args, sentence):
    with pytest.raises(XManError, match=sentence):
        make()(*args)
