"""What is graded of tasks 1 and 2, and with checking.py and training.py of all five.

Every array is drawn fresh. What a task builds on is the reference, or comes in through its arguments.
"""
import numpy as np
from scipy.stats import kstest

from xman.grade import Wrong, expect, expect_mapping, expect_probabilities, expect_share, expect_that, scale, slip
from xman.grade.compare import given as context
from xman.grade.lists import MODEL, deltas_of, from_given, read_list, values_of, work_of
from xman.wengert import WengertList

from . import checking, training  # noqa: F401 (their parts)
from .digits import log_probabilities
from .public.checks import OUTPUTS, assignment, judging, model  # noqa: F401 (the grader asks for it)
from .solution import logreg as reference

LEAVES = "X", "y", "W", "b"
LOSS = [*OUTPUTS[:2], ("z2", "softmaxCrossEntropy", ("scores", "y")), ("loss", "mean", ("z2",))]
HOUSE = [("z1", "mul", ("h", "w")), ("z2", "half", ("h",)), ("z3", "mul", ("z2", "w")), ("z4", "half", ("z3",)),
         ("area", "add", ("z1", "z4")), ("z5", "subtract", ("area", "target")), ("loss", "square", ("z5",))]
NUMBERS = [("z1", "sin", ("a",)), ("f", "mul", ("z1", "c")), ("g", "add", ("f", "a"))]


# ---- 1: the model ---------------------------------------------------------------------------------------------------

def of_model(student, rng, name, given, features=5, classes=4, penalty=0.0, cut=False):
    """(the list of a register of a fresh model, its values, its last register). cut: what follows from scores, given then."""
    lines, _, _ = parts_of(student.register(name, features, classes, int(rng.integers(2 ** 31)), penalty))
    steps = read_list(lines, LEAVES, MODEL | {"stopGradient"}, most=100, what=f"the list of {name}")
    if cut and "scores" not in [dst for dst, _, _ in steps]:
        raise Wrong(f"the list of {name} goes through a register called scores", "; ".join(repr(steps).splitlines()),
                    f"Set self.scores, and compute {name} from it.")
    expect_that(not cut or steps[-1][0] != "scores", f"{name}, computed from scores", f"{name} is the register scores itself",
                "outputs are the softmax of scores.")
    steps = from_given(steps, steps[-1][0], ["scores"]) if cut else steps
    return steps, values_of(steps, given, f"the list of {name}"), steps[-1][0]


def drawn(rng, n=6, features=5, classes=4, spread=2.0):
    """Values for all registers that a list may read."""
    return {"X": rng.normal(size=(n, features)), "y": rng.integers(classes, size=n), "W": rng.normal(size=(features, classes)),
            "b": rng.normal(size=(1, classes)), "scores": rng.normal(size=(n, classes)) * spread}


@model.part("the parameters to begin with", points=5, cases=["names and shapes", "W", "b", "from rng"])
def parameters_to_begin_with(student, rng, case):
    seed, shapes = int(rng.integers(2 ** 31)), {"W": (3, 2000), "b": (1, 2000)}
    made = begun(student, seed, shapes)
    if case == "names and shapes":
        expect_that(len(made) == 2, "the parameters W and b alone", list(made), "What is not trained is an input.")
        for name, shape in shapes.items():
            expect_that(made[name].shape == shape, f"{name} of shape {shape} for 3 features and 2000 classes",
                        f"shape {made[name].shape}")
    elif case == "from rng":
        expect(begun(student, seed, shapes), made, "the same seed, the same parameters", "Draw from the rng that was given.")
        other = begun(student, seed + 1, shapes)
        for name in shapes:
            expect_that(not np.array_equal(other[name], made[name]), f"another {name} for another rng", other[name],
                        "Draw from the rng that was given, each time a model is made.")
    else:
        u = made[case].ravel() / (np.sqrt(6 / 2003) if case == "W" else 0.1)
        expect_that(np.abs(u).max() <= 1 + 1e-9, f"{case} within its bounds",
                    f"{np.abs(u).max():.4g} times as large, for 3 features and 2000 classes",
                    "Where to begin, in the hand-out: is it features + classes, under a root?" if case == "W" else None)
        expect_that(kstest(u, "uniform", (-1, 2)).pvalue > 1e-7 and abs(np.sum(u[1:] * u[:-1])) < 2 * np.sqrt(u.size),
                    f"{case} spread evenly over all of its interval", f"from {made[case].min():.4g} to {made[case].max():.4g}",
                    "Are both ends those of the hand-out? rng.uniform(low, high, shape) is even, rng.normal is not.")


def begun(student, seed, names):
    """The parameters of a fresh model, which are arrays of finite numbers."""
    made = parts_of(student.register("loss", 3, 2000, seed, 0.0))[2]
    expect_mapping(made, [], "the parameters")
    for name in names:
        expect_that(name in made, f"a parameter {name}", f"parameters: {', '.join(map(str, made)) or 'none'}",
                    f"self.{name} = f.param(default=…) makes one; f.input does not.")
        right = isinstance(made[name], np.ndarray) and made[name].size and np.isfinite(made[name]).all()
        expect_that(right, f"{name}: an array of finite numbers", made[name], "self.W = f.param(default=…)")
    return made


def parts_of(came):
    """The three things that `register` returns."""
    right = isinstance(came, tuple) and len(came) == 3
    expect_that(right, "(list, name, parameters), from `register` as it was handed out", came)
    return came


@model.part("scores and their adjoints", points=6, cases=[("one row", 1), ("six rows", 6)])
def scores(student, rng, name, n):
    given, delta = drawn(rng, n), rng.normal(size=(n, 4))
    steps, values, last = of_model(student, rng, "scores", given)
    expect(values[last], given["X"] @ given["W"] + given["b"], "scores", "scores = X·W + b, b added to each row.")
    deltas = deltas_of(steps, values, last, ["W", "b"], "the list of scores", delta)
    expect(deltas["W"], given["X"].T @ delta, "the delta of W for a random delta of scores")
    expect(deltas["b"], delta.sum(axis=0, keepdims=True), "the delta of b for a random delta of scores")


@model.part("outputs are probabilities", points=5, cases=[("one row", 1), ("six rows", 6)])
def outputs(student, rng, name, n):
    given = drawn(rng, n)
    _, values, last = of_model(student, rng, "outputs", given, cut=True)
    expect_probabilities(values[last], (n, 4), "outputs for random scores")
    expect(values[last], np.exp(log_probabilities(given["scores"])), "outputs for random scores", "outputs = f.softmax(scores)")


@model.part("the loss and its derivative", points=7, cases=[("one row", 1), ("six rows", 6), ("forty rows", 40)])
def loss(student, rng, name, n):
    judge_loss(student, rng, drawn(rng, n), "the loss of random scores")


@model.part("the loss of large scores", points=3)
def large_scores(student, rng):
    judge_loss(student, rng, drawn(rng, spread=1000.0), "the loss of scores in the thousands",
               "softmax has zeros in it here, and log 0 is −∞. The operators of ops have the two in one, from the scores.")


def judge_loss(student, rng, given, what, look=None):
    steps, values, last = of_model(student, rng, "loss", given, cut=True)
    n, logs = len(given["y"]), log_probabilities(given["scores"])
    expect_that(np.shape(values[last]) == (), f"{what}: one number", f"an array of shape {np.shape(values[last])}",
                "Each row has a loss; the loss of a batch is their mean.")
    own = -logs[np.arange(n), given["y"]]
    expect(values[last], own.mean(), what, slip(values[last], [
        *[(own.sum(), "This is the sum over the rows, and their mean is wanted.")] * (n > 1),
        (-own.mean(), "The logarithm of a probability is below 0: where is the minus?"),
        (-log_probabilities(np.exp(logs))[np.arange(n), given["y"]].mean(), "softmax is taken twice: crossEntropy takes outputs, "
         "softmaxCrossEntropy takes scores.")],
        look or "The mean over the rows of −log of the probability of the row's own class, which y tells."))
    target = np.arange(4) == given["y"][:, None]
    expect(deltas_of(steps, values, last, ["scores"], "the list of loss")["scores"], (np.exp(logs) - target) / n,
           "the delta of scores", look or "Bishop (8.11) for each row; and what does the mean do to it?")


@model.part("the penalty", points=4, cases=[("0.3", 0.3), ("2", 2.0)])
def penalty(student, rng, name, weight):
    given, losses = drawn(rng), []
    for p in (0.0, weight):
        steps, values, last = of_model(student, rng, "loss", given, penalty=p, cut=True)
        losses.append(values[last])
        norms = [line for line in steps if line[1] == "frobeniusNorm"]
        expect_that(p or not norms, "no norm in the list where the penalty is 0", f"{len(norms)} lines", "if penalty: …")
        expect_that(np.shape(losses[-1]) == (), "the loss: one number", f"an array of shape {np.shape(losses[-1])}")
        expect_that(np.isfinite(losses[-1]), "a loss that is a finite number", losses[-1],
                    "Which argument of crossEntropy is the prediction? It comes first.")
    norm = np.sqrt(np.sum(given["W"] ** 2))
    expect(losses[1] - losses[0], weight * norm, f"what a penalty of {weight} adds to the loss",
           "penalty · frobeniusNorm(W): the notes, §1.2. The norm has a root.", tolerance=1e-8)
    expect(deltas_of(steps, values, last, ["W"], "the list of loss")["W"], weight * given["W"] / norm,
           "the delta of W from the penalty alone", tolerance=1e-8)


@model.part("the work: lines and operations", points=2)
def lines_and_operations(student, rng):
    given = drawn(rng, 50, 64, 10)
    steps, values, last = of_model(student, rng, "loss", given, features=64, classes=10)
    right = values_of(WengertList(LOSS), given)
    expect(values[last], right["loss"], "the loss", "Operations are counted where the loss is right: see the parts above.")
    lines, flops = work_of(steps, values)
    _, least = work_of(WengertList(LOSS), right)
    expect_share(min(scale(lines, none=20, full=9), scale(flops / least, none=2, full=1.3)),
                 "a loss of at most 9 lines, with little more than the operations that it takes",
                 f"{lines} lines, {flops / least:.2f} times the operations", "Is something computed twice? "
                 "print(model.operationSequence(model.loss)): each line is one operator.")


# ---- 2: loss, gradient and accuracy ---------------------------------------------------------------------------------

@judging.part("value and gradient", points=6, cases=["the house of the notes", "softmax regression", "a list of numbers"])
def value_and_gradient(student, rng, case):
    steps, names = {"the house of the notes": (HOUSE, ["w", "h"]), "softmax regression": (LOSS, ["W", "b"]),
                    "a list of numbers": (NUMBERS, ["a"])}[case]
    given = drawn(rng) if steps is LOSS else {name: float(rng.uniform(0.5, 2)) for name in ("h", "w", "target", "a", "c")}
    steps = [*steps, ("total", "add", (steps[-1][0], "offset"))]  # beside what is large no difference quotient sees anything
    values = {name: {**given, "offset": 1e18}[name] for name in WengertList(steps).inputs}
    want = reference.value_and_gradient(steps, values, names)
    got = student.value_and_gradient(steps, values, names)
    expect_that(isinstance(got, (tuple, list)) and len(got) == 2, "a pair (value, gradient)", got, "return value, gradient")
    expect(got, want, "(value, gradient)",
           "Differentiated is the last register of the list, and its delta begins as 1 (the notes, §1.3).")


@judging.part("a parameter that is not read", points=1, hidden=True)
def not_read(student, rng):
    values = {**drawn(rng), "V": rng.normal(size=(2, 3)), "h": 1.5}
    steps = [*LOSS, ("total", "add", ("loss", "offset"))]
    got = student.value_and_gradient(steps, {**values, "offset": 1e18}, ["W", "V", "h"])
    expect_that(isinstance(got, (tuple, list)) and len(got) == 2, "two things: the value, and the gradient", got,
                "return value, gradient")
    want = reference.value_and_gradient(LOSS, values, ["W"])[1]
    expect(got[1], {**want, "V": np.zeros((2, 3)), "h": 0.0}, "the gradient", "The list does not read V.")


@judging.part("predict gives the outputs", points=3, cases=[("one row", 1), ("nine rows", 9)])
def predict(student, rng, name, n):
    given = drawn(rng, n)
    names = {"W": "V", "b": "c"} if n > 1 else {"W": "W", "b": "b"}
    steps = [(dst, op, tuple(names.get(a, a) for a in args)) for dst, op, args in OUTPUTS]
    got = student.predict(steps, {names[name]: given[name] for name in names}, given["X"])
    expect_probabilities(got, (n, 4), "outputs")
    want = np.exp(log_probabilities(given["X"] @ given["W"] + given["b"]))
    expect(got, want, "outputs", "The values of the list's last register.")


def judged(rng, n, classes=5):
    """Probabilities of n rows, and classes of which about half are the most probable."""
    p = np.exp(log_probabilities(rng.normal(size=(n, classes)) * 2))
    return p, np.where(rng.random(n) < 0.5, p.argmax(axis=1), rng.integers(classes, size=n))


@judging.part("the mean loss", points=3, cases=[("one row", 1), ("as many rows as classes", 5), ("fifty rows", 50)])
def mean_loss(student, rng, name, n):
    p, y = judged(rng, n)
    expect(student.mean_loss(p, y), float(-np.log(p[np.arange(n), y]).mean()), "the mean loss",
           "From each row the probability of its own class: outputs[0, y[0]], outputs[1, y[1]], …")


@judging.part("the accuracy", points=3, cases=[("three rows", 3), ("as many rows as classes", 5), ("fifty rows", 50)])
def accuracy(student, rng, name, n):
    for _ in range(30):  # a share of a few rows can be guessed, now and then
        p, y = judged(rng, n)
        y[:2] = p[0].argmax(), p[1].argmin()  # one is right, one wrong
        look = "The most probable class of each row, along axis 1, compared with its own; then the share of those that are equal."
        with context(failed=look):
            got = student.accuracy(p, y)
        right = float((p.argmax(axis=1) == y).mean())
        expect(got, right, "the accuracy", slip(got, [(100 * right, "A share is a number from 0 to 1, not per cent.")], look))
