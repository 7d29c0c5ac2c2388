"""The checks that you have: run `python check.py` as often as you like. They hold examples; what is graded is drawn fresh."""
import numpy as np

from xman import check
from xman.grade import Assignment, expect, expect_that, given, slip
from xman.grade.lists import deltas_of, read_list, values_of

assignment = Assignment("logreg", title="Softmax regression", packages=["numpy", "xman"])
model = assignment.task(1, "the model")
judging = assignment.task(2, "loss, gradient and accuracy")
checking = assignment.task(3, "the gradient check")
batching = assignment.task(4, "minibatches")
descent = assignment.task(5, "descent")

TRIANGLE = [("z1", "mul", ("h", "w")), ("area", "half", ("z1",))]
OUTPUTS = [("z1", "dot", ("X", "W")), ("scores", "add", ("z1", "b")), ("outputs", "softmax", ("scores",))]
X = np.arange(14.0).reshape(7, 2)
Y = np.arange(7)
ZEROS = {"X": X, "y": Y % 3, "W": np.zeros((2, 3)), "b": np.zeros((1, 3))}
SMALL = {"X": X / 14, "y": Y % 3, "W": np.array([[1.0, 2.0, 2.0], [0.0, 0.0, 0.0]]), "b": np.array([[0.1, -0.2, 0.3]])}


def evaluated(student, name, values, penalty=0.0):
    """(the list of a register of the student's model, all values, the last register) for these inputs and parameters."""
    lines, last, _ = student.register(name, 2, 3, 0, penalty)
    with given(f"the list of {name}, of a model with penalty {penalty:g}", **values):
        steps = read_list(lines, list(values), what=f"the list of {name}")
        for dst, op, args in steps:
            expect_that("rossEntropy" not in op or args[0] != "y", f"the prediction first in {op}, and then y",
                        f"{dst} = {op}({', '.join(map(str, args))})", "It is the prediction whose logarithm is taken.")
        values = values_of(steps, values, f"the list of {name}")
        if name == "loss":
            expect_that(np.shape(values[last]) == (), "a loss that is one number", f"an array of shape {np.shape(values[last])}",
                        "Each row has a loss; the loss is the mean over the rows.")
            expect_that(np.isfinite(values[last]), "a loss that is a finite number", values[last],
                        "Which argument of crossEntropy is the prediction? It comes first.")
    return steps, values, last


@model.check("W and b are parameters of the right shapes")
def shapes(student, rng):
    _, _, parameters = student.register("loss", 5, 3, 0)
    expect_that(set(parameters) == {"W", "b"}, "two parameters, W and b", sorted(parameters), "self.W = f.param(default=…)")
    for name, shape in (("W", (5, 3)), ("b", (1, 3))):
        expect_that(np.shape(parameters[name]) == shape, f"{name} of shape {shape}", f"shape {np.shape(parameters[name])}")


@model.check("with all parameters 0 the loss is log(classes)")
def loss_of_nothing(student, rng):
    _, values, last = evaluated(student, "loss", ZEROS)
    with given("the list of loss, of a model with penalty 0", **ZEROS):
        expect(values[last], np.log(3), "the loss", slip(values[last], [
            (7 * np.log(3), "The loss is the mean over the rows, not their sum."),
            (-np.log(3), "−log of a probability is positive: where is the minus?")],
            "Every class has the probability 1/3, so each row's loss is −log(1/3); the loss is the mean over the rows."))


@model.check("with all parameters 0 every class has the same probability")
def outputs_of_nothing(student, rng):
    _, values, last = evaluated(student, "outputs", ZEROS)
    with given("the list of outputs", **ZEROS):
        expect(values[last], np.full((7, 3), 1 / 3), "the outputs", "The softmax of scores, of each row.")


@model.check("where W is (1 2 2; 0 0 0), a penalty of 0.5 adds 1.5 to the loss")
def penalty(student, rng):
    (_, without, last), (_, penalised, name) = (evaluated(student, "loss", SMALL, p) for p in (0.0, 0.5))
    added = penalised[name] - without[last]
    expect(added, 1.5, "what the penalty adds", slip(added, [
        (4.5, "Is the norm squared here? It has a root: √(1 + 4 + 4) = 3."), (3.0, "The norm, but not its weight 0.5."),
        (0.0, "Nothing: is penalty in the loss?"), (0.5 * np.sqrt(9.14), "Is the norm of b in it, too? Only W is penalised.")],
        "penalty · frobeniusNorm(W), and √(1 + 4 + 4) = 3"))


@model.check("the gradient of the loss agrees with its difference quotients")
def gradient(student, rng):
    steps, values, last = evaluated(student, "loss", SMALL, 0.5)
    with given("the list of loss, of a model with penalty 0.5", **SMALL):
        deltas_of(steps, values, last, ["W", "b"], "the list of loss")
        report = check(steps, SMALL, wrt=["W", "b"])
        expect_that(report.ok, "no element that disagrees", "; ".join([*report.misshapen, *map(str, report.wrong[:3])]))


@judging.check("the triangle of the notes at h = 3, w = 6")
def triangle(student, rng):
    got = student.value_and_gradient(TRIANGLE, {"h": 3.0, "w": 6.0}, ["h", "w"])
    expect(got, (9.0, {"h": 3.0, "w": 1.5}), "(value, gradient)", "The register to start from is that of the last line.")


@judging.check("outputs for one row")
def one_row(student, rng):
    parameters = {"W": np.array([[np.log(3.0), 0.0]]), "b": np.zeros((1, 2))}
    expect(student.predict(OUTPUTS, parameters, np.ones((1, 1))), np.array([[0.75, 0.25]]), "the outputs",
           "The list's last register, with X among its inputs.")


@judging.check("loss and accuracy of two rows")
def two_rows(student, rng):
    outputs, y = np.array([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]]), np.array([0, 1])
    loss = student.mean_loss(outputs, y)
    expect(loss, np.log(4), "the mean of log 2 and log 8", slip(loss, [
        (2 * np.log(4), "The mean over the rows, not their sum.")]))
    with given(failed="The most probable class of each row: along axis 1."):
        got = student.accuracy(outputs, y)
    expect(got, 0.5, "the accuracy", slip(got, [(50, "A share is a number from 0 to 1, not per cent.")],
                                          "The first row is right, the second is taken for class 2."))


@checking.check("difference quotients of a² + 3ab at a = 2, b = (1, −1)")
def quotients(student, rng):
    got = student.difference_quotients(lambda p: p["a"][0] ** 2 + 3 * p["a"][0] * p["b"].sum(),
                                       {"a": np.array([2.0]), "b": np.array([1.0, -1.0])}, 0.1)
    expect(got, {"a": np.array([4.0]), "b": np.array([6.0, 6.0])}, "the quotients",
           "Of a polynomial of degree 2 central differences are exact, whatever ε is.", tolerance=1e-9)


@checking.check("one element of four disagrees")
def one_of_four(student, rng):
    right = np.array([[1.0, 2.0], [3.0, 4.0]])
    got = student.disagreements({"W": right + [[0, 0], [0, 0.01]]}, {"W": right}, 1e-6)
    expect_that(isinstance(got, list) and all(isinstance(place, (list, tuple)) and len(place) == 2 for place in got),
                "a list of pairs (name, index)", got)
    expect(got, [("W", (1, 1))], "the places", "It is [('W', (1, 1))]: a name, and an index of whole numbers.")


@batching.check("seven rows in minibatches of three")
def seven_rows(student, rng):
    (epoch,) = student.epochs_of(X, Y, 3, 0, 1)
    for batch in epoch:
        right = isinstance(batch, (list, tuple)) and len(batch) == 2 and all(isinstance(side, np.ndarray) for side in batch)
        right = right and batch[0].ndim == 2 and batch[1].ndim == 1
        expect_that(right, "pairs of arrays, rows (m, 2) and their labels (m,)", batch)
    expect([len(rows) for rows, _ in epoch], [3, 3, 1], "the sizes of the minibatches")
    rows, labels = (np.concatenate(side) for side in zip(*epoch, strict=True))
    expect(sorted(labels.tolist()), Y.tolist(), "the labels of an epoch, sorted")
    expect(rows, X[labels.astype(int)], "the rows, next to their labels", "X and y are taken in one and the same order.")


@descent.check("one step")
def one_step(student, rng):
    got = student.step({"W": np.array([[1.0, 2.0]])}, {"W": np.array([[10.0, -10.0]])}, 0.1)
    expect(got, {"W": np.array([[0.0, 3.0]])}, "the parameters", "Down the slope.")


@descent.check("training on w², to the best of three epochs")
def parabola(student, rng):
    losses = iter([0.5, 0.2, 0.9])
    got = student.train(lambda p, batch: (float((p["w"] ** 2).sum()), {"w": 2 * p["w"]}), lambda p: next(losses),
                        lambda: [("rows", "their labels")] * 2, {"w": np.array([1.0])}, 3, 0.25)
    expect(got, {"w": np.array([0.0625])}, "the parameters",
           "Each epoch halves w twice: 1 → 0.25 → 0.0625 → 0.015625. After which epoch is the validation loss the least?")


@descent.check("settings are a size and a rate")
def two_settings(student, rng):
    got = student.settings()
    expect_that(isinstance(got, dict) and set(got) == {"size", "rate"}, '{"size": …, "rate": …}', got)
    expect_that(isinstance(got["size"], int) and 1 <= got["size"] <= 400, "a size from 1 to 400", got["size"])
