"""The distributions of scipy.stats: log densities, and distribution functions if an operator has them."""
from __future__ import annotations

import math

import numpy as np

from ops import f
from ops.facts import parameters_of

from ..numpy.decompositions import mirrored
from ..traced.dispatch import SPECIAL, with_shape
from ..traced.refusals import SCIPY, refuse
from .functions import multigammaln, t_cdf

LOG_2PI = math.log(2.0 * math.pi)
xlogy, xlog1py = (lambda x, y: f.scale(x, f.log(y))), (lambda x, y: f.scale(x, f.log1p(y)))
ndtr = SPECIAL["ndtr"]


def laplace_cdf(z):
    tail = f.half(f.exp(-f.abs(z)))
    return f.where(z > 0, 1.0 - tail, tail)


def t_logpdf(z, df):
    scale = f.gammaln(f.half(df + 1.0)) - f.gammaln(f.half(df)) - f.half(f.log(df * math.pi))
    return scale - f.half(df + 1.0) * f.log1p(z * z / df)


# for each distribution the ends of its domain, the log density at z = (x − loc)/scale, the probability below
# z, and that above z; on the whole line all densities are symmetric, and as much is above z as below −z
LINE, POSITIVE, UNIT = None, (0.0, np.inf), (0.0, 1.0)
FAMILIES = {
    "norm":     (LINE,     lambda z: -f.half(z * z + LOG_2PI),                        ndtr),
    "laplace":  (LINE,     lambda z: -f.abs(z) - math.log(2.0),                       laplace_cdf),
    "logistic": (LINE,     lambda z: -f.abs(z) - 2.0 * f.log1p(f.exp(-f.abs(z))),     f.sigmoid),
    "cauchy":   (LINE,     lambda z: -f.log1p(z * z) - math.log(math.pi),             lambda z: 0.5 + f.arctan(z) / math.pi),
    "t":        (LINE,     t_logpdf,                                                  t_cdf),
    "expon":    (POSITIVE,   lambda z: -z,              lambda z: -f.expm1(-z),         lambda z: f.exp(-z)),
    "uniform":  (UNIT,       lambda z: 0.0 * z,         lambda z: z,                    lambda z: 1.0 - z),
    "gamma":    (POSITIVE,   lambda z, a: xlogy(a - 1.0, z) - z - f.gammaln(a),
                 lambda z, a: f.gammainc(a, z), lambda z, a: f.gammaincc(a, z)),
    "beta":     (UNIT,       lambda z, a, b: xlog1py(b - 1.0, -z) + xlogy(a - 1.0, z) - f.betaln(a, b),
                 lambda z, a, b: f.betainc(a, b, z), lambda z, a, b: f.betainc(b, a, 1.0 - z)),
}


def located(name, method):
    """The method of SciPy's distribution, on traced values: a function of x, its shapes, loc and scale."""
    domain, density, below, *above = FAMILIES[name]
    above = above[0] if above else lambda z, *shapes: below(-z, *shapes)
    shapes = parameters_of(density)[0][1:]
    log, kind = method.startswith("log"), method.removeprefix("log")

    def value(x, *args, **named):
        arguments = dict(zip((*shapes, "loc", "scale"), args, strict=False)) | named
        loc, scale = arguments.pop("loc", 0.0), arguments.pop("scale", 1.0)
        parameters = [with_shape(arguments.pop(shape)) + 0.0 for shape in shapes]
        if arguments:
            raise TypeError(f"scipy.stats.{name}.{method} takes no argument {next(iter(arguments))!r}")
        z = (x - loc) / scale
        if kind != "pdf":
            z = f.clip(z, *domain) if domain else z
            probability = (below if kind == "cdf" else above)(z, *parameters)
            return f.log(probability) if log else probability
        outside = f.logical_or(z < domain[0], z > domain[1]) if domain else False  # NaN is not
        safe = f.where(outside, 0.5, z) if domain else z
        logarithm = f.where(outside, -np.inf, density(safe, *parameters) - f.log(with_shape(scale) + 0.0))
        return logarithm if log else f.exp(logarithm)
    return value


def chi2(of_gamma):
    """The method of the χ² distribution: it is a Γ distribution of twice the scale."""
    return lambda x, df, loc=0, scale=1: of_gamma(x, f.half(with_shape(df)), loc, 2.0 * with_shape(scale))


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
    sizes = (df - n - 1.0) * f.logabsdet(mirrored(x, True)) - df * (f.logabsdet(scale) + n * math.log(2.0))
    return f.half(sizes - np.sum(f.inv(scale) * x, (-2, -1))) - multigammaln(f.half(df), n)


METHODS = "pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"
DISTRIBUTIONS = {name: {method: located(name, method) for method in METHODS} for name in FAMILIES}
DISTRIBUTIONS |= {
    "chi2": {method: chi2(of_gamma) for method, of_gamma in DISTRIBUTIONS["gamma"].items()},
    "poisson": {"logpmf": poisson_logpmf, "cdf": lambda k, mu, loc=0: f.gammaincc(f.floor(with_shape(k) - loc) + 1.0, mu)},
    "bernoulli": {"logpmf": bernoulli_logpmf},
    "dirichlet": {"logpdf": dirichlet_logpdf},
    "multivariate_normal": {"logpdf": mvn_logpdf, "entropy": mvn_entropy},
    "wishart": {"logpdf": wishart_logpdf},
}
DISTRIBUTIONS["norm"] |= {
    "logcdf": lambda x, loc=0, scale=1: f.logNdtr((x - loc) / scale),
    "logsf": lambda x, loc=0, scale=1: f.logNdtr(-1.0 * ((x - loc) / scale)),
    "ppf": lambda q, loc=0, scale=1: loc + scale * f.ndtri(with_shape(q) + 0.0),
    "isf": lambda q, loc=0, scale=1: loc + scale * (-1.0 * f.ndtri(with_shape(q) + 0.0))}
for _methods in DISTRIBUTIONS.values():
    for _log in {"logpdf", "logpmf"} & _methods.keys():  # what is given by its logarithm alone
        exponential = lambda *args, _log=_methods[_log], **named: f.exp(_log(*args, **named))
        _methods.setdefault(_log.removeprefix("log"), exponential)
SCIPY["scipy.stats"] = DISTRIBUTIONS
