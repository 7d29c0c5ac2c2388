"""Fresh arrays for the graded parts, and how what comes back is compared with the reference."""
import numpy as np

from xman.grade import expect, given
from xman.grade.compare import about_shapes, shown_value

from .public.checks import ARGUMENTS
from .solution import operators as reference


def array(rng, *shape):
    """Numbers of two decimals between 0.2 and 2, of either sign; for no shape a float."""
    return np.round(rng.uniform(0.2, 2.0, shape) * rng.choice([-1, 1], shape), 2)


def far(rng, op, *shapes):
    """Arguments of op at which no difference quotient, of whatever order and step, comes near its rules, which are exact there.

    A sum or a product overflows, a step from one float to the next is too long, or what is large drowns what is small.
    """
    def whole(shape, low=20):
        return np.round(rng.uniform(low, 200, shape))

    def signed(shape):
        return whole(shape) * rng.choice([-1, 1], shape)
    if op in ("add", "total", "mean"):
        return [2.0 ** 1016 * whole(shape, 130) for shape in shapes]
    if op == "softmax":  # where the next float is 1 away
        return [2.0 ** 52 + rng.integers(0, 4, shape) for shape in shapes]
    if op == "crossEntropy":
        p, y = (targets(rng, *shape) for shape in shapes)
        return [p, y * 2.0 ** np.where(np.arange(y.shape[1]), 0, 40)]
    if op == "frobeniusNorm":
        return [2.0 ** -300 * np.where(np.arange(np.prod(shape)).reshape(shape), array(rng, *shape), 1e-12) for shape in shapes]
    power = {"mul": 660, "dot": 660, "square": 1000, "relu": -1074, "tanh": -8}[op]
    return [signed(shape) * 2.0 ** power for shape in shapes]


def lengths(rng, count=2):
    """So many lengths of axes, all of them different."""
    return [int(n) for n in rng.permutation([2, 3, 4, 5])[:count]]


def targets(rng, n, k):
    """n rows of k probabilities, all positive, as soft targets or as predictions."""
    weights = rng.uniform(0.2, 2.0, (n, k))
    return np.round(weights / weights.sum(1, keepdims=True), 3)


def call_of(name, names, args):
    """A call in words: mul_x(delta, out, x, y) with delta = …, x = …"""
    parts = [f"{n} = {shown_value(a)}" for n, a in zip(names, args, strict=True) if n != "out"]
    return f"{name}({', '.join(names)}) with {'; '.join(parts)}"


FLOATS = "A number is a float of Python's here: np.shape, np.ndim and np.sum take it, x.shape does not exist."


def expect_value(student, op, args, look=None):
    """Wrong unless the operator has the reference's value."""
    want = getattr(reference, op)(*args)
    with given(call_of(op, ARGUMENTS[op], args), failed=look):
        got = getattr(student, op)(*args)
        expect(got, want, f"the value of {op}", with_shape(got, want, "The value", look))


def with_shape(got, want, what, look):
    """The hint; in its place a sentence about the shape if that is wrong, since nothing else is known then."""
    if not isinstance(got, (int, float, np.ndarray)) or np.shape(got) == np.shape(want):
        return look
    return f"{what} should have the shape {np.shape(want)}. {about_shapes(np.shape(got), np.shape(want)) or ''}".strip()


EXACT = {"tanh": 3e-15}  # a few units in the last place, as tanh is nowhere hard for difference quotients


def expect_rule(rng, student, rule, args, look, unbroadcast=False):
    """Wrong unless the rule sends back what the reference's does.

    unbroadcast: whether that of the reference stands in the place of the submission's.
    """
    op, own = rule.rsplit("_", 1)
    with np.errstate(all="ignore"):
        out = getattr(reference, op)(*args)
    delta = np.round(100 * array(rng, *np.shape(out)))  # whole numbers, so that sums of large products round nowhere
    delta = delta if np.shape(delta) else float(delta)
    want = getattr(reference, rule)(delta, out, *args)
    names = ["delta", "out", *ARGUMENTS[op]]
    floats = any(isinstance(arg, float) for arg in (delta, out, *args))
    with given(call_of(rule, names, (delta, out, *args)), failed=f"{FLOATS} {look}" if floats else look):
        got = student.with_unbroadcast(reference.unbroadcast, rule, delta, out, *args) if unbroadcast else \
            getattr(student, rule)(delta, out, *args)
        expect(got, want, f"what {op} sends back to {own}", with_shape(got, want, f"Like {own}, what is sent back to it", look),
               EXACT.get(op, 1e-12))


def expect_kept(rng, student, name):
    """Wrong unless the function gives what the reference's does and leaves all arguments as they are."""
    op = name.split("_")[0]
    names = list(ARGUMENTS[op])
    args = [(targets if op == "crossEntropy" else array)(rng, 3, 4) for _ in names]
    if "_" in name:
        args = far(rng, op, *[(3, 4)] * len(names))
        with np.errstate(all="ignore"):
            out = getattr(reference, op)(*args)
        names, args = ["delta", "out", *names], (array(rng, *np.shape(out)), out, *args)
    with given(call_of(name, names, args)):
        got = student.frozen(name, *map(np.array, args), look="x *= 2, x[x < 0] = 0 and out=x write into x, which others need "
                             "too; x * 2 makes a new array.")
        expect(got, getattr(reference, name)(*args), name, "Arguments that stay count where the result is right.",
               EXACT.get(op, 1e-12))
