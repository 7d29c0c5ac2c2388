"""Calls of NumPy's functions, drawn from their signatures: what tracing has to give is what NumPy itself gives.

Each parameter has a pool of values by its name, and each function the calls that its parameters allow: arrays of several shapes, dtypes
and special values, each option by keyword and by position, options in pairs, required arguments by keyword.
"""
from __future__ import annotations

import inspect
import itertools
import random
import warnings

import more_calls_of_numpy
import numpy as np
import scipy.special

from ops import f
from ops.expression import SAME
from xman import XManError
from xman.functions.tracer import CallTape, Tracer
from xman.traced.arraylike import plain
from xman.traced.dispatch import NAMES, SPECIAL

NUMPY = np
M = np.array([[0.5, -1.5, 2.25], [1.0, 3.0, -0.75]])
V = np.array([1.5, -0.5, 2.0, 0.25])
Q = np.array([[2.0, -0.5, 0.25], [0.5, 3.0, -1.0], [0.75, 0.5, 1.5]])
T = np.linspace(-2.0, 2.5, 24).reshape(2, 4, 3) ** 3
ONE = np.array([[[1.5], [-2.0]]])
W = np.array([0.2, 0.5, 0.3])
S, EMPTY, NARROW = np.array(0.75), np.zeros((0, 3)), np.array([[2.5], [-1.0]])
SPECIALS = [np.array([[np.nan, -0.0, np.inf], [0.0, -np.inf, 1.5]]), np.array([np.nan, np.nan, 1.0, -0.0]), np.array([0.0, -0.0, -2.5, 2.5]),
            np.array([np.inf, 1.0, -np.inf, np.inf])]
ARRAYS = [M, V, T, Q, S, EMPTY, ONE]
MASK = np.array([[True, False, True], [False, True, True]])

POOL = {
    **dict.fromkeys(("a", "x", "m", "arr", "ary", "array", "val", "v", "A", "prototype", "y"), ARRAYS),
    "axis": [None, 0, -1, 1, (0, 1), (-1,), 2, -3, (0, 0), ()], "keepdims": [True, False], "dtype": [float, np.float32, int], "ddof": [0, 1, 2, 0.5],
    "correction": [1, 0], "mean": [np.zeros((1, 3))], "where": [MASK, True], "initial": [2.0, -5.0], "out": [None], "decimals": [0, 1, -1],
    "order": ["C", "F", "A", "K"], "copy": [True, False], "subok": [False], "nan": [0.5], "posinf": [7.0], "neginf": [-7.0, 0.0],
    "rtol": [0.5, 0.0], "atol": [0.3], "equal_nan": [True, False], "n": [0, 1, 2, 5], "k": [-1, 0, 1, 2, 5, -7], "offset": [1, -1, 5], "axis1": [0, 1, -1],
    "axis2": [1, 0, -1], "source": [0, -1, (0, 1)], "destination": [-1, 0, (1, 0), (-1, 0)], "start": [0, 1, 3], "shape": [(3, 2), (-1,), -1, 6, [2, 3], (4, 2)],
    "returned": [True], "weights": [np.array([1.0, 2.0, 0.5]), np.array([0.5, 1.5]), None, abs(M)], "q": [0.3, 0.5, 1.0, 0, [0.2, 0.7], 30, 1.5, np.float64(0.25)],
    "method": ["linear", "lower", "nearest", "hazen"], "overwrite_input": [False], "rowvar": [False, True], "bias": [True, False],
    "fweights": [np.array([1, 2, 1])], "aweights": [np.array([1.0, 2.0, 0.5])], "dx": [0.5, np.array([1.0, 2.0])], "prepend": [0.0], "append": [V[:1]],
    "to_end": [1.0, [1.0, 2.0]], "to_begin": [0.5], "axes": [None, (1, 0), (0, 1), (-1, 0), (0, 2), (2, 0, 1)], "indices_or_sections": [2, 3, [1], (1, 2), [0, 5], 1],
    "shift": [1, -1, 7, (1, 2), 0], "pad_width": [1, (1, 2), ((1, 0), (0, 2)), 0, *([{-1: 2}] if np.lib.NumpyVersion(np.__version__) >= "2.4.0" else [])],
    "mode": ["constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp", "full", "same", "valid", "clip", "raise", "mean"],
    "repeats": [2, 0, [1, 2, 0], np.array([2, 1]), -1], "reps": [2, (2, 1), (1, 2, 1), 0, ()], "indices": [0, -1, [0, 1], np.array([[1, 0], [0, 1]]), 9, [], True],
    "obj": [0, [0, -1], slice(0, 2), 7, np.array([True, False]), []], "condition": [[True, False], np.array([False, True, True]), [], [0, 1]],
    "kind": ["stable", None], "stable": [True, None], "sparse": [True], "indexing": ["ij", "xy"], "fill_value": [2.5, 1, np.nan, W], "device": ["cpu"],
    "stop": [2.0, W, S], "num": [5, 1, 0, 2], "endpoint": [False, True], "retstep": [True], "left": [-9.0], "right": [9.0], "period": [1.5],
    "ord": [None, 1, 2, 3, -1, -2, 0, 0.5, np.inf, -np.inf, "fro", "nuc", "x"], "upper": [True, False], "hermitian": [True], "rcond": [1e-9], "casting": ["unsafe"],
    "optimize": [True], "default": [3.0, np.nan], "precision": [2], "suppress_small": [True], "max_line_width": [20], "separator": [", "], "prefix": [" "],
    "axisa": [0, -1], "axisb": [0, -1], "axisc": [0, -1], "a_min": [-0.5, None, W], "a_max": [0.5, None, W], "min": [-0.5, W, None], "max": [0.5, W],
    "half": [0.5], "new_shape": [(3, 3), 4, (0,)], "window_shape": [1, (1, 2), 9],
}
PAIRS = [(M, M[::-1] * 0.7), (M, W), (M, NARROW), (V, S), (S, S), (V, 1.5), (2, V), (EMPTY, W), (V, V[:3]), (M, -0.0), (M, [1.0, -2.0, 0.5]), (V, np.inf), (V, np.nan)]
PAIRS += list(itertools.product(SPECIALS[1:], SPECIALS[1:])) + [(SPECIALS[0], SPECIALS[0][::-1]), (SPECIALS[0], 0.0), (1.0, SPECIALS[0])]
LISTS = [([M, M * 2],), ((M, M[:1]),), ([V, V[:2]],), ([S, S],), ([V],), ([M, V],), ([M, W],), ([],), ([T, T],), ([V, 1.0],), ([W, [1, 2, 3]],), (M,), (T,), ([EMPTY, M],)]
PRODUCTS = [(M, Q), (Q, W), (W, Q), (V, V), (M, M), (T, Q), (Q, T), (S, M), (V, S), (T, T.mT), (M, W), (EMPTY, Q), (T, W), (W, T.mT), (2.0, V), (V, [1, 2, 3, 4]), (Q, EMPTY)]
# the arguments that are required, where pools by name do not say which fit together
BASES = {
    **dict.fromkeys(("concatenate", "stack", "vstack", "hstack", "dstack", "column_stack"), LISTS), "append": [*PAIRS[:9], (M, M), (V, []), (S, 1.0)],
    **dict.fromkeys(("dot", "inner", "vdot", "outer", "kron", "linalg.matmul", "vecdot", "matmul", "linalg.vecdot", "linalg.outer"), PRODUCTS),
    "tensordot": [(*pair, axes) for pair in PRODUCTS for axes in (0, 1, 2, -1, ([0], [0]), (-1, 0), ([0, 1], [1, 0]), (1, 5), ([0, 0], [0, 0]), ([0, 1], [0]))],
    "cross": [(W, Q[0]), (Q, W), (W[:2], Q[0]), (W[:2], W[1:]), (M, W), (V, V), (T, W), (T, T), (W, [1, 2, 3]), (NARROW, W), (S, W)],
    "convolve": [(a, v) for a in (V, W, S, V[:0], M, [1, 2, 3]) for v in (W, V, V[:1], 2.0, V[:0])],
    "einsum": [("ij,jk->ki", M, Q), ("ij,jk", M, Q), ("ii", Q), ("ij->ji", M), ("i,j", V, W), ("ij,ij->", M, M), ("...ij->...ji", T), ("ij , jk->ik", M, Q), ("ij", M),
               ("ji", M), ("ij,kj", M, V), ("ij,jk,k", M, Q, W), ("ij->k", M), ("i->ii", V), ("i,i,i", W, W, W), ("ii->i", Q), ("ij->", EMPTY), ("", S), (",", S, S)],
    "linalg.solve": [(Q, W), (Q, Q), (Q, M), (M, W), (T[:, :3], T[:, :3]), (T[:, :3], W), (0.0 * Q, W), (T[:, :3], T[:, :3, 0]), (S, W)], "linalg.norm": [(a,) for a in ARRAYS + SPECIALS],
    "linalg.cholesky": [(Q @ Q.T,), (Q,), (M,), (-Q,), (T[:, :3] @ T[:, :3].mT + np.eye(3),)], "linalg.multi_dot": [([M, Q, W],), ([W, Q],), ([Q],), ([M, M],), ((W, Q, Q, W),), ([T, Q],)],
    "linalg.matrix_power": [(a, n) for a in (Q, M, T[:, :3], S, 0.0 * Q) for n in (0, 1, 2, 3, -1, -2, 1.5, 5)], "linalg.pinv": [(M,), (Q,), (T,), (V,), (0 * M,)],
    "linalg.tensordot": PRODUCTS, "linalg.cross": [(W, Q[0]), (Q, W), (W[:2], W[1:]), (T, T), (T, T[:1]), (M, M)],
    **dict.fromkeys(("linalg.inv", "linalg.det", "linalg.slogdet"), [(Q,), (T[:, :3],), (M,), (V,), (0.0 * Q,), (EMPTY[:, :0],)]),
    "where": [(MASK, M, 1.5), (MASK[0], M, W), (M > 0, 0, M), (MASK, M), (MASK,), (M, M, M * 2), (True, V, 2.0), (MASK, V, V), ([True, False, True], W, [1, 2, 3])],
    "select": [([V > 0, V > 1], [V, V * V]), ([V < 0, V > 1], [V, 2.0]), ([V > 9], [V]), ([M > 0, MASK], [M, W]), ([V > 0], [V, V]), ([V > 0, True], [V, V]), ([], []), ([V], [V]),
               ((MASK[0], W > 0.4), (1, W)), (MASK, M), ([V > 0, V > 1], [1, 2]), ([S > 0], [S])],
    "piecewise": [(V, [V < 0, V > 1], [lambda t: t * t, lambda t: t + 1]), (V, [V > 0, V > 1], [lambda t: t * t, 5.0]), (V, [V < 0], [-1.0, lambda t: t]), (V, V > 0, [1.0]), (V, [V > 0], [V]),
                  (S, S > 0, [1.0, 2.0]), (S, [S > 0], [lambda t: t]), (V, [V > 0], []), (M, [M > 0, MASK], [1.0, 2.0, lambda t: -t]), (V, [True, False, True, False], [lambda t: t]), (V, [V > 0, V > 1], [1, 2.5])],
    "interp": [(x, xp, fp) for x in (V, S, M, 0.3, SPECIALS[1], EMPTY) for xp, fp in ((np.array([-0.4, 0.3, 2.0]), W), (W[:1], W[1:2]), (np.array([0.25, 0.25, 2.0]), W), (np.array([-1.0, 1.0, np.inf]), W),
               ([0, 1, 2], [1, 2, 4]), (W, V), (V[:0], V[:0]), (np.array([0.0, 1.0, 2.0]), np.array([1.0, np.inf, 3.0])))],
    "polyval": [(W, V), (V, 2.0), (V[:0], V), (W, S), (M, W), ([1, 2], V), (W, [1, 2]), (W, SPECIALS[0])],
    **dict.fromkeys(("isclose", "allclose", "array_equal"), [*PAIRS, (V, V + 1e-9), (SPECIALS[0], SPECIALS[0]), (M, M)]),
    "broadcast_to": [(x, shape) for x in (V, S, W, NARROW, EMPTY) for shape in ((2, 3), (3, 4), 4, (0, 3), (-1,), (2, 2, 4), [2, 3], ())],
    **dict.fromkeys(("broadcast_arrays", "atleast_1d", "atleast_2d", "atleast_3d", "meshgrid"), [(V,), (S,), (M, W), (W, NARROW), (V, W), (S, V, T), (), (2.0, M), ([1, 2], V), (V, V[:0])]),
    "reshape": [(x, shape) for x in (M, V, S, EMPTY, T) for shape in ((3, 2), -1, (1, -1), 6, (2, 2), [1, 4], (), (-1, -1), (0, 3), (4, 2.0), (-1, 0), (-2, 3))],
    "tile": [(x, r) for x in (M, V, S, EMPTY) for r in (2, (2, 1), (1, 2, 1), 0, (), [2], 1.5, V[:0].astype(int))],
    "take_along_axis": [(M, np.argsort(M, 1), 1), (M, np.argsort(M, 0), 0), (V, np.array([0, 2]), None), (M, np.array([[0], [1]]), -1), (M, np.array([0, 1]), 0), (M, np.array([[9]]), 1), (V, np.array([-1, 0]), 0),
                        (T, np.argmax(T, 1, keepdims=True), 1), (M, np.array([[0.5]]), 1), (M, np.array([0, 5]), None)],
    "trapezoid": [(M,), (V,), (M, W), (V, [0, 1, 3, 4]), (M, M), (S,), (EMPTY,), (T, W)], "linspace": [(0.0, S), (S, 2.0), (W, 1.0), (W, Q[0]), (S, S), (0, W), (NARROW, W), (1, SPECIALS[2]), (np.array(np.inf), 0.0)],
    "heaviside": PAIRS, "percentile": [(a, q) for a in (M, V, S, EMPTY, T, *SPECIALS) for q in (30, 100, 0.0, 50, [25, 75], 110, -3)],
    "quantile": [(a, q) for a in (M, V, S, EMPTY, T, *SPECIALS) for q in (0.3, 1, 0.0, 0.5, [0.2, 0.75], 1.1, np.float32(0.4), np.array(0.7))],
    "empty_like": [(a,) for a in ARRAYS], "result_type": [(V,), (V, np.float32), (S, 1.0), (V, "i8"), (np.float32(V), V)], "cov": [(a,) for a in (M, V, T, S, EMPTY, Q, M[:, :1])] + [(M, M), (V, V), (M, W)],
    "corrcoef": [(a,) for a in (M, V, S, Q, 0.0 * M, M[:, :1])] + [(M, M), (V, V), (M, W)], "full_like": [(a, v) for a in ARRAYS for v in (2.5, S, W, 1)],
    "compress": [(c, a) for a in (M, V, S) for c in ([True, False], [0, 1, 1], np.array([True, False, True]), [], [True] * 9)], "clip": [(a,) for a in ARRAYS + SPECIALS] + [(V, -0.5, 0.5), (M, W, None), (V, None, None), (V, 1.0, -1.0), (V, np.nan, 1.0)],
    "choose": [(k, c) for k in (np.array([0, 1, 1]), 1) for c in ((V, 2.0 * V), [V, V, S])],
    "round": [(a,) for a in ARRAYS + SPECIALS], "average": [(a,) for a in ARRAYS],
}
BASES |= more_calls_of_numpy.BASES
POOL = more_calls_of_numpy.POOL | POOL
for same, other in (("amax", "max"), ("amin", "max"), ("max", "max"), ("around", "round"), ("min", "max"), ("std", "var")):
    BASES.setdefault(same, BASES.get(other))


def full_name(function):
    module = function.__module__ if hasattr(function, "__module__") else ""
    return f"linalg.{function.__name__}" if module == "numpy.linalg" else function.__name__


def ufuncs():
    """The functions of NumPy and SciPy, entry by entry, that become an operator though no table of names has them."""
    for module in (np, scipy.special):
        for name in sorted(dir(module)):
            function = getattr(module, name)
            if isinstance(function, np.ufunc) and function not in NAMES and (function.__name__ in SPECIAL or hasattr(f, SAME.get(function.__name__, function.__name__))):
                yield function


FUNCTIONS = list(dict.fromkeys([*NAMES, *ufuncs()]))
if scipy.special.gammasgn(0.0) == 0:  # before SciPy 1.15 it was 0 where it is now a number or NaN
    FUNCTIONS.remove(scipy.special.gammasgn)
CASTS = [np.float32, lambda a: np.round(2 * np.nan_to_num(a, posinf=3, neginf=-3)).astype(int), lambda a: a > 0.4, lambda a: np.round(np.nan_to_num(a, posinf=3, neginf=-3)).astype(np.int32), np.float16,
         lambda a: abs(np.round(np.nan_to_num(a, posinf=3, neginf=3))).astype(np.uint8), np.asfortranarray]


def mapped(change, tree):
    if isinstance(tree, (list, tuple)):
        return type(tree)(mapped(change, part) for part in tree)
    return change(tree) if isinstance(tree, np.ndarray) else tree


def signature(function):
    """Its parameters; none where it does not say, as NumPy's functions in C before 2.4."""
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:
        return []


def parameters(function):
    """(required, optional with their defaults, by keyword alone) of its parameters' names."""
    if isinstance(function, np.ufunc):
        return ["x"] * function.nin, {}, {"dtype": None, "where": True} if getattr(np, function.__name__, None) is function else {}  # SciPy's crash with a dtype
    found = signature(function)
    named = [p for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return ([p.name for p in named if p.default is p.empty], {p.name: p.default for p in named if p.default is not p.empty},
            {p.name: p.default for p in found if p.kind is p.KEYWORD_ONLY})


def bases(function, draw):
    """Arguments by position, those that are required at least."""
    name = full_name(function)
    required = parameters(function)[0]
    if BASES.get(name):
        return list(BASES[name])
    if isinstance(function, np.ufunc):
        return [(a,) for a in (*ARRAYS, *SPECIALS)] if function.nin == 1 else list(PAIRS)
    everything = list(itertools.product(*(POOL[p] + (SPECIALS if k == 0 else []) for k, p in enumerate(required))))
    return everything if len(everything) <= 60 else draw.sample(everything, 60)


def calls(function):
    """(args, options) of all calls of a function, the same in every run."""
    draw = random.Random(full_name(function))
    start = bases(function, draw)
    yield from ((args, {}) for args in start)
    for change in CASTS:
        for args in draw.sample(start, min(len(start), 8)):
            yield mapped(lambda a, change=change: change(a) if a.dtype.kind == "f" else a, args), {}
    required, optional, named = parameters(function)
    options = {name: POOL[name] for name in (*optional, *named) if name in POOL}
    for name, pool in options.items():
        for value, args in itertools.product(pool, draw.sample(start, min(len(start), 6))):
            before = list(optional)[max(len(args) - len(required), 0):]
            if name in named or name in before:
                yield args, {name: value}
            fill = [optional[other] for other in before[:before.index(name)]] if name in before else [np._NoValue]
            if np._NoValue not in [f for f in fill if f is np._NoValue]:
                yield (*args, *fill, value), {}
    for value, args in itertools.product(options.get("order", ()), (M, T, V, Q.T, T.transpose(1, 2, 0))):
        args = next((base for base in start if base[0] is args), (args, *start[0][1:]))
        yield mapped(np.asfortranarray, args), {"order": value}
    for _ in range(30 if len(options) > 1 else 0):
        args = draw.choice(start)
        free = [name for name in options if name not in list(optional)[:len(args) - len(required)]]
        some = draw.sample(free, min(2, len(free)))
        yield args, {name: draw.choice(options[name]) for name in some}
    if not isinstance(function, np.ufunc):
        kinds = {p.name: p for p in signature(function)}
        for args in draw.sample(start, min(len(start), 4)):
            for k in range(len(args)):
                names = [*required, *optional][k:len(args)]
                if len(names) == len(args) - k and all(kinds[name].kind is kinds[name].POSITIONAL_OR_KEYWORD for name in names):
                    yield args[:k], dict(zip(names, args[k:], strict=True))


def arrays_of(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        return [a for part in tree for a in arrays_of(part)]
    return [tree] if isinstance(tree, np.ndarray) and tree.dtype.kind in "biuf" else []


def outcome(function, args, options):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args, **options)
        except Exception as error:
            return error


# of two zeros NumPy takes either, or SciPy looks for x == 0 where we multiply
SIGNLESS = "fmax fmin percentile quantile median kl_div xlogy xlog1py".split()


def verdict(function, args, options, only=None):
    """'same' · 'refused' · 'both raise' · or what differs, with all arrays traced, or only the one of that number."""
    fresh = lambda a: a.copy("K")[()]  # some write into their arguments
    want = outcome(function, mapped(fresh, args), {name: mapped(fresh, a) for name, a in options.items()})
    chosen = arrays_of([args, options])
    chosen = {id(a) for a in (chosen if only is None else [chosen[only]])}
    with CallTape() as tape:
        change = lambda a: Tracer(a[()], tape) if id(a) in chosen else a
        got = outcome(function, mapped(change, args), {name: mapped(change, a) for name, a in options.items()})
    if isinstance(want, Exception):
        return "both raise" if isinstance(got, Exception) else f"no {type(want).__name__}: {want}"
    if isinstance(got, XManError):
        return f"refused: {got}"
    if isinstance(got, Exception):
        return f"raises {type(got).__name__}: {got}"
    if function is np.empty_like:
        got, want = np.zeros_like(plain(got)), np.zeros_like(want)
    return difference(got, want, function.__name__ not in SIGNLESS)


def difference(got, want, signed=True):
    """'same', or what differs between what was traced and what NumPy gives."""
    if isinstance(want, (tuple, list)):
        if type(got) is not type(want) or len(got) != len(want):
            return f"{type(got).__name__} of {len(got) if isinstance(got, (tuple, list)) else ''}, not {type(want).__name__} of {len(want)}"
        return next((found for found in map(difference, got, want, [signed] * len(want)) if found != "same"), "same")
    got = plain(got)
    if not isinstance(want, (np.ndarray, np.generic)):
        alike = type(got) is type(want) or isinstance(got, np.integer) and type(want) is int  # a count, before NumPy 2.4
        return "same" if alike and got == want else f"{got!r}, not {want!r}"
    if not isinstance(got, (np.ndarray, np.generic)):
        return f"a {type(got).__name__}"
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype} of shape {got.shape}, not {want.dtype} of shape {want.shape}"
    if want.dtype.kind == "c":
        return difference(np.stack([got.real, got.imag]), np.stack([want.real, want.imag]), False)
    if want.dtype.kind != "f":
        return "same" if np.array_equal(got, want) else f"{got!r}, not {want!r}"
    near = np.finfo(want.dtype).eps * 64
    scale = np.max(np.abs(want), where=np.isfinite(want), initial=1e-3)
    close = np.isclose(got, want, near, near * scale, equal_nan=True) & ((np.signbit(got) == np.signbit(want)) | (got != 0) | (want != 0) | (not signed))
    return "same" if close.all() else f"{got!r}, not {want!r}"


def compared(function, every=1):
    """(args, options, which is traced, verdict) of each call of the function, or of one among so many."""
    for args, options in itertools.islice(calls(function), 0, None, every):
        count = len(arrays_of([args, options]))
        for only in (None, *range(count)) if 1 < count < 4 else (None,) if count else ():
            yield args, options, only, verdict(function, args, options, only)
