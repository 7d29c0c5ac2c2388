"""Task 2: unrolling. The model comes back as the list that it makes around another cell and read_out than the student's."""
import numpy as np

from xman import WengertList
from xman.grade import expect, expect_mapping, expect_share, expect_that, scale, told

from ..probes import unrolled
from ..public.checks import unrolling
from ..solution import lstm as reference
from .lists import Listed, asked

ROWS, FEATURES, HIDDEN, CLASSES = 4, 3, 5, 2
SHAPES = {"Wx": (FEATURES, HIDDEN), "Uh": (HIDDEN, HIDDEN), "bias": (1, HIDDEN), "W2": (HIDDEN, CLASSES), "b2": (1, CLASSES)}
GIVEN = "LSTM(parameters, {1}, cell, read_out) with a cell of the grader's"


def other_cell(rng):
    """A recurrent cell of two states that is no LSTM, as lines from x, h, c to next_h and next_c."""
    act, squash = rng.permutation(["tanh", "sigmoid", "sin"])[:2]
    return [("a1", "dot", ("x", "Wx")), ("a2", "dot", ("h", "Uh")), ("a3", "add", ("a1", "a2")), ("a4", "add", ("a3", "bias")),
            ("a5", str(act), ("a4",)), ("a6", str(squash), ("c",)), ("next_c", "add", ("a5", "a6")),
            ("next_h", "mul", ("next_c", "a5"))]


def fresh(rng):
    """Parameters of that cell."""
    return {name: rng.normal(0, 0.7, shape) for name, shape in SHAPES.items()}


class Unrolled(Listed):
    """The student's LSTM around that cell, its parameters and inputs fresh once more."""

    def __init__(self, student, rng, steps):
        defaults, cell = fresh(rng), other_cell(rng)
        plain = student.unrolled(defaults, steps, cell)
        expect_mapping(plain, ["steps"], "the model")
        data = {f"{letter}{t}": rng.normal(size=(ROWS, size)) for letter, size in [("X", FEATURES), ("e", 1)]
                for t in range(1, steps + 1)}
        states = {name: rng.normal(size=(1, HIDDEN)) for name in ("h0", "c0")}
        inputs = {**data, **states, "y": rng.normal(size=(ROWS, CLASSES)), **fresh(rng)}
        super().__init__(plain["steps"], inputs, "the model's list")
        self.reference = WengertList(unrolled(reference, defaults, steps, cell)["steps"])


@unrolling.part("inputs, parameters and first states", points=5, cases=[("two steps", 2), ("four steps", 4)])
@told(GIVEN)
def leaves(student, rng, kind, steps):
    own_defaults = fresh(rng)
    plain = student.unrolled(own_defaults, steps, other_cell(rng))
    expect_mapping(plain, ["inputs", "params", "defaults"], "the model")
    every = [f"{letter}{t}" for letter in "Xe" for t in range(1, steps + 1)]
    for word, names in [("inputs", ["y", "h0", "c0", *every]), ("params", list(own_defaults))]:
        own = plain[word]
        expect_that(isinstance(own, list) and sorted(map(str, own)) == sorted(names), f"{word} called {', '.join(names)}", own,
                    "what is trained is an f.param(…), what is data an f.input(); each parameter is made once, before the loop")
    zeros = {name: np.zeros((1, HIDDEN)) for name in ("h0", "c0")}
    expect(plain["defaults"], {**own_defaults, **zeros}, "the defaults",
           look="f.param(default=…) of the array that was handed in; h0 and c0 begin as zeros (1, hidden)")


@unrolling.part("the states after each step", points=8, cases=[("one step", 1), ("two steps", 2), ("five steps", 5)])
@asked(Unrolled, GIVEN)
def states(found, rng, kind, steps):
    want = Listed(found.reference, found.inputs, "").values
    for t in range(1, steps + 1):
        for letter in "hc":
            name = f"{letter}{t}"
            same = next((k for k in want if k[0] in "hcX" and k != name and k[1:].isdigit()
                         and np.array_equal(want[k], found.register(name))), None)
            expect(found.values[name], want[name], name, look=f"this is {same}" if same else
                   f"{name} is cell(X{t}, h{t - 1}, c{t - 1}, p): is it that X, and are these the states just before?")


@unrolling.part("deltas of shared weights add up over time", points=6, cases=[("three steps", 3), ("six steps", 6)])
@asked(Unrolled, GIVEN)
def shared(found, rng, kind, steps):
    found.expect_deltas(["Wx", "Uh", "bias", "h0", "c0"], found.reference)


@unrolling.part("each step adds the same lines", points=3, hidden=True)
@told("LSTM(parameters, steps, cell, read_out) of 2 and of 8 steps")
def growth(student, rng):
    """Counted: the lines that 6 steps more bring. All points up to 3 lines a step more than needed, none at twice as many."""
    few, many = (Unrolled(student, rng, steps) for steps in (2, 8))
    many.expect_values([f"{letter}{t}" for t in range(1, 9) for letter in "hc"], many.reference)
    added, needed = len(many.steps) - len(few.steps), len(many.reference) - len(few.reference)
    expect_share(scale(added, none=2 * needed, full=needed + 18), f"about {needed} lines more for 6 steps more", f"{added} lines")
