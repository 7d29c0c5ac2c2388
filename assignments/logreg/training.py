"""What is graded of tasks 3 to 5: the gradient check, minibatches, descent."""
import itertools

import numpy as np

from xman.grade import Wrong, expect, expect_mapping, expect_that, scale

from .digits import Digits, accuracy_with, expect_places
from .public.checks import batching, checking, descent
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
        return float(sum(np.sum(self.weights[name] * np.sin(2 * x) + x ** 3) for name, x in self.asked[-1].items()))


@checking.part("central differences of every element", points=5, cases=[("ε = 0.1", 0.1), ("ε = 1e-5", 1e-5)])
def central_differences(student, rng, name, epsilon):
    surface, own = Surface(rng), Surface(rng)
    own.weights = surface.weights
    got = student.difference_quotients(surface, surface.parameters, epsilon)
    expect(got, reference.difference_quotients(lambda p: own({**p}), surface.parameters, epsilon), "the quotients",
           "Bishop (8.25): a step of ε up, a step of ε down, all other elements where they were.", tolerance=1e-7)


@checking.part("two evaluations for each element", points=2)
def two_evaluations(student, rng):
    surface = Surface(rng)
    student.difference_quotients(surface, surface.parameters, 1e-3)
    most = max((sum(int(np.sum(np.abs(at[name] - start) > 1e-9)) for name, start in surface.parameters.items())
                for at in surface.asked), default=0)
    expect_that(most <= 1, "one element moved at a time", f"{most} were at once",
                "Put an element back, or better, do not change the parameters at all.")
    expect_that(len({str(at) for at in surface.asked}) >= 8, "a loss for each of 8 elements", f"{len(surface.asked)} evaluations")
    credit = scale(len(surface.asked), none=32, full=16)
    if credit < 1:
        raise Wrong("2 evaluations for each of 8 elements", f"{len(surface.asked)} evaluations",
                    "Does the quotient need the loss at the point itself?", credit=credit)
    return credit


@checking.part("places that disagree", points=4, cases=["the last element", "some", "large and small"])
def places(student, rng, case):
    right = {"W": rng.normal(size=(4, 3)), "b": rng.normal(size=(1, 3))}
    if case == "large and small":  # relative above 1, absolute below
        right = {"W": np.array([[1e6, -1e6, 1e-3, 1e-3]]), "b": np.zeros((1, 2))}
        wrong = {"W": right["W"] + [[0.5, 2.0, 5e-7, 2e-6]], "b": np.array([[2e-6, -5e-7]])}
        want = {("W", (0, 1)), ("W", (0, 3)), ("b", (0, 0))}
    else:
        wrong = {name: value + 1e-9 for name, value in right.items()}
        expect_spots(student.disagreements(wrong, right, 1e-6), set())
        want = {("b", (0, 2))} if case == "the last element" else {("W", (0, 0)), ("W", (3, 1)), ("b", (0, 1))}
        for name, index in sorted(want):
            wrong[name][index] += 1e-3 * rng.choice([-1, 1])
    expect_spots(student.disagreements(wrong, right, 1e-6), want)


@checking.part("what is no number", points=2, hidden=True)
def no_number(student, rng):
    right = {"W": rng.normal(size=(2, 3))}
    wrong = {"W": right["W"].copy()}
    wrong["W"][1, 2], wrong["W"][0, 0] = np.nan, np.inf
    expect_spots(student.disagreements(wrong, right, 1e-6), {("W", (1, 2)), ("W", (0, 0))})


def expect_spots(got, want):
    right = isinstance(got, (list, tuple)) and all(
        isinstance(spot, (list, tuple)) and len(spot) == 2 and isinstance(spot[0], str) and isinstance(spot[1], (list, tuple))
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
        for batch in epoch:
            pair = isinstance(batch, (tuple, list)) and len(batch) == 2 and all(isinstance(side, np.ndarray) for side in batch)
            expect_that(pair, "pairs of arrays, rows of X and their labels", batch)
            expect_that(batch[0].ndim == 2 and batch[0].shape[1] == 3 and batch[1].shape == batch[0].shape[:1],
                        "rows of shape (m, features) and labels of shape (m,)", f"shapes {batch[0].shape} and {batch[1].shape}")
        met = sum(len(rows) for rows, _ in epoch)
        expect_that(met >= n - n % size, f"at least the {n // size} full minibatches of {n} rows by {size}", f"{met} rows")
    return X, y, came


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
    _, _, came = epochs(student, rng, 4, 2, 80)
    orders = [numbers_of(epoch) for epoch in came]
    for place in (0, -1):
        expect_that(len({order[place] for order in orders if len(order)}) == 4, "each row at each place, some time")
    kept = student.kept_minibatches(rng.normal(size=(9, 2)), rng.integers(3, size=9), 4, 1)
    expect(kept, [True, True], "X and y left as they are")


# ---- 5: descent -----------------------------------------------------------------------------------------------------

@descent.part("a step", points=4, cases=["one parameter", "three parameters"])
def a_step(student, rng, case):
    shapes = {"one parameter": {"w": (3,)}, "three parameters": {"W": (2, 3), "b": (1, 3), "V": (4,)}}[case]
    parameters, gradient = ({name: rng.normal(size=shape) for name, shape in shapes.items()} for _ in range(2))
    rate = float(rng.uniform(0.1, 0.9))
    expect(student.step(parameters, gradient, rate), {name: parameters[name] - rate * gradient[name] for name in shapes},
           "the parameters", "The gradient points up the slope; rate times it is the step.")


@descent.part("a step leaves the old parameters", points=1, hidden=True)
def old_parameters(student, rng):
    parameters, gradient = ({name: rng.normal(size=shape) for name, shape in (("W", (2, 3)), ("b", (1, 3)))} for _ in range(2))
    found = student.step(parameters, gradient, 0.5)
    expect_mapping(found, parameters, "the parameters")
    for name, value in parameters.items():
        right = isinstance(found[name], np.ndarray) and np.isfinite(found[name]).all() and not np.array_equal(found[name], value)
        expect_that(right, f"another {name}, of finite numbers", found[name])
    expect(student.kept("step", parameters, gradient, 0.5), [True, True], "the parameters and the gradient left as they are",
           "p -= … changes the array itself, p = p - … makes another.")


class Course:
    """What train is given: minibatches by name, gradients at random, validation losses as written. It notes what is asked."""

    def __init__(self, rng, losses, batches=3):
        self.rng, self.losses, self.batches = rng, list(losses), batches
        self.start = {"W": rng.normal(size=(2, 3)), "b": rng.normal(size=(1, 3))}
        self.epochs, self.judged, self.places = [], [], []

    def next_epoch(self):
        if len(self.epochs) >= 5 * len(self.losses):
            raise ValueError(f"batches() was called {len(self.epochs)} times for {len(self.losses)} epochs")
        self.epochs.append([])
        return [self.batch(len(self.epochs), k) for k in range(1, self.batches + 1)]

    @staticmethod
    def batch(epoch, k):
        return f"the rows of minibatch {k} of epoch {epoch}", "their labels"

    def value_and_gradient(self, parameters, batch):
        expect_places(parameters, self.start)
        known = [self.batch(epoch, k) for epoch in range(1, len(self.epochs) + 1) for k in range(1, self.batches + 1)]
        if not isinstance(batch, (tuple, list)) or tuple(batch) not in known or len(self.epochs[-1]) >= 100:
            raise ValueError("wanted a minibatch as batches() gave it")
        self.epochs[-1].append(batch[0])
        self.places.append(parameters)
        return 1.0, {name: self.rng.normal(size=value.shape) for name, value in self.start.items()}

    def validation(self, parameters):
        expect_places(parameters, self.start)
        if len(self.judged) >= len(self.losses):
            raise ValueError(f"the validation loss was asked for more than {len(self.losses)} times, in as many epochs")
        self.judged.append(parameters)
        return self.losses[len(self.judged) - 1]

    def trained(self, student, rate=0.1):
        return student.train(self.value_and_gradient, self.validation, self.next_epoch, self.start, len(self.losses), rate)


@descent.part("every minibatch of every epoch", points=5, cases=[("one epoch", 1), ("four epochs", 4)])
def every_minibatch(student, rng, name, count):
    course = Course(rng, [1 / (k + 1) for k in range(count)])
    course.trained(student)
    expect_that(len(course.epochs) == count, f"a call of batches() for each of the {count} epochs", f"{len(course.epochs)} calls",
                "batches() gives another order each time: call it at the beginning of every epoch.")
    for k, met in enumerate(course.epochs, 1):
        due = [course.batch(k, j)[0] for j in range(1, 4)]
        expect(met, due, f"the minibatches of epoch {k}", "Each one once, in order.")
    for before, after in itertools.pairwise(course.places):
        expect_that(any(not np.array_equal(before[name], after[name]) for name in course.start),
                    "a gradient at the parameters that the last step led to", "two gradients at the same parameters",
                    "The result of step is where the next gradient is wanted.")


@descent.part("the best epoch's parameters", points=5, cases=[
    ("in the middle", 0.9, 0.4, 0.2, 0.5, 0.7), ("the first", 0.1, 0.3, 0.2), ("the last", 0.3, 0.2, 0.1)])
def best_epoch(student, rng, name, *losses):
    course, best = Course(rng, losses), int(np.argmin(losses))
    got = course.trained(student)
    expect_that(len(course.judged) == len(losses), "a validation loss after each epoch",
                f"one after {len(course.judged)} of {len(losses)} epochs")
    expect_mapping(got, course.start, "the parameters")
    for k, known in enumerate([*course.judged, course.start]):
        if k != best and all(np.array_equal(got[name], known[name]) for name in known):
            found = f"those of epoch {k + 1}, with the loss {losses[k]}" if k < len(losses) else "those to begin with"
            raise Wrong("the parameters of the epoch with the least validation loss", found,
                        f"The losses were {', '.join(map(str, losses))}. Keep the parameters when they are the best so far. "
                        "A dictionary that is changed later is not kept: is it the same object?")
    expect(got, course.judged[best], "the parameters", "Those that the least validation loss was computed for, unchanged.")


@descent.part("a validation loss that is no number", points=2, hidden=True, cases=["some", "all"])
def no_validation(student, rng, case):
    course = Course(rng, [np.nan, 0.5, 0.3, np.nan] if case == "some" else [np.nan, np.nan])
    got = course.trained(student)
    expect_that(len(course.judged) > (2 if case == "some" else 0), "a validation loss after each epoch", len(course.judged))
    expect(got, course.judged[2] if case == "some" else course.start, "the parameters")


@descent.part("trained on the digits", points=4)
def trained_on_digits(student, rng):
    data = Digits(rng)
    found = student.train(data.value_and_gradient, data.validation, lambda: data.batches(40), data.start, 6, 1.0)
    reached = data.accuracy(found)
    credit = scale(reached, none=0.3, full=0.8) * scale(data.seen / 400, none=12, full=6)
    if credit < 1:
        raise Wrong("an accuracy of 80 % or more of rows that were not trained on, after 6 passes over the data",
                    f"{reached:.1%} after {data.seen / 400:g} passes", "Does the loss that value_and_gradient returns fall from "
                    "epoch to epoch? Print it.", credit=credit)
    return credit


@descent.part("settings that go far in eight epochs", points=4)
def far_in_eight_epochs(student, rng):
    chosen = student.settings()
    expect_mapping(chosen, ["size", "rate"], "the settings")
    size, rate = chosen["size"], chosen["rate"]
    expect_that(type(size) is int and 1 <= size <= 400, "a size from 1 to 400", size)
    expect_that(type(rate) in (int, float) and 0 < rate < 1e6, "a rate above 0", rate)
    reached = np.mean([accuracy_with(Digits(rng), size, rate) for _ in range(3)])
    credit = scale(reached, none=0.5, full=0.88)
    if credit < 1:
        raise Wrong("an accuracy of 88 % after eight epochs over 400 rows, with minibatches and a descent that are right",
                    f"{reached:.1%}", "How many steps are that in all? Is each too short to arrive, or so long that the loss "
                    "jumps about?", credit=credit)
    return credit
