"""What the parts have in common: a list that came back, its values, and its deltas."""
import functools

import numpy as np

from xman import WengertList
from xman.grade import Wrong, expect, expect_that, given
from xman.grade.lists import MODEL, deltas_of, read_list, values_of

from ..public.checks import ARGUMENTS

OPERATORS = MODEL | {"stopGradient"}  # that one is let in, to be told what it does to the deltas


def sizes_of(name, sizes):
    """The shape of a parameter, by its name: Wi (features, hidden), Ui (hidden, hidden), bi (1, hidden)."""
    features, hidden, *_ = sizes
    return {"W": (features, hidden), "U": (hidden, hidden), "b": (1, hidden)}[name[0]]


def asked(make, words):
    """Decorate a part of (what make(student, rng, *case) gives, rng, name, *case): told are the words, a format of name and case,
    and the values of all that the list may read."""
    def decorate(function):
        @functools.wraps(function)
        def part(student, rng, name, *case):
            said = words.format(name, *case)
            with given(said):
                found = make(student, rng, *case)
            with given(said, **found.inputs):
                return function(found, rng, name, *case)
        return part
    return decorate


def alike(own, right):
    """Whether two values are the same but for rounding."""
    return np.shape(own) == np.shape(right) and np.allclose(own, right, 1e-9)


class Listed:
    """A student's list, read and evaluated. inputs: values of all that it may read."""

    def __init__(self, lines, inputs, what):
        self.steps, self.inputs = read_list(lines, list(inputs), OPERATORS, what=what), inputs
        self.values = values_of(self.steps, inputs, what)
        self.what = what

    def register(self, name):
        """Its value, where the list has a register of that name."""
        expect_that(name in self.values, f"{self.what}: a register {name}", f"registers {', '.join(self.values)}"[:300])
        return self.values[name]

    def state(self, name, shape):
        """Its value, where it has that shape."""
        value = self.register(name)
        expect_that(np.shape(value) == shape, f"{name} of shape {shape}", f"shape {np.shape(value)}",
                    "(rows, hidden), also where h0 and c0 are (1, hidden)")
        return value

    def expect_values(self, names, right):
        """Wrong unless these registers are as in the list `right`: work is counted where what it brings about is right."""
        values = values_of(right, self.inputs)
        for name in names:
            expect(self.register(name), values[name], name, "Work is counted where the values are right: see the parts above.")

    def expect_deltas(self, names, right, of="loss", same=None, share=1 / 3):
        """Wrong unless the deltas are those of the list `right`, and both agree about the registers `same` (of itself, if not
        said). Where they do not agree, the slope of the student's own `of` is worth a share."""
        value = self.state(of, ())
        expect_that(np.isfinite(value), f"a finite {of}", value, ARGUMENTS if of == "loss" else None)
        values = values_of(right, self.inputs)
        agree = all(alike(self.register(name), values[name]) for name in same or [of])
        own = WengertList((dst, "alias" if op == "stopGradient" else op, args) for dst, op, args in self.steps)
        stops = [f"{dst} = stopGradient({args[0]}) hands no delta on" for dst, op, args in self.steps if op == "stopGradient"]
        want = deltas_of(right, values, of, names) if agree else deltas_of(own, self.values, of, names, self.what)
        try:
            found = deltas_of(self.steps, self.values, of, names, self.what)
        except Wrong as wrong:
            raise Wrong(wrong.expected, wrong.came_back, stops[0] if stops else wrong.look) from None
        for name in names:
            expect_that(np.isfinite(found[name]).all(), f"delta of {name}: finite numbers", found[name])
            expect(found[name], want[name], f"delta of {name}", look=stops[0] if stops else None)
        if not agree:
            raise Wrong(f"the deltas of the right {' and '.join(same or [of])}", "the slope of other values",
                        "The way back is all points where the way forward is right: see the parts above.", credit=share)
