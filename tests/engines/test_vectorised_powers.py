"""Facts about the other vectorised functions: how exact they are, at the edges too, and that LLVM vectorises them."""

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="the extra fast is not installed")

from test_vectorised import computed, fused_or_not, kinds, longer, loop, numbers, right, units, vectors, x86_64

import ops

NEW = ["power", "sin", "cos"]
UNARY = [op for op in NEW if op != "power"]


@longer
@fused_or_not
@pytest.mark.parametrize(("op", "single", "double"), [
    ("sin", 0.6, 1.4), ("cos", 0.6, 1.4)])
@kinds
def test_the_error_is_at_most_so_many_units_in_the_last_place(op, single, double, kind, flags):
    x = numbers(kind)  # a third of all numbers are larger than 2⁴⁰: sines of any size
    assert units(computed(loop(op, kind, flags), x), right(op, x)).max() <= {"float32": single, "float64": double}[kind]


@longer
@kinds
def test_sines_of_numbers_near_multiples_of_a_right_angle_are_exact(kind):
    k = np.concatenate([np.arange(1, 3000), np.random.default_rng(0).integers(1, 2 ** 50, 3000)])
    x = (k * (2 * np.arctan(np.longdouble(1)))).astype(kind)
    for op in "sin", "cos":
        assert units(computed(loop(op, kind), x), right(op, x)).max() <= 1.4


@longer
@fused_or_not
@kinds
def test_powers_of_all_sizes_have_errors_of_at_most_so_many_units(kind, flags):
    rng, most = np.random.default_rng(0), float(np.log(np.finfo(kind).max))
    far = numbers(kind)
    base = np.exp(rng.uniform(-most, most, 20000)).astype(kind)
    x = np.concatenate([far, base, 1 + rng.normal(0, 1e-3, 20000).astype(kind), -base])
    y = np.concatenate([rng.permutation(far), (rng.uniform(-1.1, 1.1, 20000) * most / np.log(base)).astype(kind),
                        rng.uniform(-1e5, 1e5, 20000).astype(kind), rng.integers(-9, 9, 20000).astype(kind)])
    found = computed(loop("power", kind, flags), x, y)
    assert units(found, right("power", x, y)).max() <= {"float32": 0.6, "float64": 1.4}[kind]


@pytest.mark.parametrize("op", UNARY)
@kinds
def test_infinities_nan_and_zeros_are_those_of_the_operator(op, kind):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, -2], kind)
    same(computed(loop(op, kind), x), op, x)


@kinds
def test_powers_of_and_to_infinities_nan_and_zeros_are_those_of_the_operator(kind):
    large = 2.0 / np.finfo(kind).eps  # 2^(digits + 1): whole and even; the numbers before it are whole, and may be odd
    x = np.array([0.0, np.inf, np.nan, 1, 2, 0.5, 3, 2.5, large, large - 1, large / 2 - 1, large / 2 - 0.5, 1e30], kind)
    x = np.concatenate([x, -x])
    x, y = (np.ravel(a) for a in np.meshgrid(x, x))
    same(computed(loop("power", kind), x, y), "power", x, y)


def same(found, op, *args):
    with np.errstate(all="ignore"):
        wanted = ops.G[op](*args)
    strange = ~np.isfinite(wanted) | ~np.isfinite(found) | (wanted == 0) | (found == 0)
    np.testing.assert_array_equal(found[strange], wanted[strange])
    np.testing.assert_array_equal(np.signbit(found) & ~np.isnan(found), np.signbit(wanted) & ~np.isnan(wanted))


@pytest.mark.parametrize("op", NEW)
@x86_64
@kinds
def test_a_loop_is_vectorised(op, kind):
    assert max(vectors(op, kind), default=1) >= 2
