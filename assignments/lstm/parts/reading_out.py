"""Task 3: the end of a title. The readout comes back as its list, of states that are inputs here."""
import numpy as np

import ops
from xman import WengertList
from xman.grade import expect, expect_probabilities, slip
from xman.grade.lists import alike

from ..probes import read
from ..public.checks import ending
from ..solution import lstm as reference
from .lists import Listed, asked

ROWS, HIDDEN, CLASSES = 6, 4, 3
STEPS = [("one step", 1), ("two steps", 2), ("five steps", 5)]
GIVEN = "read_out of registers h1, …, e1, …: {0}"


def titles(rng, rows, steps, features, unknown=0.0):
    """One-hot titles of random lengths, at least 1; a share of their characters is unknown, and so all zeros."""
    X = np.eye(features)[rng.integers(0, features, (rows, steps))]
    lengths = rng.integers(1, steps + 1, rows)
    lengths[0] = steps
    X[np.arange(steps) >= lengths[:, None]] = 0
    X[rng.random((rows, steps)) < unknown] = 0
    return X


@ending.part("where each title ends", points=4, cases=[("six titles", 6, 5, 4), ("one title", 1, 7, 3), ("one step", 3, 1, 4)])
def where_titles_end(student, rng, kind, rows, steps, features):
    for X in (titles(rng, 9, 4, 3), titles(rng, rows, steps, features)):
        expect(student.ends(X), reference.ends(X), "e", look="of each row the last position that has a 1 in any of its columns")


@ending.part("where titles with unknown characters end", points=3, hidden=True, cases=["a third", "all of some titles"])
def unknown_characters(student, rng, kind):
    X = titles(rng, 12, 6, 4, 1 / 3)
    if kind == "all of some titles":
        X[3:5] = 0
    expect(student.ends(X), reference.ends(X), "e", look="an unknown character in the midst of a title is all zeros, and not "
           "its end; a title with no known character ends at its first position")


class ReadOut(Listed):
    """The student's readout, of random states; each row ends somewhere."""

    def __init__(self, student, rng, steps):
        e = np.eye(steps)[rng.integers(0, steps, ROWS)]
        states = {f"h{t}": rng.normal(size=(ROWS, HIDDEN)) for t in range(1, steps + 1)}
        inputs = {**states, **{f"e{t}": e[:, t - 1:t] for t in range(1, steps + 1)}, "W2": rng.normal(size=(HIDDEN, CLASSES)),
                  "b2": rng.normal(size=(1, CLASSES)), "y": np.eye(CLASSES)[rng.integers(0, CLASSES, ROWS)]}
        super().__init__(student.read(steps), inputs, "the list of read_out")
        self.reference = WengertList(read(reference, steps))
        self.states, self.names = np.stack(list(states.values())), list(states)
        self.last = np.einsum("nt,tnk->nk", e, self.states)


@ending.part("the state at the end", points=4, cases=[("two steps", 2), ("three steps", 3), ("five steps", 5)])
@asked(ReadOut, GIVEN)
def the_last_state(found, rng, kind, steps):
    last = found.state("last", (ROWS, HIDDEN))
    expect(last, found.last, "last", look=slip(last, [
        (found.states[-1], "this is the state after the last step: shorter titles have ended before it"),
        (found.states.sum(axis=0), "this is the sum of all states"),
        (found.states.mean(axis=0), "this is the mean of all states"),
    ], "of each row the state h_t whose e_t is 1: equation (7)"))


@ending.part("outputs that are probabilities", points=4, cases=STEPS)
@asked(ReadOut, GIVEN)
def outputs(found, rng, kind, steps):
    last, W, b = found.state("last", (ROWS, HIDDEN)), found.inputs["W2"], found.inputs["b2"]
    expect_probabilities(found.register("outputs"), (ROWS, CLASSES), "outputs")
    softmax = ops.G["softmax"]
    expect(found.values["outputs"], softmax(last @ W + b), "outputs, from your last", look=slip(found.values["outputs"], [
        (softmax(last @ W), "the biases b2 are missing"),
        (softmax(np.maximum(last @ W + b, 0)), "the scores have gone through a relu: softmax is the only activation here"),
        (softmax(np.tanh(last @ W + b)), "the scores have gone through a tanh: softmax is the only activation here"),
    ], "equation (8): softmax of last·W2 + b2"))


@ending.part("the loss", points=3, cases=STEPS)
@asked(ReadOut, GIVEN)
def the_loss(found, rng, kind, steps):
    p, loss = found.register("outputs"), found.state("loss", ())
    expect_probabilities(p, (ROWS, CLASSES), "outputs")
    with np.errstate(all="ignore"):
        rows = -np.log(np.sum(p * found.inputs["y"], axis=1))
    expect(loss, rows.mean(), "loss, from your outputs", look=slip(loss, [
        (rows.sum(), "this is the sum over the rows, and their mean is wanted")],
        "the mean over the rows of crossEntropy, the prediction first and then y"))


@ending.part("the delta of every state", points=2, cases=STEPS)
@asked(ReadOut, GIVEN)
def deltas(found, rng, kind, steps):
    expect_probabilities(found.register("outputs"), (ROWS, CLASSES), "outputs")
    near = alike(found.register("last"), found.last)
    found.expect_deltas([*found.names, "W2", "b2"], found.reference, share=near / 3)
