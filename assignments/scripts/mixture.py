"""A mixture of Gaussians, fitted by the gradient of a plain function of NumPy arrays, and drawn into mixture.png.

Ong and Deisenroth, Backpropagation and automatic differentiation, slide 2: "curve fitting, neural networks, mixture models".
"""
import sys

import numpy as np

from xman import grad
from xman.files.figures import drawing

TRUE = [([-2, 0], [[0.6, 0.4], [0.4, 0.6]]), ([2, 1.5], [[1.2, -0.5], [-0.5, 0.4]]), ([1, -2], [[0.3, 0], [0, 0.3]])]


def log_densities(p, X):
    """log π_k N(x_n | μ_k, Σ_k) for rows X (n, 2), as (n, k): Σ_k⁻¹ = AᵀA with A = [[e^s_1, 0], [c e^s_2, e^s_2]]."""
    d = X[:, None, :] - p["means"]
    scale = np.exp(p["s"])
    u, v = scale[:, 0] * d[:, :, 0], scale[:, 1] * (d[:, :, 1] + p["c"] * d[:, :, 0])
    return p["a"] - np.log(np.sum(np.exp(p["a"]))) + np.sum(p["s"], axis=1) - 0.5 * (u * u + v * v) - np.log(2 * np.pi)


def loss(p, X):
    """−1/n Σ_n log Σ_k π_k N(x_n | μ_k, Σ_k), the greatest term taken out of the sum, so that nothing overflows."""
    each = log_densities(p, X)
    greatest = np.max(each, axis=1, keepdims=True)
    return -np.mean(greatest[:, 0] + np.log(np.sum(np.exp(each - greatest), axis=1)))


def fit(X, k, steps, rate=0.1, momentum=0.9, seed=0):
    """(parameters, loss before and after each step) of a descent from k means among the rows of X."""
    means = X[np.random.default_rng(seed).choice(len(X), k, replace=False)]
    p = {"a": np.zeros(k), "means": means, "s": np.zeros((k, 2)), "c": np.zeros(k)}
    velocity, losses = {name: np.zeros_like(x) for name, x in p.items()}, [loss(p, X)]
    for _ in range(steps):
        slope = grad(loss)(p, X)
        velocity = {name: momentum * velocity[name] - rate * slope[name] for name in p}
        p = {name: p[name] + velocity[name] for name in p}
        losses.append(loss(p, X))
    return p, losses


def main(path="mixture.png", steps=300):
    random = np.random.default_rng(0)
    X = np.concatenate([random.multivariate_normal(mean, covariance, 200) for mean, covariance in TRUE])
    p, losses = fit(X, len(TRUE), steps)
    print(f"loss {losses[0]:.4f} before and {losses[-1]:.4f} after {steps} steps; the means are\n{p['means'].round(2)}")
    with drawing(path, 9, 4, 1, 2, width_ratios=[3, 2]) as (left, right):
        left.scatter(*X.T, s=8, c=np.argmax(log_densities(p, X), axis=1), alpha=0.6)
        x, y = np.meshgrid(np.linspace(-5, 7, 150), np.linspace(-4.5, 4, 150))
        for each in log_densities(p, np.column_stack([x.ravel(), y.ravel()])).T.reshape(-1, *x.shape):
            left.contour(x, y, each - each.max(), levels=[-2, -0.5], colors="black", linestyles="solid")  # −r²/2 at r deviations
        left.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
        right.plot(losses)
        right.set(xlabel="step of the descent", ylabel="−log likelihood a row")


if __name__ == "__main__":
    main(*sys.argv[1:2])
