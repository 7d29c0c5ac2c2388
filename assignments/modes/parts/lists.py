"""Random lists of numbers."""

BOUNDED, ONE, TWO = ["sin", "cos", "tanh"], ["exp", "square"], ["mul", "add", "subtract"]


def random_list(rng, inputs, lines):
    """A list of numbers z1, z2, … with these inputs, all of which are read. Its values stay small."""
    known, small, steps = list(inputs), list(inputs), []
    for k in range(lines):
        op = str(rng.choice(TWO if k < len(inputs) or rng.random() < 0.5 else BOUNDED if rng.random() < 0.7 else ONE))
        first, second = (str(rng.choice(small if op in ("exp", "square", "mul") else known)) for _ in range(2))
        if k < len(inputs):
            first = inputs[k]
        steps.append((f"z{k + 1}", op, (first, second) if op in TWO else (first,)))
        known.append(f"z{k + 1}")
        if op in BOUNDED:
            small.append(f"z{k + 1}")
    return steps


def random_loss(rng, inputs, lines):
    """A random list whose register f depends on all inputs, and on none of them linearly."""
    steps = random_list(rng, inputs, lines)
    read = {a for _, _, args in steps for a in args}
    ends = [dst for dst, _, _ in steps if dst not in read]
    for k, end in enumerate(ends[1:]):
        steps.append((f"s{k + 1}", "add", (f"s{k}" if k else ends[0], end)))
    return [*steps, ("s", "sin", (steps[-1][0],)), ("f", "square", ("s",))]


def scaled(rng, steps):
    """The list in which what each line gives is multiplied by a number: its values do not tell what its operators are."""
    return [line for dst, op, args in steps
            for line in ((f"{dst}_", op, args), (dst, "mul", (float(rng.uniform(0.5, 1.5)), f"{dst}_")))]


def point(rng, inputs):
    return {x: float(rng.uniform(0.3, 1.2) * rng.choice([-1, 1])) for x in inputs}
