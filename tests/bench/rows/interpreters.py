"""The interpreters alone: eval and backprop against the same arithmetic without a list, and against autograd."""
from __future__ import annotations

import numpy as np

import ops
from xman import WengertList, backprop
from xman import eval as evaluate
from xman.models import LogisticRegression

from ..table import Goal


def regression() -> tuple[dict, list]:
    """One eval and backprop of 64→10 softmax regression, batch 32, float32."""
    random = np.random.default_rng(0)
    model = LogisticRegression(64, 10, loss="crossEntropy")
    steps = model.operationSequence(model.loss)
    X, labels = random.uniform(size=(32, 64)).astype(np.float32), random.integers(0, 10, 32)
    y = np.eye(10, dtype=np.float32)[labels]
    inputs = model.inputDict(X=X, y=y)
    W, b = inputs["W"], inputs["b"]

    def xman():
        values = evaluate(steps, inputs)
        deltas = backprop(steps, values, ops.DG, ("W", "b"), loss=1.0)
        return values["loss"], deltas["W"], deltas["b"]

    def by_hand():
        z = X @ W + b
        e = np.exp(z - z.max(axis=1, keepdims=True))
        p = e / e.sum(axis=1, keepdims=True)
        loss = np.mean(-np.sum(y * np.log(p), axis=1))
        d = (p - y) / len(X)
        return loss, X.T @ d, d.sum(axis=0, keepdims=True)

    contestants = {"xman": xman, "NumPy by hand": by_hand}
    try:
        import autograd.numpy as anp
        from autograd import value_and_grad
        from autograd.scipy.special import logsumexp
    except ImportError:
        autograd = None
    else:
        def loss(parameters):
            W, b = parameters[0]
            z = anp.dot(X, W) + b
            return -anp.mean(anp.sum(y * (z - logsumexp(z, axis=1, keepdims=True)), axis=1))

        gradient = value_and_grad(loss)

        def autograd():
            loss, [(W_, b_)] = gradient([(W, b)])
            return loss, W_, b_
        contestants["autograd"] = autograd
    for run in contestants.values():
        for mine, theirs in zip(xman(), run(), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-6)
    return contestants, [Goal("NumPy by hand", 2.5), Goal("autograd", 1 / 8)]


def scalar() -> tuple[dict, list]:
    """A random list of 100,000 scalar operations, by the interpreters and by bare loops over dictionaries, same tables."""
    random = np.random.default_rng(0)
    names, lines = [f"x{i}" for i in range(10)], []
    for k, op in enumerate(random.choice(["add", "subtract", "mul", "sin", "cos", "tanh", "half"], 100_000)):
        args = [names[i] for i in random.integers(max(0, len(names) - 50), len(names), ops.table.arity(ops.G[op])[0])]
        lines.append((f"z{k}", str(op), tuple(args)))
        names.append(f"z{k}")
    steps, last = WengertList(lines), lines[-1][0]
    inputs = {f"x{i}": np.float64(x) for i, x in enumerate(random.normal(size=10))}
    values, G, DG = evaluate(steps, inputs), ops.G, ops.DG

    def bare_eval():
        val = dict(inputs)
        for z, g, args in steps:
            val[z] = G[g](*[val[y] for y in args])
        return val

    def bare_backprop():
        delta = {last: np.float64(1.0)}
        for z, g, args in reversed(steps):
            if z in delta:
                inputs = [values[y] for y in args]
                for y, rule in zip(args, DG[g], strict=True):
                    part = rule(delta[z], values[z], *inputs)
                    delta[y] = delta[y] + part if y in delta else part
        return delta

    assert bare_eval() == values and bare_backprop() == backprop(steps, values, **{last: 1.0})
    return ({"xman eval": lambda: evaluate(steps, inputs), "bare loop, values": bare_eval,
             "xman backprop": lambda: backprop(steps, values, **{last: 1.0}), "bare loop, deltas": bare_backprop},
            [Goal("bare loop, values", 1.3, mine="xman eval"), Goal("bare loop, deltas", 1.3, mine="xman backprop")])
