"""The table of the JAX engine: what `arrays.on` makes of jax.numpy, and rows that JAX has beyond that.

An operator that is not in RUN is computed by its own function. JAX raises no errors while it computes:
`indices` and FINITE say what the engine has to check, such as labels out of range and singular matrices.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
from jax import lax, nn
from jax import numpy as jnp
from jax.scipy import linalg as slinalg
from jax.scipy import special

from ops import G, facts_of
from ops.arrays.indexing import axes_taken, written_out
from ops.arrays.products import subscripts_of
from ops.arrays.rearrangements import in_precision_of
from ops.functions import LOG_ROOT_TWO_PI, decline
from ops.matrices.algebra import slope_by_svd
from ops.table import OURS

from ..arrays import on
from ..program import Kind

STANDARD = on(jnp)


def log_tail(z): return jnp.log((1.0 + decline(z * z)) / z) - 0.5 * z * z - LOG_ROOT_TWO_PI


def recurrence(x, a, axis):
    def step(y, xa):
        y = xa[0] + xa[1] * y
        return y, y

    x, a = jnp.moveaxis(x, axis, 0), jnp.moveaxis(a, axis, 0)
    return jnp.moveaxis(jnp.concatenate([x[:1], lax.scan(step, x[0], (x[1:], a[1:]))[1]]) if len(x) > 1
                        else x, 0, axis)


def cofactor(a):
    u, s, vt = jnp.linalg.svd(a)
    products = jnp.where(np.eye(s.shape[-1], dtype=bool), 1.0, s[..., None, :]).prod(-1)  # Π s but the i-th
    sign = jnp.linalg.det(u) * jnp.linalg.det(vt)
    return sign[..., None, None] * ((u * products[..., None, :]) @ vt)


def zero_signed(rule: Callable, like: Callable) -> Callable:
    """The rule, where a zero has the sign of like(x, y)."""
    return lambda x, y: jnp.where((z := rule(x, y)) == 0, jnp.copysign(z, like(x, y)), z)


SPECIAL = "betainc betaln digamma erf erfc erfinv gammainc gammaincc gammaln ndtri polygamma".split()
OWN = {
    **{op: getattr(special, op) for op in SPECIAL}, "convolve": jnp.convolve, "cumprod": jnp.cumprod,
    "cofactor": cofactor, "cofactor_slope": partial(slope_by_svd, jnp), "recurrence": recurrence,
    "expi": lambda x: jnp.where(x == 0, -math.inf, special.expi(x)),  # NaN there
    "Beta": special.beta, "Gamma": special.gamma, "expm": slinalg.expm, "sigmoid": nn.sigmoid,
    "logNdtr": lambda x: jnp.where(x < -20, log_tail(jnp.where(x < -20, -x, 20.0)), special.log_ndtr(x)),
    "remainder": zero_signed(STANDARD["remainder"], lambda x, y: y),
    "floor_divide": zero_signed(STANDARD["floor_divide"], STANDARD["divide"]),
    "getitem": G["getitem"],
    "take": lambda x, indices, axis=None: jnp.take(x, indices, axis, mode="wrap"),
    "scatterAdd": lambda d, like, *keys: in_precision_of(jnp.zeros(like.shape, d.dtype).at[keys].add(d) if keys and like.ndim
                                              else jnp.reshape(d, like.shape), like),  # XLA dies of a scatter without an index
    "einsum": lambda subscripts, *arrays: jnp.einsum(subscripts_of(subscripts)[0], *arrays),
    "correlate": lambda a, v: jnp.correlate(a, v, "valid"),
    "pinv": lambda a: jnp.linalg.pinv(a, 1e-15),  # NumPy's bound on small singular values
}
RUN = {op: row for op, row in on(jnp, **OWN).items() if op in OURS}

# ---- where JAX and NumPy differ ----------------------------------------------------------------------------

# NumPy raises an error if these are infinite or NaN; and SciPy alone tells the side of a pole
FINITE = {"cholesky", "cofactor", "cofactor_slope", "eigenvectors", "eigvalsh", "inv", "pinv", "solve"}
FINITE |= {"left_vectors", "right_vectors", "svdvals", "Beta", "Gamma"}
INEXACT = {"power", "floor_divide", "remainder"}  # for whole numbers: NumPy refuses some, rounds otherwise
# the places of labels and predictions
LABELS = {"oneHot": (0, 1)} | dict.fromkeys([op for op in OURS if facts_of(op).outputs], (1, 0))


def indices(op: str, args: tuple, kinds: Mapping[str, Kind]) -> Iterator[tuple[str, int, int]]:
    """(register, least, beyond): each register that is an index or a label, and its range."""
    shape = lambda a: kinds[a].shape if isinstance(a, str) else np.shape(a)
    if op in LABELS:
        y, n = args[LABELS[op][0]], shape(args[LABELS[op][1]])
        if isinstance(y, str) and kinds[y].dtype.kind != "f" and shape(y) != n and n[-1] > 1:
            yield y, 0, n[-1]
    elif op == "take" and isinstance(args[1], str):
        n = math.prod(shape(args[0])) if args[2:] in ((), (None,)) else shape(args[0])[args[2]]
        yield args[1], -n, n
    elif keys := args[(first := facts_of(op).keys):]:
        sizes = shape(args[first - 1])
        axis = 0
        for key in written_out(keys, len(sizes)):
            if isinstance(key, str):
                yield key, -sizes[axis], sizes[axis]
            axis += axes_taken(key)
