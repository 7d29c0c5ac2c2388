"""scipy.signal's convolutions of traced values are SciPy's, in every mode, and have the derivatives of their formula."""
import numpy as np
import pytest
import scipy.signal

from xman import XManError, grad, jit, vjp
from xman.scipy import signal

R = np.random.default_rng(3)
SHAPES = [((5,), (3,)), ((3,), (5,)), ((4,), (4,)), ((4, 5), (2, 3)), ((2, 3), (4, 5)), ((4, 2), (2, 3)), ((1, 1), (1, 1)),
          ((3, 4, 2), (2, 2, 2)), ((), ())]


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", sorted(signal.SIGNAL))
def test_values_are_those_of_scipy(name, mode):
    for shapes in SHAPES:
        if "2d" in name and len(shapes[0]) != 2:
            continue
        a, b = (R.normal(size=shape) for shape in shapes)
        try:
            value = getattr(scipy.signal, name)(a, b, mode)
        except ValueError:
            with pytest.raises(XManError, match="covers the other in every axis"):
                vjp(lambda a: getattr(signal, name)(a, b, mode), a)  # noqa: B023
            continue
        traced = vjp(lambda a: getattr(signal, name)(a, b, mode), a)[0]  # noqa: B023
        assert np.shape(traced) == np.shape(value)
        np.testing.assert_allclose(traced, value, atol=1e-13)


def test_the_gradient_is_that_of_the_sums():
    a, b, w = R.normal(size=(4, 5)), R.normal(size=(2, 3)), R.normal(size=(4, 5))
    loss = lambda a, b: np.sum(w * signal.convolve(a, b, "same") ** 2)
    by_a, by_b = grad(loss, (0, 1))(a, b)
    for x, slope, at in (a, by_a, lambda x: loss(x, b)), (b, by_b, lambda x: loss(a, x)):
        units = np.eye(x.size).reshape(-1, *x.shape)
        quotients = [(at(x + 1e-6 * e) - at(x - 1e-6 * e)) / 2e-6 for e in units]
        np.testing.assert_allclose(slope.ravel(), quotients, rtol=1e-7)
    np.testing.assert_allclose(jit(grad(loss), "numpy")(a, b), by_a, rtol=1e-12)


def test_what_is_not_there_is_refused_and_scipys_own_names_ours():
    a = R.normal(size=(3, 3))
    for call, sentence in [(lambda x: signal.convolve2d(x, a, boundary="wrap"), "pad in1 with np.pad"),
                           (lambda x: signal.correlate2d(x[0], a[0]), "an image has two axes, not 1"),
                           (lambda x: signal.fftconvolve(x, a, axes=0), "leave axes out"),
                           (lambda x: signal.convolve(x, a[:0]), "without entries"),
                           (lambda x: signal.convolve(x, a[0]), "2 and 1 axes"),
                           (lambda x: signal.convolve(x, a, "best"), "no mode 'best'; there are full, same, valid"),
                           (lambda x: scipy.signal.convolve(x, a), "from xman.scipy import signal")]:
        with pytest.raises(XManError, match=sentence):
            vjp(call, a)
    assert signal.convolve2d(a, a, boundary="wrap").shape == (5, 5) and signal.hilbert is scipy.signal.hilbert
