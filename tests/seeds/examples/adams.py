"""Adams' lecture notes, equation by equation."""

from . import Example

AUTHOR = "Adams"
TITLE = "Adams, Computing Gradients with Backpropagation"
SOURCE = "Ryan P. Adams, lecture notes for COS 324, Elements of Machine Learning, Princeton University."

FILES = {"eq17.wl": "va = alias(x1)\nvb = alias(x2)\nv1 = divide(va, vb)\nv2 = sin(v1)\nv3 = exp(vb)\nv4 = subtract(v1, v3)\n"
                    "v5 = add(v2, v4)\nv6 = mul(v5, v4)\ny = alias(v6)\n"}

PRELUDE = '''\
import operator
from xman import value_and_grad
from xman.models import AdaptiveBasis
from xman.train import fit

# eqs. 1 to 16: a noisy sine, and Φ_θ with two functions of each kind
X = np.linspace(0.05, 2.0, 20)
Y = np.sin(np.pi * X) + 0.05 * np.cos(40 * X)
THETA = {"polynomial": ["exponents"], "rbf": ["centers", "scales"], "tanh": ["scales", "locations"]}

def regression(kind, x=X, y=Y, **parameters):   # (model, its list, the values of all registers)
    model = AdaptiveBasis(kind, 2, low=0.0, high=2.0, seed=1, dtype=np.float64)
    steps = model.operationSequence(model.loss)
    return model, steps, eval(steps, model.inputDict(**model.feed(x, y), **parameters))

MODEL, STEPS, V = regression("rbf")
w, b, PHI = V["w"][:, 0], V["b"][0, 0], V["basis"]
r = PHI @ w + b - Y                              # wᵀΦ(x_n) + b − y_n
J = Jacobian(STEPS, "basis", THETA["rbf"])(V)    # J_θ{Φ_θ(x_n)}, by centers and by scales
J = np.concatenate([J["centers"][:, :, 0], J["scales"][:, :, 0]], axis=-1)
theta = lambda found: np.concatenate([found["centers"].ravel(), found["scales"].ravel()])

# eqs. 6 to 8
A, B = np.array([[0.5, -1.0], [0.25, 0.75], [-0.5, 0.1]]), np.array([[0.2, -0.4, 0.6], [1.0, 0.3, -0.2]])
Z = np.array([0.4, -0.7])
inner = lambda z: np.sin(A @ z) * z[1]           # R² → R³
outer = lambda y: np.exp(B @ y)                  # R³ → R²

# eq. 17
EQ_17 = WengertList.from_text("va = alias(x1)\\nvb = alias(x2)\\nv1 = divide(va, vb)\\nv2 = sin(v1)\\n"
                              "v3 = exp(vb)\\nv4 = subtract(v1, v3)\\nv5 = add(v2, v4)\\nv6 = mul(v5, v4)\\ny = alias(v6)")
AT = {"x1": 1.5, "x2": 0.5}
v = eval(EQ_17, AT)

def eq_17(x1, x2):
    return (np.sin(x1 / x2) + x1 / x2 - np.exp(x2)) * (x1 / x2 - np.exp(x2))

# forward mode by tuples, as printed
def add(a, b): return (a[0] + b[0], a[1] + b[1])
def subtract(a, b): return (a[0] - b[0], a[1] - b[1])
def multiply(a, b): return (a[0] * b[0], a[1] * b[0] + b[1] * a[0])
def divide(a, b): return (a[0] / b[0], (a[1] * b[0] - b[1] * a[0]) / (b[0] * b[0]))
def exp(a): return (np.exp(a[0]), np.exp(a[0]) * a[1])
def sin(a): return (np.sin(a[0]), np.cos(a[0]) * a[1])

def myfunc(x1, x2):
    a = divide(x1, x2)
    b = exp(x2)
    return multiply(subtract(add(sin(a), a), b), subtract(a, b))
'''

EXAMPLES = [
    Example("Adaptive bases: polynomial", "Φ_θ(x) with exponents", "test_the_three_bases_polynomial_exponents_rbf_and_tanh", """\
_, _, v = regression("polynomial")
v["basis"][3], X[3] ** v["exponents"].ravel()
"""),
    Example("Adaptive bases: RBF", "Φ_θ(x) with centers and scales", "test_the_three_bases_polynomial_exponents_rbf_and_tanh", """\
V["basis"][3], np.exp(-(X[3] - V["centers"].ravel()) ** 2 / V["scales"].ravel())
"""),
    Example("Adaptive bases: tanh", "Φ_θ(x) with scales and locations", "test_the_three_bases_polynomial_exponents_rbf_and_tanh", """\
_, _, v = regression("tanh")
v["basis"][3], np.tanh(X[3] * v["scales"].ravel() + v["locations"].ravel())
"""),
    Example("Adaptive bases", "Each is differentiable with respect to both x and θ", "test_each_basis_is_differentiable_in_x_and_in_theta", """\
for kind in THETA:
    _, steps, v = regression(kind)
    print(kind, check(steps, v, of="basis", wrt=["X", *THETA[kind]]).ok)
"""),
    Example("Eq. (1)", "f(x) = wᵀΦ(x) + b, with the bias separate", "test_eq_1_the_function_is_w_phi_plus_b_with_the_bias_separate", 'STEPS\nV["outputs"][3, 0], w @ PHI[3] + b\n'),
    Example("Eq. (2)", "At the solution of the linear system the gradient by w and b vanishes", "test_eq_2_at_the_solution_of_the_linear_system_the_gradient_by_w_and_b_vanishes", """\
best = np.linalg.lstsq(np.column_stack([PHI, np.ones(20)]), Y[:, None], rcond=None)[0]
_, _, v = regression("rbf", w=best[:2], b=best[2:])
np.abs([*backprop(STEPS, v, loss=1.0)["w"], *backprop(STEPS, v, loss=1.0)["b"]]).max() < 1e-10
"""),
    Example("Eq. (3)", "The SGD update of w for a single example", "test_eq_3_the_sgd_update_of_w_for_a_single_example", """\
model, _, v = regression("rbf", X[7:8], Y[7:8])
fit(model, (X[7:8], Y[7:8]), lr=0.01, epochs=1, batch_size=1, progress=False).parameters["w"][:, 0]
w - 0.01 * PHI[7] * r[7]
"""),
    Example("Eq. (4)", "The objective is half the sum of squares", "test_eq_4_the_objective_is_half_the_sum_of_squares", 'V["loss"], 1 / 2 * sum(r ** 2)\n'),
    Example("Eq. (5)", "With θ in the mix the minimum is lower than that of eq. 2", "test_eq_5_with_theta_in_the_mix_the_minimum_is_lower_than_that_of_eq_2", """\
best = np.linalg.lstsq(np.column_stack([PHI, np.ones(20)]), Y[:, None], rcond=None)[0]
model, _, before = regression("rbf", w=best[:2], b=best[2:])
model.w.default, model.b.default = best[:2], best[2:]
moved = fit(model, (X, Y), optimizer="adam", lr=0.01, epochs=200, batch_size=20, progress=False).parameters
round(before["loss"], 3), round(regression("rbf", **moved)[2]["loss"], 3)
"""),
    Example("Eq. (6)", "The Jacobian has a row for each output and a column for each input", "test_eq_6_the_jacobian_has_a_row_for_each_output_and_a_column_for_each_input", "jacobian(inner)(Z)\n"),
    Example("Eq. (7)", "It is a stack of transposed gradients", "test_eq_7_it_is_a_stack_of_transposed_gradients", "np.stack([grad(lambda z: inner(z)[j])(Z) for j in range(3)])\n",
            "The text says “a ‘stack’ of transposed Jacobians”; the rows are transposed gradients, as the formula has them."),
    Example("Eq. (8)", "The Jacobian of a composition is the product of the Jacobians", "test_eq_8_the_jacobian_of_a_composition_is_the_product_of_the_jacobians", """\
jacobian(lambda z: outer(inner(z)))(Z)
jacobian(outer)(inner(Z)) @ jacobian(inner)(Z)
"""),
    Example("Eq. (9)", "The gradient by θ is the transposed Jacobian", "test_eqs_9_to_13_the_gradient_by_theta_line_by_line", """\
theta(backprop(STEPS, V, loss=1.0))
theta(Jacobian(STEPS, "loss", THETA["rbf"])(V))
"""),
    Example("Eq. (10)", "It is the sum over the examples", "test_eqs_9_to_13_the_gradient_by_theta_line_by_line", """\
examples = [regression("rbf", X[n:n + 1], Y[n:n + 1])[1:] for n in range(20)]
sum(theta(backprop(steps, v, loss=1.0)) for steps, v in examples)
"""),
    Example("Eq. (11)", "The chain rule with z = Φ_θ(x_n)", "test_eqs_9_to_13_the_gradient_by_theta_line_by_line", """\
rows = [jacobian(lambda z: (w @ z + b - Y[n:n + 1]) ** 2)(PHI[n]) for n in range(20)]
1 / 2 * sum((rows[n] @ J[n]).T for n in range(20))[:, 0]
""", "J_z{wᵀz + b − y_n}ᵀ J_θ{Φ} has no square, and a column before a matrix; meant is the row J_z{(wᵀz + b − y_n)²}, "
            "with which eq. 12 follows."),
    Example("Eq. (12)", "The outer derivative taken", "test_eqs_9_to_13_the_gradient_by_theta_line_by_line", "sum((r[n] * w @ J[n]).T for n in range(20))\n"),
    Example("Eq. (13)", "The sum of J_θᵀ w times the error", "test_eqs_9_to_13_the_gradient_by_theta_line_by_line", "sum(J[n].T @ w * r[n] for n in range(20))\n"),
    Example("Eq. (13), sanity check", "J_θ{Φ_θ(x_n)} is J × K, w of length J, the gradient of length K", "test_eqs_9_to_13_the_gradient_by_theta_line_by_line",
            "J[0].shape, w.shape, (J[0].T @ w).shape\n"),
    Example("Eqs. (14) to (16)", "The updates in batch, with learning rates of their own", "test_eqs_14_to_16_the_updates_in_batch_with_learning_rates_of_their_own", """\
rates = {"w": 1e-3, "b": 2e-3, "centers": 5e-4, "scales": 5e-4}
moved = fit(regression("rbf")[0], (X, Y), lr=rates, epochs=1, batch_size=20, progress=False).parameters
same(moved["w"][:, 0], w - 1e-3 * sum(PHI[n] * r[n] for n in range(20)))                           # (14)
same(moved["b"][0, 0], b - 2e-3 * sum(r))                                                          # (15)
same(theta(moved), theta(V) - 5e-4 * sum(J[n].T @ w * r[n] for n in range(20)))                    # (16)
"""),
    Example("After eq. (16)", "A noisy sine is fitted by gradient descent, and drawn by xman.train.plot.basis_curve",
            "test_eqs_14_to_16_a_noisy_sine_is_fitted_and_drawn_with_each_basis", """\
moved = fit(regression("rbf")[0], (X, Y), lr=0.02, epochs=300, batch_size=20, progress=False).parameters
round(V["loss"], 2), round(regression("rbf", **moved)[2]["loss"], 2)
"""),
    Example("After eq. (16)", "Different learning rates work better for the different sets of parameters",
            "test_eqs_14_to_16_different_learning_rates_work_better_for_the_different_sets_of_parameters", """\
def loss_after(rate, rate_of_theta, kind="polynomial"):
    rates = {"w": rate, "b": rate, "exponents": rate_of_theta}
    moved = fit(regression(kind)[0], (X, Y), lr=rates, epochs=100, batch_size=20, progress=False).parameters
    return regression(kind, **moved)[2]["loss"]

[round(loss_after(rate, rate), 3) for rate in (0.002, 0.005, 0.01)], round(loss_after(0.01, 0.02), 3)
"""),
    Example("After eq. (16)", "The objective is convex in w and b, and not in θ too", "test_eqs_14_to_16_the_objective_is_convex_in_w_and_b_and_not_in_theta_too", """\
np.linalg.eigvalsh(Hessian(STEPS, "loss", ["w", "b"])(V)).min() > 0
np.linalg.eigvalsh(Hessian(STEPS, "loss", ["w", "b", "centers", "scales"])(V)).min() > 0
"""),
    Example("Eq. (17)", "The function from the book of Griewank and Walther at 1.5 and 0.5", "test_eq_17_at_1_5_and_0_5", "eq_17(1.5, 0.5)\ntrace(eq_17, 1.5, 0.5)\n"),
    Example("The execution trace", "Its values, digit for digit", "test_the_execution_trace_of_eq_17_digit_for_digit", "$ xman explain eq17.wl x1=1.5 x2=0.5\n",
            "v6 = y = 2.0167 is the product of factors that are rounded already, 1.4924 × 1.3513; it is 2.01665, rounded 2.0166."),
    Example("Figure ???", "The trace as a graph", "test_the_execution_trace_of_eq_17_digit_for_digit", "$ xman paths eq17.wl --wrt x1 --wrt x2 --dot\n",
            "The figure is referred to as “Figure ???” and is not in the notes."),
    Example("Eqs. (18) to (35)", "The forward trace, digit for digit", "test_eqs_18_to_35_the_forward_trace_digit_for_digit", "$ xman explain eq17.wl x1=1.5 x2=0.5 --wrt x1\n",
            "Eq. 27 ends in 0.000, one zero less than its neighbours."),
    Example("Eqs. (18) to (35)", "The trace as it is printed: each variable and its tangent in turn, with the numbers put in",
            "test_eqs_18_to_35_the_trace_with_the_numbers_put_in", "$ xman explain eq17.wl x1=1.5 x2=0.5 --wrt x1 --interleaved\n"),
    Example("Eq. (23)", "The rule for a quotient", "test_eqs_18_to_35_the_forward_trace_formula_for_formula", """\
forward(EQ_17, v, {"x1": 1.0})["v1"], (0.5 * 1.0 - 1.5 * 0) / 0.25, (0.5 * 1.0 - 1.5 * 0) / 0.25 ** 2
""", "The denominator is 0.25², with which v̇1 were 8; meant is v_b² = 0.25."),
    Example("Eq. (25)", "The rule for the sine", "test_eqs_18_to_35_the_forward_trace_formula_for_formula", """\
d = forward(EQ_17, v, {"x1": 1.0})
d["v2"], np.cos(v["v1"]) * d["v1"]
"""),
    Example("Eqs. (29) and (31)", "The rules for a difference and a sum", "test_eqs_18_to_35_the_forward_trace_formula_for_formula", """\
d = forward(EQ_17, v, {"x1": 1.0})
d["v4"], d["v1"] - 0.0, d["v5"], d["v2"] + d["v4"]
"""),
    Example("Eqs. (33) and (35)", "The rule for a product, and the derivative", "test_eqs_18_to_35_the_forward_trace_formula_for_formula", """\
d = forward(EQ_17, v, {"x1": 1.0})
d["y"], d["v5"] * v["v4"] + d["v4"] * v["v5"]
"""),
    Example("Forward mode by tuples", "myfunc of tuples gives the derivative", "test_myfunc_of_tuples_is_myfunc_of_duals_whose_operators_are_overloaded", "myfunc((1.5, 1.0), (0.5, 0.0))\n",
            "The tuple's first number is 2.0167 again, for 2.0166."),
    Example("Forward mode by tuples", "The same functions as a table G for the list of eq. 17", "test_myfunc_of_tuples_is_myfunc_of_duals_whose_operators_are_overloaded", """\
TUPLES = {"add": add, "subtract": subtract, "mul": multiply, "divide": divide, "exp": exp, "sin": sin}
eval(EQ_17, {"x1": (1.5, 1.0), "x2": (0.5, 0.0)}, {**TUPLES, "alias": lambda a: a})["y"]
"""),
    Example("Operator overloading", "The operators of the language, overloaded for such pairs", "test_myfunc_of_tuples_is_myfunc_of_duals_whose_operators_are_overloaded", """\
print(f"{eq_17(Dual(1.5, 1.0), Dual(0.5, 0.0)):.4f}")
"""),
    Example("Forward mode by tuples", "myfunc is a module in other compositions", "test_myfunc_is_a_module_in_other_compositions", """\
myfunc(myfunc((1.5, 1.0), (0.5, 0.0)), sin((1.5, 1.0)))
eq_17(eq_17(Dual(1.5, 1.0), 0.5), np.sin(Dual(1.5, 1.0)))
"""),
    Example("Eq. (36)", "An adjoint is the sum over the children", "test_eq_36_an_adjoint_is_the_sum_over_the_children_of_adjoint_times_partial", """\
bars = backprop(EQ_17, v, y=1.0)
bars["v1"], bars["v2"] * np.cos(v["v1"]) + bars["v4"] * 1.0
"""),
    Example("The reverse trace", "Its adjoints, digit for digit", "test_the_reverse_trace_digit_for_digit", """\
for name, bar in backprop(EQ_17, v, y=1.0).items():
    print(f"{name:3} {bar:9.4f}")
""", "v̄_b = x̄2 = −13.7239 is −13.72396, cut off; rounded it is −13.7240."),
    Example("The reverse trace", "Its formulas", "test_the_reverse_trace_formula_for_formula", """\
d = backprop(EQ_17, v, y=1.0)
d["v4"], v["v5"] * d["v6"] + d["v5"]
d["v1"], d["v2"] * np.cos(v["v1"]) + d["v4"]
d["vb"], d["v3"] * v["v3"] - d["v1"] * v["va"] / v["vb"] ** 2, d["v3"] * v["v3"] - d["v1"] * v["v1"] / v["vb"]
"""),
    Example("After the reverse trace", "Both derivatives, the gradient, from one pass", "test_the_reverse_trace_digit_for_digit", "$ xman grad eq17.wl x1=1.5 x2=0.5\n"),
    Example("Introduction", "The gradient costs a constant factor more than the function, however long that is",
            "test_the_gradient_costs_a_constant_factor_more_than_the_function_however_long_that_is", """\
def repeated(x1, x2, times):
    for _ in range(times):
        x1, x2 = np.tanh(eq_17(x1, x2)), np.cosh(x1 * x2)
    return x1

[round(cost(trace(repeated, 1.5, 0.5, times), values=AT, measured=False).ratios[1], 1) for times in (1, 10)]
"""),
    Example("Source code transformation", "The adjoint code is text, generated before anything is computed", "test_the_three_approaches_give_the_gradient", """\
print(source(EQ_17, of="y", wrt=["x1", "x2"], likes=AT))
"""),
    Example("Graph-based", "A graph of registers, manipulated and then evaluated", "test_the_three_approaches_give_the_gradient", """\
found = eval(simplify(gradient(EQ_17, "y", ["x1", "x2"]), ["dy_dx1", "dy_dx2"], AT), AT)
found["dy_dx1"], found["dy_dx2"]
"""),
    Example("Tape-based", "The operators of plain Python are written down as they are called", "test_the_three_approaches_give_the_gradient", """\
value_and_grad(eq_17, (0, 1))(1.5, 0.5)
"""),
]

TABLE = (
    "The approaches and libraries that Adams ends with, and what each is here",
    ["approach", "the notes name", "here", "what is said of it, and how it is here"],
    [["forward mode by tuples", "the page's own functions", "Dual, derivative; G with a table of your own",
      "“Why you might want to use operator overloading”: Dual overloads Python's operators and NumPy's functions, so the function stays as it is."],
     ["forward mode, tangents beside values", "eqs. 18 to 35", "forward, tangent, jvp; xman explain --wrt",
      "forward runs the list once more with tangents; tangent writes them into the list; explain prints both columns."],
     ["reverse mode, adjoints", "eq. 36", "backprop, gradient, grad, vjp; xman grad",
      "backprop walks the list backwards; gradient writes the adjoints as more lines of the list."],
     ["source code transformation", "Tangent", "gradient and source; xman source",
      "“Generated a priori from the forward computation”: the list of the gradient is printed as a Python function, to be read, kept and run "
      "without xman's interpreters."],
     ["graph-based: an embedded mini-language", "TensorFlow", "XMan models and lists; simplify and compile",
      "“Amenable to intelligent graph optimizations and use of compilers”: simplify rewrites the list, compile fuses it for NumPy, Numba or JAX. "
      "“Difficult to debug”: a list is plain data that prints itself, and the interpreter evaluates it line by line."],
     ["tape-based, define by run", "Autograd", "trace, grad, value_and_grad",
      "“All the features of the host language”: loops, branches and recursion are followed as they run. The tape is a Wengert list that can be "
      "printed, simplified and compiled."],
     ["tape-based, define by run", "PyTorch (roughly)", "grad of a function of arrays; eval and backprop of a model by hand",
      "“More difficult to optimize the code and reuse computations across executions”: the list of a model is made once and evaluated for every batch."],
     ["the Wengert list", "“one name for this data structure”", "WengertList", "The one form that all of the above are made from: [(dst, op, args), …]."]])
