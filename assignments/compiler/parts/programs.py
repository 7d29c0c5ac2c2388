"""Tasks 4 and 5: buffers, and the text of a function, which is run in the submission's own process."""
import math
import re
from collections import Counter

import numpy as np

from xman.grade import expect, expect_that, given

from ..public.checks import TEXT, buffers, expect_plan, expect_values, generated
from ..solution import compiler as reference
from .lists import ARITY, INPUTS, disguised, live_list, renamed

# ---- 4: buffers -------------------------------------------------------------------------------------------------------


def planned(student, steps, keep, inplace=(), more=0):
    """more: so many buffers more than the fewest are as good."""
    with given(steps, keep=keep, inplace=list(inplace)):
        fewest = len(set(reference.plan(steps, keep, inplace).values())) + more
        expect_plan(student.plan(steps, keep, list(inplace)), steps, keep, inplace, fewest)


@buffers.part("as few buffers as can be", 7, cases=["short", "longer", "long"])
def few(student, rng, name):
    for _ in range(3):
        lines = {"short": 6, "longer": 12, "long": 20}[name]
        planned(student, renamed(rng, live_list(rng, lines), ["f"]), ["f"])


@buffers.part("wanted values live to the end", 4)
def to_the_end(student, rng):
    """In a chain, all in place, nothing else can go wrong."""
    for _ in range(3):
        steps = live_list(rng, 8, ["sin", "tanh"])
        keep = [*(str(dst) for dst in rng.choice([dst for dst, _, _ in steps[:6]], 2, replace=False)), "f"]
        planned(student, renamed(rng, steps, keep), keep, ["sin", "tanh"], more=1)


@buffers.part("a value that nobody reads", 3)
def unread(student, rng):
    dead = [(f"d{k}", "mul", ("a", str(rng.choice(INPUTS)))) for k in range(3)]
    steps = [("a", "sin", ("x",)), *dead, ("f", "sin", ("a",))]
    planned(student, renamed(rng, steps, ["f"]), ["f"], ["sin", "mul"])


@buffers.part("in place, where that is allowed", 4, hidden=True)
def in_place(student, rng):
    start = [("p", "sin", ("x",)), ("q", "sin", ("p",)), ("r", "mul", ("q", "p"))]  # p is read again after a line in place
    for inplace in (["sin", "mul", "add"], ["sin"], ["mul", "add"]):
        steps = [*start, *live_list(rng, 7, ["sin", "mul", "add"], last="h"), ("f", "add", ("h", "r"))]
        planned(student, renamed(rng, steps, ["f"]), ["f"], inplace)


# ---- 5: source --------------------------------------------------------------------------------------------------------

VALUES = {"add": np.add, "subtract": np.subtract, "mul": np.multiply, "power": np.power, "sin": np.sin, "tanh": np.tanh,
          "dot": np.matmul, "sum": lambda x, axis: np.sum(x, axis=axis), "where": np.where}
NUMBERS = ["add", "subtract", "mul", "sin", "tanh"]


def returned(student, rng, steps, inputs, outputs, look, table=VALUES, text=TEXT, **names):
    """The function gives what the list gives, which is evaluated here."""
    steps, text, table = disguised(rng, steps, text, table)
    values = dict(inputs)
    for dst, op, args in steps:
        values[dst] = table[op](*[values[a] if isinstance(a, str) else a for a in args])
    want = [x if isinstance(x, np.ndarray) else float(x) for x in (values[y] for y in outputs)]
    expect_values(student, steps, list(inputs), outputs, list(inputs.values()), want, look, text, **names)


def points(rng, names=INPUTS):
    return {str(x): float(rng.uniform(-1.5, 1.5)) for x in names}


@generated.part("the function computes the list", 6, cases=["numbers", "matrices"])
def computes(student, rng, name):
    for order in (["y", "w", "x"], ["x", "y", "w"]):
        if name == "numbers":
            steps, inputs = live_list(rng, 8, NUMBERS), points(rng, order)
        else:
            steps = [("P", "dot", ("x", "y")), ("Q", "subtract", ("P", "w")), ("R", "dot", ("Q", "x")), ("S", "tanh", ("R",)),
                     ("T", "where", ("Q", "S", "y")), ("f", "sum", ("T", (0,)))]
            inputs = {name: rng.uniform(0.5, 1.5, (3, 3)) for name in order}
        returned(student, rng, steps, inputs, ["f"], "Compare the text with the list, line by line; the order of arguments?")


LITERALS = ["a negative base", "infinity", "not a number", "one axis", "no axis", "types", "minus zero"]


@generated.part("literals", 5, cases=LITERALS)
def literals(student, rng, name):
    c, asked = round(float(rng.uniform(1.1, 3.0)), 2), []
    steps, x = {
        "a negative base": ([("f", "power", (-c, "x"))], 2.0),
        "infinity": ([("p", "where", ("x", math.inf, 0.0)), ("q", "where", ("x", c, -math.inf)), ("f", "mul", ("p", "q"))], 1.0),
        "not a number": ([("f", "where", ("x", math.nan, c))], 1.0),
        "one axis": ([("f", "sum", ("x", (1,)))], rng.standard_normal((2, 3))),
        "no axis": ([("f", "sum", ("x", None))], rng.standard_normal((2, 3))),
        "types": ([("a", "kind", (True, 1)), ("b", "kind", (1.0, False)), ("p", "add", ("a", "b")), ("f", "add", ("p", "x"))], c),
        "minus zero": ([("f", "copysign", ("x", -0.0))], c)}[name]
    looks = {"a negative base": "In Python -2.0 ** 2.0 is -(2.0 ** 2.0).", "one axis": "A tuple of one has a comma."}

    def kind(a, b):
        asked.append([type(a).__name__, type(b).__name__])
        return 0.0
    look = looks.get(name, "Compare the literal in the text with the one in the list: does Python read the same?")
    returned(student, rng, steps, {"x": x}, ["f"], look, {**VALUES, "kind": lambda a, b: 0.0, "copysign": np.copysign},
             {**TEXT, "kind": "kind({0}, {1})", "copysign": "np.copysign({0}, {1})"}, kind=kind)
    if name == "types":
        wanted = [["bool", "int"], ["float", "bool"]]
        expect_that(all(pair in asked for pair in wanted), "kind(True, 1) and kind(1.0, False)", f"the types {asked[:8]}",
                    "repr tells them apart.")


@generated.part("names that stand in the text", 3, hidden=True, cases=["np", "cube", "f", "where", "x_"])
def names(student, rng, name):
    steps = [(name, "sin", ("x",)), ("a", "cubed", (name,)), ("b", "sin", ("a",)), ("c", "where", ("x", "b", name)),
             ("y", "subtract", ("c", "x"))]
    inputs = {"x": float(rng.uniform(0.5, 1.5))}
    look = "x and x_ are two registers: do both have one name in the text?" if name == "x_" else None
    returned(student, rng, steps, inputs, ["y"], look or "Is something of that name used after it is assigned?",
             {**VALUES, "cubed": lambda x: x ** 3}, {**TEXT, "cubed": "cube({0})"}, cube=lambda x: x ** 3)


@generated.part("each line is computed once", 3)
def once(student, rng):
    asked = Counter()

    def counted(op):
        def value(*args):
            asked[op] += 1
            return float(VALUES[op](*(float(a) for a in args)))
        return value
    steps = live_list(rng, 10, NUMBERS)
    text = {op: f"{op}({', '.join(f'{{{k}}}' for k in range(ARITY[op]))})" for op in NUMBERS}
    returned(student, rng, steps, points(rng), ["f"], None, text=text, **{op: counted(op) for op in NUMBERS})
    with given(steps, text=text):
        expect_that(sum(asked.values()) == len(steps), f"{len(steps)} calls of operators, one for each line",
                    f"{sum(asked.values())} calls: {dict(asked)}", "What is read twice is computed once, and given a name.")


@generated.part("what is returned", 3, cases=["one output", "an input too", "one of them twice", "an empty list", "another name"])
def outputs(student, rng, name):
    if name == "another name":
        written = student.source([("z", "sin", ("x",))], ["x"], ["z"], TEXT, "g")
        expect_that(isinstance(written, str) and re.search(r"^def g\(", written, re.M), "a function of the name g", written)
        x = float(rng.uniform(0.5, 1.5))
        return expect(student.apart.run(f"{written}\nf = g\n", [x], {}), [math.sin(x)], "what g returns")
    steps = [] if name == "an empty list" else live_list(rng, 4, NUMBERS)
    wanted = {"one output": ["f1"], "an input too": ["y", "f", "x"], "one of them twice": ["f", "f0", "f"],
              "an empty list": ["w", "x"]}[name]
    returned(student, rng, steps, points(rng), wanted, "The outputs, in their order; return (a,) returns a tuple.", strict=True)
