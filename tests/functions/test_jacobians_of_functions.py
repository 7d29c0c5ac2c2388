"""jacobian and hessian, against JAX and by their count."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.jax_at_once import at_once, jax_in_double
from xman import jit
from xman.functions import Count, grad, hessian, jacobian
from xman.functions.trees import flattened_tree

R = np.random.default_rng(6)


def fn(p, x):
    h = np.tanh(p["W"] @ x + p["b"])
    return {"h": h, "norm": np.sum(h * h), "constant": 2.0}


P, X = {"W": R.normal(size=(2, 3)), "b": R.normal(size=2)}, R.normal(size=3)


def compare(mine, theirs):
    if isinstance(theirs, dict):
        assert mine.keys() == theirs.keys()
        for key in theirs:
            compare(mine[key], theirs[key])
    elif isinstance(theirs, (tuple, list)):
        for a, b in zip(mine, theirs, strict=True):
            compare(a, b)
    else:
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)
        assert np.shape(mine) == theirs.shape


@pytest.fixture
def jax():
    return jax_in_double()


@pytest.mark.parametrize("argnums", [0, 1, (1, 0)])
@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_a_jacobian_of_trees_is_that_of_jax(jax, mode, argnums):
    def theirs(p, x):
        h = jax.numpy.tanh(p["W"] @ x + p["b"])
        return {"h": h, "norm": jax.numpy.sum(h * h), "constant": jax.numpy.asarray(2.0)}
    compare(jacobian(fn, argnums, mode)(P, X), at_once(jax.jacobian(theirs, argnums), P, X))


def test_a_hessian_of_trees_is_that_of_jax(jax):
    loss = lambda np: lambda p, x: np.sum(np.tanh(p["W"] @ x + p["b"]) ** 3)
    compare(hessian(loss(np), (0, 1))(P, X), at_once(jax.hessian(loss(jax.numpy), (0, 1)), P, X))


def test_the_count_chooses_the_mode():
    tall, wide = jacobian(lambda x: np.concatenate([x, x * x])), jacobian(lambda x: x[:2] * x[2])
    assert tall.count(np.ones(3)) == Count(3, 6, "forward") and wide.count(np.ones(3)) == Count(3, 2, "reverse")
    assert jacobian(np.exp).count(np.ones(3)).mode == "forward"
    assert str(wide.count(np.ones(3))) == "3 inputs, 2 outputs: reverse mode, 2 passes (forward mode would take 3)"
    assert str(jacobian(np.sin).count(1.0)) == "1 input, 1 output: forward mode, 1 pass (reverse mode would take 1)"


def test_the_function_is_called_once():
    calls = []
    jacobian(lambda x: calls.append(1) or x * x)(np.ones(5))
    assert len(calls) == 1


def test_an_auxiliary_output_comes_back():
    matrix, aux = jacobian(lambda x: (x * x, x), has_aux=True)(np.ones(2))
    assert matrix.tolist() == [[2, 0], [0, 2]] and aux.tolist() == [1, 1]


def test_a_jacobian_of_nothing_has_its_shape():
    assert jacobian(lambda x: x * 2)(np.zeros((0, 2))).shape == (0, 2, 0, 2)
    assert jacobian(lambda x: np.zeros(0) * x)(1.0).shape == (0,)


def test_the_jacobian_of_a_gradient_is_the_hessian_in_both_modes():
    loss = lambda x: np.sum(np.sin(x) * x[::-1])
    x = R.normal(size=4)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(jacobian(grad(loss), mode=mode)(x), hessian(loss)(x), rtol=1e-12, atol=1e-14)


NUMBERS = {"a square": lambda x: x * x, "a multiple": lambda x: 3 * x, "itself": lambda x: x, "a constant": lambda x: 2.0,
           "its float32": lambda x: x.astype(np.float32), "pair": lambda x: (x, 3.0)}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("matrix", [jacobian, hessian, lambda fn: jacobian(jacobian(fn)), lambda fn: jacobian(hessian(fn))],
                         ids=["jacobian", "hessian", "jacobian of jacobian", "jacobian of hessian"])
def test_matrices_of_a_number_by_a_number_are_numbers_when_traced_too(name, matrix):
    fn = matrix(NUMBERS[name])
    for x in np.float64(0.5), np.float32(0.5):
        plain = flattened_tree(fn(x))[0]
        for compiled in flattened_tree(jit(fn, "interpret")(x))[0], flattened_tree(jit(lambda x: fn(x), "interpret")(x))[0]:
            assert [(type(y), float(y)) for y in compiled] == [(type(y), float(y)) for y in plain]


def test_a_hessian_of_a_hessian_has_the_fourth_derivatives():
    x, eye = np.array([0.5, 2.0]), np.eye(2)
    fourth = hessian(hessian(lambda x: np.sum(np.exp(x)) + x[0] ** 2 * x[1] ** 2))(x)
    wanted = np.einsum("i,ij,ik,il->ijkl", np.exp(x), eye, eye, eye)
    for place in {*itertools.permutations((0, 0, 1, 1))}:
        wanted[place] += 4.0
    np.testing.assert_allclose(fourth, wanted, rtol=1e-12)
    assert hessian(hessian(lambda x: x ** 4))(0.5) == 24.0


def test_the_hessian_of_an_array_has_the_shape_of_the_array_in_front():
    x = np.array([0.5, 2.0])
    wanted = np.einsum("i,ij,ik->ijk", 6 * x, np.eye(2), np.eye(2))
    np.testing.assert_allclose(hessian(lambda x: x ** 3)(x), wanted, rtol=1e-12)
    two = hessian(lambda x: {"cubes": x ** 3, "sum": np.sum(x ** 2)})(x)
    np.testing.assert_allclose(two["cubes"], wanted, rtol=1e-12)
    np.testing.assert_allclose(two["sum"], 2 * np.eye(2), rtol=1e-12)


@pytest.mark.parametrize(("left", "right"), [((3,), (3,)), ((5, 3), (3,)), ((3,), (3, 4)), ((5, 3), (3, 4)), ((2, 5, 3), (3,)),
                                             ((2, 5, 3), (3, 4)), ((3,), (2, 3, 4)), ((5, 3), (2, 3, 4)), ((2, 5, 3), (2, 3, 4))])
@pytest.mark.parametrize("place", [0, 1])
def test_a_product_in_all_directions_at_once_is_that_of_each(left, right, place):
    a, b = (np.random.default_rng(0).normal(size=shape) for shape in (left, right))
    cubes = (lambda x: (x @ b) ** 3) if place == 0 else (lambda x: (a @ x) ** 3)
    forward, reverse = (jacobian(jacobian(cubes, mode=mode), mode="reverse")([a, b][place]) for mode in ("forward", "reverse"))
    np.testing.assert_allclose(forward, reverse, rtol=1e-10)
