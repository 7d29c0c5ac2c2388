"""scipy.signal with convolutions that also take traced values: convolve, fftconvolve, convolve2d, correlate …

A convolution of arrays is one of vectors. Each array is filled up with zeros to the widths of the result and
laid out as a vector; a step along any axis is then the same shift for both, so places add up as they should.
"""
from __future__ import annotations

import math
from typing import Any

from ops import f

from ..errors import refuse_unknown
from ..traced.dispatch import with_shape
from ..traced.refusals import SCIPY, refuse
from . import module_like


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    refuse_unknown([mode], ("full", "same", "valid"), "a convolution has no mode {!r}")
    a, b = with_shape(in1), with_shape(in2)
    if len(a.shape) != len(b.shape):
        refuse(f"arrays of {len(a.shape)} and {len(b.shape)} axes have no convolution", "give both as many")
    if 0 in (*a.shape, *b.shape):
        refuse("an array without entries has no convolution", "give both some")
    pairs = [*zip(a.shape, b.shape, strict=True)]
    if mode == "valid" and all(m <= n for m, n in pairs):
        a, b = b, a
    elif mode == "valid" and not all(m >= n for m, n in pairs):
        refuse("neither array covers the other in every axis", "one of them has to, for mode='valid'")
    widths = [m + n - 1 for m, n in pairs]
    flat = [f.reshape(f.pad(x, tuple((0, w - n) for n, w in zip(x.shape, widths, strict=True))), (-1,))
            if widths else f.reshape(x, (1,)) for x in (a, b)]
    full = f.reshape(f.convolve(*flat)[:math.prod(widths)], tuple(widths))
    if mode == "full":
        return full
    sizes = [m if mode == "same" else m - n + 1 for m, n in zip(a.shape, b.shape, strict=True)]
    starts = [(w - size) // 2 for w, size in zip(widths, sizes, strict=True)]
    return full[tuple(slice(k, k + size) for k, size in zip(starts, sizes, strict=True))]


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    return convolve(in1, f.flip(with_shape(in2)), mode)


def correlate_images(in1: Any, in2: Any, mode: str) -> Any:
    """As `correlate`; but where in2 has an even width, its middle is the place after the middle."""
    if mode != "same":
        return correlate(in1, in2, mode)
    sizes = with_shape(in1).shape
    starts = [n // 2 for n in with_shape(in2).shape]
    return correlate(in1, in2)[tuple(slice(k, k + size) for k, size in zip(starts, sizes, strict=True))]


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    if axes is not None:
        refuse("scipy.signal.fftconvolve along some axes has no derivative here", "leave axes out")
    return convolve(in1, in2, mode)


def of_images(function: Any) -> Any:
    """SciPy's function of two axes, which may fill up with other numbers than zeros."""
    def on_images(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
        if boundary not in ("fill", "pad") or fillvalue != 0:
            refuse("at its rim a convolution has no derivative here but with zeros", "pad in1 with np.pad")
        if axes := {len(with_shape(x).shape) for x in (in1, in2)} - {2}:
            refuse(f"an image has two axes, not {max(axes)}", "reshape it, or use convolve or correlate")
        return function(in1, in2, mode)
    return on_images


SIGNAL = SCIPY["scipy.signal"] = {
    "convolve": convolve, "correlate": correlate, "fftconvolve": fftconvolve, "oaconvolve": fftconvolve,
    "convolve2d": of_images(convolve), "correlate2d": of_images(correlate_images)}
__getattr__, __dir__ = module_like("scipy.signal", SIGNAL)
