"""The checks that you have: run `python check.py` as often as you like. They hold examples; what is graded is drawn fresh."""
import numpy as np

from xman import check
from xman.grade import Assignment, expect, expect_that
from xman.grade.lists import read_list, values_of

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


@model.check("W and b are parameters of the right shapes")
def shapes(student, rng):
    _, _, parameters = student.register("loss", 5, 3, 0)
    expect_that(set(parameters) == {"W", "b"}, "two parameters, W and b", sorted(parameters), "self.W = f.param(default=…)")
    for name, shape in (("W", (5, 3)), ("b", (1, 3))):
        expect_that(np.shape(parameters[name]) == shape, f"{name} of shape {shape}", f"shape {np.shape(parameters[name])}")


@model.check("with all parameters 0 the loss is log(classes)")
def loss_of_nothing(student, rng):
    lines, name, _ = student.register("loss", 2, 3, 0)
    steps = read_list(lines, ["X", "y", "W", "b"])
    values = values_of(steps, {"X": X, "y": Y % 3, "W": np.zeros((2, 3)), "b": np.zeros((1, 3))})
    expect(values[name], np.log(3), "the loss", "Every class has the probability 1/3, so each row's loss is −log(1/3).")


@model.check("with all parameters 0 every class has the same probability")
def outputs_of_nothing(student, rng):
    lines, name, _ = student.register("outputs", 2, 4, 0)
    steps = read_list(lines, ["X", "y", "W", "b"], what="the list of outputs")
    values = values_of(steps, {"X": X, "y": Y % 4, "W": np.zeros((2, 4)), "b": np.zeros((1, 4))})
    expect(values[name], np.full((7, 4), 0.25), "the outputs", "One probability for each row and class.")


@model.check("the gradient of the loss agrees with its difference quotients")
def gradient(student, rng):
    lines, name, parameters = student.register("loss", 2, 3, 0, 0.5)
    report = check(read_list(lines, ["X", "y", "W", "b"]), {**parameters, "X": X / 14, "y": Y % 3}, wrt=["W", "b"])
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
    expect(student.mean_loss(outputs, y), np.log(4), "the mean of log 2 and log 8")
    expect(student.accuracy(outputs, y), 0.5, "the accuracy", "The first row is right, the second is taken for class 2.")


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
    expect([tuple(place) for place in got], [("W", (1, 1))], "the places")


@batching.check("seven rows in minibatches of three")
def seven_rows(student, rng):
    (epoch,) = student.epochs_of(X, Y, 3, 0, 1)
    expect([len(rows) for rows, _ in epoch], [3, 3, 1], "the sizes of the minibatches")
    rows, labels = (np.concatenate(side) for side in zip(*epoch, strict=True))
    expect(sorted(labels.tolist()), Y.tolist(), "the labels of an epoch, sorted")
    expect(rows, X[labels], "the rows, next to their labels")


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
