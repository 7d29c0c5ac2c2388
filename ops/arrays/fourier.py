"""Parts of complex numbers, and Fourier transforms.

The derivative of a real u by z = x + iy is ∂u/∂x − i ∂u/∂y: an adjoint d of z says that u moves by Re(d dz).
So rules are transposed and not conjugated, and those of holomorphic operators are those for real numbers.
"""
from __future__ import annotations

import math

import numpy as np

from ..expression import f
from ..table import expressed, linear, operator

PLAIN = ("backward",)  # the norm of NumPy's transforms


def slope_of_angle(z):
    """s of d angle = Re(s dz), −i/z; 0 at 0."""
    size = f.modulus(z)
    return f.ratio(f.ratio(-1j * f.conj(z), size), size)


def transform_by(one_axis, axes_together):
    """NumPy's transform along one axis, or along several."""
    def transform(x, axes=-1, norm=PLAIN):
        if axes is None or isinstance(axes, tuple):
            return axes_together(x, axes=axes, norm=norm[0])
        return one_axis(x, axis=axes, norm=norm[0])
    return transform


def transform_length(x, n, axis):
    """n itself. ValueError where x is not as long along axis, or the axis does not count from the end."""
    if axis >= 0:
        raise ValueError(f"the axis of a transform of real numbers counts from the end, and found {axis}")
    if np.shape(x)[axis] != n:
        raise ValueError(f"a transform of {n} numbers found {np.shape(x)[axis]} along axis {axis}")
    return n


def counts(n, axis):
    """How often each of the n // 2 + 1 frequencies is among all n, along axis, a negative one."""
    weights = np.full(n // 2 + 1, 2.0, np.float32)  # exact, and beside float32 no double
    weights[0] = weights[-1 if n % 2 == 0 else 0] = 1.0
    return weights.reshape(-1, *(1,) * (-axis - 1))


def flops_of_transform(out, *_):
    """5 n log₂ n of complex numbers, as benchmarks of transforms count them."""
    return round(5 * out.size * math.log2(max(out.size, 2)))


def dual(norm):
    """The norm with which the transform in the other direction has this one's factor."""
    return {"backward": ("forward",), "forward": ("backward",)}.get(norm[0], norm)


def rfft(x, n, axis=-1, norm=PLAIN):
    """The first n // 2 + 1 entries of fft of n real numbers along axis, a negative one."""
    return np.fft.rfft(x, transform_length(x, n, axis), axis, norm[0])


def irfft(z, n, axis=-1, norm=PLAIN):
    """The n real numbers along axis, a negative one, whose rfft is z."""
    return np.fft.irfft(z, 2 * transform_length(z, n // 2 + 1, axis) - 2 + n % 2, axis, norm[0])


# the values that are one expression, and what they are
real    = expressed(lambda z: np.real(z),  "The real part of z.")
imag    = expressed(lambda z: np.imag(z),  "The imaginary part of z.")
conj    = expressed(lambda z: np.conj(z),  "x − iy for z = x + iy.")
modulus = expressed(lambda z: np.abs(z),   "|z|. At 0 its derivative is 0.")
squared_modulus = expressed(lambda z: np.real(z) ** 2 + np.imag(z) ** 2, "|z|².")
angle   = expressed(lambda z: np.angle(z), "The angle of z, from −π to π. At 0 its derivative is 0.")
fft     = expressed(transform_by(np.fft.fft, np.fft.fftn),
                    "Σ_j x_j exp(−2πi jk/n) along an axis, a tuple of axes, or all for None; norm as NumPy's, in a tuple.")
ifft    = expressed(transform_by(np.fft.ifft, np.fft.ifftn), "The inverse of fft.")


def real_of(op, value, slope, **facts):
    """A row for a real function of complex z. slope: s(out, z) of d out = Re(s dz)."""
    operator(op, value, lambda d, out, z: f.unbroadcast(d * slope(out, z), z),
             tangents=[lambda t, out, z: f.real(t * slope(out, z))], complex=True, **facts)


#        op         value    rule
linear(  "real",    real,    lambda d, out, z: f.broadcast(d, z),            flops=0, view=True, complex=True)
linear(  "imag",    imag,    lambda d, out, z: f.unbroadcast(-1j * d, z),    flops=0, view=True, complex=True)
linear(  "conj",    conj,    lambda d, out, z: f.conj(d),                    flops=0, complex=True)
real_of( "modulus", modulus, lambda out, z: f.ratio(f.conj(z), out),         flops=4, tame=True, squared="squared_modulus")
real_of( "squared_modulus", squared_modulus, lambda out, z: 2.0 * f.conj(z), flops=3, tame=True)
real_of( "angle",   angle,   lambda out, z: slope_of_angle(z),               flops=8)
for op, transform in ("fft", fft), ("ifft", ifft):
    back = lambda d, out, x, axes=-1, norm=PLAIN, op=op: f.unbroadcast(getattr(f, op)(d, axes, norm), x)
    linear(op, transform, back, flops=flops_of_transform, gives=complex)
linear(  "rfft",    rfft,    lambda d, out, x, n, axis=-1, norm=PLAIN:
                                 f.unbroadcast(f.irfft(f.conj(d) / counts(n, axis), n, axis, dual(norm)), x),
         None, flops=flops_of_transform, gives=complex)
linear(  "irfft",   irfft,   lambda d, out, z, n, axis=-1, norm=PLAIN:
                                 f.unbroadcast(f.conj(f.rfft(d, n, axis, dual(norm))) * counts(n, axis), z),
         None, flops=flops_of_transform, complex=True)
