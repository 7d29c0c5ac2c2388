"""Mistakes that students make, and what each is told: one hint a fault, and not that of another.

(assignment, text in the solution, the mistake, the part or check, words of the feedback)
"""
import functools
from pathlib import Path

import pytest
from inside import Inside, module_of, probes_of

from xman.grade import load_assignment
from xman.grade.judge import judged_case
from xman.grade.record import seed_of

ROOT = Path(__file__).parents[2] / "assignments"
SUM, RETURN = "deltas[a] += deltas[z] * derivative(*inputs)", "    return values\n    # end of task 2"
MOVE = "inputs = {**inputs, **{name: inputs[name] - rate * deltas[name] for name in wrt}}\n"
LIST, RANDOM, CUBE, EQ1 = ("backprop: the lists of the documents", "backprop: random lists",
                           "the deltas of x³ at x = 5 (the notes, §1.4)", "the deltas of equation 1 at x1 = 3, x2 = 7")
ARGS = "[values[a] if isinstance(a, str) else a for a in args]"
LOSS, SCORES = "f.mean(f.softmaxCrossEntropy(self.scores, self.y))", "self.X @ self.W + self.b"
OUTPUTS = "self.outputs = f.softmax(self.scores)"
FITS = "is one transposed that should not be"
MISTAKES = [
    ("wengert", "    deltas[f] = 1.0\n", "", CUBE, "d[f] = 1"),
    ("wengert", "    deltas[f] = 1.0\n", "", EQ1, "d[f] = 1"),
    ("wengert", "deltas[f] = 1.0", "deltas[f] = 0.0", LIST, "derivative of f with respect to f itself"),
    ("wengert", "deltas[f] = 1.0", "deltas[steps[-1][0]] = 1.0", "backprop: a register that is read many times",
     "here the last line begins with it"),
    ("wengert", f"G[g](*{ARGS})", f"G[g]({ARGS})", "eval: the lists of the documents", "G['add'](*…), with a star"),
    ("wengert", f"G[g](*{ARGS})", f"G[g](tuple({ARGS}))", "equation 1 at x1 = 3, x2 = 7", "one tuple in place of the arguments"),
    ("wengert", "derivative(*inputs)", "derivative(inputs)", LIST, "DG['square'][0](*…), with a star"),
    ("wengert", "derivative(*inputs)", "derivative(*[values[z]] * len(inputs))", RANDOM, "at the values of its line's arguments"),
    ("wengert", "derivative(*inputs)", "derivative(*[values[z]] * len(inputs))", EQ1, "the partial at z2 = 13"),
    ("wengert", "derivative(*inputs)", "derivative(values[a])", RANDOM, "it takes all 2 of a line"),
    ("wengert", "in reversed(steps):", "in steps:", LIST, "stepped through from its first line"),
    ("wengert", "deltas[a] += deltas[z]", "deltas[a] = deltas[z]", RANDOM, "what comes later replaces here what came before"),
    ("wengert", SUM, "deltas[a] += derivative(*inputs)", LIST, "the delta is left out"),
    ("wengert", "derivative(*inputs)", "DG[g][0](*inputs)", LIST, "here all have the first"),
    ("wengert", RETURN, RETURN.replace("values", "values[z]", 1), "eval: random lists", "The notes return the last value"),
    ("wengert", RETURN, RETURN.replace("values", "{z: values[z] for z, _, _ in steps}", 1),
     "eval: numbers among the arguments", "The inputs are in the result too"),
    ("wengert", RETURN, "    # end of task 2", "eval: random lists", "is a return missing?"),
    ("wengert", "    values = dict(values)\n", "", "eval: the arguments stay as they are", "add your entries to a copy"),
    ("wengert", ARGS + ")\n    return", "[values[a] for a in args])\n    return", "eval: numbers among the arguments",
     "what is no string is a number itself"),
    ("wengert", "values[loss]", "evaluate({**inputs})[loss] * 0", "one update of (x − 3)², down the slope", "before each update"),
    ("wengert", "inputs[name] - rate", "inputs[name] + rate", "one update of (x − 3)², down the slope", "which way is down?"),
    ("wengert", "return inputs, losses", "return losses, inputs", "descend: the losses", "in that order"),
    ("wengert", "differentiate(values)", "differentiate(inputs)", "descend: the losses", "takes what evaluate returned"),
    ("wengert", MOVE, "for name in wrt:\n            start[name] -= rate * deltas[name]\n        inputs = dict(start)\n",
     "descend: start stays as it is", "begin with a copy, dict(start)"),
    ("wengert", "    return None\n    # end of task 5", "    return True\n    # end of task 5",
     "valid lists and their twins with a fault", "None itself"),
    ("wengert", "enumerate(steps, 1)", "enumerate(steps)", "a register is used before it has a value", "the number 1"),
    ("wengert", '"exp": [lambda x: math.exp(x)]', '"exp": lambda x: math.exp(x)', "the partials of DG", "is a list with one function"),
    ("wengert", "{**inputs, **{name: inputs[name] - rate * deltas[name] for name in wrt}}",
     "{name: inputs[name] - rate * deltas[name] for name in wrt}", "descend: the inputs after the updates", "not in wrt keep their values"),
    ("wengert", "dict.fromkeys(values, 0.0)", "dict.fromkeys(values, 1.0)", RANDOM, "The deltas begin at 0.0"),
    ("wengert", "dict.fromkeys(values, 0.0)", "{}", RANDOM, "has a delta from the start"),
    ("wengert", "if isinstance(a, str) and a not in known:", "if a not in known:", "valid lists and their twins with a fault",
     "A number among the arguments needs no register"),
    ("wengert", "        known.add(z)\n", "        pass\n", "valid lists and their twins with a fault",
     "has a value: a line above assigns it"),
    ("wengert", 'return n, f"{g} takes', 'return f"line {n}", f"{g} takes', "valid lists and their twins with a fault", "the number itself"),
    ("wengert", '"sin": [lambda x: math.cos(x)]', '"sin": [math.cos(1)]', "the partials of DG", "is a list with one function"),
    ("operators", "return delta * (2 * x)", "return 2 * x", "entry by entry: rules", "delta times the derivative at x"),
    ("operators", "return delta * (1 - out ** 2)", "return delta * (1 - x ** 2)", "entry by entry: rules", "out is tanh x already"),
    ("operators", "e / np.sum(e, axis=-1, keepdims=True)", "e / np.sum(e, axis=-1)", "softmax: values", "each row by itself"),
    ("operators", "unbroadcast(delta * x, np.shape(y))", "delta * x", "entry by entry: rules that undo a broadcast",
     "Like y, what is sent back to it should have the shape ("),
    ("operators", "    return delta * (x > 0)", "    delta[x <= 0] = 0\n    return delta", "entry by entry: the arguments stay as they are",
     "x * 2 makes a new array"),
    ("operators", "-np.sum(y * log, axis=-1, keepdims=True)", "-np.sum(y * log, axis=-1)", "crossEntropy: very small probabilities",
     "Did a sum or a reshape lose an axis"),
    ("operators", "(f(up) - f(down)) / (2 * step)", "(f(up) - f(down)) / step", "differences: every entry", "It is twice what it should be."),
    ("operators", "(f(up) - f(down)) / (2 * step)", "(f(up) - f(down)) / step", "wrong_rules: which rule is wrong?",
     "is your difference quotient"),
    ("operators", '"dot", ("X", "W")', '"dot", ("W", "X")', "the lists", FITS),
    ("operators", '"crossEntropy", ("z3", "y")', '"crossEntropy", ("y", "z3")', "the lists", "which argument of crossEntropy is the prediction"),
    ("operators", '("z3", "softmax", ("z2",))', '("z3", "softmax", ("z2"))', "the lists", "a tuple of one argument is ('z2',)"),
    ("operators", "return delta @ b.T", "return delta @ b", "your operators in your lists", "which part of its task is not full"),
    ("logreg", OUTPUTS, "self.outputs = self.scores", "outputs are probabilities", "the softmax of scores"),
    ("logreg", SCORES, SCORES.replace("W", "W.T"), "scores and their adjoints", FITS),
    ("logreg", LOSS, LOSS.replace("mean", "sum"), "the loss and its derivative", "This is the sum over the rows"),
    ("logreg", LOSS, LOSS.replace("mean", "sum"), "the loss of large scores", "This is the sum over the rows"),
    ("logreg", LOSS, LOSS.replace("scores", "outputs"), "the loss and its derivative", "softmax is taken twice"),
    ("logreg", LOSS, f"-{LOSS}", "the loss and its derivative", "where is the minus?"),
    ("logreg", "outputs.argmax(axis=1)", "outputs.argmax(axis=0)", "the accuracy", "along axis 1"),
    ("logreg", "return np.mean(outputs.argmax", "return 100 * np.mean(outputs.argmax", "loss and accuracy of two rows", "not per cent"),
    ("logreg", "rng.permutation(len(X))", "np.arange(len(X))", "any row can come first, and the data stay", "The order is drawn"),
    ("logreg", "X[some], y[some]", "X[some], y[start:start + size]", "seven rows in minibatches of three", "one and the same order"),
    ("logreg", "value - rate * gradient", "value + rate * gradient", "a step", "the step goes down"),
    ("logreg", "value - rate * gradient", "value - gradient", "a step", "where is the rate?"),
    ("logreg", "    return best\n", "    return parameters\n", "a validation loss that is no number", "nothing is less than NaN"),
    ("logreg", "    order = rng.permutation(len(X))\n",
     "    order = rng.permutation(len(X))\n    X[:], y[:] = X[order], y[order]\n    order = np.arange(len(X))\n",
     "any row can come first, and the data stay", "X[order] makes a new array"),
    ("logreg", "    return values[last], {name", "    return {name", "value and gradient", "return value, gradient"),
    ("logreg", "(up - down) / (2 * epsilon)", "(up - down) / 2 * epsilon", "central differences of every element", "one and the same factor"),
    ("logreg", "self.X @ self.W + self.b", "self.W @ self.X + self.b", "scores and their adjoints", "are the two exchanged?"),
    ("mlp", "        self.scores = a\n", "        self.scores = h\n", "inputs, parameters and their defaults", "self.scores is X itself"),
    ("mlp", 'b = f.param(default=parameters[f"b{k}"])', 'b = parameters[f"b{k}"]', "inputs, parameters and their defaults",
     "an input or a parameter of its own"),
    ("mlp", "X[i, t, column", "X[t, i, column", "one-hot characters", "which of the three comes first?"),
    ("mlp", "        for first in range(0, rows, size):\n", "        for first in range(0, rows, size):\n            order = shuffle(rows)\n",
     "an epoch's minibatches", "each epoch has an order of its own"),
    ("mlp", "a = h @ W + b", "a = h @ W.T + b", "hidden layers", FITS),
    ("mlp", OUTPUTS, "self.outputs = self.scores", "outputs that are probabilities", "self.outputs is the register self.scores itself"),
    ("mlp", OUTPUTS, "self.outputs = self.scores", "the loss", "self.outputs is the register self.scores itself"),
    ("mlp", OUTPUTS, "self.outputs = self.scores", "the rows of the outputs are probabilities", "self.outputs is the register self.scores"),
    ("mlp", "self.loss = f.mean(f.crossEntropy(self.outputs, self.y))", "self.loss = self.outputs", "the loss", "one number"),
    ("mlp", "w - rate * deltas", "w + rate * deltas", "a step goes down the gradient", "goes up the gradient"),
    ("mlp", "w - rate * deltas", "w - rate / size * deltas", "a step goes down the gradient", "not divided by its rows once more"),
    ("mlp", "    return best\n", "    return parameters\n", "the best epoch, not the last", "the last epoch"),
    ("mlp", "(Y.argmax(axis=1), outputs.argmax(axis=1))", "(outputs.argmax(axis=1), Y.argmax(axis=1))", "a confusion",
     "the row is the class that it is"),
    ("mlp", "for _ in range(epochs):", "for _ in range(1):", "it learns names", "the steps go by your own train"),
    ("lstm", 'h @ p["Ui"]', 'h @ p["Ui"].T', "the new cell state", "Ui is transposed"),
    ("lstm", 'h @ p["Uo"]', 'h @ p["Uo"].T', "the new hidden state", "Uo is transposed"),
    ("lstm", 'x @ p["Wo"]', 'x @ p["Wo"].T', "the new hidden state", FITS),
    ("lstm", "return o * f.tanh(c), c", "return c, o * f.tanh(c)", "where all is kept and nothing comes in, the cell state stays",
     "cell gives back (h, c)"),
    ("lstm", "np.sqrt(sum(np.sum(d ** 2) for d in deltas.values()))", "max(np.sqrt(np.sum(d ** 2)) for d in deltas.values())",
     "3, 4 and 12 are as long as 13", "that of all arrays together"),
    ("lstm", "    return {name: factor * d for name, d in deltas.items()}",
     "    for d in deltas.values():\n        d *= factor\n    return deltas", "deltas of zeros, and deltas that stay as they are",
     "changes the array itself"),
    ("lstm", "parameters, rate = best, rate / 2", "rate = rate / 2", "back to the best, with half the rate",
     "begins at the best parameters"),
    ("modes", "dx * y + x * dy", "dx * dy", "products", "The product rule has two terms"),
    ("modes", "- x * dy) / (y * y)", "- x * dy) / y", "quotients", "what is the denominator?"),
    ("compiler", "values[dst] = G[op](*args)", "values[dst] = G[op](args)", "constant lines are computed", "The star in G[op](*args)"),
    ("modes", "return np.array(columns).T", "return np.array(columns)", "the Jacobian of (8.49) and (8.65)", "It is transposed."),
    ("modes", "Dual(other - self.value, -self.tangent, self.tag)", "Dual(self.value - other, self.tangent, self.tag)",
     "sums and differences", "the other way round"),
    ("compiler", "return live[::-1]", "steps[:] = live[::-1]\n    return steps", "the list that was given stays as it is", "Make a new list"),
    ("compiler", "in reversed(steps):", "in steps:", "the example: z2 is dead", "Was its line dropped"),
    ("compiler", 'return f"({a!r})"', 'return f"{a!r}"', "literals", "-2.0 ** 2.0 is -(2.0 ** 2.0)"),
    ("compiler", 'return f"{a}_"', 'return f"{a.strip(chr(95))}_"', "names that stand in the text", "x and x_ are two registers"),
    ("wengert", "    known = set(inputs)\n", "    known = set()\n", "valid lists and their twins with a fault",
     "is among the inputs, and has a value from the start"),
    ("mlp", "loss = -np.mean(np.log(outputs[Y == 1]))", "loss = -np.sum(np.log(outputs[Y == 1]))",
     "a class of probability 0 that is not the row's", "the mean over all rows"),
    ("operators", "    return wrong\n", "    return wrong[::-1]\n", "wrong_rules: which rule is wrong?", "from 0, in order"),
    ("modes", "return np.array([tangents.get(y, 0.0) for y in of])", "return np.array([tangents[y] for y in of])", "J r in one pass",
     "has the derivative 0")]


@functools.lru_cache
def assignment_of(name):
    return load_assignment(ROOT / name)


def told(name, source, title):
    """The feedback of the first case without full credit."""
    assignment = assignment_of(name)
    part, = (part for task in assignment.tasks for part in (*task.parts, *task.checks) if part.title == title)
    student = Inside(module_of(source), probes_of(assignment.probes))
    cases = [judged_case(part, case, extra, student, seed_of("a term", assignment.module, title, case))
             for case, extra in part.named_cases()]
    return next(case["feedback"] for case in cases if case["credit"] < 1)


@pytest.mark.filterwarnings("ignore")  # what overflows is the mistake
@pytest.mark.parametrize(("name", "right", "mistake", "title", "words"), MISTAKES, ids=[f"{row[0]}: {row[3]}: {row[4][:40]}" for row in MISTAKES])
def test_a_mistake_is_told_what_it_is(name, right, mistake, title, words):
    source = (ROOT / name / "solution" / f"{name}.py").read_text("utf-8")
    assert right in source
    feedback = told(name, source.replace(right, mistake), title)
    assert words in f"{feedback['came_back']} {feedback['look']}", feedback
    assert not feedback.get("grader")


@pytest.mark.parametrize(("name", "right", "mistake", "full"), [
    ("mlp", "a = h @ W + b", "a = h @ W.T + b", ["inputs, parameters and their defaults", "the loss"]),
    ("lstm", 'x @ p["Wo"]', 'x @ p["Wo"].T', ["the new cell state"]),
    ("logreg", SCORES, SCORES.replace("W", "W.T"), ["outputs are probabilities", "the loss and its derivative", "the penalty"])])
def test_a_line_that_fails_costs_its_own_points_and_not_the_task(name, right, mistake, full):
    assignment = assignment_of(name)
    source = (ROOT / name / "solution" / f"{name}.py").read_text("utf-8").replace(right, mistake)
    parts = [part for task in assignment.tasks for part in task.parts if part.title in full]
    student = Inside(module_of(source), probes_of(assignment.probes))
    assert len(parts) == len(full)
    assert {judged_case(part, case, extra, student, seed_of("a term", case))["credit"]
            for part in parts for case, extra in part.named_cases()} == {1}
