"""What the parts have in common: a list that came back, its values, and its deltas."""
import functools

import numpy as np

from xman.grade import Wrong, expect, expect_that, given
from xman.grade.lists import MODEL, expect_deltas, from_given, loss_of, read_list, values_of

OPERATORS = MODEL | {"stopGradient"}  # that one is let in, to be told what it does to the deltas


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


class Listed:
    """A student's list, read and evaluated. inputs: values of all that it may read."""

    def __init__(self, lines, inputs, what):
        self.steps, self.inputs = read_list(lines, list(inputs), OPERATORS, what=what), inputs
        self.what = what

    @functools.cached_property
    def values(self):
        """Those of all registers."""
        return values_of(self.steps, self.inputs, self.what)

    def register(self, name):
        """Its value, where the list has a register of that name."""
        registers = [*self.inputs, *(dst for dst, _, _ in self.steps)]
        expect_that(name in registers, f"{self.what}: a register {name}", f"registers {', '.join(registers)}"[:300])
        try:
            return self.values[name]
        except Wrong:  # a line fails that may have nothing to do with this register
            return values_of(from_given(self.steps, name, ()), self.inputs, self.what)[name]

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

    def expect_deltas(self, names, right, of="loss", same=(), share=1 / 3):
        """Wrong unless the deltas are those of the list `right`: see xman.grade.lists."""
        self.register(of)
        loss_of(self.values, of)
        expect_deltas(self.steps, right, self.inputs, of, names, self.what, same, share)
