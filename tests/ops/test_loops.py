"""A list may apply a list: a scan is the unrolled list to the last bits, in values and derivatives of every order."""
import functools
from pathlib import Path

import numpy as np
import pytest

import ops
import xman
from ops.loops import functions_apart
from tests.jax_at_once import at_once
from xman import WengertList, XManError, backprop, check, eval, forward, grad, gradient, hvp, jvp, simplify, tangent
from xman.notation import definition

ROOT = Path(__file__).parents[2]

STEP = ("def", "step", ("h", "x", "U", "W"), (("z1", "dot", ("h", "U")), ("z2", "dot", ("x", "W")), ("z3", "add", ("z1", "z2")),
                                              ("h1", "tanh", ("z3",))), ("h1", "h1"))
WRT = ["h0", "X", "U", "W"]


def looped(kept=True):
    step = STEP if kept else (*STEP[:4], ("h1",))
    return WengertList([("z1", "bundle", ("h0", "X", "U", "W")), ("z2", "scan", (step, 1, 1, "z1")), ("H", "item", ("z2", int(kept))),
                        ("s", "square", ("H",)), ("loss", "sum", ("s",))])


def unrolled(T, kept=True):
    lines, h, hs = [], "h0", []
    for t in range(T):
        lines += [(f"x{t}", "getitem", ("X", t)), (f"a{t}", "dot", (h, "U")), (f"b{t}", "dot", (f"x{t}", "W")),
                  (f"c{t}", "add", (f"a{t}", f"b{t}")), (h := f"h{t + 1}", "tanh", (f"c{t}",))]
        hs.append(h)
    lines.append(("H", "stack", (0, *hs)) if kept else ("H", "alias", (h,)))
    return WengertList([*lines, ("s", "square", ("H",)), ("loss", "sum", ("s",))])


def data(T, seed=0):
    random = np.random.default_rng(seed)
    return {"h0": random.normal(size=(4, 5)), "X": random.normal(size=(T, 4, 3)), "U": random.normal(size=(5, 5)) / 5,
            "W": random.normal(size=(3, 5))}


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("T", [1, 10])
def test_a_scan_is_the_unrolled_list_in_both_modes_and_the_second_order(T, kept):
    values, one, other = data(T), looped(kept), unrolled(T, kept)
    a, b = eval(one, values), eval(other, values)
    da, db = backprop(one, a, wrt=WRT, loss=1.0), backprop(other, b, wrt=WRT, loss=1.0)
    directions = data(T, 1)
    assert forward(one, a, directions)["loss"] == forward(other, b, directions)["loss"]
    ga, gb = gradient(one, "loss", WRT), gradient(other, "loss", WRT)
    ea, eb = eval(ga, values), eval(gb, values)
    right = forward(gb, eb, directions)
    twice = eval(tangent(ga, WRT), {**values, **{f"{x}_dot": d for x, d in directions.items()}})
    back_over = backprop(ga, ea, wrt=WRT, **{f"dloss_d{x}": d for x, d in directions.items()})
    short = eval(simplify(ga, [f"dloss_d{x}" for x in WRT], values), values)
    for x in WRT:
        np.testing.assert_array_equal(da[x], db[x])
        for found in (ea, short):
            np.testing.assert_array_equal(found[f"dloss_d{x}"], db[x])
        np.testing.assert_allclose(twice[f"dloss_d{x}_dot"], right[f"dloss_d{x}"], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(back_over[x], right[f"dloss_d{x}"], rtol=1e-12, atol=1e-13)


def kutta(slope, y, h):
    a = slope(y)
    b = slope(y + h / 2 * a)
    c = slope(y + h / 2 * b)
    return y + h / 6 * (a + 2 * b + 2 * c + slope(y + h * c))


def turned(xp, camera, point):
    """A point seen by a camera of GradBench's ba: turned by Rodrigues' formula, projected, bent by the lens."""
    axis, x = camera[:3], point - camera[3:6]
    angle = xp.sqrt(xp.sum(axis ** 2))
    u = axis / angle
    x = x * xp.cos(angle) + xp.cross(u, x) * xp.sin(angle) + u * (xp.sum(u * x) * (1 - xp.cos(angle)))
    flat = x[:2] / x[2]
    square = xp.sum(flat ** 2)
    return flat * (1 + camera[9] * square + camera[10] * square ** 2) * camera[6] + camera[7:9]


def shows(xp, take, scan, until, letters, camera):
    """The losses of a language model, of Runge and Kutta's steps, of Newton's method and of bundle adjustment, with that library's loops."""
    def language(E, U, V):
        def step(h, pair):
            h = xp.tanh(take(E, pair[0]) + h @ U)
            z = h @ V
            return h, xp.log(xp.sum(xp.exp(z))) - take(z, pair[1])
        return xp.sum(scan(step, xp.zeros(4), (letters[:-1], letters[1:]))[1])

    def pendulum(y, k):
        slope = lambda y: xp.stack([y[1], -k * xp.sin(y[0])])
        return xp.sum(scan(lambda y, t: (kutta(slope, y, 0.1 + 0 * t), None), y, xp.arange(12.0))[0] ** 2)

    def root(a):
        return until(lambda x: abs(x ** 3 - a) > 1e-9, lambda x: x - (x ** 3 - a) / (3 * x ** 2), 1.5)

    def adjustment(cameras, points):
        return xp.sum(scan(lambda _, both: (None, turned(xp, *both)), None, (cameras, points))[1] ** 2) / 2
    return language, pendulum, root, adjustment


def written_out(step, carry, xs):
    outs = []
    for x in zip(*xs, strict=True) if isinstance(xs, tuple) else xs:
        carry, y = step(carry, x)
        outs.append(y)
    return carry, None if outs[0] is None else np.stack(outs)


def until_then(test, step, x):
    while test(x):
        x = step(x)
    return x


def test_the_shows_are_the_loops_of_python_and_of_jax_in_values_slopes_and_hessian_products():
    R = np.random.default_rng(4)
    letters = np.array([ord(x) - 96 for x in "".join((ROOT / "data" / "names.valid").read_text().split()[:3]).lower() if "a" <= x <= "z"])
    camera = np.array([.2, -.1, .3, .1, .2, -5.0, 800.0, 320.0, 240.0, -.05, .01]) + R.normal(size=(5, 11)) / 50
    args = [[R.normal(size=(27, 4)), R.normal(size=(4, 4)) / 2, R.normal(size=(4, 27))], [R.normal(size=2), np.float64(1.5)],
            [np.float64(2.0)], [camera, R.normal(size=(5, 3))]]
    ways = [[R.normal(size=np.shape(x)) for x in xs] for xs in args]
    take = lambda x, k: xman.f.getitem(x, k)
    mine = shows(np, take, xman.scan, xman.while_loop, letters, camera)
    flat = shows(np, take, written_out, until_then, letters, camera)

    def of_jax():
        jax = pytest.importorskip("jax")
        until = lambda test, step, x: jax.lax.fori_loop(0, 8, lambda _, x: jax.numpy.where(test(x), step(x), x), x)
        with jax.enable_x64(True):
            theirs = shows(jax.numpy, lambda x, k: x[k], jax.lax.scan, until, jax.numpy.array(letters), camera)
            whole = lambda args: (sum(found := [fn(*xs) for fn, xs in zip(theirs, args, strict=True)]), found)
            slope = lambda args: jax.grad(whole, has_aux=True)(args)
            return at_once(lambda args, ways: jax.jvp(slope, (args,), (ways,)), args, ways)

    (slopes, values), (products, tangents) = of_jax()
    for k, (fn, other, xs, us) in enumerate(zip(mine, flat, args, ways, strict=True)):
        n, close = range(len(xs)), functools.partial(np.testing.assert_allclose, rtol=1e-9, atol=1e-9)
        value, tangent = jvp(fn, xs, us)
        assert value == pytest.approx(other(*xs), rel=1e-13) and value == pytest.approx(float(values[k]), rel=1e-12)
        assert tangent == pytest.approx(jvp(other, xs, us)[1], rel=1e-11) and tangent == pytest.approx(float(tangents[k]), rel=1e-11)
        for found, right, theirs in ((grad(fn, n)(*xs), grad(other, n)(*xs), slopes[k]),
                                     (hvp(fn, xs, us, n), hvp(other, xs, us, n), products[k])):
            for a, b, c in zip(found, right, theirs, strict=True):
                scale = max(1.0, np.abs(b).max())
                close(a / scale, b / scale)
                close(a / scale, np.asarray(c) / scale)


def test_the_gradient_of_one_weight_computes_nothing_for_the_others():
    steps = simplify(gradient(looped(), "loss", ["U"]), ["dloss_dU"], data(3))
    assert repr(steps) == """\
def step(h, x, U, W):
    z1 = dot(h, U)
    z2 = dot(x, W)
    z3 = add(z1, z2)
    h1 = tanh(z3)
    return h1, h1

def step_back(dh, dU, h, dh1, h1, U):
    z1 = add(dh, dh1)
    z2 = mul(h1, h1)
    z3 = subtract(1.0, z2)
    z4 = mul(z1, z3)
    z5 = transpose(U)
    dh0 = dot(z4, z5)
    z6 = transpose(h)
    z7 = dot(z6, z4)
    dU1 = add(dU, z7)
    return dh0, dU1

z1 = bundle(h0, X, U, W)
z2 = scan(step, 1, 1, z1)
H = item(z2, 1)
dloss_dH = mul(2, H)
z4 = item(z2, 0)
z5 = broadcast(0.0, z4)
z6 = broadcast(0.0, U)
z8 = getitem(H, slice(None, 1, None))
z9 = broadcast(h0, z8)
z10 = concat(0, z9, H)
z11 = getitem(z10, slice(None, -1, None))
z12 = bundle(z5, z6, z11, dloss_dH, H, U)
z13 = scan(step_back, 2, 3, z12, True)
dloss_dU = item(z13, 1)"""


@pytest.mark.parametrize("order", [0, 1, 2])
def test_text_and_json_read_back(order):
    steps = looped()
    for _ in range(order):
        steps = gradient(steps, steps[-1][0], ["U"])
    assert WengertList.from_text(str(steps)) == steps == WengertList.from_json(steps.to_json())


def test_two_functions_of_one_name_are_told_apart():
    other = (*STEP[:3], STEP[3][:2] + (("h1", "subtract", ("z1", "z2")),), STEP[4])
    steps = WengertList([*looped()[:2], ("z3", "scan", (other, 1, 1, "z1"))])
    assert [line[2][0][1] for line in steps[1:]] == ["step", "step2"]
    of_literals = [("def", "step", ("x",), (("y", "mul", ("x", np.full(3, c))),), ("y",)) for c in (1.0, 2.0, 1.0)]
    calls = [("z0", "bundle", ("x",)), *[(f"z{k}", "call", (function, "z0")) for k, function in enumerate(of_literals, 1)]]
    assert [line[2][0][1] for line in functions_apart(calls, definition)[1:]] == ["step", "step2", "step"]


def test_a_function_that_has_its_name_to_itself_is_not_written_as_text():
    steps = looped()
    assert functions_apart(steps, lambda _: pytest.fail("a literal of it may have a million entries")) == [*steps]
    assert WengertList.from_text(str(steps)) == steps


HEAD = "def step(h, x):\n    h1 = mul(h, x)\n    return h1\n\n"
APPLIED = "b = bundle(h0, X)\ns = scan(step, 1, 1, b)"


@pytest.mark.parametrize(("text", "sentence"), [
    (HEAD.replace("(h, x):", "(h):") + APPLIED, "x is neither a parameter nor assigned: a function is closed"),
    (HEAD.replace("return h1", "return h2") + APPLIED, "h2 is neither a parameter nor assigned"),
    (HEAD.replace("h1 = mul(h, x)", "h = abs(x)\n    h1 = half(x)") + APPLIED, "where h is a parameter and given a second time"),
    (HEAD.replace("mul(h, x)", "mull(h, x)") + APPLIED, "in the function 'step': line 1.*calls 'mull'.*mul"),
    (HEAD.replace("    return h1\n", "") + APPLIED, "stands where step has not returned"),
    ("def step(h, *x):\n" + APPLIED, "a function begins as in def step"),
    (HEAD, None), ("def step(h):\n    h1 = half(h)", "the text ends before step returns"),
    ("s = scan(x, a, 0)", r"what was scan\(x, a, axis\) is called recurrence\(x, a, axis\) now")])
def test_a_function_that_is_none_is_refused_in_a_sentence(text, sentence):
    if sentence is None:
        assert WengertList.from_text(text) == []
        return
    with pytest.raises(XManError, match=sentence):
        eval(WengertList.from_text(text), {"h0": 1.0, "X": np.ones(3), "x": np.ones(3), "a": np.ones(3)})


WRONG = {"of x": ({"W": np.ones((2, 5))}, "step 0: in step, line 2, z2 = dot.*x has shape .4, 3., W has shape .2, 5."),
         "of a carry": ({"h0": np.ones((4, 5), np.float32)}, "takes h as float32 and hands it on as float64"),
         "of no steps": ({"X": 3.0}, "a slice is an array with a leading axis, or a whole number of steps; x is neither")}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_in_a_step_is_said_with_the_line_of_the_body(name):
    values, sentence = WRONG[name]
    with pytest.raises(XManError, match=sentence):
        eval(looped(), {**data(3), **values})


def test_slices_of_two_lengths_are_refused():
    steps = WengertList.from_text("def step(h, x, y):\n    h1 = add(h, x)\n    h2 = add(h1, y)\n    return h2\n"
                                  "b = bundle(h0, X, Y)\ns = scan(step, 1, 2, b)")
    with pytest.raises(XManError, match="the steps of step are 3 by x, 4 by y"):
        eval(steps, {"h0": 0.0, "X": np.ones(3), "Y": np.ones(4)})


def test_a_carry_that_grows_is_refused():
    steps = WengertList.from_text("def step(h, x):\n    h1 = concat(0, h, h)\n    return h1\nb = bundle(h0, X)\ns = scan(step, 1, 1, b)")
    with pytest.raises(XManError, match=r"takes h of shape \(2,\) and hands it on with shape \(4,\); a carry keeps its shape"):
        eval(steps, {"h0": np.ones(2), "X": np.ones(3)})


def test_a_carry_that_grows_while_a_test_holds_is_refused():
    steps = WengertList.from_text("def small(h):\n    n = sum(h)\n    t = less(n, 9.0)\n    return t\ndef step(h):\n    h1 = concat(0, h, h)\n"
                                  "    return h1\nb = bundle(h0)\nw = while_loop(small, step, 1, b)")
    with pytest.raises(XManError, match=r"takes h of shape \(2,\) and hands it on with shape \(4,\); a carry keeps its shape"):
        eval(steps, {"h0": np.ones(2)})


@pytest.mark.parametrize("T", [0, 1])
def test_no_steps_at_all_leave_the_carry(T):
    values = data(T)
    known = eval(steps := gradient(looped(), "loss", WRT), values)
    assert known["H"].shape == (T, 4, 5) and known["dloss_dX"].shape == (T, 4, 3) and (known["loss"] == 0) == (T == 0)
    assert forward(steps, known, data(T, 1))["dloss_dU"].shape == (5, 5)


def test_a_loop_that_does_not_end_is_stopped():
    test, step = ("def", "test", ("x",), (("t", "greater", ("x", 0.0)),), ("t",)), ("def", "step", ("x",), (("y", "half", ("x",)),), ("y",))
    steps = [("b", "bundle", ("x0",)), ("w", "while_loop", (test, step, 1, "b", 100))]
    with pytest.raises(XManError, match="test still holds after 100 steps of step"):
        eval(steps, {"x0": 1.0})


def test_ctrl_c_in_a_loop_says_where_it_was(monkeypatch):
    def stop(x):
        if x < 0.01:
            raise KeyboardInterrupt
        return x / 2
    monkeypatch.setitem(ops.G, "half", stop)
    test, step = ("def", "test", ("x",), (("t", "greater", ("x", 0.0)),), ("t",)), ("def", "step", ("x",), (("y", "half", ("x",)),), ("y",))
    with pytest.raises(KeyboardInterrupt, match="stopped in step 7 of step, while test held"):
        eval([("b", "bundle", ("x0",)), ("w", "while_loop", (test, step, 1, "b"))], {"x0": 1.0})
    steps, step = [("b", "bundle", ("x0", 99))], ("def", "step", ("x", "t"), (("y", "half", ("x",)),), ("y",))
    steps.append(("w", "scan", (step, 1, 1, "b")))
    with pytest.raises(KeyboardInterrupt, match="stopped in step 7 of step"):
        eval(steps, {"x0": 1.0})


def test_tables_of_somebodys_own_reach_the_bodies():
    step = ("def", "step", ("h", "x"), (("y", "cube", ("h",)), ("h1", "add", ("y", "x"))), ("h1", "h1"))
    steps = [("b", "bundle", ("h0", "X")), ("s", "scan", (step, 1, 1, "b")), ("H", "item", ("s", 1)), ("loss", "sum", ("H",))]
    values, rule = {"h0": 0.5, "X": np.array([.1, .2, .3])}, [lambda d, out, x: 3 * d * x * x]
    G, DG, TG = {**ops.G, "cube": lambda x: x ** 3}, {**ops.DG, "cube": rule}, {**ops.TG, "cube": rule}
    assert check(steps, values, G, DG).ok
    known = eval(steps, values, G)
    slope = backprop(steps, known, DG, loss=1.0)["h0"]
    assert forward(steps, known, {"h0": 1.0}, TG)["loss"] == pytest.approx(slope, rel=1e-14)
    for found, name in ((gradient(steps, "loss", ["h0"], DG=DG), "dloss_dh0"), (tangent(steps, ["h0"], TG), "loss_dot")):
        for written in (found, simplify(found, likes=values, G=G)):
            assert eval(written, {**values, "h0_dot": 1.0}, G)[name] == pytest.approx(slope, rel=1e-14)
    with pytest.raises(XManError, match="in the function 'step': line 1.*calls 'cube', which is not in the table"):
        eval(steps, values)
    with pytest.raises(XManError, match="in step: the operator 'cube' has no rule; put it in the table"):
        backprop(steps, known, loss=1.0)


def test_functions_within_functions_are_found_to_a_depth_of_twenty_and_no_deeper():
    function = ("def", "f0", ("x",), (("y", "sin", ("x",)),), ("y",))
    for k in range(1, 5000):
        function = ("def", f"f{k}", ("x",), (("b", "bundle", ("x",)), ("c", "call", (function, "b")), ("y", "item", ("c", 0))), ("y",))
    assert len(ops.loops.functions_in([("c", "call", (function, "b"))])) == 20


def test_a_carry_that_grows_along_one_axis_and_not_by_broadcasting_is_refused():
    grown = ("def", "grown", ("h", "t"), (("k", "concat", (0, "h", "h")),), ("k",))
    with pytest.raises(XManError, match=r"takes h of shape \(2, 3\) and hands it on with shape \(4, 3\); a carry keeps its shape"):
        eval([("b", "bundle", ("h", 2)), ("s", "scan", (grown, 1, 1, "b"))], {"h": np.ones((2, 3))})


def test_a_bundle_has_no_derivative_of_its_own():
    steps = [("b", "bundle", ("x", "y")), ("s", "item", ("b", 0))]
    with pytest.raises(XManError, match=r"b = bundle\(x, y\): a bundle has no derivative of its own; differentiate .* item\(b, i\)"):
        gradient(steps, "b", ["x"])


def test_each_table_of_a_user_has_its_own_loops():
    step = ("def", "step", ("h", "x"), (("a", "sin", ("h",)), ("h1", "mul", ("a", "x"))), ("h1",))
    steps, values = [("b", "bundle", ("h", "X")), ("s", "scan", (step, 1, 1, "b")), ("y", "item", ("s", 0))], {"h": 0.5, "X": np.array([0.8, 1.5])}
    slope = lambda factor: backprop(steps, eval(steps, values), ops.DG | {"sin": [lambda d, out, h: factor * d * np.cos(h)]}, y=1.0)["h"]
    usual = backprop(steps, eval(steps, values), y=1.0)["h"]
    for factor in (1.0, 2.0, 3.0):
        assert slope(factor) == pytest.approx(factor ** 2 * usual, rel=1e-12)


def test_a_product_without_an_arrow_is_differentiated_by_the_letters_that_stand_once():
    rng = np.random.default_rng(0)
    values = {"a": rng.normal(size=(2, 3)), "b": rng.normal(size=(3, 4))}
    for subscripts in ("ij,jk", "ij,jk->ik"):
        steps = [("y", "einsum", ((subscripts,), "a", "b")), ("s", "square", ("y",)), ("r", "sum", ("s",))]
        slopes = backprop(steps, eval(steps, values), r=1.0)
        np.testing.assert_allclose(slopes["a"], 2 * values["a"] @ values["b"] @ values["b"].T, rtol=1e-12)
