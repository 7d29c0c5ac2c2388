"""What is graded of the assignment wengert: fresh lists and points, and for each task the reference in place of the others."""
import math

from xman.grade import Wrong, expect, expect_that, given, scale
from xman.grade.compare import listing

from . import grading_4_and_5
from .answers import counted, differentiated, evaluated, expect_deltas, expect_kept
from .lists import ARITY, DG, DOCUMENTS, G, number, random_list, somewhere
from .probes import steps_of
from .public.checks import assignment, chain, evaluation, propagation, tables
from .solution import wengert as reference

__all__ = ["assignment", "grading_4_and_5"]


# ---- task 1: the tables ----------------------------------------------------------------------------------------------

HINTS = {"subtract": "The second argument counts negatively.", "divide": "Write x/y as x·y⁻¹ and use the product rule.",
         "half": "half(x) is x/2.", "sqrt": "√x is x to the power ½.",
         "cos": "Sine and cosine: one of the two derivatives has a minus.",
         "tanh": "With t = tanh x the derivative is a short polynomial in t (Bishop, equation 8.16)."}


def point(rng, g):
    """Arguments at which g is defined, the second away from 0."""
    first = number(rng, 0.2 if g in ("sqrt", "log") else -3.0, 3.0)
    return [first] if ARITY[g] == 1 else [first, float(rng.choice([-1, 1])) * number(rng, 0.4, 2.5)]


# where no difference quotient, of whatever order and step, comes near: at the ends of the floats, where the value may be none
FAR = {"add": (1.7e308, 1.7e308), "subtract": (1.7e308, -1.7e308), "mul": (1e200, 1e200), "divide": (1.797e308, 1.0),
       "half": (1.797e308,), "square": (1e300,), "sqrt": (1e-322,), "exp": (709.74,), "log": (1e-300,), "sin": (1e8,),
       "cos": (1e8,), "tanh": (0.1,)}


@tables.part("the values of G", points=6, cases=list(G))
def values_of_G(student, rng, g):
    for _ in range(3):
        args = point(rng, g)
        with given(f"make_G()[{g!r}]({', '.join(map(str, args))})", failed=f"make_G()[{g!r}] is a function of {g}'s arguments."):
            expect(student.value(g, *args), G[g](*args), f"the value of {g}", f"Work {g} out there with a pocket calculator.")


@tables.part("the partials of DG", points=16, cases=[(f"{g} by {'first second'.split()[i]}" if n > 1 else g, g, i)
                                                    for g, n in ARITY.items() for i in range(n)])
def partials_of_DG(student, rng, name, g, i):
    for args in (point(rng, g), point(rng, g), [x * float(rng.uniform(1, 1.00005)) for x in FAR[g]]):
        with given(f"make_DG()[{g!r}][{i}]({', '.join(map(str, args))})",
                   failed=f"make_DG()[{g!r}] is a list with one function for each argument of {g}, and each takes all of them."):
            expect(student.partial(g, i, *args), DG[g][i](*args), f"the derivative of {g} with respect to its argument {i}",
                   HINTS.get(g, "Compare it with a difference quotient of G: the public checks do."), tolerance=1e-12)


@tables.part("tanh far from 0", points=2, hidden=True, cases=[20.0, -400.0, 1e5])
def far_out(student, rng, x):
    look = "Which intermediate result is too large for a float?"
    with given(f"tanh at {x}", look):
        expect(student.value("tanh", x), math.tanh(x), "the value of tanh", look)
        expect(student.partial("tanh", 0, x), 0.0, "the derivative of tanh", look)


# ---- task 2: eval ----------------------------------------------------------------------------------------------------

@evaluation.part("eval: the lists of the documents", points=4, cases=list(DOCUMENTS))
def eval_of_the_documents(student, rng, name):
    steps, inputs = DOCUMENTS[name], somewhere(rng, DOCUMENTS[name])
    evaluated(student, steps, inputs, reference.eval(steps, inputs, G))


@evaluation.part("eval: random lists", points=4, cases=[("of 10 lines", 10), ("of 60 lines", 60)])
def eval_of_random_lists(student, rng, name, lines):
    steps, inputs, values = random_list(rng, lines)
    unread = {"unread": number(rng, 1, 2)}
    evaluated(student, steps, inputs | unread, values | unread)


@evaluation.part("eval: numbers among the arguments", points=2)
def eval_of_literals(student, rng):
    a, b, x = (number(rng, 1, 3) for _ in range(3))
    steps = [("y", "mul", (a, "x")), ("z", "subtract", (b, "y")), ("three", "add", (1, 2)), ("f", "divide", ("z", "three"))]
    evaluated(student, steps, {"x": x}, {"x": x, "y": a * x, "z": b - a * x, "three": 3, "f": (b - a * x) / 3},
              look="An argument that is no string is a number itself: it is not looked up.")


@evaluation.part("eval: operators of any number of arguments", points=2, hidden=True)
def eval_of_many_arguments(student, rng):
    inputs = {name: number(rng, 1, 2) for name in "abc"}
    table = {"fma": lambda x, y, z: x * y + z, "sum4": lambda *args: sum(args), "seven": lambda: 7.0}
    steps = [("s", "fma", ("a", "b", "c")), ("t", "seven", ()), ("f", "sum4", ("s", "t", "a", "s"))]
    s = inputs["a"] * inputs["b"] + inputs["c"]
    evaluated(student, steps, inputs, {**inputs, "s": s, "t": 7.0, "f": 2 * s + 7.0 + inputs["a"]}, table,
              "An operator takes as many arguments as its line has, also none or four.", "{…}")


@evaluation.part("eval: each line is evaluated once, in order", points=2)
def eval_once(student, rng):
    steps, inputs, values = random_list(rng, 20)
    table, calls = counted(G)
    evaluated(student, steps, inputs, values, table)
    if len(calls) != len(steps):
        raise Wrong(f"{len(steps)} calls of the functions of G, one for each line", f"{len(calls)} calls",
                    "Is a value computed again where it could be looked up?",
                    credit=scale(len(calls) / len(steps), none=3, full=1) if len(calls) > len(steps) else 0)
    for line, (g, args) in zip(steps, calls, strict=True):
        right = line[1], tuple(values[a] for a in line[2])
        expect_that((g, args) == right, f"the line {listing([line])} next, at the values of its arguments",
                    f"a call of {g} at {args}", "Step through the list in its order.")


@evaluation.part("eval: the arguments stay as they are", points=1, cases=["steps", "values", "G"])
def eval_keeps(student, rng, which):
    inputs = somewhere(rng, reference.HOUSE)
    arguments, want = {"steps": reference.HOUSE, "values": inputs, "G": G}, reference.eval(reference.HOUSE, inputs, G)
    expect_kept(student, "eval", arguments, which, want,
                "Who called eval still has that dictionary: add your entries to a copy, dict(values).")


LONG = "A loop, no recursion, and for each line no more than its own work: no copy of the dictionary, no search through the list."


@evaluation.part("eval: a list of 100,000 lines", points=1)
def eval_of_a_long_list(student, rng):
    chain_of(student, rng, "eval", "values", 0)


def chain_of(student, rng, name, what, place):
    """Wrong unless the registers of a long chain, some of them, have the values or deltas that they should have.

    It is made and asked for where the submission is; first a short one is asked of the submission itself.
    """
    lines, asked = 30, [f"z{k}" for k in range(1, 31)]
    with given(f"{name} of z1 = step(x), z2 = step(z1), …, {lines} lines in all, of several such operators", LONG, LONG):
        (order, sizes, x), values, deltas = chain(rng, lines)
        functions = [lambda x, s=s: x + s * math.sin(x) for s in sizes], [[lambda x, s=s: 1 + s * math.cos(x)] for s in sizes]
        table = {f"step{n}": function for n, function in enumerate(functions[place])}
        got = student.backprop(steps_of(order), values, table, "z30") if place else student.eval(steps_of(order), {"x": x}, table)
        expect({name: own for name, own in got.items() if name in asked} if isinstance(got, dict) else got,
               {name: (values, deltas)[place][name] for name in asked}, f"the {what}", LONG)
    lines = 100_000
    functions, *want = chain(rng, lines)
    asked = ["x", *(f"z{k}" for k in sorted(rng.integers(1, lines, 5))), f"z{lines}"]
    with given(f"{name} of z1 = step(x), z2 = step(z1), …, {lines:,} lines in all, of several such operators", LONG, LONG):
        expect(getattr(student, f"{name}_chain")(*functions, asked), {name: want[place][name] for name in asked}, f"the {what}",
               LONG, tolerance=1e-7)


# ---- task 3: backprop ------------------------------------------------------------------------------------------------

@propagation.part("backprop: the lists of the documents", points=6, cases=list(DOCUMENTS))
def backprop_of_the_documents(student, rng, name):
    differentiated(student, DOCUMENTS[name], somewhere(rng, DOCUMENTS[name]))


@propagation.part("backprop: random lists", points=8, cases=[("of 10 lines", 10), ("of 60 lines", 60)])
def backprop_of_random_lists(student, rng, name, lines):
    steps, inputs, _ = random_list(rng, lines)
    differentiated(student, steps, inputs)


@propagation.part("backprop: a register that is read many times", points=4,
                  cases=["twice in a line", "in ten lines", "and is f itself"])
def fan_out(student, rng, case):
    only = None
    if case == "twice in a line":
        steps = [("z", "square", ("x",)), ("f", "mul", ("z", "z"))]
    elif case == "in ten lines":
        uses = [(f"y{k}", str(rng.choice(["sin", "half", "square", "tanh"])), ("z",)) for k in range(10)]
        sums = [(f"s{k}" if k < 9 else "f", "add", (f"s{k - 1}" if k > 1 else "y0", f"y{k}")) for k in range(1, 10)]
        steps = [("z", "sin", ("x",)), *uses, *sums]
    else:
        steps, only = [("y", "sin", ("x",)), ("f", "mul", ("y", "x")), ("later", "mul", ("f", "f"))], ["f", "y", "x"]
    differentiated(student, steps, {"x": number(rng, 0.5, 1.2)}, "f", only=only)


@propagation.part("backprop: what f does not depend on has the delta 0", points=4,
                  cases=["an input", "lines that lead nowhere", "lines after f", "where the partials are infinite"])
def no_influence(student, rng, case):
    inputs = {name: number(rng, 0.5, 1.5) for name in "xy"}
    steps = [("z1", "sin", ("x",)), ("z2", "half", ("z1",)), ("z3", "mul", ("y", "z1")), ("z4", "exp", ("z3",)),
             ("f", "square", ("z2",))]
    zero, table, f = ["y", "z3", "z4"], DG, "f"
    look = "What f does not depend on has the derivative 0.0: no line on the way to f reads it, so nothing is sent back to it."
    if case == "an input":
        zero, steps = ["y"], [line for line in steps if line[0] not in ("z3", "z4")]
    elif case == "lines after f":
        zero, f, look = [*zero, "f"], "z2", "The derivative of z2 is wanted here: what comes after z2 has no influence on it."
    elif case == "where the partials are infinite":
        steps[2], inputs["y"], table = ("z3", "sqrt", ("y",)), 0.0, {**DG, "sqrt": [lambda x: math.inf]}
        look = "A line that f does not depend on sends nothing back. Zero times infinity is not 0, so do not multiply there."
    differentiated(student, steps, inputs, f, table, look, zero)
    differentiated(student, steps, inputs, f, table)


@propagation.part("backprop: numbers among the arguments", points=2)
def backprop_of_literals(student, rng):
    a, b, c = (number(rng, 1, 3) for _ in range(3))
    steps = [("z1", "mul", (a, "x")), ("z2", "subtract", (b, "z1")), ("z3", "divide", ("z2", c)), ("f", "mul", ("z3", "y"))]
    differentiated(student, steps, {"x": number(rng, 0.5, 1), "y": number(rng, 0.5, 1)})


@propagation.part("backprop: operators of any number of arguments", points=2, hidden=True)
def backprop_of_many_arguments(student, rng):
    steps = [("s", "fma", ("a", "b", "c")), ("f", "product3", ("d", "e", "s"))]
    a, b, c, d, e = (number(rng, 1, 2) for _ in range(5))
    values = {"a": a, "b": b, "c": c, "d": d, "e": e, "s": a * b + c, "f": d * e * (a * b + c)}
    table = {"fma": [lambda x, y, z: y, lambda x, y, z: x, lambda x, y, z: 1.0],
             "product3": [lambda x, y, z: y * z, lambda x, y, z: x * z, lambda x, y, z: x * y]}
    expect_deltas(student.backprop(steps, values, table, "f"), steps, reference.backprop(steps, values, table, "f"), "f",
                  at=(values, table))


@propagation.part("backprop: each partial is taken once, where it belongs", points=2)
def backprop_once(student, rng):
    steps, _, values = random_list(rng, 20)
    table, calls = counted(DG)
    f = steps[-1][0]
    expect_deltas(student.backprop(steps, values, table, f), steps, reference.backprop(steps, values, DG, f), f, at=(values, DG))
    wanted = [(g, i, tuple(values[a] for a in args)) for _, g, args in steps for i in range(len(args))]
    for g, i, args in calls:
        expect_that((g, i, args) in wanted, "each partial at the values of its line's arguments", f"partial {i} of {g} at {args}",
                    "DG[g][i] takes the values of all arguments of the line, in their order.")
    lacking = [call for call in wanted if call not in calls]
    expect_that(not lacking, "all functions of DG are called that the deltas are made of", f"{len(lacking)} were not")
    if len(calls) > len(wanted):
        raise Wrong(f"at most {len(wanted)} calls of the functions of DG, one for each argument", f"{len(calls)} calls",
                    "When a line's turn comes, in reverse order, its delta is complete: visit it once, not once for each path.",
                    credit=scale(len(calls) / len(wanted), none=3, full=1))


@propagation.part("backprop: the arguments stay as they are", points=1, cases=["steps", "values", "DG"])
def backprop_keeps(student, rng, which):
    values = reference.eval(reference.HOUSE, somewhere(rng, reference.HOUSE), G)
    arguments = {"steps": reference.HOUSE, "values": values, "DG": DG, "f": "loss"}
    expect_kept(student, "backprop", arguments, which, reference.backprop(*arguments.values()),
                "reversed(steps) goes backwards through a list and leaves it as it is; the deltas are a dictionary of their own.")


@propagation.part("backprop: a list of 100,000 lines", points=1)
def backprop_of_a_long_list(student, rng):
    chain_of(student, rng, "backprop", "deltas", 1)
