"""NumPy's Fourier transforms, in terms of the four operators of one length: fft, ifft, rfft and irfft."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ops import f
from ops.arrays.fourier import dual

from ..traced.dispatch import with_shape


def resized(a: Any, n: int | None, axis: int) -> Any:
    """a, cut or filled up with zeros to n along axis."""
    length = a.shape[axis]
    if n is None or n == length:
        return a
    axis %= a.ndim
    if n < length:
        return a[(*(slice(None),) * axis, slice(n))]
    return f.pad(a, tuple((0, (n - length) * (k == axis)) for k in range(a.ndim)))


def of_real(a: Any, n: Any, axis: int, norm: tuple) -> Any:
    n = a.shape[axis] if n is None else n
    return f.rfft(resized(a, n, axis), n, axis % a.ndim - a.ndim, norm)


def to_real(a: Any, n: Any, axis: int, norm: tuple) -> Any:
    n = 2 * (a.shape[axis] - 1) if n is None else n
    return f.irfft(resized(a, n // 2 + 1, axis), n, axis % a.ndim - a.ndim, norm)


def one_axis(transform: Callable) -> Callable:
    """NumPy's function of an array, a length, an axis and a norm."""
    return lambda a, n=None, axis=-1, norm=None: transform(with_shape(a), n, axis, (norm or "backward",))


def several_axes(first: Callable, axes: Any = None, last: Any = None, inverse: bool = False) -> Callable:
    """NumPy's function of an array, lengths, axes and a norm. first: the transform along all axes, but the
    last one where `last` is given: that comes before the others, or after them for the inverse."""
    def transform(a, s=None, axes=axes, norm=None):
        a, norm = with_shape(a), (norm or "backward",)
        axes = range(a.ndim)[-len(s) if s is not None else 0:] if axes is None else axes
        pairs = zip(s or [None] * len(axes), axes, strict=True)
        lengths = [a.shape[axis] if n in (None, -1) else n for n, axis in pairs]
        if inverse and (s is None or s[-1] == -1):
            lengths[-1] = 2 * (lengths[-1] - 1)
        steps = [(first, n, axis) for n, axis in zip(lengths, axes, strict=True)]
        if last:
            steps[-1] = last, *steps[-1][1:]
        for function, n, axis in steps if inverse else steps[::-1]:
            a = function(a, n, axis, norm)
        return a
    return transform


def to_frequencies(a: Any, n: Any, axis: int, norm: tuple) -> Any:
    return f.fft(resized(a, n, axis), axis, norm)


def from_frequencies(a: Any, n: Any, axis: int, norm: tuple) -> Any:
    return f.ifft(resized(a, n, axis), axis, norm)


TRANSFORMS = {
    np.fft.fft:    one_axis(to_frequencies),
    np.fft.ifft:   one_axis(from_frequencies),
    np.fft.rfft:   one_axis(of_real),
    np.fft.irfft:  one_axis(to_real),
    np.fft.hfft:   one_axis(lambda a, n, axis, norm: to_real(np.conj(a), n, axis, dual(norm))),
    np.fft.ihfft:  one_axis(lambda a, n, axis, norm: np.conj(of_real(a, n, axis, dual(norm)))),
    np.fft.fftn:   several_axes(to_frequencies),
    np.fft.ifftn:  several_axes(from_frequencies),
    np.fft.rfftn:  several_axes(to_frequencies, last=of_real),
    np.fft.irfftn: several_axes(from_frequencies, last=to_real, inverse=True),
    np.fft.fft2:   several_axes(to_frequencies, (-2, -1)),
    np.fft.ifft2:  several_axes(from_frequencies, (-2, -1)),
    np.fft.rfft2:  several_axes(to_frequencies, (-2, -1), of_real),
    np.fft.irfft2: several_axes(from_frequencies, (-2, -1), to_real, True),
}
