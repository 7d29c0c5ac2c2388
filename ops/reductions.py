"""Reductions over axis: an int, a tuple of ints, None for all; keepdims leaves length 1."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable
from contextvars import ContextVar

import numpy as np

from .arrays.running import quotients
from .expression import Expression, f
from .facts import of_input, of_sum
from .kinks import Masked, correction, unclear
from .silence import silent
from .table import arity, elementwise, linear, operator


def count(x, axis=None, less=0):
    """The number of entries of x along axis, less `less`: Python's number, which does not change float32.

    A number that float16 cannot hold is np.float32 for an x of float16: 1 / 70,000 would be 1 / ∞ there.
    """
    shape = np.shape(x) or (1,)  # a number has an axis of its own, as sums of NumPy take it
    n = math.prod(shape if axis is None else [shape[a] for a in axis] if isinstance(axis, tuple)
                  else (shape[axis],)) - less
    halves = getattr(x, "dtype", None) == np.float16  # asked first: a number of rows may be a symbol
    return np.float32(n) if halves and n > LARGEST_HALF else n


LARGEST_HALF = 65504  # the largest number of float16


def halves_in_singles(reduction):
    """The reduction (x, axis, …), where an x of float16 is added up and divided in float32, as by NumPy."""
    @functools.wraps(reduction)
    def reduced(x, *args, **named):
        if getattr(x, "dtype", None) != np.float16:
            return reduction(x, *args, **named)
        return reduction(x.astype(np.float32), *args, **named).astype(np.float16)
    return reduced


@halves_in_singles
def mean(x, axis=None, keepdims=False):
    """Σ x / n over axis; NaN over no entries. Over all entries unless axis says otherwise."""
    return np.add.reduce(x, axis, None, None, keepdims) / (count(x, axis) or math.nan)


TOTAL: ContextVar[Callable] = ContextVar("TOTAL", default=np.positive)  # adds up the values of workers


def allreduce(x):
    """The sum of x over the workers that run the list together, each with its own rows; x for one alone."""
    return TOTAL.get()(np.add(x, 0) if np.asarray(x).dtype == bool else x)


def centered(x, axis=None):
    """x − mean over axis; exactly 0 if all entries are equal."""
    x, d = np.asarray(x), x - mean(x, axis, True)
    over = range(x.ndim) if axis is None else [a % x.ndim for a in np.atleast_1d(axis)]
    first, last = [x[tuple([end if k in over else slice(None) for k in range(x.ndim)])]
                   for end in (slice(1), slice(-1, None))]
    if not np.equal(first, last).any():  # for speed alone
        return d
    return np.where(np.equal(x, first).all(axis, keepdims=True) & np.equal(d, d), 0, d)[()]


def centered_of_entries(x, axis=None):
    over = range(x.ndim) if axis is None else [a % x.ndim for a in np.atleast_1d(axis)]
    first = x[tuple([slice(1) if k in over else slice(None) for k in range(x.ndim)])]
    first = f.where(f.isfinite(first), first, 0.0)  # an infinite one would make all others NaN
    return x - (first + f.mean(x - first, axis, True))  # exactly 0 if all entries are equal


@silent
@halves_in_singles
def var(x, axis=None, keepdims=False, ddof=0):
    """Σ (x − mean)² / (n − ddof) over axis."""
    deviation = centered(x, axis)
    return np.true_divide(total_over(deviation * deviation, axis, keepdims), max(count(x, axis, ddof), 0))


def var_of_squares(x, axis=None, keepdims=False, ddof=0):
    squares = f.square(centered_of_entries(x, axis))
    return f.sum(squares, axis, keepdims) / (max(count(x, axis) - ddof, 0) or math.nan)


def trace(x):
    """The sum of the diagonal of a matrix."""
    if np.ndim(x) != 2:
        raise ValueError(f"trace takes a matrix, not an array with {np.ndim(x)} axes; for a batch write "
                         "einsum('...ii->...', x)")
    return np.trace(x)


def squaredNorm(x, axis=None, keepdims=False):
    """Σ x² over axis."""
    if axis is None and not keepdims and getattr(x, "size", 1) < 10_000:  # above this BLAS wakes its threads
        return np.vdot(x, x)
    return total_over(np.multiply(x, x), axis, keepdims)


def floats_of(x):
    """x as an array of floats, since integers have no −∞ to begin a maximum with."""
    return (x := np.asarray(x)).astype(np.result_type(x, 0.0), copy=False)


@silent
def logsumexp(x, axis=None, keepdims=False):
    """log Σ exp(x) over axis; −∞ over no entries, and over −∞ alone."""
    x = floats_of(x)
    top = x.max(axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    result = np.log(np.add.reduce(np.exp(x - top), axis=axis, keepdims=True)) + top
    return result if keepdims else np.squeeze(result, axis)[()]


def logsumexp_of_entries(x, axis=None, keepdims=False):
    top = f.max(x, axis, True)
    top = f.where(f.isfinite(top), top, 0.0)
    result = f.log(f.sum(f.exp(x - top), axis, True)) + top
    return result if keepdims else f.reshape(result, f.sum(x, axis))


def logsumexp_of_any(x, axis=None, keepdims=False):
    if not count(x, axis):
        return f.log(f.sum(f.exp(x), axis, keepdims))
    return logsumexp_of_entries(x, axis, keepdims)


def logaddexp_of_entries(x, y):
    most, least = f.maximum(x, y), f.minimum(x, y)
    return most + f.log1p(f.exp(f.where(f.equal(x, y), 0.0, least - most)))


@silent
def exp_difference(x, y):
    """exp(x − y); for two equal infinities 0 if they are −∞, and 1 if they are +∞."""
    dtype = np.result_type(x, y)  # unsigned whole numbers would wrap round
    e = np.exp(np.subtract(x, y, dtype=dtype if dtype.kind == "f" else np.result_type(dtype, np.float16)))
    if not np.isnan(e).any():
        return e
    return np.where(np.equal(x, y), np.not_equal(x, -np.inf), e).astype(e.dtype)[()]


def ties(x, out, axis=None):
    """The share of each entry of x in the extreme value of its slice, out spread over x: 1 / ties, else 0.

    Where out is NaN, the entries that are NaN share it.
    """
    equal = np.equal(x, out)
    if unclear(out):
        equal |= np.isnan(x) & np.isnan(out)
    number = np.maximum(np.add.reduce(equal, axis=axis, keepdims=True), 1)
    return (equal / number).astype(np.asarray(x).dtype)[()]


def ties_of_entries(x, out, axis=None):
    equal = f.logical_or(f.equal(x, out), f.logical_and(f.isnan(x), f.isnan(out)))
    dtype = (np.dtype(x.dtype).name,)
    shared = f.astype(equal, dtype)
    return f.astype(shared / f.maximum(f.sum(shared, axis, True), 1), dtype)


def back_over(d, x, axis, keepdims):
    """d, in the shape of a reduction of x, spread to the shape of x."""
    if type(d) is np.float64 and type(x) is np.ndarray and x.dtype == d.dtype:
        return np.ndarray(x.shape, x.dtype, d, strides=(0,) * x.ndim)  # one number in memory for all entries
    return f.broadcast(d, x) if axis is None or keepdims else f.broadcast(d, x, axis)


def through_prod(d, out, x, axis):
    if type(x) is np.ndarray and x.ndim and type(d) is type(out) and d.dtype == x.dtype:  # for speed alone
        if (others := quotients(out, x)) is not None:
            return np.multiply(others, d, others)  # in place: another array takes as long again
    return d * f.prod_of_others(x, axis)


def gathered(second=lambda *_: 0.0):
    """The fact `curvature` of a row in which each entry of the first argument enters one entry of the result.

    It turns k, the diagonal of the Hessian by the result, into that by the argument: Σ (∂out/∂x)² k +
    ∂²out/∂x² d, d the result's adjoint (Becker and LeCun 1989). through: the adjoint rule at these arguments.
    second: (d, out, slope, x, …) -> ∂²out/∂x² d, where slope is ∂out/∂x.
    """
    def curvature(through, k, d, out, x, *rest):
        slope = through(np.ones_like(out))
        return through(k) * slope + second(d, out, slope, x, *rest)
    return curvature


def bent_norm(d, out, slope, x, axis=None, keepdims=False):
    return back_over(d / out, x, axis, keepdims) * (1 - slope ** 2)


# ---- the rows ----------------------------------------------------------------------------------------------

def reducing(op, value, rule, **facts):
    """A row for a reduction with an elementwise rule, which serves both modes.

    The adjoint spreads delta and out to x and then applies the rule; the tangent applies the rule and sums.
    """
    def spread(d, x, axis):
        if isinstance(x, Expression) or isinstance(d, Expression):
            return f.broadcast(d, x, axis)
        if not (shape := [*np.shape(x)]):
            return d  # x is a number, for which NumPy accepts one axis
        for i in axis if isinstance(axis, (tuple, list)) else (axis,):
            shape[i] = 1
        return np.asarray(d).reshape(shape)  # np.expand_dims takes three times as long

    correct = correction(rule, 0, facts)

    def corrected(d, out, x, axis, *rest):
        part = rule(d, out, x, axis, *rest)
        return correct(part, d, out, x, axis, *rest) if correct and type(part) is Masked else part

    def adjoint(d, out, x, axis=None, keepdims=False, *rest):
        if axis is not None and not keepdims:
            d, out = spread(d, x, axis), spread(out, x, axis)
        return corrected(d, out, x, axis, *rest)

    def tangent(t, out, x, axis=None, keepdims=False, *rest):
        out = out if axis is None or keepdims else spread(out, x, axis)
        return f.sum(corrected(t, out, x, axis, *rest), axis, keepdims)

    literals = [None] * (arity(value)[1] - 1)
    operator(op, value, adjoint, *literals, tangents=[tangent, *literals],
             **{"reads": "axis", "within": True, "tame": True} | facts)


def prod(x, axis=None, keepdims=False):
    """Π x over axis; 1 over no entries."""
    return np.multiply.reduce(x, axis=axis, keepdims=keepdims)


def norm(x, axis=None, keepdims=False):
    """√Σ x² over axis, the Euclidean norm; of a matrix the Frobenius norm. At 0 its gradient is 0."""
    return np.sqrt(squaredNorm(x, axis, keepdims))


def frobeniusNorm(A):
    """√Σ A² over all entries (the notes §1.2). At 0 its gradient is 0."""
    return norm(A)


def total_over(x, axis=None, keepdims=False):
    """Σ x over axis; 0 over no entries."""
    return np.add.reduce(x, axis, None, None, keepdims)


def largest(x, axis=None, keepdims=False):
    """The greatest x over axis. Ties share the gradient equally. ValueError over no entries."""
    return np.max(x, axis, keepdims=keepdims)


def smallest(x, axis=None, keepdims=False):
    """The least x over axis. Ties share the gradient equally. ValueError over no entries."""
    return np.min(x, axis, keepdims=keepdims)


@halves_in_singles
def std(x, axis=None, keepdims=False, ddof=0):
    """√var. Where it is 0 its gradient is 0."""
    return np.sqrt(var(x, axis, keepdims, ddof))


#           op              value          rule
# a register has a copy on each worker, with a part of the delta: the adjoint adds up the parts
linear(     "allreduce",    allreduce,     lambda d, out, x: f.allreduce(d), flow="moved", elsewhere=lambda x: x)
linear(     "sum",          total_over,    lambda d, out, x, axis=None, keepdims=False:
                                               back_over(d, x, axis, keepdims),
            flops=of_sum, flow="moved", numpy="sum", within=True, reads="axis")
linear(     "mean",         mean,          lambda d, out, x, axis=None, keepdims=False:
                                               back_over(d / f.count(x, axis), x, axis, keepdims),
            flops=lambda out, x, *_: of_sum(out, x) + np.size(out), flow="moved", numpy="mean", within=True,
            formula=lambda x, axis=None, keepdims=False: f.sum(x, axis, keepdims) / f.count(x, axis), curvature=gathered())
linear(     "trace",        trace,         lambda d, out, x: f.diag_back(f.broadcast(d, f.diag(x)), x),
            flops=lambda out, x: min(x.shape), flow="moved", formula=lambda x: f.sum(f.diag(x)))
linear(     "centered",     centered,      lambda d, out, x, axis=None: d - f.mean(d, axis, True), flops=of_input(2),
            formula=centered_of_entries, reads="line")
for op, value in ("max", largest), ("min", smallest):
    reducing(op,            value,         lambda d, out, x, axis: f.scale(f.ties(x, out, axis), d),
            flops=of_input(1), flow="chosen", numpy=op, curvature=gathered())
reducing(   "prod",         prod,          through_prod,  flops=of_input(1), numpy="prod", curvature=gathered(), overflows=True,
            tame=False, complex=True)
reducing(   "var",          var,           lambda d, out, x, axis, ddof=0:
                                               f.unbroadcast(2.0 * d * f.centered(x, axis) / f.count(x, axis, ddof), x),
            flops=of_input(4), overflows=True, formula=var_of_squares)
reducing(   "std",          std,           lambda d, out, x, axis, ddof=0:
                                               f.unbroadcast(d * f.ratio(f.centered(x, axis), out + f.stopGradient(  # flat at 0
                                               f.ratio(f.equal(out, 0), out))) / f.count(x, axis, ddof), x),
            flops=of_input(4), squared="var",
            formula=lambda x, axis=None, keepdims=False, ddof=0: f.sqrt(var_of_squares(x, axis, keepdims, ddof)))
for op, value in ("norm", norm), ("frobeniusNorm", frobeniusNorm):
    reducing(op,            value,         lambda d, out, x, axis: d * f.ratio(x, out),
            flops=of_input(2), squared="squaredNorm", convex=True, curvature=gathered(bent_norm),
            formula=lambda x, axis=None, keepdims=False: f.sqrt(f.squaredNorm(x, axis, keepdims)))
reducing(   "squaredNorm",  squaredNorm,   lambda d, out, x, axis: d * (2.0 * x), overflows=True,
            flops=of_input(2), formula=lambda x, axis=None, keepdims=False: f.sum(x * x, axis, keepdims))
reducing(   "logsumexp",    logsumexp,     lambda d, out, x, axis: d * f.exp_difference(x, out),
            flops=of_input(4), formula=logsumexp_of_entries, elsewhere=logsumexp_of_any, convex=True,
            curvature=gathered(lambda d, out, p, x, axis=None, keepdims=False: back_over(d, x, axis, keepdims) * p * (1 - p)))
elementwise("logaddexp",    np.logaddexp,  lambda out, x, y: f.exp_difference(x, out),
                                           lambda out, x, y: f.exp_difference(y, out), flops=5, tame=True,
            elsewhere=logaddexp_of_entries)
elementwise("exp_difference", exp_difference, lambda out, x, y: out,
                                           lambda out, x, y: -out, flops=2,
            formula=lambda x, y: f.exp(f.where(f.equal(x, y), f.where(f.equal(x, -math.inf), x, 0.0), x - y)))
operator(   "ties",         ties,          None, None, flops=3, formula=ties_of_entries)
operator(   "count",        count,         flops=0, gives=int, elsewhere=count, complex=True)
