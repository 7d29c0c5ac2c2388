"""The tape against the interpreters: every operator on numbers, random lists, batches, with Numba and without."""

import sys

import numpy as np
import pytest

import ops
from xman import WengertList, backprop, eval
from xman.engines.tape import Recorded, Tape
from xman.engines.tape_lines import PLAIN

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 710.0, np.inf, -np.inf, np.nan])
SLOPES = np.array([1.0, -2.0, 0.0, np.inf])


@pytest.fixture(params=["machine code", "NumPy"])
def engine(request, monkeypatch):
    """Both ways in which a tape runs: without Numba it is NumPy."""
    if request.param == "NumPy":
        monkeypatch.setitem(sys.modules, "numba", None)
    else:
        pytest.importorskip("numba")
    return request.param


def random_list(seed, lines=2000, window=50, inputs=10):
    """(lines, values): every line reads some of the last registers."""
    random = np.random.default_rng(seed)
    names, steps = [f"x{k}" for k in range(inputs)], []
    arity = {"add": 2, "subtract": 2, "mul": 2, "half": 1, "negative": 1, "sin": 1, "cos": 1, "tanh": 1, "abs": 1, "sigmoid": 1,
             "maximum": 2, "logaddexp": 2, "arctan": 1, "softplus": 1, "alias": 1, "sum": 1, "stopGradient": 1, "arctan2": 2}
    for k, op in enumerate(random.choice(list(arity), lines)):
        args = [names[i] for i in random.integers(max(0, len(names) - window), len(names), arity[op])]
        if arity[op] == 2 and random.uniform() < 0.2:
            args[random.integers(2)] = round(random.normal(), 3)
        steps.append((f"z{k}", str(op), tuple(args)))
        names.append(f"z{k}")
    return steps, {f"x{k}": float(x) for k, x in enumerate(random.normal(size=inputs))}


def reference(steps, values, of):
    """The value and the gradient, by the interpreters."""
    found = eval(steps, values)
    deltas = backprop(steps, found, **{of: 1.0})
    return found[of], {x: deltas.get(x, 0.0) for x in values}


def agree(steps, values, of=None, rtol=1e-12):
    tape = Tape(steps, of)
    assert isinstance(tape._machine, Recorded)
    of_value, slopes = reference(WengertList(steps), values, tape.of)
    found, gradient = tape.value_and_gradient(values)
    np.testing.assert_allclose(tape.value(values), of_value, rtol=rtol)
    np.testing.assert_allclose(found, of_value, rtol=rtol)
    assert gradient.keys() == set(tape.inputs)
    for x in gradient:
        np.testing.assert_allclose(gradient[x], slopes[x], rtol=rtol, atol=1e-300, err_msg=x)


# ---- operators ---------------------------------------------------------------------------------------------------------

OTHERS = {"reciprocal": ("x",), "where": ("c", "x", "y"), "sum": ("x",), "mean": ("x", None, True), "max": ("x",), "alias": ("x",),
          "prod": ("x",), "min": ("x",), "broadcast": ("x", "y"), "unbroadcast": ("x", "y"), "reshape": ("x", "y"), "transpose": ("x",),
          "round": ("x",)}
CALLS = [(op, ("x", "y")[:n]) for op, (_, n, _, _) in PLAIN.items() if op in ops.table.OURS] + list(OTHERS.items()) + [
    ("power", ("x", 2)), ("power", ("x", 3.0)), ("power", ("x", -0.5)), ("power", (2, "x")), ("clip", ("x", -0.5, 0.75)),
    ("clip", ("x", None, 0.5)), ("clip", ("x", 0.5)), ("clip", ("x", None, None)), ("leakyRelu", ("x",)), ("elu", ("x",)),
    ("leakyRelu", ("x", 0.2)), ("round", ("x", 0)), ("mul", (2, "x")), ("subtract", (np.array(0.5), "x")), ("where", ("c", 1, "x")),
    ("where", ("c", "x", 0.0)), ("maximum", ("x", 0)), ("divide", (np.float32(0.1), "x")), ("divide", ("x", -0.0)), ("add", ("x", "x")),
    ("mul", ("x", "x")), ("subtract", ("x", "x")), ("divide", ("x", "x")), ("power", ("x", "x")), ("maximum", ("x", "x")),
    ("where", ("c", "x", "x"))]


@pytest.mark.parametrize("op, args", CALLS, ids=[f"{op}{args}" for op, args in CALLS])
@pytest.mark.filterwarnings("ignore")
def test_an_operator_agrees_with_the_interpreters_at_special_values_and_infinite_deltas(op, args, engine):
    steps = WengertList([("c", "greater", ("w", 0.0)), ("z", op, args), ("r", "mul", ("z", "w"))])
    batch = dict(zip("xyw", (a.ravel() for a in np.meshgrid(SPECIAL, SPECIAL, SLOPES)), strict=True))
    values = {x: batch[x] for x in steps.inputs}
    if op in ("sum", "mean", "max", "min", "prod"):  # over the whole batch, to eval
        values = {x: v[:3] for x, v in values.items()}
        rows = [reference(steps, {x: v[k] for x, v in values.items()}, "r") for k in range(3)]
        expected, slopes = np.array([row[0] for row in rows]), {x: np.array([row[1][x] for row in rows]) for x in values}
    else:
        expected, slopes = reference(steps, values, "r")
    tape = Tape(steps)
    assert isinstance(tape._machine, Recorded)
    found, gradient = tape.value_and_gradient(values)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(tape.value(values), expected, rtol=1e-12)
    for x in gradient:
        wanted = slopes[x] + np.zeros(len(found))
        clear = ~(np.isnan(wanted) & np.isinf(values["w"]))  # of infinite deltas the rules make NaN where it need not be
        np.testing.assert_allclose(gradient[x][clear], wanted[clear], rtol=1e-12, atol=1e-300, err_msg=x)
    for k in range(0, len(found), 7):  # the loops for one set of inputs
        value, one = tape.value_and_gradient({x: v[k] for x, v in values.items()})
        np.testing.assert_allclose([value, *one.values()], [found[k], *(gradient[x][k] for x in one)], rtol=1e-13, atol=1e-300)
