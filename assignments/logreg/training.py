"""What is graded of task 5: descent."""
import itertools

import numpy as np

from xman.grade import Wrong, expect, expect_mapping, expect_share, expect_that, scale, slip

from .digits import Digits, accuracy_with, expect_places
from .public.checks import descent


@descent.part("a step", points=4, cases=["one parameter", "three parameters"])
def a_step(student, rng, case):
    shapes = {"one parameter": {"w": (3,)}, "three parameters": {"W": (2, 3), "b": (1, 3), "V": (4,)}}[case]
    parameters, gradient = ({name: rng.normal(size=shape) for name, shape in shapes.items()} for _ in range(2))
    rate = float(rng.uniform(0.1, 0.9))
    got, first = student.step(parameters, gradient, rate), next(iter(shapes))
    expect(got, {name: parameters[name] - rate * gradient[name] for name in shapes}, "the parameters",
           slip(got.get(first) if isinstance(got, dict) else None, [
               (parameters[first] + rate * gradient[first], "The gradient points up the slope, and the step goes down."),
               (parameters[first] - gradient[first], "The step is rate times the gradient: where is the rate?")],
               "The gradient points up the slope; rate times it is the step."))


@descent.part("a step leaves the old parameters", points=1, hidden=True)
def old_parameters(student, rng):
    parameters, gradient = ({name: rng.normal(size=shape) for name, shape in (("W", (2, 3)), ("b", (1, 3)))} for _ in range(2))
    came = student.frozen("step", parameters, gradient, 0.5, look="p -= … changes the array itself, p = p - … makes another.")
    expect(came, {name: value - 0.5 * gradient[name] for name, value in parameters.items()}, "the parameters",
           "The old ones count as kept where the new ones are right: see the part above.")


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
    ("in the middle", 0.9, 0.4, 0.2, 0.5, 0.7), ("two that are equal", 0.5, 0.2, 0.2, 0.4),
    ("the first", 0.1, 0.3, 0.2), ("the last", 0.3, 0.2, 0.1)])
def best_epoch(student, rng, name, *losses):
    course, best = Course(rng, losses), int(np.argmin(losses))
    got = course.trained(student)
    expect_that(len(course.judged) == len(losses), "a validation loss after each epoch",
                f"one after {len(course.judged)} of {len(losses)} epochs")
    expect_that(len(course.places) >= 3 * len(losses), "a gradient of each of 3 minibatches an epoch", f"{len(course.places)}")
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
    expect(got, course.judged[2] if case == "some" else course.start, "the parameters",
           "Those of the least loss that is a number: NaN is less than nothing, and nothing is less than NaN.")


@descent.part("trained on the digits", points=4)
def trained_on_digits(student, rng):
    data = Digits(rng, 6)
    found = student.train(data.value_and_gradient, data.validation, lambda: data.batches(40), data.start, 6, 1.0)
    expect_that(data.seen >= 400, "a gradient of every minibatch, in at least one pass over the 400 rows",
                f"gradients of {data.seen} rows", "value_and_gradient tells the slope; validation is there to choose by.")
    reached = data.accuracy(found)
    expect_share(scale(reached, none=0.3, full=0.8) * scale(data.seen / 400, none=12, full=6),
                 "an accuracy of 80 % or more of rows that were not trained on, after 6 passes over the data",
                 f"{reached:.1%} after {data.seen / 400:g} passes",
                 "Does the loss that value_and_gradient returns fall from epoch to epoch? Print it.")


@descent.part("settings that go far in eight epochs", points=4)
def far_in_eight_epochs(student, rng):
    chosen = student.settings()
    expect_mapping(chosen, ["size", "rate"], "the settings")
    size, rate = chosen["size"], chosen["rate"]
    expect_that(type(size) is int and 1 <= size <= 400, "a size from 1 to 400", size)
    expect_that(type(rate) in (int, float) and 0 < rate < 1e6, "a rate above 0", rate)
    reached = np.mean([accuracy_with(Digits(rng, 8), size, rate) for _ in range(3)])
    expect_share(scale(reached, none=0.5, full=0.88),
                 "an accuracy of 88 % after eight epochs over 400 rows, with minibatches and a descent that are right",
                 f"{reached:.1%}",
                 "How many steps are that in all? Is each too short to arrive, or so long that the loss jumps about?")
