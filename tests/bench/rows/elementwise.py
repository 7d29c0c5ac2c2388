"""Price and five Greeks of European calls by Black and Scholes (1973): delta, gamma, theta, rho, vega, by derivatives.

Each function gives a step that returns six arrays, computed from five: spot, strike, years, rate and volatility.
"""
from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from .training import ENGINES, jax_ready

NAMES = "S", "K", "T", "r", "v"
WRT = 0, 2, 3, 4  # all but the strike


class Options(NamedTuple):
    count: int = 1_000_000
    dtype: str = "float32"


def problem(work: Options) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    ranges = (80, 120), (80, 120), (0.2, 2), (0.0, 0.1), (0.1, 0.5)
    return [random.uniform(*ends, work.count).astype(work.dtype) for ends in ranges]


def price(log, exp, sqrt, erf, S, K, T, r, v):
    """S·N(d₁) − K·exp(−rT)·N(d₂), in the functions of any framework."""
    N = lambda x: 0.5 * (1.0 + erf(x * 0.5 ** 0.5))
    spread = v * sqrt(T)
    d1 = (log(S / K) + (r + 0.5 * v * v) * T) / spread
    return S * N(d1) - K * exp(-r * T) * N(d1 - spread)


def floor(work: Options):
    """A copy of the same bytes: five arrays are read, six are written."""
    given = problem(work)
    taken = [np.empty_like(x) for x in (*given, given[0])]

    def step():
        for x, out in zip(given, taken, strict=False):
            np.copyto(out, x)
        taken[-1].fill(1)
    return step


def numpy_by_hand(work: Options):
    """The formulas of the Greeks from a book, in parts that stay in the cache."""
    from scipy.special import ndtr

    given = problem(work)
    taken = [np.empty_like(given[0]) for _ in range(6)]
    part, one = 8192, np.dtype(work.dtype).type(1)

    def step():
        for k in range(0, work.count, part):
            S, K, T, r, v = (x[k:k + part] for x in given)
            value, delta, gamma, theta, rho, vega = (x[k:k + part] for x in taken)
            root = np.sqrt(T)
            spread = v * root
            d1 = np.log(S / K)
            d1 += (r + v * v / 2) * T
            d1 /= spread
            paid = np.exp(-r * T)
            paid *= K
            ndtr(d1, out=delta)
            np.multiply(S, delta, out=value)
            density = np.exp(d1 * d1 / -2)
            density *= one / np.sqrt(2 * np.pi).astype(work.dtype)
            np.divide(density, S * spread, out=gamma)
            np.multiply(S, density, out=vega)
            d1 -= spread
            paid *= ndtr(d1)
            value -= paid
            np.multiply(paid, T, out=rho)
            np.multiply(vega, v / (2 * root), out=theta)
            theta += r * paid
            vega *= root
        return taken
    return step


def xman(engine: str, work: Options):
    from xman import XMan, compile, f, gradient

    class Option(XMan):
        S, K, T, r, v = (f.input() for _ in NAMES)
        price = price(f.log, f.exp, f.sqrt, f.erf, S, K, T, r, v)

    model = Option().setup()
    steps = gradient(model.operationSequence(model.price), "price", [NAMES[k] for k in WRT])
    steps = gradient(steps, "dprice_dS", ["S"])
    wanted = ["price", "dprice_dS", "ddprice_dS_dS", "dprice_dT", "dprice_dr", "dprice_dv"]
    step, values = compile(steps, wanted, engine), dict(zip(NAMES, problem(work), strict=True))

    def run():
        found = step(values)
        return [found[name] for name in wanted]
    return run


def autograd(work: Options):
    import autograd.numpy as np
    from autograd import elementwise_grad as egrad
    from autograd import make_vjp
    from autograd.scipy.special import erf

    given = problem(work)
    value = partial(price, np.log, np.exp, np.sqrt, erf)
    ones = np.ones_like(given[0])

    def run():
        backward, found = make_vjp(lambda x: value(*x))(tuple(given))
        delta, _, theta, rho, vega = backward(ones)
        return found, delta, egrad(egrad(value))(*given), theta, rho, vega
    return run


def jax(dispatch: str, work: Options):
    jax = jax_ready(dispatch)
    given = jax.tree.map(jax.numpy.asarray, problem(work))
    value = partial(price, jax.numpy.log, jax.numpy.exp, jax.numpy.sqrt, jax.scipy.special.erf)

    @jax.jit
    def greeks(S, *rest):
        def first(S):
            found, backward = jax.vjp(value, S, *rest)
            return found, backward(jax.numpy.ones_like(S))
        (found, slopes), (_, bends) = jax.jvp(first, (S,), (jax.numpy.ones_like(S),))
        delta, theta, rho, vega = (slopes[k] for k in WRT)
        return found, delta, bends[0], theta, rho, vega
    return lambda: jax.block_until_ready(greeks(*given))


def torch(compiled: bool, work: Options):
    import torch
    torch.compiler.reset()
    S, *rest = map(torch.from_numpy, problem(work))
    value = partial(price, torch.log, torch.exp, torch.sqrt, torch.erf)

    def greeks(S, *rest):
        def first(S):
            found, backward = torch.func.vjp(value, S, *rest)
            slopes = backward(torch.ones_like(S))
            return slopes[0].sum(), (found, slopes)
        gamma, (found, slopes) = torch.func.grad(first, has_aux=True)(S)
        delta, theta, rho, vega = (slopes[k] for k in WRT)
        return found, delta, gamma, theta, rho, vega
    return partial(torch.compile(greeks, fullgraph=True) if compiled else greeks, S, *rest)


def pytensor(work: Options):
    import pytensor
    import pytensor.tensor as pt

    pytensor.config.floatX = work.dtype
    given = problem(work)
    inputs = [pt.vector(name, dtype=work.dtype) for name in NAMES]
    value = price(pt.log, pt.exp, pt.sqrt, pt.erf, *inputs)
    slopes = pytensor.grad(value.sum(), [inputs[k] for k in WRT])
    gamma = pytensor.grad(slopes[0].sum(), inputs[0])
    step = pytensor.function(inputs, [value, slopes[0], gamma, *slopes[1:]], mode="NUMBA", trust_input=True)
    return partial(step, *given)


CONTESTANTS = {"floor: a copy of the bytes": floor, **{who: partial(xman, engine) for who, engine in ENGINES.items()},
               "NumPy by hand": numpy_by_hand, "autograd": autograd, "JAX": partial(jax, "asynchronous"),
               "JAX synchronous": partial(jax, "synchronous"), "PyTorch": partial(torch, False),
               "PyTorch compiled": partial(torch, True), "PyTensor": pytensor}
