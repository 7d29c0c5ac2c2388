"""Every engine computes a list that applies functions as the interpreter does."""
import _thread
import importlib.util
import re
import signal
import threading

import numpy as np
import pytest

import ops
import xman
from xman import compile, eval, f, gradient, trace

needs_llvm = pytest.mark.skipif(importlib.util.find_spec("llvmlite") is None, reason="llvmlite is not installed")
R = np.random.default_rng(3)
ARGS = {"h0": R.normal(size=(1, 5)), "X": R.normal(size=(6, 4, 3)), "U": R.normal(size=(5, 5)) / 5, "W": R.normal(size=(3, 5))}


def rnn(h0, X, U, W):
    h, H = xman.scan(lambda h, x: (np.tanh(h @ U + x @ W), h @ U), np.broadcast_to(h0, (4, 5)), X)
    spread = xman.scan(lambda c, x: (c + x, np.sum(c)), 1.0, X)[1]  # a carry that has a shape after the first step
    return np.sum(h) + np.sum(H ** 2) + np.sum(U) * np.sum(spread)


def branched(h0, X, U, W):
    z = xman.cond(np.sum(W) > 0, lambda x: np.sin(x) @ W, lambda x: x @ (2 * W), X[0])
    return np.sum(xman.call(lambda z: np.exp(-z * z), z + h0)) + np.sum(U)


def embedded(h0, X, U, W):
    return np.sum(xman.scan(lambda h, t: (np.tanh(h + xman.f.getitem(W, t % 3)), None), h0[0], 4)[0] ** 2) + np.sum(U)


def others(h0, X, U, W):
    """Literals, two carries, one that changes its kind, reversed steps, parts of arrays, loops in loops, steps that hand on what came."""
    first = lambda c, t: ((c[1], c[0] + c[1] * X[t]), c[1])
    (a, b), A = xman.scan(first, (1.0, U[:4, :3]), 6, reverse=True)
    c, C = xman.scan(lambda c, x: (c + np.sum(x), (c, x)), 0, X[1:, ::2].T)
    rows = xman.map(lambda row: xman.scan(lambda h, x: (np.sin(h * x), h), 0.5, row), W[:, ::-1])
    kept = xman.scan(lambda h, row: (xman.scan(lambda h, x: (np.tanh(h + x), None), h, row, keep=False)[0], None), h0[0, :3], X)
    none = xman.scan(lambda h, x: (h * x, h), np.sum(W), np.ones(0))[0]
    swapped = xman.scan(lambda c, t: ((c[1], c[0], c[2]), None), (U, 2 * U, W), 3)[0]
    late = xman.scan(lambda c, i: (U[i], c), h0[0], 3)[1]
    put = lambda c, x: ((c[0] + c[1], c[1] + xman.f.scatterAdd(x, c[1], 1)), None)  # read before it is added to
    (both, _), _ = xman.scan(put, (np.zeros((4, 3)), np.ones((4, 3))), X[:, 0])
    return sum(np.sum(x) for x in (late * late, both * both, a * b, A, c, *C, *rows, kept[0], none, *swapped[1:], swapped[0] * U))


@pytest.mark.parametrize("engine", ["numpy", "llvm", "jax"])
@pytest.mark.parametrize("fn", [rnn, branched, embedded, others])
def test_an_engine_agrees_with_the_interpreter(fn, engine):
    if engine != "numpy" and importlib.util.find_spec({"llvm": "llvmlite"}.get(engine, engine)) is None:
        pytest.skip(f"{engine} is not installed")
    steps = gradient(trace(fn, *ARGS.values()), fn.__name__, ["U", "W", "h0"])
    right, run = eval(steps, ARGS), compile(steps, engine=engine)
    if (engine, fn) == ("jax", others):
        return  # a carry that changes its kind is not for JAX
    for _ in range(2):
        found = run(ARGS)
        assert run.engine == engine
        for name, x in found.items():
            np.testing.assert_allclose(x, right[name], rtol=1e-12, atol=1e-13)
    if engine == "llvm" and fn in (rnn, branched):
        assert not run.plan.calls


def test_jax_runs_a_scan_as_its_own():
    pytest.importorskip("jax")
    run = compile(trace(rnn, *ARGS.values()), engine="jax")
    run(ARGS)
    assert "scan" in run.source and not run.plan.calls


def test_compiling_does_not_go_through_the_steps():
    calls = []
    ops.operator("counted_here", lambda x: calls.append(0) or x + 0.0, lambda d, out, x: d)
    step = ("def", "step", ("h", "x"), (("y", "counted_here", ("x",)), ("h1", "add", ("h", "y"))), ("h1",))
    compile([("b", "bundle", ("h0", "X")), ("s", "scan", (step, 1, 1, "b")), ("h", "item", ("s", 0))], engine="numpy")(
        {"h0": np.zeros(3), "X": np.ones((500, 3))})
    assert 500 <= len(calls) < 530


@needs_llvm
def test_a_loop_in_machine_code_ends_where_somebody_stops_it():
    root = lambda a: xman.while_loop(lambda x: abs(x * x - a) > 1e-12, lambda x: (x + a / x) / 2, 1.0, most=10 ** 12)
    run = compile(trace(root, 2.0), engine="llvm")
    assert abs(run({"a": 9.0})["result"] - 3.0) < 1e-12 and run.engine == "llvm" and not run.plan.calls
    large = lambda x: xman.while_loop(lambda c: c[1], lambda c: (c[0] / 2, c[0] > 2.0), (x, x > 1.0))[0]  # which the test alone reads
    halved = compile(trace(large, 8.0), engine="llvm")
    assert [halved({"x": x})["result"] for x in (8.0, 0.5, 9.0)] == [large(8.0), 0.5, large(9.0)] and not halved.plan.calls
    kept = compile(trace(lambda X: xman.scan(lambda h, x: (h, None), 1.0, X)[0], np.ones(3)), engine="llvm")
    assert kept({"X": np.ones(3)})["result"] == 1.0 and kept.engine == "llvm"
    for most in (-3, 0, 1.5):  # in a list that somebody wrote
        steps = [(dst, op, (*args[:4], most) if op == "while_loop" else args) for dst, op, args in trace(root, 2.0)]
        bounded = compile(steps, engine="llvm")
        assert bounded({"a": 1.0})["result"] == 1.0 and bounded.engine == "llvm"
        with pytest.raises(xman.XManError) as error:
            bounded({"a": 9.0})
        with pytest.raises(xman.XManError, match=re.escape(str(error.value))):
            xman.eval(steps, {"a": 9.0})
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores Ctrl-C
    threading.Timer(0.1, _thread.interrupt_main).start()
    try:
        with pytest.raises(KeyboardInterrupt, match="stopped in <program of 3 lines for result, engine llvm>"):
            run({"a": -1.0})
    finally:
        signal.signal(signal.SIGINT, before)
    assert abs(run({"a": 4.0})["result"] - 2.0) < 1e-12


@needs_llvm
def test_the_gradient_of_a_loop_that_ends_on_a_condition_is_machine_code_for_any_number_of_steps():
    def fn(x, a):
        y, k, s = xman.while_loop(lambda c: np.max(abs(c[0])) > 1, lambda c: (c[0] / 2 * a, c[1] + 1, c[2] + c[0] ** 2), (x, 0, x))
        return np.sum(y * s)
    random = np.random.default_rng(3)
    slope = xman.grad(fn, (0, 1))
    for of in (slope, lambda x, a: xman.jvp(fn, (x, a), (x, a))[1], xman.grad(lambda x, a: np.sum(slope(x, a)[0] ** 2), (0, 1))):
        steps = trace(of, np.ones(3), 1.0)
        run, programs = compile(steps, engine="llvm"), set()
        for most in (0.3, 5.0, 0.4, 1e4, *np.exp(random.normal(size=6) * 4)):  # no steps, some, and more than there was room for
            given = {"x": random.normal(size=3) * most, "a": random.uniform(0.8, 1.2)}
            for name, right in xman.eval(steps, given).items():
                if name in run.outputs:
                    np.testing.assert_allclose(run(given)[name], right, rtol=1e-9, atol=1e-9 * np.max(np.abs(right)))
            programs.add(id(run._latest))
            assert run.engine == "llvm" and not run.plan.calls
        assert len(programs) <= 4
    kept = ("def", "kept", ("x", "t"), (("y", "mul", ("x", "t")),), ("x", "y"))
    halve, above = ("def", "halve", ("x",), (("y", "divide", ("x", 2)),), ("y",)), ("def", "above", ("x",), (("t", "greater", ("x", 1)),), ("t",))
    steps = [("b", "bundle", ("x",)), ("w", "while_loop", (above, halve, 1, "b")), ("n", "item", ("w", 1)), ("c", "bundle", ("x", "n")),
             ("s", "scan", (kept, 1, 1, "c")), ("y", "item", ("s", 1)), ("z", "broadcast", (2.0, "y")), ("total", "sum", ("z",))]
    run = compile(steps, ["total"], engine="llvm")  # rows that were not written are read by nobody
    assert [float(run({"x": x})["total"]) for x in (1.0, 7.0, 3.0, 40.0)] == [0.0, 6.0, 4.0, 12.0]


@needs_llvm
def test_a_loop_in_machine_code_leaves_what_is_wrong_to_the_reference():
    run = compile(trace(lambda E, I: xman.scan(lambda h, i: (h + E[i], h), np.zeros(3), I)[0], ARGS["X"][0], np.array([0, 3])), engine="llvm")
    assert np.array_equal(run({"E": ARGS["X"][0], "I": np.array([0, 3])})["result"], ARGS["X"][0, 0] + ARGS["X"][0, 3]) and not run.plan.calls
    with pytest.raises(xman.XManError, match="step 1: in .*index 4 is out of bounds"):
        run({"E": ARGS["X"][0], "I": np.array([0, 4])})


def decay(w):
    """How far x comes to w while it is above a tenth: some 2,300 steps, more for a small w."""
    x, _ = xman.while_loop(lambda c: c[0] > 0.1, lambda c: (c[0] - 1e-3 * c[0] * (1 + 0.01 * np.sin(w)), c[1]), (np.exp(w), w))
    return (x - w) ** 2


def descended(w):
    """Four steps down, or half as far up from below."""
    slope = xman.grad(decay)

    def step(c):
        w, t = c
        return xman.cond(w > 0.2, lambda: w - 0.1 * slope(w), lambda: w + 0.05 * slope(w)), t + 1
    return xman.while_loop(lambda c: c[1] < 4, step, (w, np.int64(0)))[0]


@needs_llvm
def test_a_loop_whose_body_differentiates_a_loop_is_machine_code_with_room_for_all_steps():
    steps = trace(descended, 0.3)
    run = compile(steps, ["descended"], engine="llvm")
    for w in (-1.0, 0.3, 3.0):  # ever more steps within
        np.testing.assert_allclose(run({"w": w})["descended"], eval(steps, {"w": w})["descended"], rtol=1e-9)
        assert run.engine == "llvm" and not run.plan.calls


def test_examples_run_no_loop_that_ends_on_values_and_take_either_branch():
    from xman.passes import examples

    kinds = lambda fn, x: np.shape([*examples.examples(trace(fn, x), {"x": np.abs(x)}, cycles=1).values()][-1])
    endless = lambda x: xman.while_loop(lambda c: np.sum(c) > 0, lambda c: 1.0 * c, x)  # of negative numbers it makes no step
    assert kinds(lambda x: xman.call(endless, x), -np.ones(3)) == (3,)
    assert kinds(lambda x: xman.scan(lambda c, _: (endless(c), None), x, 2)[0], -np.ones(3)) == (3,)
    assert kinds(lambda x: xman.cond(np.sum(x) > 1, lambda: x, lambda: x * 2), np.ones(3)) == (3,)
    for fn in (lambda x: xman.cond(np.sum(x) > 1, lambda: x, lambda: x[0]),
               lambda x: xman.while_loop(lambda c: np.sum(c) < 1, lambda c: c + np.ones((2, 3)), x)):  # or none
        with pytest.raises(examples.DependsOnValues):
            kinds(fn, np.ones((1, 3)))


@pytest.mark.parametrize("engine", ["numpy", "llvm"])
@pytest.mark.parametrize("truth", [True, np.True_])
def test_a_program_takes_truth_values_of_python_and_of_numpy(engine, truth):
    if engine == "llvm" and importlib.util.find_spec("llvmlite") is None:
        pytest.skip("llvmlite is not installed")
    steps = [("y", "where", ("c", "x", 0.5)), ("n", "logical_not", ("c",))]
    run, values = compile(steps, engine=engine), {"c": truth, "x": 2.0}
    for _ in range(2):
        assert run(values) == {"y": 2.0, "n": False}
    assert run._latest is not None  # no call has gone to the reference


@needs_llvm
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_special_functions_are_scipys_in_the_machine_code_of_loops(precision):
    from xman.engines.nests.tree import SPECIAL
    x = np.array([0.2, 0.7, 0.999, 3.4, -0.5, -3 + 1e-5, 0.0, 1e30, np.nan], precision)

    def special(op, t):
        orders = len(ops.facts.parameters(ops.G[op])[0]) - 1
        return getattr(xman.f, op)(*[1.5] * orders, t)
    steps = trace(lambda x: xman.scan(lambda total, t: (total, [special(op, t) for op in SPECIAL]), x[0], x)[1], x)
    step, expected = compile(steps, engine="llvm"), eval(steps, {"x": x})
    for y, row in step({"x": x}).items():
        assert row.dtype == expected[y].dtype == precision and not step.plan.calls
        np.testing.assert_allclose(row, expected[y], 1e-6 if precision == "float32" else 0.0)


@pytest.mark.parametrize("engine", ["numpy", pytest.param("llvm", marks=needs_llvm)])
def test_a_step_called_from_python_is_compiled_for_pythons_numbers_where_they_act_like_numpys(engine, monkeypatch):
    from ops.loops import bodies
    interpreted = []
    monkeypatch.setattr(bodies, "as_python", lambda function: lambda *_: interpreted.append(function))
    X = R.normal(size=(5, 3, 3))
    steps = trace(lambda X: xman.scan(lambda c, x: (c + np.sum(np.linalg.eigvalsh(x)), c * 2.0), 0.1, X)[1], X)
    for y, stack in compile(steps, engine=engine)({"X": X}).items():
        np.testing.assert_allclose(stack, eval(steps, {"X": X})[y])
    assert not interpreted


ONTO_ITSELF = {"flip": lambda y: y[::-1] + y, "places": lambda y: y[[1, 0]] + y, "take": lambda y: np.take(y, [1, 0]) + y,
               "both": lambda y: y + 0.5 * y[::-1] + y[[1, 1]]}
ENDING = {"doubled": lambda y: y * 2, "cumprod": lambda y: np.cumprod(y + 1) * 1.1, "digamma": lambda y: f.digamma(y + 3) + y + 1,
          "largest": lambda y: y + np.max(y), "flip": lambda y: y[::-1] + y}


@needs_llvm
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", [*ONTO_ITSELF, *(f"while {name}" for name in ENDING)])
def test_the_way_back_of_a_loop_is_that_of_the_interpreter_at_every_call(name, dtype):
    if name in ONTO_ITSELF:
        loop = lambda x: xman.scan(lambda y, _: (ONTO_ITSELF[name](y), None), x, length=4)[0][0]
    else:
        loop = lambda x: np.sum(xman.while_loop(lambda y: np.sum(y) < 20, ENDING[name.split()[1]], x))
    x = np.array([0.3, 0.7], dtype)
    compiled, wanted = xman.jit(xman.grad(loop), engine="llvm"), xman.grad(loop)(x)
    for _ in range(5):
        np.testing.assert_allclose(compiled(x), wanted, rtol=1e-5 if dtype is np.float32 else 1e-12)
