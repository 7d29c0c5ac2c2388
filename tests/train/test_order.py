"""The order in which the rows of an epoch are seen."""
from __future__ import annotations

import numpy as np

from xman import XMan, f
from xman.train import fit


class Seen(XMan):
    """A line through the origin that notes the rows it is fed."""

    def __init__(self):
        self.X, self.y, self.w = f.input(), f.input(), f.param(default=0.0)
        self.loss = f.mean(f.squaredError(self.X * self.w, self.y))
        self.rows: list[int] = []

    def feed(self, X, y):
        self.rows += X.astype(int).tolist()
        return {"X": X, "y": y}


def orders(seed: int) -> list[list[int]]:
    model, X = Seen(), np.arange(12.0)
    fit(model, (X, X), epochs=3, batch_size=5, lr=1e-3, seed=seed, progress=False)
    rows = model.rows[1:]  # the first row is fed once beforehand, to look at the names
    return [rows[:12], rows[12:24], rows[24:]]


def test_every_epoch_sees_every_row_once():
    assert all(sorted(rows) == list(range(12)) for rows in orders(0))


def test_each_epoch_has_an_order_of_its_own():
    one, two, three = orders(0)
    assert one != two != three != one


def test_the_seed_and_nothing_else_makes_the_orders():
    assert orders(1) == orders(1) != orders(2)


class Two(XMan):
    """Two parameters, of which the first moves far and the last hardly."""

    def __init__(self):
        self.X, self.y = f.input(), f.input()
        self.far, self.near = f.param(default=5.0), f.param(default=1.0)
        self.loss = f.mean(f.square(self.X * 0.0 + self.far) + 1e-6 * f.square(self.near))


def test_the_adjustment_of_an_epoch_is_that_of_the_parameter_that_moved_most():
    history = fit(Two(), (np.ones(1), np.ones(1)), epochs=1, lr=0.1, progress=False).history
    assert abs(history[0]["adjustment"] - 1.0) < 1e-12


class Swing(XMan):
    """A parameter that each step throws to the other side: 3 → −3 → 3."""

    def __init__(self):
        self.X, self.y, self.w = f.input(), f.input(), f.param(default=3.0)
        self.loss = f.mean(f.square(self.w) + 0.0 * self.X)


def test_the_adjustment_is_the_distance_from_the_beginning_of_the_epoch_to_its_end():
    adjustments = [[row["adjustment"] for row in fit(Swing(), (np.ones(4), np.ones(4)), epochs=2, batch_size=size, lr=1.0,
                                                     progress=False).history] for size in (4, 2)]
    assert adjustments == [[6.0, 6.0], [0.0, 0.0]]
