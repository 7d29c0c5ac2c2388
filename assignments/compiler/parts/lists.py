"""Random lists."""

ARITY = {"add": 2, "subtract": 2, "mul": 2, "power": 2, "sin": 1, "tanh": 1, "exp": 1, "where": 3}
ORDERED = ["subtract", "power", "sin", "tanh", "where"]  # nobody takes these for commutative
INPUTS = ["w", "x", "y"]


def live_list(rng, lines, operators=ORDERED, last="f"):
    """A random list whose last register, of that name, depends on every line."""
    steps, before = [], INPUTS[0]
    for k in range(lines):
        op = str(rng.choice(operators))
        args = [str(rng.choice([*INPUTS, *(dst for dst, _, _ in steps)])) for _ in range(ARITY[op])]
        args[int(rng.integers(len(args)))] = before
        before = f"{last}{k}" if k < lines - 1 else last
        steps.append((before, op, tuple(args)))
    return steps


def renamed(rng, steps, keep):
    """The list with other names for its registers, so that nobody can tell from a name what a line is for."""
    old = [dst for dst, _, _ in steps if dst not in keep]
    new = dict(zip(old, (f"z{k}" for k in rng.permutation(len(old)) + 1), strict=True))
    return [(new.get(dst, dst), op, tuple(new.get(a, a) if isinstance(a, str) else a for a in args)) for dst, op, args in steps]


def disguised(rng, steps, *tables):
    """(the list in which the operators of the tables have other names, the tables with these): nobody knows what they do."""
    names = dict(zip(tables[0], (f"g{k}" for k in rng.permutation(len(tables[0])) + 1), strict=True))
    return [(dst, names.get(op, op), args) for dst, op, args in steps], *(
        {names.get(op, op): entry for op, entry in table.items()} for table in tables)


def insert(rng, steps, lines):
    """The list with these lines at random places, each after what it reads."""
    steps = list(steps)
    for line in lines:
        places = [k + 1 for k, (dst, _, _) in enumerate(steps) if dst in line[2]]
        steps.insert(int(rng.integers(max(places, default=0), len(steps) + 1)), line)
    return steps


def woven(rng, one, other):
    """Both lists in one, each in its order."""
    one, other, steps = list(one), list(other), []
    while one or other:
        steps.append((one if not other or one and rng.random() < 0.5 else other).pop(0))
    return steps


def doubled(rng, steps, times):
    """The list in which, as often as that, a line is written again for one of its readers: alike, under another name."""
    steps = list(steps)
    for n in range(times):
        computed = {dst for dst, _, _ in steps}
        k = int(rng.choice([k for k, (_, _, args) in enumerate(steps) if computed & set(args)]))
        dst, op, args = steps[k]
        twin = str(rng.choice([a for a in args if a in computed]))
        steps[k] = (dst, op, tuple(f"e{n}" if a == twin else a for a in args))
        steps.insert(k, (f"e{n}", *next(line[1:] for line in steps if line[0] == twin)))
    return steps


def with_literals(rng, op, literals):
    """A list with a line op(x, literal) for each literal, in random order, all of which f depends on."""
    lines = [(f"a{k}", op, ("x", literals[int(k)])) for k in rng.permutation(len(literals))]
    sums = [(f"s{k}", "subtract", (lines[0][0] if k == 1 else f"s{k - 1}", lines[k][0])) for k in range(1, len(lines))]
    return renamed(rng, [*lines, *sums[:-1], ("f", *sums[-1][1:])], ["f"])


def number(rng):
    return round(float(rng.uniform(1, 9)), 2)


def constant_chain(rng):
    """Two chains of constants, of float literals, which meet the inputs."""
    a, b, c = (str(op) for op in rng.choice(["add", "subtract", "mul", "divide"], 3))
    return renamed(rng, [
        ("a", a, (number(rng), number(rng))), ("b", b, ("a", number(rng))), ("p", "mul", ("x", "b")), ("c", c, ("a", 2.0)),
        ("q", "divide", ("c", "y")), ("e", "sqrt", (number(rng),)), ("r", "mul", ("q", "e")), ("f", "add", ("p", "r"))], ["f"])
