"""Derivatives through eigenvectors and singular vectors at equal and zero values: right, or NaN, never wrong."""
import numpy as np
import pytest

from xman import grad, hessian, jit, jvp

R = np.random.default_rng(34)


def low_rank(*shape, rank): return R.normal(size=(*shape[:-1], rank)) @ R.normal(size=(*shape[:-2], rank, shape[-1]))
def symmetric(a): return (a + np.swapaxes(a, -1, -2)) / 2
def turned(values):
    q = np.linalg.qr(R.normal(size=(len(values),) * 2))[0]
    return symmetric(q * values @ q.T)


def rebuilt(a):
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return np.sum(u * s[..., None, :] @ vt * weights(a))


def spectral(function):
    def total(a):
        w, v = np.linalg.eigh(symmetric(a))
        return np.sum(v * function(w)[..., None, :] @ np.swapaxes(v, -1, -2) * weights(a))
    return total


def first_vector(a):
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return np.sum(u[..., :1] @ vt[..., :1, :] * weights(a))


def last_projector(a):
    v = np.linalg.eigh(symmetric(a))[1][..., -1:]
    return np.sum(v @ np.swapaxes(v, -1, -2) * weights(a))


def weights(a): return np.cos(np.arange(1.0, 1 + np.prod(a.shape))).reshape(a.shape)


def slope(fn, a, t, h=1e-5): return (fn(a + h * t) - fn(a - h * t)) / (2 * h)


SMOOTH = [  # functions of the matrix that do not depend on the basis; whether the derivative has to be a number
    *((rebuilt, low_rank(*shape, rank=rank), rank == 1) for rank in (1, 2)
      for shape in ((4, 4), (5, 3), (3, 5), (2, 4, 3))),
    (rebuilt, np.diag([3.0, 2.0, 0.0]), True), (rebuilt, np.eye(3), False), (rebuilt, np.zeros((3, 2)), False),
    (spectral(lambda w: w), symmetric(turned(np.array([0, 0, 1.0, 2]))), False),
    *((spectral(fn), a, False) for fn in (np.log, np.exp, np.square)
      for a in (np.eye(4), turned(np.array([1.0, 1, 2, 3])), turned(np.array([2.0, 2, 2, 5])))),
    (spectral(np.square), np.zeros((3, 3)), False), (spectral(lambda w: w), np.zeros((3, 3)), False),
    (rebuilt, np.zeros((3, 3)), False), (spectral(lambda w: w), np.diag([2.0, 0, 0]), False),
    (last_projector, np.diag([0.0, 0, 0, 2]), True), (last_projector, turned(np.array([1.0, 1, 1, 2])), True),
    (first_vector, np.diag([2.0, 0, 0]), True), (first_vector, np.diag([2.0, 1, 1]), True),
]


@pytest.mark.parametrize("fn, a, known", SMOOTH)
def test_a_gradient_at_equal_values_is_the_difference_quotient_or_nan(fn, a, known):
    t = R.normal(size=a.shape)
    expected = slope(fn, a, t)
    backward, onward = np.sum(grad(fn)(a) * t), jvp(fn, (a,), (t,))[1]
    assert not known or np.isfinite(backward)
    for value in (backward, onward):
        assert np.isnan(value) or abs(value - expected) < 1e-6 * (1 + abs(expected))
    if known or fn is rebuilt:  # these know of no unit
        assert np.isnan(grad(fn)(2.0 ** -40 * a)).any() == np.isnan(backward)


@pytest.mark.parametrize("a", [np.zeros((3, 3)), np.eye(3), np.diag([2.0, 2, 1]), turned(np.array([1.0, 1, 3]))])
def test_a_hessian_at_equal_eigenvalues_is_right_or_nan(a):
    full = hessian(lambda a: np.sum(np.linalg.eigvalsh(symmetric(a)) ** 2))(a)
    along = R.normal(size=(3, 3))
    value = np.einsum("ij,ijkl,kl", along, full, along)
    assert np.isnan(value) or np.isclose(value, 2 * np.sum(symmetric(along) ** 2))


def test_a_compiled_tangent_of_eigenvectors_is_that_of_the_function():
    tangent = lambda a, t: jvp(lambda a: np.linalg.eigh(symmetric(a))[1][:, -1:] * np.linalg.eigvalsh(a), (a,), (t,))[1]
    a, t = turned(np.array([1.0, 2, 4])), symmetric(R.normal(size=(3, 3)))
    np.testing.assert_allclose(jit(tangent, "numpy")(a, t), tangent(a, t), rtol=1e-12)


OF_ONE_VALUE = [  # that has no equal, though others are equal to one another
    lambda a: np.linalg.norm(a, 2), lambda a: np.linalg.svd(a, compute_uv=False)[0],
    lambda a: np.linalg.eigvalsh(a @ a.T)[-1] ** 1.5, lambda a: np.linalg.eigvalsh(a)[-1]]


@pytest.mark.parametrize("fn", OF_ONE_VALUE)
@pytest.mark.parametrize("a", [np.diag([3.0, 1, 1]), turned(np.array([1.0, 1, 1, 4]))])
def test_a_hessian_of_one_value_does_not_ask_about_the_others(fn, a):
    t = symmetric(R.normal(size=a.shape))
    expected = slope(lambda a: np.sum(grad(fn)(a) * t), a, t)
    for full in (hessian(fn)(a), jit(hessian(fn))(a)):
        np.testing.assert_allclose(np.einsum("ij,ijkl,kl", t, full, t), expected, rtol=1e-6)


def test_a_hessian_of_the_eigenvalues_of_a_complex_matrix_is_the_difference_quotient():
    b = np.array([[2, 1j, .3], [-1j, 3, .1 + .2j], [.3, .1 - .2j, 1]])
    for fn in (lambda x: np.sum(np.linalg.eigvalsh(b * x[0] + np.diag([1.0, 2, 3]) * x[1]) ** 2),
               lambda x: np.linalg.eigvalsh(b * x[0] + np.diag([1.0, 2, 3]) * x[1])[-1]):
        x, h = np.array([1.0, 2]), 1e-5
        expected = [(grad(fn)(x + e) - grad(fn)(x - e)) / (2 * h) for e in h * np.eye(2)]
        np.testing.assert_allclose(hessian(fn)(x), expected, rtol=1e-6, atol=1e-7)
