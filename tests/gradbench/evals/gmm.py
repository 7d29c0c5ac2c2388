"""The log posterior of a mixture of Gaussians with a Wishart prior on the precisions, and its gradient."""
import numpy as np
from scipy.special import multigammaln

import xman


def prepare(given):
    names = "alpha", "mu", "q", "l"
    d, m, gamma = given["d"], given["m"], given["gamma"]
    degrees = d + m + 1
    prior = given["k"] * (degrees * d * np.log(gamma / np.sqrt(2)) - multigammaln(degrees / 2, d))
    theta = {name: np.array(given[name], float) for name in names}
    theta["l"] = theta["l"].reshape(given["k"], d * (d - 1) // 2)
    return theta, np.array(given["x"]), float(m), float(gamma), prior


def log_sum_exp(v):
    top = np.max(v, axis=-1, keepdims=True)
    return np.sum(top) + np.sum(np.log(np.sum(np.exp(v - top), axis=-1)))


def log_posterior(theta, x, m, gamma, prior):
    alpha, mu, q, l = (theta[name] for name in ("alpha", "mu", "q", "l"))
    (n, d), k = x.shape, len(alpha)
    columns, rows = np.triu_indices(d, 1)  # the triangle is written column by column
    place = np.full((d, d), -1)            # of each entry of Q among those of l, exp(q) and a zero
    place[rows, columns] = np.arange(len(rows))
    place[np.diag_indices(d)] = len(rows) + np.arange(d)
    diagonal = np.exp(q)
    Q = np.concatenate([l, diagonal, np.zeros((k, 1))], axis=1)[:, place]
    centred = (x @ Q.reshape(k * d, d).T).reshape(n, k, d) - np.sum(Q * mu[:, None, :], axis=2)
    sums = np.sum(q, axis=1)
    likely = alpha + sums - 0.5 * np.sum(centred ** 2, axis=2)
    wishart = gamma ** 2 / 2 * (np.sum(diagonal ** 2) + np.sum(l ** 2)) - m * np.sum(sums)
    return log_sum_exp(likely) - n * (d / 2 * np.log(2 * np.pi) + log_sum_exp(alpha)) + prior - wishart


objective = xman.jit(log_posterior)
jacobian = xman.jit(xman.grad(log_posterior))
