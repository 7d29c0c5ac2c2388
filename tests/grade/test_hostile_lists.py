"""Lists, numbers and arrays made to hold up the grader that evaluates them: each is refused or judged, soon and in little memory.

XMAN_ALL_CASES=1 hands all of them to every part that asks for a list, and draws more at random.
"""

import functools
import importlib
import os
import random
import resource
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import ops
from xman.grade import Failed, Wrong, load_assignment
from xman.grade.lists import ENTRIES, MODEL, deltas_of, read_list, values_of
from xman.grade.sandbox.inside import plain

ROOT = Path(__file__).parents[2] / "assignments"
ALL = bool(os.environ.get("XMAN_ALL_CASES"))


def chain(op, first, lines=45 if ALL else 16, both=False):  # 16 are enough to be seen, and would end
    """q0 = first…, q1 = op(q0), q2 = op(q1), …"""
    return [("q0", *first), *((f"q{k}", op, (f"q{k - 1}",) * (1 + both)) for k in range(1, lines))]


BIG = 2 ** 31 - 1
GROWING = {
    "squares of a whole number": chain("square", ("square", (BIG,))),
    "products": chain("mul", ("alias", (BIG,)), both=True),
    "powers": chain("power", ("power", (3, 3)), both=True),
    "sums": chain("add", ("sum", (BIG,)), lines=1900, both=True),
    "products of what is no variable": chain("mul", ("stopGradient", (BIG,)), both=True),
    "squares of a number that was chosen": chain("square", ("where", (True, BIG, 7))),
    "squares of a truth value and an axis": chain("square", ("add", (True, (3, 5, 7)))),
    "exponentials": chain("exp", ("exp", (700,))),
    "squares of a label": chain("square", ("oneHot", (BIG, BIG)))}
REFUSED = {
    "broadcast": [("q0", "broadcast", (1.0, (10 ** 9,)))], "one-hot": [("q0", "oneHot", (0, (10 ** 9,)))],
    "outer of outer": chain("outer", ("outer", ("X", "X")), both=True), "stack": chain("stack", ("stack", ("X", "X")), both=True),
    "concat": chain("concat", ("concat", ("X", "X")), both=True), "pad": [("q0", "pad", ("X", ((0, 10 ** 9),)))],
    "reshape": [("q0", "reshape", ("X", (10 ** 9,)))], "einsum": [("q0", "einsum", ("X", "X", "X", ("ab", "cd", "ef")))],
    "scan": [("q0", "scan", ([("x", "mul", ("x", "x"))], 1.0, 10 ** 9))], "roll": chain("roll", ("roll", ("X", 10 ** 9))),
    "eye": [("q0", "eye", (10 ** 5,))], "repeat": [("q0", "repeat", ("X", 10 ** 9))],
    "large literals": [("q0", "add", (10 ** 29, 1.0))], "arrays": [("q0", "add", (np.ones((3, 3)), 1.0))],
    "a million lines": [("q0", "alias", (1.0,))] * 5000, "many arguments": [("q0", "add", (1.0,) * 10_000)],
    "long names": [("q" * 10 ** 5, "alias", (1.0,))],
    "deep": [("q0", "add", (functools.reduce(lambda inner, _: (inner,), range(90), 1.0),))],
    "no lines": [], "an operator that is none": [("q0", ("square", "square"), (2,))]}
HOSTILE = {**GROWING, **REFUSED}


@pytest.mark.parametrize("name", GROWING)
def test_all_that_is_evaluated_is_a_number_or_an_array_of_numbers_of_a_fixed_size(name):
    steps = read_list([*GROWING[name], ("f", "mul", ("q0", "x"))], ["x"], MODEL | {"stopGradient"})
    try:
        values = values_of(steps, {"x": 0.5})
        deltas = deltas_of(steps, values, "f", ["x"]) if np.ndim(values["f"]) == 0 else {}
    except Wrong as wrong:
        assert "line 1" in wrong.came_back
        return
    for value in (*values.values(), *deltas.values()):
        assert isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind in "fiub" and value.nbytes < 100, value


def test_axes_and_indices_stay_whole_and_factors_become_floats():
    lines = [("a", "sum", ("x", 1, True)), ("b", "mul", ("a", 2)), ("c", "transpose", ("b", (1, 0))), ("d", "power", ("c", 2))]
    steps = read_list(lines, ["x"])
    assert repr([args for _, _, args in steps]) == repr([("x", 1, True), ("a", 2.0), ("b", (1, 0)), ("c", 2.0)])


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_large_arrays_is_refused_before_anything_is_computed_with_its_line(name):
    with pytest.raises(Wrong) as raised:
        read_list(REFUSED[name], ["X"])
    assert "line 1" in raised.value.came_back or name in ("a million lines", "no lines")


def test_arrays_that_grow_by_what_broadcasts_are_stopped_at_their_line():
    wide = {"a": np.ones((2000, 1)), "b": np.ones((1, 2000))}
    steps = read_list([("q0", "mul", ("a", "b")), *((f"q{k}", "mul", (f"q{k - 1}", "b")) for k in range(1, 1900))], "ab")
    with pytest.raises(Wrong, match="operators that fit") as raised:
        values_of(steps, wide)
    assert "line 3" in raised.value.came_back and 3 * 2000 ** 2 > ENTRIES


# what each assignment does with them

noisy = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of infinities and NaN in what came back


def prefixed(steps, name):
    """The list with a hostile one before it, which its last line depends on."""
    dst, op, args = tuple(steps[-1])
    last = HOSTILE[name][-1][0] if HOSTILE[name] else "q0"
    zero = [("qz", "mul", (last, 0.0)), ("qy", op, tuple(args)), (dst, "add", ("qy", "qz"))]
    return [*HOSTILE[name], *steps[:-1], *zero]


LITERALS = [BIG, 10 ** 29, -10 ** 29, 0, True, None, np.nan, np.inf, 1e308, "x", "", "z" * 5000, "\x1b", (), [], {}, (1, 2),
            [[1], [2, 3]], np.zeros((0, 3)), np.ones((3, 1)), np.ones((1, 400)), np.array([True]), (10 ** 9,)]


def is_list(value):
    return isinstance(value, (list, tuple)) and bool(value) and all(
        isinstance(line, (list, tuple)) and len(line) == 3 and isinstance(line[2], (list, tuple)) for line in value)


def altered(draw, value):
    """The value with something else in one place, or in the place of it."""
    if is_list(value) and draw.random() < 0.3:
        return prefixed(value, draw.choice(list(HOSTILE)))
    if isinstance(value, dict) and value and draw.random() < 0.9:
        name = draw.choice(list(value))
        return {**value, name: altered(draw, value[name])}
    if isinstance(value, (list, tuple)) and value and draw.random() < 0.9:
        k = draw.randrange(len(value))
        return type(value)([*value[:k], altered(draw, value[k]), *value[k + 1:]])
    if isinstance(value, np.ndarray) and value.ndim and draw.random() < 0.7:
        return draw.choice([value.T, value[None], value.astype(bool), value * np.inf, value[:0]])
    return draw.choice([*LITERALS, *list(ops.G)])


class Student:
    """The reference, whose answers are altered before they come back as plain data."""

    def __init__(self, package, module, alter):
        self._package, self._module, self._alter = package, module, alter
        self.apart = self  # where the probes run without the submission

    def frozen(self, name, *args, **_):
        return getattr(self, name)(*map(plain.frozen, args))

    def __getattr__(self, name):
        module = importlib.import_module(f"{self._package}.solution.{self._module}")
        probes = find_spec(f"{self._package}.probes") and importlib.import_module(f"{self._package}.probes")
        probe = getattr(probes, name, None)

        def call(*args, **keywords):
            try:
                found = probe(module, *args, **keywords) if probe else getattr(module, name)(*args, **keywords)
                return plain.decoded(plain.encoded(self._alter(found)))
            except Exception as error:  # of the submission's process, which would say so: a function or the pipe has refused it
                raise Failed("an answer", str(error)) from None
        return call


def everything(found, alter):
    """alter, of each list in what came back."""
    if is_list(found):
        return alter(found)
    if isinstance(found, dict):
        return {name: everything(item, alter) for name, item in found.items()}
    return tuple(everything(item, alter) for item in found) if isinstance(found, tuple) else found


def judge(name, alter, numbers):
    """Judge the parts with an alter(number) each: what is no Wrong is an error of the grader's, and none takes long."""
    assignment = load_assignment(ROOT / name)
    parts = [part for task in assignment.tasks for part in task.parts]
    package = parts[0].function.__module__.partition(".")[0]
    for k, part in enumerate(parts):
        for n in numbers if "it learns" not in part.title and "100,000" not in part.title else ():  # these take long
            extra = part.named_cases()[n % len(part.named_cases())][1]
            start = time.process_time()
            try:
                part.function(Student(package, assignment.module, alter(1000 * k + n)), np.random.default_rng(n), *extra)
            except Wrong:
                pass
            assert time.process_time() - start < 3, (part.title, extra, n)


@noisy
@pytest.mark.parametrize("name", ["operators", "logreg", "mlp", "lstm", "compiler"])
def test_hostile_lists_are_judged_by_every_part_soon_and_are_no_error_of_the_grader(name):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    names = list(HOSTILE)
    judge(name, lambda n: functools.partial(everything, alter=lambda steps: prefixed(steps, names[n * 7 % len(names)])),
          range(len(names)) if ALL else [0])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10


@noisy
@pytest.mark.parametrize("name", sorted(path.parent.name for path in ROOT.glob("*/grading.py")))
def test_whatever_comes_back_is_judged_and_is_no_error_of_the_grader(name):
    judge(name, lambda n: functools.partial(altered, random.Random(n)), range(80 if ALL else 1))


def test_gradients_of_gradients_are_refused_before_they_swell():
    """Each is three times as long as the one before: the tools of `modes` are the grader's, and it is the student who calls."""
    package = load_assignment(ROOT / "modes").tasks[0].parts[0].function.__module__.partition(".")[0]
    steps = [("z0", "sin", ("x",)), ("z1", "square", ("z0",)), ("z2", "sin", ("z1",)), ("z3", "mul", ("z2", "z1")),
             ("z4", "exp", ("z3",)), ("z5", "mul", ("z4", "z3")), ("z6", "tanh", ("z5",))]
    tools, of, start = importlib.import_module(f"{package}.public.checks").Tools(steps), "z6", time.process_time()
    with pytest.raises(ValueError, match="gradient of .* lines"):
        for _ in range(99):
            steps, of = tools.gradient(steps, of, ["x"]), f"d{of}_dx"
    assert time.process_time() - start < 5
