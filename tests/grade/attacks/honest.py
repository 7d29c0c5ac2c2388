# Tries: nothing. It is the measure for all others: as much work as they do, in earnest.
# Worked: it has less than all points.
# worth: 100
def gradient(steps, values, rules):
    deltas = dict.fromkeys(values, 0.0)
    deltas[steps[-1][0]] = 1.0
    for z, op, args in reversed(steps):
        inputs = [values[a] if isinstance(a, str) else a for a in args]
        for a, d in zip(args, rules[op](deltas[z], *inputs), strict=True):
            if isinstance(a, str):
                deltas[a] += d
    return deltas


def average(rows):
    return [sum(row) / len(row) for row in rows]
