"""Facts about every engine: it agrees with the interpreter on each operator and on random lists, and writes where it may."""

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import ops
import xman
from xman import WengertList, eval, gradient
from xman.models import LSTM, MLP, AdaptiveBasis, LogisticRegression
from xman.passes.examples import examples

sys.path.append(str(Path(__file__).parents[1] / "ops"))
sys.path.append(str(Path(__file__).parents[1] / "passes"))
from operator_cases import OF_NUMBERS as CASES
from random_lists import random_list

needs_llvm = pytest.mark.skipif(importlib.util.find_spec("llvmlite") is None, reason="the engine llvm needs llvmlite")
ENGINES = ["numpy", pytest.param("llvm", marks=needs_llvm)]
ALL = bool(os.environ.get("XMAN_ALL_CASES"))
TOLERANCE = {"float64": {"rtol": 1e-11, "atol": 1e-12}, "float32": {"rtol": 3e-5, "atol": 2e-6}}


@pytest.fixture(params=ENGINES)
def engine(request, own_cache):
    return request.param


def agree(found, wanted, dtype="float64", **looser):
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(found, wanted, **TOLERANCE[dtype] | looser)


def in_precision(values, dtype):
    return {name: x.astype(dtype) if x.dtype.kind == "f" else x for name, x in values.items()}


def operator_lists(op, dtype):
    """(line, values) for each case of an operator: arrays are registers."""
    for k, args in enumerate(CASES[op]):
        names = [f"{op}_{k}_{i}_" if isinstance(a, np.ndarray) else (dtype,) if a == ("float64",) else a for i, a in enumerate(args)]
        values = {name: a for name, a in zip(names, args, strict=True) if isinstance(a, np.ndarray)}
        yield (f"{op}_{k}_out", op, tuple(names)), in_precision(values, dtype)


# operators


@pytest.mark.parametrize("dtype", ["float64", "float32"][:2 if ALL else 1])
def test_every_operator_of_the_sweep_is_that_of_the_interpreter(engine, dtype):
    both = [pair for op in CASES for pair in operator_lists(op, dtype)]
    steps, values = WengertList(line for line, _ in both), {name: x for _, mine in both for name, x in mine.items()}
    step = xman.compile(steps, engine=engine)
    before = {name: x.copy() for name, x in values.items()}
    with np.errstate(all="ignore"):
        found, again, wanted = step(values), step(values), eval(steps, values)
    for dst, _, args in steps:
        for result in (found, again):
            try:
                agree(result[dst], wanted[dst], dtype)
            except AssertionError as error:
                raise AssertionError(f"{dst}: {[np.shape(values[a]) for a in args if isinstance(a, str)]}: {error}") from None
    for name, x in values.items():
        np.testing.assert_array_equal(x, before[name])


def test_a_number_in_the_place_of_an_array_is_for_the_operators_own_function(engine):
    steps = [("t", "ties", (1.0, "x")), ("f", "flip", (2.0,)), ("r", "roll", ("x", "k")), ("p", "pad", ("x", 1))]
    values = {"x": np.array([1.0, np.nan, 3.0]), "k": 2}
    step = xman.compile(steps, engine=engine)
    found, wanted = step(values), eval(steps, values)
    assert step.engine == engine
    for x in step.outputs:
        agree(found[x], wanted[x])


COMPARED = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_not", "sign",
            "isnan", "isfinite", "signbit", "floor", "ceil", "trunc"]


def test_special_numbers_are_those_of_the_interpreter(engine):
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.75, 2.0, 1e-310, 700.0, -800.0])
    x, y = (part.ravel() for part in np.meshgrid(special, special))
    values, steps = {"x": x, "y": y, "c": x > y}, []
    for op in {*(op for op in CASES if ops.facts_of(op).elementwise), *COMPARED} - {"polygamma"}:
        least, most = ops.table.arity(ops.G[op])
        if most <= 3:
            steps.append((f"out_{op}", op, ("c", "x", "y") if op == "where" else ("x", "y", "y")[:least if op != "clip" else 3]))
    wanted, found = eval(steps, values), xman.compile(steps, engine=engine)(values)
    for dst, _, _ in steps:
        np.testing.assert_allclose(found[dst], wanted[dst], rtol=1e-12, atol=1e-300, err_msg=dst)


# random lists


@pytest.mark.parametrize("seed", range(600 if ALL else 20))
def test_random_lists_and_their_gradients_are_those_of_the_interpreter(engine, seed):
    steps, values, special = random_list(seed)
    steps = WengertList(steps)
    outputs = [dst for dst, _, _ in steps][:: 3] + [steps[-1][0]]  # intermediates are outputs too
    step = xman.compile(steps, outputs, engine=engine)
    for inputs in (values, special):
        inputs = {name: inputs[name] for name in steps.inputs}
        before = {name: np.array(x) for name, x in inputs.items()}
        wanted, found = eval(steps, inputs), step(inputs)
        for name in outputs:
            scale = np.abs(wanted[name][np.isfinite(wanted[name])] if np.ndim(wanted[name]) else wanted[name])
            if inputs is values:
                agree(found[name], wanted[name], rtol=1e-8, atol=1e-9 * np.max(np.nan_to_num(scale), initial=1.0))
            else:
                assert np.shape(found[name]) == np.shape(wanted[name])
        for name, x in inputs.items():
            np.testing.assert_array_equal(x, before[name])


@pytest.mark.parametrize("seed", range(300 if ALL else 10))
def test_results_are_arrays_of_their_own(engine, seed):
    steps, values, _ = random_list(seed, lines=12)
    outputs = list(dict.fromkeys([*WengertList(steps).inputs[:2], *(dst for dst, _, _ in steps)]))
    step = xman.compile(steps, outputs, engine=engine)
    first = step(values)
    kept = {name: np.array(x) for name, x in first.items()}
    arrays = [x for x in (*first.values(), *values.values()) if isinstance(x, np.ndarray)]
    for k, x in enumerate(arrays[:len(outputs)]):
        assert not any(np.shares_memory(x, y) for y in arrays[k + 1:])
    step({name: x * 0 + 2.0 for name, x in values.items()})
    for name in outputs:
        np.testing.assert_array_equal(first[name], kept[name])


# models


def training(model, rate):
    steps = model.operationSequence(model.loss)
    names = [name for name in steps.inputs if model.isParam(name)]
    lines = list(gradient(steps, "loss", names))
    for w in names:
        lines += [(f"{w}_step", "mul", (rate, f"dloss_d{w}")), (f"{w}_next", "subtract", (w, f"{w}_step"))]
    return WengertList(lines), {w: f"{w}_next" for w in names}


R = np.random.default_rng(0)
MODELS = {
    "logreg": (LogisticRegression(6, 3), R.normal(size=(5, 6)), np.eye(3)[[0, 1, 2, 1, 0]]),
    "logreg, labels": (LogisticRegression(6, 3), R.normal(size=(5, 6)), np.array([0, 1, 2, 1, 0])),
    "logreg, as in the notes": (LogisticRegression(6, 3, loss="crossEntropy", penalty=0.1), R.normal(size=(5, 6)), np.eye(3)[[0, 1, 2, 1, 0]]),
    "mlp": (MLP([6, 5, 4, 3]), R.normal(size=(7, 6)), np.eye(3)[R.integers(0, 3, 7)]),
    "mlp, relu": (MLP([6, 5, 3], activation="relu", last="relu", loss="crossEntropy"), R.normal(size=(7, 6)), np.eye(3)[R.integers(0, 3, 7)]),
    "mlp, hinge": (MLP([6, 5, 3], loss="hinge"), R.normal(size=(7, 6)), R.integers(0, 3, 7)),
    "mlp, numbers": (MLP([6, 5, 1], activation="sigmoid", loss="squaredError"), R.normal(size=(7, 6)), R.normal(size=(7, 1))),
    "mlp, two classes": (MLP([6, 5, 1], loss="sigmoidCrossEntropy"), R.normal(size=(7, 6)), R.integers(0, 2, (7, 1)).astype(float)),
    "lstm": (LSTM(6, 4, 3, steps=3), np.eye(6)[R.integers(0, 6, (5, 3))], np.eye(3)[R.integers(0, 3, 5)]),
    "basis": (AdaptiveBasis("rbf", 5), R.normal(size=(8, 1)), R.normal(size=(8, 1))),
}


@pytest.mark.parametrize("name, rate", [(name, [0.05, "rate"][k % 2]) for k, name in enumerate(MODELS)])
def test_training_steps_of_the_models_go_where_the_interpreter_goes(engine, name, rate):
    model, X, y = MODELS[name]
    steps, inplace = training(model, rate)
    inputs = model.inputDict(**model.feed(X.astype(np.float32), y.astype(np.float32) if y.dtype.kind == "f" else y))
    if rate == "rate":
        inputs["rate"] = np.float32(0.05)
    wanted, values = dict(inputs), {name: np.array(x) if isinstance(x, np.ndarray) else x for name, x in inputs.items()}
    step = xman.compile(steps, ["loss"], engine=engine, inplace=inplace)
    for _ in range(3):
        found = eval(steps, wanted)
        wanted |= {w: found[f"{w}_next"] for w in inplace}
        agree(step(values)["loss"], found["loss"], "float32")
        for x in inputs:
            agree(values[x], wanted[x], "float32") if x in inplace else np.testing.assert_array_equal(values[x], inputs[x])


@needs_llvm
@pytest.mark.parametrize("dtype", ["float32"])  # in double precision the functions have tests of their own
def test_compiled_loops_compute_what_they_say(dtype):
    """LLVM compiles every operator once for a matrix, a row and a column, and what reduces them, special numbers among them."""
    x, row, column = R.normal(size=(6, 9)), R.normal(size=(1, 9)), R.uniform(0.5, 2.0, size=(6, 1))
    x[0], x[1, :5] = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.75, 2.0], [700.0, -800.0, 1e-30, 1e30, -0.5]
    values = in_precision({"x": x, "r": row, "c": column, "m": np.abs(x)}, dtype)
    unary = [op for op in sorted(ops.OURS) if ops.facts_of(op).elementwise and ops.table.arity(ops.G[op])[0] == 1] + ["isnan", "isfinite", "signbit", "floor", "sign"]
    binary = [op for op in sorted(ops.OURS) if ops.facts_of(op).elementwise and ops.table.arity(ops.G[op]) == (2, 2)]
    lines = [(f"u_{op}", op, ("m" if op in ("log", "sqrt") else "x",)) for op in unary if op not in ("astype", "gammaln", "digamma")]
    lines += [(f"b_{op}", op, ("x", "r")) for op in binary if op not in ("polygamma", "power", "floor_divide", "remainder")]
    lines += [(f"s_{op}_{k}", op, ("x" if op not in ("softmax", "logSoftmax") else "b_mul", *rest)) for op, cases in {
        "sum": [(), (0,), (1,), (-1, True)], "max": [(), (1,), (1, True)], "min": [(1,)], "mean": [(0,), ()], "softmax": [()], "logSoftmax": [()]}.items()
        for k, rest in enumerate(cases)]
    lines += [("k", "mul", ("b_add", "c")), ("l", "sum", ("k", 1, True)), ("h", "subtract", ("k", "l")), ("n", "sum", ("h", 0))]
    finite = values | {"x": np.nan_to_num(values["x"], nan=0.25, posinf=3.0, neginf=-3.0).clip(-20, 20)}
    step = xman.compile(lines, [dst for dst, _, _ in lines], engine="llvm")
    for inputs in (values, finite):
        found, wanted = step(inputs), eval(lines, inputs)
        for dst, _, _ in lines:
            with np.errstate(all="ignore"):
                expected, got = np.asarray(wanted[dst], np.float64), np.asarray(found[dst], np.float64)
            if inputs is values and dst[0] in "sklhn":
                continue  # sums of what is infinite: another order gives another NaN
            agree_in_size(got, expected, dtype, dst)


def agree_in_size(found, wanted, dtype, name):
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted), err_msg=name)
    scale = np.max(np.abs(wanted), initial=0, where=np.isfinite(wanted) & (np.abs(wanted) < 1e10))
    np.testing.assert_allclose(found, wanted, rtol=2e-6 if dtype == "float32" else 2e-14,
                               atol=scale * (1e-6 if dtype == "float32" else 1e-14) + 1e-37, err_msg=name)


@pytest.mark.parametrize("engine", ["interpret", "numpy", pytest.param("llvm", marks=needs_llvm)])
@pytest.mark.parametrize("axis", [np.int64(0), np.int64(1)], ids=repr)
def test_an_axis_that_is_a_register_spreads_and_sums_as_a_literal_one_does(engine, axis):
    x = np.arange(6.0).reshape(2, 3)
    for op, first in ("sum", x), ("broadcast", x.sum(axis)):
        steps = [("out", op, ("x", *["like"] * (op == "broadcast"), "axis")), ("loss", "sum", ("out",))]
        values = {"x": first, "like": x, "axis": axis}
        program = xman.compile(gradient(steps, "loss", ["x"]), ["out", "dloss_dx"], engine)
        results = program({name: a for name, a in values.items() if op == "broadcast" or name != "like"})
        np.testing.assert_array_equal(results["out"], x.sum(axis) if op == "sum" else np.broadcast_to(np.expand_dims(first, axis), (2, 3)))
        np.testing.assert_array_equal(results["dloss_dx"], np.full(first.shape, 1.0 if op == "sum" else x.size / first.size))


def test_the_matrices_that_stand_in_for_others_are_no_reason_to_warn():
    found = examples([("r", "sqrtm", ("a",)), ("s", "square", ("r",))], {"a": np.eye(3, dtype=np.float32)})
    assert found["s"].shape == (3, 3) and found["r"].dtype == np.float32
