"""The table of the JAX engine: each operator as a function of jax.numpy, most under its name there.

An operator that is not here is computed by its own function. JAX raises no errors while it computes:
`indices` and FINITE say what the engine has to check, such as labels out of range and singular matrices.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter

import jax
import numpy as np
from jax import lax, nn
from jax import numpy as jnp
from jax.scipy import linalg as slinalg
from jax.scipy import special

from ops import G, facts_of
from ops.arrays.products import subscripts_of
from ops.arrays.rearrangements import in_precision_of, shape_of
from ops.formulas.carried import through
from ops.functions import LOG_ROOT_TWO_PI, tail
from ops.table import OURS

from ..program import Kind, compares


def turned(u, vt): return (jnp.linalg.det(u) * jnp.linalg.det(vt))[..., None, None]
def log_tail(z): return jnp.log(tail(z) / z) - 0.5 * z * z - LOG_ROOT_TWO_PI


def broadcast(x, like, axis=()):
    x, shape = jnp.expand_dims(x, axis), shape_of(like)
    return in_precision_of(jnp.broadcast_to(x.reshape(x.shape[max(0, x.ndim - len(shape)):]), shape), like)


def einsum_back(x, like, letters):
    kept, mine = letters
    forth = lambda y: jnp.broadcast_to(jnp.einsum(f"...{mine}->...{kept}", y), x.shape)
    return in_precision_of(jax.linear_transpose(forth, jnp.zeros(like.shape, x.dtype))(x)[0], like)


def recurrence(x, a, axis):
    def step(y, xa):
        y = xa[0] + xa[1] * y
        return y, y

    x, a = jnp.moveaxis(x, axis, 0), jnp.moveaxis(a, axis, 0)
    return jnp.moveaxis(jnp.concatenate([x[:1], lax.scan(step, x[0], (x[1:], a[1:]))[1]]) if len(x) > 1
                        else x, 0, axis)


def cofactor(a):
    u, s, vt = jnp.linalg.svd(a)
    others = jnp.where(np.eye(s.shape[-1], dtype=bool), 1.0, s[..., None, :]).prod(-1)  # Π s without the i-th
    return turned(u, vt) * ((u * others[..., None, :]) @ vt)


def cofactor_slope(t, a):
    u, s, vt = jnp.linalg.svd(a)
    others = ~np.eye(s.shape[-1], dtype=bool)
    pairs = jnp.where(others[:, None] & others, s[..., None, None, :], 1.0).prod(-1) * others.astype(s.dtype)
    m = u.mT @ t @ vt.mT
    inner = (jnp.eye(s.shape[-1], dtype=s.dtype) * jnp.einsum("...ij,...jj->...i", pairs, m)[..., None]
             - pairs * m.mT)
    return turned(u, vt) * (u @ inner @ vt)


FUNCTIONS = {
    **{row.__name__: row for row in (broadcast, cofactor, cofactor_slope, einsum_back, recurrence)},
    "getitem":    G["getitem"],
    "remainder":  lambda x, y: jnp.where((r := jnp.remainder(x, y)) == 0, jnp.copysign(r, y), r),
    "floor_divide": lambda x, y: jnp.where((q := jnp.floor_divide(x, y)) == 0, jnp.copysign(q, jnp.divide(x, y)), q),
    "astype":     lambda x, dtype: x.astype(dtype[0]),
    "einsum":     lambda subscripts, *arrays: jnp.einsum(subscripts_of(subscripts)[0], *arrays),
    "reshape":    lambda x, shape: jnp.reshape(x, shape_of(shape)),
    "concat":     lambda axis, *arrays: jnp.concatenate(arrays, axis),
    "stack":      lambda axis, *arrays: jnp.stack(arrays, axis),
    "scatterAdd": lambda d, like, *keys: in_precision_of(jnp.zeros(like.shape, d.dtype).at[keys].add(d) if keys and like.ndim
                                              else jnp.reshape(d, like.shape), like),  # XLA dies of a scatter without an index
    "take":       lambda x, indices, axis=None: jnp.take(x, indices, axis, mode="wrap"),
    "pinv":       lambda a: jnp.linalg.pinv(a, 1e-15),  # NumPy's bound on small singular values
    "eigvalsh":   lambda a: jnp.linalg.eigvalsh(a),
    "eigenvectors": lambda a: jnp.linalg.eigh(a)[1],  # with the signs of ("L",) alone
    "left_vectors": lambda a: jnp.linalg.svd(a, full_matrices=False)[0],
    "right_vectors": lambda a: jnp.linalg.svd(a, full_matrices=False)[2].mT,
    "orthonormal": lambda a: jnp.linalg.qr(a)[0],
    "upper":      lambda a: jnp.linalg.qr(a)[1],
    "correlate":  lambda a, v: jnp.correlate(a, v, "valid"),
    "logNdtr":    lambda x: jnp.where(x < -20, log_tail(jnp.where(x < -20, -x, 20.0)), special.log_ndtr(x)),
    "det_sign":   lambda a: jnp.linalg.slogdet(a)[0],
    "logabsdet":  lambda a: jnp.linalg.slogdet(a)[1],
}

# functions that the array API lacks
SPECIAL = {
    **{op: getattr(special, op) for op in
       "betainc betaln digamma erf erfc erfinv gammainc gammaincc gammaln ndtri polygamma".split()},
    "Beta": special.beta, "Gamma": special.gamma, "expm": slinalg.expm,
}


def reduced(function: Callable) -> Callable:
    return lambda x, axis=None, keepdims=False: function(x, axis=axis, keepdims=keepdims)


RUN = {
    **{op: attrgetter(name)(jnp) for op in OURS - {"mean", "std", "var"} if (
        name := facts_of(op).numpy or isinstance(G[op], np.ufunc) and G[op].__name__)},
    **{op: getattr(jnp, op) for op in ("argsort", "clip", "convolve", "trace")},
    **{op: reduced(getattr(jnp, op)) for op in ("sum", "max", "min", "prod")},
    "cholesky": jnp.linalg.cholesky, "svdvals": jnp.linalg.svdvals, "dot": jnp.matmul,
    "mT": jnp.matrix_transpose, "sigmoid": nn.sigmoid, **SPECIAL, **FUNCTIONS,
}
RUN |= {op: through(rule, RUN) for op in OURS - RUN.keys()
        if (rule := facts_of(op).elsewhere or facts_of(op).formula)}

# ---- where JAX and NumPy differ ----------------------------------------------------------------------------

FINITE = {"cholesky", "cofactor", "cofactor_slope", "eigenvectors", "eigvalsh", "inv", "left_vectors", "pinv", "right_vectors",
          "solve", "svdvals"}  # NumPy raises an error if these are infinite or NaN
INEXACT = {"power", "floor_divide", "remainder"}  # for whole numbers: NumPy refuses some, rounds otherwise
# the places of labels and predictions
LABELS = {"oneHot": (0, 1)} | dict.fromkeys([op for op in OURS if facts_of(op).outputs], (1, 0))
# of truth values these make truth values again
OF_TRUTHS = {"dot_left", "dot_right", "eigenvectors", "eigvalsh", "frobeniusNorm", "norm", "squaredNorm"}
# these add up whole numbers before they are floats
STEPWISE = {"cholesky", "einsum_back", "scatterAdd", *LABELS} - {"oneHot"}
OWN_PRECISION = {"unbroadcast", "scatterAdd"}  # they add up in the precision of their first argument


def indices(op: str, args: tuple, kinds: Mapping[str, Kind]) -> Iterator[tuple[str, int, int]]:
    """(register, least, beyond): each register that is an index or a label, and its range."""
    shape = lambda a: kinds[a].shape if isinstance(a, str) else np.shape(a)
    if op in LABELS:
        y, like = (args[i] for i in LABELS[op])
        if (isinstance(y, str) and kinds[y].dtype.kind != "f" and shape(y) != shape(like)
            and shape(like)[-1] > 1):
            yield y, 0, shape(like)[-1]
    elif op == "take" and isinstance(args[1], str):
        n = math.prod(shape(args[0])) if args[2:] in ((), (None,)) else shape(args[0])[args[2]]
        yield args[1], -n, n
    elif keys := args[(first := facts_of(op).keys):]:
        sizes = shape(args[first - 1])
        width = [0 if key is None or key is ... else np.ndim(key) if np.asarray(key).dtype.kind == "b" else 1
                 for key in keys]
        axis = 0
        for key, n in zip(keys, width, strict=True):
            if isinstance(key, str):
                yield key, -sizes[axis], sizes[axis]
            axis += len(sizes) - sum(width) if key is ... else n


def dtypes(args: tuple, kinds: Mapping[str, Kind]) -> list[np.dtype | None]:
    """The precision of each argument; None for one that takes the precision of the others."""
    return [kinds[a].dtype if isinstance(a, str) else getattr(a, "dtype", None) for a in args]


def casts(dst: str, op: str, args: tuple, kinds: Mapping[str, Kind]) -> list[np.dtype | None]:
    """The precision to which each argument is cast first, since JAX promotes otherwise; None for no cast."""
    found, want = dtypes(args, kinds), kinds[dst].dtype
    if compares(op) and any(found):
        want = np.result_type(*filter(None, found))
    elif op == "astype" or want.kind == "b":
        return [None] * len(args)
    stays = {0} if op == "where" else {*range(facts_of(op).keys, len(args))}
    if op in LABELS and (label := found[LABELS[op][0]]) and label.kind != "f":
        stays = {LABELS[op][0]}
    own = op in OWN_PRECISION or want.kind != "f"
    return [None if dtype is None or dtype == want or i in stays or own and dtype.kind == "f" else want
            for i, dtype in enumerate(found)]
