# Tries: to make the grader take all memory in the functions that it lends: arrays that broadcast, lists and strings that are
# repeated.
# Worked: the grader's memory grows, or it is killed.
# worth: 40
import numpy as np

asked = []


def gradient(steps, values, rules):
    asked.append(1)
    if len(asked) > 1:
        return {}
    column, row = np.zeros((20_000, 1)), np.zeros((1, 20_000))
    for d, x, y in ((column, row, 1.0), ([0] * 30_000, 10 ** 6, 1), ("a" * 30_000, 10 ** 6, 1), (1, ((0,) * 30_000), 10 ** 6),
                    (np.zeros((1000, 1, 1)), np.zeros((1, 1000, 1)), np.zeros((1, 1, 1000))), ("%999999999999d", 1, 1),
                    ([[0.0] * 2000] * 20, 9999, 1),
                    (10 ** 29, 10 ** 29, 2)):
        for op in ("mul", "add"):
            try:
                rules[op](d, x, y)
            except ValueError as error:
                print(error)
    return {}


def average(rows):
    return [sum(row) / len(row) for row in rows]
