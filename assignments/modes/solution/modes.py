"""Derivatives in both directions: dual numbers, Jacobians, Hessians times vectors, and outer products of gradients.

You need the standard library and NumPy. What a task builds on is handed to it as a function (forward, backprop, gradient …), so
the tasks do not depend on each other. Helper functions of your own are welcome.
"""
import itertools
import math

import numpy as np

tags = itertools.count(1)  # next(tags) is a tag that no Dual has yet


class Dual:
    """value + tangent·ε, where ε² = 0. tag says which ε it is: the newer one has the larger tag.

    value and tangent are numbers, or Duals of older ε's. Give every result of an operator the tag that operands() tells.
    """

    __array_ufunc__ = None  # np.float64(2.0) * Dual is left to Dual.__rmul__

    def __init__(self, value, tangent=0.0, tag=0):
        self.value, self.tangent, self.tag = value, tangent, tag

    def __repr__(self):
        return f"Dual({self.value}, {self.tangent})"

    def __lt__(self, other):
        return self.value < (other.value if isinstance(other, Dual) else other)

    def __gt__(self, other):
        return self.value > (other.value if isinstance(other, Dual) else other)

    def __neg__(self):
        """-x"""
        # task 1: dual numbers
        return Dual(-self.value, -self.tangent, self.tag)
        # end of task 1

    def __add__(self, other):
        """x + y, where y may be a number; x + y and y + x are the same (__radd__ is called for number + Dual)."""
        # task 1: dual numbers
        x, dx, y, dy, tag = operands(self, other)
        return Dual(x + y, dx + dy, tag)
        # end of task 1

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        """x - y, where y may be a number."""
        # task 1: dual numbers
        x, dx, y, dy, tag = operands(self, other)
        return Dual(x - y, dx - dy, tag)
        # end of task 1

    def __rsub__(self, other):
        """other - self, where other is a number."""
        # task 1: dual numbers
        return Dual(other - self.value, -self.tangent, self.tag)
        # end of task 1

    def __mul__(self, other):
        """x * y, where y may be a number."""
        # task 1: dual numbers
        x, dx, y, dy, tag = operands(self, other)
        return Dual(x * y, dx * y + x * dy, tag)
        # end of task 1

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        """x / y, where y may be a number."""
        # task 1: dual numbers
        x, dx, y, dy, tag = operands(self, other)
        return Dual(x / y, (dx * y - x * dy) / (y * y), tag)
        # end of task 1

    def __rtruediv__(self, other):
        """other / self, where other is a number."""
        # task 1: dual numbers
        return Dual(other / self.value, -other * self.tangent / (self.value * self.value), self.tag)
        # end of task 1

    def __pow__(self, other):
        """x ** y. Where y is a number, x may have any value for which x ** y has a slope (0 and below too); else x is above 0."""
        # task 1: dual numbers
        x, dx, y, dy, tag = operands(self, other)
        slope = y * x ** (y - 1) if isinstance(y, Dual) or y != 0 else 0.0
        tangent = dx * slope
        if isinstance(other, Dual) and other.tag == tag:
            tangent = tangent + dy * log(x) * x ** y
        return Dual(x ** y, tangent, tag)
        # end of task 1

    def __rpow__(self, other):
        """other ** self, where other is a number above 0."""
        # task 1: dual numbers
        power = other ** self.value
        return Dual(power, self.tangent * power * math.log(other), self.tag)
        # end of task 1


def operands(x, y):
    """(x, its tangent, y, its tangent, tag) for an operator of x and y, of which one at least is a Dual. (Given.)

    tag is that of the newer ε. A number, or a Dual of an older ε, is a constant to it: it stays what it is, with tangent 0.0.
    """
    tag = max(a.tag for a in (x, y) if isinstance(a, Dual))
    (x, dx), (y, dy) = ((a.value, a.tangent) if isinstance(a, Dual) and a.tag == tag else (a, 0.0) for a in (x, y))
    return x, dx, y, dy, tag


def sin(x):
    """The sine of a number or a Dual, as all functions here."""
    if not isinstance(x, Dual):
        return math.sin(x)
    # task 1: dual numbers
    return Dual(sin(x.value), x.tangent * cos(x.value), x.tag)
    # end of task 1


def cos(x):
    """The cosine."""
    if not isinstance(x, Dual):
        return math.cos(x)
    # task 1: dual numbers
    return Dual(cos(x.value), -x.tangent * sin(x.value), x.tag)
    # end of task 1


def exp(x):
    """e to the power x."""
    if not isinstance(x, Dual):
        return math.exp(x)
    # task 1: dual numbers
    value = exp(x.value)
    return Dual(value, x.tangent * value, x.tag)
    # end of task 1


def log(x):
    """The natural logarithm."""
    if not isinstance(x, Dual):
        return math.log(x)
    # task 1: dual numbers
    return Dual(log(x.value), x.tangent / x.value, x.tag)
    # end of task 1


def sqrt(x):
    """The square root."""
    if not isinstance(x, Dual):
        return math.sqrt(x)
    # task 1: dual numbers
    value = sqrt(x.value)
    return Dual(value, x.tangent / (2.0 * value), x.tag)
    # end of task 1


def tanh(x):
    """The hyperbolic tangent."""
    if not isinstance(x, Dual):
        return math.tanh(x)
    # task 1: dual numbers
    value = tanh(x.value)
    return Dual(value, x.tangent * (1.0 - value * value), x.tag)
    # end of task 1


def derivative(f, x):
    """f′(x), for a function f of one number, called once, with a Dual.

    Each call of derivative takes an ε of its own, next(tags). What f gives may not depend on that ε: then the derivative is 0.0.
    """
    # task 2: derivative
    tag = next(tags)
    y = f(Dual(x, 1.0, tag))
    return y.tangent if isinstance(y, Dual) and y.tag == tag else 0.0
    # end of task 2


def jacobian_by_columns(steps, values, of, wrt, forward):
    """J as an array (len(of), len(wrt)), J[k, d] = ∂of[k]/∂wrt[d], by one pass of forward mode for each column.

    steps: a list whose registers hold numbers. values: those of all its registers, as eval gave them. of, wrt: lists of names.
    forward(steps, values, tangents): one pass. tangents: {name: tangent} for the inputs that have one, the others' are 0. It
    gives {name: tangent} for those named and all that depend on them; a register that is missing there does not depend on them.
    """
    # task 3: the Jacobian
    columns = []
    for x in wrt:
        tangents = forward(steps, values, {x: 1.0})
        columns.append([tangents.get(y, 0.0) for y in of])
    return np.array(columns).T
    # end of task 3


def jacobian_by_rows(steps, values, of, wrt, backprop):
    """The same array by one pass of reverse mode for each row.

    backprop(steps, values, deltas): one pass. deltas: {name: delta} for the registers to start from. It gives {name: delta} for
    those named and all that they depend on; a register that is missing there does not matter to them.
    """
    # task 3: the Jacobian
    rows = []
    for y in of:
        deltas = backprop(steps, values, {y: 1.0})
        rows.append([deltas.get(x, 0.0) for x in wrt])
    return np.array(rows)
    # end of task 3


def jacobian(steps, values, of, wrt, forward, backprop):
    """The same array in as few passes as can be: those of the cheaper mode."""
    # task 3: the Jacobian
    if len(wrt) <= len(of):
        return jacobian_by_columns(steps, values, of, wrt, forward)
    return jacobian_by_rows(steps, values, of, wrt, backprop)
    # end of task 3


def jacobian_times(steps, values, of, r, forward):
    """J r as an array (len(of),), without J. r: {name: number}, a number for each of the inputs that J is with respect to."""
    # task 3: the Jacobian
    tangents = forward(steps, values, r)
    return np.array([tangents.get(y, 0.0) for y in of])
    # end of task 3


def hessian_times(steps, values, of, v, gradient, eval, forward):
    """H v as a dict {name: number} for the names of v, without H: H is that of the register `of` with respect to these names.

    steps: a list whose registers hold numbers. values: those of its inputs, by name. v: {name: number} for some inputs, or all.
    gradient(steps, of, wrt): a longer list, which computes ∂of/∂x in the register d{of}_d{x} for each x in the list of names wrt.
    eval(steps, values): the values of all registers of a list, from those of its inputs.
    forward(steps, values, tangents): one pass of forward mode over a list, as in task 3; values: those of all its registers.
    """
    # task 4: the Hessian times a vector
    slopes = gradient(steps, of, list(v))
    tangents = forward(slopes, eval(slopes, values), v)
    return {x: tangents.get(f"d{of}_d{x}", 0.0) for x in v}
    # end of task 4


def outer_products(A):
    """Bishop's (8.40), an array (W, W). A: an array (N, W), whose row n is ∇a_n."""
    # task 5: outer products
    return A.T @ A
    # end of task 5


def outer_products_logistic(A, y):
    """Bishop's (8.41), an array (W, W). A: an array (N, W), whose row n is ∇a_n. y: the outputs σ(a_n), an array (N,)."""
    # task 5: outer products
    return A.T @ ((y * (1.0 - y))[:, None] * A)
    # end of task 5


def outer_products_softmax(J, p):
    """The same for a softmax of K outputs, Σ_n J_nᵀ (diag p_n − p_n p_nᵀ) J_n, an array (W, W).

    J: an array (N, K, W), where J[n] is the Jacobian of the K scores a_n before the softmax. p: their softmax, an array (N, K).
    """
    # task 5: outer products
    total = 0.0
    for Jn, pn in zip(J, p, strict=True):
        total = total + Jn.T @ (np.diag(pn) - np.outer(pn, pn)) @ Jn
    return total
    # end of task 5


def outer_products_times(push, pull, y, v):
    """The matrix (8.41) times the vector v, an array (W,), without the matrix.

    push(v): A v, an array (N,), by one pass of forward mode. pull(u): Aᵀ u, an array (W,), by one of reverse mode.
    y: the outputs, an array (N,).
    """
    # task 5: outer products
    return pull(y * (1.0 - y) * push(v))
    # end of task 5


if __name__ == "__main__":
    def prod(x):
        """Reps' example 2.3: a product in a loop."""
        answer = 1.0
        for factor in (sin, exp, lambda x: x + 4.0):
            answer = answer * factor(x)
        return answer

    print("Prod'(0.5) =", derivative(prod, 0.5), "  should be 10.85841…")
    x1, x2 = Dual(1.5, 1.0), 0.5
    print("Adams' (17):", (sin(x1 / x2) + x1 / x2 - exp(x2)) * (x1 / x2 - exp(x2)), "  should be Dual(2.0166…, 3.0118…)")
