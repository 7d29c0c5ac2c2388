"""Wengert lists: evaluate a list of scalar operations, differentiate it, descend along its gradient.

A list is a Python list of lines (z, g, args): the register z is what the operator g gives for args. args is a tuple, of one
argument too: ("z2",). An argument that is a string names a register, anything else is a number itself: ("z1", "mul", (2.0, "x")).

You need the standard library only; NumPy is there too. Helper functions of your own are welcome.
"""
import math

EQUATION_1 = [("z1", "add", ("x1", "x1")), ("z2", "add", ("z1", "x2")), ("f", "square", ("z2",))]
CUBE = [("z1", "mul", ("x", "x")), ("f", "mul", ("z1", "x"))]
TRIANGLE = [("z1", "mul", ("h", "w")), ("area", "half", ("z1",))]
HOUSE = [
    ("z1", "mul", ("h", "w")),
    ("z2", "half", ("h",)),
    ("z3", "mul", ("z2", "w")),
    ("z4", "half", ("z3",)),
    ("area", "add", ("z1", "z4")),
    ("z5", "subtract", ("area", "targetArea")),
    ("z6", "square", ("z5",)),
    ("z7", "subtract", ("h", "targetHeight")),
    ("z8", "square", ("z7",)),
    ("z9", "mul", ("z8", "heightFactor")),
    ("loss", "add", ("z6", "z9")),
]


def make_G():
    """The table G of values: G[g](*args) is the value of the operator g.

    Operators of two arguments: add, subtract, mul, divide. Of one: half (x/2), square, sqrt, exp, log, sin, cos, tanh.
    """
    # task 1: the tables G and DG
    return {
        "add": lambda x, y: x + y,
        "subtract": lambda x, y: x - y,
        "mul": lambda x, y: x * y,
        "divide": lambda x, y: x / y,
        "half": lambda x: x / 2,
        "square": lambda x: x * x,
        "sqrt": math.sqrt,
        "exp": math.exp,
        "log": math.log,
        "sin": math.sin,
        "cos": math.cos,
        "tanh": math.tanh,
    }
    # end of task 1


def make_DG():
    """The table DG of partial derivatives: DG[g][i](*args) is the derivative of g(*args) with respect to its argument i.

    i counts from 0. Each partial takes all arguments of g, also where it does not need them.
    """
    # task 1: the tables G and DG
    return {
        "add": [lambda x, y: 1.0, lambda x, y: 1.0],
        "subtract": [lambda x, y: 1.0, lambda x, y: -1.0],
        "mul": [lambda x, y: y, lambda x, y: x],
        "divide": [lambda x, y: 1 / y, lambda x, y: -x / y ** 2],
        "half": [lambda x: 0.5],
        "square": [lambda x: 2 * x],
        "sqrt": [lambda x: 0.5 / math.sqrt(x)],
        "exp": [lambda x: math.exp(x)],
        "log": [lambda x: 1.0 / x],
        "sin": [lambda x: math.cos(x)],
        "cos": [lambda x: -math.sin(x)],
        "tanh": [lambda x: 1 - math.tanh(x) ** 2],
    }
    # end of task 1


def value(g, *args):
    """The value of the operator g, from your table: value("mul", 3.0, 2.0) is 6.0. (Given; leave it as it is.)"""
    return make_G()[g](*args)


def partial(g, i, *args):
    """The derivative of g with respect to its argument i, from your table. (Given; leave it as it is.)"""
    return make_DG()[g][i](*args)


def eval(steps, values, G):
    """The values of all registers: a dictionary of the inputs in `values` and of the register of each line.

    steps: a list of lines (z, g, args). values: the inputs by name; it stays as it is. G: a table of values.
    """
    # task 2: eval
    values = dict(values)
    for z, g, args in steps:
        values[z] = G[g](*[values[a] if isinstance(a, str) else a for a in args])
    return values
    # end of task 2


def backprop(steps, values, DG, f):
    """The deltas: for each name in `values` the derivative of f with respect to it, 0.0 where f does not depend on it.

    steps: a list of lines (z, g, args). values: what eval gave for it; it stays as it is. DG: a table of partial derivatives.
    f: the name of the register that is differentiated, often that of the last line. Numbers among the arguments have no delta.
    """
    # task 3: backprop
    deltas = dict.fromkeys(values, 0.0)
    deltas[f] = 1.0
    for z, g, args in reversed(steps):
        if deltas[z] != 0.0:  # else 0 · infinity would be NaN
            inputs = [values[a] if isinstance(a, str) else a for a in args]
            for a, derivative in zip(args, DG[g], strict=True):
                if isinstance(a, str):
                    deltas[a] += deltas[z] * derivative(*inputs)
    return deltas
    # end of task 3


def descend(evaluate, differentiate, start, wrt, loss, rate, updates):
    """Gradient descent: (the inputs after the last update, [the loss before each update]).

    evaluate: a function of the inputs (a dictionary) that gives the values of all registers (a dictionary), as eval does.
    differentiate: a function of the values of all registers that gives their deltas (a dictionary), as backprop does.
    start: the inputs to begin with; it stays as it is. wrt: the names of those that are moved; the others keep their values.
    loss: the name of the register to be made small. rate: the step length. updates: how many updates to make.
    """
    # task 4: descend
    inputs, losses = dict(start), []
    for _ in range(updates):
        values = evaluate(inputs)
        losses.append(values[loss])
        deltas = differentiate(values)
        inputs = {**inputs, **{name: inputs[name] - rate * deltas[name] for name in wrt}}
    return inputs, losses
    # end of task 4


def fault(steps, inputs, arity):
    """None for a list that is valid, else (n, sentence): the number of the first line at fault, from 1, and what is wrong there.

    steps: the list. inputs: the names of the registers that have a value from the start. arity: the operators that there are and
    their numbers of arguments, such as {"add": 2, "square": 1}.
    """
    # task 5: fault
    known = set(inputs)
    for n, (z, g, args) in enumerate(steps, 1):
        if g not in arity:
            return n, f"there is no operator {g}"
        if not isinstance(args, tuple):
            return n, f"the arguments of {g} are {args!r}, not a tuple; a tuple of one is written ({args!r},)"
        if len(args) != arity[g]:
            return n, f"{g} takes {arity[g]} arguments and was given {len(args)}"
        for a in args:
            if isinstance(a, str) and a not in known:
                return n, f"{a} is used before it has a value"
        if z in known:
            return n, f"{z} has a value already, and a register is assigned once"
        known.add(z)
    return None
    # end of task 5


if __name__ == "__main__":
    house = {"h": 5.0, "w": 10.0, "targetArea": 200.0, "targetHeight": 8.0, "heightFactor": 100.0}
    G, DG = make_G(), make_DG()
    values = eval(HOUSE, house, G)
    deltas = backprop(HOUSE, values, DG, "loss")
    print("loss", values["loss"], "  dloss/dh", deltas["h"], "  dloss/dw", deltas["w"])
    house, losses = descend(lambda inputs: eval(HOUSE, inputs, G), lambda values: backprop(HOUSE, values, DG, "loss"),
                            house, ["h", "w"], "loss", 0.001, 20)
    print("h", house["h"], "  w", house["w"], "  losses", *losses)
