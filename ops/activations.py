"""Activations and losses. No activation overflows; each keeps the precision of its argument.

The target y of a loss is an array like the prediction, or integer labels: one class number for each row.
Losses over classes (crossEntropy, softmaxCrossEntropy, hinge) sum over the last axis and keep it: (n, k)
gives (n, 1). Other losses work entry by entry. No loss averages over the rows: write mean(...).
"""
from __future__ import annotations

import math

import numpy as np

from .expression import f
from .facts import of_input
from .functions import scipy_special
from .kinks import branch, only, scale
from .reductions import floats_of, gathered
from .silence import silent
from .table import elementwise, expressed, linear, operator


def normal(x): return f.half(1.0 + f.erf(x * math.sqrt(0.5)))
def density(x): return f.exp(-f.half(x * x)) * (1.0 / math.sqrt(2.0 * math.pi))


def softmax(x, axis=-1):
    """exp(x) / Σ exp(x) over axis: probabilities (the notes §1.2, whose denominator sums e^a_i over i)."""
    x = floats_of(x)
    e = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf))
    return e / np.add.reduce(e, axis=axis, keepdims=True)


def logSoftmax(x, axis=-1):
    """log softmax(x), finite where softmax itself underflows."""
    x = floats_of(x)
    x = x - np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)
    return x - np.log(np.add.reduce(np.exp(x), axis=axis, keepdims=True))


def softmax_of_entries(x, axis=-1):
    e = f.exp(x - f.max(x, axis, True))
    return e / f.sum(e, axis, True)


def log_softmax_of_entries(x, axis=-1):
    x = x - f.max(x, axis, True)
    return x - f.log(f.sum(f.exp(x), axis, True))


def through_softmax(d, out, x, axis=-1):
    return out * (d - f.sum(d * out, axis, True))


def softmax_curvature(through, k, d, p, x, axis=-1):
    """From ∂p_k/∂x_l = p_k (δ_kl − p_l), whose derivative by x_l is 1 − 2 p_l times it. See `gathered`."""
    total = lambda a: np.sum(a, axis, keepdims=True)
    return p ** 2 * (k * (1 - 2 * p) + total(k * p ** 2)) + p * (1 - 2 * p) * (d - total(d * p))


def log_softmax_curvature(through, k, d, out, x, axis=-1):
    """From ∂out_k/∂x_l = δ_kl − p_l, whose derivative by x_l is −p_l (1 − p_l)."""
    p, total = np.exp(out), lambda a: np.sum(a, axis, keepdims=True)
    return k * (1 - 2 * p) + p ** 2 * total(k) - p * (1 - p) * total(d)


def leakyRelu(x, slope=0.01):
    """x where positive, slope·x elsewhere, at 0 too."""
    return np.where(np.greater(x, 0), x, slope * x)[()]


def elu(x, alpha=1.0):
    """x where positive, alpha·(eˣ − 1) elsewhere (Clevert et al. 2016)."""
    return np.where(np.greater(x, 0), x, alpha * np.expm1(np.minimum(x, 0)))[()]


def gelu(x):
    """x · Φ(x), Φ the normal distribution function, exactly (Hendrycks and Gimpel 2016)."""
    return x * normal(x)


# the values that are one expression, and what they are
relu       = expressed(lambda x: np.maximum(x, 0),   "max(x, 0). At 0 the derivative is 0.")
softplus   = expressed(lambda x: np.logaddexp(0, x), "log(1 + eˣ).")
logSigmoid = expressed(lambda x: np.negative(np.logaddexp(0, np.negative(x))), "log(1 / (1 + e⁻ˣ)).")
silu       = expressed(lambda x: x * f.sigmoid(x),   "x · sigmoid(x) (Elfwing et al. 2018).")

def activation(op, value, *slopes, **facts):
    """A row whose value is written in the language, and whose slopes are finite."""
    elementwise(op, value, *slopes, **{"formula": value, "tame": True} | facts)


#            op            value       slope
elementwise("sigmoid",     scipy_special("expit", "1 / (1 + e⁻ˣ)."), lambda out, x: out * (1.0 - out),
            tame=True, settles=0, elsewhere=lambda x: 1.0 / (1.0 + f.exp(-x)))
activation( "logSigmoid",  logSigmoid, lambda out, x: f.sigmoid(-x), flops=3, settles=0)
activation( "relu",        relu,       lambda out, x: only(x > 0), flow="chosen")
activation( "leakyRelu",   leakyRelu,  lambda out, x, slope=0.01: branch(x > 0, 1, slope),
                                       lambda out, x, slope: f.minimum(x, 0), flops=2)
activation( "elu",         elu,        lambda out, x, alpha=1.0: branch(x > 0, 1, out + alpha),
                                       lambda out, x, alpha: f.expm1(f.minimum(x, 0)), flops=3)
activation( "softplus",    softplus,   lambda out, x: f.sigmoid(x), flops=3, settles=0, convex=True)
activation( "silu",        silu,       lambda out, x: f.sigmoid(x) * (1.0 + (x - out)), flops=2)
activation( "gelu",        gelu,       lambda out, x: normal(x) + x * density(x), flops=5)
operator(   "softmax",     softmax,    through_softmax,  # symmetric, so its own tangent
            tangents=[through_softmax], flops=5, formula=softmax_of_entries, tame=True, within=True,
            curvature=softmax_curvature, reads="line")
operator(   "logSoftmax",  logSoftmax, lambda d, out, x, axis=-1: d - f.exp(out) * f.sum(d, axis, True),
            tangents=[lambda t, out, x, axis=-1: t - f.sum(f.exp(out) * t, axis, True)],
            flops=5, formula=log_softmax_of_entries, tame=True, within=True, curvature=log_softmax_curvature, reads="line")


# ---- losses ------------------------------------------------------------------------------------------------

def oneHot(y, like):
    """The target in the shape of predictions `like`: integer labels become rows of zeros with a single one.

    y: floats of a shape that broadcasts to like's stay as they are, and so do integers (or booleans) of
    like's shape; other integers are one label in 0 … k−1 for each row of like (..., k), or numbers if like is
    a single column (n, 1). ValueError for any other shape, for labels out of range and for rows that do not
    match.
    """
    y, shape = np.asarray(y, np.result_type(y, like) if type(y) is float else None), np.shape(like)
    if y.shape == shape and y.dtype.kind == "f":
        return y
    dtype = getattr(like, "dtype", np.dtype(float))
    if y.dtype.kind == "f" or y.shape == shape:
        pairs = zip(y.shape[::-1], shape[::-1], strict=False)
        if y.ndim > len(shape) or any(n not in (1, m) for n, m in pairs):
            raise ValueError(f"targets of shape {y.shape} do not fit predictions of shape {shape}; labels "
                             "are integers")
        return y if y.dtype.kind == "f" else y.astype(dtype)
    rows = shape[:-1]
    if not shape or y.shape not in (rows, (*rows, 1)):
        raise ValueError(f"integer labels of shape {y.shape} do not fit predictions of shape {shape}; wanted "
                         f"{rows}")
    y = y.reshape(*rows, 1)
    if shape[-1] == 1:
        return y.astype(dtype)
    if y.size and not 0 <= y.min() <= y.max() < shape[-1]:
        bad = y.min() if y.min() < 0 else y.max()
        raise ValueError(f"label {bad} is not one of the {shape[-1]} classes 0 … {shape[-1] - 1}")
    return (y == np.arange(shape[-1])).astype(dtype)


def one_hot_of_entries(y, like):
    y = np.asarray(y) if not hasattr(y, "dtype") else y
    dtype, shape = (np.dtype(getattr(like, "dtype", float)).name,), np.shape(like)
    if y.dtype.kind == "f" or np.shape(y) == shape:
        return y if y.dtype.kind == "f" else f.astype(y, dtype)
    y = f.reshape(y, (*shape[:-1], 1))
    return f.astype(y if shape[-1] == 1 else f.equal(y, np.arange(shape[-1])), dtype)


@silent
def crossEntropy(p, y):
    """−Σ y log p over the last axis, which stays: (n, k) gives (n, 1). 0 log 0 is 0.

    p: probabilities (..., k) in [0, 1]; y: probabilities of the same shape, or integer labels.
    Cohen, Automatic Reverse-Mode Differentiation, §1.2, prints −Σ a log b and calls it with (prediction,
    target), which would take the logarithm of the target, but means the logarithm of the prediction.
    """
    return -weighted_sum(oneHot(y, p), np.log(p))


@silent
def softmaxCrossEntropy(z, y):
    """crossEntropy(softmax(z), y) from the logits z (..., k), without overflow: (n, k) gives (n, 1)."""
    return -weighted_sum(oneHot(y, z), logSoftmax(z))


def softmax_cross_entropy_curvature(d, out, slope, z, y):
    p = softmax(z)
    return d * f.sum(f.oneHot(y, z), -1, True) * p * (1 - p)


def weighted_sum(y, x):
    """Σ y x over the last axis, which stays; 0 · ∞ is 0."""
    if y.shape[-1:] != x.shape[-1:]:
        raise ValueError(f"a target of floats, of shape {y.shape}, does not have the {x.shape[-1]} classes "
                         "of the prediction; labels are integers")
    if y.shape == x.shape:
        rows = np.vecdot(y, x)[..., None]
        total = np.add.reduce(rows, axis=None)
        if total == total:  # without NaN there is nothing to mend
            return rows
    return np.add.reduce(scale(y, x), axis=-1, keepdims=True)


def sigmoidCrossEntropy(z, y):
    """−y log σ(z) − (1−y) log(1−σ(z)) from the logits z, entry by entry (Bishop, Deep Learning, §8.1.6)."""
    y = f.oneHot(y, z)
    # not softplus(z) − y z, which is NaN for an infinite z
    return f.scale(y, f.softplus(-z)) + f.scale(1 - y, f.softplus(z))


def squaredError(x, v):
    """½ (x − v)², entry by entry (Reps, Automatic Differentiation and Backpropagation, §6)."""
    return f.half(f.square(x - f.oneHot(v, x)))


def hinge(z, y):
    """Σ max(0, 1 + z_j − z_y) over j ≠ y: (n, k) gives (n, 1) (Weston and Watkins 1999)."""
    target = f.oneHot(y, z)
    return f.sum((1 - target) * f.maximum(margins(z, target), 0), -1, True)


def margins(z, target):
    return 1.0 + z - f.sum(f.scale(target, z), -1, True)


def through_hinge(d, out, z, y):
    target = f.oneHot(y, z)
    violated = (1.0 - target) * (margins(z, target) > 0)
    return d * (violated - target * f.sum(violated, -1, True))


def hinge_to_target(d, out, z, y):
    target = f.oneHot(y, z)
    m = margins(z, target)
    return -d * (f.relu(m) + z * f.sum((1.0 - target) * (m > 0), -1, True))


def through_softmax_cross_entropy(d, out, z, y):
    target = f.oneHot(y, z)
    return d * (f.softmax(z) * f.sum(target, -1, True) - target)


def row_of_loss(op, value, by_prediction, by_target, **facts):
    """A row for a loss over the classes of each row. Its rules (d, out, p, y) work entry by entry and serve
    both modes: an adjoint has the shape of its argument, and a tangent is summed over the classes."""
    to_target = lambda d, out, p, y: f.unbroadcast(by_target(d, out, p, y), y)
    summed = lambda rule: lambda t, out, p, y: f.sum(rule(t, out, p, y), -1, True)
    operator(op, value, by_prediction, to_target, tangents=[summed(by_prediction), summed(by_target)],
             tame=True, within=True, reads="row", **facts)


#           op                     value                 rule for the prediction, rule for the target
row_of_loss("crossEntropy",        crossEntropy,         lambda d, out, p, y: -d * f.ratio(f.oneHot(y, p), p),
                                                         lambda d, out, p, y: -d * f.log(p),
            flops=of_input(3), outputs="softmax", curvature=gathered(lambda d, out, slope, p, y: -f.ratio(d * slope, p)),
            formula=lambda p, y: -f.sum(f.scale(f.oneHot(y, p), f.log(p)), -1, True))
row_of_loss("softmaxCrossEntropy", softmaxCrossEntropy,  through_softmax_cross_entropy, lambda d, out, z, y: -d * f.logSoftmax(z),
            flops=of_input(7), convex=True, outputs="softmax", curvature=gathered(softmax_cross_entropy_curvature),
            formula=lambda z, y: -f.sum(f.scale(f.oneHot(y, z), f.logSoftmax(z)), -1, True))
row_of_loss("hinge",               hinge,                through_hinge, hinge_to_target,
            flops=of_input(8), outputs="alias", elsewhere=hinge, curvature=gathered())
elementwise("sigmoidCrossEntropy", sigmoidCrossEntropy,  lambda out, z, y: f.sigmoid(z) - f.oneHot(y, z),
                                                         lambda out, z, y: -z,
            flops=11, formula=sigmoidCrossEntropy, tame=True, convex=True, outputs="sigmoid")
elementwise("squaredError",        squaredError,         lambda out, x, v: x - f.oneHot(v, x),
                                                         lambda out, x, v: f.oneHot(v, x) - x,
            flops=3, formula=squaredError, tame=True, convex=True, outputs="alias")
linear(     "oneHot",              oneHot,               lambda d, out, y, like: f.unbroadcast(d, y), None,
            view=True, within=True, elsewhere=one_hot_of_entries)
