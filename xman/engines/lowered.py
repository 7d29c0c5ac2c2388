"""Lowering: rewrites that write an operator with simpler ones, so that an engine has to know few.

What stays is NumPy's functions entry by entry, sums, maxima and minima, products of matrices, and rearrangements; each
other operator of `ops` is computed by its own function. The formulas are those of the operators' values, for arrays of
floats that have entries.
"""
from __future__ import annotations

import math

import numpy as np

from ops import Expression, f
from ops.reductions import count

from ..passes.patterns import rewrite, shaped


def filled(w, x, *_):
    """Whether x is an array of floats that has entries."""
    return w.real(x) and w.shape(x) is not None and 0 not in w.shape(x)


def softmax(x, axis):
    e = f.exp(x - f.max(x, axis, True))
    return e / f.sum(e, axis, True)


def log_softmax(x, axis):
    x = x - f.max(x, axis, True)
    return x - f.log(f.sum(f.exp(x), axis, True))


def log_sum_exp(x, axis, keepdims):
    top = f.max(x, axis, True)
    top = f.where(f.isfinite(top), top, 0.0)
    result = f.log(f.sum(f.exp(x - top), axis, True)) + top
    return result if keepdims else f.reshape(result, f.sum(x, axis))


def exp_difference(w, x, y):
    """Of two equal infinities it is 0 where they are −∞ and 1 where they are +∞."""
    return f.exp(f.where(f.equal(x, y), f.where(f.equal(x, -math.inf), x, 0.0), x - y)) if w.real(x) and w.real(y) else None


def mean(w, x, axis=None, keepdims=False):
    known = filled(w, x) and not isinstance(axis, Expression)
    return f.sum(x, axis, keepdims) / float(count(w.value(x), axis)) if known else None


def targets(w, z, y):
    """Targets for predictions z, both floats: in the shape of z, or such that they spread to it."""
    shape, like = w.shape(y), w.shape(z)
    return w.real(z) and w.real(y) and shape and like and 0 not in like and shape[-1] == like[-1] and (
        np.broadcast_shapes(shape, like) == like)


def labels(w, z, y):
    """Class labels for predictions z: whole numbers, one a row."""
    return w.real(z) and w.whole(y) and w.shape(y) is not None and len(w.shape(z) or ()) > 1 and 0 not in w.shape(z)


def classes(loss):
    """The loss over classes, once its target is one of floats."""
    return lambda w, z, y: (loss(z, f.oneHot(y, z)) if labels(w, z, y) else
                            loss(z, y) if targets(w, z, y) else None)


def entrywise(loss):
    """The loss entry by entry, once its target is one of floats."""
    return lambda w, z, y: (loss(z, y) if w.real(z) and w.real(y) and w.shape(y) is not None
                            and w.shape(y) == w.shape(z) else None)


def unbroadcast(w, x, like, axis=()):
    """What remains of it when all is of one precision: a sum, and another shape."""
    have, want = w.shape(x), w.shape(like)
    if not have or want is None or not w.real(x) or not w.one_precision or not isinstance(x, Expression) or axis != ():
        return None
    extra = len(have) - len(want)
    if extra < 0:
        return None
    added = tuple(i for i in range(len(have)) if i < extra or want[i - extra] == 1 != have[i])
    return f.reshape(f.sum(x, added, True), like) if added else None


def dot_left(w, d, a, b):
    """d bᵀ, where a batch of matrices meets a batch."""
    return d @ f.mT(b) if batched(w, d, a, b) and w.shape(a)[:-2] == w.shape(d)[:-2] else None


def dot_right(w, d, a, b):
    return f.mT(a) @ d if batched(w, d, a, b) and w.shape(b)[:-2] == w.shape(d)[:-2] else None


def batched(w, *args):
    return all(len(w.shape(a) or ()) > 2 for a in args)


def clip(w, x, lo=None, hi=None):
    if not w.real(x):
        return None
    x = x if lo is None else f.maximum(x, lo)
    return x if hi is None else f.minimum(x, hi)


LOWERED = (
    #        found                                          becomes                                             where
    rewrite(lambda x: f.half(x),                       lambda x: 0.5 * x),
    rewrite(lambda x: f.square(x),                     lambda x: x * x),
    rewrite(lambda x: f.reciprocal(x),                 lambda x: 1.0 / x,                          given=filled),
    rewrite(lambda x: f.stopGradient(x),               lambda x: x),
    rewrite(lambda x: f.relu(x),                       lambda x: f.maximum(x, 0.0),                given=filled),
    rewrite(lambda x, a: f.leakyRelu(x, a),            lambda x, a: f.where(x > 0, x, a * x),      given=filled),
    rewrite(lambda x, a: f.elu(x, a),                  lambda x, a: f.where(x > 0, x, a * f.expm1(f.minimum(x, 0.0))),
                                                                                                   given=filled),
    rewrite(lambda x: f.softplus(x),                   lambda x: f.logaddexp(0.0, x),              given=filled),
    rewrite(lambda x: f.logSigmoid(x),                 lambda x: -f.logaddexp(0.0, -x),            given=filled),
    rewrite(lambda x: f.silu(x),                       lambda x: x * f.sigmoid(x),                 given=filled),
    rewrite(lambda x: f.gelu(x),                       lambda x: x * (0.5 * (1.0 + f.erf(x * math.sqrt(0.5)))),
                                                                                                   given=filled),
    rewrite(lambda x, a: f.softmax(x, a),              softmax,                                    given=filled),
    rewrite(lambda x, a: f.logSoftmax(x, a),           log_softmax,                                given=filled),
    rewrite(lambda x, a, k: f.logsumexp(x, a, k),      log_sum_exp,                                given=filled),
    rewrite(lambda x, a, k: f.norm(x, a, k),           lambda x, a, k: f.sqrt(f.sum(x * x, a, k)), given=filled),
    rewrite(lambda x, a, k: f.squaredNorm(x, a, k),    lambda x, a, k: f.sum(x * x, a, k),         given=filled),
    rewrite(lambda x: f.frobeniusNorm(x),              lambda x: f.sqrt(f.sum(x * x)),             given=filled),
    #       operator                                        becomes where shapes are known
    shaped("mean",                                          mean),
    shaped("clip",                                          clip),
    shaped("expDifference",                                 exp_difference),
    shaped("unbroadcast",                                   unbroadcast),
    shaped("dotLeft",                                       dot_left),
    shaped("dotRight",                                      dot_right),
    shaped("outer",                                         lambda w, a, b: f.reshape(a, (-1, 1)) * f.reshape(b, (1, -1))
                                                            if w.shape(a) is not None and w.shape(b) is not None else None),
    shaped("crossEntropy",                                  classes(lambda p, y: -f.sum(f.scale(y, f.log(p)), -1, True))),
    shaped("softmaxCrossEntropy",                           classes(lambda z, y: -f.sum(f.scale(y, f.logSoftmax(z)), -1, True))),
    shaped("squaredError",                                  entrywise(lambda x, v: 0.5 * ((x - v) * (x - v)))),
    shaped("sigmoidCrossEntropy",                           entrywise(lambda z, y: f.scale(y, f.softplus(-z))
                                                                      + f.scale(1.0 - y, f.softplus(z)))),
)
