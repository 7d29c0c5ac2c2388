"""Every operator against JAX on the CPU: values, contributions (jax.vjp) and tangents (jax.jvp), in both precisions.

A row is an operator, the same function in JAX, and arguments: arrays of floats are differentiated, all else is a
literal. No case lies on a kink: there the conventions differ. All numbers are such as float32 holds exactly, so that
what JAX finds in float64 is right for both.
"""
from __future__ import annotations

import functools
import os

import numpy as np
import pytest
from operator_cases import APPLYING, OF_STRINGS, in_each

from ops import DG, TG, G
from ops.table import OURS
from tests.jax_at_once import at_once

jax = pytest.importorskip("jax", reason="the oracle is JAX")
jax.config.update("jax_enable_x64", True)
jnp, nn, lax, linalg, special = jax.numpy, jax.nn, jax.lax, jax.numpy.linalg, jax.scipy.special
R = np.random.default_rng(20240229)


# ---- arguments --------------------------------------------------------------------------------------------------------

def single(x): return np.asarray(x, np.float32).astype(float)
def n(*shape): return single(R.uniform(0.1, 2.0, shape) * R.choice([-1, 1], shape))     # of either sign
def p(*shape): return single(R.uniform(0.4, 2.0, shape))                                # positive
def u(*shape): return single(R.uniform(-0.9, 0.9, shape))                               # in (−1, 1)
def rows(*shape): return single(R.dirichlet(np.full(shape[-1], 4.0), shape[:-1]))       # probabilities
def regular(*shape): return single(R.uniform(-0.5, 0.5, shape) + 2.0 * np.eye(shape[-1]))   # matrices, not symmetric
def at(*numbers): return np.array(numbers, float)
def ints(*numbers): return np.array(numbers, int)


def of(*cases, domain=n):
    """Arguments: a string is arrays by their shapes, "23 3" a (2, 3) and a (3,), "-" a number; all else is a literal."""
    def arrays(a):
        return [domain(*map(int, shape.strip("-"))) for shape in a.split()] if isinstance(a, str) else [a]
    return [tuple(b for a in (case if isinstance(case, tuple) else (case,)) for b in arrays(a)) for case in cases]


def one(domain, *more): return of("-", "3", "23", "0", *more, domain=domain)
def two(left, *more): return [(left(*x.shape), y) for x, y in of(*PAIRS)] + of(*more)
def reduced(*more): return of("-", "3", *KINDS, *more)


PAIRS = "- -", "3 -", "23 3", "3 23", "21 13", "23 23", "20 11"
KINDS = ("23", ("23", 0), ("23", 1, True), ("23", -1), ("23", None, True), ("23", (0, 1)), ("23", (1, 0), True),
         ("232", (0, -1)), ("232", (-2,), True), ("232", 1))


def labelled(domain):
    """Predictions of classes; targets soft, one-hot, broadcast, of integers and booleans, labels; no rows at all."""
    hot, wide = np.eye(3)[[2, 0]], domain(2, 2, 3)
    targets = rows(2, 3), p(2, 3), hot, rows(3), ints(2, 0), ints([2], [0]), hot.astype(int), hot > 0
    return [(domain(2, 3), y) for y in targets] + [
        (domain(3), rows(3)), (domain(3), ints(1)[0]), (wide, ints([0, 1], [2, 2])), (wide, rows(2, 3)),
        (domain(0, 3), ints()), (domain(0, 3), rows(0, 3))]


def entrywise(domain):
    return [(n(3), domain(3)), (n(2, 3), domain(3)), (n(2, 3), domain(2, 1)), (n(), domain()), (n(2, 1), ints(1, 0)),
            (n(2, 1), ints([1], [0])), (n(2, 3), ints(2, 0)), (n(3), ints(1, 0, 1)), (n(3), ints(1, 0, 1) > 0)]


# ---- what JAX does not have, by definition ----------------------------------------------------------------------------

def transposed(function, like, d):
    """Jᵀd of a function that is linear, of an argument of like's shape."""
    return jax.vjp(function, jnp.zeros(like.shape))[1](d)[0]


def broadcast(x, like, axis=()):
    return jnp.broadcast_to(jnp.expand_dims(x, axis), getattr(like, "shape", like))


def einsum_back(x, like, letters):
    return transposed(lambda y: jnp.broadcast_to(jnp.einsum("...{1}->...{0}".format(*letters), y), x.shape), like, x)


def unpad(x, widths):
    return lax.pad(x, 0.0, [(-before, -after, 0) for before, after in np.broadcast_to(widths, (x.ndim, 2)).tolist()])


def shift(x, axis, first=0.0):
    padded = jnp.pad(x, [(i == axis % x.ndim, 0) for i in range(x.ndim)], constant_values=first)
    return lax.slice_in_dim(padded, 0, x.shape[axis], axis=axis)


def recurrence(x, a, axis):
    def step(y, xa):
        y = xa[0] + xa[1] * y
        return y, y
    x, a = jnp.moveaxis(x, axis, 0), jnp.moveaxis(a, axis, 0)
    return jnp.moveaxis(lax.scan(step, jnp.zeros(x.shape[1:]), (x, a))[1], 0, axis)


def ties(x, out, axis=None):
    equal = (x == out).astype(float)
    return equal / jnp.maximum(equal.sum(axis, keepdims=True), 1)


def cofactor(a):
    size = range(a.shape[-1])
    minor = lambda i, j: jnp.delete(jnp.delete(a, i, -2), j, -1)
    return jnp.stack([jnp.stack([(-1) ** (i + j) * linalg.det(minor(i, j)) for j in size], -1) for i in size], -2)


def bessel(kernel, top):
    """∫₀^top kernel(v, x, t) dt, by Gauss and Legendre."""
    t, w = np.polynomial.legendre.leggauss(120)
    t, w = (t + 1) * top / 2, w * top / 2
    return lambda v, x: jnp.sum(w * kernel(v, x[..., None], t), -1)


def lambertw(x):
    w = jnp.log1p(x)
    for _ in range(6):  # Newton's method
        w = w - (w - x * jnp.exp(-w)) / (1 + w)
    return w


def bessel_y(v, x):
    whole = bessel(lambda v, x, t: jnp.sin(x * jnp.sin(t) - v * t) / np.pi, np.pi)(v, x)
    return whole - bessel(lambda v, x, t: (jnp.exp(v * t) + (-1) ** v * jnp.exp(-v * t)) * jnp.exp(-x * jnp.sinh(t)) / np.pi, 7.0)(v, x)


bessel_j = bessel(lambda v, x, t: jnp.cos(v * t - x * jnp.sin(t)) / np.pi, np.pi)
bessel_i = bessel(lambda v, x, t: jnp.exp(x * jnp.cos(t)) * jnp.cos(v * t) / np.pi, np.pi)
dawsn = bessel(lambda v, x, t: x * jnp.exp(x * x * (t * t - 1)), 1.0)
ellipk = bessel(lambda v, x, t: 1 / jnp.sqrt(1 - x * jnp.sin(t) ** 2), np.pi / 2)
ellipe = bessel(lambda v, x, t: jnp.sqrt(1 - x * jnp.sin(t) ** 2), np.pi / 2)
bessel_k = bessel(lambda v, x, t: jnp.exp(-x * jnp.cosh(t)) * jnp.cosh(v * t), 7.0)


def left_vectors(a): return linalg.svd(a, full_matrices=False)[0]
def right_vectors(a): return linalg.svd(a, full_matrices=False)[2].mT
def inverse_values(s, d, m, sent): return 1 / s[..., None, :] if d.shape[-2] > d.shape[-1] else 0 * s[..., None, :]
def inverse_gaps(w, d, m, sent): return (1 - np.eye(w.shape[-1])) / (w[..., None, :] - w[..., None] + np.eye(w.shape[-1]))


def sylvester(a, b, q):
    system = jnp.kron(a, np.eye(len(b))) + jnp.kron(np.eye(len(a)), b.T)
    return linalg.solve(system, q.reshape(-1)).reshape(q.shape)


def root(a):
    y, z = a, np.eye(len(a))
    for _ in range(9):  # Denman and Beavers
        y, z = (y + linalg.inv(z)) / 2, (z + linalg.inv(y)) / 2
    return y


def target(y, like):
    if y.dtype.kind == "f" or y.shape == like.shape:
        return jnp.asarray(y, float)
    return y.reshape(-1, 1) * 1.0 if like.shape[-1] == 1 else nn.one_hot(y.reshape(like.shape[:-1]), like.shape[-1])


def zero_where_zero(g): return lambda x, y: jnp.where(x == 0, 0.0, g(x, jnp.where(x == 0, 1.0, y)))
def reducing(g): return lambda x, axis=None, keepdims=False: g(x, axis=axis, keepdims=keepdims)
def spread(g): return lambda x, axis=None, keepdims=False, ddof=0: g(x, axis=axis, keepdims=keepdims, ddof=ddof)
def over_classes(loss): return lambda z, y: jnp.sum(loss(z, target(y, z)), -1, keepdims=True)


# ---- the table --------------------------------------------------------------------------------------------------------

BIG = (at(-1000, -40, 40, 1000),)
EDGE = at(0.0, np.inf, np.nan, 2.0)
WEAK = np.array([0, 0, 0, 3], np.int8)  # not differentiated, and gives way to float32
MASK = np.array([[True, False, True], [False, True, True]])
AGAIN, ALL, BACK = ints(0, 1, 1, -1), slice(None), slice(None, None, -2)
LINE, TABLE = at(1, 3, 3), at(1, 3, 3, 1, 0, 1).reshape(2, 3)
SINGULAR = at(1, 2, 3, 4, 5, 6, 5, 7, 9).reshape(3, 3)
MATRICES = of("33", "233", (-regular(2, 2),), domain=regular)
SOFT = of("3", "23", ("23", 0), ("232", -2), ("23", (0, 1)), "03", BIG)
EMPTY = "0", ("03", 0), ("03", 1, True), ("23", ())
SPREADS = ("3", None, False, 1), ("23", 0, True, 1), ("232", (0, 2), False, 2)
RUNNING = "4", "23", ("23", 0), ("23", -1), ("232", 1), "0"
EXTREMES = of("3", "23", ("23", 0), ("23", -1), LINE, -LINE)
FACTORS = of("3 3", "3 32", "23 3", "23 34", "423 432", "423 32", "23 432", "3 432", "423 3", "5123 432", "123 431", "03 32",
             "20 03", "11 11")
EINSUMS = of(*(((subscripts,), shapes) for subscripts, shapes in {
    "ij,jk->ik": "23 34", "ij->": "23", "ij->j": "23", "ji": "23", "ii->i": "33", "ii": "33", "ij,ij": "23 23", "i,j->ji": "2 3",
    "i,->i": "3 -", "ij,j": "23 3", "iij->ji": "223", "ii,i->i": "33 3", "...ij,...jk->...ik": "423 32", "...i->...": "23",
    "...ij,jk->...ik": "423 32", "...i,...i->...": "213 43", "...ii": "233", "ij,kl->i": "23 22", "ij , jk -> ki": "23 32",
    "ij,jk,kl->il": "23 32 22", "ij,ij->ij": "21 23"}.items()))

ROWS = {
    # entry by entry; special functions; activations
    **{op: (getattr(jnp, op), one(n)) for op in "negative reciprocal square abs sign real imag conj angle sin cos arctan sinh cosh arcsinh exp2 cbrt floor ceil trunc".split()},
    **{op: (getattr(jnp, op), one(p)) for op in "log log2 log10 sqrt".split()},
    **{op: (getattr(jnp, op), one(u)) for op in "tan arcsin arccos arctanh".split()},
    "arccosh": (jnp.arccosh, [(np.asarray(1.0 + p(*shape)),) for shape in [(), (3,), (2, 3)]]), "hypot": (jnp.hypot, two(n, ("3", 0.3))),
    "squared_hypot": (lambda x, y: x * x + y * y, two(n)), "one_minus_square": (lambda x: 1 - x * x, one(n)),
    "remainder": (jnp.remainder, two(n, ("3", 0.7))), "floor_divide": (jnp.floor_divide, two(n, ("3", 0.7))),
    **{op: (getattr(jnp, op), two(n, ("3", 0.3), (0.3, "3"))) for op in "add subtract maximum minimum arctan2".split()},
    "mul": (jnp.multiply, two(n, ("3", 2))), "divide": (jnp.divide, two(n, (1, "3"), ("3", 4.0))),
    "power": (jnp.power, two(p, ("3", 2), ("3", 3.0), ("3", -2), ("3", 0), (2.0, "3"), (at(0, 0, 2), 2), (at(0, 0), at(1, 2)),
                             (WEAK[3:], "2"))),
    "ratio": (zero_where_zero(jnp.divide), two(n, (WEAK, EDGE))), "scale": (zero_where_zero(jnp.multiply), two(n, (WEAK, EDGE))),
    "where": (jnp.where, of((MASK, "23 23"), (MASK[0], "3 23"), (MASK, "3 -"), (MASK[:, :1], "3", 0.0), (np.array(True), "3 21"),
                            (ints(0, 2, 0), "3 3"), (at(0, 1), "2 2"))),
    "clip": (jnp.clip, of(("23", -0.7, 0.9), ("23", None, 0.5), ("23", -0.5), ("23", np.array(-0.5), p(3)), ("-", -0.5, 0.5),
                          ("3", -p(2, 1), p(2, 3)))),
    "half": (lambda x: x / 2, one(n)), "alias": (jnp.asarray, one(n)), "allreduce": (jnp.asarray, one(n)), "stopGradient": (lax.stop_gradient, one(n)),
    "exp": (jnp.exp, one(n, at(-800))), "expm1": (jnp.expm1, one(n, single([1e-6, -50]))), "tanh": (jnp.tanh, one(n, BIG)),
    "log1p": (jnp.log1p, one(p, single([1e-6, -0.5]))), "erf": (special.erf, one(n, at(-7, 7))),
    "gammaln": (special.gammaln, one(p, at(-1.5, 30))), "digamma": (special.digamma, one(p, at(-1.5, 30))),
    "erfc": (special.erfc, of("23", at(9))), "erfinv": (special.erfinv, of("23", domain=u)), "ndtri": (special.ndtri, of("23", domain=rows)),
    "logNdtr": (special.log_ndtr, of("23", at(-30, -19, 8))), "Gamma": (special.gamma, of("23", at(-1.5), domain=p)),
    "Beta": (special.beta, of("3 21", domain=p)), "betaln": (special.betaln, of("3 21", at(50), domain=p)[:1] + [(at(50), at(70))]),
    "gammainc": (special.gammainc, of((1.5, "23"), domain=p)), "gammaincc": (special.gammaincc, of((2.0, "23"), domain=p)),
    "betainc": (special.betainc, of((1.5, 2.5, "23"), domain=rows)),
    "besselJ": (bessel_j, of((0, "23"), (2, "-"))), "besselY": (bessel_y, of((0, "23"), (1, "-"), domain=p)),
    "erfcx": (lambda x: jnp.exp(x * x) * special.erfc(x), one(n)), "expi": (special.expi, one(n)),
    "dawsn": (functools.partial(dawsn, 0), one(n)), "ellipk": (functools.partial(ellipk, 0), one(u)),
    "ellipe": (functools.partial(ellipe, 0), one(u)), "lambertw": (lambertw, one(p)),
    "modulus": (jnp.abs, one(n)), "squared_modulus": (jnp.square, one(n)),
    "besselI": (bessel_i, of((0, "23"), (2, "-"))), "besselIe": (lambda v, x: bessel_i(v, x) * jnp.exp(-abs(x)), of((0, "23"), (1, "-"))),
    "besselK": (bessel_k, of((0, "23"), (0.5, "-"), domain=p)), "besselKe": (lambda v, x: bessel_k(v, x) * jnp.exp(x), of((1, "23"), domain=p)),
    "convolve": (jnp.convolve, of("5 3", "2 4")), "correlate": (lambda a, v: jnp.correlate(a, v, "valid"), of("5 3", "3 3")),
    "polygamma": (special.polygamma, of((1, "3"), (2, "23"), (3, "-"), (1, "0"), domain=p)),
    "sigmoid": (nn.sigmoid, one(n, BIG)), "logSigmoid": (nn.log_sigmoid, one(n, BIG)), "softplus": (nn.softplus, one(n, BIG)),
    "silu": (nn.silu, one(n, BIG)), "relu": (nn.relu, one(n, BIG)), "gelu": (lambda x: nn.gelu(x, approximate=False), one(n)),
    "leakyRelu": (nn.leaky_relu, one(n, ("3", 0.2), ("23", np.array(0.25)), ("23", p(3)))),
    "elu": (nn.elu, one(n, ("3", 0.5), ("23", np.array(1.5)), BIG)),
    "softmax": (nn.softmax, SOFT), "logSoftmax": (nn.log_softmax, SOFT),
    # products and rearrangements
    "broadcast": (broadcast, of("- 3", "3 23", "21 23", ("2 23", 1), ("3", (2, 3)), "3 3", ("2 232", (-2, -1)), ("3 232", -1), "1 0")),
    "unbroadcast": (lambda x, like, axis=(): transposed(lambda y: broadcast(y, x, axis), like, x), of(
        "23 3", "23 -", "23 21", ("23 2", 1), "23 23", "423 13", ("232 2", (-2, -1)), ("232 3", -1), "03 3", "0 1")),
    "dot": (jnp.matmul, FACTORS),
    "dot_left": (lambda d, a, b: transposed(lambda a: a @ b, a, d), [(n(*(a @ b).shape), a, b) for a, b in FACTORS]),
    "dot_right": (lambda d, a, b: transposed(lambda b: a @ b, b, d), [(n(*(a @ b).shape), a, b) for a, b in FACTORS]),
    "outer": (jnp.outer, of("2 3", "- 3", "22 31", "0 3")),
    "einsum": (lambda subscripts, *arrays: jnp.einsum(subscripts[0], *arrays), EINSUMS),
    "einsum_back": (einsum_back, of(("3 33", ("i", "ii")), ("2 23", ("i", "ij")), ("43 3", ("i", "i")), ("43 132", ("i", "ij")),
                                   ("- 23", ("", "ij")), ("23 223", ("ij", "iij")))),
    "reshape": (lambda x, shape: jnp.reshape(x, getattr(shape, "shape", shape)),
                of(("23", (3, 2)), ("23", (-1,)), ("-", (1, 1)), "23 6", ("1", ()), ("03", (3, 0)))),
    "transpose": (jnp.transpose, of("23", "234", ("234", (2, 0, 1)), ("234", (-1, 0, -2)), "-", "3")),
    "astype": (lambda x, dtype: x.astype(dtype[0]), of(("23", ("float64",)), ("-", ("float64",)), ("0", ("float64",)))),
    "mT": (jnp.matrix_transpose, of("23", "423")), "flip": (jnp.flip, of("3", "23", ("23", 0), ("23", -1), ("232", (0, 2)))),
    "roll": (jnp.roll, of(("3", 1), ("23", 1), ("23", -2, 1), ("23", (1, 2), (0, 1)), ("23", 7, -1), ("23", 1, (0, 1)))),
    "pad": (jnp.pad, of(("3", 1), ("23", ((1, 0), (0, 2))), ("23", (1, 2)), ("23", 0), ("-", 1))),
    "unpad": (unpad, of(("5", 1), ("45", ((1, 0), (0, 2))), ("45", (1, 2)), ("23", 0))),
    "concat": (lambda axis, *arrays: jnp.concatenate(arrays, axis), of(
        (0, "2 3"), (1, "23 21"), (-1, "23 22 21"), (0, "3"), (0, "03 23"))),
    "part": (lambda x, i, axis, *arrays: jnp.split(x, np.cumsum([a.shape[axis] for a in arrays])[:-1], axis)[i], of(
        ("5", 1, 0, "2 3"), ("24", 0, 1, "23 21"), ("25", 1, -1, "23 20 22"), ("52", 2, -2, "12 22 22"))),
    "stack": (lambda axis, *arrays: jnp.stack(arrays, axis), of(
        (0, "3 3"), (1, "23 23"), (-1, "3 3 3"), (-2, "23 23"), (0, "- -"), (0, "3"))),
    "trace": (jnp.trace, of("33", "23", "32")),
    "diag": (jnp.diag, of("3", "33", "23", ("23", 1), ("23", -1), ("32", 1), ("3", 1), ("2", -2))),
    "diag_back": (lambda d, x, k=0: transposed(lambda x: jnp.diag(x, k), x, d), of(
        "3 33", ("2 23", 1), ("1 23", -1), ("1 32", 1), "33 3", ("44 3", 1))),
    # reductions
    "sum": (reducing(jnp.sum), reduced(*EMPTY)), "mean": (reducing(jnp.mean), reduced(*EMPTY[2:])),
    "max": (reducing(jnp.max), reduced(EMPTY[2])), "min": (reducing(jnp.min), reduced(EMPTY[2])),
    "prod": (reducing(jnp.prod), reduced(*EMPTY, at(2, 0, 3), at(2, 0, 0), (TABLE - 1, 0), (TABLE - 1, 1), (TABLE, (0, 1)))),
    "var": (spread(jnp.var), reduced(*SPREADS)), "std": (spread(jnp.std), reduced(*SPREADS)[1:]),
    "squaredNorm": (lambda x, axis=None, keepdims=False: jnp.sum(x * x, axis, keepdims=keepdims), reduced()),
    "norm": (reducing(linalg.norm), reduced()[1:]), "frobeniusNorm": (linalg.norm, of("23", "3", "232")),
    "logsumexp": (reducing(special.logsumexp), reduced(*EMPTY[2:], BIG, at(-np.inf, 1, 2))),
    "logaddexp": (jnp.logaddexp, two(n, (at(1000, -1000), at(-1000, -1001)), (at(-np.inf), at(1)))),
    "exp_difference": (lambda x, y: jnp.exp(x - y), two(n, (at(1000), at(1001)))),
    "cumsum": (jnp.cumsum, of(*RUNNING)), "cumprod": (jnp.cumprod, of(*RUNNING, at(2, 0, 3, 4), (TABLE - 1, 1), TABLE)),
    "prod_of_others": (lambda x, axis=None: jax.grad(lambda x: jnp.sum(jnp.prod(x, axis)))(x), of("3", ("23", 1), ("232", (0, 2)), at(2, 0, 3), at(2, 0, 0))),
    "shift": (shift, of(("4", 0), ("23", 1, 1.0), ("23", -2), ("0", 0), ("13", 0))),
    "recurrence": (recurrence, of(("4 4", 0), ("23 23", 1), ("23 23", -2), ("1 1", 0), ("0 0", 0))),
    "centered": (lambda x, axis=None: x - x.mean(axis, keepdims=True), of("23", ("23", 1), ("232", (0, 2)), ("3", -1))),
    "ties": (ties, [(LINE, np.full(LINE.shape, 3.0)), (TABLE, np.broadcast_to(at([3], [1]), (2, 3)), 1),
                    (TABLE, np.broadcast_to(at(1, 3, 3), (2, 3)), 0), (TABLE, np.full((2, 3), 3.0))]),
    "count": (lambda x, axis=None: jnp.ones(x.shape, int).sum(axis).max(), of("23", ("23", -2), ("232", (0, -1)), "-")),
    # indexing
    "getitem": (lambda x, *keys: x[keys], of(
        ("4", 1), ("4", -1), ("4", slice(1, 3)), ("4", slice(4, 2)), ("23", ALL, 0), ("23", None, ..., BACK), "-", "4", ("4", AGAIN),
        ("3", MASK[0]), ("23", MASK), ("234", MASK), ("23", ALL, MASK[0]), ("32", AGAIN, 1), ("23", ints(0, 1, 1), ints(2, 0, 0)),
        ("32", ints([0], [2]), ints(1, 1)), ("234", 0, ALL, AGAIN), ("234", ALL, AGAIN, None, -1), ("4", ints()),
        ("23", np.int64(1)), ("23", np.array(1)))),
    "scatterAdd": (lambda d, like, *keys: jnp.zeros(like.shape).at[keys].add(d), of(
        ("- 4", 1), ("4 3", AGAIN), ("2 23", ALL, 1), ("2 3", MASK[0]), ("4 23", MASK), ("43 23", AGAIN),
        ("2 23", ints(1, 1), ints(2, 2)), ("12 4", None, BACK))),
    "take": (jnp.take, of(("4", AGAIN), ("23", AGAIN, 0), ("23", AGAIN, -1), ("23", 1, 1), ("23", 4), ("232", -1, -3),
                          ("232", AGAIN, -2), ("23", ints([5, 0], [0, 1])), ("23", ints([0, 1], [1, 1]), 1))),
    # matrices
    "inv": (linalg.inv, MATRICES), "det": (linalg.det, [*MATRICES, (SINGULAR,), (np.stack([SINGULAR, regular(3, 3)]),)]),
    "pinv": (linalg.pinv, [*of("32", "23"), *MATRICES]), "det_sign": (lambda a: linalg.slogdet(a)[0], MATRICES),
    "logabsdet": (lambda a: linalg.slogdet(a)[1], MATRICES), "cofactor": (cofactor, [*MATRICES, (SINGULAR,)]),
    "cofactor_slope": (lambda t, a: jax.jvp(cofactor, (a,), (t,))[1], [(n(*a.shape), a) for (a,) in MATRICES]),
    "column": (lambda x, b: x.reshape(*x.shape, *[1] * (b.ndim == 1)), of("3 3", "23 3", "23 23")),
    "solve": (linalg.solve, [(regular(*a.shape), b) for a, b in of(
        "33 3", "33 32", "233 232", "33 432", "233 32", "233 3", "333 3", "2133 432")]),
    "cholesky": (linalg.cholesky, of("33", "233", "11", domain=regular)),
    "lower_half": (lambda x: jnp.tril(x, -1) + jnp.eye(x.shape[-1]) * x / 2, of("33", "233")),
    "eigvalsh": (linalg.eigvalsh, of("33", "233")), "eigenvectors": (lambda a: linalg.eigh(a)[1], of("33", "233")),
    "inverse_gaps": (inverse_gaps, [(at(1, -2, 5), n(3, 3), n(3, 3), True), (at([1, 2.5], [3, 0]), n(2, 2, 2), n(2, 2, 2), True)]),
    "inverse_values": (inverse_values, [(at(3, 2), n(4, 2), n(4, 2), True), (at([3, 2.5], [2, 1]), n(2, 2, 2), n(2, 2, 2), True)]),
    "svdvals": (linalg.svdvals, of("33", "42", "23")), "left_vectors": (left_vectors, of("33", "42", "23")),
    "right_vectors": (right_vectors, of("33", "42", "23")),
    "orthonormal": (lambda a: linalg.qr(a)[0], of("33", "42", domain=n)), "upper": (lambda a: linalg.qr(a)[1], of("33", "242")),
    "expm": (jax.scipy.linalg.expm, of("33")), "sylvester": (sylvester, [(regular(3, 3), regular(2, 2), n(3, 2))]),
    "sqrtm": (root, [(regular(3, 3),)]),
    # losses
    "crossEntropy": (over_classes(lambda p, y: -special.xlogy(y, p)), labelled(rows)),
    "softmaxCrossEntropy": (over_classes(lambda z, y: -y * nn.log_softmax(z)), [*labelled(n), (at(-431, 279, 427), ints(0)[0])]),
    "hinge": (over_classes(lambda z, y: (1 - y) * nn.relu(1 + z - jnp.sum(y * z, -1, keepdims=True))), labelled(n)),
    "sigmoidCrossEntropy": (lambda z, y: -target(y, z) * nn.log_sigmoid(z) - (1 - target(y, z)) * nn.log_sigmoid(-z),
                            [*entrywise(p), (BIG[0], at(0, 1, 0, 0.5)), (BIG[0], ints(0, 1, 0, 1))]),
    "squaredError": (lambda x, v: (x - target(v, x)) ** 2 / 2, entrywise(n)), "oneHot": (target, [c[::-1] for c in labelled(n)]),
    # values without derivative
    **{op: (getattr(jnp, op), two(n, (at(1, 2), at(1, 3)))) for op in
       "equal not_equal less less_equal greater greater_equal logical_and logical_or".split()},
    "share": (lambda x, y: jnp.heaviside(x - y, 0.5), two(n, (at(1, 2, 3), at(1, 3, 2)), ("3", 0.3))),
    **{op: (getattr(jnp, op), of(EDGE, "-", MASK)) for op in "logical_not isnan isfinite signbit".split()},
    "round": (jnp.round, one(n, ("3", 1), at(0.5, 1.5, -2.5), (100 * n(3), -1))),
    "argmax": (jnp.argmax, EXTREMES), "argsort": (jnp.argsort, of("3", "23", ("23", 0), ("23", -1), LINE)),
}


# ---- the tests --------------------------------------------------------------------------------------------------------

def real(a):
    return isinstance(a, np.ndarray) and a.dtype.kind == "f"


# JAX compiles these for seconds, and the sweep compares all cases with differences: XMAN_ALL_CASES=1 asks it of them too, and
# of every case where else it is asked of one in twelve of every other operator
SLOWLY = set(
    "erfcx dawsn expi ellipk ellipe lambertw logNdtr ndtri Gamma Beta betaln gammainc gammaincc betainc besselY besselI besselIe besselK besselKe eigvalsh eigenvectors svdvals "
    "left_vectors right_vectors orthonormal upper expm sylvester sqrtm".split())
ASKED = sorted(ROWS)
if not os.environ.get("XMAN_ALL_CASES"):
    ROWS = {op: (oracle, cases[::12]) for op, (oracle, cases) in ROWS.items() if op not in SLOWLY}
    ASKED = sorted(ROWS)[::2]
EVERY = [(op, k) for op in ASKED for k in range(len(ROWS[op][1]))]
# the places of float arrays that have a rule, or have none
RULED, NOT_RULED = ([(op, k, i) for op, k in EVERY for i, a in enumerate(ROWS[op][1][k]) if real(a) and (DG[op][i] is not None) == rule]
                    for rule in (True, False))


@functools.cache
def truth(op):
    """For each case the value and, by argument, (a delta, its jax.vjp, a tangent, its jax.jvp): one program an operator."""
    oracle, cases = ROWS[op]
    random = np.random.default_rng(1)

    def both_modes(args, i):
        along = lambda x: oracle(*args[:i], x, *args[i + 1:])
        out, pull = jax.vjp(along, args[i])
        d, t = (single(random.normal(size=a.shape)) for a in (out, args[i]))
        return d, pull(d)[0], t, jax.jvp(along, (args[i],), (t,))[1]

    def program(arrays):
        for args, varied in zip(cases, arrays, strict=True):
            args = [varied.get(i, a) for i, a in enumerate(args)]
            out = jnp.asarray(oracle(*args))
            yield out, {i: both_modes(args, i) for i in varied if out.dtype.kind == "f"}

    varied = [{i: a for i, a in enumerate(args) if real(a)} for args in cases]
    return jax.tree.map(np.asarray, at_once(lambda arrays: list(program(arrays)), varied))


def narrow(op, k):
    return [a.astype(np.float32) if real(a) else ("float32",) if isinstance(a, tuple) and a == ("float64",) else a for a in ROWS[op][1][k]]


def agree(ours, right, rtol, atol, dtype=float):
    right = right.astype(dtype) if right.dtype.kind == "f" else right
    np.testing.assert_allclose(np.asarray(ours), right, rtol, atol, strict=True)


def test_every_operator_has_an_oracle():
    # JAX has no strings; tests/ops/test_lookups.py has their values; test_loops.py compares loops with jax.lax
    assert not (lacking := OURS - ROWS.keys() - SLOWLY - OF_STRINGS - APPLYING.keys()), f"no row for {sorted(lacking)}"


@in_each(EVERY, some=1)
def test_the_value_is_the_oracles(op, k):
    agree(G[op](*ROWS[op][1][k]), truth(op)[k][0], rtol=1e-10, atol=1e-13)


@in_each(RULED, some=1)
def test_the_contribution_is_the_oracles(op, k, i):
    args, (d, right, _, _) = ROWS[op][1][k], truth(op)[k][1][i]
    agree(DG[op][i](d, G[op](*args), *args), right, rtol=1e-9, atol=1e-10)


@in_each(RULED, some=1)
def test_the_tangent_is_the_oracles(op, k, i):
    args, (_, _, t, right) = ROWS[op][1][k], truth(op)[k][1][i]
    agree(TG[op][i](t, G[op](*args), *args), right, rtol=1e-9, atol=1e-10)


@in_each(NOT_RULED, some=1)
def test_an_argument_without_a_rule_has_no_derivative(op, k, i):
    assert TG[op][i] is None
    assert not (truth(op)[k][0].dtype.kind == "f" and truth(op)[k][1][i][1].any())


@in_each(EVERY, some=1)
def test_the_value_stays_in_single_precision(op, k):
    agree(G[op](*narrow(op, k)), truth(op)[k][0], rtol=2e-4, atol=1e-5, dtype=np.float32)


@in_each(RULED, some=1)
def test_the_contribution_stays_in_single_precision(op, k, i):
    args, (d, right, _, _) = narrow(op, k), truth(op)[k][1][i]
    agree(DG[op][i](d.astype(np.float32), G[op](*args), *args), right, rtol=2e-4, atol=1e-5, dtype=np.float32)
