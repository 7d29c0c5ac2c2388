"""What an operator, a row or a symbol is not for is refused where it is asked for, in a sentence; the nearest that is right is not."""
import numpy as np
import pytest

import ops
from ops import f
from ops.facts import literal_size, operations
from xman import Register, XManError, eval
from xman.passes.held import most_held

V, M, LIKE = np.ones(3), np.ones((2, 3)), np.zeros((4, 3))
STEP = ("def", "step", ("h", "x"), (("h1", "add", ("h", "x")),), ("h1",))
TEST = ("def", "test", ("h", "x"), (("t", "less", ("h", "x")),), ("t",))
ARRAY = ("def", "truths", ("h", "x"), (("t", "less", ("h", "x")), ("u", "stack", (0, "t"))), ("u",))
WIDE = ("def", "wide", ("h", "x"), (("h1", "stack", (0, "h", "h")),), ("h1",))
NARROW = ("def", "narrow", ("h", "x"), (("h1", "astype", ("h", ("float32",))),), ("h1",))
B = f.bundle
R = Register("r")


@pytest.mark.parametrize("refused, words, right", [
    (lambda: f.oneHot(np.arange(3), LIKE), r"integer labels of shape \(3,\) do not fit predictions of shape \(4, 3\); wanted \(4,\)",
        lambda: f.oneHot(np.arange(4) % 3, LIKE)),
    (lambda: f.oneHot(np.ones((4, 1, 1)), LIKE), "targets of shape .* do not fit", lambda: f.oneHot(np.ones((4, 1)), LIKE)),
    (lambda: f.oneHot(np.ones(2), LIKE), "targets of shape .* do not fit", lambda: f.oneHot(np.ones(1), LIKE)),
    (lambda: f.oneHot(np.array([0, 1, 2, 3]), LIKE), "label 3 is not one of the 3 classes 0 … 2", lambda: f.oneHot(np.array([0, 1, 2, 2]), LIKE)),
    (lambda: f.oneHot(np.array([0, -1, 2, 3]), LIKE), "label -1 is not one", lambda: f.oneHot(np.zeros((4, 1), int), LIKE)),
    (lambda: f.scan(3, 1, 1, B(0.0, V)), "the first argument of scan is a function", lambda: f.scan(STEP, 1, 1, B(0.0, V))),
    (lambda: f.scan(STEP, 2, 1, B(0.0, V)), "step has 2 parameters and 1 results, too few for 2 carries and 1 slices", lambda: f.scan(STEP, 0, 2,
        B(V, V))),
    (lambda: f.scan(STEP, -1, 1, B(0.0, V)), "too few for -1 carries", lambda: f.scan(STEP, 0, 1, B(V, 1.0))),
    (lambda: f.scan(STEP, 1, 2, B(0.0, V)), "too few for 1 carries and 2 slices", lambda: f.scan(STEP, 1, 1, B(0.0, 3))),
    (lambda: f.scan(STEP, 1, 1, [0.0, V]), r"step takes a bundle of h, x; write b = bundle\(h, x\)", lambda: f.call(STEP, B(V, V))),
    (lambda: f.scan(STEP, 1, 1, B(0.0, V, V)), "step takes h, x, and the bundle has 3", lambda: f.call(STEP, B(V, 1.0))),
    (lambda: f.scan(STEP, 1, 1, B(0.0, 2.5)), "a slice is an array with a leading axis, or a whole number of steps; x is neither",
        lambda: f.scan(STEP, 1, 1, B(0.0, np.int32(2)))),
    (lambda: f.scan(STEP, 0, 2, B(V, 4)), "the steps of step are 3 by h, 4 by x", lambda: f.scan(STEP, 0, 2, B(V, 3))),
    (lambda: f.scan(STEP, 1, 0, B(V, 4)), "not said, since it has no slices", lambda: f.scan(STEP, 1, 1, B(0.0, 4))),
    (lambda: f.scan(WIDE, 1, 1, B(V, 3)), r"wide takes h of shape \(3,\) and hands it on with shape \(2, 3\); a carry keeps its shape",
        lambda: f.scan(WIDE, 0, 1, B(V, 3.0))),
    (lambda: f.scan(NARROW, 1, 1, B(V, 3)), "narrow takes h as float64 and hands it on as float32; begin with h as float32, or end with astype",
        lambda: f.scan(NARROW, 1, 1, B(np.float32(1), 3))),
    (lambda: f.cond(V, STEP, STEP, B(1.0, 2.0)), r"the condition gives an array of shape \(3,\), and one truth value", lambda: f.cond(V[0], STEP,
        STEP, B(1.0, 2.0))),
    (lambda: f.cond(None, STEP, STEP, B(1.0, 2.0)), "the condition gives None, and one truth value", lambda: f.cond(0, STEP, STEP, B(1.0, 2.0))),
    (lambda: f.while_loop(ARRAY, STEP, 1, B(0.0, 1.0)), "gives an array of shape", lambda: f.while_loop(TEST, STEP, 1, B(0.0, 1.0))),
    (lambda: f.sqrtm(np.diag([-1.0, 1.0])), "the square root of this matrix is complex", lambda: f.sqrtm(np.diag([4.0, 1.0]))),
    (lambda: f.sqrtm(V), "takes a square matrix", lambda: f.sqrtm(M[:1, :1])),
    (lambda: f.trace(V), "trace takes a matrix, not an array with 1 axes", lambda: f.trace(M)),
    (lambda: f.expm(V), "takes a square matrix", lambda: f.expm(M[:1, :1])),
    (lambda: f.sum(M, keepdim=True), "sum has no argument 'keepdim'; it takes x, axis, keepdims", lambda: f.sum(M, keepdims=True)),
    (lambda: f.clip(lo=1.0), "clip needs its argument 'x'", lambda: f.clip(x=M, hi=1.0)),
    (lambda: f.reshape(R), "reshape takes 2 arguments; 1 was given", lambda: f.reshape(R, (1,))),
    (lambda: f.sum(R, 0, True, 4), "sum takes 1 to 3 arguments; 4 were given", lambda: f.sum(R, 0, True)),
    (lambda: bool(R), "no truth value before it is evaluated", lambda: R == R),
    (lambda: np.asarray(R), "has no numbers before it is evaluated", lambda: np.exp(R)),
    (lambda: np.array([R, R]), "write np.stack", lambda: np.stack([R, R])),
    (lambda: np.add.reduce(R), r"np.add on .* can only be called plainly, without .reduce", lambda: np.add(R, R)),
    (lambda: np.add(R, R, where=True), "can only be called plainly", lambda: np.add(R, 1.0)),
    (lambda: np.fft.fft2(R), "np.fft2 has no operator here; write it with those there are", lambda: np.cumsum(R, 0)),
    (lambda: list(R), "not iterable", lambda: R[0]),
    (lambda: 1 in R, "not iterable|not a container", lambda: R[0] == 1),
    (lambda: ops.operator("lambda", np.exp, None), "the name has to be a Python identifier", lambda: None),
    (lambda: ops.operator("a b", np.exp, None), "the name has to be a Python identifier", lambda: None),
    (lambda: ops.operator("exp", np.exp, None), "that is a row of ops; choose another name", lambda: None),
], ids=range(38))
def test_what_it_is_not_for_is_refused_and_what_is_next_to_it_is_not(refused, words, right):
    with pytest.raises((ValueError, TypeError, XManError), match=words):
        refused()
    right()


def test_the_methods_and_operators_of_a_symbol_are_those_of_an_array():
    a, b = np.random.default_rng(3).uniform(0.5, 1, (2, 3, 3))
    for fn in (lambda a, b: a.dot(b), lambda a, b: a @ b, lambda a, b: 2 - a, lambda a, b: a / 3, lambda a, b: 3 / a, lambda a, b: 2 ** a, lambda a,
        b: a ** b,
               lambda a, b: a.T, lambda a, b: (+a).mT, lambda a, b: a.reshape(9), lambda a, b: a.reshape(1, 9), lambda a, b: a.reshape((9,
                   1)), lambda a, b: a[1, 2],
               lambda a, b: a[:2], lambda a, b: a.sum(0), lambda a, b: a.mean(axis=1,
                   keepdims=True), lambda a, b: a.max(1), lambda a, b: a.min(-1), lambda a, b: -a,
               lambda a, b: abs(-a), lambda a, b: a < b, lambda a, b: a <= a, lambda a, b: a > b, lambda a, b: a >= a, lambda a, b: a == a, lambda a, b: a != a,
               lambda a, b: ~(a < b), lambda a, b: (a < b) & (b < 2), lambda a, b: (a < b) | (b < 2), lambda a, b: np.clip(a, None,
                   0.7), lambda a, b: np.clip(a, 0.7, None),
               lambda a, b: np.concatenate([a, b], 1), lambda a, b: np.concatenate([a, b]), lambda a, b: np.stack([a, b],
                   1), lambda a, b: np.stack([a, b]),
               lambda a, b: np.einsum("ij,kj->ik", a, b), lambda a, b: np.reshape(a, 9), lambda a, b: np.sum(a, 1), lambda a, b: np.var(a,
                   0), lambda a, b: np.linalg.norm(a, axis=1)):
        r = XMan_of(fn)
        np.testing.assert_allclose(r(a, b), fn(a, b), rtol=1e-14)


def XMan_of(fn):
    from xman import XMan

    def run(a, b):
        out = fn(ra := Register("a"), rb := Register("b"))  # noqa: F841 they keep their names
        steps = XMan().operationSequence(out)
        return eval(steps, {"a": a, "b": b})[steps[-1][0]]
    return run


def test_the_tables_show_their_size():
    assert repr(ops.G) == f"<{len(ops.G)} operators>"


def test_a_literal_stands_for_as_much_as_it_may_become():
    assert [literal_size(a) for a in (7, -7, (2, 3), (2, (3, 4)), (0, 5), slice(2, 9, 3), slice(-9), slice(None, None, -11), 2.5, "a", None, ())] == [
        7, 7, 6, 24, 5, 9, 9, 11, 0, 0, 0, 1]


# ---- what functions within lists cost: that of the same lines outside ------------------------------------------------------------

n = 20
BIG = ("def", "big", ("x",), (("o", "outer", ("x", "x")), ("p", "exp", ("o",)), ("s", "sum", ("p",)), ("y", "mul", ("x", "s"))), ("y",))
SMALL = ("def", "small", ("x",), (("y", "half", ("x",)),), ("y",))
LATE = ("def", "late", ("x",), (("s", "sum", ("x",)), ("t", "less", ("s", 0.0))), ("t",))
TURN = ("def", "turn", ("h", "x"), (("o", "outer", ("h", "x")), ("p", "exp", ("o",)), ("h1", "sum", ("p", 0))), ("h1", "h1"))


@pytest.mark.parametrize("op, args, inside, outside", [
    ("call", (BIG, "b"), 2 * 8 * n * n, 8 * n), ("call", (SMALL, "b"), 0, 8 * n), ("cond", (True, BIG, SMALL, "b"), 2 * 8 * n * n, 8 * n),
    ("cond", (False, BIG, SMALL, "b"), 0, 8 * n), ("cond", (False, SMALL, BIG, "b"), 2 * 8 * n * n, 8 * n),
    ("while_loop", (LATE, BIG, 1, "b"), 2 * 8 * n * n, 0), ("while_loop", (LATE, SMALL, 1, "b"), 0, 0)])
def test_the_memory_of_a_function_counts_where_a_list_applies_it(op, args, inside, outside):
    steps = [("b", "bundle", ("x",)), ("c", op, args), ("y", "item", ("c", 0))]
    held = most_held(steps, ["y"], eval(steps, {"x": np.ones(n)}))
    assert inside + 8 * n + outside <= held <= inside + 8 * n + outside + 8 * n + 100


def test_the_memory_of_a_step_counts_once_beside_the_stacks():
    steps = [("b", "bundle", ("h", "X")), ("c", "scan", (TURN, 1, 1, "b")), ("y", "item", ("c", 1))]
    held = most_held(steps, ["y"], eval(steps, {"h": np.ones(n), "X": np.ones((5, n))}))
    arrays = 8 * (n + 5 * n + n + 5 * n)
    assert arrays + 2 * 8 * n * n <= held <= arrays + 2 * 8 * n * n + 8 * n + 100


@pytest.mark.parametrize("op, args", [("call", (BIG, "b")), ("cond", (True, BIG, SMALL, "b"))])
def test_the_operations_of_a_function_are_those_of_its_lines(op, args):
    x, lines = np.ones(n), [(dst, op, args) for dst, op, args in BIG[3]]
    values = eval(lines, {"x": x})
    total = sum(operations(op)(values[dst], *[values.get(a, a) if isinstance(a, str) else a for a in names]) for dst, op, names in lines)
    b = f.bundle(x)
    assert operations(op)(None, *[b if a == "b" else a for a in args]) == total > 0
    steps = f.bundle(x, np.ones((5, n)))
    assert operations("scan")(None, TURN, 1, 1, steps) == 5 * operations("call")(None, TURN, f.bundle(x, x))
