"""Task 4: deltas through time: lists, deltas and values as plain data."""
import functools

import numpy as np

from xman.grade import Wrong, expect, expect_mapping, expect_that

from ..public.checks import through_time
from ..solution import lstm as reference


@functools.cache
def an_lstm(steps):
    """The list of the reference's LSTM, and the names of its parameters."""
    parameters = reference.start(np.random.default_rng(0), 2, 3, 2)
    model = reference.LSTM(parameters, steps)
    return list(model.operationSequence(model.outputs, model.loss)), list(parameters)


READ_TWICE = [("z1", "mul", ("w", "w")), ("z2", "sum", ("z1", 1)), ("z3", "mul", ("w", 2.0)), ("z4", "dot", ("z3", "v")),
              ("w2", "add", ("z4", "v")), ("z5", "axes", ("w2", ("w", "v"))), ("loss", "mean", ("z5",))]


@through_time.part("a name of its own for each use", points=6, cases=["an LSTM", "some of its weights", "read twice by one line"])
def a_name_for_each_use(student, rng, kind):
    if kind == "read twice by one line":
        steps, names = READ_TWICE, ["w"]
    else:
        steps, every = an_lstm(int(rng.integers(3, 6)))
        names = every if kind == "an LSTM" else [str(name) for name in rng.permutation(every)[:4]]
    found = student.frozen("untied", steps, names, look="make a new list of new lines", places=[0] * (steps is READ_TWICE))
    want = reference.untied(steps, names)
    expect_that(isinstance(found, (list, tuple)), "a list of lines", found)
    expect_that(len(found) == len(want), f"{len(want)} lines, as many as before", f"{len(found)} lines")
    for k, (own, line) in enumerate(zip(found, want, strict=True), 1):
        if not same(own, line):
            raise Wrong(f"line {k}, {shown(steps[k - 1])}, with a name of its own for each use of one of the names", shown(own),
                        "uses are counted from 1, through the whole list, each name by itself; what is computed, and what is not "
                        "among the names, keeps its name")


def same(own, line):
    """Whether two lines are the same; one that came back may be of lists, or anything."""
    if isinstance(line, tuple):
        return isinstance(own, (tuple, list)) and len(own) == len(line) and all(map(same, own, line))
    return type(own) is type(line) and own == line


def shown(line):
    """A line as a list prints it."""
    if isinstance(line, tuple) and len(line) == 3 and isinstance(line[2], (tuple, list)):
        return f"{line[0]} = {line[1]}({', '.join(map(str, line[2]))})"
    return str(line)


@through_time.part("the deltas' norm is limited", points=5, cases=[
    ("longer", 3.0), ("shorter", 0.5), ("a little longer", 1.01), ("far longer", 1e6)])
def the_norm(student, rng, kind, length):
    """Of deltas of that norm in units of the limit, and then of twice the limit."""
    look = "the norm of all arrays together: the root of the sum of all squares; one factor for all, so that the direction stays"
    for size in (length, 2.0):
        most = float(rng.uniform(1, 5))
        deltas = {name: rng.normal(size=shape) for name, shape in [("W", (4, 3)), ("b", (1, 3)), ("U", (3, 3))]}
        norm = np.sqrt(sum(np.sum(d ** 2) for d in deltas.values()))
        deltas = {name: d * (size * most / norm) for name, d in deltas.items()}
        found = student.clipped(deltas, most)
        expect_mapping(found, deltas, "the deltas")
        for name, d in reference.clipped(deltas, most).items():
            expect(found[name], d, f"delta of {name}", look="these are short enough: they stay as they are" if size < 1 else look)


@through_time.part("deltas of zeros, and deltas that stay as they are", points=2, hidden=True, cases=["zeros", "as they are"])
def zeros(student, rng, kind):
    deltas = {"W": rng.normal(size=(2, 3)) * (kind != "zeros"), "b": np.zeros((1, 3))}
    got = student.frozen("clipped", deltas, 0.01, look="d *= … changes the array itself")
    look = "what is divided by the norm, where that is 0?" if kind == "zeros" else None
    expect(got, reference.clipped(deltas, 0.01), "the deltas", look)
    long = {"W": rng.normal(size=(2, 3)), "b": rng.normal(size=(1, 3))}
    short = student.clipped(long, 1e-3)
    expect_mapping(short, long, "the deltas")
    for name, d in long.items():
        expect_that(np.shape(short[name]) == d.shape and 0 < np.max(np.abs(short[name])) <= 1e-2, f"{name}, clipped", short[name])


@through_time.part("gates and tanh that are asleep", points=5, cases=["sigmoid", "tanh", "an LSTM", "both ends", "at the limit"])
def sleepers(student, rng, kind):
    below = float(rng.uniform(0.05, 0.15))
    steps = [("z1", "dot", ("x", "W")), ("a", kind, ("z1",)), ("b", "mul", ("a", "x")), ("loss", "mean", ("b",))]
    if kind == "an LSTM":
        steps, _ = an_lstm(3)
    elif kind == "both ends":
        steps = [("a", "sigmoid", ("x",)), ("b", "tanh", ("x",))]
    elif kind == "at the limit":  # sigmoid(0) has the slope 0.25, which is not below it
        steps, below = [("a", "sigmoid", ("x",))], 0.25
    values = {name: rng.normal(size=(3, 4)) for line in steps for name in (line[0], *line[2]) if isinstance(name, str)}
    for dst, op, _ in steps:
        if op in ("sigmoid", "tanh"):
            a = rng.normal(0, 4, (6, 5))
            if kind in ("both ends", "at the limit"):
                a = 30 * rng.choice([-1.0, 0.0, 1.0], (6, 5))
            values[dst] = np.tanh(a) if op == "tanh" else 1 / (1 + np.exp(-a))
    found = student.asleep(steps, values, below)
    want = reference.asleep(steps, values, below)
    expect_mapping(found, want, "the shares")
    expect_that(len(found) == len(want), f"a share for each line of sigmoid or tanh: {len(want)} here", f"{len(found)}")
    for name, share in want.items():
        op = next(op for dst, op, _ in steps if dst == name)
        formula = "v(1 − v) (Reps, §5)" if op == "sigmoid" else "1 − v² (Bishop, 8.16)"
        expect(found[name], share, f"the share of {name}, a {op}",
               look=f"its derivative is {formula} of its own value v, which is small at both ends of its range")
