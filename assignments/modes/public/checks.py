"""The checks that you have: run `python check.py` as often as you like. They hold examples; what is graded is drawn fresh."""
from collections import Counter

import numpy as np

import xman
from xman.grade import Assignment, Wrong, expect, expect_that, given
from xman.validity import as_line

assignment = Assignment("modes", title="Forward and reverse mode", packages=["numpy"])
duals = assignment.task(1, "dual numbers")
slopes = assignment.task(2, "derivative")
jacobians = assignment.task(3, "the Jacobian")
hessians = assignment.task(4, "the Hessian times a vector")
products = assignment.task(5, "outer products")

# Bishop's (8.49) and (8.65): two outputs of two inputs
BISHOP = [("v3", "mul", ("x1", "x2")), ("v4", "sin", ("x2",)), ("v5", "exp", ("v3",)), ("v6", "subtract", ("v3", "v4")),
          ("f1", "add", ("v5", "v6")), ("f2", "mul", ("v6", "v5"))]
AT = {"x1": 0.5, "x2": 2.0}
E, S, C = np.exp(1.0), np.sin(2.0), np.cos(2.0)
JACOBIAN = np.array([[2 * (1 + E), 0.5 * (1 + E) - C], [2 * E + 2 * (1 - S) * E, (0.5 - C) * E + 0.5 * (1 - S) * E]])
CUBE = [("z1", "mul", ("x", "x")), ("f", "mul", ("z1", "x")), ("g", "mul", ("f", "y"))]


class Tools:
    """What is handed to your functions, for one list; `passes` counts what they call.

    Where its operators are not named, they are g1, g2, … to all but the passes.
    """

    def __init__(self, steps, named=True):
        self.lists, self.passes, self.named = [], Counter(), named
        self.steps = self.handed(steps)

    def handed(self, steps):
        """The list as it is handed out, and known from then on."""
        self.lists.append((steps if self.named else [(dst, f"g{k}", tuple(a for a in args if isinstance(a, str)))
                                                     for k, (dst, _, args) in enumerate(steps, 1)], xman.WengertList(steps)))
        return self.lists[-1][0]

    def count(self, name, passes=1):
        """Count passes. ValueError where there are too many to be of use."""
        self.passes[name] += passes
        if sum(self.passes.values()) > 1000:
            raise ValueError("more than 1000 passes: is that an endless loop?")

    def known(self, steps):
        """What stands behind steps, which is a list that was handed out."""
        steps = [as_line(line) for line in steps]
        for handed, known in self.lists:
            if steps == handed:
                return known
        raise ValueError("this is not a list that you were handed: pass on steps, or what gradient gave, as it is")

    def eval(self, steps, values):
        self.count("eval")
        return floats(xman.eval(self.known(steps), numbers("values", values)))

    def forward(self, steps, values, tangents):
        self.count("forward")
        return floats(xman.forward(self.known(steps), numbers("values", values), numbers("tangents", tangents)))

    def backprop(self, steps, values, deltas):
        self.count("backprop")
        return floats(xman.backprop(self.known(steps), numbers("values", values), **numbers("deltas", deltas)))

    def gradient(self, steps, of, wrt):
        self.count("gradient")
        steps, wrt = self.known(steps), list(wrt)
        if len(steps) > 1000:
            raise ValueError(f"gradient of {len(steps):,} lines: of a gradient's gradient, and so on? The first is all it takes")
        keep = [of, *(f"d{of}_d{x}" for x in wrt)]
        longer = xman.simplify(xman.gradient(steps, of, wrt), keep, {name: 1.0 for name in steps.inputs})
        return self.handed([(dst, op, tuple(float(a) if isinstance(a, np.ndarray) else a for a in args))
                            for dst, op, args in longer])


def numbers(word, given):
    """The dict {name: number} as NumPy's numbers."""
    if not isinstance(given, dict) or not all(isinstance(name, str) and isinstance(x, (int, float)) for name, x in given.items()):
        raise ValueError(f"{word} is a dict {{name: number}}, not {given!r:.100}")
    return {name: np.float64(x) for name, x in given.items()}


def floats(found):
    return {name: float(x) for name, x in found.items()}


def is_dual(x, tag=None):
    """Whether x is a Dual as compute gives it, of that tag."""
    is_one = isinstance(x, tuple) and len(x) == 4 and isinstance(x[0], str) and x[0] == "Dual" and type(x[3]) is int
    return is_one and tag in (None, x[3])


def expect_a_dual(got, what):
    expect_that(is_dual(got), f"{what}: a Dual", look="What is computed from a Dual is a Dual: return Dual(…, …, tag)")


def expect_dual(got, value, tangent, what, look=None, tolerance=1e-9):
    """Wrong unless got, as compute gives it, is a Dual of this value and this tangent."""
    expect_a_dual(got, what)
    expect(got[1], value, f"the value of {what}")
    expect(got[2], tangent, f"the tangent of {what}", look, tolerance)


def expect_count(tools, name, wanted, look):
    """Wrong where a function was called less often, and, for half of the points, where it was called more often."""
    found = tools.passes[name]
    if found != wanted:
        said = "a single pass" if wanted == 1 else f"{wanted} passes"
        raise Wrong(f"{said} of {name}", f"the right numbers, after {found} passes", look, credit=0.5 if found > wanted else 0.0)


CONSTANT = "A number beside a Dual is a constant, of tangent 0: operands(self, other) sorts that out."


@duals.check("the product rule: 3x · y at x = 2 + ε, y = 5 + 4ε")
def product(student, rng):
    with given(look=CONSTANT):
        got = student.compute("3.0 * x * y", x=("Dual", 2.0, 1.0), y=("Dual", 5.0, 4.0))
    expect_dual(got, 30.0, 39.0, "3xy", "Compare with Reps' Fig. 1.")


@duals.check("equation (17) of Adams at x1 = 1.5, x2 = 0.5", cases=[("∂/∂x1", 1.0, 0.0, 3.0118), ("∂/∂x2", 0.0, 1.0, -13.7239)])
def equation_17(student, rng, name, d1, d2, slope):
    y = "(sin(x1 / x2) + x1 / x2 - exp(x2)) * (x1 / x2 - exp(x2))"
    with given(look=CONSTANT):
        got = student.compute(y, x1=("Dual", 1.5, d1), x2=("Dual", 0.5, d2))
    expect_a_dual(got, "y")
    expect(got[2], slope, "the tangent", "Adams prints the tangent of every line, (18) to (35): print yours beside them.", 1e-4)


@duals.check("every slope is what the difference quotient says", cases=[
    "x + 2.0", "2.0 - x", "-x", "x * x", "x / 3.0", "3.0 / x", "x ** 3", "x ** -2", "x ** 0.5", "2.0 ** x", "x ** x",
    "sin(x)", "cos(x)", "exp(x)", "log(x)", "sqrt(x)", "tanh(x)"])
def differences(student, rng, expression):
    x, step = 0.7, 1e-5
    up, down = student.compute(expression, x=x + step), student.compute(expression, x=x - step)
    with given(look=CONSTANT):
        got = student.compute(expression, x=("Dual", x, 1.0))
    expect_a_dual(got, expression)
    expect(got[2], (up - down) / (2 * step), f"the tangent of {expression} at x = {x}",
           "It is compared with Bishop's (8.25), a difference of your own values.", 1e-6)


@slopes.check("a constant, x, and x³ as one of Reps' boxes")
def boxes(student, rng):
    with given(look="What f gives may be a plain number."):
        expect(student.compute("derivative(lambda x: 4.0, 3.0)"), 0.0, "the derivative of a constant")
    expect(student.compute("derivative(lambda x: x, 3.0)"), 1.0, "the derivative of x")
    box = boxed(lambda x: x ** 3, lambda x: 3 * x ** 2)
    got = student.compute("derivative(lambda x: Dual(*box(x.value, x.tangent), x.tag), 2.0)", box=box)
    expect(got, 12.0, "the derivative of x³", "f is a box here, (v, w) → (v³, 3v²·w): what goes in, and what is read off?")


def boxed(f, slope):
    """Reps' box: (v, w) → (f(v), f′(v)·w)."""
    def box(v, w):
        return f(v), slope(v) * w
    return box


@slopes.check("a derivative within a derivative")
def within(student, rng):
    got = student.compute("derivative(lambda x: x * derivative(lambda y: x + y, 1.0), 1.0)")
    expect(got, 1.0, "d/dx [x · d/dy (x + y)]", "The inner derivative is 1: to y, x is a constant. What tells their ε's apart?")


@jacobians.check("the Jacobian of (8.49) and (8.65)", cases=["jacobian_by_columns", "jacobian_by_rows", "jacobian"])
def bishop(student, rng, function):
    tools = Tools(BISHOP)
    values, modes = tools.eval(BISHOP, AT), [tools.forward, tools.backprop]
    modes = modes[:1] if function == "jacobian_by_columns" else modes[1:] if function == "jacobian_by_rows" else modes
    with given(BISHOP, "A register that a pass does not mention has the derivative 0.", of=["f1", "f2"], wrt=["x1", "x2"], at=AT):
        got = getattr(student, function)(BISHOP, values, ["f1", "f2"], ["x1", "x2"], *modes)
    expect(got, JACOBIAN, "J", "Row k has the derivatives of output k, column d those with respect to input d (8.66).")
    passes = tools.passes["forward"] + tools.passes["backprop"]
    expect_that(passes == 2, "2 passes", f"{passes} passes", "What one pass gives is a whole column, or a whole row.")


@jacobians.check("J r of (8.49) and (8.65) in one pass")
def times(student, rng):
    tools = Tools(BISHOP)
    got = student.jacobian_times(BISHOP, tools.eval(BISHOP, AT), ["f1", "f2"], {"x1": 1.0, "x2": -1.0}, tools.forward)
    expect(got, JACOBIAN @ [1.0, -1.0], "J r", "Its element k is the derivative of of[k] along r (8.67).")
    expect_count(tools, "forward", 1, "Bishop says it below (8.67): what should the tangents of the inputs be?")


@hessians.check("the Hessian of x³y at (2, 3)")
def cube(student, rng):
    tools = Tools(CUBE)
    got = student.hessian_times(CUBE, {"x": 2.0, "y": 3.0}, "g", {"x": 1.0, "y": 10.0}, tools.gradient, tools.eval, tools.forward)
    look = "H is [[6xy, 3x²], [3x², 0]]. The gradient is a list: what is its derivative along v? (No quotient is exact enough.)"
    expect(got, {"x": 156.0, "y": 12.0}, "H v", look, tolerance=1e-12)
    expect_count(tools, "forward", 1, "Each pass with a unit vector gives a column of H. Which vector gives H v at once?")


@products.check("a straight line: the approximation is the Hessian itself")
def line(student, rng):
    A = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 3.0]])
    expect(student.outer_products(A), np.array([[3.0, 4.0], [4.0, 10.0]]), "the matrix (8.40)",
           "Its element (i, j) is Σ_n A[n, i] A[n, j].")


@products.check("logistic regression, at outputs of one half")
def halves(student, rng):
    A, y = np.array([[1.0, 0.0], [1.0, 2.0], [1.0, 4.0]]), np.full(3, 0.5)
    expect(student.outer_products_logistic(A, y), np.array([[0.75, 1.5], [1.5, 5.0]]), "the matrix (8.41)")
    got = student.outer_products_times(lambda v: A @ v, lambda u: A.T @ u, y, np.array([1.0, -1.0]))
    expect(got, np.array([-0.75, -3.5]), "the matrix (8.41) times a vector")


@products.check("a softmax: a shift of all scores changes nothing")
def shift(student, rng):
    J = np.ones((2, 3, 1))  # the one parameter is added to all three scores
    expect(student.outer_products_softmax(J, np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])), np.zeros((1, 1)), "the matrix",
           "diag p − p pᵀ has rows that sum to 0.")
