"""Planted bugs: (what is wrong, text in the solution, its replacement, the part or parts that lose by it)."""
DOCUMENTS, RANDOM, MANY, ZERO, LITERALS, ANY, PARTIALS, KEPT, LONG = (f"backprop: {title}" for title in (
    "the lists of the documents", "random lists", "a register that is read many times",
    "what f does not depend on has the delta 0", "numbers among the arguments", "operators of any number of arguments",
    "each partial is taken once, where it belongs", "the arguments stay as they are", "a list of 100,000 lines"))
MOVED, LOSSES, HOUSE, WORK, START = (f"descend: {title}" for title in (
    "the inputs after the updates", "the losses", "the house", "one evaluation and one gradient for each update",
    "start stays as it is"))
TWINS = "valid lists and their twins with a fault"

LINE = "        values[z] = G[g](*[values[a] if isinstance(a, str) else a for a in args])\n"
SUM = "deltas[a] += deltas[z] * derivative(*inputs)"
EACH = "for a, derivative in zip(args, DG[g], strict=True):"

MUTANTS = [
    ("half is forgotten to halve", '"half": lambda x: x / 2', '"half": lambda x: x', "the values of G"),
    ("the minus of subtract is lost", "lambda x, y: -1.0", "lambda x, y: 1.0", "the partials of DG"),
    ("the partials of mul are exchanged", "[lambda x, y: y, lambda x, y: x]", "[lambda x, y: x, lambda x, y: y]",
     "the partials of DG"),
    ("the quotient rule without its square", "-x / y ** 2", "-x / y", "the partials of DG"),
    ("the derivative of cos without its minus", "-math.sin(x)", "math.sin(x)", "the partials of DG"),
    ("tanh by cosh, which overflows", "1 - math.tanh(x) ** 2", "1 / math.cosh(x) ** 2", "tanh far from 0"),

    ("eval writes into the dictionary that it was given", "values = dict(values)\n", "values = values\n",
     "eval: the arguments stay as they are"),
    ("an input that no line reads is left out", "values = dict(values)\n",
     "values = {a: values[a] for _, _, args in steps for a in args if a in values}\n", "eval: random lists"),
    ("eval calls each function twice", LINE, 2 * LINE, "eval: each line is evaluated once, in order"),
    ("eval looks every argument up", LINE, "        values[z] = G[g](*[values[a] for a in args])\n",
     ("eval: numbers among the arguments", "eval: the lists of the documents")),
    ("eval takes two arguments at most", LINE, LINE.replace("in args", "in args[:2]"),
     "eval: operators of any number of arguments"),
    ("eval goes on to the next line by recursion", "    for z, g, args in steps:\n" + LINE,
     "    def go(rest):\n        for z, g, args in rest:\n    " + LINE + "            go(rest)\n    go(iter(steps))\n",
     "eval: a list of 100,000 lines"),

    ("a delta is overwritten", SUM, SUM.replace("+=", "="), (DOCUMENTS, RANDOM, MANY, PARTIALS, KEPT)),
    ("an argument that stands twice in a line counts once", EACH, "for a, derivative in dict(zip(args, DG[g])).items():",
     (DOCUMENTS, MANY)),
    ("delta is left out of the product", SUM, SUM.replace("deltas[z] * ", ""),
     (DOCUMENTS, RANDOM, MANY, LITERALS, ANY, LONG, PARTIALS, KEPT, ZERO)),
    ("the first partial is taken for every argument", "derivative(*inputs)", "DG[g][0](*inputs)",
     (DOCUMENTS, RANDOM, MANY, LITERALS, ANY, PARTIALS, KEPT)),
    ("zero times infinity", "if deltas[z] != 0.0:  # else 0 · infinity would be NaN", "if True:", ZERO),
    ("the last line is taken for f", "deltas[f] = 1.0", "deltas[steps[-1][0]] = 1.0", (MANY, ZERO)),
    ("a delta only for what f depends on", "    return deltas\n", "    return {a: d for a, d in deltas.items() if d}\n", ZERO),
    ("numbers get deltas too", "                if isinstance(a, str):\n",
     "                deltas.setdefault(a, 0.0)\n                if True:\n", (DOCUMENTS, LITERALS)),
    ("backprop turns the list around for good", "for z, g, args in reversed(steps):",
     "steps.reverse()\n    for z, g, args in steps:", KEPT),
    ("backprop sees two arguments at most", EACH, EACH.replace("args, DG[g]", "args[:2], DG[g][:2]"), ANY),

    ("descent climbs", "inputs[name] - rate", "inputs[name] + rate", (MOVED, LOSSES, HOUSE, WORK, START)),
    ("descent moves start itself", "        inputs = {**inputs, **{name: inputs[name] - rate * deltas[name] for name in wrt}}\n",
     "        for name in wrt:\n            start[name] -= rate * deltas[name]\n        inputs = dict(start)\n", START),
    ("descent moves everything that has a delta", "for name in wrt}", "for name in inputs}",
     (MOVED, LOSSES, HOUSE, WORK, START)),
    ("the loss is the last value", "losses.append(values[loss])", "losses.append([*values.values()][-1])",
     ("descend: the losses",)),
    ("only the last loss is kept", "losses.append(values[loss])", "losses[:] = [values[loss]]", LOSSES),
    ("evaluated again for the gradient", "deltas = differentiate(values)", "deltas = differentiate(evaluate(inputs))", WORK),

    ("a string passes for a tuple of names", "if not isinstance(args, tuple):", "if not isinstance(args, (tuple, str)):", TWINS),
    ("an input may be assigned", "if z in known:", "if z in known - set(inputs):", TWINS),
    ("a register counts as known before its line", "    for n, (z, g, args) in enumerate(steps, 1):\n        if g",
     "    later = {z for z, _, _ in steps}\n    for n, (z, g, args) in enumerate(steps, 1):\n        if later.issuperset(args):\n"
     "            continue\n        if g", TWINS),
    ("the operators are always those of the tables", "if g not in arity:", "if g not in {**make_G(), **arity}:",
     "valid lists and their twins with a fault"),
    ("a register may read itself", "isinstance(a, str) and a not in known", "isinstance(a, str) and a not in (*known, z)", TWINS),
    ("the last line at fault is told", "in enumerate(steps, 1):\n        if g not in",
     "in reversed([*enumerate(steps, 1)]):\n        if g not in", "valid lists and their twins with a fault"),
    ("lines are counted from 0", "enumerate(steps, 1)", "enumerate(steps)", TWINS),
]
