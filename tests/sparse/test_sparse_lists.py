"""Sparse Jacobians and Hessians of lists: the compressed derivative is a list, and the optimizers use it by themselves."""
import importlib

import numpy as np
import pytest

import xman
from xman import Hessian, Jacobian, WengertList
from xman.sparse import where_it_pays

descent = importlib.import_module("xman.optimize.minimize")


def residuals(x, y, i):
    return np.concatenate([x[1:] * x[:-1], np.sin(x) * y, y[i] * x[i]])


def energy(x, y):
    return np.sum(x[0] * x[1:] ** 2 * y[1:]) + np.sum(np.exp(y)) * x[0] + np.sum(np.log(x))


POINT = {"x": np.linspace(1.0, 2.0, 9), "y": np.linspace(0.0, 1.0, 9), "i": np.array([0, 3, 5])}
STEPS = xman.trace(residuals, *POINT.values())
ENERGY = xman.trace(energy, POINT["x"], POINT["y"])


@pytest.mark.parametrize("mode", [None, "forward", "reverse", "mixed"])
@pytest.mark.parametrize("wrt", [["x"], ["y", "x"]])
def test_a_sparse_jacobian_of_a_list_is_the_dense_one(mode, wrt):
    sparse, dense = Jacobian(STEPS, "residuals", wrt, mode, sparse=True), Jacobian(STEPS, "residuals", wrt)
    for name, matrix in sparse(POINT).items():
        assert matrix.format == "csr" and matrix.shape == (20, 9)
        assert np.array_equal(matrix.toarray(), dense(POINT)[name])
    assert sparse.compressed(POINT).passes <= 5


def test_a_sparse_hessian_of_a_list_is_the_dense_one_in_few_products():
    H = Hessian(ENERGY, ENERGY[-1][0], ["x", "y"], sparse=True)
    assert np.array_equal(H(POINT).toarray(), Hessian(ENERGY, ENERGY[-1][0], ["x", "y"])(POINT))
    assert H.compressed(POINT).passes <= 4


def test_the_compressed_derivative_is_a_list_that_is_printed_read_and_compiled():
    made = Jacobian(STEPS, "residuals", ["x"]).compressed(POINT)
    again = WengertList.from_text(str(made.steps))
    entries = made(POINT).data
    assert np.array_equal(xman.eval(again, POINT)[made.entries], entries)
    assert np.array_equal(xman.compile(again, [made.entries])(POINT)[made.entries], entries)


def test_other_whole_numbers_have_another_list():
    J, other = Jacobian(STEPS, "residuals", ["y"], sparse=True), POINT | {"i": np.array([1, 1, 8])}
    assert J(POINT)["y"].nnz == J(other)["y"].nnz == 12
    assert np.array_equal(J(other)["y"].toarray(), Jacobian(STEPS, "residuals", ["y"])(other)["y"])
    assert J.compressed(POINT) is J.compressed(POINT) is not J.compressed(other)


def test_singles_stay_singles_and_what_does_not_depend_has_no_entry():
    steps = WengertList([("a", "square", ("x",)), ("b", "exp", ("y",)), ("c", "add", ("b", "b"))])
    matrices = Jacobian(steps, "a", ["x", "y"], sparse=True)({"x": np.ones(3, np.float32), "y": np.ones(4)})
    assert matrices["x"].dtype == np.float32 and np.array_equal(matrices["x"].toarray(), 2 * np.eye(3))
    assert matrices["y"].shape == (3, 4) and matrices["y"].nnz == 0


def rooted(u):
    return np.sqrt(u[1:]) + u[:-1] + np.where(u[1:] > 0, np.log(np.where(u[1:] > 0, u[1:], 1.0)), 0.0)


def test_a_zero_stays_zero_where_it_meets_an_infinite_slope_in_every_way_to_a_jacobian():
    u = np.array([0.0, 0.0, 1.0, 0.0, 2.0])
    steps, expected = xman.trace(rooted, u), xman.jacobian(rooted)(u)
    assert np.isinf(expected).sum() == 2 and not np.isnan(expected).any()
    for mode in "forward", "reverse":
        for sparse in False, True:
            J = Jacobian(steps, "rooted", ["u"], mode, sparse)({"u": u})["u"]
            assert np.array_equal(J.toarray() if sparse else J, expected), (mode, sparse)
    assert np.array_equal(Jacobian(steps, "rooted", ["u"]).jv({"u": u}, {"u": np.eye(5)[0]}), expected[:, 0])


def test_a_matrix_that_takes_as_many_passes_does_not_pay_and_is_found_out_early():
    full = xman.trace(lambda W: np.tanh(np.ones((200, 40)) @ W) @ np.ones((30, 5)), np.ones((40, 30)))
    J = Jacobian(full, full[-1][0], ["W"])
    assert where_it_pays(lambda: J.compressed({"W": np.ones((40, 30))}), 1000) is None
    small = xman.trace(lambda x: np.ones((30, 30)) @ np.sin(x), np.ones(30))  # its pattern is quick to find
    J = Jacobian(small, small[-1][0], ["x"])
    assert J.compressed({"x": np.ones(30)}).passes == 30
    assert where_it_pays(lambda: J.compressed({"x": np.ones(30)}), 30) is None
    assert where_it_pays(lambda: pytest.fail("a small one is not asked"), 10) is None


def chain(u):
    return np.concatenate([10 * (u[1:] - u[:-1] ** 2), 1 - u[:-1]])


def rosenbrock(u):
    return np.sum(chain(u) ** 2)


@pytest.mark.parametrize("n", [40, 400])  # the smaller one as an array, the other by SciPy's iterations
def test_least_squares_takes_few_passes_and_ends_where_it_would(n, monkeypatch):
    start = np.full(n, 0.5)
    sparse = xman.least_squares(chain, start=start, progress=False)
    assert np.allclose(sparse.parameters, 1.0, atol=1e-6)
    monkeypatch.setattr(importlib.import_module("xman.optimize.least_squares"), "where_it_pays", lambda *_: None)
    dense = xman.least_squares(chain, start=start, progress=False)
    assert np.allclose(sparse.parameters, dense.parameters, atol=1e-6)


@pytest.mark.parametrize("method", descent.WITH_PRODUCTS)
def test_methods_with_products_find_the_minimum_by_a_sparse_hessian(method, monkeypatch):
    problems, Descent = [], descent.Descent
    monkeypatch.setattr(descent, "Descent", lambda problem, *rest: problems.append(problem) or Descent(problem, *rest))
    end = xman.minimize(rosenbrock, start=np.full(300, 0.5), method=method, progress=False)
    assert np.allclose(end.parameters, 1.0, atol=1e-5) and problems[0].hessian.passes == 3
