"""Task 4: training. The gradient and the validation loss are asked for here, and so counted, and right whatever task 3 is."""
import functools
from collections import Counter

import numpy as np

import ops
from xman import WengertList, backprop, eval
from xman.grade import expect, expect_mapping, expect_share, expect_that, scale, slip, told
from xman.grade.assignment import data_set

from ..probes import listed
from ..public.checks import training
from ..solution import mlp as reference

LANGUAGES = "Finnish", "Polish", "Vietnamese", "Welsh"


class Course:
    """What train is given, and what it asks. losses: the validation loss after each epoch, whatever the parameters are."""

    def __init__(self, rng, rows, size, losses):
        self.rng, self.rows, self.size, self.losses = rng, rows, size, losses
        self.start = {"W1": rng.normal(size=(3, 2)), "b1": rng.normal(size=(1, 2))}
        self.slope = {name: rng.uniform(0.5, 1.5, w.shape) for name, w in self.start.items()}
        self.push = rng.normal(size=rows)
        self.asked, self.judged, self.orders = [], [], []  # numbers of rows; (epoch, parameters); orders
        self.seen, self.last = 0, None                     # rows, questions asked again at once left out; the last question
        self.steps = []                                    # the rows of each of these questions

    def gradient(self, parameters, some):
        """Of a parabola for each element; the rows of the minibatch move its bottom."""
        some = self.noted(parameters, some)
        return {name: self.slope[name] * w + self.push[some].mean() for name, w in parameters.items()}

    def noted(self, parameters, some):
        """The numbers of rows, written down."""
        some, parameters = self.numbers(some), self.checked(parameters)
        question = [some, *parameters.values()]
        if self.last is None or not all(map(np.array_equal, question, self.last)):
            self.seen += len(some)
            self.steps.append(some)
        self.last = question
        self.asked.append(some)
        return some

    def validation_loss(self, parameters):
        """By the number of rows that were asked for until now; a bad one before the first epoch is complete."""
        epoch = self.seen // self.rows
        self.judged.append((epoch, self.checked(parameters)))
        return float(self.losses[min(epoch, len(self.losses)) - 1]) if epoch else 1e6

    def shuffle(self, rows):
        """The order of an epoch."""
        if rows != self.rows:
            raise ValueError(f"shuffle({rows}): there are {self.rows} rows")
        self.orders.append(self.rng.permutation(self.rows))
        return self.orders[-1]

    def checked(self, parameters):
        """The parameters. A ValueError, which the student reads, for what is none."""
        shapes = {name: w.shape for name, w in self.start.items()}
        if not isinstance(parameters, dict) or {name: np.shape(w) for name, w in parameters.items()} != shapes:
            raise ValueError("parameters are a dict of all of them, each in the shape that it began with")
        return parameters

    def numbers(self, some):
        """The numbers of rows. A ValueError, which the student reads, for what are none."""
        some = np.asarray(some)
        right = some.ndim == 1 and some.dtype.kind == "i" and 0 < some.size <= self.rows
        if not right or some.min() < 0 or some.max() >= self.rows:
            raise ValueError(f"some are numbers of rows, an array of at least one and at most {self.rows} whole numbers")
        return some

    def after(self, steps, rate):
        """The parameters after a step for each of these minibatches, numbers of rows."""
        at = self.start
        for some in steps:
            at = {name: w - rate * (self.slope[name] * w + self.push[some].mean()) for name, w in at.items()}
        return at

    def expect_descent(self, best):
        """Wrong unless these are the parameters that the steps lead to for which gradients were asked, all of them."""
        for name, w in self.after(self.steps, 0.1).items():
            expect(best[name], w, name, look="this counts where the steps are right: see the parts above")

    def train(self, train, rate=0.1):
        """The best parameters, by the submission's train."""
        best = train(self.start, self.gradient, self.validation_loss, self.rows, len(self.losses), self.size, rate, self.shuffle)
        expect_mapping(best, self.start, "the parameters that train gives back")
        return best


@training.part("a step goes down the gradient", points=4, cases=[("one epoch", 1), ("three epochs", 3)])
@told("train with 5 rows in one minibatch, and a rate of 0.25; each epoch is better than the one before")
def a_step(student, rng, kind, epochs):
    course = Course(rng, 5, 5, list(range(epochs, 0, -1)))
    best = course.train(student.train, rate=0.25)
    for name, w in course.after(epochs * [range(5)], 0.25).items():
        expect_that(not np.array_equal(best[name], course.start[name]), f"{name} after {kind}", "the parameters as they began",
                    "the best are chosen among those after each epoch")
        up, mean = (course.after(epochs * [range(5)], rate)[name] for rate in (-0.25, 0.05))
        expect(best[name], w, f"{name} after {kind}, each of one step w ← w − α·gradient", look=slip(best[name], [
            (up, "the step goes up the gradient, and down is where the loss falls"),
            (mean, "gradient is that of the minibatch's mean loss already: it is not divided by its rows once more")],
            "α times the gradient is subtracted from each parameter, and nothing else"))


@training.part("an epoch's minibatches", points=4,
               cases=[("that come out even", 12, 4), ("with a rest", 11, 4), ("of one row", 5, 1)])
@told("train with {1} rows, in minibatches of {2}")
def minibatches(student, rng, kind, rows, size):
    course = Course(rng, rows, size, [3.0, 2.0, 1.0])
    course.train(student.train)
    expect_that(len(course.orders) == 3, "shuffle is called once in each of 3 epochs", f"{len(course.orders)} calls",
                "each epoch has an order of its own")
    expect_that(course.asked, "gradients of some rows", "gradient was never called")
    sizes, seen = [len(some) for some in course.asked], np.concatenate(course.asked)
    expect_that(max(sizes) <= size, f"minibatches of at most {size} rows", f"one of {max(sizes)} rows")
    expect_that(len(seen) >= 3 * rows, f"in 3 epochs over {rows} rows the gradients of {3 * rows}", f"of {len(seen)} rows",
                "what happens to the last rows, where the rows do not come out even?")
    expect(sizes, 3 * [min(size, rows - first) for first in range(0, rows, size)], "the sizes of the minibatches")
    expect(seen, np.concatenate(course.orders), "the rows, one minibatch after the other",
           look="they come in the order that shuffle(rows) gave for the epoch")


@training.part("a loss that is NaN is never the best", points=2, hidden=True,
               cases=[("at first", [np.nan, 3, 2, 4]), ("later", [3, 2, np.nan, 4]), ("each time", [np.nan, np.nan])])
@training.part("the parameters of the best epoch", points=5,
               cases=[("in the middle", [5, 3, 1, 4, 2]), ("the first", [1, 2, 3, 4, 5]), ("the last", [5, 4, 3, 2, 1]),
                      ("two that are equal", [3, 1, 1, 2])])
@told("train with the validation losses {1} after its epochs")
def the_best_epoch(student, rng, kind, losses):
    """Wrong unless the parameters come back that validation_loss was asked about after that epoch."""
    course, numbers = Course(rng, 6, 2, losses), np.nan_to_num(losses, nan=np.inf)
    best, epoch = course.train(student.train), int(np.argmin(numbers)) + 1
    if np.isinf(numbers).all():
        expect_that(len(course.judged) >= len(losses), "a validation loss after each epoch", f"{len(course.judged)} in all")
        return expect(best, course.start, "the parameters", "Where no loss is a number, none is better than the beginning.")
    judged = dict(reversed(course.judged))  # of several at one time the first
    expect_that(epoch in judged, "validation_loss is asked after each epoch", f"it was asked after the epochs {sorted(judged)}")
    for name, w in judged[epoch].items():
        same = [k for k, other in judged.items() if k and np.array_equal(other[name], best[name])]
        look = f"these are the parameters after epoch {same[0]}" if same else None
        if same == [len(course.losses)]:
            look = "these are the last parameters: is what you keep a copy, or arrays that go on changing?"
        expect(best[name], w, f"{name} as it was after epoch {epoch}, the best of {len(course.losses)}", look, tolerance=1e-12)


@training.part("the parameters that are handed in stay as they are", points=2, hidden=True)
@told("train with 4 rows, in minibatches of 2")
def untouched(student, rng):
    course = Course(rng, 4, 2, [2.0, 1.0])
    look = "w -= … changes the array itself; w = w - … makes a new one"
    best = course.train(functools.partial(student.frozen, "train", look=look))
    expect_that(course.seen, "gradients of some rows", "gradient was never called")
    course.expect_descent(best)


@training.part("passes over the data", points=2)
@told("train with 10 rows, in minibatches of 3, and 4 epochs")
def passes(student, rng):
    """Counted: the rows of which gradients are asked, and the validation losses: one an epoch, perhaps one more before."""
    course = Course(rng, 10, 3, [4.0, 3.0, 2.0, 1.0])
    best = course.train(student.train)
    course.expect_descent(best)
    rows, losses = sum(map(len, course.asked)), len(course.judged)
    expect_that(40 <= rows < 80, "in 4 epochs over 10 rows the gradients of 40", f"of {rows} rows")
    expect_that(4 <= losses < 15, "in 4 epochs 4 validation losses, or 5", f"{losses}", "each is a pass over all validation rows")
    expect_share(min(scale(rows, none=80, full=40), scale(losses, none=15, full=5)),
                 "gradients of 40 rows and 4 validation losses, or 5", f"{rows} rows, {losses} losses")


@functools.cache
def names(language):
    """The names of that language in the train file, in lower case."""
    titles, labels = reference.read(data_set("names.train").decode().rstrip("\n").split("\n"))
    return [title.lower() for title, label in zip(titles, labels, strict=True) if label == language]


@training.part("it learns names", points=3)
@told("train with 480 names in minibatches of 40, 6 epochs and a rate of 1, for layers of 200, 6 and 4")
def it_learns(student, rng):
    """Real names, their alphabet and languages in an order of their own: the accuracy on 480 that nobody has trained on."""
    languages = [str(language) for language in rng.permutation(LANGUAGES)]
    common = Counter("".join("".join(names(language)) for language in languages)).most_common(24)
    alphabet = [str(letter) for letter in rng.permutation([letter for letter, _ in common])]
    chosen = [rng.permutation(names(language)) for language in languages]

    def rows(first, last):
        titles = [str(title) for own in chosen for title in own[first:last]]
        X = reference.encode(titles, alphabet, 8)
        return X.reshape(len(X), -1), np.repeat(np.eye(len(languages)), last - first, axis=0)

    X, Y = rows(0, 120)
    X_valid, Y_valid = rows(120, 150)
    X_test, Y_test = rows(150, 270)
    course = Course(rng, len(X), 40, [])
    course.start = reference.start([X.shape[1], 6, len(languages)], rng.uniform)
    steps = WengertList(listed(reference, course.start, "tanh", 0.0)["steps"])

    def values(parameters, X, y):
        return eval(steps, {**course.checked(parameters), "X": X, "y": y})

    def gradient(parameters, some):
        some = course.noted(parameters, some)
        if not 20 <= len(np.unique(some)) == len(some) <= 40:
            raise ValueError("some are the numbers of 40 rows, each once")
        deltas = backprop(steps, values(parameters, X[some], Y[some]), ops.DG, list(course.start), loss=1.0)
        return {name: deltas[name] for name in course.start}

    def validation_loss(parameters):
        course.judged.append(None)
        if len(course.judged) > 21:
            raise ValueError("in 6 epochs 6 validation losses are enough, or 7; this would be the 22nd")
        return float(values(parameters, X_valid, Y_valid)["loss"])

    best = student.train(course.start, gradient, validation_loss, len(X), 6, 40, 1.0, course.shuffle)
    expect_mapping(best, course.start, "the parameters that train gives back")
    best = {name: best[name] for name in course.start}
    for name, w in course.start.items():
        expect_that(isinstance(best[name], np.ndarray) and best[name].shape == w.shape and np.isfinite(best[name]).all(),
                    f"{name}: finite numbers in the shape {w.shape}", best[name])
    passes = course.seen / len(X)
    expect_that(1 <= passes <= 6.5, "6 passes over the rows", f"{passes:.1f} passes")
    accuracy = np.mean(values(best, X_test, Y_test)["outputs"].argmax(1) == Y_test.argmax(1))
    expect_that(accuracy > 0.45, "more than 45 % of the names in the right language, of four", f"{accuracy:.1%}",
                "the steps go by your own train: see the parts above")
    expect_share(scale(accuracy, none=0.45, full=0.57), "57 % of the names in the right language, of four", f"{accuracy:.1%}",
                 "the steps go by your own train: see the parts above")
