"""What is graded of tasks 3 and 4: the gradient check, and minibatches."""
import numpy as np

from xman.grade import expect, expect_share, expect_that, scale

from .digits import expect_places
from .public.checks import batching, checking
from .solution import logreg as reference

# ---- 3: the gradient check ------------------------------------------------------------------------------------------

class Surface:
    """A loss of A (2, 3) and c (2,) whose third derivatives are not small; it remembers where it was asked for."""

    def __init__(self, rng):
        self.parameters = {"A": rng.normal(size=(2, 3)), "c": rng.normal(size=2)}
        self.weights = {name: rng.normal(size=value.shape) for name, value in self.parameters.items()}
        self.asked = []

    def __call__(self, parameters):
        expect_places(parameters, self.parameters)
        if len(self.asked) >= 500:
            raise ValueError("the loss was asked for 500 times; there are 8 elements")
        self.asked.append({name: np.array(parameters[name], float) for name in self.parameters})
        return self.loss(self.asked[-1])

    def loss(self, parameters):
        return float(sum(np.sum(self.weights[name] * np.sin(2 * x) + x ** 3) for name, x in parameters.items()))


@checking.part("central differences of every element", points=5, cases=[("ε = 0.1", 0.1), ("ε = 1e-5", 1e-5)])
def central_differences(student, rng, name, epsilon):
    surface = Surface(rng)
    got = student.difference_quotients(surface, surface.parameters, epsilon)
    expect(got, reference.difference_quotients(surface.loss, surface.parameters, epsilon), "the quotients",
           "Bishop (8.25): a step of ε up, a step of ε down, all other elements where they were.", tolerance=1e-7)


@checking.part("two evaluations for each element", points=2)
def two_evaluations(student, rng):
    surface = Surface(rng)
    got = student.difference_quotients(surface, surface.parameters, 1e-3)
    most = max((sum(int(np.sum(np.abs(at[name] - start) > 1e-9)) for name, start in surface.parameters.items())
                for at in surface.asked), default=0)
    expect_that(most <= 1, "one element moved at a time", f"{most} were at once",
                "Put an element back, or better, do not change the parameters at all.")
    expect(got, reference.difference_quotients(surface.loss, surface.parameters, 1e-3), "the quotients",
           "Evaluations are counted where the quotients are right: see the part above.", tolerance=1e-7)
    expect_share(scale(len(surface.asked), none=32, full=16) * (len(surface.asked) >= 16),
                 "2 evaluations for each of 8 elements", f"{len(surface.asked)} evaluations",
                 "Does the quotient need the loss at the point itself?")


def drawn_places(rng, shapes, many):
    """So many places (name, index) in arrays of these shapes, each once."""
    every = [(name, index) for name, shape in shapes.items() for index in np.ndindex(shape)]
    return [every[k] for k in rng.permutation(len(every))[:many]]


@checking.part("places that disagree", points=4, cases=["the last element", "some", "large and small"])
def places(student, rng, case):
    """Several times, with places, their number and the order of the questions drawn: a list written in is none of them."""
    shapes = {"W": tuple(int(n) for n in rng.integers(2, 5, size=2)), "b": (1, int(rng.integers(2, 5)))}
    if case == "large and small":
        for _ in range(3):
            relative_and_absolute(student, rng, shapes)
        return
    last = [(name, tuple(n - 1 for n in shape)) for name, shape in shapes.items()]
    questions = [[], last[:1], last[1:], last] if case == "the last element" else [
        [], *(drawn_places(rng, shapes, int(rng.integers(1, 6))) for _ in range(3))]
    for k in rng.permutation(len(questions)):
        right = {name: rng.normal(size=shape) for name, shape in shapes.items()}
        wrong = {name: value + 1e-9 for name, value in right.items()}
        for name, index in questions[k]:
            wrong[name][index] += 1e-3 * rng.choice([-1, 1])
        expect_spots(student.disagreements(wrong, right, 1e-6), set(questions[k]))


def relative_and_absolute(student, rng, shapes):
    """The tolerance 1e-6 is relative above 1, absolute below; relative to the larger of two; and what is at it agrees."""
    sides = {"b": np.array([1.0, 1.9, 1.0, 0.5])}, {"b": np.array([1.9, 1.0, 2.1, 0.0])}
    expect_spots(student.disagreements(*sides, 0.5), {("b", (2,))})
    right = {name: rng.uniform(-1e-3, 1e-3, shape) for name, shape in shapes.items()}
    wrong, want = {name: value.copy() for name, value in right.items()}, set()
    kinds = [(1e6, 0.5), (1e6, 2.0), (-1e6, -2.0), (0.0, 5e-7), (0.0, 2e-6), (0.0, -2e-6)]
    for (name, index), (size, off) in zip(drawn_places(rng, shapes, len(kinds)), kinds, strict=True):
        right[name][index] += size
        wrong[name][index] += size + off
        if off not in (0.5, 5e-7):
            want.add((name, index))
    expect_spots(student.disagreements(wrong, right, 1e-6), want)


@checking.part("what is no number", points=2, hidden=True)
def no_number(student, rng):
    for _ in range(3):
        right = {"W": rng.normal(size=(3, 4))}
        wrong, want = {"W": right["W"].copy()}, drawn_places(rng, {"W": (3, 4)}, int(rng.integers(2, 6)))
        for k, (name, index) in enumerate(want):
            wrong[name][index] = (np.nan, np.inf)[k % 2]
        expect_spots(student.disagreements(wrong, right, 1e-6), set(want))


def expect_spots(got, want):
    right = isinstance(got, (list, tuple)) and all(
        isinstance(spot, (list, tuple)) and len(spot) == 2 and isinstance(spot[0], str) and isinstance(spot[1], tuple)
        and all(type(k) is int for k in spot[1]) for spot in got)
    expect_that(right, "a list of pairs (name, index), an index a tuple of whole numbers", got)
    found = {(name, tuple(index)) for name, index in got}
    expect_that(len(found) == len(got), "each place once", got)
    expect_that(found >= want, f"all {len(want)} places that disagree", f"{len(found & want)} of them: {sorted(found)}",
                "Does the search go on after the first place, and into every parameter? |a − b| has no sign.")
    other = sorted(found - want, key=str)
    expect_that(not other, "no place that agrees", f"{len(other)} of them, such as {other[:1]}",
                "The tolerance is absolute below 1 and relative above.")


# ---- 4: minibatches -------------------------------------------------------------------------------------------------

def epochs(student, rng, n, size, count=1, seed=None):
    """(X, y, the epochs that came back); each row of X has its number at the front, and its label belongs to it alone."""
    y = rng.integers(2 ** 30, size=n)
    X = np.concatenate([np.arange(n)[:, None], rng.normal(size=(n, 2))], axis=1)
    came = student.epochs_of(X, y, size, int(rng.integers(2 ** 31)) if seed is None else seed, count)
    expect_that(isinstance(came, list) and len(came) == count and all(isinstance(epoch, list) for epoch in came),
                "a list of epochs, from `epochs_of` as it was handed out", came)
    for epoch in came:
        expect_batches(epoch, n, size)
    return X, y, came


def expect_batches(epoch, n, size):
    """Wrong unless these are pairs of rows of three numbers and their labels, and of the n rows all full minibatches."""
    for batch in epoch:
        pair = isinstance(batch, (tuple, list)) and len(batch) == 2 and all(isinstance(side, np.ndarray) for side in batch)
        expect_that(pair, "pairs of arrays, rows of X and their labels", batch)
        expect_that(batch[0].ndim == 2 and batch[0].shape[1] == 3 and batch[1].shape == batch[0].shape[:1],
                    "rows of shape (m, features) and labels of shape (m,)", f"shapes {batch[0].shape} and {batch[1].shape}")
    met = sum(len(rows) for rows, _ in epoch)
    expect_that(met >= n - n % size, f"at least the {n // size} full minibatches of {n} rows by {size}", f"{met} rows")


def numbers_of(epoch):
    """The numbers of the rows of an epoch, in order."""
    return np.concatenate([np.zeros(0), *(rows[:, 0] for rows, _ in epoch)])


@batching.part("every row once an epoch", points=4, cases=[("12 rows by 4", 12, 4), ("20 by 1", 20, 1), ("6 by 6", 6, 6)])
def every_row(student, rng, name, n, size):
    X, _, came = epochs(student, rng, n, size, 3)
    for epoch in came:
        met = numbers_of(epoch)
        lacking, twice = np.setdiff1d(np.arange(n), met), len(met) - len(np.unique(met))
        expect_that(len(met) == n and not len(lacking), f"each of the {n} rows once an epoch",
                    f"{len(lacking)} rows were never met, {twice} more than once",
                    "A permutation has each number once; a choice has not.")
        expect(np.concatenate([rows for rows, _ in epoch]), X[met.astype(int)], "the rows, in the order in which they came")


@batching.part("rows and their labels", points=3)
def rows_and_labels(student, rng):
    _, y, came = epochs(student, rng, 30, 5, 2)
    for epoch in came:
        for rows, labels in epoch:
            kept = (rows[:, :1] == np.arange(30)) @ y == labels
            expect_that(kept.all(), "each row with its own label",
                        f"{np.sum(~kept)} of {len(kept)} rows of a minibatch with another one",
                        "X and y have to be taken in one and the same order.")


@batching.part("the sizes of the minibatches", points=3, cases=[("7 rows by 3", 7, 3), ("10 by 9", 10, 9), ("5 by 8", 5, 8)])
def sizes(student, rng, name, n, size):
    _, _, (epoch,) = epochs(student, rng, n, size)
    expect([len(rows) for rows, _ in epoch], [min(size, n - k) for k in range(0, n, size)], "the sizes of the minibatches",
           "The last minibatch has what is left.")


@batching.part("an order drawn from rng", points=3, cases=["another each epoch", "the same for the same rng"])
def order(student, rng, case):
    seed = int(rng.integers(2 ** 31))
    _, _, came = epochs(student, rng, 24, 6, 2, seed)
    first, second = map(numbers_of, came)
    if case == "another each epoch":
        expect_that(not np.array_equal(first, second), "another order in each epoch", "the same order twice",
                    "Draw it when an epoch begins.")
    else:
        expect_that(not np.array_equal(first, np.arange(24)), "an order that is drawn", "that of the data",
                    "rng.permutation draws one.")
        _, _, (epoch,) = epochs(student, rng, 24, 6, 1, seed)
        expect(numbers_of(epoch), first, "the order for the same rng", "Draw from the rng that was given, not from np.random.")


@batching.part("any row can come first, and the data stay", points=1, hidden=True)
def any_row(student, rng):
    _, _, came = epochs(student, rng, 4, 2, 500)
    orders = {tuple(numbers_of(epoch)) for epoch in came}
    for place in (0, -1):
        expect_that(len({order[place] for order in orders if len(order)}) == 4, "each row at each place, some time",
                    f"one of {len(orders)} orders, in 500 epochs", "The order is drawn: rng.permutation draws any.")
    expect_that(len(orders) >= 24, "each of the 24 orders of 4 rows once at least, in 500 epochs", f"{len(orders)} of them")
    X, y = rng.normal(size=(9, 3)), rng.integers(3, size=9)
    got = student.frozen("epochs_of", X, y, 4, int(rng.integers(2 ** 31)), 1,
                         look="X and y are not shuffled themselves: X[order] makes a new array.")
    expect_that(isinstance(got, list) and len(got) == 1 and isinstance(got[0], list), "a list of one epoch", got)
    came, = got
    expect_batches(came, 9, 4)
    known = {tuple(row) for row in X.tolist()}
    expect_that(all(tuple(row) in known for rows, _ in came for row in rows.tolist()), "minibatches of rows of X")
