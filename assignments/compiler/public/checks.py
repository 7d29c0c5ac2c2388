"""The checks that you have: run `python check.py` as often as you like. They hold examples; what is graded is drawn fresh."""
import contextlib
import hashlib
import math

import numpy as np

from xman.grade import Assignment, Wrong, expect, expect_mapping, expect_that, given, scale
from xman.grade.compare import listing

assignment = Assignment("compiler", title="A compiler of lists", packages=["numpy"])
dead = assignment.task(1, "dead lines")
common = assignment.task(2, "common sub-expressions")
constants = assignment.task(3, "constants")
buffers = assignment.task(4, "buffers")
generated = assignment.task(5, "source")

EXAMPLE = [("z1", "mul", ("x", "x")), ("z2", "sin", ("y",)), ("z3", "mul", ("x", "x")), ("z4", "add", (2.0, 3.0)),
           ("z5", "mul", ("z3", "z4")), ("f", "add", ("z1", "z5"))]
TEXT = {"add": "{0} + {1}", "subtract": "{0} - {1}", "mul": "{0} * {1}", "power": "{0} ** {1}", "sin": "np.sin({0})",
        "tanh": "np.tanh({0})", "dot": "{0} @ {1}", "sum": "np.sum({0}, axis={1})", "where": "np.where({0}, {1}, {2})"}


def of_numbers(function):
    """The function, for numbers only."""
    def value(*args):
        if not all(isinstance(a, (bool, int, float)) for a in args):
            raise TypeError(f"an operator of numbers was given {args!r:.100}")
        if abs(out := function(*args)) >= 10 ** 25:
            raise OverflowError("the result is too large")
        return out
    return value


G = {op: of_numbers(function) for op, function in {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "mul": lambda x, y: x * y, "divide": lambda x, y: x / y,
    "sqrt": math.sqrt}.items()}


def read(lines, inputs, most):
    """The list that came back, as tuples. Wrong unless it is one, of at most so many lines, that reads these inputs only."""
    if not isinstance(lines, (list, tuple)) or len(lines) > most:
        raise Wrong(f"a list of at most {most} lines (dst, op, args)",
                    f"{len(lines)} lines" if isinstance(lines, (list, tuple)) else f"a {type(lines).__name__}")
    known, said = set(inputs), set()
    for k, line in enumerate(lines, 1):
        if not (isinstance(line, (tuple, list)) and len(line) == 3 and isinstance(line[0], str) and isinstance(line[1], str)
                and isinstance(line[2], tuple)):
            raise Wrong("lines (dst, op, args), where args is a tuple", f"line {k}: {line!r:.200}", "A tuple of one is ('z1',).")
        dst, _, args = line
        for a in args:
            if isinstance(a, str) and a not in known:
                raise Wrong("a list in which each register is assigned before it is read",
                            f"line {k} reads {a}, and nothing before it assigns {a}: {listing(lines[:k])}",
                            "Was its line dropped, and someone still reads it?")
            if not isinstance(a, (str, bool, int, float, tuple, type(None))):
                raise Wrong("literals that are numbers, None or tuples of numbers", f"line {k} has a {type(a).__name__}")
        if dst in said:
            raise Wrong("a list that assigns each register once", f"line {k} assigns {dst} again")
        known.add(dst)
        said.add(dst)
    return [tuple(line) for line in lines]


def meaning(steps, G=None, commutative=()):
    """What each register is, as a word: two words are the same when the registers are, whatever functions the operators are.

    G: operators that are known after all, and applied to literals; commutative: operators that do not care for the order.
    """
    words, values = {}, {}

    def word(a):
        return words.get(a, a) if isinstance(a, str) else f"{type(a).__name__} {a!r}"
    for dst, op, args in steps:
        args = [values.get(a, a) if isinstance(a, str) else a for a in args]
        inner = [word(a) for a in args]
        words[dst] = hashlib.sha256(repr([op, sorted(inner) if op in commutative else inner]).encode()).hexdigest()
        if G and not any(isinstance(a, str) for a in args):
            with contextlib.suppress(Exception):
                constant = G[op](*args)
                values[dst], words[dst] = constant, word(constant)
    return words


def expect_same(lines, steps, keep, most, look, more="", G=None, commutative=()):
    """Wrong unless the list that came back computes the registers in keep as steps does, in at most so many lines."""
    inputs = {a for _, _, args in steps for a in args if isinstance(a, str)} - {dst for dst, _, _ in steps}
    lines = read(lines, inputs, len(steps))
    was, now = (meaning(each, G, commutative) for each in (steps, lines))
    for name in keep:
        if name in was:
            expect_that(name in now, f"a list that assigns {name}, which is in keep", listing(lines), more or None)
            expect_that(now[name] == was[name], f"{name} is computed as in the list that was given", listing(lines), more or None)
    expect_that(len(lines) <= most, f"no more than {most} line{'s' * (most != 1)}", f"{len(lines)} lines: {listing(lines)}", look)


@dead.check("the example: z2 is dead")
def example(student, rng):
    with given(EXAMPLE, keep=["f"]):
        expect_same(student.dead_lines(EXAMPLE, ["f"]), EXAMPLE, ["f"], 5, "Nobody asks for z2. What is needed for f?")


@dead.check("the example, where z1 and y are wanted")
def two_wanted(student, rng):
    with given(EXAMPLE, keep=["z1", "y"]):
        got = student.dead_lines(EXAMPLE, ["z1", "y"])
        expect_same(got, EXAMPLE, ["z1", "y"], 1, "z1 needs no other line, and y is an input.")


@common.check("the example: z3 is z1")
def shared(student, rng):
    with given(EXAMPLE, keep=["f"]):
        got = student.common_subexpressions(EXAMPLE, ["f"])
        expect_same(got, EXAMPLE, ["f"], 5, "z1 and z3 have the same operator and the same arguments.",
                    "Who reads z3 has to read z1 now.")


@common.check("2 and 2.0 are two literals")
def literals(student, rng):
    steps = [("z1", "power", ("x", 2)), ("z2", "power", ("x", 2.0)), ("f", "add", ("z1", "z2"))]
    with given(steps, keep=["f"]):
        expect_same(student.common_subexpressions(steps, ["f"]), steps, ["f"], 3, None, "In Python 2 == 2.0, and True == 1.")


@common.check("the order of arguments, unless it does not matter")
def order(student, rng):
    steps = [("z1", "mul", ("x", "y")), ("z2", "mul", ("y", "x")), ("f", "add", ("z1", "z2"))]
    with given(steps, keep=["f"]):
        expect_same(student.common_subexpressions(steps, ["f"]), steps, ["f"], 3, None, "The factors may be matrices.")
    with given(steps, keep=["f"], commutative=["mul"]):
        got = student.common_subexpressions(steps, ["f"], ["mul"])
        expect_same(got, steps, ["f"], 2, "The order of the arguments of mul tells nothing here.", commutative=["mul"])


@constants.check("the example: z4 is 5.0")
def five(student, rng):
    with given(EXAMPLE, keep=["f"]):
        expect_same(student.fold(EXAMPLE, ["f"], G), EXAMPLE, ["f"], 5, "z4 reads literals only.",
                    "Where z4 was read, its value is to stand, as a literal.", G)


@constants.check("a division by zero is left to those who want it")
def zero(student, rng):
    steps = [("z1", "divide", (1.0, 0.0)), ("z2", "mul", (2.0, 4.0)), ("z3", "mul", ("x", "z2")), ("f", "add", ("z3", "z1"))]
    with given(steps, "What G raises is no matter of yours: that line cannot be computed now.", keep=["f"]):
        expect_same(student.fold(steps, ["f"], G), steps, ["f"], 3, "z2 can be computed.", "z1 cannot: its line stays.", G)


@buffers.check("a chain needs two buffers, or one where it may work in place")
def chain(student, rng):
    steps = [("a", "sin", ("x",)), ("b", "sin", ("a",)), ("c", "sin", ("b",)), ("d", "sin", ("c",))]
    with given(steps, keep=["d"]):
        expect_plan(student.plan(steps, ["d"]), steps, ["d"], [], 2)
    with given(steps, keep=["d"], inplace=["sin"]):
        expect_plan(student.plan(steps, ["d"], ["sin"]), steps, ["d"], ["sin"], 1)


@buffers.check("a value is alive until it is read for the last time, or to the end", cases=["read later", "in keep"])
def alive(student, rng, case):
    steps = [("a", "sin", ("x",)), ("b", "sin", ("a",)), ("c", "sin", ("b",)), ("d", "sin", ("c",))]
    keep = ["d"] if case == "read later" else ["a", "d"]
    if case == "read later":
        steps[3] = ("d", "add", ("a", "c"))
    with given(steps, keep=keep):
        expect_plan(student.plan(steps, keep), steps, keep, [], 3)


def expect_plan(got, steps, keep, inplace, fewest):
    """Wrong unless it is a plan that overwrites nothing too early, in so few buffers; with more of them there is some credit."""
    expect_mapping(got, [dst for dst, _, _ in steps], "the plan")
    for dst, _, _ in steps:
        number = got[dst]
        expect_that(type(number) is int and 0 <= number < len(steps), "numbers 0, 1, 2, … of buffers", f"{dst}: {number!r:.50}")
    holds = {}
    for k, line in enumerate(steps):
        dst, op, args = line
        old = holds.get(got[dst])
        reader = next((then for then, _, used in steps[k + 1:] if old in used), None)
        if old is not None and (reader or old in keep or old in args and op not in inplace):
            why = (f"{reader} still reads it" if reader else "it is in keep" if old in keep else
                   f"{dst} is computed from it, and {op} is not in inplace")
            raise Wrong("no value is overwritten while it is alive",
                        f"{dst} takes buffer {got[dst]} of {old}, but {why}; the plan: {got}",
                        "From which line to which does each value live? Mark them at the edge of the list.")
        holds[got[dst]] = dst
    used = len({got[dst] for dst, _, _ in steps})
    expect_that(max((got[dst] for dst, _, _ in steps), default=-1) < used, "numbers from 0 on, none left out", str(got))
    if used > fewest:
        raise Wrong("as few buffers as can be", f"{used} buffers: {got}",
                    "Is each buffer free again after the last line that reads it, and taken by the next line that wants one?",
                    credit=0.75 * scale(used, none=len(steps), full=fewest))


@generated.check("the example as a function")
def function(student, rng):
    expect_values(student, EXAMPLE, ["y", "x"], ["f", "x"], [0.5, 3.0], [54.0, 3.0], strict=True)
    expect_values(student, EXAMPLE, ["y", "x"], ["z2"], [0.0, 3.0], [0.0], "return (a,) returns a tuple of one.", strict=True)


@generated.check("a negative base")
def base(student, rng):
    steps = [("f", "power", (-2.0, "x"))]
    expect_values(student, steps, ["x"], ["f"], [2.0], [4.0], "In Python -2.0 ** 2.0 is -4.0. What is missing?")


@generated.check("a matrix product, and the sum of its columns")
def matrices(student, rng):
    steps = [("z1", "dot", ("A", "B")), ("s", "sum", ("z1", (0,)))]
    expect_values(student, steps, ["A", "B"], ["s"], [np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]])], [np.array([4.0, 6.0])])


def expect_values(student, steps, inputs, outputs, values, want, look=None, text=TEXT, strict=False, **names):
    """Wrong unless the function that was written gives these values; strict: as a tuple."""
    with given(steps, look, inputs=inputs, outputs=outputs, text={op: text[op] for _, op, _ in steps}):
        written = student.source(steps, inputs, outputs, text, "f")
        expect_that(isinstance(written, str), "a text", written)
        result = student.apart.run(written, values, names)
        try:
            expect(list(result) if isinstance(result, (tuple, list)) else [result], want, "what the function returns", look)
            expect_that(isinstance(result, tuple) or not strict, "a tuple", "the right values, but no tuple", look)
        except Wrong as wrong:
            wrong.came_back = f"{wrong.came_back}, from the text\n{written:.1500}"
            raise
