"""The checks that you have: run `python check.py` as often as you like. They hold examples; what is graded is drawn fresh."""
import contextlib
import itertools
import math
import operator
import re

from xman.grade import Assignment, Failed, expect, expect_mapping, expect_that, given

assignment = Assignment("wengert", title="Wengert lists", packages=["numpy"])
tables = assignment.task(1, "the tables G and DG")
evaluation = assignment.task(2, "eval")
propagation = assignment.task(3, "backprop")
descent = assignment.task(4, "descend")
validity = assignment.task(5, "fault")

POINTS = {"add": (1.7, -0.4), "subtract": (1.7, -0.4), "mul": (1.7, -0.4), "divide": (1.7, -0.4), "half": (3.0,),
          "square": (-1.5,), "sqrt": (2.25,), "exp": (0.3,), "log": (0.6,), "sin": (0.8,), "cos": (0.8,), "tanh": (0.5,)}
AT_THE_POINTS = {"add": 1.3, "subtract": 2.1, "mul": -0.68, "divide": -4.25, "half": 1.5, "square": 2.25, "sqrt": 1.5,
                 "exp": 1.349859, "log": -0.510826, "sin": 0.717356, "cos": 0.696707, "tanh": 0.462117}
EQUATION_1 = [("z1", "add", ("x1", "x1")), ("z2", "add", ("z1", "x2")), ("f", "square", ("z2",))]
CUBE = [("z1", "mul", ("x", "x")), ("f", "mul", ("z1", "x"))]
VALUES = {"add": operator.add, "mul": operator.mul, "square": lambda x: x ** 2}
ARITY = {"add": 2, "mul": 2, "square": 1}


@tables.check("the value of every operator at a point", cases=list(POINTS))
def values_at_a_point(student, rng, g):
    look = f"make_G()[{g!r}] is a function that returns it."
    expect(student.value(g, *POINTS[g]), AT_THE_POINTS[g], f"the value of {g}", look, tolerance=1e-6)


@tables.check("every partial is what the difference quotient says",
              cases=[(f"{g} {i}", g, i) for g in POINTS for i in range(len(POINTS[g]))])
def partials_agree_with_differences(student, rng, name, g, i):
    step = 1e-5
    up, down = ([x + s * (k == i) for k, x in enumerate(POINTS[g])] for s in (step, -step))
    quotient = (student.value(g, *up) - student.value(g, *down)) / (2 * step)
    with given(failed=f"make_DG()[{g!r}] is a list with one function for each argument of {g}, and each takes all of them."):
        got = student.partial(g, i, *POINTS[g])
    expect(got, quotient, f"the derivative of {g} with respect to its argument {i}",
           f"It is compared with a difference quotient of your own {g}, with the step {step}: which of the two is wrong?",
           tolerance=1e-6)


@contextlib.contextmanager
def looked_up(look):
    """A context: the hint is for what is looked up and is not there, and for no other error."""
    try:
        yield
    except Failed as failed:
        if "KeyError" in str(failed.came_back):
            failed.look = look
        raise


@evaluation.check("equation 1 at x1 = 3, x2 = 7")
def equation_1(student, rng):
    got = student.eval(EQUATION_1, {"x1": 3.0, "x2": 7.0}, VALUES)
    expect_mapping(got, ["x1", "x2"], "the values", "The inputs are in the result too.")
    expect(got, {"x1": 3.0, "x2": 7.0, "z1": 6.0, "z2": 13.0, "f": 169.0}, "the values",
           "Go through the three lines with a pencil.")


@evaluation.check("a number among the arguments")
def literal(student, rng):
    look = "An argument that is no string is a number itself."
    with looked_up(look):
        got = student.eval([("z1", "mul", (2.0, "x")), ("f", "add", ("z1", 1))], {"x": 3.0}, VALUES)
    expect(got, {"x": 3.0, "z1": 6.0, "f": 7.0}, "the values", look)


@evaluation.check("100,000 lines, and no change to the arguments")
def many_lines(student, rng):
    student.frozen("eval", EQUATION_1, {"x1": 3.0, "x2": 7.0}, VALUES, look="Write into a copy of values.")
    functions, values, _ = chain(rng, 1000)
    want = {name: values[name] for name in ("z1", "z999", "z1000")}
    expect(student.eval_chain(*functions, list(want)), want, "values of z1 = step(x), z2 = step(z1), …")
    functions, values, _ = chain(rng, 100_000)
    expect(student.eval_chain(*functions, ["z100000"]), {"z100000": values["z100000"]}, "the last of 100,000 lines")


@propagation.check("the deltas of equation 1 at x1 = 3, x2 = 7")
def deltas_of_equation_1(student, rng):
    def one(x, y):
        return 1.0
    partials = {"add": [one, one], "square": [lambda x: 2 * x]}
    got = student.backprop(EQUATION_1, {"x1": 3.0, "x2": 7.0, "z1": 6.0, "z2": 13.0, "f": 169.0}, partials, "f")
    expect_mapping(got, ["f", "z2", "z1", "x2", "x1"], "the deltas")
    expect_that(got["f"] == 1, "the delta of f with respect to itself: 1", got, "Before the first step back, d[f] = 1.")
    expect_that(got["z1"] != 0, "a delta of z1 that is not 0", got, "Is the list stepped through in reverse?")
    expect(got["z2"], 26.0, "the delta of z2", "f = square(z2) sends back its delta, 1, times the partial at z2 = 13.")
    expect(got, {"f": 1.0, "z2": 26.0, "z1": 26.0, "x2": 26.0, "x1": 52.0}, "the deltas",
           "x1 stands twice in z1 = add(x1, x1): both places send something back.")


@propagation.check("the deltas of x³ at x = 5 (the notes, §1.4)")
def deltas_of_the_cube(student, rng):
    asked = []

    def noted(i, x, y):
        asked.append((i, x, y))
        return (y, x)[i]
    partials = {"mul": [lambda x, y: noted(0, x, y), lambda x, y: noted(1, x, y)]}
    got = student.backprop(CUBE, {"x": 5.0, "z1": 25.0, "f": 125.0}, partials, "f")
    expect_mapping(got, ["x", "z1", "f"], "the deltas")
    expect_that(got["f"] == 1, "the delta of f with respect to itself: 1", got, "Before the first step back, d[f] = 1.")
    first = asked[0][1:] if asked else None
    expect_that(first == (25.0, 5.0), "the last line's partials first, at the values 25.0 and 5.0",
                f"the first partial was asked for at {first}" if asked else "no partial was asked for",
                "Step through the list in reverse." if first in ((5.0, 5.0), None) else
                "Hand each partial the values of all arguments of its line, in their order.")
    expect(got, {"f": 1.0, "z1": 5.0, "x": 75.0}, "the deltas", "Compare with the four updates that the notes print in §1.4.")


@propagation.check("100,000 lines, and no change to the arguments")
def many_lines_backwards(student, rng):
    values = {"x1": 3.0, "x2": 7.0, "z1": 6.0, "z2": 13.0, "f": 169.0}
    ones = {"add": [lambda x, y: 1.0] * 2, "square": [lambda x: 1.0]}
    student.frozen("backprop", EQUATION_1, values, ones, "f", look="reversed(steps) leaves steps as they are.")
    functions, _, deltas = chain(rng, 100_000)
    expect(student.backprop_chain(*functions, ["x"]), {"x": deltas["x"]}, "the delta of x", tolerance=1e-7)


def chain(rng, lines):
    """A chain of lines that all differ: ((order, sizes, x), the values, the deltas of its last line).

    z1 = step…(x), z2 = step…(z1), and so on. Line k has the operator step<order[k]>, which is x + s · sin x, s = sizes[order[k]].
    """
    sizes = [float(s) for s in rng.uniform(1e-5, 2e-5, 5) * [1, -1, 1, -1, 1]]
    order, x = [int(k) for k in rng.integers(len(sizes), size=lines)], float(rng.uniform(1, 2))
    along = list(itertools.accumulate(order, lambda x, k: x + sizes[k] * math.sin(x), initial=x))
    slopes = [1 + sizes[k] * math.cos(x) for k, x in zip(order, along, strict=False)]
    back = list(itertools.accumulate(reversed(slopes), operator.mul, initial=1.0))[::-1]
    names = ["x", *(f"z{k}" for k in range(1, lines + 1))]
    return (order, sizes, x), dict(zip(names, along, strict=True)), dict(zip(names, back, strict=True))


@descent.check("one update of (x − 3)², down the slope")
def one_update(student, rng):
    def evaluate(inputs):
        return {**inputs, "f": (inputs["x"] - 3.0) ** 2}

    def differentiate(values):
        return {"x": 2 * (values["x"] - 3.0), "f": 1.0}
    inputs, losses = pair(student.descend(evaluate, differentiate, {"x": 5.0}, ["x"], "f", 0.25, 1))
    expect(inputs, {"x": 4.0}, "the inputs", "The loss grows in the direction of the gradient: which way is down?")
    expect(losses, [4.0], "the losses", "The loss before each update, so one number for one update.")


def pair(got):
    """What descend returned, if it is two things."""
    expect_that(isinstance(got, (tuple, list)) and len(got) == 2, "two things: the inputs after the last update, and the losses",
                look="return inputs, losses")
    expect_that(isinstance(got[0], dict) and isinstance(got[1], (list, tuple)), "the inputs, a dict, and the losses, a list", got,
                "return inputs, losses, in that order.")
    return got


@validity.check("a valid list, and the classic slip: a tuple of one without its comma")
def comma(student, rng):
    expect(student.fault(EQUATION_1, ["x1", "x2"], ARITY), None, "the fault of a valid list", "A valid list gives None.")
    got = student.fault([*EQUATION_1[:2], ("f", "square", ("z2"))], ["x1", "x2"], ARITY)
    expect_that(isinstance(got, (tuple, list)) and len(got) == 2, "(3, a sentence)", got, 'In Python ("z2") is the string "z2".')
    expect_that(type(got[0]) is int and got[0] == 3, "the number of the line at fault: line 3, counted from 1", got[0],
                "The first line has the number 1.")


@validity.check("a register is used before it has a value")
def too_early(student, rng):
    got = student.fault([EQUATION_1[1], EQUATION_1[0], EQUATION_1[2]], ["x1", "x2"], ARITY)
    expect_that(isinstance(got, (tuple, list)) and len(got) == 2, "(1, a sentence)", got,
                "z2 = add(z1, x2) comes before z1 = add(x1, x1) here.")
    expect_that(type(got[0]) is int and got[0] == 1, "the number of the line at fault: line 1, counted from 1", got[0],
                "The first line has the number 1.")
    expect_that("z1" in str(got[1]), "a sentence that names z1", got[1])
    others = {"z2", "add", "x2"} & set(re.findall(r"\w+", str(got[1])))
    expect_that(not others, "a sentence that names nothing else of the line, as nothing else is at fault", got[1])
