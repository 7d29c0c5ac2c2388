"""Arguments for every operator: arrays stand for registers, all else for literals. The sweep refuses an operator without."""
from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import ops
from ops.kinks import send
from ops.table import SLOPES

R = np.random.default_rng(20161017)


def slope_by(op, i):
    """(out, *args) -> the slope of an entrywise operator by its i-th argument, as a number or an array."""
    return lambda out, *args: send(1.0, SLOPES[op][i](out, *args))


def in_each(cases, some=12):
    """Makes of a law of (name, …) a test of some names, of operators say, that goes through their cases; the first that
    fails is named.

    (As tests of their own they cost more time than what they test.)
    """
    of = defaultdict(list)
    for name, *case in cases:
        of[name].append(case)
    parts = [list(of)[k:k + some] for k in range(0, len(of), some)]

    def made(law):
        def test(names):
            for op, case in [(name, case) for name in names for case in of[name]]:
                try:
                    law(op, *case)
                except Exception as error:
                    raise AssertionError(f"{law.__name__} fails for {op}, case {case}") from error

        test.__name__, test.__doc__ = law.__name__, law.__doc__
        return pytest.mark.parametrize("names", parts, ids=[f"{part[0]} to {part[-1]}" for part in parts])(test)

    return made


def n(*shape):
    """Numbers of either sign, none near a kink at 0, no two near each other."""
    size = int(np.prod(shape))
    ladder = (np.arange(size) + R.uniform(0.2, 0.8, size)) * (3.0 / max(size, 1)) + 0.1
    return np.array((R.permutation(ladder) * R.choice([-1.0, 1.0], size)).reshape(shape))


def p(*shape):
    """Positive numbers."""
    return np.array(R.uniform(0.5, 2.0, shape))


def u(*shape):
    """Numbers in (−0.9, 0.9)."""
    return np.array(R.uniform(-0.9, 0.9, shape))


def rows(*shape):
    """Probabilities along the last axis."""
    x = R.uniform(0.2, 1.0, shape)
    return x / x.sum(-1, keepdims=True)


def square(*shape):
    """Well-conditioned square matrices."""
    return R.normal(size=shape) * 0.3 + 2.0 * np.eye(shape[-1])


def definite(*shape):
    a = square(*shape)
    return a @ np.swapaxes(a, -1, -2)


def bits(*shape):
    return np.array(R.uniform(size=shape) < 0.5)


def singular():
    a = square(3, 3)
    a[2] = a[0] + a[1]
    return a


def one(domain, *literals):
    """A function of one array, entry by entry: no axis, none of length 0, vectors, matrices, more."""
    return [(domain(*shape), *literals) for shape in [(), (0,), (1,), (5,), (2, 3), (2, 1, 3)]]


def two(left, right=None):
    """A function of two: broadcast in all the ways there are, empty too."""
    right = right or left
    shapes = [((), ()), ((3,), ()), ((), (2, 3)), ((2, 3), (2, 3)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1), (1, 3)),
              ((5, 1), (5, 5)), ((0,), ()), ((2, 0), (1, 1)), ((4, 2, 3), (2, 1))]
    return [(left(*a), right(*b)) for a, b in shapes]


def reduced(domain, *more, empty=True, number=True):
    """A reduction: every kind of axis, with and without keepdims."""
    kinds = [(domain(),), (domain(4),), (domain(2, 3),), (domain(2, 3), 0), (domain(2, 3), 1, True), (domain(2, 3), None, True),
             (domain(2, 3), -1), (domain(2, 3, 2), (0, 2)), (domain(2, 3, 2), (0, -1), True), (domain(1, 4), 0)]
    kinds += [(domain(), 0), (domain(), -1, True)] if number else []
    return kinds + ([(domain(0,),), (domain(3, 0), 1), (domain(0, 3), 1, True)] if empty else [])


def running(domain):
    return [(domain(4),), (domain(2, 3),), (domain(2, 3), 0), (domain(2, 3), 1), (domain(2, 3, 2), -2), (domain(0),), (domain(1, 3), 0), (domain(), 0)]


def labelled(domain, targets):
    """A loss over classes: one-hot or soft targets, labels, one row, no rows."""
    return [(domain(4, 3), targets(4, 3)), (domain(4, 3), np.array([0, 2, 1, 1])), (domain(4, 3), np.array([[0], [2], [1], [1]])),
            (domain(3), targets(3)), (domain(3), np.array(1)), (domain(4, 3), targets(3)), (domain(0, 3), targets(0, 3)),
            (domain(4, 3), np.eye(3, dtype=int)[[0, 2, 1, 1]]), (domain(2, 4, 3), targets(2, 4, 3)), (domain(3, 3), np.array([0, 2, 1]))]


LABELS = np.array([0, 2, 1, 1])
INDEX = np.array([0, 1, 1, 0])

STRINGS = np.array(["a", "", "c d", "a"])
CASES: dict[str, list[tuple]] = {
    # arithmetic
    **{op: two(n) for op in ("add", "subtract", "mul", "maximum", "minimum", "scale")},
    **{op: two(n, p) for op in ("divide", "ratio")},
    "power": two(p, n) + [(n(2, 3), 2), (n(3), 3.0), (n(3), 0), (n(3), 1), (p(3), -0.5), (2.0, n(3))],
    **{op: one(n) for op in ("negative", "reciprocal", "square", "half", "alias", "allreduce", "abs", "sign")},
    "clip": [(n(2, 3), -1.0, 1.0), (n(4), None, 0.5), (n(4), 0.5), (n(), -0.5, 0.5), (n(3, 2), np.array(-1.0), np.array([0.9, 1.0]))],
    "where": [(bits(3), n(3), n(3)), (bits(2, 1), n(3), n(2, 3)), (bits(), n(), n(2)), (bits(3), n(3), 0.0), (bits(0), n(0), n())],
    # functions
    **{op: one(n) for op in ("exp2", "cbrt", "arcsinh")},
    "arccosh": [(np.asarray(1.0 + p(*shape)),) for shape in [(), (0,), (5,), (2, 3)]],
    "hypot": two(n), "squared_hypot": two(n), "remainder": two(n, p), "floor_divide": two(n, p),
    **{op: one(n) for op in ("exp", "expm1", "sin", "cos", "arctan", "sinh", "cosh", "tanh", "erf")},
    **{op: one(p) for op in ("log", "log1p", "log2", "log10", "sqrt", "gammaln", "digamma")},
    **{op: one(u) for op in ("tan", "arcsin", "arccos", "arctanh", "one_minus_square")},
    "arctan2": two(n),
    "polygamma": [(1, p(3)), (2, p(2, 2)), (1, p())],
    "erfc": [(n(2, 3),), (n(),)], "erfinv": [(u(2, 3),)],
    **{op: one(n) for op in ("erfcx", "dawsn", "expi")}, **{op: one(u) for op in ("ellipk", "ellipe")}, "lambertw": one(p),
    "ndtri": [(np.array([0.02, 0.5, 0.9]),)],
    "logNdtr": [(np.array([[-40.0, -19.0], [-21.0, 8.0]]),)],
    "Gamma": [(p(2, 3),), (np.array([-1.5, 3.2]),)],
    **{op: [(p(2, 1), p(3)), (p(), p())] for op in ("Beta", "betaln")},
    **{op: [(1.5, p(2, 3)), (2, p())] for op in ("gammainc", "gammaincc")},
    "betainc": [(1.5, 2.5, u(3) / 2 + 0.5), (3, 2, np.array(0.3))],
    **{op: [(0, p(3)), (1.5, p())] for op in ("besselY", "besselK", "besselKe")},
    **{op: [(0, n(4)), (1.5, p())] for op in ("besselJ", "besselI", "besselIe")},
    # activations
    **{op: one(n) for op in ("sigmoid", "logSigmoid", "relu", "softplus", "silu", "gelu")},
    **{op: one(n) + two(n, p)[:6] for op in ("leakyRelu", "elu")},
    **{op: [(n(4),), (n(2, 3),), (n(2, 3), 0), (n(2, 3, 2), 1), (n(0, 3),)] for op in ("softmax", "logSoftmax")},
    # linear
    "dot": [(n(2, 3), n(3, 4)), (n(3), n(3)), (n(3), n(3, 2)), (n(2, 3), n(3)), (n(5, 2, 3), n(5, 3, 2)), (n(5, 2, 3), n(3, 2)),
            (n(2, 3), n(5, 3, 2)), (n(5, 1, 2, 3), n(4, 3, 2)), (n(3), n(5, 3, 2)), (n(5, 2, 3), n(3)), (n(0, 3), n(3, 2)), (n(2, 0), n(0, 2))],
    "dot_left": [(n(2, 4), n(2, 3), n(3, 4)), (n(), n(3), n(3)), (n(4), n(3), n(3, 4)), (n(2), n(2, 3), n(3)), (n(5, 2, 2), n(2, 3), n(5, 3, 2)),
                (n(5, 2), n(3), n(5, 3, 2)), (n(5, 2), n(5, 2, 3), n(3))],
    "dot_right": [(n(2, 4), n(2, 3), n(3, 4)), (n(), n(3), n(3)), (n(4), n(3), n(3, 4)), (n(2), n(2, 3), n(3)), (n(5, 2, 2), n(5, 2, 3), n(3, 2)),
                 (n(5, 2), n(3), n(5, 3, 2)), (n(5, 2), n(5, 2, 3), n(3))],
    "outer": [(n(2), n(3)), (n(), n(3)), (n(2, 2), n(3)), (n(0), n(3))],
    "einsum": [(("ij,jk->ik",), n(2, 3), n(3, 4)), (("ij->",), n(2, 3)), (("ij->j",), n(2, 3)), (("ii->i",), n(3, 3)), (("ii",), n(3, 3)),
               (("ij,ij",), n(2, 3), n(2, 3)), (("i,j->ij",), n(2), n(3)), (("...ij,...jk->...ik",), n(4, 2, 3), n(4, 3, 2)),
               (("...ij,...jk->...ik",), n(4, 2, 3), n(3, 2)), (("...i->...",), n(2, 3)), (("ij,kl->i",), n(2, 3), n(2, 2)),
               (("ij,jk,kl->il",), n(2, 3), n(3, 2), n(2, 2)), (("...ii->...i",), n(2, 3, 3)), (("ij,ij->ij",), n(2, 1), n(2, 3)), (("...ij,j->...i",), n(1, 2, 3), n(3)), (("ij,j->ij",), n(2, 3), n(3))],
    "einsum_back": [(n(3), n(3, 3), ("i", "ii")), (n(2), n(2, 3), ("i", "ij")), (n(4, 3), n(3), ("i", "i")), (n(2, 3), n(2, 3), ("ij", "ij"))],
    "broadcast": [(n(), n(3)), (n(3), n(2, 3)), (n(2, 1), n(2, 3)), (n(2), n(2, 3), 1), (n(3), (2, 3)), (n(2), n(2, 3, 2), (1, 2)), (n(1), n(0))],
    "unbroadcast": [(n(2, 3), n(3)), (n(2, 3), n()), (n(2, 3), n(2, 1)), (n(2, 3), n(2), 1), (n(2, 3), n(2, 3)), (n(4, 2, 3), n(1, 3))],
    "convolve": [(n(5), n(3)), (n(), n(3)), (n(2), n(4)), (n(1), n(1))],
    "correlate": [(n(5), n(3)), (n(4), n(4)), (n(3), n(1))],
    "reshape": [(n(2, 3), (3, 2)), (n(6), (2, -1)), (n(), (1, 1)), (n(2, 3), n(6)), (n(1), ()), (n(0, 3), (3, 0))],
    "transpose": [(n(2, 3),), (n(2, 3, 4), (2, 0, 1)), (n(2, 3, 4), (-1, 0, -2)), (n(),), (n(3),), (n(2, 3, 4),)],
    "mT": [(n(2, 3),), (n(4, 2, 3),)],
    "astype": [(n(2, 3), ("float64",)), (n(), ("float64",)), (n(0), ("float64",))],
    "flip": [(n(3),), (n(2, 3), 0), (n(2, 3), (0, 1)), (n(2, 3), -1)],
    "roll": [(n(4), 1), (n(2, 3), 2, 1), (n(2, 3), (1, 2), (0, 1)), (n(2, 3), -1), (n(2, 3), 1, (1, 1))],
    "pad": [(n(3), 1), (n(2, 3), ((1, 0), (0, 2))), (n(2, 2), 0)],
    "unpad": [(n(5), 1), (n(4, 5), ((1, 0), (0, 2)))],
    "concat": [(0, n(2), n(3)), (1, n(2, 3), n(2, 1)), (-1, n(2, 3), n(2, 2)), (0, n(3)), (0, n(0), n(2))],
    "part": [(n(5), 1, 0, n(2), n(3)), (n(2, 4), 0, 1, n(2, 3), n(2, 1))],
    "stack": [(0, n(3), n(3)), (1, n(2, 3), n(2, 3)), (-1, n(2), n(2)), (0, n(), n())],
    "cumsum": running(n),
    "trace": [(n(3, 3),), (n(2, 3),)],
    "diag": [(n(3),), (n(3, 3),), (n(2, 3),), (n(2, 3), 1), (n(3, 3), -1), (n(3), 1)],
    "diag_back": [(n(3), n(3, 3)), (n(2), n(2, 3)), (n(2), n(3, 3), -1), (n(3, 3), n(3))],
    # reductions
    **{op: reduced(n) for op in ("sum", "norm", "squaredNorm", "logsumexp")},
    **{op: reduced(n, empty=False) for op in ("max", "min")},
    **{op: reduced(n, empty=False, number=False) for op in ("mean", "var", "std")},
    "prod": reduced(n) + [(n(2, 3), ())],
    "frobeniusNorm": [(n(2, 3),), (n(4),), (n(),)],
    "logaddexp": two(n),
    "exp_difference": two(n),
    "cumprod": running(n), "prod_of_others": [(n(3, 2),), (n(), 0), (n(2, 3), 1), (n(2, 3, 2), (0, -1)), (np.array([[2.0, 0.0], [3.0, 4.0]]), 0), (np.array([2.0, 0.0]), ())],
    "shift": [(n(4), 0), (n(2, 3), 1, 1.0), (n(2, 3), 0, n()), (n(2, 3), -2), (n(0), 0)],
    "recurrence": [(n(4), n(4), 0), (n(2, 3), n(2, 3), 1), (n(2, 3), n(2, 3), 0), (n(1), n(1), 0)],
    "centered": [(n(2, 3),), (n(2, 3), 1), (n(2, 3), (0, 1)), (n(4), -1)],
    "ties": [(np.array([1.0, 3.0, 3.0]), np.full(3, 3.0)), (n(2, 3), n(2, 3), 1)],
    "count": [(n(2, 3),), (n(2, 3), 1), (n(2, 3), None, 1), (n(2, 3), (0, 1)), (n(),)],
    # indexing
    "getitem": [(n(4), 1), (n(), None), (n(4), slice(1, 3)), (n(2, 3), slice(None), 0), (n(2, 3), None, Ellipsis, slice(None, None, -2)), (n(4), INDEX),
                (n(2, 3), np.array([0, 1, 1]), np.array([2, 2, 0])), (n(4), np.array([True, False, True, True])), (n(3, 2), INDEX, 1),
                (n(2, 3), np.array([[True, False, True], [False, True, True]])), (n(4), np.zeros(0, int)), (n(),)],
    "scatterAdd": [(n(), n(4), 1), (n(), n(4), INDEX), (n(3), n(2, 3), slice(None)), (n(4), n(3), INDEX), (n(2), n(2, 3), slice(None), 1), (n(2), n(3), np.array([True, False, True]))],
    "take": [(n(4), INDEX), (n(2, 3), INDEX, 0), (n(2, 3), INDEX, -1), (n(2, 3), 1, 1), (n(2, 3), np.array([[5, 0], [0, 1]])), (n(2, 3, 2), INDEX, -2)],
    # matrices
    **{op: [(square(3, 3),), (square(2, 2, 3, 3),), (square(1, 1),)] for op in ("inv", "det", "logabsdet", "cofactor")},
    "pinv": [(n(3, 2),), (n(2, 3),), (square(3, 3),), (n(2, 2, 3, 2),)],
    "cofactor_slope": [(n(3, 3), square(3, 3)), (n(2, 2, 3, 3), square(2, 2, 3, 3))],
    "column": [(n(3), n(3)), (n(2, 3), n(3)), (n(2, 3), n(2, 3))],
    "solve": [(square(2, 3, 3), n(3)), (square(3, 3, 3), n(3)), (square(3, 3), n(3)), (square(3, 3), n(3, 2)), (square(2, 2, 3, 3), n(2, 2, 3, 2)), (square(3, 3), n(4, 3, 2)), (square(2, 3, 3), n(3, 2)), (square(2, 3, 3), n(1, 3, 2))],
    "cholesky": [(definite(3, 3),), (definite(2, 2, 3, 3),), (definite(1, 1),)],
    "lower_half": [(n(3, 3),), (n(2, 3, 3),)],
    **{op: [(definite(3, 3),), (n(2, 3, 3),)] for op in ("eigvalsh",)},
    "eigenvectors": [(definite(3, 3),), (n(2, 3, 3),), (definite(2, 2), ("U",))],
    "inverse_gaps": [(n(2, 3), n(2, 3, 3), n(2, 3, 3), True)],
    "inverse_values": [(u(2, 3), n(2, 4, 3), n(2, 4, 3), True), (u(3), n(3, 3), n(3, 3), True)],
    **{op: [(n(3, 3),), (n(4, 2),), (n(2, 2, 3),)] for op in ("svdvals", "left_vectors", "right_vectors")},
    **{op: [(square(3, 3),), (n(2, 2, 3, 2),)] for op in ("orthonormal", "upper")},
    "expm": [(n(3, 3),), (n(2, 2, 2),)],
    "sylvester": [(square(3, 3), square(2, 2), n(3, 2))],
    "sqrtm": [(definite(3, 3),), (square(2, 2),)],
    # losses
    "crossEntropy": labelled(rows, rows),
    "softmaxCrossEntropy": labelled(n, rows),
    "hinge": labelled(n, rows)[:4] + [(n(3), np.array(1)), (n(0, 3), rows(0, 3))],
    "sigmoidCrossEntropy": [(n(4, 1), u(4, 1)), (n(4, 1), np.array([0, 1, 1, 0])), (n(3), u(3)), (n(), u()), (n(2, 3), u(3)), (n(4, 3), LABELS)],
    "squaredError": [(n(4, 2), n(4, 2)), (n(3), n()), (n(), n()), (n(4, 3), LABELS), (n(2, 3), n(3)), (n(0, 2), n(0, 2)), (n(4, 1), LABELS)],
    "oneHot": [(n(2, 3), n(2, 3)), (LABELS, n(4, 3)), (n(3), n(2, 3)), (LABELS[:3], n(3, 3)), (LABELS[:, None], n(4, 3))],
    # values without derivative
    **{op: two(n) for op in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")},
    **{op: [(bits(3), bits(3)), (bits(2, 1), bits(3))] for op in ("logical_and", "logical_or")},
    "logical_not": [(bits(3),), (bits(),)],
    **{op: one(n) for op in ("isnan", "isfinite", "signbit", "floor", "ceil", "trunc", "stopGradient")},
    "det_sign": [(square(3, 3),), (-square(2, 2, 3, 3),), (np.ones((3, 3)),)],
    "round": [(n(3),), (n(2, 3), 1)],
    **{op: [(n(4),), (n(2, 3), 1), (n(2, 3), -1)] for op in ("argmax", "argsort")},
    # columns of a table
    "codes": [(STRINGS, ("b", "a")), (STRINGS.astype(object), ("", "a")), (np.array([[1.0, 2.0]]), (2.0, 3.0)), (STRINGS[:0], ())],
    "characters": [(STRINGS, 2), (np.array([["é", None]], object), 3), (STRINGS[:0], 1)],
    "words": [(STRINGS, ("a", "c")), (np.array(["A rose is a rose", None], object), ("rose", "a", "is"))],
    "days": [(np.array(["2024-01-31", None, "1969-12-31T12:00"], object),), (np.array(["2000-03-01", "NaT"], "datetime64[D]"),)],
}

# what takes or gives a bundle is swept in operators of arrays that are made of it
def recurrent(reverse=()):
    def value(h, x, U):
        z = ops.f.scan(STEP, 1, 1, ops.f.bundle(h, x, U), *reverse)
        return ops.f.item(z, 0) * 2.0 + ops.f.sum(ops.f.item(z, 1), 0)
    return value


def chosen(x, y):
    return ops.f.item(ops.f.cond(ops.f.greater(ops.f.sum(ops.f.stopGradient(x)), 0), YES, NO, ops.f.bundle(x, y)), 0)


STEP = ("def", "step", ("h", "x", "U"), (("a", "dot", ("h", "U")), ("b", "add", ("a", "x")), ("k", "tanh", ("b",)),
                                          ("y", "mul", ("k", "x"))), ("k", "y"))
FORGOT = (*STEP[:4], ("k",))
YES, NO = (("def", name, ("x", "y"), (("z", op, ("x", "y")),), ("z",)) for name, op in (("yes", "mul"), ("no", "subtract")))
FAR = ("def", "far", ("x", "y"), (("s", "sum", ("x",)), ("t", "less", ("s", 9.0))), ("t",))
GROWN = ("def", "grown", ("x", "y"), (("a", "square", ("y",)), ("z", "add", ("x", "a"))), ("z",))
APPLYING = {"bundle": recurrent(), "item": recurrent((True,)), "cond": chosen,
            "real": lambda x, y: ops.f.real(ops.f.fft(x)) * y, "imag": lambda x, y: ops.f.imag(ops.f.fft(x)) * y,
            "conj": lambda x, y: ops.f.real(ops.f.fft(x) * ops.f.conj(ops.f.fft(y))),
            "modulus": lambda x, y: ops.f.modulus(ops.f.fft(x) + y), "angle": lambda x, y: ops.f.angle(ops.f.fft(x)) * y,
            "squared_modulus": lambda x, y: ops.f.squared_modulus(ops.f.fft(x) + y),
            "fft": lambda x, y: ops.f.real(ops.f.fft(x)) + ops.f.imag(ops.f.fft(y, None)),
            "ifft": lambda x, y: ops.f.modulus(ops.f.ifft(x * y) + y),
            "rfft": lambda x, y: ops.f.angle(ops.f.rfft(x, 3)) * ops.f.sum(y),
            "irfft": lambda x, y: ops.f.irfft(ops.f.rfft(x, 3, -1, ("ortho",)) * ops.f.sum(y), 3) * y,
            "call": lambda x, y: ops.f.item(ops.f.call(YES, ops.f.bundle(x, y)), 0),
            "scan": lambda h, x, U: ops.f.item(ops.f.scan(FORGOT, 1, 1, ops.f.bundle(h, x, U)), 0),
            "while_loop": lambda x, y: ops.f.item(ops.f.while_loop(FAR, GROWN, 1, ops.f.bundle(x, y)), 0)}
LOOPS = {f"of_{op}": [(n(2, 3), n(2, 3)), (-n(3), n(3))] if value.__code__.co_argcount == 2 else
         [(n(2, 3), n(4, 2, 3), u(3, 3)), (n(3), n(1, 3), u(3, 3)), (n(1, 3), n(2, 4, 3), u(3, 3))] for op, value in APPLYING.items()}
for _op, _value in APPLYING.items():
    ops.operator(f"of_{_op}", _value)

CASES["share"] = CASES["maximum"]
OF_STRINGS = {"codes", "characters", "words", "days"}
OF_NUMBERS = {op: of for op, of in CASES.items() if op not in OF_STRINGS}  # whose arrays can be literals, of any precision
CASES["det"].append((singular(),))
CASES["cofactor"].append((singular(),))
# the derivative of cofactor_slope goes by the inverse, so it has cases that are not singular; a standard deviation of 0 has a kink
NO_SECOND = {("cofactor", 3), ("std", 0), ("std", 9)}
