"""The checks that you have: `python check.py` runs them. They give no points, and the graded parts ask for more."""
import numpy as np

from xman.grade import Assignment, expect, expect_mapping, expect_probabilities, expect_that, given, slip
from xman.grade.lists import deltas_of, loss_of, read_list, values_of

assignment = Assignment("mlp", title="A multilayer perceptron on names", packages=["numpy", "xman"],
                        data=["names.train", "names.valid"])
reading = assignment.task(1, "names as numbers")
beginning = assignment.task(2, "where the parameters begin")
modelling = assignment.task(3, "the model")
training = assignment.task(4, "training")
judging = assignment.task(5, "evaluation")

W1 = np.array([[0.1, -0.2], [0.3, 0.4], [-0.5, 0.6]])
PARAMETERS = {"W1": W1, "b1": np.array([[0.05, -0.05]]), "W2": np.array([[1.0, -1.0], [0.5, 2.0]]), "b2": np.zeros((1, 2))}
INPUTS = {"X": np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), "y": np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])}


@reading.check("two lines")
def two_lines(student, rng):
    titles, labels = student.read(["odjibwa\tSwedish\n", "100%25 %C3%A9t%C3%A9\tFrench"])
    expect(titles, ["odjibwa", "100% été"], "the titles", look="'odjibwa' and '100% été': unquote turns %C3%A9 into é")
    expect(labels, ["Swedish", "French"], "the labels", look="'Swedish' and 'French': does a label still have the line's end?")


@reading.check("the characters of 'banana'")
def banana(student, rng):
    expect(student.distinct("banana"), ["a", "b", "n"], "the characters", look="'a', 'b', 'n': each once, and sorted")


@reading.check("'ab!' and an empty title")
def one_hot(student, rng):
    X = student.encode(["ab!", ""], ["a", "b"], 4)
    expect(X, np.array([[[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]], [[0, 0, 0]] * 4]), "X",
           look="'!' is not in the alphabet: it goes to the last column; behind the end of a title is nothing, in no column")


@reading.check("one-hot labels")
def one_hot_labels(student, rng):
    expect(student.targets(["no", "yes", "no"], ["no", "yes"]), np.array([[1, 0], [0, 1], [1, 0]]), "Y")


@beginning.check("shapes")
def shapes(student, rng):
    def uniform(low, high, shape):
        return rng.uniform(low, high, shape)
    parameters = student.start([5, 3, 2], uniform)
    expect_mapping(parameters, ["W1", "b1", "W2", "b2"], "the parameters")
    for name, shape in {"W1": (5, 3), "b1": (1, 3), "W2": (3, 2), "b2": (1, 2)}.items():
        expect_that(np.shape(parameters[name]) == shape, f"{name} of shape {shape}", np.shape(parameters[name]))


@beginning.check("the bound of W1 for 4 inputs and 2 outputs is 1")
def bound(student, rng):
    def uniform(low, high, shape):
        return np.full(shape, high)  # draws nothing but the upper bound
    parameters = student.start([4, 2], uniform)
    expect(parameters["W1"], np.ones((4, 2)), "W1 where each draw is the upper bound", look="√(6/(4 + 2)) = 1")


@modelling.check("the rows of the outputs are probabilities")
def probabilities(student, rng):
    steps, values = listed(student)
    expect_probabilities(values["outputs"], (3, 2), "outputs")


@modelling.check("of a row of zeros only the biases are seen, and the last layer has no activation")
def biases(student, rng):
    steps, values = listed(student)
    for name in ("h1", "scores"):
        expect_that(np.shape(values[name]) == (3, 2), f"{name} of shape (3, 2)", f"shape {np.shape(values[name])}")
    h = np.tanh([0.05, -0.05])
    expect(values["h1"][2], h, "h1 of the row of zeros", look="X·W1 is 0 there: what is left is act(b1)")
    own, want = values["scores"][2], h @ PARAMETERS["W2"]
    expect(own, want, "scores of the row of zeros", look=slip(
        own, [(act(want), "these have gone through an activation: the last layer has none")
              for act in (np.tanh, lambda a: np.maximum(a, 0))], "h1·W2 + b2, and nothing more"))


@modelling.check("where all parameters are 0, the loss is the log of the number of classes")
def loss_of_nothing(student, rng):
    zeros = {name: np.zeros_like(w) for name, w in PARAMETERS.items()}
    _, values = listed(student, zeros, 0.0)
    with given("the model's list, with all parameters 0 and no penalty"):
        loss = loss_of(values)
        expect(loss, np.log(2), "the loss", look=slip(loss, [
            (3 * np.log(2), "the loss is the mean over the rows, not their sum"),
            (-np.log(2), "−log of a probability is positive: where is the minus?")],
            "each class has the probability 1/2, so the loss of each row is −log(1/2); which argument of crossEntropy is the "
            "prediction?"))


@modelling.check("of weights of norm 5 and 2, a penalty of 0.5 adds 3.5 to the loss")
def the_penalty(student, rng):
    parameters = {"W1": np.array([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]]), "b1": np.ones((1, 2)),
                  "W2": np.array([[0.0, 2.0], [0.0, 0.0]]), "b2": np.ones((1, 2))}
    without, penalised = (loss_of(listed(student, parameters, penalty)[1]) for penalty in (0.0, 0.5))
    added = penalised - without
    expect(added, 3.5, "what the penalty adds", look=slip(added, [
        (14.5, "the norms are squared here: Frobenius' norm has a root"), (7.0, "the norms are added without their factor"),
        (3.5 + np.sqrt(2), "the biases' norms are in it too; only the weights are penalised"),
        (0.0, "nothing: where is penalty · Σ‖W‖?"), (1.0, "the norm of the last layer alone"),
        (2.5, "the norm of the first layer alone")], "0.5·(5 + 2): the frobeniusNorm of each layer's weights"))


@modelling.check("each parameter has a delta, and it is the slope of the loss (8.25)")
def slopes(student, rng):
    steps, values = listed(student)
    loss_of(values)
    deltas = deltas_of(steps, values, "loss", list(PARAMETERS))
    for name, w in PARAMETERS.items():
        step = np.zeros_like(w)
        step[0, 0] = 1e-6
        up, down = (values_of(steps, {**PARAMETERS, **INPUTS, name: moved})["loss"] for moved in (w + step, w - step))
        expect_that(np.isfinite(deltas[name]).all(), f"a delta of {name} of finite numbers", deltas[name])
        expect(deltas[name][0, 0], (up - down) / 2e-6, f"delta of {name} at [0, 0]", tolerance=1e-6)


def listed(student, parameters=PARAMETERS, penalty=0.1):
    """The list of the student's model for these parameters, and its values for INPUTS."""
    made = student.listed(parameters, "tanh", penalty)
    steps = read_list(made["steps"], [*INPUTS, *parameters])
    values = values_of(steps, {**parameters, **INPUTS})
    expect_mapping(values, ["h1", "scores", "outputs", "loss"], "the registers of the model",
                   "self.outputs is the register self.scores itself: it has to be computed from it" if made.get("same") else None)
    return steps, values


def shuffle(rows):
    """No shuffling at all."""
    return np.arange(rows)


@training.check("the bottom of a parabola")
def parabola(student, rng):
    def gradient(parameters, some):
        return {"w": 2 * parameters["w"]}

    def validation_loss(parameters):
        return parameters["w"][0] ** 2
    best = student.train({"w": np.array([5.0])}, gradient, validation_loss, 4, 20, 2, 0.2, shuffle)
    expect_mapping(best, ["w"], "the parameters")
    expect_that(np.shape(best["w"]) == (1,) and abs(best["w"][0]) < 1e-3, "w near 0, where the loss w² is least", best["w"],
                look="w ← w − α·gradient: does the step go down?")


@training.check("the best epoch, not the last")
def best_epoch(student, rng):
    def gradient(parameters, some):
        return {"w": np.array([1.0])}  # w falls by 1 in each epoch

    def validation_loss(parameters):
        return abs(parameters["w"][0])
    best = student.train({"w": np.array([2.0])}, gradient, validation_loss, 3, 5, 3, 1.0, shuffle)
    expect_mapping(best, ["w"], "the parameters")
    expect(best["w"], np.array([0.0]), "w: it went 1, 0, −1, −2, −3, and |w| is the validation loss", slip(best["w"], [
        (np.array([-3.0]), "these are the parameters of the last epoch"),
        (np.array([3.0]), "the steps go up the gradient"), (np.array([7.0]), "the steps go up the gradient")],
        "a gradient of 1 and a rate of 1 move w by 1 in each epoch"))


@judging.check("four rows of two classes")
def four_rows(student, rng):
    X, Y = np.arange(4.0).reshape(4, 1), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    outputs = np.array([[0.5, 0.5], [1.0, 0.0], [0.75, 0.25], [0.25, 0.75]])

    def predict(some):
        return outputs[np.asarray(some)[:, 0].astype(int)]
    found = student.evaluate(predict, X, Y, 3)
    expect_that(isinstance(found, (tuple, list)) and len(found) == 2, "two numbers, (loss, accuracy)")
    expect(found[0], -(np.log(0.5) + np.log(1) + np.log(0.25) + np.log(0.75)) / 4, "the loss",
           look="the mean over all rows; 0 · log 0 counts as 0")


@judging.check("a confusion")
def a_confusion(student, rng):
    counts = student.confusion(np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]]), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    expect(counts, np.array([[1, 1], [0, 1]]), "the counts", "the row is the class that it is, the column what it is taken for")
