"""What the parts have in common: a list that came back, its values, and its deltas."""
import numpy as np

from xman import WengertList
from xman.grade import Wrong, expect, expect_that
from xman.grade.lists import MODEL, deltas_of, read_list, values_of

from ..public.checks import ARGUMENTS

OPERATORS = MODEL | {"stopGradient"}  # that one is let in, to be told what it does to the deltas


def sizes_of(name, sizes):
    """The shape of a parameter, by its name: Wi (features, hidden), Ui (hidden, hidden), bi (1, hidden)."""
    features, hidden, *_ = sizes
    return {"W": (features, hidden), "U": (hidden, hidden), "b": (1, hidden)}[name[0]]


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

    def expect_deltas(self, names, right, of="loss", alike=None):
        """Wrong unless the deltas are those of the list `right` where both agree about the registers `alike` (of itself, if
        not said); elsewhere they are to be the slope of the student's own `of`, so that no slip above is paid for twice."""
        value = self.state(of, ())
        expect_that(np.isfinite(value), f"a finite {of}", value, ARGUMENTS if of == "loss" else None)
        values = values_of(right, self.inputs)
        pairs = [(self.register(name), values[name]) for name in alike or [of]]
        agree = all(np.shape(a) == np.shape(b) and np.allclose(a, b, 1e-9) for a, b in pairs)
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
