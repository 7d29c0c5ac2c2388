"""Ong and Deisenroth's slides, in their order."""

from . import Example

AUTHOR = "Ong and Deisenroth"
TITLE = "Ong and Deisenroth, Backpropagation and automatic differentiation"
SOURCE = "Cheng Soon Ong and Marc Peter Deisenroth, slides, December 2020; a slide is named by its heading."

FILES = {"quotient.wl": "e = exp(x)\ns = square(x)\nq = divide(e, s)\n",
         "chain.wl": "x = sin(w)\ny = exp(x)\nz = square(y)\n"}

PRELUDE = '''\
from scipy.linalg import expm

def quotient(x):
    return np.exp(x) / x ** 2

CHAIN = [("x", "sin", ("w",)), ("y", "exp", ("x",)), ("z", "square", ("y",))]   # x = e(w), y = f(x), z = g(y)

A, B = np.array([[0.5, -1.0], [0.25, 0.75], [-0.5, 0.1]]), np.array([[0.2, -0.4, 0.6], [1.0, 0.3, -0.2]])
POINT = np.array([0.4, -0.7])

def inner(x):   # R² → R³
    return np.tanh(A @ x)

def outer(y):   # R³ → R²
    return np.exp(B @ y) * y[0]
'''

EXAMPLES = [
    Example("Gradients in machine learning", "A curve is fitted by descent", "test_gradients_in_machine_learning_a_curve_is_fitted_by_descent", """\
X = np.column_stack([np.ones(20), np.linspace(-1, 1, 20)])
y = np.sin(2 * X[:, 1])
slope, w = grad(lambda w: 0.5 * np.sum((X @ w - y) ** 2)), np.zeros(2)
for _ in range(200):
    w = w - 0.05 * slope(w)
w, np.linalg.lstsq(X, y, rcond=None)[0]
"""),
    Example("Gradients in machine learning", "Mixture models: a mean is drawn to each point by its responsibility for it",
            "test_gradients_in_machine_learning_the_means_of_a_mixture_are_drawn_by_responsibilities", """\
x, means = np.array([-1.2, -0.8, 1.9, 2.2]), np.array([-1.0, 2.0])
densities = lambda means: np.exp(-0.5 * (x[:, None] - means) ** 2)
r = densities(means) / np.sum(densities(means), axis=1, keepdims=True)
grad(lambda means: np.sum(np.log(np.sum(densities(means), axis=1))))(means)
np.sum(r * (x[:, None] - means), axis=0)
"""),
    Example("Gradients in machine learning", "For f(x) we want its gradient ∇f(x)", "test_the_gradient_is_a_row_vector_of_the_partial_derivatives", """\
grad(lambda x: np.sum(np.sin(x) * x))(POINT)
np.cos(POINT) * POINT + np.sin(POINT)
"""),
    Example("Motivation", "The gradient of exp(x)/x² is exp(x)(x − 2)/x³", "test_motivation_the_gradient_of_exp_x_over_x_squared", """\
grad(quotient)(3.0), np.exp(3.0) * (3.0 - 2) / 3.0 ** 3
grad(quotient)(2.0)
"""),
    Example("Motivation", "The same on the command line", "test_motivation_the_gradient_of_exp_x_over_x_squared",
            "$ xman grad quotient.wl x=3\n$ xman paths quotient.wl --symbolic\n"),
    Example("Motivation", "It looks a lot more complex, and yet nothing is computed twice", "test_motivation_the_gradient_looks_more_complex_and_yet_nothing_is_computed_twice", """\
steps = simplify(gradient(trace(quotient, 3.0), "quotient", ["x"]), ["quotient", "dquotient_dx"], {"x": 3.0})
steps
[op for _, op, _ in steps].count("exp")
"""),
    Example("Cache intermediate results", "Caching trades computation for space: yₖ = sin(yₖ₋₁)·yₖ₋₁, twelve times",
            "test_motivation_caching_trades_computation_for_space", """\
calls = lambda k: 1 + 2 * calls(k - 1) if k else 1      # without a cache both uses of yₖ₋₁ compute it anew
steps = []
for k in range(1, 13):
    steps += [(f"s{k}", "sin", (f"y{k - 1}",)), (f"y{k}", "mul", (f"s{k}", f"y{k - 1}"))]

calls(12), sum(op == "sin" for _, op, _ in steps), len(eval(steps, {"y0": 1.2}))
"""),
    Example("Scalar chain rule", "(g(f(x)))′ = g′(f(x)) f′(x): composition of functions is multiplication of gradients",
            "test_scalar_chain_rule_composition_of_functions_is_multiplication_of_gradients", """\
inner, outer = (lambda x: x ** 3 - x), np.sin
derivative(lambda x: outer(inner(x)))(0.3), derivative(outer)(inner(0.3)) * derivative(inner)(0.3)
"""),
    Example("Vector chain rule", "The Jacobian of a composition is a product of Jacobians", "test_vector_chain_rule_is_a_product_of_jacobians", """\
jacobian(lambda x: outer(inner(x)))(POINT)
jacobian(outer)(inner(POINT)) @ jacobian(inner)(POINT)
"""),
    Example("Vector chain rule", "The gradient is a row vector: the Jacobian of a function to R¹", "test_the_gradient_is_a_row_vector_of_the_partial_derivatives", """\
jacobian(lambda x: np.sum(np.sin(x) * x, keepdims=True))(POINT).shape
grad(lambda x: np.sum(np.sin(x) * x))(POINT).shape      # here a gradient has the shape of its argument
"""),
    Example("Why row vector for gradients?", "The gradient by s and t is a matrix multiplication", "test_why_row_vectors_the_gradient_by_s_and_t_is_a_matrix_multiplication", """\
x = lambda st: np.stack([st[0] * np.exp(st[1]), np.sin(st[0]) + st[1] ** 2])
of = lambda x: x[0] ** 2 * x[1]
st = np.array([0.7, -1.1])
grad(lambda st: of(x(st)))(st)
grad(of)(x(st)) @ jacobian(x)(st)
"""),
    Example("Careful with notation", "dz/dy is taken at y(x)", "test_careful_with_notation_dz_dy_is_taken_at_y_of_x", """\
y, z, x = (lambda x: x ** 2 + 1), np.cos, 0.3
derivative(lambda x: z(y(x)))(x)
derivative(z)(y(x)) * derivative(y)(x), derivative(z)(x) * derivative(y)(x)
"""),
    Example("Cached chain rule, G(x)", "One cache of values, going right, and another of adjoints, going left", "test_cached_chain_rule_one_cache_of_values_and_another_of_adjoints", """\
values = eval(CHAIN[1:], {"x": 0.3})
values
backprop(CHAIN[1:], values, z=1.0)
"""),
    Example("Cached chain rule, forward mode", "dz/dw = dz/dy (dy/dx dx/dw)", "test_g_of_f_of_e_in_forward_mode_caches_from_the_left_of_the_diagram", """\
values = eval(CHAIN, {"w": 0.3})
forward(CHAIN, values, {"w": 1.0})
2 * values["y"] * (np.exp(values["x"]) * np.cos(0.3))
""", '"From the left (forward)" is the left of the diagram, which is the right of the product.'),
    Example("Cached chain rule, reverse mode", "dz/dw = (dz/dy dy/dx) dx/dw", "test_g_of_f_of_e_in_reverse_mode_caches_from_the_right_of_the_diagram", """\
values = eval(CHAIN, {"w": 0.3})
backprop(CHAIN, values, z=1.0)
(2 * values["y"] * np.exp(values["x"])) * np.cos(0.3)
"""),
    Example("Cached chain rule", "Both modes side by side on the command line", "test_g_of_f_of_e_in_reverse_mode_caches_from_the_right_of_the_diagram",
            "$ xman explain chain.wl w=0.3 --wrt w\n"),
    Example("Cached chain rule", "Both groupings have one value, and the work of each depends on inputs and outputs",
            "test_both_groupings_have_the_same_value_and_the_work_of_each_depends_on_inputs_and_outputs", """\
parts = {"dx_dw": np.ones((20, 2)), "dy_dx": np.ones((20, 20)), "dz_dy": np.ones((50, 20))}   # D = 2, M = 50
from_right = [("inner", "dot", ("dy_dx", "dx_dw")), ("dz_dw", "dot", ("dz_dy", "inner"))]
from_left = [("inner", "dot", ("dz_dy", "dy_dx")), ("dz_dw", "dot", ("inner", "dx_dw"))]
[cost(order, values=parts, measured=False).evaluation.flops for order in (from_right, from_left)]
same(eval(from_right, parts)["dz_dw"], eval(from_left, parts)["dz_dw"])
"""),
    Example("Think of a pair of numbers", "A dual number is the pair of a variable and its derivative", "test_forward_mode_a_dual_number_is_a_pair_and_a_matrix", """\
a = Dual(1.3, 0.4)
a.value, a.tangent
""", "What is written ←a, and called the adjoint, with ∂/∂a, is in forward mode the tangent: the derivative of a itself, not by a."),
    Example("Automatic differentiation", "A dual number as a matrix", "test_forward_mode_a_dual_number_is_a_pair_and_a_matrix", "Dual(1.3, 0.4).matrix()\n"),
    Example("Automatic differentiation", "Forward mode is efficient when D ≪ M", "test_forward_mode_is_efficient_where_d_is_small_and_reverse_mode_where_m_is_small", """\
J = Jacobian([("a", "dot", ("E", "w")), ("x", "tanh", ("a",)), ("z", "dot", ("H", "x"))], "z", ["w"])
print(J.count({"E": np.ones((20, 2)), "H": np.ones((50, 20)), "w": np.ones(2)}))
"""),
    Example("Automatic differentiation", "Reverse mode is efficient when D ≫ M", "test_forward_mode_is_efficient_where_d_is_small_and_reverse_mode_where_m_is_small", """\
J = Jacobian([("a", "dot", ("E", "w")), ("x", "tanh", ("a",)), ("z", "dot", ("H", "x"))], "z", ["w"])
print(J.count({"E": np.ones((20, 50)), "H": np.ones((2, 20)), "w": np.ones(50)}))
"""),
    Example("Forward mode: sum", "The gradient of a sum is a sum of the gradients, and the matrices add", "test_forward_mode_the_gradient_of_a_sum_is_the_sum_of_the_gradients", """\
x, y = Dual(1.3, 0.4), Dual(-0.8, 2.5)
x + y
same(x.matrix() + y.matrix(), (x + y).matrix())
"""),
    Example("Forward mode: product", "The product rule, and the matrices multiply", "test_forward_mode_the_gradient_of_a_product_is_the_product_rule", """\
x, y = Dual(1.3, 0.4), Dual(-0.8, 2.5)
f"{x * y:.2f}", 1.3 * 2.5 + -0.8 * 0.4
x.matrix() @ y.matrix()
"""),
    Example("Forward mode", "exp(X) X⁻² of the 2×2 matrix, by functions of matrices that know nothing of derivatives",
            "test_forward_mode_is_matrix_multiplication_for_the_motivating_example_too", """\
X = Dual(3.0, 1.0).matrix()
expm(X) @ np.linalg.inv(X @ X)
quotient(Dual(3.0, 1.0)).matrix()
"""),
    Example("Reverse mode autodiff", "Two phases: values and partials are cached; then adjoints grow by products", "test_reverse_mode_two_phases_written_out", """\
steps = [("a", "mul", ("u", "v")), ("b", "sin", ("a",)), ("c", "add", ("b", "u")), ("z", "mul", ("c", "a"))]
partial = {"mul": lambda x, y: (y, x), "sin": lambda x: (np.cos(x),), "add": lambda x, y: (1, 1)}
values = eval(steps, {"u": 0.6, "v": 1.7})
cached = {dst: partial[op](*(values[a] for a in args)) for dst, op, args in steps}
adjoint = dict.fromkeys(values, 0) | {"z": 1}
for dst, _, args in reversed(steps):
    for a, d in zip(args, cached[dst]): adjoint[a] += adjoint[dst] * d
adjoint["u"], adjoint["v"], [backprop(steps, values, z=1.0)[x] for x in "uv"]
"""),
    Example("Reverse mode: key challenge", "The computations are in topological order, or are refused", "test_reverse_mode_key_challenge_the_computations_are_in_topological_order", """\
eval([("b", "sin", ("a",)), ("a", "mul", ("u", "v"))], {"u": 1.0, "v": 1.0})  # refused
"""),
    Example("Reverse mode, G(w)", "Input adjoint = output adjoint × forward partials", "test_g_of_f_of_e_in_reverse_mode_caches_from_the_right_of_the_diagram", """\
values = eval(CHAIN, {"w": 0.3})
d = backprop(CHAIN, values, z=1.0)
d["x"], d["y"] * np.exp(values["x"])
d["w"], d["x"] * np.cos(values["w"])
"""),
    Example("What to do with branches", "z = x + y has the derivatives 1 and 1", "test_branches_a_sum_has_the_derivatives_1_and_1_and_so_an_add_gate_is_a_gradient_distributor", """\
backprop([("z", "add", ("x", "y"))], {"x": 3.0, "y": -5.0, "z": -2.0}, z=1.0)
"""),
    Example("Reverse mode: sum", "An add gate is a gradient distributor", "test_branches_a_sum_has_the_derivatives_1_and_1_and_so_an_add_gate_is_a_gradient_distributor", """\
backprop([("z", "add", ("x", "y"))], {"x": 3.0, "y": -5.0, "z": -2.0}, z=7.0)
"""),
    Example("Reverse mode: product", "A multiplication gate is a gradient switcher", "test_branches_a_multiplication_gate_is_a_gradient_switcher", """\
backprop([("z", "mul", ("x", "y"))], {"x": 3.0, "y": -5.0, "z": -15.0}, z=7.0)
"""),
    Example("Reverse mode: +=", "The adjoint of a variable that is used twice is increased twice", "test_branches_the_adjoint_of_a_variable_that_is_used_twice_is_increased_twice", """\
steps = [("p", "mul", ("x", "y")), ("z", "add", ("p", "x"))]      # z = xy + x
backprop(steps, eval(steps, {"x": 3.0, "y": -5.0}), z=7.0)
"""),
    Example("Summary", "Think of the pair of a variable and its adjoint", "test_summary_think_of_the_pair_of_variable_and_its_adjoint", """\
[(row.register, row.value, row.adjoint) for row in explain(CHAIN, values={"w": 0.3})]
"""),
    Example("Summary", "Backpropagation is the chain rule of differentiation with caching", "test_cached_chain_rule_one_cache_of_values_and_another_of_adjoints", """\
print(source(CHAIN, of="z", wrt=["w"], likes={"w": 0.3}))
"""),
]
