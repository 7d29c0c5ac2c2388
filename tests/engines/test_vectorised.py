"""Facts about the vectorised functions: how exact they are, what they are at the edges, and that LLVM vectorises them."""

import functools
import os
import platform
import re
import subprocess
import sys

import numpy as np
import pytest

import ops

numba = pytest.importorskip("numba", reason="the extra fast, with numba, is not installed")

from xman.engines.llvm import formulas  # noqa: E402
from xman.engines.tape.vectorised import VECTORISED  # noqa: E402

LONG = np.longdouble
kinds = pytest.mark.parametrize("kind", ["float32", "float64"])
operators = pytest.mark.parametrize("op", sorted(VECTORISED.keys() - {"power", "sin", "cos"}))  # test_vectorised_powers.py
fused_or_not = pytest.mark.parametrize("flags", [("contract",), ()], ids=["fused", "not fused"])
longer = pytest.mark.skipif(np.finfo(LONG).nmant < 63, reason="here long double is no longer than double: there is no reference")


@functools.cache
def loop(op, kind, flags=formulas.FUSED, **options):
    """A function of arrays that calls the operator's own in a loop."""
    function = VECTORISED[op][kind]

    def unary(x, out):
        for i in range(x.size):
            out[i] = function(x[i])

    def binary(x, y, out):
        for i in range(x.size):
            out[i] = function(x[i], y[i])

    patch = pytest.MonkeyPatch()
    patch.setattr(formulas, "FUSED", flags)  # read while the loop is compiled
    real = getattr(numba, kind)[::1]
    compiled = numba.njit([(real, real, real) if op == "logaddexp" else (real, real)], **options)(
        binary if op == "logaddexp" else unary)
    patch.undo()
    return compiled


def computed(compiled, *args):
    out = np.empty_like(args[0])
    compiled(*args, out)
    return out


# what is right, in long double


def sigmoid(x):
    e = np.exp(-abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


def erf(x):
    """2/√π e^(−x²) Σ 2ⁿ x^(2n + 1)/(1·3·5···(2n + 1)) (Abramowitz and Stegun 7.1.6)."""
    x = np.clip(x, -7, 7)
    term = total = x
    for n in range(1, 200):
        term = term * 2 * x * x / (2 * n + 1)
        total = total + term
    return total * np.exp(-x * x) / np.sqrt(np.arctan(LONG(1)))


def right(op, *args):
    with np.errstate(all="ignore"):
        return {"sigmoid": sigmoid, "erf": erf}.get(op, getattr(np, op, None))(*(x.astype(LONG) for x in args))


def units(result, reference, scale=0.0):
    """The errors in units in the last place; infinite where one is NaN or infinite, or a zero of a sign, and the other not so."""
    with np.errstate(all="ignore"):
        rounded = reference.astype(result.dtype)
        error = abs(result - reference) / np.spacing(np.maximum(abs(rounded), scale).astype(result.dtype))
    same = (result == rounded) & (np.signbit(result) == np.signbit(rounded)) | np.isnan(result) & np.isnan(rounded)
    strange = ~np.isfinite(rounded) | ~np.isfinite(result) | (result == 0) & (rounded == 0)
    return np.where(strange, np.where(same, 0, np.inf), error)


def numbers(kind, size=6000):
    """Numbers of all sizes, of the sizes that occur, near 0, 1 and −1, and near the overflow and the underflow of exp."""
    rng, info = np.random.default_rng(0), np.finfo(kind)
    edges = [f(LONG(x)) * sign for x in (info.max, info.tiny, info.smallest_subnormal, LONG(info.smallest_subnormal) / 2)
             for f in (np.log, np.sqrt) for sign in (1, -1)]
    with np.errstate(all="ignore"):
        drawn = np.concatenate([rng.integers(0, 2 ** info.bits, size, f"u{info.bits // 8}").view(kind),
                                *(rng.uniform(-a, a, size).astype(kind) for a in (0.5, 2, 8, 40, 1.1 * abs(float(edges[0])))),
                                1 + rng.uniform(-1e-3, 1e-3, size).astype(kind), np.arange(-100, 100).astype(kind)])
    one, least = np.dtype(kind).type(1), info.smallest_subnormal
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, least, -least, info.tiny, -info.tiny, info.max, -info.max, 1, -1,
                        np.nextafter(one, 0 * one), np.nextafter(one, 2 * one), -np.nextafter(one, 0 * one)], kind)
    near = np.concatenate([np.array(edges, kind) * (1 + k * info.eps) for k in range(-8, 9)]).astype(kind)
    return np.concatenate([drawn, special, near])


# exactness


@longer
@fused_or_not
@pytest.mark.parametrize(("op", "single", "double"), [
    ("exp", 1.1, 1.1), ("expm1", 1.7, 2.0), ("tanh", 2.6, 2.6), ("sigmoid", 2.5, 2.5), ("erf", 1.4, 1.5), ("log", 0.9, 0.9),
    ("log1p", 1.5, 1.5)])
@kinds
def test_the_error_is_at_most_so_many_units_in_the_last_place(op, single, double, kind, flags):
    x = numbers(kind)
    assert units(computed(loop(op, kind, flags), x), right(op, x)).max() <= {"float32": single, "float64": double}[kind]


@longer
@fused_or_not
@kinds
def test_logaddexp_has_at_most_4_units_of_the_larger_argument_or_of_the_result(kind, flags):
    rng = np.random.default_rng(1)
    far, near = numbers(kind), rng.uniform(-40, 40, 10000).astype(kind)
    nearer = (near + rng.normal(0, 5, near.size)).astype(kind)
    x, y = np.concatenate([far, near, 0 * near]), np.concatenate([rng.permutation(far), nearer, near])
    top = np.maximum(x, y)
    found, reference = computed(loop("logaddexp", kind, flags), x, y), right("logaddexp", x, y)
    assert units(found, reference, np.where(np.isfinite(top), abs(top), 0)).max() <= 4


@longer
@kinds
def test_the_logarithm_of_1_plus_a_small_exponential_is_exact(kind):
    y = np.linspace(-80, 0, 5000).astype(kind)  # softplus is logaddexp(0, y)
    assert units(computed(loop("logaddexp", kind), np.zeros_like(y), y), right("logaddexp", 0 * y, y)).max() <= 2.5


@operators
@kinds
def test_infinities_nan_and_zeros_are_those_of_the_operator(op, kind):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, -2], kind)
    args = np.meshgrid(x, x) if op == "logaddexp" else [x]
    args = [np.ravel(a) for a in args]
    with np.errstate(all="ignore"):
        wanted = ops.G[op](*args)
    found = computed(loop(op, kind), *args)
    assert wanted.dtype == found.dtype
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    strange = ~np.isfinite(wanted) | (wanted == 0) | (found == 0)
    np.testing.assert_array_equal(found[strange], wanted[strange])
    np.testing.assert_array_equal(np.signbit(found[wanted == 0]), np.signbit(wanted[wanted == 0]))


@operators
def test_liberties_that_a_loop_takes_do_not_reach_the_functions(op):
    args = [numbers("float32", 500)] * (2 if op == "logaddexp" else 1)
    np.testing.assert_array_equal(computed(loop(op, "float32", fastmath=True), *args), computed(loop(op, "float32"), *args))


# what LLVM makes of them


def vectors(compiled, kind):
    """The numbers of lanes of the products in a compiled loop."""
    name = {"float32": "float", "float64": "double"}[kind]
    return {int(n) for n in re.findall(rf"fmul contract <(\d+) x {name}>", *compiled.inspect_llvm().values())}


x86_64 = pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="vectors are known of x86-64 alone")


@x86_64
@operators
@kinds
def test_a_loop_is_vectorised(op, kind):
    assert max(vectors(loop(op, kind), kind), default=1) >= 16 // np.dtype(kind).itemsize


@x86_64
@kinds
def test_a_loop_that_calls_several_and_adds_up_is_vectorised(kind):
    f, g, h = (VECTORISED[op][kind] for op in ("tanh", "exp", "log"))
    plus = numba.njit(lambda x, y: x + y, fastmath={"reassoc"})

    @numba.njit
    def total(x, y):
        s = x[0] * 0
        for i in range(x.size):
            y[i] = f(x[i]) * g(-x[i])
            s = plus(s, h(x[i]))
        return s

    x = np.linspace(0.5, 2, 1000).astype(kind)
    y = np.empty_like(x)
    assert total(x, y) == pytest.approx(np.log(x).sum(), rel=1e-5)
    np.testing.assert_allclose(y, np.tanh(x) * np.exp(-x), rtol=8 * np.finfo(kind).eps)
    assert max(vectors(total, kind), default=1) >= 16 // np.dtype(kind).itemsize


# what Numba makes of them


KERNEL = """
import numba
import numpy as np
from xman.engines.tape.vectorised import VECTORISED
tanh = VECTORISED["tanh"]["float32"]
@numba.njit(cache=True)
def kernel(x, out):
    for i in range(x.size):
        out[i] = tanh(x[i])
x = np.linspace(-3, 3, 100, dtype=np.float32)
out = np.empty_like(x)
kernel(x, out)
assert np.allclose(out, np.tanh(x))
print(sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values()))
"""


def test_a_second_process_loads_a_loop_from_the_disk(tmp_path):
    (tmp_path / "kernel.py").write_text(KERNEL)
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    runs = [subprocess.run([sys.executable, tmp_path / "kernel.py"], capture_output=True, text=True, check=True, env=environment)
            for _ in range(2)]
    assert [run.stdout.split() for run in runs] == [["0", "1"], ["1", "0"]]


def test_each_is_named_as_an_operator():
    assert VECTORISED.keys() <= ops.G.keys()


def test_numbers_of_another_type_are_converted():
    exp = VECTORISED["exp"]["float32"]
    assert numba.njit(lambda x: exp(x))(1) == np.float32(np.exp(1.0))
