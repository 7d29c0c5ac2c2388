"""Planted bugs: (what is wrong, text in the solution, its replacement, the part or parts that lose by it)."""
UNBROADCAST, THREE = "unbroadcast", "unbroadcast: three axes"
ENTRIES, SPREAD, CORNERS, KEPT, VALUES = (f"entry by entry: {title}" for title in (
    "rules", "rules that undo a broadcast", "relu at 0, tanh far from 0", "the arguments stay as they are", "values"))
FOR_A, FOR_B, SQUARE = "dot: the rule for a", "dot: the rule for b", "dot: square matrices, rows and columns"
SUMS, AXES = "sums: rules", "sums: three axes, and the norm of zeros"
SOFTMAX, LARGE, RULE = "softmax: values", "softmax: large numbers", "softmax: the rule"
ENTROPY, FOR_P, FOR_Y, ZERO, SMALL, PROBABILITIES_KEPT = (
    "crossEntropy: values", "crossEntropy: the rule for p", "crossEntropy: the rule for y", "crossEntropy: p is 0 where y is 0",
    "crossEntropy: very small probabilities", "softmax, crossEntropy: the arguments stay as they are")
EVERY, CENTRAL, CALLS, WRONG = ("differences: every entry", "differences: the central quotient (8.25)",
                                "differences: two calls for each entry", "wrong_rules: which rule is wrong?")
LISTS, WHOLE = "the lists", "your operators in your lists"

STRETCHED = "stretched = tuple(added + k for k, n in enumerate(shape) if n == 1)"
NEAR = "not np.allclose(got, want, rtol=1e-5, atol=1e-5)"

MUTANTS = [
    ("what was stretched is not summed", STRETCHED, "stretched = ()", (UNBROADCAST, THREE)),
    ("axes are counted from the left", STRETCHED, STRETCHED.replace("added + k", "k"), (UNBROADCAST, THREE)),
    ("a mean in place of the sum", "return np.sum(d, axis=(*range(added)", "return np.mean(d, axis=(*range(added)",
     (UNBROADCAST, THREE, WHOLE)),

    ("the broadcast of x is not undone", "unbroadcast(delta, np.shape(x))", "delta", SPREAD),
    ("the broadcast of y is not undone", "unbroadcast(delta * x, np.shape(y))", "delta * x", SPREAD),
    ("the factors of mul are exchanged", "unbroadcast(delta * y, np.shape(x))", "unbroadcast(delta * x, np.shape(x))",
     (ENTRIES, SPREAD)),
    ("the 2 of the square is lost", "delta * (2 * x)", "delta * x", (ENTRIES, KEPT)),
    ("relu lets delta through at 0", "(x > 0)", "(x >= 0)", CORNERS),
    ("relu of the absolute value", "np.maximum(x, 0.0)", "np.abs(x)", (VALUES, CORNERS, WHOLE, KEPT)),
    ("the derivative of tanh without its square", "1 - out ** 2", "1 - out", (ENTRIES, CORNERS, KEPT)),
    ("relu writes into delta", "    return delta * (x > 0)", "    delta *= x > 0\n    return delta", KEPT),

    ("b is not transposed", "delta @ b.T", "delta @ b if b.shape[0] == b.shape[1] else delta @ b.T", SQUARE),
    ("matrix times vector by the product of the vectors", "np.multiply.outer(delta, b)", "np.sum(delta) * b", FOR_A),
    ("vector times matrix transposed", "np.multiply.outer(a, delta)", "np.multiply.outer(delta, a)", FOR_B),
    ("b gets the sum of all", "a.T @ delta", "np.sum(a.T @ delta) + 0 * a.T @ delta", (FOR_B, SQUARE, WHOLE)),

    ("the sum's delta along the wrong axis", "        delta = np.expand_dims(delta, axis)\n    return delta * np.ones_like(x)",
     "        delta = np.expand_dims(delta, -1)\n    return delta * np.ones_like(x)", (SUMS, AXES)),
    ("the mean divides by all entries", "x.size if axis is None else x.shape[axis]", "x.size", (SUMS, AXES)),
    ("the mean does not divide", "return delta / n * np.ones_like(x)", "return delta * np.ones_like(x)", (SUMS, AXES, WHOLE)),
    ("the norm of zeros divides by 0", "delta * A / out if out else np.zeros_like(A)", "delta * A / np.float64(out)", AXES),

    ("softmax of a matrix over all its entries", "e / np.sum(e, axis=-1, keepdims=True)", "e / np.sum(e)",
     (SOFTMAX, LARGE, WHOLE, PROBABILITIES_KEPT)),
    ("exp overflows", "np.exp(x - np.max(x, axis=-1, keepdims=True))", "np.exp(x)", (LARGE, WHOLE)),
    ("the same number is subtracted from all rows", "np.max(x, axis=-1, keepdims=True)", "np.max(x)", LARGE),
    ("the diagonal of the Jacobian alone", "out * (delta - np.sum(delta * out, axis=-1, keepdims=True))",
     "delta * out * (1 - out)", (RULE, WHOLE, PROBABILITIES_KEPT)),
    ("softmax's rule sums over all rows", "np.sum(delta * out, axis=-1, keepdims=True)", "np.sum(delta * out)",
     (RULE, WHOLE, PROBABILITIES_KEPT)),
    ("softmax writes into x", "    e = np.exp(x - np.max(x, axis=-1, keepdims=True))",
     "    x -= np.max(x, axis=-1, keepdims=True)\n    e = np.exp(x)", PROBABILITIES_KEPT),
    ("the rule for p has the wrong sign", "-np.divide(delta * y, p", "np.divide(delta * y, p",
     (FOR_P, ZERO, WHOLE, PROBABILITIES_KEPT)),
    ("zero divided by zero", "np.divide(delta * y, p, out=np.zeros_like(p), where=y != 0)", "np.divide(delta * y, p)", ZERO),
    ("p is kept away from 0 by adding to it", "np.log(p, out=np.zeros_like(p), where=y != 0)", "np.log(p + 1e-15)", SMALL),
    ("the mean of the rows in place of their sum", "-np.sum(y * log, axis=-1, keepdims=True)",
     "-np.mean(y * log, axis=-1, keepdims=True)", (ENTROPY, ZERO, SMALL, WHOLE, PROBABILITIES_KEPT)),
    ("the rule for y has no logarithm", "-delta * np.log(p)", "-delta * p", (FOR_Y, WHOLE)),

    ("an entry stays moved", "up, down = x.copy(), x.copy()", "up = down = x", (EVERY, CENTRAL, CALLS, WRONG)),
    ("the difference to one side", "f(up) - f(down)) / (2 * step)", "f(up) - f(x)) / step", (EVERY, CENTRAL)),
    ("its own step", "f(down)) / (2 * step)", "f(down)) / 2e-5", CENTRAL),
    ("f once more for each entry", "    result[place] =", "    f(x)\n        result[place] =", CALLS),
    ("crossEntropy sums along the second axis", "return -np.sum(y * log, axis=-1", "return -np.sum(y * log, axis=1",
     "crossEntropy: values"),
    ("the numbers come in reverse", "    return wrong\n", "    return wrong[::-1]\n", "wrong_rules: which rule is wrong?"),
    ("an argument without a rule is wrong", "if rule is not None:",
     "if rule is None:\n            wrong.append(i)\n        else:", "wrong_rules: which rule is wrong?"),
    ("shapes are not compared", "got.shape != want.shape or ", "", WRONG),
    ("NaN passes", NEAR, "np.any(np.abs(got - want) > 1e-5)", WRONG),
    ("the sum of the entries is compared", NEAR, "not np.allclose(np.sum(got), np.sum(want), 1e-5)", WRONG),

    ("the bias is forgotten", '("z3", "softmax", ("z2",))', '("z3", "softmax", ("z1",))', LISTS),
    ("the norm is subtracted from nothing", '("loss", "add", ("z5", "z6"))', '("loss", "mean", ("z4",))', LISTS),
    ("the second argument is subtracted", "    return x + y", "    return x - y",
     ("entry by entry: values", "your operators in your lists")),
    ("the rule of add for y has a minus", "return unbroadcast(delta, np.shape(y))", "return unbroadcast(-delta, np.shape(y))",
     ("entry by entry: rules", "entry by entry: rules that undo a broadcast", "your operators in your lists")),
    ("matrices are multiplied as such", "    return x * y", "    return x * y if np.ndim(x) < 2 else x @ np.asarray(y).T",
     "entry by entry: values"),
    ("the square keeps the sign", "    return x ** 2", "    return x * abs(x)", "entry by entry: values"),
    ("the sine for the hyperbolic tangent", "    return np.tanh(x)", "    return np.sin(x)",
     ("entry by entry: values", "entry by entry: relu at 0, tanh far from 0")),
    ("the product of matrices is off by a little", "    return a @ b",
     "    return a @ b if a.ndim < 2 or b.ndim < 2 else a @ b + 1e-6",
     ("dot: values", "your operators in your lists")),
    ("the sum is of all entries, whatever the axis", "    return np.sum(x, axis=axis)", "    return np.sum(x)", "sums: values"),
    ("the mean keeps its axis", "    return np.mean(x, axis=axis)", "    return np.mean(x, axis=axis, keepdims=True)",
     ("sums: values", "your operators in your lists")),
    ("the norm without its root", "    return np.sqrt(np.sum(A * A))", "    return np.sum(A * A)",
     ("sums: values", "your operators in your lists")),
    ("the hidden layer is not bent", '"relu", ', '"alias", ', ("the lists", "your operators in your lists")),
]
