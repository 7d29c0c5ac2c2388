"""Bugs planted in the solution: (what, text, its replacement, the parts that it loses)."""
NESTED = "Duals within Duals"
ONCE = "the derivative of a function, which is called once"
WITHIN = "a derivative within a derivative"
OTHERS = "what does not depend on the inner variable"
PRODUCT = "H v in one pass"
CORNERS = "H v of a constant gradient, or for some inputs"

COLUMN = "columns.append([tangents.get(y, 0.0) for y in of])"
HV = """    tangents = forward(slopes, eval(slopes, values), v)
    return {x: tangents.get(f"d{of}_d{x}", 0.0) for x in v}"""
H = """    values = eval(slopes, values)
    columns = {y: forward(slopes, values, {y: 1.0}) for y in v}
    return {x: sum(columns[y].get(f"d{of}_d{x}", 0.0) * v[y] for y in v) for x in v}"""
JR = """    tangents = forward(steps, values, r)
    return np.array([tangents.get(y, 0.0) for y in of])"""
J = "    return jacobian_by_columns(steps, values, of, list(r), forward) @ np.array(list(r.values()))"

MUTANTS = [
    ("the tangent of x - y is that of a sum", "dx - dy, tag)", "dx + dy, tag)", ("sums and differences", NESTED)),
    ("c - x keeps the tangent of x", "Dual(other - self.value, -self", "Dual(other - self.value, self",
     ("sums and differences", NESTED)),
    ("the second term of the product rule is missing", "dx * y + x * dy", "dx * y", ("products", NESTED)),
    ("the quotient rule with a plus", "(dx * y - x * dy)", "(dx * y + x * dy)", ("quotients", NESTED)),
    ("c / x without the square", "/ (self.value * self.value), self.tag)", "/ self.value, self.tag)", "quotients"),
    ("the exponent is not lowered", "slope = y * x ** (y - 1)", "slope = y * x ** y", ("powers", NESTED)),
    ("0 ** 0 divides by zero", "if isinstance(y, Dual) or y != 0 else 0.0", "", "powers"),
    ("x ** y without the slope in y", "tangent = tangent + dy * log(x) * x ** y", "pass", "powers"),
    ("the minus of cos is lost", "-x.tangent * sin(x.value)", "x.tangent * sin(x.value)", ("functions", NESTED)),
    ("sqrt without its half", "x.tangent / (2.0 * value)", "x.tangent / value", ("functions", NESTED)),
    ("the square of tanh is forgotten", "(1.0 - value * value)", "(1.0 - value)", ("functions", NESTED)),
    ("math's sine of the value", "Dual(sin(x.value), x.tangent * cos(", "Dual(math.sin(x.value), x.tangent * math.cos(",
     NESTED),
    ("the tangent starts at x", "f(Dual(x, 1.0, tag))", "f(Dual(x, x, tag))", (ONCE, WITHIN, OTHERS)),
    ("f is called twice", "    y = f(Dual(x, 1.0, tag))", "    f(Dual(x, 1.0, tag))\n    y = f(Dual(x, 1.0, tag))",
     (ONCE, WITHIN, OTHERS)),
    ("all derivatives share one ε", "tag = next(tags)", "tag = 1", (WITHIN, OTHERS)),
    ("the tangent of another ε is returned", "isinstance(y, Dual) and y.tag == tag else", "isinstance(y, Dual) else", OTHERS),
    ("columns as rows", "np.array(columns).T", "np.array(columns)", "columns, by forward mode"),
    ("a column lacks what does not depend", COLUMN, "columns.append([tangents[y] for y in of])", "columns, by forward mode"),
    ("rows as columns", "np.array(rows)", "np.array(rows).T", "rows, by reverse mode"),
    ("the dearer mode", "if len(wrt) <= len(of)", "if len(wrt) > len(of)", "the cheaper of both"),
    ("J r by all columns", JR, J, "J r in one pass"),
    ("J r lacks what does not depend", JR, JR.replace("tangents.get(y, 0.0)", "tangents[y]"), "J r in one pass"),
    ("the whole Hessian", HV, H, (PRODUCT, CORNERS)),
    ("a unit vector for v", "eval(slopes, values), v)", "eval(slopes, values), {next(iter(v)): 1.0})", (PRODUCT, CORNERS)),
    ("H v for all inputs", "    slopes = gradient(", "    v = dict.fromkeys(values, 0.0) | v\n    slopes = gradient(", CORNERS),
    ("a constant gradient is an error", 'tangents.get(f"d{of}_d{x}", 0.0)', 'tangents[f"d{of}_d{x}"]', CORNERS),
    ("an inner product for an outer one", "return A.T @ A", "return A @ A.T", "a sum of squares (8.40)"),
    ("the weight is y", "A.T @ ((y * (1.0 - y))[:, None] * A)", "A.T @ (y[:, None] * A)", "a logistic output (8.41)"),
    ("K logistic outputs for a softmax", "np.diag(pn) - np.outer(pn, pn)", "np.diag(pn * (1.0 - pn))", "a softmax"),
    ("the last example only", "total = total + Jn.T", "total = Jn.T", "a softmax"),
    ("the weights are left out", "pull(y * (1.0 - y) * push(v))", "pull(push(v))",
     "the matrix (8.41) times a vector, in one pass of each mode"),
    ("exp is its own tangent", "    value = exp(x.value)\n    return Dual(value, x.tangent * value", "    value = exp(x.value)\n"
     "    return Dual(value, value", ("functions", "Duals within Duals")),
    ("log multiplies by x", "x.tangent / x.value", "x.tangent * x.value", ("functions", "Duals within Duals")),
    ("-x keeps the tangent of x", "Dual(-self.value, -self.tangent, self.tag)", "Dual(-self.value, self.tangent, self.tag)",
     ("sums and differences", "Duals within Duals")),
    ("a sum takes the tag of its first", "Dual(x + y, dx + dy, tag)", "Dual(x + y, dx + dy, self.tag)",
     "a derivative within a derivative"),
    ("c ** x without the logarithm", "self.tangent * power * math.log(other)", "self.tangent * power", "powers"),
]
