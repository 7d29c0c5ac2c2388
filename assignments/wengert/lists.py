"""What is graded with: the lists of the documents, random ones, lists with a fault, and a loss to descend on."""
from xman.wengert import WengertList

from .solution import wengert as reference

G, DG = reference.make_G(), reference.make_DG()
ARITY = {g: len(partials) for g, partials in DG.items()}
REPS_3 = [("z1", "mul", (4.0, "y")), ("z2", "add", ("x", "z1")), ("z3", "add", ("x", "y")), ("z4", "mul", ("z3", "y")),
          ("h", "mul", ("z2", "z4"))]
ADAMS_17 = [("v1", "divide", ("x1", "x2")), ("v2", "sin", ("v1",)), ("v3", "exp", ("x2",)), ("v4", "subtract", ("v1", "v3")),
            ("v5", "add", ("v2", "v4")), ("y", "mul", ("v5", "v4"))]
DOCUMENTS = {"equation 1": reference.EQUATION_1, "the cube": reference.CUBE, "the triangle": reference.TRIANGLE,
             "the house": reference.HOUSE, "Reps, equation 3": REPS_3, "Adams, equation 17": ADAMS_17}


def number(rng, low, high):
    """A number of three decimals, which is short to print."""
    return round(float(rng.uniform(low, high)), 3)


def somewhere(rng, steps):
    """Inputs for a list, positive and of moderate size."""
    return {name: number(rng, 0.5, 2.0) for name in WengertList(steps).inputs}


def random_list(rng, lines, literals=False):
    """(steps, inputs, values): a valid list of the operators of the tables, of so many lines or a few more.

    Every register but the last is read, none twice in one line. Values and partial derivatives stay small, and no delta
    is 0, so that rounding makes no difference that would count.
    """
    inputs = {f"x{k}": number(rng, -2, 2) for k in range(1, 5)}
    steps, values, unused = [], dict(inputs), list(inputs)
    while len(steps) < lines or len(unused) > 1:
        free = len(steps) < lines  # else what is unused is added up
        g = str(rng.choice(list(G))) if free else "add"
        others = [*(name for name in values if name != unused[0]), *(number(rng, 0.5, 2.0) for _ in range(8 * literals))]
        pair = (unused[0], others[rng.integers(len(others))] if free else unused[1])
        args = pair[:1] if ARITY[g] == 1 else pair[::rng.choice([-1, 1])]
        numbers = [values[a] if isinstance(a, str) else a for a in args]
        try:
            out, slopes = G[g](*numbers), [slope(*numbers) for slope in DG[g]]
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
        if not free or abs(out) < 4 and all(abs(slope) < 2 for slope in slopes):
            steps.append((z := f"z{len(steps) + 1}", g, args))
            values[z] = out
            unused = [*(name for name in unused if name not in args), z]
    deltas = reference.backprop(steps, values, DG, steps[-1][0])
    return (steps, inputs, values) if min(map(abs, deltas.values())) > 1e-4 else random_list(rng, lines, literals)


FAULTS = {
    "an unknown operator": "Is each operator one of those in arity?",
    "a wrong number of arguments": "Has each operator as many arguments as arity says?",
    "a tuple of one without its comma": 'The notes, §1.3, print ("f", "square", ("z2")): what type has its last item? '
                                        "A string has a length and letters, and may pass for a tuple of names.",
    "an unknown register": "Which names have a value when a line's turn comes? Each argument has to be one of them, or a number.",
    "a register used too early": "Which names have a value when a line's turn comes? Those of earlier lines, and the inputs.",
    "a register that reads itself": "Does a register have a value already when its own line comes?",
    "a register assigned twice": "A register is assigned once: which of the names on the left have had their line already?",
    "an input assigned": "A register is assigned once, and an input has its value already."}


def planted(rng, steps, kind):
    """(a copy of the list with one fault of that kind, the number of its line, what the sentence has to name).

    The inputs are those of random_list and u, which is not used otherwise.
    """
    steps = list(steps)
    k = int(rng.integers(3, len(steps) - 1))
    z, g, args = steps[k]
    rare = sorted({*ARITY} - {g for _, g, _ in steps})  # operators of the course that this arity need not have
    before, after = ([z for z, _, _ in some] for some in (steps[:k], steps[k:]))
    culprit = str(rng.choice({
        "an unknown operator": ["plus", "cube", "times", *rare], "a wrong number of arguments": [g],
        "a tuple of one without its comma": ["tuple"], "an unknown register": ["y", "X1", "z", "loss"],
        "a register used too early": after, "a register that reads itself": [z],
        "a register assigned twice": before, "an input assigned": ["x2"]}[kind]))
    faulty = {"an unknown operator": (z, culprit, args), "an unknown register": (z, g, (culprit, *args[1:])),
              "a wrong number of arguments": (z, g, (*args, args[0]) if rng.integers(2) else args[1:]),
              "a tuple of one without its comma": (z, "half", "u"), "a register used too early": (z, "add", ("x1", culprit)),
              "a register that reads itself": (z, "add", (culprit, "x3"))}
    if kind in faulty:
        steps[k] = faulty[kind]
    else:
        steps.insert(k, (culprit, "add", tuple(str(a) for a in rng.choice(["x1", "x3", *before], 2))))
    return steps, k + 1, culprit


def bowl(rng):
    """(evaluate, differentiate, start, the calls) of loss = a z² + y z + b y² + c, z = x − p; c and t are inputs too."""
    a, b, p = (number(rng, 0.5, 2.0) for _ in range(3))
    calls = []

    def evaluate(inputs):
        calls.append(("evaluate", dict(inputs)))
        y, z = inputs["y"], inputs["x"] - p
        return {**inputs, "loss": a * z * z + y * z + b * y * y + inputs["c"], "z": z}

    def differentiate(values):
        calls.append(("differentiate", dict(values)))
        y, z = values["y"], values["z"]
        return {"loss": 1.0, "z": 2 * a * z + y, "x": 2 * a * z + y, "y": 2 * b * y + z, "c": 1.0, "t": 0.5}
    return evaluate, differentiate, {"x": number(rng, 3, 5), "y": number(rng, -3, -1), "c": 1.5, "t": 2.5}, calls
