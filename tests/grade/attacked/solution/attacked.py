"""What nobody may see: c4n4ry-of-the-solution."""


def gradient(steps, values, rules):
    """The derivatives of a list's last register with respect to all registers; rules[op](d, *args) gives those of one line."""
    # task 1: gradient
    deltas = {name: 0.0 for name in values}
    deltas[steps[-1][0]] = 1.0
    for z, op, args in reversed(steps):
        inputs = [values[a] if isinstance(a, str) else a for a in args]
        for a, d in zip(args, rules[op](deltas[z], *inputs), strict=True):
            if isinstance(a, str):
                deltas[a] += d
    return deltas
    # end of task 1


def average(rows):
    """The mean of each row."""
    # task 2: average
    return [sum(row) / len(row) for row in rows]
    # end of task 2
