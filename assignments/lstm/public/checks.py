"""The checks that you have: `python check.py` runs them. They give no points, and the graded parts ask for more."""
import numpy as np

from xman.grade import Assignment, expect, expect_mapping, expect_probabilities, expect_that, slip
from xman.grade.lists import deltas_of, loss_of, read_list, values_of

assignment = Assignment("lstm", title="An LSTM, unrolled", packages=["numpy", "xman"])
step = assignment.task(1, "one step")
unrolling = assignment.task(2, "unrolling")
ending = assignment.task(3, "the end of a title")
through_time = assignment.task(4, "deltas through time")
training = assignment.task(5, "training that takes a step back")

ROWS, FEATURES, HIDDEN, CLASSES = 2, 3, 2, 2
LAYER = {"W": (FEATURES, HIDDEN), "U": (HIDDEN, HIDDEN), "b": (1, HIDDEN)}
SHAPES = {letter + gate: shape for gate in "ifog" for letter, shape in LAYER.items()}
A, FIRST = np.array([[1.0, 2.0]]), {name: np.zeros((1, HIDDEN)) for name in ("h0", "c0")}
DIGITS = np.random.default_rng(7)
PARAMETERS = {name: DIGITS.normal(size=shape).round(1) for name, shape in SHAPES.items()}
X, H, C = (DIGITS.normal(size=(ROWS, size)).round(1) for size in (FEATURES, HIDDEN, HIDDEN))
GATHER = [("s1", "dot", ("x", "A")), ("s2", "half", ("c",)), ("next_c", "add", ("s1", "s2")), ("next_h", "add", ("h", "next_c"))]


def evaluated(lines, inputs, names, what):
    """The list, read, and its values; it has registers of these names."""
    steps = read_list(lines, list(inputs), what=what)
    values = values_of(steps, inputs, what)
    expect_mapping(values, names, what)
    return steps, values


def stepped(student, **others):
    """One step of the student's cell."""
    inputs = {"x": X, "h": H, "c": C, **PARAMETERS, **others}
    return inputs, *evaluated(student.stepped(list(PARAMETERS)), inputs, ["h1", "c1"], "the list of one step")


@step.check("states of (rows, hidden)")
def one_step(student, rng):
    _, _, values = stepped(student, h=H[:1], c=C[:1])
    for name in ("h1", "c1"):
        shape = np.shape(values[name])
        expect_that(shape == (ROWS, HIDDEN), f"{name} of shape {(ROWS, HIDDEN)}", f"shape {shape}")


@step.check("where nothing comes in and nothing is kept, the states are zero")
def shut(student, rng):
    _, _, values = stepped(student, bi=np.full((1, HIDDEN), -99.0), bf=np.full((1, HIDDEN), -99.0))
    expect(values["c1"], np.zeros((ROWS, HIDDEN)), "c1", "input and forget gate are shut here: biases of −99")
    expect(values["h1"], np.zeros((ROWS, HIDDEN)), "h1")


@step.check("where all is kept and nothing comes in, the cell state stays")
def kept(student, rng):
    _, _, values = stepped(student, bi=np.full((1, HIDDEN), -99.0), bf=np.full((1, HIDDEN), 99.0))
    expect(values["c1"], C, "c1", slip(values["h1"], [(C, "this is the hidden state: cell gives back (h, c), in this order")],
                                       "the input gate is shut here, and the forget gate open"))


@step.check("where nothing is kept, all comes in and what is new is −1, the cell state is −1")
def new(student, rng):
    shifted = {name: np.full((1, HIDDEN), value) for name, value in (("bi", 99.0), ("bf", -99.0), ("bg", -99.0))}
    _, _, values = stepped(student, **shifted)
    expect(values["c1"], np.full((ROWS, HIDDEN), -1.0), "c1", "g is not a gate but what is new: its activation is tanh")


@step.check("where all goes out, h is the tanh of the new cell state")
def out(student, rng):
    shut = np.full((1, HIDDEN), -99.0)
    _, _, values = stepped(student, bi=shut, bf=-shut, bo=-shut)  # and c1 = c
    expect(values["h1"], np.tanh(C), "h1", slip(values["h1"], [
        (C, "where is the tanh of equation (6)?"), (np.tanh(H), "this is of h; it is the cell state that goes out")],
        "equation (6); the output gate is open here, a bias of 99"))


@step.check("each weight has a delta, and it is the slope (8.25)")
def slopes(student, rng):
    inputs, steps, _ = stepped(student)
    steps = [*steps, ("both_states", "mul", ("h1", "c1")), ("sum_of_all", "sum", ("both_states",))]
    steps, values = evaluated(steps, inputs, [], "the list of one step")
    deltas = deltas_of(steps, values, "sum_of_all", list(PARAMETERS))
    for name, w in PARAMETERS.items():
        change = np.zeros_like(w)
        change[0, 0] = 1e-5
        up, down = (values_of(steps, {**inputs, name: moved})["sum_of_all"] for moved in (w + change, w - change))
        expect_that(np.isfinite(deltas[name]).all(), f"a delta of {name} of finite numbers", deltas[name])
        expect(deltas[name][0, 0], (up - down) / 2e-5, f"delta of {name} at [0, 0]", tolerance=1e-6)


def unrolled(student, steps):
    """The student's LSTM around a cell that adds everything up: what comes back, its list, and its values."""
    parameters = {"A": A, "W2": np.zeros((HIDDEN, CLASSES)), "b2": np.zeros((1, CLASSES))}
    made = student.unrolled(parameters, steps, GATHER)
    expect_mapping(made, ["steps", "inputs", "params", "defaults"], "the model")
    numbers = {f"X{t}": np.array([[1.0 * t]]) for t in range(steps + 1)} | {f"e{t}": np.zeros((1, 1)) for t in range(steps + 1)}
    inputs = {**numbers, "y": np.zeros((1, CLASSES)), **FIRST, **parameters}
    names = [f"{letter}{t}" for t in range(1, steps + 1) for letter in "hc"]
    return made, *evaluated(made["steps"], inputs, names, "the model's list")


@unrolling.check("the defaults of h0, c0 and the parameters")
def defaults(student, rng):
    made, _, _ = unrolled(student, 2)
    look = "h0 and c0 begin as zeros (1, hidden): f.input(default=…); the parameters as the arrays that were handed in"
    expect(made["defaults"], {**FIRST, "A": A}, "the defaults", look)


@unrolling.check("three steps of a cell c ← x·A + c/2, h ← h + c, which reads 1, 2, 3")
def three_steps(student, rng):
    _, _, values = unrolled(student, 3)
    for name, want in {"c1": 1.0, "h1": 1.0, "c2": 2.5, "h2": 3.5, "c3": 4.25, "h3": 7.75}.items():
        expect(values[name], want * A, name, f"{name[0]}{name[1]} comes of X{name[1]} and the states before")


@unrolling.check("each step adds the same lines")
def growth(student, rng):
    few, more, most = (len(unrolled(student, steps)[1]) for steps in (2, 3, 4))
    expect_that(more - few == most - more, "as many lines for step 4 as for step 3", f"{most - more} and {more - few}")


@unrolling.check("a parameter is read at every step")
def shared(student, rng):
    _, steps, _ = unrolled(student, 3)
    reads = sum(a == "A" for _, _, args in steps for a in args if isinstance(a, str))
    expect_that(reads == 3, "A is read three times, once at each of 3 steps", f"it is read {reads} times")


@ending.check("a title of two letters, and one of three")
def two_titles(student, rng):
    X = np.array([[[1, 0], [0, 1], [0, 0]], [[1, 0], [1, 0], [0, 1]]])
    expect(student.ends(X), np.array([[0, 1, 0], [0, 0, 1]]), "e")


def read(student, **others):
    """The student's readout for two titles, of three letters and of two."""
    inputs = {"h1": H, "h2": C, "h3": H + C, "e1": np.array([[0.0], [0.0]]), "e2": np.array([[0.0], [1.0]]),
              "e3": np.array([[1.0], [0.0]]), "W2": np.array([[1.0, -1.0], [0.5, 2.0]]), "b2": np.array([[0.1, 0.0]]),
              "y": np.eye(2), **others}
    return evaluated(student.read(3), inputs, ["last", "outputs", "loss"], "the list of read_out")


@ending.check("the state at the end, and probabilities")
def at_the_end(student, rng):
    _, values = read(student)
    expect(values["last"], np.stack([(H + C)[0], C[1]]), "last, of titles of three and of two letters", slip(values["last"], [
        (H + C, "this is the state after the last step: the shorter title has ended before it")]))
    expect_probabilities(values["outputs"], (2, CLASSES), "outputs")


@ending.check("where W2 and b2 are 0, the loss is the log of the number of classes")
def loss_of_nothing(student, rng):
    loss = loss_of(read(student, W2=np.zeros((HIDDEN, CLASSES)), b2=np.zeros((1, CLASSES)))[1])
    expect(loss, np.log(2), "the loss", slip(loss, [
        (2 * np.log(2), "the loss is the mean over the rows, not their sum"),
        (-np.log(2), "−log of a probability is positive: where is the minus?")],
        "each class has the probability 1/2, so the loss of each row is −log(1/2)"))


@ending.check("the delta of what stands behind the end is zero")
def behind_the_end(student, rng):
    steps, values = read(student)
    loss_of(values)
    delta = deltas_of(steps, values, "loss", ["h3"])["h3"]
    expect_that(np.any(delta[0]) and not np.any(delta[1]), "a delta of h3 for the title of three letters alone", delta,
                "e3 is 0 for the title of two letters: h3 counts for the other alone")


USES = "the uses are named {0}_1, {0}_2, … from 1, in the order of the list; what is not among the names keeps its name"


@through_time.check("the house of the notes: h is read twice")
def house(student, rng):
    lines = [("z1", "mul", ("h", "w")), ("z2", "half", ("h",)), ("z3", "mul", ("z2", "w"))]
    found = read_list(student.untied(lines, ["h"]), ["h_1", "h_2", "w"], what="the untied list", names=USES.format("h"))
    expect_that(list(found) == [("z1", "mul", ("h_1", "w")), ("z2", "half", ("h_2",)), ("z3", "mul", ("z2", "w"))],
                "h_1 in the first line, h_2 in the second, and all else as it was")


@through_time.check("the deltas of the uses add up to that of the parameter (Adams, eq. 36)")
def they_add_up(student, rng):
    lines = [("z1", "mul", ("w", "x")), ("z2", "tanh", ("z1",)), ("z3", "mul", ("w", "z2")), ("loss", "mean", ("z3",))]
    w, inputs = rng.normal(size=3), {"x": rng.normal(size=3)}
    own = read_list(student.untied(lines, ["w"]), ["x", "w_1", "w_2"], what="the untied list", names=USES.format("w"))
    shared = read_list(lines, ["x", "w"])
    whole = deltas_of(shared, values_of(shared, {"w": w, **inputs}), "loss", ["w"])["w"]
    parts = deltas_of(own, values_of(own, {"w_1": w, "w_2": w, **inputs}), "loss", ["w_1", "w_2"])
    expect(parts["w_1"] + parts["w_2"], whole, "the deltas of w_1 and w_2, together")


@through_time.check("3, 4 and 12 are as long as 13")
def thirteen(student, rng):
    deltas = {"W": np.array([[3.0, 4.0]]), "b": np.array([12.0])}
    found = student.clipped(deltas, 6.5)
    expect_mapping(found, deltas, "the deltas")
    expect(found["b"], np.array([6.0]), "b", slip(found["b"], [
        (np.array([6.5]), "the norm is that of all arrays together: here it is 13"), (np.array([12.0]), "nothing is clipped")]))


@through_time.check("a gate that is open and shut, and one that is undecided")
def sleepers(student, rng):
    found = student.asleep([("i", "sigmoid", ("x",)), ("c", "mul", ("i", "x"))], {"i": np.array([0.999, 0.5, 0.001, 0.4])}, 0.05)
    expect(found, {"i": 0.5}, "the shares")
    expect_that(len(found) == 1, "a share of i alone", found)


@training.check("down, too far, and back")
def too_far(student, rng):
    # w² with a step of w ← w − α·2w: with α = 1.5 it jumps from 1 to −2, with 0.75 from 1 to −½, and so on
    def gradient(parameters, batch):
        return {"w": 2 * parameters["w"]}

    def validation_loss(parameters):
        return parameters["w"][0] ** 2

    def batches():
        return [0]
    best = student.train({"w": np.array([1.0])}, gradient, validation_loss, batches, 2, 1.5)
    expect_mapping(best, ["w"], "the parameters")
    expect(best["w"], np.array([-0.5]), "w after two epochs", "the first is taken back; the second begins at 1, with α = 0.75")
