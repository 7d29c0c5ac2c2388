"""Running sums and products along an axis, and the recurrence behind them."""
from __future__ import annotations

import math

import numpy as np

from ..expression import f
from ..facts import is_complex, of_input
from ..silence import silent
from ..table import linear, operator, traced


def through_cumsum(d, out, x, axis=None):
    axis = 0 if axis is None else axis
    return f.reshape(f.flip(f.cumsum(f.flip(d, axis), axis), axis), x)


def cumprod_by_doubling(x, axis=None):
    x, axis, places = (f.reshape(x, (-1,)), 0, 1) if axis is None or not x.ndim else (x, axis, 1)
    while places < x.shape[axis]:
        x, places = x * moved_on(x, axis, places, 1.0), 2 * places
    return x


def shift(x, axis, first=0.0):
    """x moved by one place along axis, with `first` at the start."""
    x = x + 0j if is_complex(first) and not is_complex(x) else x
    moved = np.empty(x.shape, x.dtype)
    before, after = x.swapaxes(0, axis), moved.swapaxes(0, axis)
    after[:1], after[1:] = first, before[:-1]
    return moved


def moved_on(x, axis, places, first):
    """x moved by `places` along axis, with `first` at the start."""
    before = (slice(None),) * (axis % x.ndim)
    border = x[(*before, slice(0, places))]
    return f.concat(axis, f.broadcast(f.astype(first, (np.dtype(x.dtype).name,)), border),
                    x[(*before, slice(None, -places))])


def recurrence(x, a, axis):
    """y of the recurrence y_i = x_i + a_i y_(i−1) along axis, which begins with 0."""
    if np.shape(x) != np.shape(a):
        raise ValueError(f"recurrence takes x and a of one shape, not {np.shape(x)} and {np.shape(a)}")
    y = np.moveaxis(np.array(x, np.result_type(x, a)), axis, 0)
    a = np.moveaxis(np.asarray(a, y.dtype), axis, 0)
    is_long = len(y) > 16 * math.prod(y.shape[1:])  # for speed alone
    # BLAS leaves out a product with 0, which an infinite factor makes NaN
    if is_long and y.dtype.char in "fd" and np.isfinite(a).all():
        for place in np.ndindex(y.shape[1:]):
            column = (slice(None), *place)
            y[column] = solved_by_steps(y[column], a[column])
    else:
        for i in range(1, len(y)):
            y[i] += a[i] * y[i - 1]
    return np.moveaxis(y, 0, axis)


def solved_by_steps(x, a):
    """The recurrence of vectors: y of y_i − a_i y_(i−1) = x_i, two diagonals, which BLAS solves in order."""
    from scipy.linalg import get_blas_funcs
    diagonals = np.ones((2, len(x)), x.dtype, order="F")
    np.negative(a[1:], diagonals[1, :-1])
    return get_blas_funcs("tbsv", (x,))(1, diagonals, x, lower=1, diag=1)


def recurrence_by_doubling(x, a, axis):
    """The recurrence; after k rounds each entry includes the 2ᵏ entries up to it (Hillis and Steele 1986)."""
    places, n = 1, x.shape[axis]
    while places < n:
        x, a, places = x + a * moved_on(x, axis, places, 0.0), a * moved_on(a, axis, places, 0.0), 2 * places
    return x


def adjoint_recurrence(d, a, axis):
    """λ_i = d_i + a_(i+1) λ_(i+1): the same recurrence, run backwards."""
    return f.flip(f.recurrence(f.flip(d, axis), f.flip(f.roll(a, -1, axis), axis), axis), axis)


def through_cumprod(d, out, x, axis=None):
    axis = 0 if axis is None else axis
    return f.reshape(adjoint_recurrence(d, f.reshape(x, out), axis) * f.shift(out, axis, 1.0), x)


def prod_of_others(x, axis=None):
    """For each entry of x the product of all others along axis; of floats a quotient if none is 0."""
    if not np.ndim(x):
        return f.broadcast(1.0, x)
    products = quotients(f.prod(x, axis, axis is not None), x) if np.asarray(x).dtype.kind == "f" else None
    return products_of_others(x, axis) if products is None else products


@silent
def quotients(out, x):
    """out / x if no product in out is 0 or infinite; else None."""
    return out / x if abs(np.vdot(out, 1.0 / out) - out.size) < 0.5 else None  # for speed alone


def products_of_others(x, axis=None):
    if axis is None:
        return f.reshape(products_of_others(f.reshape(x, (-1,)), 0), x)
    if isinstance(axis, tuple):
        if not axis:
            return f.broadcast(1.0, x)
        first, *axes = axis
        return products_of_others(x, first) * products_of_others(f.prod(x, first, True), tuple(axes))
    running = f.cumprod(x, axis)  # of a number with an axis, as cumprod has it
    after = f.flip(f.shift(f.cumprod(f.flip(f.reshape(x, running), axis), axis), axis, 1.0), axis)
    return f.reshape(f.shift(running, axis, 1.0) * after, x)


def cumsum(x, axis=None):
    """The sums of the entries of x up to each, along axis; of the flattened x for None."""
    return np.cumsum(x, axis)


def cumprod(x, axis=None):
    """The products of the entries of x up to each, along axis; of the flattened x for None."""
    return np.asarray(x).cumprod(axis)


#           op              value          rule
linear(     "cumsum",       cumsum,        through_cumsum, flops=1, flow="moved", numpy="cumsum", reads="before")
operator(   "cumprod",      cumprod,       through_cumprod, flops=1, numpy="cumprod",
            elsewhere=cumprod_by_doubling, reads="before", complex=True)
operator(   "recurrence",   recurrence,    lambda d, out, x, a, axis: adjoint_recurrence(d, a, axis),
                                           lambda d, out, x, a, axis: adjoint_recurrence(d, a, axis) * f.shift(out, axis),
            flops=2, elsewhere=recurrence_by_doubling, complex=True)
operator(   "shift",        shift,         lambda d, out, x, axis, *_: f.flip(f.shift(f.flip(d, axis), axis), axis),
                                           None, lambda d, out, x, axis, first: f.unbroadcast(f.take(d, 0, axis), first),
            tangents=[lambda t, out, x, axis, *_: f.shift(t, axis), None,
                      lambda t, out, x, axis, first: f.shift(f.broadcast(0.0, out), axis, t)], flow="filled",
            formula=lambda x, axis, first=0.0: moved_on(x, axis, 1, first))
operator(   "prod_of_others", prod_of_others, through_others := traced(products_of_others, 0),
            tangents=[through_others], flops=of_input(3), formula=products_of_others,
            reads="line", complex=True)  # its Jacobian is symmetric
