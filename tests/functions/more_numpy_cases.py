"""Functions of NumPy that are compositions of several operators, and those of SciPy: like numpy_cases, of (np, arrays) or (sp, arrays)."""
from __future__ import annotations

import numpy
from numpy_cases import NAN, definite, n, p, square

INTS = numpy.array([0, 2, 2, 1])
GRID = numpy.array([0.0, 0.5, 0.7, 1.5, 2.5])


def half(np, a):
    """a's lower triangle mirrored, as a matrix that is symmetric."""
    return np.tril(a) + np.tril(a, -1).T


NUMPY = [
    ("gradient",            lambda np, x: np.gradient(x), n(5)),
    ("gradient of a grid",  lambda np, x: np.stack(np.gradient(x, 0.5, GRID[:4], edge_order=2)), n(3, 4)),
    ("gradient axis",       lambda np, x, h: np.gradient(x, h, axis=1), n(3, 4), p()),
    ("gradient points",     lambda np, x, t: np.gradient(x, t, edge_order=2), n(5), GRID),
    ("resize",              lambda np, x: np.resize(x, (2, 4)), n(2, 3)),
    ("std and var",         lambda np, x: np.std(x) * x[0] + np.var(x, 0, ddof=1), n(4)),
    ("unwrap",              lambda np, x: np.unwrap(4 * x), n(6)),
    *((f"convolve {mode}", lambda np, a, v, mode=mode: np.convolve(a, v, mode), n(k), n(m)) for mode in ("full", "same", "valid") for k, m in ((5, 3), (3, 4))),
    *((f"correlate {mode}", lambda np, a, v, mode=mode: np.correlate(a, v, mode), n(k), n(m)) for mode in ("full", "same", "valid") for k, m in ((5, 3), (3, 4), (2, 4))),
    ("cross of axes",       lambda np, a, b: np.cross(a, b, axisa=0, axisb=1, axisc=0), n(3, 2), n(2, 3)),
    ("linalg.cross",        lambda np, a, b: np.linalg.cross(a, b, axis=0), n(3, 2), n(3, 2)),
    ("einsum with axes",    lambda np, a, b: np.einsum(a, [0, 1], b, [1, 2], [0, 2]), n(2, 3), n(3, 2)),
    ("einsum of axes",      lambda np, a, b: np.einsum(a, [0, 1, Ellipsis], b, [1, Ellipsis]), n(2, 3, 4), n(3, 4)),
    ("einsum i...",         lambda np, a, b: np.einsum("i...,...j->...ij", a, b), n(3, 2), n(2, 2)),
    ("einsum ...i...",      lambda np, a, b: np.einsum("ij...k,k->j...", a, b), n(2, 3, 4, 3), n(3)),
    ("einsum ij...",        lambda np, a, b: np.einsum("ij...,j...->i...", a, b), n(2, 3, 4), n(3, 1)),
    ("einsum implicit",     lambda np, a, b: np.einsum("b...,a...", a, b), n(3, 2), n(2, 2)),
    ("block",               lambda np, x, y: np.block([[x, np.zeros((2, 1))], [y, 1.0]]), n(2, 3), n(3)),
    ("block of a list",     lambda np, x, y: np.block([x, y, [2.0]][:2]), n(2), n(3)),
    ("insert",              lambda np, x: np.insert(x, 1, x[0] * 2), n(4)),
    ("insert rows",         lambda np, x, y: np.insert(x, numpy.array([0, 2]), y, axis=1), n(2, 3), n(2, 1)),
    ("insert axis",         lambda np, x, y: np.insert(x, 1, y, axis=0), n(2, 3), n(3)),
    ("bincount",            lambda np, w: np.bincount(INTS, w, 4), n(4)),
    ("diff prepend",        lambda np, x, y: np.diff(x, 2, 0, prepend=y) + np.diff(x, axis=0, append=x[:1]), n(3, 2), n(2, 2)),
    ("diff of numbers",     lambda np, x, y: np.diff(x, prepend=0, append=y), n(3, 2), p()),
    ("take wrap",           lambda np, x: np.take(x, numpy.array([4, -7]), mode="wrap") + np.take(x, INTS[:2] + 2, 1, mode="clip"), n(2, 3)),
    ("choose",              lambda np, x, y: np.choose(numpy.array([[0], [2], [1]]), [x, y, 2 * x]), n(2), n(3, 2)),
    ("choose wrap",         lambda np, x: np.choose(INTS * 2, x, mode="wrap") + np.choose(INTS - 1, [x[0], x[1]], mode="clip"), n(3, 4)),
    ("cholesky upper",      lambda np, a: np.linalg.cholesky(half(np, a), upper=True), definite(3)),
    *((f"quantile {method}", lambda np, x, method=method: np.quantile(x, [0.0, 0.3, 0.5], axis=0, method=method) + np.percentile(x, 70, method=method), n(5, 2))
      for method in ("lower", "higher", "nearest", "midpoint", "hazen", "inverted_cdf", "averaged_inverted_cdf")),
    *((f"pad {mode}",       lambda np, x, mode=mode: np.pad(x, ((1, 2), (0, 3)), mode), n(3, 2)) for mode in ("linear_ramp", "mean", "maximum", "minimum", "median")),
    ("pad to an end",       lambda np, x: np.pad(x, 2, "linear_ramp", end_values=(3, -1.5)), n(4)),
    ("vander",              lambda np, x: np.vander(x, 3) + np.vander(x, 3, increasing=True), n(4)),
    ("apply_along_axis",    lambda np, x: np.apply_along_axis(lambda r: r * r[0], 0, x), n(3, 2)),
    ("logspace",            lambda np, x, y: np.logspace(x, y, 4), p(), p()),
    ("geomspace",           lambda np, x, y: np.geomspace(x, 3 * y, 4), p(), p()),
    ("partition",           lambda np, x: np.partition(x, 2)[2] * x, n(5)),
    ("argpartition",        lambda np, x: x[np.argpartition(x, 0)[0]] * x, n(5)),
    ("nanvar",              lambda np, x: np.nanvar(x), NAN),
    ("nanvar ddof",         lambda np, x: np.nanvar(x, axis=0, ddof=1, keepdims=True), n(4, 2)),
    ("nanstd",              lambda np, x: np.nanstd(x), NAN),
    ("nanmedian",           lambda np, x: np.nanmedian(x), NAN),
    ("nanmedian of all",    lambda np, x: np.nanmedian(x, axis=(0, 1), keepdims=True), n(3, 2)),
    ("nanquantile",         lambda np, x: np.nanquantile(x, 0.3, axis=1), n(3, 4)),
    ("nanquantiles",        lambda np, x: np.nanquantile(x, np.array([.125, .6875], np.float32), axis=(2, 0), keepdims=True), n(3, 2, 2)),
    ("nanpercentile",       lambda np, x: np.nanpercentile(x, numpy.array([10, 60]), axis=0), n(3, 2)),
    ("nanargmax",           lambda np, x: x * np.nanargmax(x) + np.nanargmin(x) * x, n(4)),
    ("nanargmin",           lambda np, x: x * np.nanargmin(x), n(4)),
    ("nancumsum",           lambda np, x: np.nancumsum(x), NAN),
    ("nancumprod",          lambda np, x: np.nancumprod(x), NAN),
    ("fix",                 lambda np, x: np.trunc(x) * x + numpy.fix(x) if np is numpy else 2 * np.trunc(x) * x - np.trunc(x) * (x - 1), n(4)),
    ("imag",                lambda np, x: np.imag(x) + x, n(4)),
    ("angle",               lambda np, x: np.angle(x) * x, n(4)),
    ("i0",                  lambda np, x: np.i0(x), n(4)),
    ("ldexp",               lambda np, x: np.ldexp(x, numpy.array([1, -2, 0])), n(3)),
    ("real_if_close",       lambda np, x: x * 2, n(3)),
    ("iscomplex",           lambda np, x: np.where(np.iscomplex(x), 0.0, x), n(3)),
    ("isreal",              lambda np, x: np.where(np.isreal(x), x, 0.0), n(3)),
    ("fftshift",            lambda np, x: np.fft.fftshift(x, axes=1) * x + np.fft.ifftshift(x), n(2, 3)),
    ("ifftshift",           lambda np, x: np.fft.ifftshift(x), n(3)),
    ("diagflat",            lambda np, x: np.diagflat(x, 1), n(2, 2)),
    ("extract",             lambda np, x: np.extract(numpy.array([True, False, True]), x), n(3)),
    ("argwhere",            lambda np, x: x[numpy.array([0, 1])], n(3)),
    ("searchsorted",        lambda np, x: x * np.searchsorted(GRID, x) + np.searchsorted(GRID, x, "right"), n(4)),
    ("digitize",            lambda np, x: x * np.digitize(x, GRID) + np.digitize(x, GRID[::-1]), n(4)),
    ("tril_indices_from",   lambda np, x: x[np.tril_indices_from(x)], n(3, 3)),
    ("triu_indices_from",   lambda np, x: x[np.triu_indices_from(x, 1)], n(3, 3)),
    ("diag_indices_from",   lambda np, x: x[np.diag_indices_from(x)], n(3, 3)),
    ("array_equiv",         lambda np, x: x * 2, n(3)),
    ("cumulative_sum",      lambda np, x: np.cumulative_sum(x, axis=1, include_initial=True), n(2, 3)),
    ("cumulative_prod",     lambda np, x: np.cumulative_prod(x), n(3)),
    ("unstack",             lambda np, x: np.unstack(x, axis=1)[0] * 2, n(3, 2)),
    ("reshape F",           lambda np, x: np.reshape(x, (3, -1), order="F") @ x, n(2, 3, 2).reshape(4, 3)),
    ("ravel F",             lambda np, x: np.ravel(x, order="F") ** 2, n(2, 3)),
    ("linalg.eigh",         lambda np, a: np.linalg.eigh(half(np, a))[0] @ np.linalg.eigh(half(np, a))[1] ** 2, n(3, 3)),
    ("linalg.eigvalsh",     lambda np, a: np.linalg.eigvalsh(half(np, a)), n(2, 2)),
    ("linalg.svd",          lambda np, a: np.linalg.svd(a, full_matrices=False)[0] @ np.linalg.svd(a)[2] if a.shape[0] == a.shape[1] else
                                          np.linalg.svd(a, full_matrices=False)[0] ** 2 @ np.linalg.svd(a, full_matrices=False)[2], n(2, 3)),
    ("linalg.svdvals",      lambda np, a: np.linalg.svdvals(a) + np.linalg.svd(a, compute_uv=False), n(3, 2)),
    ("linalg.qr",           lambda np, a: np.linalg.qr(a)[0] * np.linalg.qr(a).R, square(3, 3)),
    ("linalg.qr of a wide", lambda np, a: np.linalg.qr(a)[1], n(2, 3)),
    ("linalg.lstsq",        lambda np, a, b: np.linalg.lstsq(a, b, rcond=None)[0], n(4, 2), n(4)),
    ("linalg.cond",         lambda np, a: np.linalg.cond(a) * np.linalg.cond(a, 1), square(3, 3)),
    ("linalg.norm nuc",     lambda np, a: np.linalg.norm(a, "nuc") + np.linalg.norm(a, 2) * np.linalg.norm(a, -2), n(3, 2)),
    ("linalg.matrix_rank",  lambda np, a: a * np.linalg.matrix_rank(a), n(3, 2)),
    ("linalg.tensorinv",    lambda np, a: np.linalg.tensorinv(a), square(4, 4).reshape(4, 2, 2).reshape(2, 2, 4).reshape(2, 2, 2, 2)),
    ("linalg.tensorsolve",  lambda np, a, b: np.linalg.tensorsolve(a, b), square(4, 4).reshape(2, 2, 4), n(2, 2)),
    ("polyfit",             lambda np, x, y: np.polyfit(x, y, 2), n(6), n(6)),
]
NUMPY = [case for case in NUMPY if hasattr(numpy, case[0]) or case[0] not in ("cumulative_sum", "cumulative_prod", "unstack")]  # 2.1

SCIPY = [
    *((name, lambda sp, x, name=name: getattr(sp.special, name)(x), p(4)) for name in
      "erf erfc erfinv ndtr ndtri log_ndtr gamma gammaln digamma expit logit log_expit entr i0 i1 i0e i1e".split()),
    ("gammainc",            lambda sp, x: sp.special.gammainc(1.5, x) * sp.special.gammaincc(2.0, x), p(4)),
    ("betainc",             lambda sp, x: sp.special.betainc(1.5, 2.0, x), p(4)),
    ("beta",                lambda sp, a, b: sp.special.beta(a, b) + sp.special.betaln(a, b), p(3), p(3)),
    ("rel_entr",            lambda sp, x, y: sp.special.rel_entr(x, y) * sp.special.kl_div(x, y), p(3), p(3)),
    ("xlogy",               lambda sp, x, y: sp.special.xlogy(x, y) + sp.special.xlog1py(x, y), p(3), p(3)),
    ("logsumexp",           lambda sp, x: sp.special.logsumexp(x, axis=1, keepdims=True) + sp.special.logsumexp(x), n(2, 3)),
    ("logsumexp of a list", lambda sp, x: sp.special.logsumexp(sp.special.erf(x) + x), n(3)),
    ("logsumexp with b",    lambda sp, x, b: sp.special.logsumexp(x, b=b, axis=0), n(3, 2), p(3, 2)),
    ("logsumexp with sign", lambda sp, x, b: sp.special.logsumexp(x, b=b, return_sign=True)[0], n(3), n(3)),
    ("softmax",             lambda sp, x: sp.special.softmax(x, axis=0) + sp.special.softmax(x) * sp.special.log_softmax(x, axis=1), n(2, 3)),
    ("multigammaln",        lambda sp, a: sp.special.multigammaln(3 + a, 2), p(2)),
    ("factorial",           lambda sp, a: sp.special.factorial(a), p(2)),
    ("solve",               lambda sp, a, b: sp.linalg.solve(a, b) + sp.linalg.inv(a) @ b * sp.linalg.det(a), square(3, 3), n(3)),
    ("solve sym",           lambda sp, a, b: sp.linalg.solve(half(numpy, a) if isinstance(a, numpy.ndarray) else a, b, assume_a="sym", lower=True), definite(3), n(3, 2)),
    ("cholesky",            lambda sp, a: sp.linalg.cholesky(a) + sp.linalg.cholesky(a, lower=True), definite(3)),
    ("cho_solve",           lambda sp, a, b: sp.linalg.cho_solve(sp.linalg.cho_factor(a), b) + sp.linalg.cho_solve(sp.linalg.cho_factor(a, lower=True), b), definite(3), n(3)),
    *((f"solve_triangular {lower} {trans} {unit}", lambda sp, a, b, lower=lower, trans=trans, unit=unit:
       sp.linalg.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit), square(3, 3), n(3, 2))
      for lower, trans, unit in ((False, 0, False), (True, 1, False), (True, 0, True))),
    ("expm",                lambda sp, a: sp.linalg.expm(a), n(3, 3)),
    ("eigh",                lambda sp, a: sp.linalg.eigh(a)[0] @ sp.linalg.eigh(a)[1] ** 2, definite(3)),
    ("svd",                 lambda sp, a: sp.linalg.svd(a, full_matrices=False)[0] * sp.linalg.svd(a, compute_uv=False), n(3, 2)),
    ("qr",                  lambda sp, a: sp.linalg.qr(a, mode="economic")[1], square(3, 3)),
    ("block_diag",          lambda sp, a, b: sp.linalg.block_diag(a, b), n(2, 1), n(2)),
    ("toeplitz",            lambda sp, a, b: sp.linalg.toeplitz(a, b) * sp.linalg.toeplitz(a), n(3), n(3)),
    *((f"norm {method}", lambda sp, x, loc, scale, method=method: getattr(sp.stats.norm, method)(x, loc, scale=scale), n(3), n(), p(3))
      for method in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf")),
    ("norm ppf",            lambda sp, q, loc: sp.stats.norm.ppf(q, loc) + sp.stats.norm.isf(q, scale=2), p(3), n()),
    *((f"{name} {method}", lambda sp, x, name=name, method=method: getattr(getattr(sp.stats, name), method)(x, scale=1.5), n(4))
      for name in ("expon", "laplace", "logistic", "cauchy") for method in ("logpdf", "cdf")),
    *((f"{name} {method}", lambda sp, x, name=name, shapes=shapes, method=method: getattr(getattr(sp.stats, name), method)(x, *shapes, loc=0.1), p(4) * 0.9)
      for name, shapes in (("gamma", (1.5,)), ("beta", (1.5, 2.5)), ("chi2", (3.0,)), ("t", (4.0,))) for method in ("logpdf", "pdf", "cdf")),
    ("gamma of shapes",     lambda sp, x, a: sp.stats.gamma.logpdf(x, a), p(3), p(3)),
    ("t of shapes",         lambda sp, x, df: sp.stats.t.logpdf(x, df), n(3), p(3)),
    ("beta of shapes",      lambda sp, x, a, b: sp.stats.beta.logpdf(x, a, b), p(3), p(3), p(3)),
    ("poisson",             lambda sp, mu: sp.stats.poisson.logpmf(INTS, mu), p(4)),
    ("bernoulli",           lambda sp, q: sp.stats.bernoulli.logpmf(numpy.array([0, 1, 1, 2]), q), p(4)),
    ("dirichlet",           lambda sp, a: sp.stats.dirichlet.logpdf(numpy.array([0.2, 0.3, 0.5]), a), p(3)),
    ("multivariate_normal", lambda sp, x, m, c: sp.stats.multivariate_normal.logpdf(x, m, c), n(4, 3), n(3), definite(3)),
]
NUMPY_ALONE = [  # of other signs in JAX, or not there
    ("sliding_window_view", lambda np, x: np.lib.stride_tricks.sliding_window_view(x, (2, 3)).max((-1, -2)), n(4, 5)),
    ("linalg.eigh of U",    lambda np, a: np.linalg.eigh(a, "U")[1] + np.linalg.eigh(a)[1], n(6, 6)),
    ("linalg.cond of all",  lambda np, a: np.linalg.cond(a, -2) + np.linalg.cond(a, "fro") + np.linalg.cond(a, numpy.inf), square(3, 3)),
]
# what jax.scipy has not: our word is checked against differences
NOT_IN_JAX = [
    *((name, lambda sp, x, name=name: getattr(sp.special, name)(x), p(4)) for name in
      "j0 j1 y0 y1 k0 k1 k0e k1e exp10 exprel rgamma gammasgn loggamma erfcinv".split()),
    ("exprel near 0",       lambda sp, x: sp.special.exprel(x), numpy.array([0.0, 1e-9, 0.05])),
    *((f"{name} of {v}", lambda sp, x, name=name, v=v: getattr(sp.special, name)(v, x), p(4)) for name in ("jv", "yv", "iv", "ive", "kv", "kve") for v in (0, 2.5)),
    ("jn",                  lambda sp, x: sp.special.jn(2, x) + sp.special.yn(1, x) + sp.special.kn(1, x), p(3)),
    ("boxcox",              lambda sp, x, a: sp.special.boxcox(x, a) + sp.special.boxcox1p(x, 0.0), p(3), numpy.array([0.0, 0.5, -0.7])),
    ("huber",               lambda sp, d, r: sp.special.huber(d, r) + sp.special.pseudo_huber(d, r), p(4), n(4)),
    ("solve_sylvester",     lambda sp, a, b, q: sp.linalg.solve_sylvester(a, b, q), square(3, 3), square(2, 2), n(3, 2)),
    ("lyapunov",            lambda sp, a, q: sp.linalg.solve_continuous_lyapunov(a, q), square(3, 3), n(3, 3)),
    ("sqrtm",               lambda sp, a: sp.linalg.sqrtm(a), definite(3)),
    ("lstsq",               lambda sp, a, b: sp.linalg.lstsq(a, b)[0] + sp.linalg.pinv(a) @ b * sp.linalg.norm(a), n(4, 2), n(4)),
    ("uniform",             lambda sp, x: sp.stats.uniform.pdf(x, 0.1, scale=1.5) * sp.stats.uniform.cdf(x), p(4)),
    ("frozen",              lambda sp, x: sp.stats.norm(0.5, 2.0).logpdf(x) * sp.stats.gamma(1.5, scale=2.0).sf(x), p(4)),
    ("poisson cdf",         lambda sp, mu: sp.stats.poisson.cdf(INTS, mu), p(4)),
    ("mvn entropy",         lambda sp, c: sp.stats.multivariate_normal.entropy(numpy.zeros(3), c), definite(3)),
    ("wishart",             lambda sp, s: sp.stats.wishart.logpdf(numpy.eye(3) * 2 + 0.1, 5, s), definite(3)),
]
