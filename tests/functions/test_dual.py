"""Dual numbers: the differentiation arithmetic of Reps (Fig. 1), Adams' tuples, the matrices of Ong and Deisenroth."""
from __future__ import annotations

import numpy as np
import pytest

from xman import XManError
from xman.functions import Dual, derivative, grad, jvp

R = np.random.default_rng(4)


def both(dual):
    return dual.value, dual.tangent


def test_a_constant_has_tangent_0_and_the_variable_1():
    assert both(Dual.CONST(3.0)) == (3, 0) and both(Dual.VAR(3.0)) == (3, 1)
    assert type(Dual.VAR(3).value) is type(Dual.VAR(3).tangent) is np.float64


def test_sums_and_products_are_those_of_figure_1():
    a, b = Dual(2.0, 3.0), Dual(5.0, 7.0)
    assert both(a + b) == (7, 10) and both(a * b) == (10, 2 * 7 + 3 * 5)


def test_the_product_program_of_reps_gives_the_derivative_of_the_product():
    def Prod(x, functions):
        ans = Dual.CONST(1.0)
        for fi in functions:
            ans = ans * fi(x)
        return ans
    functions = [np.sin, np.exp, lambda x: x * x]
    x = 0.7
    assert Prod(Dual.VAR(x), functions).tangent == pytest.approx(
        np.exp(x) * (np.cos(x) * x * x + np.sin(x) * x * x + 2 * x * np.sin(x)), rel=1e-14)


def test_the_tuples_of_adams():
    def myfunc(x1, x2):
        a = x1 / x2
        b = np.exp(x2)
        return (np.sin(a) + a - b) * (a - b)
    assert f"{myfunc(Dual(1.5, 1.0), Dual(0.5, 0.0)):.3f}" == "Dual(2.017, 3.012)"
    assert both(myfunc(Dual(1.5, 1.0), Dual(0.5, 0.0))) == pytest.approx((2.0167, 3.0118), abs=1e-4)  # printed by steps of 4 digits
    assert both(myfunc(Dual(1.5, 0.0), Dual(0.5, 1.0))) == pytest.approx((2.0167, -13.7239), abs=1e-4)


def test_duals_of_duals_carry_the_second_derivative():
    x = Dual(Dual(3.0, 1.0), Dual(1.0, 0.0))
    assert repr(x ** 3) == "Dual(Dual(27.0, 27.0), Dual(27.0, 18.0))"
    assert (2.0 * np.exp(x)).tangent.tangent == pytest.approx(2 * np.exp(3), rel=1e-14)


def test_duals_of_arrays_run_through_numpy():
    x, t = R.normal(size=(2, 3, 3))
    dual = np.linalg.solve(np.tanh(Dual(x, t)) + 3 * np.eye(3), np.ones(3))[1:].sum()
    _, slope = jvp(lambda x: np.linalg.solve(np.tanh(x) + 3 * np.eye(3), np.ones(3))[1:].sum(), (x,), (t,))
    assert dual.tangent == pytest.approx(slope, rel=1e-13)
    assert (Dual(x).shape, len(Dual(x)), Dual(x).T.shape, Dual(x).dtype) == ((3, 3), 3, (3, 3), float)


def test_one_tangent_serves_all_entries_and_the_precision_stays():
    dual = Dual(np.ones(3, np.float32), 1.0) * 2
    assert dual.tangent.tolist() == [2, 2, 2] and dual.tangent.dtype == np.float32


def test_comparisons_are_plain_and_branches_follow_the_value():
    assert (Dual(2.0, 1.0) > 1.0) is np.True_ and bool(Dual(0.0, 1.0)) is False
    assert both(max(Dual(2.0, 1.0), Dual(3.0, 5.0))) == (3, 5)
    assert both(np.floor(Dual(2.5, 1.0))) == (2, 0)


@pytest.mark.parametrize("order", range(6))
def test_derivatives_of_every_order(order):
    assert derivative(lambda x: x * np.exp(x), order)(1.0) == pytest.approx((1 + order) * np.e, rel=1e-13)


def test_derivatives_of_a_tree_of_arrays():
    result = derivative(lambda t: {"circle": np.stack([np.cos(t), np.sin(t)]), "constant": [1.0]})(0.0)
    assert result["circle"].tolist() == [0, 1] and result["constant"] == [0]


def test_a_dual_inside_a_gradient_and_a_gradient_inside_a_dual():
    assert grad(lambda x: (Dual(x, 1.0) ** 3).tangent)(2.0) == 12
    assert both(grad(lambda y: y ** 3)(Dual(2.0, 1.0))) == (12, 12)


# ---- matrices -------------------------------------------------------------------------------------------------------

def test_the_matrix_of_a_dual():
    assert Dual(2.0, 3.0).matrix().tolist() == [[2, 3], [0, 2]]


def test_sums_and_products_of_matrices_are_those_of_duals():
    x, y = Dual(2.0, 3.0), Dual(5.0, 7.0)
    assert (x.matrix() + y.matrix()).tolist() == (x + y).matrix().tolist()
    assert (x.matrix() @ y.matrix()).tolist() == (x * y).matrix().tolist()


def test_so_it_is_for_blocks_and_for_nested_duals():
    A, B = Dual(R.normal(size=(2, 3)), R.normal(size=(2, 3))), Dual(R.normal(size=3), R.normal(size=3))
    np.testing.assert_allclose(A.matrix() @ B.matrix(), (A @ B).matrix(), rtol=1e-13)
    x = Dual(Dual(3.0, 1.0), Dual(1.0, 0.0))
    np.testing.assert_allclose(x.matrix() @ x.matrix(), (x * x).matrix(), rtol=1e-13)
    np.testing.assert_allclose(np.linalg.inv(x.matrix()), (1 / x).matrix(), rtol=1e-13)


@pytest.mark.parametrize(("dual", "depth"), [(Dual(2.0, 3.0), 1), (Dual(Dual(3.0, 1.0), Dual(1.0, 4.0)), 2),
                                             (Dual(np.eye(2), np.ones((2, 2))), 1)])
def test_a_dual_comes_back_from_its_matrix(dual, depth):
    assert repr(Dual.from_matrix(dual.matrix(), depth)) == repr(dual)


@pytest.mark.parametrize(("matrix", "words"), [([[1, 2], [3, 1]], "another block"), ([[1, 2], [0, 3]], "another block"),
                                               ([[1, 2, 3]], "2n rows"), (np.eye(2)[0], "2n rows")])
def test_a_matrix_of_another_form_is_refused(matrix, words):
    with pytest.raises(XManError, match=words):
        Dual.from_matrix(matrix)


def test_a_nested_dual_with_a_plain_tangent_has_its_matrix():
    assert Dual(Dual(2.0, 1.0), 1.0).matrix().tolist() == [[2, 1, 1, 0], [0, 2, 0, 1], [0, 0, 2, 1], [0, 0, 0, 2]]


# bugs that had survived planting


def test_what_a_derivative_around_varies_is_a_constant_of_the_one_within():
    assert derivative(lambda x: x * derivative(lambda y: x)(1.0))(3.0) == 0


def test_a_dual_of_ones_own_lies_around_every_traced_call_however_deep():
    from xman.functions import Dual
    x = 2.0
    for _ in range(5):
        x = Dual(x, 1.0)
        assert 0 < x.level < 1  # the first traced call of a process has level 1
