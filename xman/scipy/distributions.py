"""The distributions of scipy.stats: log densities, and distribution functions if an operator has them."""
from __future__ import annotations

import math

import numpy as np

from ops import f

from ..numpy.decompositions import mirrored
from ..traced.dispatch import SPECIAL, with_shape
from ..traced.refusals import SCIPY, refuse
from .functions import multigammaln

LOG_2PI = math.log(2.0 * math.pi)
xlogy, xlog1py = (lambda x, y: f.scale(x, f.log(y))), (lambda x, y: f.scale(x, f.log1p(y)))
ndtr = SPECIAL["ndtr"]


def t_cdf(z, df):
    tail = f.half(f.betainc(f.half(df), 0.5, df / (df + z * z)))
    return f.where(z > 0, 1.0 - tail, tail)


# for each distribution the log density at z = (x − loc)/scale, and the domain where the density is not 0
POSITIVE, WHOLE_LINE, UNIT = (lambda z: z >= 0), None, (lambda z: f.logical_and(z >= 0, z <= 1))
DENSITIES = {
    "norm":     (WHOLE_LINE, lambda z: -f.half(z * z + LOG_2PI)),
    "expon":    (POSITIVE,   lambda z: -z),
    "laplace":  (WHOLE_LINE, lambda z: -f.abs(z) - math.log(2.0)),
    "logistic": (WHOLE_LINE, lambda z: -f.abs(z) - 2.0 * f.log1p(f.exp(-f.abs(z)))),
    "cauchy":   (WHOLE_LINE, lambda z: -f.log1p(z * z) - math.log(math.pi)),
    "uniform":  (UNIT,       lambda z: 0.0 * z),
    "gamma":    (POSITIVE,   lambda z, a: xlogy(a - 1.0, z) - z - f.gammaln(a)),
    "chi2":     (POSITIVE,   lambda z, df: xlogy(f.half(df) - 1.0, z) - f.half(z) - f.gammaln(f.half(df))
                             - f.half(df) * math.log(2.0)),
    "beta":     (UNIT,       lambda z, a, b: xlog1py(b - 1.0, -z) + xlogy(a - 1.0, z) - f.betaln(a, b)),
    "t":        (WHOLE_LINE, lambda z, df: f.gammaln(f.half(df + 1.0)) - f.gammaln(f.half(df)) - f.half(f.log(df * math.pi))
                             - f.half(df + 1.0) * f.log1p(z * z / df)),
}
# for each distribution the probability below z, and above z
CDF = {
    "norm":     (ndtr, lambda z: ndtr(-z)),
    "expon":    (lambda z: -f.expm1(-f.maximum(z, 0.0)), lambda z: f.exp(-f.maximum(z, 0.0))),
    "laplace":  (lambda z: f.where(z > 0, 1.0 - f.half(f.exp(-f.abs(z))), f.half(f.exp(-f.abs(z)))),
                 lambda z: f.where(z > 0, f.half(f.exp(-f.abs(z))), 1.0 - f.half(f.exp(-f.abs(z))))),
    "logistic": (lambda z: f.sigmoid(z), lambda z: f.sigmoid(-z)),
    "cauchy":   (lambda z: 0.5 + f.arctan(z) / math.pi, lambda z: 0.5 - f.arctan(z) / math.pi),
    "uniform":  (lambda z: f.clip(z, 0.0, 1.0), lambda z: 1.0 - f.clip(z, 0.0, 1.0)),
    "gamma":    (lambda z, a: f.gammainc(a, f.maximum(z, 0.0)), lambda z, a: f.gammaincc(a, f.maximum(z, 0.0))),
    "chi2":     (lambda z, df: f.gammainc(f.half(df), f.half(f.maximum(z, 0.0))),
                 lambda z, df: f.gammaincc(f.half(df), f.half(f.maximum(z, 0.0)))),
    "beta":     (lambda z, a, b: f.betainc(a, b, f.clip(z, 0.0, 1.0)),
                 lambda z, a, b: f.betainc(b, a, 1.0 - f.clip(z, 0.0, 1.0))),
    "t":        (t_cdf, lambda z, df: t_cdf(-z, df)),
}


def located(name, method):
    """The method of SciPy's distribution, on traced values: a function of x, its shapes, loc and scale."""
    support, density = DENSITIES[name]
    shapes = density.__code__.co_varnames[1:density.__code__.co_argcount]
    function = {"cdf": CDF[name][0], "sf": CDF[name][1]}.get(method.removeprefix("log"))

    def value(x, *args, **named):
        arguments = dict(zip((*shapes, "loc", "scale"), args, strict=False)) | named
        loc, scale = arguments.pop("loc", 0.0), arguments.pop("scale", 1.0)
        parameters = [with_shape(arguments.pop(shape)) + 0.0 for shape in shapes]
        if arguments:
            raise TypeError(f"scipy.stats.{name}.{method} takes no argument {next(iter(arguments))!r}")
        z = (x - loc) / scale
        if function:
            result = function(z, *parameters)
            return f.log(result) if method.startswith("log") else result
        inside = support(z) if support else True
        safe = z if support is None else f.where(inside, z, 0.5)
        log = f.where(inside, density(safe, *parameters) - f.log(with_shape(scale) + 0.0), -np.inf)
        return log if method == "logpdf" else f.exp(log)
    return value



# ---- what is no density of one variable --------------------------------------------------------------------

def poisson_logpmf(k, mu, loc=0):
    k = with_shape(k) - loc
    inside = f.logical_and(k >= 0, f.equal(k, f.floor(k)))
    return f.where(inside, xlogy(k, mu) - f.gammaln(f.where(inside, k, 0) + 1.0) - mu, -np.inf)


def bernoulli_logpmf(k, p, loc=0):
    k = with_shape(k) - loc
    return f.where(f.equal(k, 1), f.log(p), f.where(f.equal(k, 0), f.log1p(-p), -np.inf))


def dirichlet_logpdf(x, alpha):
    x, alpha = with_shape(x), with_shape(alpha)
    if x.shape[0] + 1 == alpha.shape[0]:
        x = np.concatenate([x, 1.0 - np.sum(x, 0, keepdims=True)])
    rows = np.reshape(alpha, (-1, *(1,) * (x.ndim - 1)))
    return np.sum(xlogy(rows - 1.0, x), 0) + f.gammaln(np.sum(alpha)) - np.sum(f.gammaln(alpha))


def mvn_logpdf(x, mean=None, cov=1, allow_singular=False):
    if allow_singular:
        refuse("a covariance that may be singular has no density here", "leave out allow_singular")
    x, mean, cov, n = multivariate(x, mean, cov)
    factor = f.cholesky(cov)
    white = f.solve(factor, np.reshape(np.moveaxis(x - mean, -1, 0), (n, -1)))
    logdet = 2.0 * np.sum(f.log(f.diag(factor)))
    return np.reshape(-f.half(np.sum(white * white, 0) + n * LOG_2PI + logdet), x.shape[:-1])


def multivariate(x, mean, cov):
    """x (…, n), mean (n,), cov (n, n) and n, from numbers, vectors of variances or None, as in SciPy."""
    mean, cov = with_shape(0.0 if mean is None else mean), with_shape(cov)
    n = max(mean.shape[-1] if mean.ndim else 1, cov.shape[-1] if cov.ndim else 1)
    cov = cov * np.eye(n) if cov.ndim < 2 else mirrored(cov, lower=True)
    x = with_shape(x)
    if not x.ndim or x.ndim == 1 and n == 1:
        x = x[..., None]
    return x, np.broadcast_to(mean, (n,)), cov, n


def mvn_entropy(mean=None, cov=1):
    _, _, cov, n = multivariate(np.zeros(1), mean, cov)
    return f.half(n * (LOG_2PI + 1.0) + f.logabsdet(cov))


def wishart_logpdf(x, df, scale):
    x, scale, n = with_shape(x), mirrored(scale, lower=True), np.shape(x)[-1]
    sizes = ((df - n - 1.0) * f.logabsdet(mirrored(x, lower=True)) - df
             * (f.logabsdet(scale) + n * math.log(2.0)))
    return f.half(sizes - np.sum(f.inv(scale) * x, (-2, -1))) - multigammaln(f.half(df), n)


def exp_of(log):
    return lambda *args, **named: f.exp(log(*args, **named))


METHODS = "pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"
DISTRIBUTIONS = {name: {method: located(name, method) for method in METHODS} for name in DENSITIES}
DISTRIBUTIONS["norm"] |= {
    "logcdf": lambda x, loc=0, scale=1: f.logNdtr((x - loc) / scale),
    "logsf": lambda x, loc=0, scale=1: f.logNdtr(-1.0 * ((x - loc) / scale)),
    "ppf": lambda q, loc=0, scale=1: loc + scale * f.ndtri(with_shape(q) + 0.0),
    "isf": lambda q, loc=0, scale=1: loc + scale * (-1.0 * f.ndtri(with_shape(q) + 0.0))}
DISTRIBUTIONS |= {
    "poisson": {"logpmf": poisson_logpmf, "pmf": exp_of(poisson_logpmf),
                "cdf": lambda k, mu, loc=0: f.gammaincc(f.floor(with_shape(k) - loc) + 1.0, mu)},
    "bernoulli": {"logpmf": bernoulli_logpmf, "pmf": exp_of(bernoulli_logpmf)},
    "dirichlet": {"logpdf": dirichlet_logpdf, "pdf": exp_of(dirichlet_logpdf)},
    "multivariate_normal": {"logpdf": mvn_logpdf, "pdf": exp_of(mvn_logpdf), "entropy": mvn_entropy},
    "wishart": {"logpdf": wishart_logpdf, "pdf": exp_of(wishart_logpdf)},
}
SCIPY["scipy.stats"] = DISTRIBUTIONS
