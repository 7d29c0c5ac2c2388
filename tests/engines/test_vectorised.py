"""Facts about the vectorised functions: how exact they are, what they are at the edges, and that LLVM vectorises them."""

import ctypes
import functools
import platform
import re

import numpy as np
import pytest

import ops

pytest.importorskip("llvmlite", reason="the extra fast is not installed")

from xman.engines.llvm import compiled, elementary
from xman.engines.llvm.arithmetic import FORMULAS, number_at, store
from xman.engines.llvm.arithmetic import result_of as value_of
from xman.engines.llvm.function import Function, llvm_type

LONG = np.longdouble
kinds = pytest.mark.parametrize("kind", ["float32", "float64"])
operators = pytest.mark.parametrize("op", sorted({*FORMULAS} - {"power", "sin", "cos"}))  # test_vectorised_powers.py
fused_or_not = pytest.mark.parametrize("flags", ["contract ", ""], ids=["fused", "not fused"])
longer = pytest.mark.skipif(np.finfo(LONG).nmant < 63, reason="here long double is no longer than double: there is no reference")


def numbers_of(op):
    return elementary.WRITTEN[op].__code__.co_argcount


def loop_text(op, kind, flags=elementary.FUSED):
    """A function of arrays that calls the operator's own in a loop."""
    w, dtype, names = Function({}), np.dtype(kind), "xyz"[:numbers_of(op)]
    with w.stepping("%n") as index:
        place = lambda array: w.entry_at(llvm_type(dtype), f"%{array}", index)
        given = [number_at(w, dtype, place(array)) for array in names]
        store(value_of(op, given, given[0]), place("out"))
    args = ", ".join(f"ptr noalias %{array}" for array in (*names, "out"))
    text = "\n".join([f"define void @loop({args}, i64 %n) {{", "entry:", *w.out, " ret void", "}"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elementary, "FUSED", flags)
        patch.setattr(elementary, "written", elementary.written.__wrapped__)
        return "\n".join([*elementary.definitions([(op, kind)], [text]), text])


@functools.cache
def loop(op, kind, flags=elementary.FUSED):
    code = compiled.code_of(loop_text(op, kind, flags), False)
    pointers = [ctypes.c_void_p] * (1 + numbers_of(op))
    return compiled.functions(code, {"loop": ctypes.CFUNCTYPE(None, *pointers, ctypes.c_int64)})[0]


def computed(compiled, *args):
    out = np.empty_like(args[0])
    args = [np.ascontiguousarray(x) for x in args]
    compiled(*(x.ctypes.data for x in (*args, out)), out.size)
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


# what LLVM makes of them


def vectors(op, kind):
    """The numbers of lanes of the products in a compiled loop, or of the functions that it calls."""
    name = {"float32": "float", "float64": "double"}[kind]
    module, _ = compiled.llvm().passed(loop_text(op, kind))
    text = next(str(function) for function in module.functions if function.name == "loop")
    return {int(n) for n in re.findall(rf"(?:fmul contract|call) <(\d+) x {name}>", text)}


x86_64 = pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="vectors are known of x86-64 alone")


@x86_64
@operators
@kinds
def test_a_loop_is_vectorised(op, kind):
    assert max(vectors(op, kind), default=1) >= 16 // np.dtype(kind).itemsize


def test_each_is_named_as_an_operator():
    assert {*FORMULAS} <= ops.G.keys()
