"""grad, value_and_grad, jvp, vjp and hvp of plain NumPy functions."""
from __future__ import annotations

import functools
from collections import OrderedDict, namedtuple

import numpy as np
import pytest
import scipy.sparse
import scipy.special

from ops import f
from tests.jax_at_once import at_once, jax_in_double
from xman import XManError
from xman.functions import Dual, derivative, grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp

R = np.random.default_rng(3)
X = R.normal(size=(3, 4))


def newton(a):
    """√a, by as many steps as it takes."""
    x = a
    while abs(x * x - a) > 1e-13 * a:
        x = x - (x * x - a) / (2.0 * x)
    return x


def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


def collatz(x):
    """Halved while above 1: the number of steps depends on the data."""
    steps = 0
    while x > 1.0:
        x, steps = x / 2.0, steps + 1
    return x * steps


# the function, where, its derivative
DERIVATIVES = [
    ("a product",                 lambda x: x * np.exp(x), 1.0, 2 * np.e),
    ("a loop",                    lambda x: functools.reduce(lambda a, _: a * x, range(4), 1.0), 2.0, 32.0),
    ("a recursion",               lambda x: power(x, 5), 2.0, 80.0),
    ("a while loop on the data",  collatz, 11.0, 4 / 16),
    ("Newton's method",           newton, 2.0, 0.5 / np.sqrt(2)),
    ("a branch, the one side",    lambda x: x * x if x > 0 else -x, 3.0, 6.0),
    ("a branch, the other",       lambda x: x * x if x > 0 else -x, -3.0, -1.0),
    ("max, min and sorted",       lambda x: max(x, 2.0) + min(x * x, 1.0) + sorted([x, -x, 5 * x])[-1], 3.0, 6.0),
    ("sum of a generator",        lambda x: sum(x ** k for k in range(4)), 2.0, 17.0),
    ("an augmented assignment",   lambda x: augmented(x), 3.0, 6.0),
    ("a rounding",                lambda x: round(x) * x + x // 1 + x % 1, 2.25, 3.0),
    ("an index from the data",    lambda x: np.array([1.0, 5.0, 7.0])[(x > 1).astype(int)] * x, 2.0, 5.0),
    ("a range from the data",     lambda x: sum(x for _ in range(np.argmax(np.array([0.0, 1.0, 3.0]) * x))), 2.0, 2.0),
    ("SciPy's special functions", lambda x: scipy.special.expit(x) + scipy.special.erf(x), 0.0, 0.25 + 2 / np.sqrt(np.pi)),
    ("an operator of ops",        lambda x: f.relu(x) + f.softplus(0.0 * x), 2.0, 1.0),
    ("a constant",                lambda x: 3.0, 2.0, 0.0),
    ("a rounded argument",        lambda x: np.floor(x), 2.5, 0.0),
    ("an int counts as float64",  lambda x: x / 2, 3, 0.5),
]


def augmented(x):
    y = x
    y *= y
    return y


@pytest.mark.parametrize(("fn", "x", "slope"), [case[1:] for case in DERIVATIVES], ids=[case[0] for case in DERIVATIVES])
@pytest.mark.parametrize("how", [lambda fn, x: grad(fn)(x), lambda fn, x: jvp(fn, (x,), (1.0,))[1], lambda fn, x: derivative(fn)(x),
                                 lambda fn, x: vjp(fn, x)[1](1.0)[0], lambda fn, x: jacobian(fn)(x)],
                         ids=["grad", "jvp", "dual", "vjp", "jacobian"])
def test_every_way_gives_the_derivative_of(how, fn, x, slope):
    assert how(fn, x) == pytest.approx(slope, rel=1e-13)


# ---- arguments and results ------------------------------------------------------------------------------------------

Layer = namedtuple("Layer", "W b")


def test_a_gradient_has_the_structure_the_shapes_and_the_precisions_of_the_argument():
    tree = {"b": Layer(X.astype(np.float32), 2.0), "a": [np.ones(4), None, ()], 3: OrderedDict(z=1.5, y=np.float32(2))}
    slope = grad(lambda t: np.sum(t["b"].W @ t["a"][0]) * t["b"].b * t[3]["y"] + t[3]["z"] ** 2)(tree)
    assert type(slope["b"]) is Layer and slope["a"][1:] == [None, ()] and list(slope[3]) == ["z", "y"]
    assert slope["b"].W.dtype == slope[3]["y"].dtype == np.float32 and slope["b"].b.dtype == slope["a"][0].dtype == np.float64
    assert slope["b"].W.shape == (3, 4) and np.shape(slope["b"].b) == ()
    assert slope[3]["z"] == 3.0 and slope["a"][0] == pytest.approx(4 * X.sum(0), rel=1e-6)


def test_argnums_may_be_negative_or_several():
    product = lambda x, y, z: x * y ** 2 * z ** 3
    assert grad(product, 1)(2.0, 3.0, 4.0) == 768
    assert grad(product, -1)(2.0, 3.0, 4.0) == grad(product, 2)(2.0, 3.0, 4.0) == 864
    assert grad(product, (2, 0))(2.0, 3.0, 4.0) == (864, 576)


def test_other_arguments_and_keywords_go_through_as_they_are():
    seen = []

    def fn(x, labels, *, name, power=1):
        seen.append((labels, name, power))
        return np.sum(x[labels]) ** power

    labels = np.array([0, 0, 2])
    assert grad(fn)(np.arange(3.0), labels, name="n", power=2).tolist() == [8, 0, 4]
    assert seen[0][0] is labels and seen[0][1:] == ("n", 2)


def test_an_auxiliary_output_comes_back_as_plain_arrays():
    fn = lambda x: (np.sum(x * x), {"doubled": 2 * x, "text": "ok"})
    slope, aux = grad(fn, has_aux=True)(np.arange(3.0))
    (value, same), _ = value_and_grad(fn, has_aux=True)(np.arange(3.0))
    assert slope.tolist() == aux["doubled"].tolist() == same["doubled"].tolist() == [0, 2, 4]
    assert type(aux["doubled"]) is np.ndarray and aux["text"] == "ok" and value == 5
    assert vjp(fn, np.arange(3.0), has_aux=True)[2]["text"] == jvp(fn, (np.ones(3),), (np.ones(3),), has_aux=True)[2]["text"] == "ok"


def test_value_and_grad_calls_the_function_once():
    calls = []
    value, slope = value_and_grad(lambda x: calls.append(1) or x ** 3)(2.0)
    assert (value, slope, len(calls)) == (8, 12, 1)


def test_pull_may_be_called_many_times_and_later_writes_do_not_matter():
    x, data = np.arange(3.0), np.ones(3)
    out, pull = vjp(lambda x: x * x * data, x)
    x[:], data[:] = 7.0, 7.0
    assert pull(np.ones(3))[0].tolist() == pull(np.ones(3))[0].tolist() == [0, 2, 4]


def test_a_constant_that_the_function_overwrites_counts_as_it_was():
    def fn(x):
        total, buffer = 0.0, np.zeros(3)
        for k in range(1, 4):
            buffer[:] = k
            total = total + np.sum(x * buffer)
        return total
    assert grad(fn)(np.ones(3)).tolist() == [6, 6, 6]


def test_whole_numbers_and_masks_of_the_path_index_plain_arrays():
    table, x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([-1.0, 3.0, 2.0])
    fn = lambda x: np.sum(table[x > 0] * x[1:, None]) + np.sum(table[np.argsort(x)] * x[:, None]) + float(np.sum(x > 0)) * x[0]
    assert grad(fn)(x).tolist() == [3 + 2, 7 + 11, 11 + 7]


def test_where_the_least_of_unsigned_numbers_is():
    assert grad(lambda x: x[np.argmin((x > 0).astype(np.uint8))] * 3)(np.array([1.0, -1.0])).tolist() == [0, 3]


def test_deltas_share_no_buffer():
    dx, dy = grad(lambda x, y: np.sum(x + y) + 3 * np.sum(x), (0, 1))(np.ones(2), np.ones(2))
    assert (dx.tolist(), dy.tolist()) == ([4, 4], [1, 1])


def test_a_sparse_matrix_of_the_closure_is_a_constant():
    a = scipy.sparse.csr_array(np.array([[0.0, 2.0], [3.0, 0.0], [0.0, 5.0]]))
    assert grad(lambda w: np.sum(f.dot(a, w)))(np.ones(2)).tolist() == [3, 7]


def test_a_result_that_is_a_tree_has_its_tangents_and_its_cotangents_as_trees():
    fn = lambda x: {"square": x * x, "sum": [np.sum(x), x, 4.0]}
    out, slope = jvp(fn, (np.arange(3.0),), (np.ones(3),))
    assert out["sum"][0] == 3 and slope["square"].tolist() == [0, 2, 4] and slope["sum"][0] == 3 and slope["sum"][2] == 0
    _, pull = vjp(fn, np.arange(3.0))
    assert pull({"square": np.ones(3), "sum": [1.0, np.zeros(3), 1.0]})[0].tolist() == [1, 3, 5]


def test_numpys_warnings_are_off_and_what_is_infinite_stands():
    assert grad(lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)))(np.array([0.0, 2.0])).tolist() == [0, 0.5]
    assert grad(np.sqrt)(0.0) == np.inf


def test_an_empty_array_has_an_empty_gradient():
    assert grad(np.sum)(np.zeros((0, 3))).shape == (0, 3)


# ---- laws -----------------------------------------------------------------------------------------------------------

FUNCTIONS = [
    lambda x, y: np.tanh(x @ y) @ x,
    lambda x, y: (x[::-1] / (2.0 + y * y)).cumsum(0),
    lambda x, y: np.linalg.solve(x @ x.T + np.eye(3), y[:, :1]),
    lambda x, y: np.sort(x * y, axis=None)[::2],
    lambda x, y: np.concatenate([x, y]).std(axis=0),
    lambda x, y: np.where(x > y, x * y, np.exp(x)),
    lambda x, y: np.stack([row * y[i % 3] for i, row in enumerate(x)]),
    lambda x, y: np.einsum("ij,kj->ik", x, y),
]


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_the_modes_are_transposes_of_each_other(fn):
    x, y, s, t = R.normal(size=(4, 3, 3))
    out, pull = vjp(fn, x, y)
    same, pushed = jvp(fn, (x, y), (s, t))
    u = R.normal(size=out.shape)
    dx, dy = pull(u)
    np.testing.assert_array_equal(out, same)
    assert np.sum(u * pushed) == pytest.approx(np.sum(dx * s) + np.sum(dy * t), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_a_hessian_vector_product_is_the_hessian_by_the_vector(fn):
    x, y, v, w = R.normal(size=(4, 3, 3)) + 0.1
    loss = lambda x, y: np.sum(fn(x, y) ** 2)
    full = hessian(loss, (0, 1))(x, y)
    parts = hvp(loss, (x, y), (v, w), (0, 1))
    for k in range(2):
        expected = np.tensordot(full[k][0], v) + np.tensordot(full[k][1], w)
        np.testing.assert_allclose(parts[k], expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(full[0][1], np.moveaxis(full[1][0], (0, 1), (2, 3)), rtol=1e-9, atol=1e-9)


# ---- derivatives of derivatives -------------------------------------------------------------------------------------

def test_the_third_derivative_of_x_exp_x_is_right_in_every_mixture_of_modes():
    fn, slopes = lambda x: x * np.exp(x), (grad, derivative, jacobian, lambda g: lambda x: jvp(g, (x,), (1.0,))[1],
                                           lambda g: lambda x: vjp(g, x)[1](1.0)[0])
    for first in slopes:
        for second in slopes:
            for third in slopes:
                assert first(second(third(fn)))(1.0) == pytest.approx(4 * np.e, rel=1e-13)


@pytest.mark.parametrize("outer", [grad, derivative, jacobian])
@pytest.mark.parametrize("inner", [grad, derivative, jacobian])
def test_perturbations_are_not_confused(outer, inner):
    assert outer(lambda x: x * inner(lambda y: x + y)(1.0))(1.0) == 1.0
    assert outer(lambda x: x * inner(lambda y: x * y * y)(2.0))(3.0) == 24.0
    assert outer(lambda x: inner(lambda y: x * y)(x))(3.0) == 1.0


def test_newtons_method_is_differentiated_twice():
    assert grad(grad(newton))(2.0) == pytest.approx(-0.25 * 2 ** -1.5, rel=1e-12)


def test_a_function_may_take_gradient_steps():
    data = np.array([1.0, 2.0, 4.0])

    def trained(rate):
        w = np.zeros(3)
        for _ in range(3):
            w = w - rate * grad(lambda w: 0.5 * np.sum((w - data) ** 2))(w)
        return np.sum((w - data) ** 2)

    assert grad(trained)(0.1) == pytest.approx(-6 * 0.9 ** 5 * 21, rel=1e-12)


def test_a_dual_number_goes_through_grad():
    slope = grad(lambda x: x ** 3)(Dual(2.0, 1.0))
    assert (slope.value, slope.tangent) == (12, 12)


def test_the_third_derivative_of_a_network_is_that_of_jax():
    jax = jax_in_double()
    W, V = R.normal(size=(4, 5)), R.normal(size=5)
    network = lambda np: lambda x: np.sum(np.tanh(x @ W) * V) ** 2
    third = jacobian(hessian(network(np)))(X[0])
    np.testing.assert_allclose(third, at_once(jax.jacobian(jax.hessian(network(jax.numpy))), X[0]), rtol=1e-10, atol=1e-10)


def test_a_tracer_of_an_outer_call_may_be_kept_while_that_call_lasts():
    def outer(x):
        kept = []
        inner = grad(lambda y: (kept.append(x * 2.0), y * x)[1])(3.0)
        return inner * kept[0]
    assert grad(outer)(5.0) == 20.0


def test_a_tracer_of_an_inner_call_that_leaks_to_the_outer_is_refused():
    def outer(x):
        kept = []
        grad(lambda y: (kept.append(y), y * x)[1])(3.0)
        return x * kept[0]
    with pytest.raises(XManError, match="a call that has ended"):
        grad(outer)(5.0)


def test_an_output_given_twice_has_the_sum_of_its_cotangents():
    def twice(x):
        y = x * x
        return y, y
    assert vjp(twice, 3.0)[1]((1.0, 10.0)) == (66.0,)


def test_a_tangent_of_as_many_entries_in_another_shape_is_refused():
    import pytest

    from xman import XManError
    with pytest.raises(XManError, match=r"shape \(3, 1\) where primals has float64 of shape \(1, 3\)"):
        jvp(np.sum, (np.ones((1, 3)),), (np.ones((3, 1)),))


def test_what_the_result_does_not_depend_on_has_zeros_in_its_precision():
    assert grad(lambda x, y: x * x, 1)(1.0, np.ones(2, np.float32)).dtype == np.float32


def test_a_gradient_within_a_call_has_the_precision_of_its_argument():
    double = np.arange(3.0)
    inner = grad(lambda x: np.sum(x ** 3 * double))
    assert vjp(inner, np.ones(3, np.float32))[0].dtype == inner(np.ones(3, np.float32)).dtype == np.float32
