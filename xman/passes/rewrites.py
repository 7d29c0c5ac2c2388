"""The rewrites, in tables that `simplify` takes.

EXACT    every value stays the same to the last bit
STABLE   the same function, computed without overflow and cancellation: better values, other bits
ALGEBRA  the same function of real numbers, shorter, with other roundings; each row says what changes
"""
from __future__ import annotations

import math

import numpy as np

from ops import Expression, f
from ops.arrays.rearrangements import none_of
from ops.writer import defining_line

from .loops.sums import hoisted
from .patterns import Rewrites, floats, rewrite, shaped


def is_real(w, x, *_): return w.real(x)
def second_real(w, x, y): return w.real(y)
def first_float(w, x, *_): return floats(w, x)  # for rows whose second argument may hold labels
def is_real_number(w, x): return w.shape(x) == () and w.real(x)
def both_numbers(w, a, b, *holes): return nonzero_literal(w, a) and nonzero_literal(w, b, *holes)
def literal_second(w, x, c): return nonzero_literal(w, c)  # x may be truth values, such as a mask


def condition(w, c, x):
    """Whether c holds truth values of the shape of x, and x is a float."""
    truths = w.value(c) if w.discrete(c) else None
    return truths is not None and np.asarray(truths).dtype == bool and w.shape(c) == w.shape(x)


def nonzero_literal(w, c, *holes):
    """Whether c is a literal number other than 0."""
    number = isinstance(c, (int, float)) and not isinstance(c, bool)
    return number and c != 0 and np.isfinite(c) and floats(w, *holes)


def sum_of_axes(w, x, like, axis=()):
    have, want = w.shape(x), w.shape(like)
    if not none_of(axis) or not have or want is None or not isinstance(x, Expression):
        return x if none_of(axis) and w.alike(x, like) else None
    extra = len(have) - len(want)
    added = tuple(i for i in range(len(have)) if i < extra or want[i - extra] == 1 != have[i])
    if added and (extra == 0 or len(added) == extra) and w.real(x) and w.one_precision:
        return f.sum(x, added[0] if len(added) == 1 else added, extra == 0)
    return x if w.alike(x, like) else None


def spread_once(w, x, like, axis=()):
    number = spread_number(w, x)
    if number is not None or not none_of(axis) and w.shape(x) == () and w.one_precision:
        return f.broadcast(x if number is None else number, like)
    return x if none_of(axis) and w.alike(x, like) else None


def spread_number(w, x):
    """The number that x is a broadcast of, if this is known."""
    op, args = defining_line(x)
    return args[0] if op == "broadcast" and w.shape(args[0]) == () and w.one_precision else None


def joined_sum(w, a, b):
    """concat(0, x, zeros) + concat(0, zeros, y), the tangent of joined arrays, piece by piece."""
    (op, left), (other, right) = defining_line(a), defining_line(b)
    if op not in ("concat", "stack") or op != other or left[0] != right[0] or len(left) != len(right):
        return None
    pieces = []
    for x, y in zip(left[1:], right[1:], strict=True):
        if w.shape(x) is None or w.shape(x) != w.shape(y) or not floats(w, x, y):
            return None
        x, y = (y, x) if is_spread_zero(w, x) else (x, y)
        if not is_spread_zero(w, y):
            return None
        pieces.append(x + 0.0)
    return getattr(f, op)(left[0], *pieces)


def is_spread_zero(w, x):
    """Whether x is known to be 0 everywhere, and not −0."""
    x = x if isinstance(x, np.ndarray) else spread_number(w, x)
    return isinstance(x, (np.ndarray, int, float)) and not np.any(x) and not np.any(np.signbit(x))


def outright(op):
    """The rewrite of op that drops broadcasts of its arguments, which op does by itself."""
    def becomes(w, *args):
        for i, a in enumerate(args):
            inner_op, inner = defining_line(a)
            if inner_op == "broadcast" and len(inner) == 2 and w.one_precision:
                shapes = [w.shape(b) for j, b in enumerate(args) if j != i]
                if None in (*shapes, w.shape(a), w.shape(inner[0])):
                    continue
                of_inner, of_a = ((w.shape(x), *shapes) for x in (inner[0], a))
                if np.broadcast_shapes(*of_inner) == np.broadcast_shapes(*of_a):
                    return getattr(f, op)(*args[:i], inner[0], *args[i + 1:])
        return None
    return becomes


ADJOINTS = {  # (of a, of b) in a product d of a and b, by their numbers of axes; 3 is a batch of matrices
    (1, 2): (None,                          lambda d, a, b: f.outer(a, d)),
    (2, 1): (lambda d, a, b: f.outer(d, b), None),
    (2, 2): (lambda d, a, b: d @ b.T,       lambda d, a, b: a.T @ d),
    (3, 3): (lambda d, a, b: d @ f.mT(b),   lambda d, a, b: f.mT(a) @ d)}


def adjoint_by_axes(i):
    """The rewrite of the adjoint of argument i, if d has the shape of the product and a is not sparse."""
    def becomes(w, d, a, b):
        one, two, product = w.shape(a), w.shape(b), w.shape(d)
        if not (one and two and product and isinstance(w.value(a), np.ndarray)):
            return None
        batches = len(one) > 2 and one[:-2] == two[:-2] == product[:-2]
        if not batches and (one[-1] != two[0] or product != one[:-1] + two[1:]):
            return None
        adjoint = ADJOINTS.get((3, 3) if batches else (len(one), len(two)), (None, None))[i]
        return adjoint and adjoint(d, a, b)
    return becomes


def literal_count(w, x, axis=None, less=0):
    """The count as a literal, but where float16 could not hold it and it has to stay a number of float32."""
    literals = not isinstance(axis, Expression) and not isinstance(less, Expression)
    n = f.count(w.value(x), axis, less) if literals and w.shape(x) is not None else None
    return n if type(n) is int else None


def spreads(w, x, like):
    """Whether x is known to broadcast to the shape of like."""
    have, want = w.shape(x), w.shape(like)
    if not isinstance(x, Expression) or None in (have, want) or len(have) > len(want):
        return False
    return all(n in (1, m) for n, m in zip(have[::-1], want[::-1], strict=False))


EXACT = Rewrites((
    #        found                                        becomes                       where
    rewrite(lambda x: f.alias(x),                         lambda x: x),
    rewrite(lambda x: x * 1,                              lambda x: x,                  where=is_real),
    rewrite(lambda x: x / 1,                              lambda x: x,                  where=is_real),
    rewrite(lambda x: x - 0,                              lambda x: x,                  where=is_real),
    rewrite(lambda x: x ** 1,                             lambda x: x,                  where=is_real),
    rewrite(lambda x: f.negative(-x),                     lambda x: x),
    rewrite(lambda x: x * -1,                             lambda x: -x,                 where=is_real),
    rewrite(lambda x, y: x + (-y),                        lambda x, y: x - y,           where=second_real),
    rewrite(lambda x, y: x - (-y),                        lambda x, y: x + y,           where=second_real),
    rewrite(lambda x, y: -x * y,                          lambda x, y: -(x * y),        where=is_real),
    rewrite(lambda x, y: -x / y,                          lambda x, y: -(x / y),        where=is_real),
    rewrite(lambda x, y: x / -y,                          lambda x, y: -(x / y),        where=second_real),
    rewrite(lambda x: x + x,                              lambda x: 2 * x,              where=is_real),
    rewrite(lambda x: f.transpose(f.transpose(x)),        lambda x: x),
    rewrite(lambda x: f.mT(f.mT(x)),                      lambda x: x),
    rewrite(lambda x: f.getitem(x),                       lambda x: x),
    rewrite(lambda x, a: f.flip(f.flip(x, a), a),         lambda x, a: x),
    rewrite(lambda x, y: f.unbroadcast(f.unbroadcast(x, y), y), lambda x, y: f.unbroadcast(x, y)),
    rewrite(lambda c, x: f.not_equal(f.broadcast(c, x), 0.0), lambda c, x: c,           where=condition),
    rewrite(lambda c, y: f.scale(c, y),                   lambda c, y: c * y,           where=nonzero_literal),
    rewrite(lambda c, y: f.ratio(c, y),                   lambda c, y: c / y,           where=nonzero_literal),
    #       operator                                      becomes where shapes are known
    shaped("scale",                                       lambda w, x, y: x if isinstance(y, float) and y == 1
                                                          and is_real_number(w, x) else None),
    shaped("unbroadcast",                                 sum_of_axes),
    shaped("broadcast",                                   spread_once),
    shaped("reshape",                                     lambda w, x, to: x if w.shape(x) is not None and w.shape(x) == (
                                                          to if isinstance(to, tuple) else w.shape(to)) else None),
    shaped("transpose",                                   lambda w, x, *_: x if w.shape(x) is not None and len(w.shape(x)) < 2
                                                          else None),
    shaped("add",                                         joined_sum,                   "sum of joined arrays"),
    shaped("oneHot",                                      lambda w, y, like: y if w.real(y) and spreads(w, y, like) else None),
    shaped("count",                                       literal_count),
    shaped("dot_left",                                    adjoint_by_axes(0)),
    shaped("dot_right",                                   adjoint_by_axes(1)),
    *(shaped(op, outright(op)) for op in "add subtract mul divide scale ratio where maximum minimum share".split()),
))


LEAVES = {"exp": lambda x: x, "softmax": f.logSoftmax, "sigmoid": f.logSigmoid}
PAIRS = {"mul": lambda a, b: a + b, "divide": lambda a, b: a - b, "add": f.logaddexp}
LOGARITHMS = {**LEAVES, **PAIRS, "sum": f.logsumexp, "power": lambda a, c: c * a,
              **{op: getattr(f, op) for op in ("getitem", "take", "reshape", "transpose", "mT", "flip")}}


def logarithm(w, a, depth=100):
    """log a, if a is made of exponentials by sums, products, quotients, powers and parts; else None."""
    if not isinstance(a, Expression):
        return math.log(a) if type(a) in (int, float) and 0 < a < math.inf else None
    if id(a) not in w.logarithms:
        op, args = defining_line(a)
        has_one = op in LOGARITHMS and depth > 0 and floats(w, args[0])
        has_one = has_one and (op != "power" or nonzero_literal(w, args[1]))
        inner = args[:1 + (op in PAIRS)] if has_one else ()
        logs = list(args[:1]) if op in LEAVES else [logarithm(w, x, depth - 1) for x in inner]
        if not has_one or any(x is None for x in logs):
            w.logarithms[id(a)] = None
        elif op == "add" and any(type(x) is float and x == 0 for x in logs):
            w.logarithms[id(a)] = f.softplus(max(logs, key=lambda x: isinstance(x, Expression)))
        else:
            w.logarithms[id(a)] = LOGARITHMS[op](*logs, *args[len(logs):])
    return w.logarithms[id(a)]


def quotient_of_exponentials(w, a, b):
    below = logarithm(w, b) if isinstance(b, Expression) else None
    above = None if below is None else logarithm(w, a)
    if above is None:
        return None
    return f.exp(-below if type(above) is float and above == 0 else above - below)


BETTER, AT_ZERO = "finite and precise where the other form is not", "the gradient at 0, which is 0"

STABLE = (
    #        found                                                becomes                                    what changes
    rewrite(lambda z, y: f.crossEntropy(f.softmax(z), y),         lambda z, y: f.softmaxCrossEntropy(z, y),  BETTER, first_float),
    rewrite(lambda z, a: f.exp(f.logSoftmax(z, a)),               lambda z, a: f.softmax(z, a),              BETTER),
    rewrite(lambda x: f.exp(f.logSigmoid(x)),                     lambda x: f.sigmoid(x),                    BETTER),
    rewrite(lambda x: 1 - f.sigmoid(x),                           lambda x: f.sigmoid(-x),                   BETTER),
    rewrite(lambda x: 1 / (1 + f.exp(x)),                         lambda x: f.sigmoid(-x),                   BETTER),
    rewrite(lambda x: -1 / (1 + f.exp(x)),                        lambda x: -f.sigmoid(-x),                  BETTER),
    rewrite(lambda x: f.exp(x) / (1 + f.exp(x)),                  lambda x: f.sigmoid(x),                    BETTER),
    rewrite(lambda x: -f.exp(x) / (1 + f.exp(x)),                 lambda x: -f.sigmoid(x),                   BETTER),
    rewrite(lambda x, a: f.exp(x - f.logsumexp(x, a, True)),      lambda x, a: f.softmax(x, a),              BETTER),
    rewrite(lambda x, a: f.exp(x) / f.sum(f.exp(x), a, True),     lambda x, a: f.softmax(x, a),              BETTER),
    rewrite(lambda x: f.exp(x) / f.sum(f.exp(x)),                 lambda x: f.softmax(x, None),              BETTER),
    shaped("divide", quotient_of_exponentials, "quotient of exponentials", BETTER),
    rewrite(lambda x, y: f.exp(x) * f.exp(y),                     lambda x, y: f.exp(x + y),                 BETTER),
    rewrite(lambda x: f.reciprocal(1 + f.exp(x)),                 lambda x: f.sigmoid(-x),                   BETTER),
    rewrite(lambda x: (1 + f.exp(x)) ** -1,                       lambda x: f.sigmoid(-x),                   BETTER),
    rewrite(lambda x: 0.5 * (1 + f.tanh(x)),                      lambda x: f.sigmoid(2.0 * x),              BETTER),
    rewrite(lambda x: (1 + f.tanh(x)) / 2,                        lambda x: f.sigmoid(2.0 * x),              BETTER),
    rewrite(lambda x: f.log1p(-f.sigmoid(x)),                     lambda x: f.logSigmoid(-x),                BETTER),
    rewrite(lambda x: x - f.softplus(x),                          lambda x: f.logSigmoid(x),                 BETTER),
    rewrite(lambda x: x + f.softplus(-x),                         lambda x: f.softplus(x),                   BETTER),
    rewrite(lambda x: f.log1p(f.exp(x)),                          lambda x: f.softplus(x),                   BETTER),
    shaped("log", logarithm, "log of exponentials", BETTER),
    rewrite(lambda x: f.log(1 + x),                               lambda x: f.log1p(x),                      BETTER),
    rewrite(lambda x: f.log(1 - x),                               lambda x: f.log1p(-x),                     BETTER),
    rewrite(lambda x: f.exp(x) - 1,                               lambda x: f.expm1(x),                      BETTER),
    rewrite(lambda x: 1 - f.exp(x),                               lambda x: -f.expm1(x),                     BETTER),
    rewrite(lambda x, a, k: f.sqrt(f.sum(f.square(x), a, k)),     lambda x, a, k: f.norm(x, a, k),           AT_ZERO),
    rewrite(lambda x, a, k: f.sqrt(f.sum(x * x, a, k)),           lambda x, a, k: f.norm(x, a, k),           AT_ZERO),
    rewrite(lambda a: f.log(f.abs(f.det(a))),                     lambda a: f.logabsdet(a),                  BETTER),
    rewrite(lambda a, b: f.inv(a) @ b,                            lambda a, b: f.solve(a, b),                BETTER),
)

ROUNDING, ZERO = "rounding", "the sign of a zero, and 0·∞"

ALGEBRA = (
    #        found                                        becomes                               what changes
    rewrite(lambda x: x + 0,                              lambda x: x,                          ZERO, is_real),
    rewrite(lambda x: 0 - x,                              lambda x: -x,                         ZERO, is_real),
    rewrite(lambda x, y: -(x - y),                        lambda x, y: y - x,                   ZERO),
    rewrite(lambda x, y: -x @ y,                          lambda x, y: -(x @ y),                ZERO),
    rewrite(lambda x, y: x @ -y,                          lambda x, y: -(x @ y),                ZERO),
    rewrite(lambda x: f.sum(x),                           lambda x: x,                          ZERO, is_real_number),
    rewrite(lambda x: f.mean(x),                          lambda x: x,                          ZERO, is_real_number),
    # only by a literal: the 0 of a ratio by a register is a mask, as in the gradient of norm(x), x/norm(x), at 0
    rewrite(lambda x, c: f.scale(x, c),                   lambda x, c: x * c,                   ZERO, literal_second),
    rewrite(lambda x, c: f.ratio(x, c),                   lambda x, c: x / c,                   ZERO, literal_second),
    rewrite(lambda a, b, x: a + (b + x),                  lambda a, b, x: (a + b) + x,          ROUNDING, both_numbers),
    rewrite(lambda a, b, x: a * (b * x),                  lambda a, b, x: (a * b) * x,          ROUNDING, both_numbers),
    rewrite(lambda a, x, y: (a * x) * y,                  lambda a, x, y: a * (x * y),          ROUNDING, nonzero_literal),
    rewrite(lambda a, x: a * f.half(x),                   lambda a, x: (0.5 * a) * x,           ROUNDING, nonzero_literal),
    rewrite(lambda a, x: f.half(a * x),                   lambda a, x: (0.5 * a) * x,           ROUNDING, nonzero_literal),
    rewrite(lambda x, y, z: x * y + x * z,                lambda x, y, z: x * (y + z),          ROUNDING),
    rewrite(lambda x, y, z: x * y - x * z,                lambda x, y, z: x * (y - z),          ROUNDING),
    rewrite(lambda x, y: x + x * y,                       lambda x, y: x * (1 + y),             ROUNDING),
    rewrite(lambda x, y: x - x * y,                       lambda x, y: x * (1 - y),             ROUNDING),
    rewrite(lambda x: x ** 2,                             lambda x: f.square(x),                ROUNDING),
    rewrite(lambda x: x ** 0.5,                           lambda x: f.sqrt(x),                  ROUNDING),
    shaped("scan", hoisted, "sums of products over all steps", "rounding; memory for all steps"),
)
