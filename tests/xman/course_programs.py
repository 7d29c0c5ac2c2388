"""Programs as students of the course wrote them, of various habits, each a function of the Autograd that it runs on.

Each returns what it came to: the losses on its way, and whatever else it would have printed.
"""

import copy

import numpy as np

from xman import XMan, XManFunctions


class f(XManFunctions):
    """The student's functions: each operator goes by the name that the student's tables have."""
    @staticmethod
    def square(a):
        return XManFunctions.registerDefinedByOperator("square", a)
    @staticmethod
    def relu(a):
        return XManFunctions.registerDefinedByOperator("relu", a)
    @staticmethod
    def tanh(a):
        return XManFunctions.registerDefinedByOperator("tanh", a)
    @staticmethod
    def logistic(a):
        return XManFunctions.registerDefinedByOperator("logistic", a)
    @staticmethod
    def hadamard(a, b):
        return XManFunctions.registerDefinedByOperator("hadamard", a, b)
    @staticmethod
    def tri_add(a, b, c):
        return XManFunctions.registerDefinedByOperator("tri_add", a, b, c)
    @staticmethod
    def softMax(a):
        return XManFunctions.registerDefinedByOperator("softMax", a)

    @staticmethod
    def crossEnt(p, y):
        return XManFunctions.registerDefinedByOperator("crossEnt", p, y)

    @staticmethod
    def mean(a):
        return XManFunctions.registerDefinedByOperator("mean", a)


def softMax(x):
    e = np.exp(x - x.max(axis=1).reshape(-1, 1))
    return e / e.sum(axis=1).reshape(-1, 1)


def onto(delta, x):
    """delta, summed over the minibatch where x was a row for all of it."""
    if np.shape(delta) == np.shape(x):
        return delta
    return delta.sum(axis=0) if np.ndim(x) == 1 else delta.sum(axis=0, keepdims=True)


EVAL_FUNS = {
    "add":      lambda x1, x2: x1 + x2,
    "subtract": lambda x1, x2: x1 - x2,
    "mul":      lambda x1, x2: np.dot(x1, x2),
    "hadamard": np.multiply,
    "tri_add":  lambda a, b, c: a + b + c,
    "square":   np.square,
    "relu":     lambda x: x * (x > 0),
    "tanh":     np.tanh,
    "logistic": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "softMax":  softMax,
    "crossEnt": lambda p, y: -np.sum(y * np.log(p), axis=1).reshape(-1, 1),
    "mean":     lambda x: x.mean(),
}
BP_FUNS = {
    "add":      [lambda delta, out, x1, x2: onto(delta, x1), lambda delta, out, x1, x2: onto(delta, x2)],
    "subtract": [lambda delta, out, x1, x2: onto(delta, x1), lambda delta, out, x1, x2: -onto(delta, x2)],
    "mul":      [lambda delta, out, x1, x2: np.dot(delta, x2.T), lambda delta, out, x1, x2: np.dot(x1.T, delta)],
    "hadamard": [lambda delta, out, x1, x2: delta * x2, lambda delta, out, x1, x2: delta * x1],
    "tri_add":  [lambda delta, out, a, b, c: onto(delta, a), lambda delta, out, a, b, c: onto(delta, b),
                 lambda delta, out, a, b, c: onto(delta, c)],
    "square":   [lambda delta, out, x: delta * 2.0 * x],
    "relu":     [lambda delta, out, x: delta * (x > 0)],
    "tanh":     [lambda delta, out, x: delta * (1.0 - np.square(out))],
    "logistic": [lambda delta, out, x: delta * out * (1.0 - out)],
    "mean":     [lambda delta, out, x: delta * np.ones(x.shape) / x.size],
    "softMax":  [lambda delta, out, x: out * (delta - np.sum(delta * out, axis=1).reshape(-1, 1))],
    "crossEnt": [lambda delta, out, p, y: -delta * y / p, lambda delta, out, p, y: -delta * np.log(p)],
    "crossEnt-softMax": [lambda delta, out, x, y: delta * (softMax(x) - y), lambda delta, out, x, y: 0],
}


class Notes:
    """Evaluation and backprop as Cohen, Automatic Reverse-Mode Differentiation: Lecture Notes, §1.3, has them, word for word,
    with the one crossEnt of a softMax that these programs have as one step: what is to be had, to the last bit."""

    def __init__(self, xman, EVAL_FUNS=EVAL_FUNS, BP_FUNS=BP_FUNS):
        self.xman, self.EVAL_FUNS, self.BP_FUNS = xman, EVAL_FUNS, BP_FUNS

    def eval(self, opseq, valueDict):
        for z, g, ys in opseq:
            valueDict[z] = self.EVAL_FUNS[g](*[valueDict[y] for y in ys])
        return valueDict

    def optimizeForBProp(self, opseq):
        softmax = {z: ys[0] for z, g, ys in opseq if g == "softMax"}
        return [(z, "crossEnt-softMax", (softmax[ys[0]], ys[1])) if g == "crossEnt" else (z, g, ys)
                for z, g, ys in reversed(opseq) if g != "softMax"]

    def bprop(self, opseq, valueDict, **delta):
        for z, g, ys in self.optimizeForBProp(opseq):
            for i, y in enumerate(ys):
                part = self.BP_FUNS[g][i](delta[z], valueDict[z], *[valueDict[y] for y in ys])
                delta[y] = delta[y] + part if y in delta else part
        return delta


# the data: rows of characters, one-hot, and the class of each

ROWS, STEPS, CHARACTERS, CLASSES, HIDDEN = 24, 3, 5, 3, 4
random = np.random.default_rng(0)
LETTERS = random.integers(0, CHARACTERS, (ROWS, STEPS))
E = np.eye(CHARACTERS)[LETTERS]
L = np.eye(CLASSES, dtype="int32")[LETTERS.sum(1) % CLASSES]


def minibatches(size=8):
    return [(E[k:k + size], L[k:k + size]) for k in range(0, ROWS, size)]


def glorot(rng, m, n):
    return np.sqrt(6.0 / (m + n)) * rng.uniform(-1, 1, (m, n))


def perceptron():
    """The MLP of the assignment: names given to some, by attribute to others; attributes are set in a loop."""
    rng = np.random.default_rng(1)
    x = XMan()
    x.out0 = f.input(name="out0", default=rng.random((1, STEPS * CHARACTERS)))
    x.y = f.input(name="y", default=np.eye(1, CLASSES))
    sizes = [STEPS * CHARACTERS, HIDDEN, CLASSES]
    for i in range(len(sizes) - 1):
        setattr(x, f"W{i}", f.param(name=f"W{i}", default=glorot(rng, sizes[i], sizes[i + 1])))
        setattr(x, f"b{i}", f.param(default=rng.uniform(-0.1, 0.1, sizes[i + 1])))
        setattr(x, f"out{i + 1}", f.relu(f.mul(getattr(x, f"out{i}"), getattr(x, f"W{i}")) + getattr(x, f"b{i}")))
        x.outputs = f.softMax(getattr(x, f"out{i + 1}"))
        x.loss = f.mean(f.crossEnt(x.outputs, x.y))
    return x.setup()


def one_dictionary(Autograd, epochs=4, lr=0.5):
    """An MLP trained in place in the one dictionary that inputDict gave, with notes among its values; the best is kept."""
    my_xman = perceptron()
    value_dict, losses, best = my_xman.inputDict(), [], 1e9
    value_dict["history"], value_dict["note"] = [], "tiny, 4 epochs"
    ad, opseq = Autograd(my_xman), my_xman.operationSequence(my_xman.loss)
    for _ in range(epochs):
        for e, l in minibatches():
            value_dict["out0"], value_dict["y"] = e.reshape(e.shape[0], -1), l
            vd = ad.eval(opseq, value_dict)
            gd = ad.bprop(opseq, value_dict, loss=np.float64(1.0))
            for rname in gd:
                if my_xman.isParam(rname):
                    value_dict[rname] -= lr * gd[rname]
            value_dict["history"].append(vd["loss"])
            losses.append(vd["loss"])
        if vd["loss"] < best:
            best, best_dict = vd["loss"], copy.deepcopy(value_dict)
    return losses, best_dict["history"], best_dict["note"], ad.eval(opseq, best_dict)["outputs"]


def fresh_dictionaries(Autograd, epochs=4, lr=0.5):
    """The same, with an inputDict for each minibatch: what is subtracted in place has to be there in the next."""
    net, losses = perceptron(), []
    for _ in range(epochs):
        for e, l in minibatches():
            dataDict = net.inputDict(out0=e.reshape(len(e), -1), y=l)
            opseq = net.operationSequence(net.loss)
            vd = Autograd(net).eval(opseq, dataDict)
            delta = Autograd(net).bprop(opseq, vd, loss=1.0)
            for p in [name for name, reg in net.registers().items() if reg.role == "param"]:
                dataDict[p] -= lr * delta[p]
            losses.append(vd["loss"])
    return losses, {name: reg.default for name, reg in net.namedRegisterItems() if net.isParam(name)}


def gates(f, mul, t_in, hid, cell, p):
    """One step of an LSTM: (the hidden state, the cell)."""
    i = f.logistic(mul(t_in, p["Wi"]) + mul(hid, p["Ui"]) + p["bi"])
    keep = f.logistic(mul(t_in, p["Wf"]) + mul(hid, p["Uf"]) + p["bf"])
    o = f.logistic(mul(t_in, p["Wo"]) + mul(hid, p["Uo"]) + p["bo"])
    cell = f.hadamard(keep, cell) + f.hadamard(i, f.tanh(mul(t_in, p["Wc"]) + mul(hid, p["Uc"]) + p["bc"]))
    return f.hadamard(o, f.tanh(cell)), cell


def names_by_hand(Autograd, epochs=2, rate=0.5):
    """An LSTM whose registers lie in dictionaries of an object that is no XMan, with names set by hand and no defaults; the
    parameters are given to inputDict, and bound anew at each update."""
    rng = np.random.default_rng(2)
    params, inputs, init = {}, {}, {}
    for gate in "ifoc":
        init |= {f"W{gate}": glorot(rng, CHARACTERS, HIDDEN), f"U{gate}": glorot(rng, HIDDEN, HIDDEN)}
        init |= {f"b{gate}": np.zeros(HIDDEN)}
    init |= {"W1": glorot(rng, HIDDEN, CLASSES), "b1": np.zeros(CLASSES, int)}
    for name in init:
        params[name] = f.param()
        params[name].name = name
    for i in range(STEPS):
        inputs[f"input_{i}"] = f.input()
        inputs[f"input_{i}"].name = f"input_{i}"
    inputs["y"] = f.input("y")
    graph = XMan()
    graph.hid_init, graph.cell_init = f.input(), f.input()
    hh, cc = graph.hid_init, graph.cell_init
    for i in range(STEPS):
        hh, cc = gates(f, f.mul, inputs[f"input_{i}"], hh, cc, params)
    graph.output = f.softMax(f.relu(f.mul(hh, params["W1"]) + params["b1"]))
    graph.loss = f.mean(f.crossEnt(graph.output, inputs["y"]))
    graph = graph.setup()
    valueDict, losses = graph.inputDict(**init), []
    for _ in range(epochs):
        for e, l in minibatches():
            valueDict.update({f"input_{j}": e[:, j, :] for j in range(STEPS)}, y=l, hid_init=np.zeros((len(e), HIDDEN)),
                             cell_init=np.zeros((len(e), HIDDEN)))
            vd = Autograd(graph).eval(graph.operationSequence(graph.loss), valueDict)
            gd = Autograd(graph).bprop(graph.operationSequence(graph.loss), valueDict, loss=np.float64(1.0))
            for rname in gd:
                if graph.isParam(rname):
                    valueDict[rname] = valueDict[rname] - rate * gd[rname]
            losses.append(vd["loss"])
    return losses, valueDict["b1"], sorted(name for name in valueDict if graph.isParam(name))


def registers_in_lists(Autograd, epochs=2, rate=0.5):
    """An LSTM unrolled in lists of registers and one dictionary of parameters, none of which has a name of its own."""
    rng = np.random.default_rng(3)
    xm = XMan()
    xm.x = [f.input() for _ in range(STEPS)]
    xm.y = f.input()
    xm.p = {"W": {g: f.param(default=glorot(rng, CHARACTERS, HIDDEN)) for g in "ifoc"},
            "U": {g: f.param(default=glorot(rng, HIDDEN, HIDDEN)) for g in "ifoc"},
            "b": tuple(f.param(default=0.1 * np.ones((1, HIDDEN))) for g in "ifoc")}
    xm.W2 = f.param(default=glorot(rng, HIDDEN, CLASSES))
    xm.h = [f.input(default=0.1 * np.ones((8, HIDDEN)))]
    xm.c = [f.input(default=0.1 * np.ones((8, HIDDEN)))]
    xm.i, xm.f, xm.o, xm.new = [], [], [], []
    for t in range(STEPS):
        for k, (g, gate) in enumerate(zip("ifoc", (xm.i, xm.f, xm.o, xm.new), strict=True)):
            z = f.tri_add(xm.p["b"][k], f.mul(xm.x[t], xm.p["W"][g]), f.mul(xm.h[t], xm.p["U"][g]))
            gate.append(f.tanh(z) if g == "c" else f.logistic(z))
        xm.c += [f.hadamard(xm.f[t], xm.c[t]) + f.hadamard(xm.i[t], xm.new[t])]
        xm.h += [f.hadamard(xm.o[t], f.tanh(xm.c[t + 1]))]
    xm.loss = f.mean(f.crossEnt(f.softMax(f.mul(xm.h[STEPS], xm.W2)), xm.y))
    xm.setup()
    ad, opseq, losses = Autograd(xm), xm.operationSequence(xm.loss), []
    for _ in range(epochs):
        for e, l in minibatches():
            d = xm.inputDict(y=l, **{x.name: e[:, t] for t, x in enumerate(xm.x)})
            gd = ad.bprop(opseq, ad.eval(opseq, d), loss=1.0)
            for reg in (*xm.p["W"].values(), *xm.p["U"].values(), *xm.p["b"], xm.W2):
                d[reg.name] -= rate * gd[reg.name]
            losses.append(d["loss"])
    return losses, [line[0] for line in opseq]


def class_of_registers(Autograd, epochs=20, rate=0.1):
    """Linear regression as a class, its weights in whole numbers; values are looked up by the names that registers know."""
    class Line(XMan):
        input = f.input()
        weights = f.param(default=np.zeros((2, 1), int))
        bias = f.param(default=0)
        output = input * weights + bias
        y = f.input()
        loss = f.mean(f.square(output - y))

    m = Line().setup()
    X = np.random.default_rng(4).uniform(-1, 1, (30, 2))
    vd = m.inputDict(**{m.input.name: X, m.y.name: X @ [[2.0], [-1.0]] + 0.5})
    ad, opseq = Autograd(m), m.operationSequence(m.loss)
    for _ in range(epochs):
        vd = ad.eval(opseq, vd)
        d = ad.bprop(opseq, vd, **{m.loss.name: 1.0})
        for reg in (m.weights, m.bias):
            vd[reg.name] = vd[reg.name] - rate * np.sum(d[reg.name]) if reg is m.bias else vd[reg.name] - rate * d[reg.name]
    return vd["loss"], vd["weights"], vd["bias"], [str(m.loss.definedAs), str(m.output.definedAs)]


def checked_gradients(Autograd, eps=1e-4):
    """The gradient check of the assignment: entries are moved in place, both ways, and put back."""
    net = perceptron()
    opseq, ad, worst = net.operationSequence(net.loss), Autograd(net), {}
    vd = ad.eval(opseq, net.inputDict(out0=E.reshape(ROWS, -1), y=L))
    gd = ad.bprop(opseq, vd, loss=1.0)
    for key in list(vd):
        if net.isParam(key):
            for index, value in np.ndenumerate(vd[key]):
                vd[key][index] = value + eps
                above = ad.eval(opseq, vd)["loss"]
                vd[key][index] = value - eps
                below = ad.eval(opseq, vd)["loss"]
                vd[key][index] = value
                worst[key] = max(worst.get(key, 0), abs((above - below) / (2 * eps) - gd[key][index]))
    return [worst, *ad.optimizeForBProp(opseq)]


PROGRAMS = [one_dictionary, fresh_dictionaries, names_by_hand, registers_in_lists, class_of_registers, checked_gradients]
