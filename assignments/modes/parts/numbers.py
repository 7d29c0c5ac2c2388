"""Tasks 1 and 2: dual numbers, and the derivative of a function of them."""
import numpy as np

from xman.grade import expect, expect_that, given

from ..probes import compute
from ..public.checks import boxed, duals, expect_dual, is_dual, slopes
from ..solution import modes as reference

# ---- 1: dual numbers -------------------------------------------------------------------------------------------------

SUMS = "The tangent of a sum is the sum of the tangents; a number is a constant, its tangent is 0."
PRODUCTS = "The product rule has two terms, (8.43): which of them is missing, or has a factor of the other?"
QUOTIENTS = "See Adams' divide: which term of the numerator has the minus, and what is the denominator? (Not that of his (23).)"
POWERS = {"x ** y": "Both may vary: x ** y = exp(y · log x), and its tangent has a term for each.",
          "c ** x": "c ** x = exp(x · log c).",
          "x ** 0": "x ** 0 is 1 for all x: it has no slope, and 0 ** -1 need not be computed.",
          "x ** n": "n · x ** (n − 1) holds for a negative x too, where log x does not exist."}


# where the value is nearly the largest float, or the next float is far: no difference quotient comes near the tangent there
FAR = {"x + y": (8.98e307, 8.98e307), "x + c": (8.98e307, 8.98e307), "c + x": (8.98e307, 8.98e307),
       "x - y": (8.98e307, -8.98e307), "x - c": (-8.98e307, 8.98e307), "c - x": (-8.98e307, 8.98e307), "-x": (1.797e308, 0.0),
       "x * y": (1.34e154, 1.34e154), "x * c": (1.34e154, 1.34e154), "c * x": (1.34e154, 1.34e154), "x * x": (1.34e154, 0.0),
       "x / y": (1.797e308, 1.0), "x / c": (1.797e308, 1.0), "c / x": (1.0, 1.797e308), "c ** x": (646.06, 3.0),
       "x ** y": (1.5, 1701.0), "x ** 3": (5.61e102, 0.0), "sin(x)": (1e8, 0.0), "cos(x)": (1e8, 0.0), "exp(x)": (709.74, 0.0),
       "log(x)": (1e-300, 0.0), "sqrt(x)": (1e-322, 0.0), "tanh(x)": (0.1, 0.0)}


@duals.part("quotients", 5, cases=[(expression, QUOTIENTS) for expression in ("x / y", "x / c", "c / x")])
@duals.part("products", 5, cases=[(expression, PRODUCTS) for expression in ("x * y", "x * c", "c * x", "x * x")])
@duals.part("sums and differences", 5,
            cases=[(expression, SUMS) for expression in ("x + y", "x + c", "c + x", "x - y", "x - c", "c - x", "-x")])
def operator(student, rng, expression, look, tolerance=1e-13):
    """expression of the Duals x and y and the number c, against what it should be, also far out."""
    for at in (rng.uniform(0.5, 2.0, 2), FAR[expression] * rng.uniform(1, 1.000003, 2)):
        values = {name: ("Dual", float(x), float(rng.uniform(0.2, 0.5) * rng.choice([-1, 1])))
                  for name, x in zip("xy", at, strict=True) if name in expression.replace("exp", "")}
        if "c" in expression.replace("cos", ""):
            values["c"] = float(at[1])
        _, value, tangent, _ = compute(reference, expression, **values)
        with given(look=look):
            expect_dual(student.compute(expression, **values), value, tangent, expression, look, tolerance)


@duals.part("powers", 6, cases=["x ** n", "x ** 0", "c ** x", "x ** y"])
def powers(student, rng, kind):
    if kind in ("c ** x", "x ** y"):
        return operator(student, rng, kind, POWERS[kind], 1e-11)  # exp(y · log x) is as right as x ** y
    some = [float(x) for x in rng.uniform(0.5, 2.0, 4)]
    whole = [(-some[0], 3), (some[1], 2.5), (-some[2], -2), (1e-322, 0.5), (0.0, 1)]
    for x, n in whole if kind == "x ** n" else [(0.0, 0), (-some[0], 0)]:
        dx = some[3]
        with given(look=POWERS[kind]):
            got = student.compute("x ** n", x=("Dual", x, dx), n=n)
            expect_dual(got, x ** n, n * x ** (n - 1) * dx if n else 0.0, f"x ** {n}", POWERS[kind])


@duals.part("functions", 6, cases=["sin", "cos", "exp", "log", "sqrt", "tanh"])
def functions(student, rng, name):
    operator(student, rng, f"{name}(x)", f"The tangent is the slope of {name} at x times the tangent of x.",
             3e-15 if name == "tanh" else 1e-13)


@duals.part("Duals within Duals", 5, hidden=True, cases=[
    "x * y", "x / y", "x ** 3", "sin(x)", "cos(x)", "exp(x)", "log(x)", "sqrt(x)", "tanh(x)"])
def nested(student, rng, expression):
    """The second derivative is the tangent's tangent."""
    def dual():
        value, *rest = (float(x) for x in rng.uniform(0.5, 2.0, 4))
        value = FAR[expression][0] if expression in ("x * y", "x ** 3") else value
        return ("Dual", ("Dual", value, rest[0], 1), ("Dual", rest[1], rest[2], 1), 2)
    values = {name: dual() for name in "xy" if name in expression}
    got, want = student.compute(expression, **values), compute(reference, expression, **values)
    expect_that(is_dual(got, 2) and is_dual(got[1], 1) and is_dual(got[2], 1),
                "a Dual of ε₂ whose value and tangent are Duals of ε₁", got,
                "Write the rules in + - * / ** and the functions of your own module: they take Duals, math's functions do not.")
    for i, outer in ((1, "value"), (2, "tangent")):
        for j, inner in ((1, "value"), (2, "tangent")):
            expect(got[i][j], want[i][j], f"the {outer}'s {inner}", "Is each rule right for numbers? The same rule holds here.",
                   1e-13)


# ---- 2: derivative ---------------------------------------------------------------------------------------------------

@slopes.part("the derivative of a function, which is called once", 5, cases=["a box", "a constant"])
def once(student, rng, kind):
    """With Reps' box for a function, so that none of the operators matters."""
    x, slope, calls = float(rng.uniform(-2, 2)), float(rng.uniform(0.5, 3) * rng.choice([-1, 1])), []
    box = boxed(lambda v: calls.append(float(v)) or np.sin(v), lambda v: slope)
    inside = "Dual(*box(x.value, x.tangent), x.tag)"
    asked, want, what, look = {
        "a box": (f"derivative(lambda x: {inside}, a)", slope, "f′(x)",
                  "The box gives (f(v), f′(v)·w): what should v and w be, and what is read off at the end?"),
        "a constant": (f"[derivative(lambda x: [{inside}, 7.0][1], a), derivative(lambda x: x, a)]", [0.0, 1.0],
                       "the slopes of 7 and of x", "f may give a number that is no Dual: it is a constant.")}[kind]
    with given(look=look):
        expect(student.compute(asked, a=x, box=box), want, what, look)
    expect_that(calls == [x], "one call of f, at a Dual of value x", f"calls at {calls}", "Forward mode needs no second point.")


@slopes.part("a derivative within a derivative", 4)
def within(student, rng):
    x, y, c = (float(a) for a in rng.uniform(0.5, 3.0, 3))
    one_in_the_other(student, "a * derivative(lambda b: once('b') and a + c * b, y)", c, "d/da [a · d/db (a + c·b)]",
                     "To the inner derivative a is a constant. Has each call of derivative a tag of its own?", x=x, y=y, c=c)


def one_in_the_other(student, f, want, what, look, **values):
    """Wrong unless that is the derivative of f at x, for which each function is called once: a difference takes two calls."""
    calls = []
    expect(student.compute(f"derivative(lambda a: once('a') and {f}, x)", once=lambda name: calls.append(name) or True, **values),
           want, what, look)
    expect_that(sorted(calls) == ["a", "b"], "each of the two functions is called once", f"calls of {calls}")


@slopes.part("what does not depend on the inner variable", 4, hidden=True, cases=["another's tangent", "at the outer variable"])
def others(student, rng, kind):
    x, y, c = (float(a) for a in rng.uniform(0.5, 3.0, 3))
    another = kind == "another's tangent"
    inner = f"derivative(lambda b: once('b') and {'c * a, y)' if another else '7.0, a) + 1.0'}"
    one_in_the_other(student, f"c * a + a * ({inner})", c if another else c + 1.0, "the outer derivative",
                     "A result without the ε of this call has derivative 0.", x=x, y=y, c=c)
