"""Task 3: the model. It comes back as its list, which is evaluated and differentiated here."""
import functools
from itertools import pairwise

import numpy as np

import ops
from xman import WengertList
from xman.grade import Wrong, expect, expect_mapping, expect_probabilities, expect_share, expect_that, given, scale, slip
from xman.grade.lists import MODEL, alike, expect_deltas, from_given, loss_of, read_list, values_of, work_of

from ..probes import listed
from ..public.checks import modelling
from ..solution import mlp as reference

OPERATORS = MODEL | {"stopGradient"}  # that one is let in, to be told what it does to the deltas
ACTIVATIONS = {"tanh": np.tanh, "relu": lambda a: np.maximum(a, 0)}
MODELS = [("tanh, one hidden layer", "tanh", (6, 5, 4)), ("relu, two hidden layers", "relu", (5, 7, 4, 3)),
          ("no hidden layer", "tanh", (6, 4))]
DEEP = MODELS[:2]


class Made:
    """A student's model of fresh parameters: its list, and its values where inputs and parameters are fresh again."""

    def __init__(self, student, rng, activation, sizes, penalty=0.0):
        self.given, self.parameters = fresh(rng, sizes), fresh(rng, sizes)
        self.plain = student.listed(self.given, activation, penalty)
        expect_mapping(self.plain, ["steps", "inputs", "params", "defaults"], "the model")
        self.layers, self.activation, self.penalty = len(sizes) - 1, activation, penalty
        self.inputs = {"X": rng.normal(size=(7, sizes[0])), "y": np.eye(sizes[-1])[rng.integers(0, sizes[-1], 7)]}
        self.steps = read_list(self.plain["steps"], ["X", "y", *self.parameters], OPERATORS)
        self.reference = WengertList(listed(reference, self.given, activation, penalty)["steps"])
        self.scores = rng.normal(size=(7, sizes[-1]))

    @functools.cached_property
    def values(self):
        """Those of all registers."""
        return values_of(self.steps, {**self.parameters, **self.inputs})

    def register(self, name):
        """Its value, where the model has a register of that name."""
        self.listed(name)
        try:
            return self.values[name]
        except Wrong:  # a line fails that may have nothing to do with this register
            return values_of(from_given(self.steps, name, ()), {**self.parameters, **self.inputs})[name]

    def listed(self, name):
        """Wrong unless the list has a register of that name."""
        registers = [*self.parameters, *self.inputs, *(dst for dst, _, _ in self.steps)]
        expect_that(name in registers, f"a register called {name}", f"registers {', '.join(registers)}"[:300],
                    f"self.{name} is the register self.scores itself, and has to be computed from it"
                    if name in str(self.plain.get("same")) else
                    f"outputs and loss are computed without self.{name}, so that it is not in their list")

    def outputs_and_loss(self):
        """Their values; where the lines before scores cannot be evaluated, those for scores that are drawn."""
        self.listed("outputs")
        try:
            return self.register("outputs"), self.loss()
        except Wrong:
            drawn = {"scores": self.scores, "outputs": ops.G["softmax"](self.scores)}
            rest = from_given(self.steps, "loss", drawn)
            if not rest or len(rest) == len(self.steps):
                raise
            return drawn["outputs"], loss_of(values_of(rest, {**self.parameters, **self.inputs, **drawn}))

    def loss(self):
        """Its value, where it is one number."""
        self.register("loss")
        return loss_of(self.values)


def fresh(rng, sizes):
    """Parameters for layers of these sizes."""
    return {f"{letter}{k}": rng.normal(0, 0.8, (before if letter == "W" else 1, after))
            for k, (before, after) in enumerate(pairwise(sizes), 1) for letter in "Wb"}


def part(title, points, cases, hidden=False):
    """Decorate a function of a student's model, made for each case: (name, activation, sizes) and perhaps a penalty."""
    def decorate(function):
        def judged(student, rng, name, activation, sizes, penalty=0.0):
            said = f"MLP(parameters, {activation!r}, {penalty}), the layers of sizes {', '.join(map(str, sizes))}"
            with given(said):
                made = Made(student, rng, activation, sizes, penalty)
            with given(said, **made.inputs, **made.parameters):
                return function(made)
        modelling.part(title, points, cases, hidden)(judged)
        return function
    return decorate


@part("inputs, parameters and their defaults", 5, MODELS)
def leaves(made):
    for word, names in [("inputs", ["X", "y"]), ("params", list(made.given))]:
        found = made.plain[word]
        expect_that(isinstance(found, list) and sorted(map(str, found)) == sorted(names), f"{word} called {', '.join(names)}",
                    found, "self.scores is X itself, and not what the last layer makes of it" if "scores" in found else
                    "what is trained is an f.param(…), what is data an f.input()")
    expect(made.plain["defaults"], made.given, "the defaults", look="f.param(default=…) of the array that was handed in")


@part("hidden layers", 8, DEEP)
def hidden_layers(made):
    before = made.inputs["X"]
    for k in range(1, made.layers):
        h, product, b = made.register(f"h{k}"), before @ made.parameters[f"W{k}"], made.parameters[f"b{k}"]
        expect(h, ACTIVATIONS[made.activation](product + b), f"h{k}, from {'X' if k == 1 else f'your h{k - 1}'}",
               look=about_layer(h, product, b, made.activation))
        before = h


def about_layer(h, product, b, activation):
    """Which of the usual slips gives this layer, in words."""
    act, other = ACTIVATIONS[activation], ACTIVATIONS["relu" if activation == "tanh" else "tanh"]
    return slip(h, [(act(product), "the biases are missing"), (product + b, "the activation is missing"),
                    (act(product) + b, "are the biases added behind the activation?"),
                    (act(product - b), "the biases are subtracted"),
                    (other(product + b), f"is the activation the one that was asked for, {activation!r}?")],
                "(8.5) and (8.6): the product of what comes in and W, plus the biases, and the activation of all that")


@part("outputs that are probabilities", 6, MODELS)
def outputs(made):
    n = made.layers
    W, b, last = made.parameters[f"W{n}"], made.parameters[f"b{n}"], f"h{n - 1}" if n > 1 else "X"
    scores, before = made.register("scores"), made.register(last)
    expect_that(np.shape(before) == (7, len(W)), f"{last} of shape {(7, len(W))}", f"shape {np.shape(before)}")
    expect(scores, before @ W + b, f"scores, from your {last}", look=slip(
        scores, [(before @ W, f"b{n} is missing"),
                 *((act(before @ W + b), "these have gone through an activation") for act in ACTIVATIONS.values())],
        "the product with the last weights, plus the biases, and nothing more"))
    expect_probabilities(made.register("outputs"), made.inputs["y"].shape, "outputs")
    expect(made.values["outputs"], ops.G["softmax"](scores), "outputs, from your scores", look="f.softmax(scores)")


@part("the loss", 6, [(*model, penalty) for model, penalty in zip(MODELS, (0.3, 0.05, 0.0), strict=True)])
def the_loss(made):
    (p, loss), y, penalty = made.outputs_and_loss(), made.inputs["y"], made.penalty
    expect_probabilities(p, y.shape, "outputs")
    norms = [line for line in made.steps if line[1] == "frobeniusNorm"]
    expect_that(penalty or not norms, "no norm in the list where the penalty is 0", f"{len(norms)} lines", "if penalty: …")
    with np.errstate(all="ignore"):
        rows = -np.log(np.sum(p * y, axis=1))
    norms = {letter: sum(np.sqrt(np.sum(w ** 2)) for name, w in made.parameters.items() if name[0] == letter) for letter in "Wb"}
    squares = sum(np.sum(w ** 2) for name, w in made.parameters.items() if name[0] == "W")
    expect(loss, rows.mean() + penalty * norms["W"], "loss, from your outputs", look=slip(loss, [
        (rows.mean(), "this is the mean cross entropy: where is penalty · Σ‖W‖?"),
        (rows.sum() + penalty * norms["W"], "this is the sum over the rows, and their mean is wanted"),
        (rows.mean() + norms["W"], "the norms are added without the penalty as their factor"),
        (rows.mean() + penalty * squares, "the norms are squared here: Frobenius' norm has a root"),
        (rows.mean() + penalty * sum(norms.values()), "the biases' norms are in it too; only the weights are penalised"),
    ], "the mean over the rows of crossEntropy, the prediction first and then y (the notes have the two swapped in §1.2), "
       "plus penalty · Σ‖W‖"))


@part("the gradient of every parameter", 6, [(*model, 0.2) for model in MODELS])
def gradients(made):
    """Of the reference where the losses agree; else the slope of the student's own loss, which is worth a third if the outputs
    are right, or the loss is that of the outputs as they are."""
    expect_probabilities(made.register("outputs"), made.inputs["y"].shape, "outputs")
    inputs, loss = {**made.parameters, **made.inputs}, made.loss()
    right = values_of(made.reference, inputs)
    own_loss = values_of(from_given(made.reference, "loss", ["outputs"]), {**inputs, "outputs": made.values["outputs"]})["loss"]
    near = alike(made.values["outputs"], right["outputs"]) or alike(loss, own_loss)
    expect_deltas(made.steps, made.reference, inputs, "loss", list(made.parameters), share=near / 3)


@part("each line once", 3, DEEP, hidden=True)
def each_line_once(made):
    """Counted: full credit up to six lines more than are needed, none at twice as many."""
    needed, right = len(made.reference), values_of(made.reference, {**made.parameters, **made.inputs})
    expect(made.loss(), right["loss"], "the loss", "Lines are counted where the loss is right: see the parts above.")
    lines = work_of(made.steps, made.values).lines
    expect_share(scale(lines, none=2 * needed, full=needed + 6), f"a list of about {needed} lines", f"{lines} lines",
                 "print the list: what stands there twice?")
