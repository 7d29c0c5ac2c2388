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
        # your code here
        return 0.0 - self

    def __add__(self, other):
        """x + y, where y may be a number; x + y and y + x are the same (__radd__ is called for number + Dual)."""
        # your code here
        x, dx, y, dy, t = operands(self, other)
        return Dual(x + y, dx + dy, t)

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        """x - y, where y may be a number."""
        # your code here
        x, dx, y, dy, t = operands(self, other)
        return Dual(x - y, dx - dy, t)

    def __rsub__(self, other):
        """other - self, where other is a number."""
        # your code here
        return self - other

    def __mul__(self, other):
        """x * y, where y may be a number."""
        # your code here
        return Dual(self.value * other.value, self.tangent * other.value + self.value * other.tangent, self.tag)

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        """x / y, where y may be a number."""
        # your code here
        x, dx, y, dy, t = operands(self, other)
        return Dual(x / y, dx / dy, t)

    def __rtruediv__(self, other):
        """other / self, where other is a number."""
        # your code here
        x, dx, y, dy, t = operands(other, self)
        q = x / y
        return Dual(q, (dx - q * dy) / y, t)

    def __pow__(self, other):
        """x ** y. Where y is a number, x may have any value for which x ** y has a slope (0 and below too); else x is above 0."""
        # your code here
        return exp(other * log(self))

    def __rpow__(self, other):
        """other ** self, where other is a number above 0."""
        # your code here
        return exp(self * math.log(other))


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
    # your code here
    return Dual(math.sin(x.value), math.cos(x.value) * x.tangent, x.tag)


def cos(x):
    """The cosine."""
    if not isinstance(x, Dual):
        return math.cos(x)
    # your code here
    return Dual(cos(x.value), sin(x.value) * x.tangent, x.tag)


def exp(x):
    """e to the power x."""
    if not isinstance(x, Dual):
        return math.exp(x)
    # your code here
    return math.exp(x.value)


def log(x):
    """The natural logarithm."""
    if not isinstance(x, Dual):
        return math.log(x)
    # your code here
    return Dual(log(x.value), x.tangent / x.value, x.tag)


def sqrt(x):
    """The square root."""
    if not isinstance(x, Dual):
        return math.sqrt(x)
    # your code here
    return x ** 0.5


def tanh(x):
    """The hyperbolic tangent."""
    if not isinstance(x, Dual):
        return math.tanh(x)
    # your code here
    return Dual(tanh(x.value), (1 - tanh(x.value) ** 2) * x.tangent, x.tag)


def derivative(f, x):
    """f′(x), for a function f of one number, called once, with a Dual.

    Each call of derivative takes an ε of its own, next(tags). What f gives may not depend on that ε: then the derivative is 0.0.
    """
    # your code here
    return f(Dual(x, 1.0)).tangent


def jacobian_by_columns(steps, values, of, wrt, forward):
    """J as an array (len(of), len(wrt)), J[k, d] = ∂of[k]/∂wrt[d], by one pass of forward mode for each column.

    steps: a list whose registers hold numbers. values: those of all its registers, as eval gave them. of, wrt: lists of names.
    forward(steps, values, tangents): one pass. tangents: {name: tangent} for the inputs that have one, the others' are 0. It
    gives {name: tangent} for all registers that depend on those named; a register that is missing there does not depend on them.
    """
    # your code here
    J = []
    for x in wrt:
        t = forward(steps, values, {x: 1.0})
        J.append([t[y] for y in of])
    return J


def jacobian_by_rows(steps, values, of, wrt, backprop):
    """The same array by one pass of reverse mode for each row.

    backprop(steps, values, deltas): one pass. deltas: {name: delta} for the registers to start from. It gives {name: delta} for
    all registers that those named depend on; a register that is missing there does not matter to them.
    """
    # your code here
    return np.array([[backprop(steps, values, {y: 1.0}).get(x, 0.0) for x in wrt] for y in of])


def jacobian(steps, values, of, wrt, forward, backprop):
    """The same array in as few passes as can be: those of the cheaper mode."""
    # your code here
    return jacobian_by_rows(steps, values, of, wrt, backprop)


def jacobian_times(steps, values, of, r, forward):
    """J r as an array (len(of),), without J. r: {name: number}, a number for each of the inputs that J is with respect to."""
    # your code here
    return jacobian_by_columns(steps, values, of, list(r), forward) @ np.array(list(r.values()))


def hessian_times(steps, values, of, v, gradient, eval, forward):
    """H v as a dict {name: number} for the names of v, without H: H is that of the register `of` with respect to these names.

    steps: a list whose registers hold numbers. values: those of its inputs, by name. v: {name: number} for some inputs, or all.
    gradient(steps, of, wrt): a longer list, which computes ∂of/∂x in the register d{of}_d{x} for each x in the list of names wrt.
    eval(steps, values): the values of all registers of a list, from those of its inputs.
    forward(steps, values, tangents): one pass of forward mode over a list, as in task 3; values: those of all its registers.
    """
    # your code here
    e = 1e-5
    g = gradient(steps, of, list(v))
    up = eval(g, {x: values[x] + e * v.get(x, 0) for x in values})
    down = eval(g, {x: values[x] - e * v.get(x, 0) for x in values})
    return {x: (up["d" + of + "_d" + x] - down["d" + of + "_d" + x]) / (2 * e) for x in v}


def outer_products(A):
    """Bishop's (8.40), an array (W, W). A: an array (N, W), whose row n is ∇a_n."""
    # your code here
    return A @ A.T


def outer_products_logistic(A, y):
    """Bishop's (8.41), an array (W, W). A: an array (N, W), whose row n is ∇a_n. y: the outputs σ(a_n), an array (N,)."""
    # your code here
    return A.T @ (y * (1 - y) * A)


def outer_products_softmax(J, p):
    """The same for a softmax of K outputs, Σ_n J_nᵀ (diag p_n − p_n p_nᵀ) J_n, an array (W, W).

    J: an array (N, K, W), where J[n] is the Jacobian of the K scores a_n before the softmax. p: their softmax, an array (N, K).
    """
    # your code here
    return np.einsum('nki,nk,nkj->ij', J, p * (1 - p), J)


def outer_products_times(push, pull, y, v):
    """The matrix (8.41) times the vector v, an array (W,), without the matrix.

    push(v): A v, an array (N,), by one pass of forward mode. pull(u): Aᵀ u, an array (W,), by one of reverse mode.
    y: the outputs, an array (N,).
    """
    # your code here
    return y * (1 - y) * pull(push(v))


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
