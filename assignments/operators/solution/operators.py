"""Operators on vectors and matrices: for each its value, and for each of its arguments the rule of backpropagation.

A value is a function of the arguments. A rule is a function (delta, out, *args): delta is the derivative of a loss with respect
to the result, out is the result, args are the operator's arguments. It gives the derivative of the loss with respect to its own
argument, in that argument's shape. Arrays are NumPy's, of floats, and a single number is a float. No function writes into an
array that it is given. Helper functions of your own are welcome.
"""
import numpy as np

# ---- task 1 ----------------------------------------------------------------------------------------------------------

def unbroadcast(d, shape):
    """d, summed over all axes that broadcasting from `shape` to the shape of d added or stretched; the result has that shape.

    d: an array of the shape that results when an array of that shape is broadcast.
    """
    # task 1: unbroadcast
    added = np.ndim(d) - len(shape)
    stretched = tuple(added + k for k, n in enumerate(shape) if n == 1)
    return np.sum(d, axis=(*range(added), *stretched), keepdims=True).reshape(shape)
    # end of task 1


# ---- task 2: entry by entry; add and mul broadcast their arguments ---------------------------------------------------

def add(x, y):
    """x + y, with NumPy's broadcasting."""
    # task 2: entry by entry
    return x + y
    # end of task 2


def add_x(delta, out, x, y):
    """The rule of add for x."""
    # task 2: entry by entry
    return unbroadcast(delta, np.shape(x))
    # end of task 2


def add_y(delta, out, x, y):
    """The rule of add for y."""
    # task 2: entry by entry
    return unbroadcast(delta, np.shape(y))
    # end of task 2


def mul(x, y):
    """x · y, entry by entry, with NumPy's broadcasting."""
    # task 2: entry by entry
    return x * y
    # end of task 2


def mul_x(delta, out, x, y):
    """The rule of mul for x."""
    # task 2: entry by entry
    return unbroadcast(delta * y, np.shape(x))
    # end of task 2


def mul_y(delta, out, x, y):
    """The rule of mul for y."""
    # task 2: entry by entry
    return unbroadcast(delta * x, np.shape(y))
    # end of task 2


def square(x):
    """x², entry by entry."""
    # task 2: entry by entry
    return x ** 2
    # end of task 2


def square_x(delta, out, x):
    """The rule of square."""
    # task 2: entry by entry
    return delta * (2 * x)
    # end of task 2


def relu(x):
    """x where it is positive, else 0."""
    # task 2: entry by entry
    return np.maximum(x, 0.0)
    # end of task 2


def relu_x(delta, out, x):
    """The rule of relu. At 0, where there is no derivative, 0 is taken."""
    # task 2: entry by entry
    return delta * (x > 0)
    # end of task 2


def tanh(x):
    """tanh x, entry by entry."""
    # task 2: entry by entry
    return np.tanh(x)
    # end of task 2


def tanh_x(delta, out, x):
    """The rule of tanh."""
    # task 2: entry by entry
    return delta * (1 - out ** 2)
    # end of task 2


# ---- task 3 ----------------------------------------------------------------------------------------------------------

def dot(a, b):
    """The matrix product a·b. Each of a and b is a matrix or a vector: (n, k)·(k, m), (n, k)·(k,), (k,)·(k, m), (k,)·(k,)."""
    # task 3: dot
    return a @ b
    # end of task 3


def dot_a(delta, out, a, b):
    """The rule of dot for a."""
    # task 3: dot
    if b.ndim == 1:
        return np.multiply.outer(delta, b)
    return delta @ b.T
    # end of task 3


def dot_b(delta, out, a, b):
    """The rule of dot for b."""
    # task 3: dot
    if a.ndim == 1:
        return np.multiply.outer(a, delta)
    return a.T @ delta
    # end of task 3


# ---- task 4: sums ----------------------------------------------------------------------------------------------------

def total(x, axis=None):
    """The sum of x over that axis, which goes; of all entries for None. Its name in the tables is "sum"."""
    # task 4: sums
    return np.sum(x, axis=axis)
    # end of task 4


def total_x(delta, out, x, axis=None):
    """The rule of total for x."""
    # task 4: sums
    if axis is not None:
        delta = np.expand_dims(delta, axis)
    return delta * np.ones_like(x)
    # end of task 4


def mean(x, axis=None):
    """The mean of x over that axis, which goes; of all entries for None."""
    # task 4: sums
    return np.mean(x, axis=axis)
    # end of task 4


def mean_x(delta, out, x, axis=None):
    """The rule of mean for x."""
    # task 4: sums
    n = x.size if axis is None else x.shape[axis]
    if axis is not None:
        delta = np.expand_dims(delta, axis)
    return delta / n * np.ones_like(x)
    # end of task 4


def frobeniusNorm(A):
    """√Σ A², over all entries."""
    # task 4: sums
    return np.sqrt(np.sum(A * A))
    # end of task 4


def frobeniusNorm_A(delta, out, A):
    """The rule of frobeniusNorm. Where all of A is 0, and there is no derivative, 0 is taken."""
    # task 4: sums
    return delta * A / out if out else np.zeros_like(A)
    # end of task 4


# ---- task 5 ----------------------------------------------------------------------------------------------------------

def softmax(x):
    """exp(x) over its sum, along the last axis: each row of a matrix becomes probabilities. x may be as large as it likes."""
    # task 5: softmax and crossEntropy
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)
    # end of task 5


def softmax_x(delta, out, x):
    """The rule of softmax."""
    # task 5: softmax and crossEntropy
    return out * (delta - np.sum(delta * out, axis=-1, keepdims=True))
    # end of task 5


def crossEntropy(p, y):
    """−Σ y log p along the last axis, which stays: (n, k) gives (n, 1). Where y is 0, p may be 0 too: 0 log 0 is 0.

    p: the predicted probabilities. y: the target, of the same shape.
    """
    # task 5: softmax and crossEntropy
    log = np.log(p, out=np.zeros_like(p), where=y != 0)
    return -np.sum(y * log, axis=-1, keepdims=True)
    # end of task 5


def crossEntropy_p(delta, out, p, y):
    """The rule of crossEntropy for p. 0 where y is 0."""
    # task 5: softmax and crossEntropy
    return -np.divide(delta * y, p, out=np.zeros_like(p), where=y != 0)
    # end of task 5


def crossEntropy_y(delta, out, p, y):
    """The rule of crossEntropy for y. p is positive here."""
    # task 5: softmax and crossEntropy
    return -delta * np.log(p)
    # end of task 5


# ---- task 6: trust is good ------------------------------------------------------------------------------------------

def differences(f, x, step=1e-5):
    """The central difference quotient (Bishop, equation 8.25) of f with respect to each entry of x; it has the shape of x.

    f: a function of one array that gives a number. x: an array, which stays as it is. f is called twice for each entry.
    """
    # task 6: the gradient check
    result = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        result[place] = (f(up) - f(down)) / (2 * step)
    return result
    # end of task 6


def wrong_rules(value, rules, args, delta):
    """The numbers of those arguments (from 0, in order) whose rule does not give what the difference quotient gives.

    value: the operator, a function of args. rules: for each argument its rule (delta, out, *args), or None where there is none.
    delta: an array of the shape of value(*args). The loss is the sum of delta · value(*args), entry by entry.
    A rule is wrong if its result has another shape than its argument, or an entry that is off by 1e-3 or more, or not a number.
    """
    # task 6: the gradient check
    out, wrong = value(*args), []
    for i, rule in enumerate(rules):
        if rule is not None:
            def loss(x, i=i):
                return np.sum(delta * value(*args[:i], x, *args[i + 1:]))
            got, want = np.asarray(rule(delta, out, *args)), differences(loss, args[i])
            if got.shape != want.shape or not np.allclose(got, want, rtol=1e-5, atol=1e-5):
                wrong.append(i)
    return wrong
    # end of task 6


# ---- task 7: all together --------------------------------------------------------------------------------------------

def regression():
    """The Wengert list of softmax regression, a list of lines (z, g, args), whose last line assigns "loss".

    Inputs: X (n, d), the examples; y (n, k), the targets; W (d, k) and b (k,), the parameters.
    loss = mean over the examples of crossEntropy(softmax(X·W + b), y), plus frobeniusNorm(W).
    """
    # task 7: all together
    return [("z1", "dot", ("X", "W")),
            ("z2", "add", ("z1", "b")),
            ("z3", "softmax", ("z2",)),
            ("z4", "crossEntropy", ("z3", "y")),
            ("z5", "mean", ("z4",)),
            ("z6", "frobeniusNorm", ("W",)),
            ("loss", "add", ("z5", "z6"))]
    # end of task 7


def perceptron():
    """The Wengert list of a network with one hidden layer, whose last line assigns "loss".

    Inputs: X (n, d), the examples; y (n, k), the targets; W1 (d, h), b1 (h,), W2 (h, k) and b2 (k,), the parameters.
    hidden = relu(X·W1 + b1); loss = mean over the examples of crossEntropy(softmax(hidden·W2 + b2), y).
    """
    # task 7: all together
    return [("z1", "dot", ("X", "W1")),
            ("z2", "add", ("z1", "b1")),
            ("hidden", "relu", ("z2",)),
            ("z3", "dot", ("hidden", "W2")),
            ("z4", "add", ("z3", "b2")),
            ("z5", "softmax", ("z4",)),
            ("z6", "crossEntropy", ("z5", "y")),
            ("loss", "mean", ("z6",))]
    # end of task 7


# ---- the tables (given; leave them as they are) ----------------------------------------------------------------------

G = {"add": add, "mul": mul, "square": square, "relu": relu, "tanh": tanh, "dot": dot, "sum": total, "mean": mean,
     "frobeniusNorm": frobeniusNorm, "softmax": softmax, "crossEntropy": crossEntropy}
DG = {"add": [add_x, add_y], "mul": [mul_x, mul_y], "square": [square_x], "relu": [relu_x], "tanh": [tanh_x],
      "dot": [dot_a, dot_b], "sum": [total_x, None], "mean": [mean_x, None], "frobeniusNorm": [frobeniusNorm_A],
      "softmax": [softmax_x], "crossEntropy": [crossEntropy_p, crossEntropy_y]}
