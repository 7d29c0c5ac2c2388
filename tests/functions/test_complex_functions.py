"""Functions of complex numbers as users write them: beside differences, both modes, JAX, jit, lists and engines."""
from __future__ import annotations

import os

import numpy as np
import pytest

import ops
import xman
from tests.jax_at_once import at_once, jax_in_double
from xman import Dual, XManError, compile, grad, gradient, hessian, hvp, jacobian, jit, jvp, trace, vjp

R = np.random.default_rng(1637)


def z(*shape): return R.normal(size=shape) + 1j * R.normal(size=shape)
def x(*shape): return R.normal(size=shape)


X, Y = np.array([[0, 1], [1, 0]]), np.array([[0, -1j], [1j, 0]])
SIGNAL, NOISE, MATRIX, POINTS = x(8), x(8), z(3, 3), z(6)


def gate(np, angles):
    """The fidelity of rotations beside a gate."""
    u = np.eye(2) + 0j
    for k, pauli in enumerate((X, Y, X)):
        u = u @ (np.cos(angles[k] / 2) * np.eye(2) - 1j * np.sin(angles[k] / 2) * pauli)
    return np.abs(np.trace(np.conj(u.T) @ (X + Y) / 2 ** 0.5)) ** 2 / 4


def escape(np, c):
    """The potential of the Mandelbrot set after a few steps."""
    w = 0 * c
    for _ in range(6):
        w = w * w + c
    return np.sum(np.log(np.abs(w)))


def circuit(np, parts):
    """|Z| of a coil and a condenser beside a resistor, over frequencies."""
    resistor, coil, condenser = parts[0], parts[1], parts[2]
    omega = np.arange(1.0, 5.0)
    return np.sum(np.abs(1 / (1 / resistor + 1 / (1j * omega * coil + 1 / (1j * omega * condenser)))))


# each a function of (np, one array), and the array
FUNCTIONS = {
    "spectrum": (lambda np, x: np.sum((np.abs(np.fft.rfft(x)) - np.abs(np.fft.rfft(SIGNAL))) ** 2), x(8)),
    "filter": (lambda np, h: np.sum((np.fft.ifft(h * np.fft.fft(SIGNAL)).real - NOISE) ** 2), z(8)),
    "phase retrieval": (lambda np, z: np.sum((np.abs(np.fft.fft2(z)) ** 2 - 1.0) ** 2), z(2, 3)),
    "circuit": (circuit, np.array([1.0, 0.7, 0.4])), "fidelity": (gate, x(3)), "escape": (escape, np.array([0.4 + 0.5j, -1.5 + 0.2j])),
    "root": (lambda np, r: np.abs(np.polyval(np.array([1.0, -2.0, 3.0 + 1j]), r)) ** 2, np.array(0.3 + 1.2j)),
    "norms": (lambda np, z: np.linalg.norm(z) + np.var(z) * np.std(z) + np.linalg.norm(z, 1) + np.linalg.norm(z, np.inf), z(5)),
    "products": (lambda np, z: np.real(np.vdot(z, z * 1j + POINTS) * np.inner(z, z)) + np.imag(np.vecdot(z, POINTS)), z(6)),
    "matrices": (lambda np, a: np.abs(np.linalg.det(a)) + np.sum(np.abs(np.linalg.inv(a) @ np.linalg.solve(a, MATRIX)) ** 2), z(3, 3)),
    "kron": (lambda np, z: np.sum(np.abs(np.kron(z, X) @ np.kron(Y, z).T)), z(2, 2)),
    "angles": (lambda np, z: np.sum(np.angle(z) ** 2 + np.angle(z, deg=True)) + np.sum(np.abs(z + np.conj(z) * z.imag)), z(4)),
    "powers": (lambda np, z: np.sum(np.real(z ** 2 + z ** -1.5 + 2.0 ** z + z ** z)), z(3)),
    "a real base": (lambda np, x: np.sum(np.imag(np.abs(x) ** POINTS + POINTS ** x)), x(6)),
    "functions": (lambda np, z: np.sum(np.abs(np.exp(np.sin(z)) + np.sqrt(z) * np.log(z) + np.arcsinh(z) * np.arccosh(z) + np.tanh(z))),
                  np.abs(z(4).real) + 1j * x(4)),  # for others JAX has another branch of the slope of arccosh than of arccosh
    "more functions": (lambda np, z: np.sum(np.abs(np.arcsin(z) + np.arccos(z) * np.arctan(z) + np.arctanh(z) / np.tan(z) + np.log1p(z)
                                                   + np.expm1(z) + np.log10(z))), z(4)),
    "real and complex": (lambda np, x: np.abs(np.sum(np.stack([x, x * POINTS]) + np.concatenate([x, POINTS]).reshape(2, 6)
                                                     + np.convolve(x, POINTS, "same") + np.where(x > 0, x, POINTS)
                                                     + np.einsum("i,ij->j", x, np.outer(POINTS, x)))), x(6)),
    "running": (lambda np, z: np.sum(np.abs(np.cumsum(z) * np.cumprod(z) + np.prod(z) + np.mean(z) + np.diff(z)[0])), z(4)),
    "lengths": (lambda np, x: np.sum(np.fft.irfft(np.fft.rfft(x, 10) * np.fft.fft(x, 6), 7, norm="ortho") ** 3), x(8)),
    "shifted": (lambda np, z: np.sum(np.abs(np.fft.fftshift(np.fft.fft(z)) * np.fft.fftfreq(6) + np.roll(z, 2) + z[::-1])), z(6)),
    "hermitian": (lambda np, z: np.sum(np.linalg.eigvalsh(z @ np.conj(z.T)) ** 2 * np.arange(3)) + np.sum(np.abs(np.linalg.cholesky(
        z @ np.conj(z.T) + np.eye(3)) - 2j) ** 2) + np.abs(np.linalg.slogdet(z)[0] + 1) * np.linalg.slogdet(z)[1], z(3, 3)),
    "parts": (lambda np, z: np.sum(z.real ** 3 * z.imag + np.real(z[:2] * 1j) ** 2), z(2)),
}
EACH = pytest.mark.parametrize("fn, at", FUNCTIONS.values(), ids=FUNCTIONS)


def ours(fn): return lambda a: fn(np, a)
def direction(a): return z(*np.shape(a)) if np.iscomplexobj(a) else x(*np.shape(a))
def along(g, t): return np.sum(np.real(g * t))


@EACH
def test_the_gradient_is_the_differences_and_both_modes_agree(fn, at):
    run, t = ours(fn), direction(at)
    g, step = grad(run)(at), 1e-6
    assert g.dtype == at.dtype and g.shape == at.shape
    assert (run(at + step * t) - run(at - step * t)) / (2 * step) == pytest.approx(along(g, t), rel=1e-6, abs=1e-6)
    value, moved = jvp(run, (at,), (t,))
    np.testing.assert_allclose(value, run(at), rtol=1e-12)
    assert moved == pytest.approx(along(g, t), rel=1e-9)
    assert run(Dual(at, t)).tangent == pytest.approx(moved, rel=1e-9)


@EACH
def test_jit_lists_and_engines_give_the_same(fn, at):
    run, g = ours(fn), grad(ours(fn))(at)
    for derivative in (jit(grad(run)), grad(jit(run))):
        for _ in range(2):
            np.testing.assert_allclose(derivative(at), g, rtol=1e-9, atol=1e-12)
    steps = trace(run, at)
    values = xman.eval(steps, {steps.inputs[0]: at})
    np.testing.assert_allclose(xman.backprop(steps, values, **{steps[-1][0]: 1.0})[steps.inputs[0]], g, rtol=1e-9, atol=1e-12)
    assert str(xman.WengertList.from_text(str(steps))) == str(xman.WengertList.from_json(steps.to_json())) == str(steps)
    name = f"d{steps[-1][0]}_d{steps.inputs[0]}"
    for engine in ("numpy", "auto"):
        step = compile(gradient(steps, steps[-1][0], steps.inputs), [name], engine=engine)
        np.testing.assert_allclose(step({steps.inputs[0]: at})[name], g, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("base", [-2.0, -2, 2.0, np.array([-2.0, 3.0, 0.5])])
def test_the_logarithm_of_a_negative_base_is_complex(base):
    w = z(3)
    slope = np.diag(base ** w * np.log(base + 0j))
    np.testing.assert_allclose(jacobian(lambda z: base ** z, holomorphic=True)(w), slope)
    steps = [("p", "power", (base, "z")), ("r", "real", ("p",)), ("y", "sum", ("r",))]  # a list knows of no complex numbers
    np.testing.assert_allclose(xman.eval(gradient(steps, "y", ["z"]), {"z": w})["dy_dz"], np.diag(slope))


def stepped(c, X, a):
    h, y = xman.scan(lambda h, x: (h * x * a + np.abs(h) * x, np.real(h) * x), c, X)
    return np.sum(np.abs(h) ** 2) + np.sum(y ** 3)


def unrolled(c, X, a):
    h, total = c, 0
    for x in X:
        h, total = h * x * a + np.abs(h) * x, total + np.sum((np.real(h) * x) ** 3)
    return np.sum(np.abs(h) ** 2) + total


def test_a_scan_of_complex_and_real_numbers_is_its_steps():
    at = z(3), x(4, 3), x()
    steps, values = trace(stepped, *at), dict(zip("cXa", at, strict=True))
    adjoints = gradient(steps, steps[-1][0], list("cXa"))
    for i, name in enumerate("cXa"):
        goal = f"d{steps[-1][0]}_d{name}"
        wanted = grad(unrolled, i)(*at)
        for derivative in (grad(stepped, i)(*at), jit(grad(stepped, i))(*at), xman.eval(adjoints, values)[goal],
                           *[compile(adjoints, [goal], engine=engine)(values)[goal] for engine in ("numpy", "auto")]):
            np.testing.assert_allclose(derivative, wanted, rtol=1e-12, atol=1e-15)
            assert np.asarray(derivative).dtype == wanted.dtype
    assert xman.check(steps, values).ok


def test_other_loops_of_complex_numbers():
    root = lambda a: xman.while_loop(lambda w: np.abs(w * w - a) > 1e-13, lambda w: (w + a / w) / 2, a + 0.5)
    at = np.complex128(1 + 2j)
    for fn in (root, jit(root)):
        np.testing.assert_allclose([fn(at), grad(fn, holomorphic=True)(at)], [at ** 0.5, 0.5 / at ** 0.5])
    w = z(3)
    for fn in (lambda w: np.sum(np.abs(xman.map(lambda z: z * z, w))), lambda w: np.sum(np.abs(xman.call(lambda z: z * z, w))),
               lambda w: np.sum(np.abs(xman.cond(np.real(w[0]) < 9, lambda z: z * z, lambda z: z, w)))):
        np.testing.assert_allclose(grad(fn)(w), 2 * w.conj())  # of |z|²


@pytest.mark.parametrize("engine", ["interpret", "numpy", "llvm", "tape", "jax", "auto"])
@pytest.mark.parametrize("lines", ["y = relu(z)", "y = abs(z)", "s = fft(x)\ny = abs(s)",
                                   "def step(h, z):\n    h1 = relu(h)\n    return h1,\n\nb = bundle(w, z)\ns = scan(step, 1, 1, b)\ny = item(s, 0)",
                                   "def spectrum(v):\n    s = fft(v)\n    a = relu(s)\n    return a,\n\nb = bundle(x)\nc = call(spectrum, b)\ny = item(c, 0)"])
def test_every_engine_refuses_what_is_for_real_numbers(lines, engine):
    step = compile(xman.WengertList.from_text(lines), ["y"], engine=engine)
    with pytest.raises(XManError, match="(relu|abs) is not defined for complex numbers here"):
        step({"x": x(3), "z": z(2, 3), "w": z(3)})


def test_the_gradient_and_its_derivative_are_those_of_jax():
    jax = jax_in_double()
    # JAX takes long to compile them all
    points = {name: at for name, (_, at) in [*FUNCTIONS.items()][::1 if os.environ.get("XMAN_ALL_CASES") else 5]}
    directions = {name: direction(at) for name, at in points.items()}

    def theirs(points, directions):
        return {name: jax.jvp(jax.grad(lambda a, name=name: FUNCTIONS[name][0](jax.numpy, a)), (at,), (directions[name],))
                for name, at in points.items()}
    for name, (g, h) in at_once(theirs, points, directions).items():
        fn, at = FUNCTIONS[name]
        np.testing.assert_allclose(grad(ours(fn))(at), g, rtol=1e-8, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(hvp(ours(fn), (at,), (directions[name],)), h, rtol=1e-7, atol=1e-7, err_msg=name)


def test_a_jacobian_takes_the_mode_that_is_right():
    w = z(3)
    square = lambda z: np.abs(z) ** 2
    np.testing.assert_allclose(jacobian(square)(w), np.diag(2 * w.conj()))
    np.testing.assert_allclose(jacobian(lambda t: np.exp(1j * t))(w.real), np.diag(1j * np.exp(1j * w.real)))
    np.testing.assert_allclose(jacobian(np.sin, holomorphic=True)(w), np.diag(np.cos(w)))
    for refused in (lambda: jacobian(square, mode="forward")(w), lambda: jacobian(np.sin)(w), lambda: hessian(lambda z: square(z).sum())(w),
                    lambda: jacobian(np.sin, holomorphic=True)(w.real)):
        with pytest.raises(XManError, match="holomorphic|along the real axis"):
            refused()


def test_a_cotangent_and_a_tangent_are_complex_where_the_value_is():
    w, u = z(3), z(3)
    out, pull = vjp(lambda z: np.conj(z) * z.real, w)
    assert pull(u)[0].dtype == complex and jvp(np.real, (w,), (u,))[1].dtype == float
    for refused in (lambda: vjp(np.abs, w)[1](u), lambda: jvp(np.sin, (w.real,), (u,)), lambda: Dual(1.0, 1j),
                    lambda: xman.backprop([("y", "sin", ("x",))], xman.eval([("y", "sin", ("x",))], {"x": 1.0}), y=1j)):
        with pytest.raises(XManError, match="complex"):
            refused()


@pytest.mark.parametrize("fn", [np.max, np.sort, np.argmax, lambda z: z > 0, np.sign, np.floor, np.linalg.eigh, np.linalg.svd, np.median,
                                np.cov, lambda z: np.linalg.norm(z, 2), lambda z: np.clip(z, 0, 1), np.nansum, np.linalg.cholesky,
                                lambda z: z.astype(float), lambda z: float(z[0, 0]), lambda z: np.arctan2(z, 1.0), xman.f.relu, xman.f.softmax,
                                np.linalg.pinv, np.unwrap, np.interp, np.heaviside, np.maximum.accumulate])
def test_what_is_not_known_to_be_right_is_refused_in_a_sentence(fn):
    for derivative in (grad(lambda z: np.sum(np.abs(fn(z)))), lambda a: fn(Dual(a, a))):
        with pytest.raises((XManError, TypeError)):
            derivative(MATRIX + MATRIX.T)


STEPS = trace(lambda z: np.sum(np.abs(z * z)), POINTS)


def test_second_derivatives_of_sizes_are_finite_where_an_entry_is_zero():
    w, v = np.array([0j, 1 + 2j]), np.array([1 + 1j, 0.5j])
    for size in (np.linalg.norm, np.var, lambda z: np.var(z[:1]) + np.std(z, 0), lambda z: np.sum(np.abs(z) ** 2),
                 lambda z: np.sum(np.abs(z) ** 4)):
        g = grad(size)
        np.testing.assert_allclose(hvp(size, (w,), (v,)), (g(w + 1e-6 * v) - g(w - 1e-6 * v)) / 2e-6, rtol=1e-6, atol=1e-8)


def test_check_compares_along_both_axes():
    report = xman.check(STEPS, {"z": POINTS})
    assert report.ok and len(report.entries) == 12
    assert xman.check(trace(lambda z, x: np.fft.fft(z * x), POINTS, POINTS.real), {"z": POINTS, "x": POINTS.real}).ok
    conjugated = {**ops.DG, "square": [lambda d, out, z: d * 2 * np.conj(z)]}
    assert not xman.check([("y", "square", ("z",))], {"z": POINTS}, ops.G, conjugated).ok


@pytest.mark.parametrize("use", [
    lambda: xman.sparse_jacobian(lambda z: np.abs(z) ** 2)(POINTS), lambda: xman.sparse_hessian(lambda z: np.sum(np.abs(z) ** 2))(POINTS),
    lambda: xman.minimize(lambda z: np.sum(np.abs(z)), start=POINTS), lambda: xman.least_squares(np.abs, start=POINTS),
    lambda: xman.Jacobian(STEPS, STEPS.outputs[0], ["z"])({"z": POINTS}), lambda: xman.taylor(np.exp, POINTS, POINTS, 2),
    lambda: xman.Jacobian([("y", "mul", ("x", 1j)), ("s", "sum", ("y",))], "s", ["x"], sparse=True)({"x": POINTS.real})])
def test_a_room_for_real_numbers_refuses_complex_ones(use):
    with pytest.raises(XManError, match="complex"):
        use()


def test_a_rewrite_for_real_numbers_alone_is_not_made_of_complex_ones():
    steps = [("a", "mul", (4j, "x")), ("b", "exp", ("a",)), ("c", "log", ("b",)), ("y", "imag", ("c",))]  # 4 − 2π, and not 4
    simple = xman.simplify(steps, ["y"], rewrites=xman.EXACT + xman.STABLE + xman.ALGEBRA)
    assert xman.eval(simple, {"x": 1.0})["y"] == pytest.approx(4 - 2 * np.pi)


@pytest.mark.parametrize("engine", ["auto", "numpy", "interpret"])
@pytest.mark.parametrize(("fn", "z"), [
    (lambda z: [grad(lambda z: (z * 1j).imag)(z)], np.complex64(1 + 2j)),  # the seed −1j in the precision of what it belongs to
    (xman.value_and_grad(lambda z: np.real(np.sum(z ** 2) * 1j)), POINTS.astype(np.complex64)),  # 1 · 1j of literals
    (lambda z: [np.sum(z * np.float64(2)).real], POINTS.astype(np.complex64))])  # a number of NumPy, no float of Python's
def test_programs_of_single_precision_stay_in_the_precision_that_numpy_gives(fn, z, engine):
    fast, dtypes = jit(fn, engine), lambda result: [np.asarray(x).dtype for x in result]
    assert [dtypes(fast(z)) for _ in range(4)] == [dtypes(fn(z))] * 4
