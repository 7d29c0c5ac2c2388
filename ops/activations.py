"""The activations of neural networks. None of them overflows; each keeps the precision of its argument."""
from __future__ import annotations

import math

import numpy as np

from .derived import limited
from .expression import f
from .functions import scipy_special
from .reductions import real
from .table import elementwise, operator


def relu(x):
    """max(x, 0). At 0 the derivative is 0."""
    return np.maximum(x, 0)


def leakyRelu(x, slope=0.01):
    """x where positive, slope·x elsewhere, at 0 too."""
    return np.where(np.greater(x, 0), x, slope * x)[()]


def elu(x, alpha=1.0):
    """x where positive, alpha·(eˣ − 1) elsewhere (Clevert et al. 2016)."""
    return np.where(np.greater(x, 0), x, alpha * np.expm1(np.minimum(x, 0)))[()]


def softplus(x):
    """log(1 + eˣ)."""
    return np.logaddexp(0, x)


def logSigmoid(x):
    """log(1 / (1 + e⁻ˣ))."""
    return np.negative(np.logaddexp(0, np.negative(x)))


def silu(x):
    """x · sigmoid(x) (Elfwing et al. 2018)."""
    return x * f.sigmoid(x)


def gelu(x):
    """x · Φ(x), Φ the normal distribution function, exactly (Hendrycks and Gimpel 2016)."""
    return x * normal(x)


def normal(x):
    return f.half(1.0 + f.erf(x * math.sqrt(0.5)))


def density(x):
    return f.exp(-f.half(x * x)) * (1.0 / math.sqrt(2.0 * math.pi))


def softmax(x, axis=-1):
    """exp(x) / Σ exp(x) over axis: probabilities (the notes §1.2, whose denominator sums e^a_i over i)."""
    x = real(x)
    e = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf))
    return e / np.add.reduce(e, axis=axis, keepdims=True)


def logSoftmax(x, axis=-1):
    """log softmax(x), finite where softmax itself underflows."""
    x = real(x)
    x = x - np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)
    return x - np.log(np.add.reduce(np.exp(x), axis=axis, keepdims=True))


def softmax_of_entries(x, axis=-1):
    e = f.exp(x - f.max(x, axis, True))
    return e / f.sum(e, axis, True)


def logSoftmax_of_entries(x, axis=-1):
    x = x - f.max(x, axis, True)
    return x - f.log(f.sum(f.exp(x), axis, True))


def through_softmax(d, out, x, axis=-1):
    return out * (d - f.sum(d * out, axis, True))


#            op            value       rule
elementwise("sigmoid",     scipy_special("expit", "1 / (1 + e⁻ˣ)."), limited(lambda d, out, x: d * (out * (1.0 - out))))
elementwise("logSigmoid",  logSigmoid, limited(lambda d, out, x: d * f.sigmoid(-x)), flops=3, formula=logSigmoid)
elementwise("relu",        relu,       lambda d, out, x: f.scale(x > 0, d),             formula=relu)
elementwise("leakyRelu",   leakyRelu,  lambda d, out, x, slope=0.01: f.where(x > 0, d, slope * d),
                                       lambda d, out, x, slope=0.01: d * f.minimum(x, 0),
            flops=2, formula=leakyRelu)
elementwise("elu",         elu,        lambda d, out, x, alpha=1.0: f.where(x > 0, d, d * (out + alpha)),
                                       lambda d, out, x, alpha=1.0: d * f.expm1(f.minimum(x, 0)),
            flops=3, formula=elu)
elementwise("softplus",    softplus,   limited(lambda d, out, x: d * f.sigmoid(x)), flops=3, formula=softplus)
elementwise("silu",        silu,       lambda d, out, x: d * (f.sigmoid(x) * (1.0 + (x - out))),
            flops=2, formula=silu)
elementwise("gelu",        gelu,       lambda d, out, x: d * (normal(x) + x * density(x)),
            flops=5, formula=gelu)
operator(   "softmax",     softmax,    through_softmax, None,  # symmetric, so its own tangent
            tangents=[through_softmax, None], flops=5, formula=softmax_of_entries)
operator(   "logSoftmax",  logSoftmax, lambda d, out, x, axis=-1: d - f.exp(out) * f.sum(d, axis, True), None,
            tangents=[lambda t, out, x, axis=-1: t - f.sum(f.exp(out) * t, axis, True), None],
            flops=5, formula=logSoftmax_of_entries)
