"""An example of each register in its shape and precision, in little time; where shapes depend on values, a refusal."""
import itertools

import numpy as np
import pytest

import ops
from ops.table import arity
from tests.ops.operator_cases import CASES, in_each
from xman import WengertList, eval
from xman.passes.examples import DependsOnValues, alongside, example, examples, hollow, invertible
from xman.passes.held import memory_of


def kinds(values): return {x: (np.shape(v), np.asarray(v).dtype) for x, v in values.items()}


@in_each((op, k) for op, cases in CASES.items() for k in range(0, len(cases), 3) if alongside(op) or isinstance(ops.G[op], np.ufunc))
def test_truth_values_and_positions_of_floats_have_examples_where_entries_stand_beside_each_other(op, k):
    args = CASES[op][k]
    of_floats = [i for i, a in enumerate(args) if isinstance(a, np.ndarray) and a.dtype.kind == "f"]
    for places in itertools.chain.from_iterable(itertools.combinations(of_floats, r) for r in (1, 2)):
        steps = [(f"m{i}", "greater", (f"x{i}", 0.3)) for i in places]
        steps += [("y", op, tuple(f"m{i}" if i in places else f"x{i}" if i in of_floats else a for i, a in enumerate(args)))]
        values = {f"x{i}": args[i] for i in of_floats}
        try:
            found = eval(steps, values)
        except ValueError:
            continue  # NumPy has no such function of truth values
        assert kinds(examples(steps, values)) == kinds(found)


GROW = "def grow(h, n):\n    h1 = add(h, n)\n    return h1\n\ndef below(h, n):\n    t = less(h, 9.0)\n    return t\n\n"
TWO = "def one(x):\n    y = sum(x, 0)\n    return y\n\ndef two(x):\n    y = mean(x, 0)\n    return y\n\ndef whole(x):\n    y = exp(x)\n    return y\n\n"
X = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize("text, values", [
    ("m = greater(x, 1.0)\ny = getitem(x, m)", {"x": X}), ("k = argmax(x, 1)\ny = take(x, k, 1)", {"x": X}), ("k = argmax(x, 1)\ny = getitem(x, k)", {"x": X}),
    ("m = greater(x, 1.0)\ny = dot(x, m)", {"x": X[0]}),
    (TWO + "m = greater(s, 1.0)\nb = bundle(x)\nc = cond(m, one, whole, b)\ny = item(c, 0)", {"s": np.float64(2), "x": X}),
    ("y = of_a_user(x)", {"x": X})])
def test_where_shapes_depend_on_values_there_is_none(text, values):
    lines = WengertList.from_text(text.replace("of_a_user", "exp"))
    with pytest.raises(DependsOnValues):
        if "of_a_user" in text:
            ops.operator("of_a_user", np.exp, None)
            try:
                example("of_a_user", [hollow(X)])
            finally:
                for table in (ops.G, ops.DG, ops.TG, ops.facts.FACTS):
                    del table["of_a_user"]
        else:
            examples(lines, values)


@pytest.mark.parametrize("text, values", [
    (TWO + "m = greater(s, 1.0)\nb = bundle(x)\nc = cond(m, one, two, b)\ny = item(c, 0)", {"s": np.float64(2), "x": X}),
    ("k = argmax(i)\ny = getitem(x, k)", {"x": X, "i": np.array([0, 1, 1])}), ("n = add(k, 1)\ny = getitem(x, n)", {"x": X, "k": np.int64(0)}),
    ("m = greater(x, 1.0)\ny = where(m, x, 0.0)\nz = sum(y, 1)", {"x": X}), ("a = inv(m)\ny = dot(a, m)\nz = det(y)", {"m": np.eye(3) + 1}),
    ("a = inv(m)", {"m": np.eye(3, dtype=np.float32)[None] + 1}), ("y = softmaxCrossEntropy(x, k)\nz = mean(y)", {"x": X, "k": np.array([0, 2])}),
    ("y = squaredError(x, k)", {"x": X, "k": np.array([0, 2])}), ("y = add(x, 2)\nz = mul(y, h)", {"x": X, "h": np.float32(2)}),
    ("y = exp(x)\nz = sum(y)", {"x": 2.0}), ("y = broadcast(h, x)\nz = unbroadcast(y, h)", {"x": X, "h": np.float64(1)}),
    ("b = bundle(h, x)\ny = item(b, 1)", {"h": np.float64(1), "x": X}), ("y = concat(0, x, x)\nz = reshape(y, (-1,))", {"x": X.astype(np.float16)})])
def test_kinds_of_examples_are_those_of_the_values(text, values):
    lines = WengertList.from_text(text)
    assert {x: k for x, k in kinds({x: v for x, v in examples(lines, values).items() if not isinstance(v, tuple)}).items()} == kinds(
        {x: v for x, v in eval(lines, values).items() if not isinstance(v, tuple)})
    fixed = examples(lines, values, [x for x in values])
    assert all(np.array_equal(v, fixed[x], equal_nan=True) for x, v in eval(lines, values).items() if not isinstance(v, tuple))


def test_loops_have_examples_for_a_number_of_turns_if_carries_keep_their_kind():
    steps = WengertList.from_text(GROW + "b = bundle(h, x)\nw = while_loop(below, grow, 1, b)\ny = item(w, 0)\nn = item(w, 1)")
    found = examples(steps, {"h": np.float64(1), "x": np.float64(2)}, cycles=7)
    assert found["n"] == 7 and np.shape(found["y"]) == ()
    with pytest.raises(DependsOnValues, match="while_loop"):
        examples(steps, {"h": np.float64(1), "x": X}, cycles=7)
    with pytest.raises(DependsOnValues, match="while_loop"):
        examples(steps, {"h": 1, "x": 2}, cycles=7)


def test_a_hollow_array_is_one_number_in_memory_and_matrices_are_the_unit_matrix():
    big = hollow(np.zeros((300, 200), np.float32))
    assert big.shape == (300, 200) and big.dtype == np.float32 and big.strides == (0, 0) and (big == 1).all()
    assert hollow(np.zeros(1)).tolist() == [0] and hollow(2.0) == 2.0 and hollow(np.zeros(2)).strides == (0,)
    one = invertible(hollow(np.zeros((4, 3, 3), np.float32)))
    assert one.dtype == np.float32 and np.array_equal(one, np.broadcast_to(np.eye(3), (4, 3, 3)))
    for as_it_is in hollow(np.zeros((3, 2))), hollow(np.zeros((2, 3, 4))), hollow(np.zeros((4, 4, 3))), np.ones((2, 2)), hollow(np.zeros(4)), 2.0:
        assert invertible(as_it_is) is as_it_is
    for op in ("add", "softmax", "dot", "sum", "inv", "scale"):
        n = 400 if op != "inv" else 3
        out = example(op, [hollow(np.zeros((n, n)))] * arity(ops.G[op])[0])
        assert sum(memory_of(out).values()) <= 8 * n


def test_an_example_of_a_loop_goes_on_until_whole_numbers_no_longer_become_floats():
    handed_on = ("def", "step", ("a", "b", "c", "t"), (("s", "mul", ("a", 1.5)),), ("s", "a", "b", "c"))
    args = ops.Bundle((np.float64(1.5), 0, 0, 6))
    kinds = [[(np.shape(x), np.asarray(x).dtype) for x in results]
             for results in (ops.G["scan"](handed_on, 3, 1, args), example("scan", [handed_on, 3, 1, args]))]
    assert kinds[0] == kinds[1]
