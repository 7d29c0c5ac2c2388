"""Facts about lists on the arrays of other libraries: what array_api_strict allows, and what JAX serialises."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import xman
from xman import XManError, eval
from xman.export import on, to_stablehlo
from xman.models import MLP

sys.path.append(str(Path(__file__).parent))
from lists_to_export import CASES, calls, merged, step_of

ALL = bool(os.environ.get("XMAN_ALL_CASES"))
R = np.random.default_rng(8)
LACKING = set("""besselI besselIe besselJ besselK besselKe besselY betainc dawsn ellipe ellipk erfcx expi expm gammainc gammaincc
    lambertw sqrtm sylvester""".split())
NOT_IN_JAX = {"besselI", "besselIe", "besselJ", "besselK", "besselKe", "besselY", "sylvester", "sqrtm", *"dawsn ellipe ellipk erfcx lambertw".split()}


def assert_agree(found, want, rtol, atol):
    for name in want:
        x, y = np.asarray(found[name]), np.asarray(want[name])
        assert (x.shape, x.dtype) == (y.shape, y.dtype), name
        np.testing.assert_allclose(x, y, rtol, atol, err_msg=name)


def assert_on(xp, steps, values, rtol, atol):
    found = eval(steps, {x: xp.asarray(a) for x, a in values.items()}, on(xp))
    arrays = {x: getattr(v, "_array", v) for x, v in found.items()}  # array_api_strict hides it
    assert_agree(arrays, eval(steps, values), rtol, atol)


@pytest.mark.parametrize("dtype", ["float64", "float32"] if ALL else ["float64"])
def test_every_operator_and_its_gradient_on_arrays_that_allow_nothing_but_the_standard(dtype):
    xp = pytest.importorskip("array_api_strict")
    steps, values, known = merged(dtype, 1 if ALL else 12, LACKING)
    assert known == set(CASES) - LACKING
    assert_on(xp, steps, values, *((1e-9, 1e-11) if dtype == "float64" else (3e-4, 1e-4)))


def test_whole_numbers_and_truth_values_are_promoted_as_numpy_does():
    xp = pytest.importorskip("array_api_strict")
    steps = xman.WengertList.from_text("a = mul(m, x)\nb = divide(k, 2)\nc = add(k, m)\nd = sum(m)\ne = exp(k)\ng = scale(m, x)\n"
                                       "h = greater(k, x)\nj = logical_or(k, m)\nl = take(x, k)\nn = power(k, 2)\no = where(k, x, 0)\n"
                                       "p = getitem(x, m)\nq = scatterAdd(d, x, k)\nr = softmaxCrossEntropy(z, k)\ns = max(k)")
    values = {"x": R.standard_normal(3, np.float32), "k": np.array([0, 2, 1]), "m": np.array([True, False, True]),
              "z": R.standard_normal((3, 3))}
    assert_on(xp, steps, values, 1e-6, 0)


class Poor:
    """NumPy without the functions that ONNX lacks."""

    without = "expm1", "log1p", "log2", "log10", "hypot", "atan2", "logaddexp", "trunc", "signbit", "floor_divide"
    __name__ = "poor"

    def __getattr__(self, name):
        if name in self.without:
            raise AttributeError(name)
        return getattr(np, name)


EDGES = np.array([-np.inf, -1e300, -800.0, -2.5, -1.0, -1e-9, -0.0, 0.0, 1e-300, 1e-9, 0.3, 1.0, 7.0, 800.0, 1e300, np.inf])


@pytest.mark.parametrize("op", ["expm1", "log1p", "log2", "log10", "trunc", "signbit", "exp2", "cbrt", "sigmoid", "softplus",
                                "hypot", "arctan2", "logaddexp", "exp_difference", "scale", "ratio", "share"])
def test_a_formula_in_the_place_of_a_function_is_right_at_its_edges_too(op):
    import ops
    two = ops.table.arity(ops.G[op])[0] == 2
    args = (EDGES[:, None], EDGES) if two else (EDGES,)
    with np.errstate(all="ignore"):
        found, want = on(Poor())[op](*args), ops.G[op](*args)
    np.testing.assert_allclose(found, want, 1e-13, 1e-320)


@pytest.mark.parametrize("call", ["cumprod(x, 0)", "logsumexp(x, -1, True)", "prod_of_others(x, 0)", "convolve(x, v)", "convolve(v, x)",
                                  "correlate(v, x)", "mean(x, 0)", "var(x, -1)", "sum(x, 0)", "max(x, -1)", "norm(x, 0)"])
def test_a_number_with_an_axis_is_what_numpy_makes_of_it(call):
    values = {"x": np.array(-1.5), "v": np.array([2.0, 3.0])}
    steps = xman.WengertList.from_text(f"y = {call}")
    assert_on(pytest.importorskip("array_api_strict"), steps, {x: values[x] for x in steps.inputs}, 1e-14, 0)


def test_keys_that_are_computed_count_from_the_end_too():
    xp = pytest.importorskip("array_api_strict")
    steps = xman.WengertList.from_text("a = getitem(x, k, j)\nb = getitem(x, slice(1, None), k, 0)\nc = scatterAdd(v, x, k, j)\n"
                                       "d = getitem(x, -1, slice(None), k)\ne = take(x, k, -2)")
    values = {"x": R.standard_normal((3, 4, 5)), "k": np.array([-1, 0, 2, -3]), "j": np.array([3, -4, 1, -1]),
              "v": R.standard_normal((4, 5))}
    assert_on(xp, steps, values, 1e-12, 0)


def test_an_operator_that_the_standard_lacks_is_named_with_its_line():
    xp = pytest.importorskip("array_api_strict")
    for op in sorted(LACKING):
        steps, values = next(calls(op, "float64"))
        with pytest.raises(XManError, match=rf"line 1, .* = {op}\(.*array_api_strict has no function for {op}"):
            eval(steps, {x: xp.asarray(a) for x, a in values.items()}, on(xp))


def test_numpy_itself_is_such_a_library_and_ones_own_operators_run():
    import ops
    try:
        ops.operator("cube", lambda x: x * np.square(x))
        assert_on(np, [("y", "cube", ("x",)), ("z", "half", ("y",))], {"x": np.arange(3.0)}, 0, 0)
    finally:
        for table in (ops.G, ops.DG, ops.TG):
            table.pop("cube", None)


def test_a_training_step_in_stablehlo_is_for_any_number_of_rows_and_needs_jax_alone(tmp_path):
    jax = pytest.importorskip("jax")
    training, values, outputs = step_of(MLP([8, 3]), "sgd", R.standard_normal((9, 8), np.float32), np.eye(9, 3, dtype=np.float32))
    to_stablehlo(training.steps, values, tmp_path / "step.stablehlo", outputs=outputs, rows=["X", "y"])
    program = jax.export.deserialize((tmp_path / "step.stablehlo").read_bytes())
    jax.config.update("jax_disable_most_optimizations", True)  # each number of rows is compiled
    try:
        for n in (1, 40):
            batch = values | {x: np.resize(values[x], (n, *values[x].shape[1:])) for x in ("X", "y")}
            want = eval(training.steps, batch)
            assert_agree(program.call(batch), {x: want[x] for x in outputs}, 1e-5, 1e-6)
    finally:
        jax.config.update("jax_disable_most_optimizations", False)


@pytest.mark.skipif(not ALL, reason="each list is compiled")
def test_every_operator_and_its_gradient_in_stablehlo():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        for op in sorted(set(CASES) - NOT_IN_JAX):
            for steps, values in calls(op, "float64", 3):
                masks = op in ("getitem", "scatterAdd") and any(a.dtype.kind == "b" for a in values.values())
                if masks or {line[1] for line in steps} & NOT_IN_JAX:
                    continue
                program = jax.export.deserialize(to_stablehlo(steps, values, outputs=[steps[-1][0]]))
                given, = program.in_tree.unflatten(program.in_avals)[0]
                want = eval(steps, values)
                assert_agree(program.call({x: values[x] for x in given}), {steps[-1][0]: want[steps[-1][0]]}, 1e-6, 1e-8)


def test_what_jax_lacks_is_named_with_its_line():
    pytest.importorskip("jax")
    for op in sorted(NOT_IN_JAX):
        steps, values = next(calls(op, "float64"))
        with pytest.raises(XManError, match=rf"^line 1, .* = {op}\(.*: jax.numpy has no function for {op}; that cannot be written"):
            to_stablehlo(steps, values)
