"""Task 1: one step of the cell. It comes back as its list."""
import numpy as np

from xman import WengertList
from xman.grade import expect, expect_share, expect_that, scale, slip
from xman.grade.lists import alike, work_of

from ..probes import stepped
from ..public.checks import step
from ..solution import lstm as reference
from .lists import Listed, asked

ROWS, FEATURES, HIDDEN = 4, 3, 5
SHAPES = {"W": (FEATURES, HIDDEN), "U": (HIDDEN, HIDDEN), "b": (1, HIDDEN)}  # of Wi, Ui, bi and so on
FIRST = [("in the midst", ROWS), ("the first one, from states (1, hidden)", 1)]
GIVEN = "cell(x, h, c, p): {0}"


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def gate(v, letter, activation=sigmoid, state="h"):
    """A gate as it should be, of the values v; of another state, as it should not be."""
    return activation(v["x"] @ v[f"W{letter}"] + v[state] @ v[f"U{letter}"] + v[f"b{letter}"])


def new_c(v):
    """Equation (5)."""
    return gate(v, "f") * v["c"] + gate(v, "i") * gate(v, "g", np.tanh)


def without(v, function, letters):
    """(what the function gives where a parameter is missing, which one), for each parameter of these gates."""
    return [(function({**v, name: 0 * v[name]}), f"{name} is missing") for name in reference.WEIGHTS if name[1] in letters]


class Stepped(Listed):
    """One step of the student's cell, for a random x, random states and random parameters."""

    def __init__(self, student, rng, state_rows=ROWS):
        p = {name: rng.normal(0, 0.8, SHAPES[name[0]]) for name in reference.WEIGHTS}
        inputs = {"x": rng.normal(size=(ROWS, FEATURES)), "h": rng.normal(size=(state_rows, HIDDEN)),
                  "c": rng.normal(size=(state_rows, HIDDEN)), **p}
        super().__init__(student.stepped(reference.WEIGHTS), inputs, "the list of one step")
        self.reference = WengertList(stepped(reference, reference.WEIGHTS))


def one_step(student, rng, *case):
    """In the midst, whatever the case."""
    return Stepped(student, rng)


@step.part("the new cell state", points=7, cases=FIRST)
@asked(Stepped, GIVEN)
def the_cell_state(found, rng, kind, state_rows):
    v, c = found.inputs, found.state("c1", (ROWS, HIDDEN))
    i, keep, o, g, before, right = gate(v, "i"), gate(v, "f"), gate(v, "o"), gate(v, "g", np.tanh), v["c"], new_c(v)
    expect(c, right, "c1", look=slip(c, [
        *((h, "this is the hidden state: cell gives back (h, c), in this order") for h in (o * np.tanh(right), o * right)),
        (i * before + keep * g, "is it the forget gate that decides about the old, and the input gate about the new?"),
        (keep * before + g, "where is the input gate?"), (i * g, "the old cell state is forgotten altogether"),
        (before + i * g, "where is the forget gate?"), (keep * before - i * g, "what is new is subtracted"),
        (keep * before + i * gate(v, "g"), "g is not a gate but what is new: its activation is tanh, from −1 to 1"),
        (gate(v, "f", state="c") * before + i * g, "the forget gate reads the cell state; gates read h"),
        (keep * before + gate(v, "i", state="c") * g, "the input gate reads the cell state; gates read h"),
        (keep * before + i * gate(v, "g", np.tanh, "c"), "what is new reads the cell state; it reads h"),
        *((new_c({**v, f"U{letter}": v[f"U{letter}"].T}), f"U{letter} is transposed") for letter in "ifg"),
        *without(v, new_c, "ifg"),
    ], "equations (1) to (3) and (5): all gates read x and the hidden state before the step; c is kept·before + let in·new"))


@step.part("the new hidden state", points=6, cases=FIRST)
@asked(Stepped, GIVEN)
@np.errstate(all="ignore")
def the_hidden_state(found, rng, kind, state_rows):
    v, c, h = found.inputs, found.state("c1", (ROWS, HIDDEN)), found.state("h1", (ROWS, HIDDEN))
    o = gate(v, "o")
    expect(h, o * np.tanh(c), "h1, from your c1", look=slip(h, [
        (new_c(v), "this is the cell state: cell gives back (h, c), in this order"),
        (o * c, "where is the tanh of equation (6)?"), (np.tanh(c), "where is the output gate?"),
        (o * np.tanh(v["c"]), "this is of the cell state before the step: is it the new one that goes out?"),
        *((gate({**v, "c": state}, "o", state="c") * np.tanh(c), "the output gate reads the cell state; gates read h")
          for state in (v["c"], c)),
        (gate({**v, "Uo": v["Uo"].T}, "o") * np.tanh(c), "Uo is transposed"),
        *without(v, lambda v: gate(v, "o") * np.tanh(c), "o"),
    ], "equations (4) and (6): the output gate reads x and the h before the step, and lets out tanh of the new c"))


TOTAL = "weighted_sum_of_h1_and_c1"
DELTAS = [("the input gate", *"i"), ("the forget gate", *"f"), ("the output gate", *"o"), ("what is new", *"g"),
          ("the states before", "hc")]


@step.part("the gradient of every weight and state", points=8, cases=DELTAS)
@asked(one_step, GIVEN)
def the_gradient(found, rng, kind, letters):
    """Of a random combination of all elements of h1 and c1. Where these are wrong, it is worth a third if one of the two is
    right, h1 perhaps of a wrong c1; of no LSTM at all it is worth nothing."""
    h, c = (found.state(name, (ROWS, HIDDEN)) for name in ("h1", "c1"))
    near = alike(c, new_c(found.inputs)) or alike(h, gate(found.inputs, "o") * np.tanh(c))
    found.inputs.update(weights_h=rng.normal(size=(ROWS, HIDDEN)), weights_c=rng.normal(size=(ROWS, HIDDEN)))
    ending = [("part_h", "mul", ("h1", "weights_h")), ("part_c", "mul", ("c1", "weights_c")),
              ("parts", "add", ("part_h", "part_c")), (TOTAL, "sum", ("parts",))]
    names = ["h", "c"] if letters == "hc" else [f"{letter}{letters}" for letter in "WUb"]
    both = Listed([*found.steps, *ending], found.inputs, found.what)
    both.expect_deltas(names, found.reference + ending, of=TOTAL, same=["h1", "c1"], share=near / 3)


@step.part("as few lines and operations as it takes", points=4, cases=["lines", "operations"])
@asked(one_step, GIVEN)
def the_work(found, rng, kind):
    """Counted: all the points up to 28 lines (25 are needed), or a tenth more operations than needed; none at twice as many."""
    found.expect_values(["h1", "c1"], found.reference)
    values = {**found.values, **Listed(found.reference, found.inputs, "").values}
    least, own = work_of(found.reference, values), work_of(found.steps, found.values)
    if kind == "lines":
        expect_that(own.lines < 50, "a step in about 25 lines", f"{own.lines} lines", "print the list: what stands there twice?")
        expect_share(scale(own.lines, none=50, full=28), "a step in about 25 lines", f"{own.lines} lines",
                     "print the list: what stands there twice?")
        return
    expect_that(own.flops < 2 * least.flops, f"about {least.flops:,} operations", f"{own.flops:,}",
                "which product is larger than need be?")
    expect_share(scale(own.flops, none=2 * least.flops, full=1.1 * least.flops), f"about {least.flops:,} operations",
                 f"{own.flops:,}", "which product is larger than need be?")
