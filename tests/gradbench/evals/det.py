"""The determinant by expansion by minors, from the last row up; a minor that several others need is computed
once."""
from itertools import combinations

import numpy as np

import xman


def prepare(given):
    return (np.reshape(given["A"], (given["ell"], given["ell"])),)


def by_minors(A):
    size = len(A)
    minors, known = A[-1], [(j,) for j in range(size)]  # minors of the rows below, by their columns
    for row in range(size - 2, -1, -1):
        place = {columns: k for k, columns in enumerate(known)}
        known = list(combinations(range(size), size - row))
        below = [[place[columns[:j] + columns[j + 1:]] for j in range(size - row)] for columns in known]
        signs = (-1.0) ** np.arange(size - row)
        minors = np.sum(signs * A[row][np.array(known)] * minors[np.array(below)], axis=1)
    return minors[0]


primal = xman.jit(by_minors)
gradient = xman.jit(xman.grad(by_minors))


def written(function, output):
    return output if function == "primal" else output.ravel()
