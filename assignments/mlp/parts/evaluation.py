"""Task 5: evaluation, with a predict that is asked here."""
import numpy as np

from xman.grade import expect, expect_share, expect_that, scale, slip

from ..public.checks import judging
from ..solution import mlp as reference

BATCHES = [("that come out even", 12, 4), ("with a rest", 13, 5), ("of all rows", 6, 50)]


class Judged:
    """A predict that looks the probabilities of a row up by its number, which is the row's only feature."""

    def __init__(self, rng, rows, classes):
        self.X = rng.permutation(rows).astype(float).reshape(-1, 1)
        self.Y = np.eye(classes)[rng.integers(0, classes, rows)]
        self.outputs = rng.dirichlet(np.ones(classes), rows)  # of the rows in the order of X
        self.asked = []

    def predict(self, some):
        """The probabilities of these rows. A ValueError, which the student reads, where they are none of X."""
        some = np.asarray(some)
        if some.ndim != 2 or some.shape[1] != 1 or not 0 < len(some) <= len(self.X) or not np.isin(some, self.X).all():
            raise ValueError("predict takes some rows of X, an array (rows, features)")
        self.asked.append(some[:, 0])
        return self.outputs[np.argsort(self.X[:, 0])[some[:, 0].astype(int)]]

    def evaluate(self, student, size):
        """(loss, accuracy) as the student has them."""
        found = student.evaluate(self.predict, self.X, self.Y, size)
        expect_that(isinstance(found, (tuple, list)) and len(found) == 2, "two numbers, (loss, accuracy)")
        return found


@judging.part("the loss of all rows", points=3, cases=BATCHES)
def loss_of_all_rows(student, rng, kind, rows, size):
    judged = Judged(rng, rows, 4)
    look = "−log of the probability of the row's own class, and the mean of that over all rows"
    if kind == "with a rest":
        look = "the mean of the batches' means is not the mean of the rows where the last batch is smaller"
    expect(judged.evaluate(student, size)[0], -np.mean(np.log(judged.outputs[judged.Y == 1])), "the loss", look=look)


@judging.part("a class of probability 0 that is not the row's", points=1, hidden=True)
def zeros(student, rng):
    judged = Judged(rng, 8, 3)
    judged.outputs = 0.25 * judged.Y + 0.75 * np.roll(judged.Y, 1, axis=1)
    loss = judged.evaluate(student, 8)[0]
    finite = isinstance(loss, float) and np.isfinite(loss)
    expect(loss, -np.log(0.25), "the loss", look="−log of the probability of the row's own class, and the mean over all rows"
           if finite else "0 · log 0 is NaN in NumPy: do the other classes have to be computed at all?")
    judged.outputs[3] = np.roll(judged.Y[3], 1)
    expect(judged.evaluate(student, 8)[0], np.inf, "the loss", look="where the row's own class has probability 0, it is infinite")


@judging.part("the accuracy", points=2, cases=BATCHES)
def the_accuracy(student, rng, kind, rows, size):
    for _ in range(20):  # a share of a few rows can be guessed, now and then
        judged = Judged(rng, rows, 3)
        accuracy, found = np.mean(judged.outputs.argmax(1) == judged.Y.argmax(1)), judged.evaluate(student, size)[1]
        expect(found, accuracy, "the accuracy", look=slip(found, [(100 * accuracy, "a share is a number from 0 to 1")],
               "the share of the rows whose greatest probability is that of their class"))


@judging.part("each row is predicted once", points=1, cases=BATCHES)
def each_row_once(student, rng, kind, rows, size):
    for _ in range(20):
        once(student, rng, rows, size)


def once(student, rng, rows, size):
    """Wrong unless one evaluation predicts each row once, also where neither loss nor accuracy is right."""
    judged = Judged(rng, rows, 3)
    loss, accuracy = judged.evaluate(student, size)
    right = -np.mean(np.log(judged.outputs[judged.Y == 1])), np.mean(judged.outputs.argmax(1) == judged.Y.argmax(1))
    expect_that(any(isinstance(own, float) and np.isclose(own, want) for own, want in zip((loss, accuracy), right, strict=True)),
                "a loss or an accuracy that is right", (loss, accuracy), "predictions are counted where they are put to use")
    most, different = max(map(len, judged.asked), default=0), len({row for some in judged.asked for row in some.tolist()})
    expect_that(most <= size, f"at most {size} rows at a time", f"{most} rows")
    expect_that(different == rows, f"predictions of all {rows} rows", f"of {different} rows")
    asked = sum(map(len, judged.asked))
    expect_that(asked < 2 * rows, f"predictions of {rows} rows, each once", f"of {asked} rows")
    expect_share(scale(asked, none=2 * rows, full=rows), f"predictions of {rows} rows, each once", f"of {asked} rows")


@judging.part("the confusion", points=3, cases=["all classes are guessed", "a class is never guessed"])
def the_confusion(student, rng, kind):
    judged = Judged(rng, 30, 4)
    if kind == "a class is never guessed":
        judged.outputs[:, 3] = 0
        judged.outputs /= judged.outputs.sum(axis=1, keepdims=True)
    expect(student.confusion(judged.outputs, judged.Y), reference.confusion(judged.outputs, judged.Y), "the counts",
           look="[i, j]: the row is the class that it is, the column the one that it was taken for")
