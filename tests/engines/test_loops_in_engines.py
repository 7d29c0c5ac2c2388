"""Every engine computes a list that applies functions as the interpreter does."""
import importlib.util

import numpy as np
import pytest

import ops
import xman
from ops.facts import FACTS
from xman import compile, eval, gradient, trace

R = np.random.default_rng(3)
ARGS = {"h0": R.normal(size=(1, 5)), "X": R.normal(size=(6, 4, 3)), "U": R.normal(size=(5, 5)) / 5, "W": R.normal(size=(3, 5))}


def rnn(h0, X, U, W):
    h, H = xman.scan(lambda h, x: (np.tanh(h @ U + x @ W), h @ U), np.broadcast_to(h0, (4, 5)), X)
    return np.sum(h) + np.sum(H ** 2)


def branched(h0, X, U, W):
    z = xman.cond(np.sum(W) > 0, lambda x: np.sin(x) @ W, lambda x: x @ (2 * W), X[0])
    return np.sum(xman.call(lambda z: np.exp(-z * z), z + h0)) + np.sum(U)


def embedded(h0, X, U, W):
    return np.sum(xman.scan(lambda h, t: (np.tanh(h + xman.f.getitem(W, t % 3)), None), h0[0], 4)[0] ** 2) + np.sum(U)


@pytest.mark.parametrize("engine", ["numpy", "llvm", "jax"])
@pytest.mark.parametrize("fn", [rnn, branched, embedded])
def test_an_engine_agrees_with_the_interpreter(fn, engine):
    if engine != "numpy" and importlib.util.find_spec({"llvm": "llvmlite"}.get(engine, engine)) is None:
        pytest.skip(f"{engine} is not installed")
    steps = gradient(trace(fn, *ARGS.values()), fn.__name__, ["U", "W", "h0"])
    right, run = eval(steps, ARGS), compile(steps, engine=engine)
    for _ in range(2):
        found = run(ARGS)
        assert run.engine == engine
        for name, x in found.items():
            np.testing.assert_allclose(x, right[name], rtol=1e-12, atol=1e-13)


def test_jax_runs_a_scan_as_its_own():
    pytest.importorskip("jax")
    run = compile(trace(rnn, *ARGS.values()), engine="jax")
    run(ARGS)
    assert "scan" in run.source and not run.plan.calls


def test_compiling_does_not_go_through_the_steps(monkeypatch):
    calls = []
    for table in (ops.G, ops.DG, ops.TG, FACTS):
        monkeypatch.setitem(table, "counted_here", None)  # and is gone when the test is over
    ops.operator("counted_here", lambda x: calls.append(0) or x + 0.0, lambda d, out, x: d)
    step = ("def", "step", ("h", "x"), (("y", "counted_here", ("x",)), ("h1", "add", ("h", "y"))), ("h1",))
    compile([("b", "bundle", ("h0", "X")), ("s", "scan", (step, 1, 1, "b")), ("h", "item", ("s", 0))], engine="numpy")(
        {"h0": np.zeros(3), "X": np.ones((500, 3))})
    assert 500 <= len(calls) < 530
