"""Arguments of the calls in calls_of_numpy, of functions whose required arguments have to fit together."""
from __future__ import annotations

import numpy as np

M = np.array([[0.5, -1.5, 2.25], [1.0, 3.0, -0.75]])
V, W, S = np.array([1.5, -0.5, 2.0, 0.25]), np.array([0.2, 0.5, 0.3]), np.array(0.75)
Q = np.array([[2.0, -0.5, 0.25], [0.5, 3.0, -1.0], [0.75, 0.5, 1.5]])
K = np.linspace(-2.0, 2.5, 16).reshape(2, 2, 4) ** 3 + np.eye(4).reshape(2, 2, 4)
NAN = np.array([[np.nan, 1.0, 2.5], [0.5, np.nan, np.nan]])
TWO = np.array([2.0, -1.0])

BASES = {
    "linalg.lstsq": [(Q, W), (M, TWO), (M.T, W), (M.T, Q), (Q, M), (S, W), (0 * Q, W)],
    "linalg.tensorsolve": [(K, M[:, :2]), (Q, W), (Q, Q), (M, W)], "linalg.tensorinv": [(K, 2), (Q, 1), (M, 1), (K, 1), (K, -1)],
    "linalg.svd": [(Q,), (M, False), (M.T, False), (M, True, False), (Q, True, True), (V,), (S,)],
    "linalg.qr": [(Q,), (M,), (M.T,), (V,), (M, "r"), (M.T, "r"), (Q, "complete"), (M, "complete")],
    "linalg.eigh": [(Q,), (Q, "U"), (M,), (Q, "X"), (K[0, :, :2],), (S,)], "linalg.eigvalsh": [(Q,), (Q, "U"), (M,), (Q, "X")],
    "linalg.svdvals": [(Q,), (M,), (K,), (V,)], "linalg.matrix_rank": [(Q,), (M,), (0 * M,), (V,), (S,)],
    "linalg.cond": [(a, p) for a in (Q, M, 0 * Q, V) for p in (None, 1, -1, 2, -2, np.inf, "fro", "nuc", 3)],
    "polyfit": [(V, TWO[[0, 1, 1, 0]], 1), (W, W, 2), (V, V, 0), (V, np.array([V, V * 2]).T, 1), (V, W, 1), (M, M, 1), (V, V, -1)],
    "partition": [(TWO, 0), (TWO, 5), (S, 0), (M[:, :2], 0), (M[:, :2], 1, 0), (W[:1], -1)], "argpartition": [(TWO, 0), (TWO, 5), (M[:, :2], 0)],
    "correlate": [(a, v) for a in (V, W, M, [1, 2, 3], V[:0]) for v in (W, V, V[:1], 2.0, V[:0])],
    "block": [([[M, Q[:2]]],), ([M, TWO[:, None]],), ([[Q[:2]], [M]],), (V,), ([],), ([[V], V],), ([[V, 1.0]],), ((V, V),), ([S, S],), ([[[M]]],)],
    "insert": [(a, i, v) for a in (V, M) for i in (0, -1, [0, 2], slice(0, 2), 9, [1]) for v in (2.0, TWO, [1, 2])] + [(M, 1, W, 0), (M, [1], TWO, 1), (M, 0, M, 0), (V, np.array([True, False, True, False]), 5.0)],
    "gradient": [(V,), (M,), (V, 0.5), (V, np.array([0.0, 1.0, 1.5, 3.0])), (M, 0.5, 2.0), (M, 1.0, 2.0, 3.0), (S,), (V[:1],), (M, TWO[::-1], np.array([0.0, 1.0, 3.0])), (V, W)],
    "searchsorted": [(np.sort(V), x) for x in (V, 0.5, M, S, np.array([np.nan, 2.0]))] + [(M, 1.0), (np.array([0.0, np.nan]), np.array([1.0, np.nan]))],
    "digitize": [(x, b) for x in (V, M, S) for b in (np.array([-1.0, 0.0, 2.0]), np.array([2.0, 0.5]), np.array([1.0, 0.0, 2.0]))],
    "vander": [(V,), (V, 2), (V, 0), (M,), (S,)], "bincount": [(np.array([0, 2, 2, 1]),), (np.array([0, 2, 2, 1]), V), (np.array([0, -1]),), (np.array([0, 1]), V), (V,)],
    "apply_along_axis": [(np.sum, 0, M), (np.cumsum, 1, M), (lambda r: r * 2, -1, V), (np.sum, 5, M), (lambda r: np.outer(r, r), 0, M)],
    "logspace": [(0.0, S), (S, 2.0), (W, 1.0), (W, Q[0])], "geomspace": [(1.0, S), (S, 8.0), (W, 3.0), (W, Q[0] + 3), (-1.0, -S), (S, 0.0)],
    "unwrap": [(4 * V,), (5 * M,), (np.array([0.0, np.pi, 2 * np.pi, -np.pi]),), (S,), (NAN,)],
    "ldexp": [(V, 2), (M, np.array([1, -2, 0])), (W, 2.0)], "angle": [(V,), (M,), (np.array([0.0, -0.0, np.nan, -np.inf]),)], "i0": [(V,), (M,), (S,)],
    "einsum": [("i...,...j->ij...", Q, M.T), ("...j,j...", M, Q), ("ij...->...ji", K), ("...,...", M, W), ("i...i", K[:, :, :2]), (M, [0, 1], Q, [1, 2]), (M, [0, 1], Q, [1, 2], [2, 0]),
               (K, [0, Ellipsis], [Ellipsis, 0]), ("...i,...i", M, M[:1]), ("i...->i", M), ("ij..", M), ("ij,jk->ki", M, Q), ("ii", Q), ("i->ii", V)],
    **{f"nan{name}": [(a, *q) for a in (NAN, V, M, S, NAN[:, 1:]) for q in more] for name, more in {
        "quantile": [(0.3,), ([0.2, 0.7],), (1.5,), (0.5, 0), (0.5, 1), (0.25, (0, 1))], "percentile": [(30,), ([20, 70], 1), (150,)],
        "median": [(), (0,), (1,), ((0, 1),), (5,)], "var": [(), (0,), (1,), (5,)], "std": [(), (0,), (1,)], "argmax": [(), (1,), (0,)], "argmin": [(), (1,)],
        "cumsum": [(), (0,), (1,), (5,)], "cumprod": [(), (0,), (1,)]}.items()},
}
POOL = {"UPLO": ["L", "U"], "edge_order": [1, 2, 3], "full_matrices": [False], "compute_uv": [False], "p": [1, 2], "ind": [1, 2], "deg": [1], "full": [True], "increasing": [True], "N": [2, 4], "minlength": [0, 5],
        "side": ["left", "right"], "right": [True, False], "base": [2.0], "discont": [4.0], "include_initial": [True], "correction": [1, 0], "kth": [0], "deg_": [True], "optimize": [True, False],
        "tol": [1e-9], "overwrite_input": [False], "val": [V, M, S], "z": [V, M], "v": [V, M], "arr": [Q, M], "a1": [V], "a2": [V, W]}
