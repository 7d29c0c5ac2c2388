"""An LSTM that reads names letter by letter, unrolled in time: in which language is this name written?

    python lstm.py       trains on the names that come with xman, once the tasks are done
"""
import numpy as np

from xman import XMan, backprop, eval, f

WEIGHTS = [f"{letter}{gate}" for gate in "ifog" for letter in "WUb"]  # Wi Ui bi Wf Uf bf Wo Uo bo Wg Ug bg


def cell(x, h, c, p):
    """(h, c) after one step: two registers (rows, hidden).

    x (rows, features), and h and c before the step, (rows, hidden) or (1, hidden): registers.
    p: the registers of the parameters by name, Wi (features, hidden), Ui (hidden, hidden), bi (1, hidden), and the same for
    f, o and g.
    """
    # task 1: one step
    i = f.sigmoid(x @ p["Wi"] + h @ p["Ui"] + p["bi"])
    keep = f.sigmoid(x @ p["Wf"] + h @ p["Uf"] + p["bf"])
    o = f.sigmoid(x @ p["Wo"] + h @ p["Uo"] + p["bo"])
    g = f.tanh(x @ p["Wg"] + h @ p["Ug"] + p["bg"])
    c = keep * c + i * g
    return o * f.tanh(c), c
    # end of task 1


def ends(X):
    """Where each title ends: an array (rows, steps), 1 at the last position that has a known character and 0 elsewhere.

    X: one-hot titles (rows, steps, features). Positions behind the end are all zeros, but so is a character that training has
    not seen, in the midst of a title. A title without any character known ends at its first position.
    """
    # task 3: the end of a title
    steps = X.shape[1]
    last = np.max(X.any(axis=2) * np.arange(steps), axis=1)
    return np.eye(steps)[last]
    # end of task 3


def read_out(hs, es, y, p):
    """(last, outputs, loss): the state at the end of each title (rows, hidden), probabilities (rows, classes), one number.

    hs: the registers h1, h2, … (rows, hidden) after each step. es: registers e1, e2, … (rows, 1), the columns of `ends`.
    y: the register of the one-hot labels (rows, classes). p: the registers W2 (hidden, classes) and b2 (1, classes) by name.
    """
    # task 3: the end of a title
    last = es[0] * hs[0]
    for e, h in zip(es[1:], hs[1:], strict=True):
        last = last + e * h
    outputs = f.softmax(last @ p["W2"] + p["b2"])
    return last, outputs, f.mean(f.crossEntropy(outputs, y))
    # end of task 3


class LSTM(XMan):
    """Reads X1, X2, … and says at the end of each title in which language it is.

    parameters: {"Wi": array, …, "W2": array (hidden, classes), "b2": …}, the defaults of the registers of those names.
    steps: how many letters. cell, read_out: the functions above, or others that take and give back the same.
    Attributes, all of them registers: y, X1, X2, … and e1, e2, … (inputs); h0 and c0 (inputs too, whose defaults are zeros
    of shape (1, hidden)); the parameters by their names, all that `parameters` has: the grader's cell has others than WEIGHTS;
    h1, c1, h2, c2, …; last, outputs, loss.
    """

    def __init__(self, parameters, steps, cell=cell, read_out=read_out):
        hidden = len(parameters["W2"])
        self.y = f.input()
        hs, es = [], []  # the registers h1, h2, … and e1, e2, …
        p = {}           # the registers of the parameters by name
        # task 2: unrolling
        for name, value in parameters.items():
            p[name] = f.param(default=value)
            setattr(self, name, p[name])
        h = self.h0 = f.input(default=np.zeros((1, hidden)))
        c = self.c0 = f.input(default=np.zeros((1, hidden)))
        for t in range(1, steps + 1):
            x, e = f.input(), f.input()
            h, c = cell(x, h, c, p)
            for letter, register in zip("Xehc", (x, e, h, c), strict=True):
                setattr(self, f"{letter}{t}", register)
            hs.append(h)
            es.append(e)
        # end of task 2
        self.last, self.outputs, self.loss = read_out(hs, es, self.y, p)
        self.setup()


def untied(steps, names):
    """The list in which each use of a shared parameter has a name of its own: Wi_1 where Wi is read first, then Wi_2, …

    A parameter that is read once is renamed too (W2_1); a line that reads one twice gets two names, from left to right.
    steps: a list of lines (dst, op, args); it is not changed. names: the parameters that are meant. In args a string names a
    register, and everything else stays as it is.
    """
    # task 4: deltas through time
    uses = dict.fromkeys(names, 0)

    def renamed(a):
        if not isinstance(a, str) or a not in uses:
            return a
        uses[a] += 1
        return f"{a}_{uses[a]}"
    return [(dst, op, tuple(renamed(a) for a in args)) for dst, op, args in steps]
    # end of task 4


def clipped(deltas, most):
    """The deltas, all times the same factor, the largest one ≤ 1 for which their norm is at most `most`: {name: array}.

    deltas: {name: array}; they are not changed, and those that are short enough come back as they are. The norm is
    that of all elements of all arrays, as of one long vector.
    """
    # task 4: deltas through time
    norm = np.sqrt(sum(np.sum(d ** 2) for d in deltas.values()))
    factor = most / norm if norm > most else 1.0
    return {name: factor * d for name, d in deltas.items()}
    # end of task 4


def asleep(steps, values, below):
    """The share of elements of each gate and each tanh that send hardly anything back: {register: share}.

    For every line of the list whose operator is sigmoid or tanh: the share of elements of its register at which the operator's
    derivative is less than `below`. steps: the list. values: {register: array}, the values of all its registers.
    """
    # task 4: deltas through time
    slopes = {"sigmoid": lambda v: v * (1 - v), "tanh": lambda v: 1 - v ** 2}
    return {dst: np.mean(slopes[op](values[dst]) < below) for dst, op, _ in steps if op in slopes}
    # end of task 4


def train(parameters, gradient, validation_loss, batches, epochs, rate):
    """The parameters of the least validation loss: {name: array}.

    parameters: where to begin, {name: array}; they are not changed, and are the best until an epoch is better.
    gradient(parameters, batch): {name: array}, the (clipped) gradient of the loss of that batch. validation_loss(parameters):
    a number, which may be NaN; it is asked once for the start and once after each epoch. batches(): the batches of an epoch, a
    list; ask for it once an epoch. rate: α at the beginning.
    An epoch that does not get below the best validation loss is taken back: the next one begins at the best parameters again,
    with half the rate. NaN is not below anything, and nothing is below NaN: a start of that loss comes back.
    """
    # task 5: training that takes a step back
    best, least = parameters, validation_loss(parameters)
    for _ in range(epochs):
        for batch in batches():
            deltas = gradient(parameters, batch)
            parameters = {name: w - rate * deltas[name] for name, w in parameters.items()}
        loss = validation_loss(parameters)
        if loss < least:
            best, least = parameters, loss
        else:
            parameters, rate = best, rate / 2
    return best
    # end of task 5


def start(rng, features, hidden, classes):
    """Where the parameters begin: Glorot's bounds, biases ±0.1; but the forget gates begin open, with biases of 1."""
    def glorot(before, after):
        return rng.uniform(-1, 1, (before, after)) * np.sqrt(6 / (before + after))
    shapes = {"W": features, "U": hidden}
    parameters = {name: glorot(shapes[name[0]], hidden) if name[0] in shapes else rng.uniform(-0.1, 0.1, (1, hidden))
                  for name in WEIGHTS}
    parameters["bf"] = np.ones((1, hidden))
    return {**parameters, "W2": glorot(hidden, classes), "b2": rng.uniform(-0.1, 0.1, (1, classes))}


def main():
    """Trains on the names and judges on those that training did not see."""
    from xman.train import load
    data, steps, rng = load("names", max_len=12), 12, np.random.default_rng(0)
    classes = len(data.classes)
    (X, y), (X_test, y_test) = data.train, data.valid
    parameters = start(rng, X.shape[2], 32, classes)
    model = LSTM(parameters, steps)
    lines = model.operationSequence(model.outputs, model.loss)
    used = {name: sum(a == name for _, _, args in lines for a in args if isinstance(a, str)) for name in parameters}
    print(f"{len(lines)} lines; Wi is read by {used['Wi']} of them, W2 by {used['W2']}")

    def values_of(parameters, X, y):
        e = ends(X)
        inputs = {f"X{t + 1}": X[:, t].astype(float) for t in range(steps)} | {f"e{t + 1}": e[:, t:t + 1] for t in range(steps)}
        return eval(lines, {**model.inputDict(), **parameters, **inputs, "y": np.eye(classes)[y]})

    def gradient(parameters, some):
        deltas = backprop(lines, values_of(parameters, X[some], y[some]), loss=1.0)
        return clipped({name: deltas[name] for name in parameters}, 5.0)

    def validation_loss(parameters):
        values = values_of(parameters, X_test[:400], y_test[:400])
        sleepy = asleep(lines, values, 0.01)
        print(f"validation loss {values['loss']:.3f}; asleep are {np.mean(list(sleepy.values())):.1%} of the gates")
        return float(values["loss"])

    def batches():
        return np.array_split(rng.permutation(len(X))[:3200], 50)

    best = train(parameters, gradient, validation_loss, batches, 12, 2.0)
    outputs = values_of(best, X_test[400:], y_test[400:])["outputs"]
    print(f"of names that nobody has chosen by: accuracy {np.mean(outputs.argmax(1) == y_test[400:]):.1%}")
    copies = untied(lines, ["Ui"])
    long = X_test[:, -1].any(axis=1)  # the names that fill all steps: so far their deltas have to go
    larger = {name: 5 * best[name] for name in best if name[0] == "U"}
    print("\nwhat each step adds to the delta of Ui, of names of 12 letters or more:")
    for what, changed in {"as trained": {}, "forget biases of −3": {"bf": 0 * best["bf"] - 3}, "U times 5": larger}.items():
        parameters = {**best, **changed}
        values = values_of(parameters, X_test[long], y_test[long])
        deltas = backprop(copies, {**values, **{f"Ui_{t}": parameters["Ui"] for t in range(1, steps + 1)}}, loss=1.0)
        print(f"{what:20}", " ".join(f"{np.linalg.norm(deltas[f'Ui_{t}']):.1e}" for t in range(1, steps + 1)),
              f" asleep {np.mean(list(asleep(lines, values, 0.01).values())):.1%}")


if __name__ == "__main__":
    main()
