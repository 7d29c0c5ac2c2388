"""scan, map, call, cond and while_loop of plain functions: the values and derivatives of Python's own loops and branches."""
import numpy as np
import pytest

import xman
from xman import WengertList, XMan, XManError, derivative, f, grad, hvp, jit, jvp, source, trace

R = np.random.default_rng(5)
ARGS = R.normal(size=(4, 5)), R.normal(size=(6, 4, 3)), R.normal(size=(5, 5)) / 5, R.normal(size=(3, 5))
DIRECTION = tuple(R.normal(size=x.shape) for x in ARGS)


def looped(h0, X, U, W):
    def step(h, x):
        h = np.tanh(h @ U + x @ W)
        return h, h
    h, H = xman.scan(step, h0, X)
    return np.sum(H ** 2) + np.mean(h)


def flat(h0, X, U, W):
    H = []
    for x in X:
        h0 = np.tanh(h0 @ U + x @ W)
        H.append(h0)
    return np.sum(np.stack(H) ** 2) + np.mean(h0)


def checkpointed(h0, X, U, W):
    def block(h, xs):
        return xman.scan(lambda h, x: (np.tanh(h @ U + x @ W), None), h, xs, keep=False)[0], None
    return np.sum(xman.scan(block, h0, X.reshape((2, 3, 4, 3)))[0] ** 2)


def last(h0, X, U, W):
    for x in X:
        h0 = np.tanh(h0 @ U + x @ W)
    return np.sum(h0 ** 2)


def in_reverse(h0, X, U, W):
    return xman.scan(lambda h, x: (np.tanh(h @ U + x @ W), np.sin(h)), h0, X, reverse=True)[1].sum()


def in_reverse_flat(h0, X, U, W):
    total = 0.0
    for x in X[::-1]:
        total, h0 = total + np.sum(np.sin(h0)), np.tanh(h0 @ U + x @ W)
    return total


def counted(h0, X, U, W):
    inner = lambda h, s: (h / 2, xman.scan(lambda h, t: (h * W[0] + t, np.sin(h * t) * s), h[0], 3)[1])
    return np.sum(xman.scan(inner, h0, X[:3, 0, 0])[1])


def counted_flat(h0, X, U, W):
    total = 0.0
    for s in X[:3, 0, 0]:
        h, h0 = h0[0], h0 / 2
        for t in range(3):
            total, h = total + np.sum(np.sin(h * t) * s), h * W[0] + t
    return total


def broadened(h0, X, U, W):
    return np.sum(xman.scan(lambda h, x: (np.tanh(h @ U + x @ W), h @ U), h0[:1], X)[1] ** 2)


def broadened_flat(h0, X, U, W):
    total, h = 0.0, h0[:1]
    for x in X:
        total, h = total + np.sum(np.broadcast_to(h @ U, (4, 5)) ** 2), np.tanh(h @ U + x @ W)
    return total


@pytest.mark.parametrize(("one", "other"), [(looped, flat), (broadened, broadened_flat), (checkpointed, last), (in_reverse, in_reverse_flat),
                                            (counted, counted_flat)])
def test_a_scan_has_the_derivatives_of_the_loop(one, other):
    assert one(*ARGS) == pytest.approx(other(*ARGS), rel=1e-14)
    assert jvp(one, ARGS, DIRECTION)[1] == pytest.approx(jvp(other, ARGS, DIRECTION)[1], rel=1e-12)
    slopes = [grad(other, range(4))(*ARGS), hvp(other, ARGS, DIRECTION, range(4))]
    for mine, right in zip([grad(one, range(4))(*ARGS), hvp(one, ARGS, DIRECTION, range(4))], slopes, strict=True):
        for a, b in zip(mine, right, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)
    for a, b in zip(jit(grad(one, range(4)), "numpy")(*ARGS), slopes[0], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


def test_its_list_has_as_many_lines_for_any_number_of_steps_and_names_what_it_takes():
    steps = trace(looped, *ARGS)
    assert steps == trace(looped, ARGS[0], np.ones((500, 4, 3)), *ARGS[2:])
    assert repr(steps).startswith("def step(h, x, U, W):\n    z1 = dot(h, U)\n") and "h1 = tanh(z3)\n    return h1, h1" in repr(steps)


def test_its_step_has_no_line_that_nothing_reads():
    def step(h, x):
        unread = np.exp(h) * np.sin(x)
        assert unread is not None
        return h + x, h * x

    of_registers = XMan().operationSequence(f.sum(xman.scan(step, f.input("s"), f.input("X"))[1]))
    for text in (str(of_registers), str(trace(lambda X: np.sum(xman.scan(step, X[0], X)[1]), np.ones(3)))):
        assert "add(h, x)" in text and "exp" not in text and "sin" not in text


def test_a_register_that_it_closes_over_keeps_its_name():
    weights = [f.input("w")]
    steps = XMan().operationSequence(xman.scan(lambda h, x: (h * weights[0] + x, None), f.input("s"), f.input("X"))[0])
    assert str(steps).startswith("def step(h, x, w):\n    z1 = mul(h, w)\n")


def test_its_source_is_a_function_with_a_loop():
    steps, space = trace(looped, *ARGS), {}
    exec(source(steps, "looped", ["U"], dict(zip(("h0", "X", "U", "W"), ARGS, strict=True))), space)
    value, slope = space["gradient_of_looped"](*ARGS)
    assert value == looped(*ARGS)
    h0, X, U, W = ARGS
    exec(source(steps, "looped", ["U"]), space)
    assert np.array_equal(space["gradient_of_looped"](h0, X[:0], U, W)[1], grad(looped, 2)(h0, X[:0], U, W))  # of no steps
    slopes = xman.gradient(steps, "looped", ["U"])
    exec(source(slopes, "dlooped_dU", ["h0"], dict(zip(("h0", "X", "U", "W"), ARGS, strict=True))), space)
    right = hvp(looped, ARGS, (0 * ARGS[0], 0 * ARGS[1], np.ones((5, 5)), 0 * ARGS[3]), range(4))[0]
    np.testing.assert_allclose(space["gradient_of_dlooped_dU"](*ARGS)[1], right, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(slope, grad(looped, 2)(*ARGS), rtol=1e-13)


def root(a):
    return xman.while_loop(lambda x: abs(x * x - a) > 1e-13, lambda x: (x + a / x) / 2, 1.0)


def test_newtons_method_has_the_derivatives_of_the_root():
    assert root(2.0) == pytest.approx(2 ** .5) and grad(root)(2.0) == pytest.approx(.5 / 2 ** .5)
    assert jvp(root, (2.0,), (1.0,))[1] == pytest.approx(.5 / 2 ** .5) == derivative(root)(2.0)
    assert grad(grad(root))(2.0) == pytest.approx(-.25 * 2 ** -1.5) == jvp(grad(root), (2.0,), (1.0,))[1]
    space = {}
    exec(source(trace(root, 2.0)), space)
    assert space["value_of_root"](5.0) == pytest.approx(5 ** .5)


@pytest.mark.parametrize("fn", [
    lambda x: xman.scan(lambda h, t: (np.sin(h) * x[0], h), x, length=3)[1].sum(), lambda x: xman.map(lambda t: np.sin(t) * t, x).sum(),
    lambda x: xman.cond(x[0] > 0, np.sin, np.cos, xman.call(lambda h: h * h, x)).sum(),
    lambda x: xman.while_loop(lambda h: np.sum(h * h) > 1.0, lambda h: np.sin(h) * 0.9, x).sum()])
def test_the_hessian_of_a_loop_is_a_list(fn):
    x, hessian = np.array([1.0, 2.0]), xman.hessian(fn)
    steps = trace(hessian, x)
    np.testing.assert_array_equal(xman.eval(steps, {steps.inputs[0]: x})[steps[-1][0]], hessian(x))


def test_a_branch_that_is_not_taken_is_not_run():
    def branch(x, y):
        return xman.cond(x.sum() > 0, lambda x: np.log(x) * y, lambda x: x ** 2, x).sum()
    x = np.array([1.0, 2.0, 3.0])
    steps = trace(lambda x: xman.cond(x.sum() > 0, lambda x: (2.0 * x, x), lambda x: (x, x), x)[0].sum(), x)
    slopes, moved = xman.gradient(steps, "result", ["x"]), xman.tangent(steps, ["x"])
    for k, point in ((2.0, x), (1.0, -x)):  # one branch gives what it was given
        np.testing.assert_array_equal(xman.eval(slopes, {"x": point})["dresult_dx"], [k] * 3)
        assert xman.eval(moved, {"x": point, "x_dot": x})["result_dot"] == 6 * k
    np.testing.assert_allclose(grad(branch)(x, 2.0), 2.0 / x)
    np.testing.assert_allclose(grad(branch)(-x, 2.0), -2.0 * x)
    assert grad(branch, 1)(x, 2.0) == pytest.approx(np.log(x).sum()) and grad(branch, 1)(-x, 2.0) == 0
    assert jvp(branch, (x, 2.0), (x, 1.0))[1] == pytest.approx(6 + np.log(x).sum())


def test_map_differentiates_row_by_row_and_call_is_one_line():
    X = R.normal(size=(7, 3))
    np.testing.assert_allclose(xman.map(grad(lambda x: np.sum(x ** 3)), X), 3 * X ** 2)
    assert [op for _, op, _ in trace(lambda x: xman.call(np.sin, x) * 2.0, 0.5)] == ["bundle", "call", "item", "mul"]
    assert grad(lambda x: xman.call(lambda a: {"s": np.sin(a)}, x)["s"])(0.5) == pytest.approx(np.cos(0.5))


def test_runge_kutta_goes_many_steps():
    def end(k, n=10_000):
        def step(y, _):
            g = lambda y: -k * y
            a = g(y)
            b = g(y + a / (2 * n))
            c = g(y + b / (2 * n))
            return y + (a + 2 * b + 2 * c + g(y + c / n)) / (6 * n), None
        return xman.scan(step, 1.0, length=n)[0]
    assert end(1.5) == pytest.approx(np.exp(-1.5), rel=1e-12) and grad(end)(1.5) == pytest.approx(-np.exp(-1.5), rel=1e-11)


@pytest.mark.parametrize("engine", ["interpret", "numpy", "llvm"])
def test_what_steps_give_of_whole_numbers_that_become_floats_is_floats(engine):
    pytest.importorskip("llvmlite")
    fast = jit(lambda x: xman.scan(lambda c, x: ((c[1], c[0] + x), c[0]), (0, 0), x)[1], engine)
    for _ in range(2):
        np.testing.assert_array_equal(fast(np.full(5, 0.5)), [0.0, 0.0, 0.5, 0.5, 1.0])


def test_registers_of_a_model_are_looped_over():
    class Decay(XMan):
        rate, X = f.param(), f.input()
    model = Decay()
    model.total, model.sums = xman.scan(lambda s, x: (s * model.rate + x, s * x), f.input("s0"), model.X)
    steps = model.setup().operationSequence(model.total)
    values = xman.eval(steps, {"s0": 0.0, "X": np.ones(3), "rate": 0.5})
    assert values["total"] == 1.75 and xman.backprop(steps, values, wrt="rate", total=1.0)["rate"] == 2.0
    assert WengertList.from_text(str(steps)) == steps and str(steps).startswith("def step(s, x, rate):")


WRONG = {
    "no pair": (lambda: xman.scan(lambda h, x: h, 0.0, np.ones(3)), "scan wants a pair"),
    "no steps": (lambda: xman.scan(lambda h, x: (h, x), 0.0), "give it length=100"),
    "a number of xs": (lambda: xman.scan(lambda h, x: (h, x), 0.0, 2.5), "goes along the leading axis of its xs"),
    "another carry": (lambda: xman.scan(lambda h, x: ((h, h), x), 0.0, np.ones(3)), "they have to be alike"),
    "a check of NumPy's": (lambda: xman.map(lambda a: np.linalg.cholesky(a), np.ones((2, 1, 1))),
                           "<lambda> calls np.linalg.cholesky, which looks at .*write f.cholesky"),
    "a branch": (lambda: xman.scan(lambda h, x: (h if x > 0 else -h, x), 0.0, np.ones(3)), "goes by a value here.*xman.cond"),
    "a longer carry": (lambda: xman.scan(lambda h, x: (np.append(h, x), x), np.ones(2), np.ones(3)), "a carry keeps its shape"),
    "a carry that grows after it was spread": (
        lambda: xman.scan(lambda c, x: (np.outer(c, c), x), np.ones(2), np.ones(3)),
        r"takes c of shape \(2,\) and hands it on with shape \(2, 2\); a carry keeps its shape"),
    "a test of a carry that grows after it was spread": (
        lambda: xman.while_loop(lambda c: np.sum(c) < 99, lambda c: np.outer(c, c), np.ones(2)),
        r"takes c of shape \(2,\) and hands it on with shape \(2, 2\)"),
    "float32 that meets a float of the loop around": (
        lambda: xman.scan(lambda a, _: (xman.scan(lambda h, x: (h * a, None), np.float32(1), np.ones(2, np.float32))[0], None),
                          0.0, 3),
        "takes h as float32 and hands it on as float64, as a is; begin with h as float64"),
    "two branches": (lambda: xman.cond(True, lambda x: x, lambda x: (x, x), 1.0), "the branches of cond return the same structure"),
    "two truth values": (lambda: xman.while_loop(lambda x: (x, x), lambda x: x, 1.0), "returns one truth value"),
    "no end": (lambda: xman.while_loop(lambda x: x > 0, lambda x: x + 1, 1.0, most=9), "still holds after 9 steps.*most="),
    "no length": (lambda: xman.scan(lambda h, x: (h, x), 0.0, length=-1), "length is the whole number of steps"),
    "two lengths": (lambda: xman.scan(lambda h, x: (h, x), 0.0, (np.ones(3), np.ones(4))), "the steps of step are 3 by x_0, 4 by x_1"),
    "no number": (lambda: xman.scan(lambda h, x: (h, x), "a", np.ones(3)), "a loop takes arrays of numbers"),
    "no single truth": (lambda: xman.while_loop(lambda x: x < 9, lambda x: x + 1, np.ones(2)), "one truth value is wanted"),
    "a text": (lambda: xman.map(lambda x: x, np.array(["a"])), "arrays of numbers, and found"),
    "less than no steps": (lambda: xman.scan(lambda h, t: (h, t), 0.0, -2), "and found -2"),
    "no test": (lambda: xman.while_loop(3, lambda x: x, 1.0), "while_loop takes a function"),
    "no bound": (lambda: xman.while_loop(lambda x: x > 0, lambda x: x, 1.0, most=-1), "most is the greatest number"),
    "no function": (lambda: xman.scan(3, 0.0, np.ones(3)), "scan takes a function"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_loop_is_refused_in_a_sentence(name):
    call, sentence = WRONG[name]
    with pytest.raises(XManError, match=sentence):
        call()


@pytest.mark.parametrize("loop", [
    lambda c: xman.scan(lambda c, x: ({**c, "b": c["b"] + x}, None), c, np.arange(3))[0],
    lambda c: xman.scan(lambda c, x: ({**c, "b": c["b"] + x}, None), c, 0)[0],
    lambda c: xman.while_loop(lambda c: c["b"] < 9, lambda c: {**c, "b": c["b"] + 1}, c)], ids=["scan", "no steps", "while_loop"])
@pytest.mark.parametrize("number", [1, 2.5])
def test_a_carry_that_is_handed_on_as_it_is_comes_out_as_the_others(loop, number):
    for run in loop, jit(loop):
        carry = run({"a": number, "b": number})
        assert type(carry["a"]) is type(carry["b"]) is type(np.asarray(number)[()]) and carry["a"] == number


def test_what_has_no_form_for_a_loop_says_so_with_its_line():
    pytest.importorskip("jax")
    from xman.export import to_stablehlo
    steps, values = trace(looped, *ARGS), dict(zip(("h0", "X", "U", "W"), ARGS, strict=True))
    with pytest.raises(XManError, match="line 2, .* applies a function, which StableHLO has no form for"):
        to_stablehlo(steps, values)


def test_pictures_know_loops():
    steps, values = trace(looped, *ARGS), dict(zip(("h0", "X", "U", "W"), ARGS, strict=True))
    graph = xman.paths(steps, "looped", "U", values)
    assert {e.label for e in graph.edges} >= {f"dH/d{x}" for x in ("h0", "X", "U", "W")}
    np.testing.assert_allclose(graph.backward()["U"].reshape(5, 5), grad(looped, 2)(*ARGS), rtol=1e-12)
    assert "scan(step, 1, 1, z1)" in str(xman.explain(steps, values=values)) and xman.check(steps, values, wrt=["U"]).ok
    steps, x, slope = trace(root, 2.0), 1.0, 0.0
    told = {row.step.partition(" = ")[0]: row.step.rpartition(" = ")[2] for row in xman.derivation(steps, "root", "a")}
    for _ in range(30):
        slope, x = (eval(rule.replace("·", "*").replace("^", "**"), {"x": x, "a": 2.0, "dx": slope}) for rule in (
            "(" + told["step: dx1/dx"] + ")·dx + " + told["step: dx1/da"], "(x + a/x)/2"))
    assert told["∂root/∂a"] == "x′ where x′ ← dx1/dx·x′ + dx1/da" and slope == pytest.approx(grad(root)(2.0))


def test_the_way_back_holds_less_where_it_computes_again():
    X = R.normal(size=(64, 4, 3))
    h0, values = ARGS[0], {"h0": ARGS[0], "X": X}
    step = lambda h, x: (np.tanh(h @ ARGS[2] + x @ ARGS[3]), None)
    stored, again = (xman.cost(trace(fn, h0, X), wrt=["h0"], values=values, measured=False) for fn in (
        lambda h0, X: np.sum(xman.scan(step, h0, X)[0]),
        lambda h0, X: np.sum(xman.scan(lambda h, xs: (xman.scan(step, h, xs, keep=False)[0], None), h0, X.reshape((8, 8, 4, 3)))[0])))
    carry = h0.nbytes
    assert stored.evaluation.peak < X.nbytes + 10 * carry and stored.adjoint.peak > X.nbytes + 64 * carry
    assert again.adjoint.peak < X.nbytes + 3 * 8 * carry + 1000 and again.adjoint.flops > stored.adjoint.flops


def test_the_first_call_of_a_compiled_function_with_a_long_loop_is_right():
    X = np.random.default_rng(0).normal(size=(9_000, 2))
    slope = xman.grad(lambda w: np.sum(xman.scan(lambda h, x: (np.tanh(w * h + x), None), np.zeros(2), X)[0]))
    run = xman.jit(slope)
    assert [run(0.5), run(0.5)] == pytest.approx([slope(0.5)] * 2, rel=1e-12)
    with pytest.raises(XManError, match="the steps of step are 9000 by x_0, 2 by x_1"):
        xman.jit(lambda w: xman.scan(lambda h, x: (h + x[0] * w, None), w, (X, np.ones(2)))[0])(0.5)


def test_hessians_of_loops_and_branches_are_lists_too():
    x = np.array([0.3, 0.7])
    for fn in (lambda x: np.sum(xman.while_loop(lambda y: np.sum(y) < 10.0, lambda y: y * 1.5 + x, x) ** 2),
               lambda x: np.sum(xman.scan(lambda h, a: (np.sin(h * a) + x, h), x, np.ones((3, 2)))[0] ** 2),
               lambda x: np.sum(xman.cond(np.sum(x) > 0, lambda a: a ** 3, lambda a: a ** 2, x))):
        steps = trace(xman.hessian(fn), x)
        np.testing.assert_allclose(xman.eval(steps, {"x": x})[steps.outputs[-1]], xman.hessian(fn)(x), rtol=1e-12)


PLAIN = np.arange(6.0).reshape(3, 2) + 1.0


def picked(t): return PLAIN[t % 3]


@pytest.mark.parametrize("step", [
    lambda h, t: (np.tanh(h * PLAIN[t % 3]), h), lambda h, t: (np.tanh(h * picked(t)), PLAIN[t // 2, 1]),
    lambda h, t, a=PLAIN: (np.tanh(h * a[(t + 1) % 3]), None), lambda h, t: (np.tanh(h * PLAIN[..., t % 2][:2]), t)])
def test_a_counter_picks_from_a_plain_array(step):
    def by_scan(x): return np.sum(xman.scan(step, x, np.arange(5))[0])

    def by_python(x):
        for t in range(5):
            x, _ = step(x, t)
        return np.sum(x)

    x = np.array([0.5, -0.25])
    for fn, plain in ((by_scan, by_python), (grad(by_scan), grad(by_python)), (jit(grad(by_scan), engine="numpy"), grad(by_python))):
        np.testing.assert_allclose(fn(x), plain(x), rtol=1e-12)
