"""Tasks 3 to 5: matrices of derivatives, and how many passes they take."""
import contextlib

import numpy as np

from xman.grade import Wrong, expect, expect_that, given

from ..public.checks import BISHOP, Tools, expect_count, hessians, jacobians, products
from ..solution import modes as reference
from .lists import point, random_list, random_loss, scaled

# ---- 3: the Jacobian -------------------------------------------------------------------------------------------------

def network(rng, inputs, outputs):
    """A random list with so many of both, its values, all that it should give, and its tools.

    The last output does not depend on the first input; what the operators are the tools alone know.
    """
    wrt, of = [f"x{d + 1}" for d in range(inputs)], [f"y{k + 1}" for k in range(outputs)]
    lines = 4 + inputs
    steps = random_list(rng, wrt, lines)
    for k, y in enumerate(of[:-1], 1):
        pair = tuple(str(x) for x in rng.choice(wrt, 2))
        steps += [(f"p{k}", "mul", pair), (y, "add", (f"p{k}", f"z{rng.integers(lines // 2, lines) + 1}"))]
    steps.insert(int(rng.integers(lines)), (of[-1], "sin", (wrt[-1],)))
    rng.shuffle(wrt)
    rng.shuffle(of)
    steps = scaled(rng, steps)
    tools, own = Tools(steps, named=False), Tools(steps, named=False)
    model = own.steps, own.eval(own.steps, point(rng, wrt)), of, wrt
    return *model, reference.jacobian_by_columns(*model, own.forward), tools


LAYOUT = "J[k, d] = ∂of[k]/∂wrt[d]: a row for each output, a column for each input (8.66), in the order of these lists."
ZERO = "A register that a pass does not mention has the derivative 0."


def about(steps, values, of, wrt):
    """What is wrong inside was asked about this list."""
    return given(steps, ZERO, of=of, wrt=wrt, at={x: values[x] for x in sorted(set(values) - {dst for dst, _, _ in steps})})


@jacobians.part("columns, by forward mode", 6, cases=[("2 × 4", 4, 2), ("3 × 3", 3, 3), ("5 × 2", 2, 5)])
def columns(student, rng, name, inputs, outputs):
    *model, want, tools = network(rng, inputs, outputs)
    with about(*model):
        expect(student.jacobian_by_columns(*model, tools.forward), want, "J", LAYOUT)
        expect_count(tools, "forward", inputs, "One pass gives the derivatives of all outputs with respect to one input.")


@jacobians.part("rows, by reverse mode", 6, cases=[("2 × 4", 4, 2), ("3 × 3", 3, 3), ("5 × 2", 2, 5)])
def rows(student, rng, name, inputs, outputs):
    *model, want, tools = network(rng, inputs, outputs)
    with about(*model):
        expect(student.jacobian_by_rows(*model, tools.backprop), want, "J", LAYOUT)
        expect_count(tools, "backprop", outputs, "One pass gives the derivatives of one output with respect to all inputs.")


@jacobians.part("the cheaper of both", 8, cases=[("2 × 9", 9, 2), ("8 × 3", 3, 8), ("4 × 4", 4, 4), ("1 × 12", 12, 1)])
def cheaper(student, rng, name, inputs, outputs):
    *model, want, tools = network(rng, inputs, outputs)

    def instead(of_columns):
        def function(steps, values, of, wrt):
            of, wrt = list(of), list(wrt)
            tools.count("all", len(wrt) if of_columns else len(of))
            if steps != model[0] or values != model[1]:
                raise ValueError("steps and values are not those that you were handed")
            return want[[model[2].index(y) for y in of]][:, [model[3].index(x) for x in wrt]]
        return function
    with about(*model):
        expect(student.jacobian(*model, tools.forward, tools.backprop, instead(True), instead(False)), want, "J", LAYOUT)
        tools.passes["both modes together"] = sum(tools.passes.values())
        expect_count(tools, "both modes together", min(inputs, outputs),
                     "How many passes does each mode need (Reps, end of §4)? Choose before you start.")


@jacobians.part("J r in one pass", 4, cases=["for all inputs", "for all but one"])
def times(student, rng, name):
    steps, values, of, wrt, J, tools = network(rng, 6, 4)
    if name == "for all but one":  # the one that an output depends on alone: a pass does not mention it
        alone = np.flatnonzero(J[(J != 0).sum(1) == 1][0])[0]
        wrt, J = wrt[:alone] + wrt[alone + 1:], np.delete(J, alone, 1)
    r = {x: float(rng.standard_normal()) for x in wrt}
    want = J @ np.array([r[x] for x in wrt])
    with about(steps, values, of, wrt):
        got = student.jacobian_times(steps, values, of, r, tools.forward)
        expect(got, want, "J r", "Its element k is the derivative of of[k] along r (8.67).")
        expect_count(tools, "forward", 1, "Bishop says it below (8.67): what should the tangents of the inputs be?")


# ---- 4: the Hessian times a vector -----------------------------------------------------------------------------------

def expect_product(student, rng, steps, of, wrt):
    """H v at a random point along a random v, in one pass of forward mode."""
    inputs = sorted({a for _, _, args in steps for a in args if isinstance(a, str)} - {dst for dst, _, _ in steps})
    values, v = point(rng, inputs), {x: float(rng.standard_normal()) for x in wrt}
    steps = scaled(rng, steps)
    tools, own = Tools(steps, named=False), Tools(steps, named=False)
    steps, elsewhere = tools.steps, []

    def evaluated(steps, at):
        found = tools.eval(steps, at)
        elsewhere.extend(x for x in inputs if found[x] != values[x])
        return found
    want = reference.hessian_times(steps, values, of, v, own.gradient, own.eval, own.forward)
    with given(steps, ZERO, of=of, v=v, values=values):
        got = student.hessian_times(steps, values, of, v, tools.gradient, evaluated, tools.forward)
        look = "H v is the derivative of the gradient along v: of which list, and which of its registers?"
        with contextlib.suppress(Wrong):
            expect(got, want, "H v", tolerance=1e-4)
            look = "Near, but not exact, as a difference quotient. Forward mode over the gradient's list has no step length."
        expect(got, want, "H v", look, tolerance=1e-12)
        expect_that({*got} == {*v}, f"numbers for {', '.join(v)}", f"numbers for {', '.join(got)}",
                    "H is that of the second derivatives by the names of v, and by no others.")
        expect_that(not elsewhere, "values at the point that was given alone", f"eval was asked for another {elsewhere[:1]}",
                    "A difference takes two points; forward mode takes one.")
        expect_count(tools, "forward", 1, "That is a pass for each column of H. H v is the gradient's derivative along v.")


@hessians.part("H v of a constant gradient, or for some inputs", 5, hidden=True, cases=["no curvature", ("some inputs", 3, 2)])
@hessians.part("H v in one pass", 10, cases=["(8.49)", ("a random list", 4, 4), ("many inputs", 12, 12)])
def product(student, rng, name, inputs=0, wanted=0):
    """wanted: of so many of the inputs, the last ones."""
    if name == "(8.49)":
        expect_product(student, rng, BISHOP, str(rng.choice(["f1", "f2"])), ["x2", "x1"])
    elif name == "no curvature":
        steps = [("a", "sin", ("x1",)), ("b", "mul", (float(rng.uniform(1, 3)), "x2")), ("f", "add", ("a", "b"))]
        expect_product(student, rng, steps, "f", ["x1", "x2"])
    else:
        wrt = [f"x{k + 1}" for k in range(inputs)]
        expect_product(student, rng, random_loss(rng, wrt, inputs + 6), "f", wrt[-wanted:])


# ---- 5: outer products -----------------------------------------------------------------------------------------------

@products.part("a sum of squares (8.40)", 4)
def squares(student, rng):
    A = rng.standard_normal((7, 4))
    expect(student.outer_products(A), reference.outer_products(A), "the matrix (8.40)",
           "For each example a column ∇a_n times a row ∇a_nᵀ; row n of A is ∇a_n.")


@products.part("a logistic output (8.41)", 4)
def logistic(student, rng):
    A, y = rng.standard_normal((6, 4)), 1 / (1 + np.exp(-rng.standard_normal(6)))
    expect(student.outer_products_logistic(A, y), reference.outer_products_logistic(A, y), "the matrix (8.41)",
           "Each example has a weight, and its own: does it multiply the row of its example, or a column?")


@products.part("a softmax", 4)
def softmax(student, rng):
    J, p = rng.standard_normal((5, 3, 4)), np.exp(rng.standard_normal((5, 3)))
    p /= p.sum(1, keepdims=True)
    expect(student.outer_products_softmax(J, p), reference.outer_products_softmax(J, p), "the matrix",
           "Between J_nᵀ and J_n stands the matrix (8.34), which has entries beside its diagonal too.")


@products.part("the matrix (8.41) times a vector, in one pass of each mode", 4)
def products_times(student, rng):
    A, v, passes = rng.standard_normal((6, 9)), rng.standard_normal(9), Tools([])
    y = 1 / (1 + np.exp(-rng.standard_normal(6)))

    def push(v):
        passes.count("push")
        return A @ np.asarray(v, float).reshape(9)

    def pull(u):
        passes.count("pull")
        return A.T @ np.asarray(u, float).reshape(6)
    want = reference.outer_products_times(lambda v: A @ v, lambda u: A.T @ u, y, v)
    expect(student.outer_products_times(push, pull, y, v), want, "the product",
           "Read (8.41) times v from right to left: first ∇a_nᵀ v for all n, then …")
    for name in ("push", "pull"):
        expect_count(passes, name, 1, "The matrix has W² elements, and nobody asked for it.")
