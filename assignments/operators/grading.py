"""What is graded of the assignment operators: fresh arrays, values, and every element of every gradient."""
import numpy as np

from xman.grade import expect, given

from . import grading_5_to_7
from .answers import array, call_of, expect_kept, expect_rule, expect_value, far, lengths
from .public.checks import ARGUMENTS, assignment, broadcasting, entries, products, sums
from .solution import operators as reference

__all__ = ["assignment", "grading_5_to_7"]


# ---- task 1: unbroadcast ---------------------------------------------------------------------------------------------

def shapes_of(rng, kind):
    """(the shape of d, the shape it came from) for "(n, m) to (m,)", with lengths for the letters."""
    letters = dict(zip("nmk", lengths(rng, 3), strict=True), **{"1": 1})
    return [tuple(letters[c] for c in part if c in letters) for part in kind.split("to")]


@broadcasting.part("unbroadcast: three axes", points=2, hidden=True, cases=[
    "(k, n, m) to (n, 1)", "(k, n, m) to (k, 1, m)", "(k, n, m) to (1, n, 1)", "(k, 1, m) to (1, m)"])
@broadcasting.part("unbroadcast", points=8, cases=[
    "(n, m) to (n, m)", "(n, m) to (m,)", "(n, m) to (1, m)", "(n, m) to (n, 1)", "(n, m) to (1, 1)", "(n, m) to (1,)",
    "(n, m) to ()", "(m,) to (1,)"])
def undone(student, rng, kind):
    shape, original = shapes_of(rng, kind)
    d = array(rng, *shape)
    look = (f"{original} against {shape}, from the right: axes that are missing there were added, those of length 1 may have "
            "been stretched. Sum over both sorts, and leave the result in the first shape.")
    with given(call_of("unbroadcast", ["d", "shape"], (d, original))):
        expect(student.unbroadcast(d, original), reference.unbroadcast(d, original), "the sum over what broadcasting added", look)
    if kind == "(n, m) to (n, m)":  # as it is, as long as that is not all that it can do
        undone(student, rng, "(n, m) to (m,)")


# ---- task 2: entry by entry ------------------------------------------------------------------------------------------

TERMS = {"add": "How much does x + y change when one of the two changes by a little?",
         "mul": "The derivative of x·y with respect to the one is the other; the chain rule multiplies it by delta.",
         "square": "The chain rule: delta times the derivative at x.",
         "relu": "Where x is positive delta goes through, elsewhere nothing does.",
         "tanh": "out is tanh x already: Bishop, equation (8.16)."}


@entries.part("entry by entry: values", points=4, cases=list(TERMS))
def values_of_entries(student, rng, op):
    n, m = lengths(rng)
    args = (array(rng, n, m), array(rng, m)) if op in ("add", "mul") else (array(rng, n, m),)
    expect_value(student, op, args, "Entry by entry: the product is not that of matrices." if op == "mul" else None)


@entries.part("entry by entry: rules", points=7, cases=["add_x", "add_y", "mul_x", "mul_y", "square_x", "relu_x", "tanh_x"])
def rules_of_entries(student, rng, rule):
    n, m = lengths(rng)
    shapes = [(n, m)] * (2 if rule[:3] in ("add", "mul") else 1)
    for args in ([array(rng, *shape) for shape in shapes], far(rng, rule[:-2], *shapes)):
        expect_rule(rng, student, rule, args, TERMS[rule[:-2]], unbroadcast=True)


SHAPES = ["(n, m) with (m,)", "(n, m) with (1, m)", "(n, 1) with (m,)", "(n, m) with a number"]


@entries.part("entry by entry: rules that undo a broadcast", points=8, cases=[(f"{op}: {kind}", op, kind) for op in ("add", "mul")
                                                                             for kind in SHAPES])
def rules_undo_the_broadcast(student, rng, name, op, kind):
    n, m = lengths(rng)
    shapes = {"(n, m) with (m,)": [(n, m), (m,)], "(n, m) with (1, m)": [(n, m), (1, m)], "(n, 1) with (m,)": [(n, 1), (m,)],
              "(n, m) with a number": [(n, m), ()]}[kind]
    look = f"An entry that was used many times gets the sum of what all its uses send back. {TERMS[op]}"
    for args in ([array(rng, *shape) for shape in shapes], far(rng, op, *shapes[::-1])):
        for rule in (f"{op}_x", f"{op}_y"):
            expect_rule(rng, student, rule, [x if np.shape(x) else float(x) for x in args], look, unbroadcast=True)


@entries.part("entry by entry: relu at 0, tanh far from 0", points=1, hidden=True, cases=["relu", "tanh"])
def corners(student, rng, op):
    x = np.array([[0.0, -0.0, 1.5], [-2.0, 0.0, 0.5]]) if op == "relu" else np.array([[800.0, -1000.0, 0.5]])
    expect_value(student, op, (x,))
    expect_rule(rng, student, f"{op}_x", (x,), TERMS[op])


@entries.part("entry by entry: the arguments stay as they are", points=2, cases=["relu", "square_x", "relu_x", "tanh_x"])
def entries_keep(student, rng, name):
    expect_kept(rng, student, name)


# ---- task 3: dot -----------------------------------------------------------------------------------------------------

KINDS = ["matrix · matrix", "matrix · vector", "vector · matrix", "vector · vector"]


def factors(rng, kind, at=lambda rng, op, *shapes: [array(rng, *shape) for shape in shapes]):
    """Two arrays that can be multiplied, with lengths that all differ. at: where they are drawn."""
    n, k, m = lengths(rng, 3)
    left, right = kind.split(" · ")
    return at(rng, "dot", (n, k) if left == "matrix" else (k,), (k, m) if right == "matrix" else (k,))


@products.part("dot: values", points=2, cases=KINDS)
def values_of_products(student, rng, kind):
    expect_value(student, "dot", factors(rng, kind), "The last axis of a is summed against the first of b.")


def look_at_product(a, b):
    """What to think of at a product of these."""
    if a.ndim == b.ndim == 2:
        return "(n, k)·(k, m) gives (n, m): which product of delta (n, m) with the other factor, transposed, has that shape?"
    return "Write one entry of out as a sum and differentiate it: which entries of delta meet which entries of the other factor?"


@products.part("dot: the rule for b", points=5, cases=[(kind, "dot_b") for kind in KINDS])
@products.part("dot: the rule for a", points=5, cases=[(kind, "dot_a") for kind in KINDS])
def rules_of_products(student, rng, kind, rule):
    for a, b in (factors(rng, kind), factors(rng, kind, far)):
        expect_rule(rng, student, rule, (a, b), look_at_product(a, b))


@products.part("dot: square matrices, rows and columns", points=2, hidden=True, cases=["dot_a", "dot_b"])
def square_matrices(student, rng, rule):
    for left, right in (((3, 3), (3, 3)), ((1, 3), (3, 1)), ((4, 1), (1, 2))):
        a, b = far(rng, "dot", left, right)
        expect_rule(rng, student, rule, (a, b), look_at_product(a, b))


# ---- task 4: sums ----------------------------------------------------------------------------------------------------

AXES = {"of all": None, "over 0": 0, "over 1": 1, "over -1": -1}
SUMS = [*((f"{op} {kind}", op, axis) for op in ("total", "mean") for kind, axis in AXES.items()),
        ("frobeniusNorm", "frobeniusNorm")]
SPREAD = {"total": "Every entry of x is in the sum once: each gets the delta of the sum that it went into.",
          "mean": "As for the sum, and how much does one of n entries move their mean?",
          "frobeniusNorm": "The derivative of √s is 1/(2√s), and s is a sum of squares; √s is out."}


@sums.part("sums: values", points=3, cases=SUMS)
def values_of_sums(student, rng, name, op, *axis):
    look = "The axis that is summed over goes: (n, m) over 0 gives (m,), over all a number."
    expect_value(student, op, (array(rng, *lengths(rng)), *axis), look)


@sums.part("sums: rules", points=9, cases=SUMS)
def rules_of_sums(student, rng, name, op, *axis):
    shape, back = lengths(rng), " delta lacks the axis that was summed over; with the axis back, of length 1, it broadcasts."
    for x in (array(rng, *shape), *far(rng, op, shape)):
        expect_rule(rng, student, f"{op}_{ARGUMENTS[op][0]}", (x, *axis), SPREAD[op] + (back if name[-1] == "1" else ""))


@sums.part("sums: three axes, and the norm of zeros", points=2, hidden=True, cases=["total", "mean", "frobeniusNorm"])
def corners_of_sums(student, rng, op):
    if op == "frobeniusNorm":
        for A in (np.zeros((2, 3)), *far(rng, "frobeniusNorm", (2, 3))):
            expect_rule(rng, student, "frobeniusNorm_A", (A,), SPREAD[op])
    else:
        for axis in (0, 1, 2):
            expect_rule(rng, student, f"{op}_x", (*far(rng, op, lengths(rng, 3)), axis), SPREAD[op])
