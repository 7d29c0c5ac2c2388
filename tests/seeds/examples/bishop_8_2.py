"""Bishop, §8.2: automatic differentiation."""

from . import Example

EXAMPLES = [
    Example("(8.42) and (8.43)", "The tangent of a product is the product rule", "test_8_42_and_8_43_the_tangent_of_a_product_is_the_product_rule", """\
steps = [("u", "sin", ("x",)), ("v", "exp", ("x",)), ("f", "mul", ("u", "v"))]
values = eval(steps, {"x": 0.7})
d = forward(steps, values, {"x": 1.0})
d["f"], d["u"] * values["v"] + values["u"] * d["v"]
"""),
    Example("(8.43)", "u and v are evaluated once for the value and its derivative", "test_8_43_u_and_v_are_evaluated_once_for_the_value_and_its_derivative", """\
steps = [("u", "exp", ("x",)), ("v", "tanh", ("x",)), ("f", "mul", ("u", "v"))]
simplify(tangent(steps, ["x"]), ["f", "f_dot"], {"x": 1.0, "x_dot": 1.0})
"""),
    Example("(8.43)", "Multiplied out, the derivative of n factors is n² − 1 operations; as a list 4n − 4 lines, its value among them",
            "test_8_43_the_derivative_of_n_factors_is_n2_minus_1_operations_multiplied_out_and_4n_minus_4_lines_with_its_value", """\
for n in (3, 8, 32):
    steps = [(f"p{k}", "mul", (f"p{k - 1}" if k > 2 else "x1", f"x{k}")) for k in range(2, n + 1)]
    pushed = tangent(steps, [f"x{k}" for k in range(1, n + 1)])
    print(n, n ** 2 - 1, len(simplify(pushed, [f"p{n}", f"p{n}_dot"], dict.fromkeys(pushed.inputs, 1.0))))
"""),
    Example("(8.43)", "As one nested expression it is quadratic too", "test_8_43_as_one_nested_expression_it_is_quadratic_too", """\
steps = [("p2", "mul", ("x1", "x2")), ("p3", "mul", ("p2", "x3")), ("p4", "mul", ("p3", "x4"))]
pushed = tangent(steps, ["x1", "x2", "x3", "x4"])
expand(simplify(pushed, ["p4_dot"], dict.fromkeys(pushed.inputs, 1.0)), "p4_dot")
"""),
    Example("(8.43)", "The value and all n partial derivatives are 3n − 5 products", "test_8_43_the_value_and_all_n_partial_derivatives_are_3n_minus_5_products", """\
for n in (3, 8, 32):
    steps = [(f"p{k}", "mul", (f"p{k - 1}" if k > 2 else "x1", f"x{k}")) for k in range(2, n + 1)]
    x = [f"x{k}" for k in range(1, n + 1)]
    wanted = [f"p{n}", *(f"dp{n}_d{k}" for k in x)]
    pulled = simplify(gradient(steps, f"p{n}", x), wanted, dict.fromkeys(x, 1.0))
    print(n, sum(op == "mul" for _, op, _ in pulled), 3 * n - 5)
"""),
    Example("§8.2, expression swell", "Where factors have factors the expression grows exponentially, and the list by as many lines each level",
            "test_8_43_where_factors_have_factors_the_expression_grows_exponentially_and_the_list_by_as_many_lines_each_level", """\
def logistic_map(x, n):
    for _ in range(n):
        x = 4 * x * (1 - x)
    return x

for n in (2, 4, 8):
    pushed = tangent(trace(logistic_map, 0.3, n), ["x"])
    pushed = simplify(pushed, ["logistic_map_dot"], {"x": 0.3, "x_dot": 1.0})
    print(f"{n} levels: {len(pushed)} lines, or {written_out(pushed)} operations in one expression")
"""),
    Example("(8.44) to (8.47)", "The value of two soft ReLUs in a row", "test_8_44_to_8_47_the_value_of_two_soft_relus_in_a_row", """\
h = lambda a: np.log(1 + np.exp(a))                                                     # (8.46)
eval(SOFT, POINT)["y"], h(0.8 * h(1.2 * 0.5 - 0.3) + 0.1)                               # (8.47)
"""),
    Example("(8.46)", "The soft ReLU's derivative is the sigmoid", "test_8_44_to_8_47_the_value_of_two_soft_relus_in_a_row", """\
derivative(f.softplus)(0.7), sigma(0.7)
""", "The soft ReLU is introduced as h(a) and defined as ζ(a)."),
    Example("(8.48), exercise 8.13", "The symbolic derivative is that of the list", "test_8_48_the_symbolic_derivative_is_that_of_the_list", """\
formula_8_48(**POINT), backprop(SOFT, eval(SOFT, POINT), y=1.0)["w1"]
"""),
    Example("(8.48), exercise 8.13", "The same on the command line, as a program", "test_8_48_the_symbolic_derivative_is_that_of_the_list",
            "$ xman grad softrelu.wl x=0.5 w1=1.2 b1=-0.3 w2=0.8 b2=0.1 --wrt w1\n$ xman source softrelu.wl --wrt w1\n"),
    Example("(8.48)", "It computes w1 x + b1 four times, the list of value and derivative once", "test_8_48_computes_w1_x_plus_b1_four_times_and_the_list_of_value_and_derivative_once", """\
m = XMan()
m.x, m.w1, m.b1, m.w2, m.b2 = (f.input() for _ in range(5))
m.slope = formula_8_48(m.x, m.w1, m.b1, m.w2, m.b2, f.exp, f.log)
symbolic = m.setup().operationSequence(m.slope)
[sum(op == "mul" and {*args} == {"w1", "x"} for _, op, args in steps)
 for steps in (symbolic, simplify(gradient(PRINTED, "y", ["w1"]), ["y", "dy_dw1"], POINT))]
"""),
    Example("(8.48)", "28 operations as printed, 16 without repetitions; with 20 the list has the value too, and is finite where exp is not",
            "test_8_48_is_28_operations_as_printed_16_without_repetitions_and_the_list_has_the_value_too_in_20", """\
m = XMan()
m.x, m.w1, m.b1, m.w2, m.b2 = (f.input() for _ in range(5))
m.slope = formula_8_48(m.x, m.w1, m.b1, m.w2, m.b2, f.exp, f.log)
symbolic = m.setup().operationSequence(m.slope)
len(symbolic), len(simplify(symbolic)), len(simplify(gradient(PRINTED, "y", ["w1"]), ["y", "dy_dw1"], POINT))
"""),
    Example("(8.48)", "It overflows where the list's softplus stays finite", "test_8_48_overflows_where_the_softplus_of_the_list_stays_finite", """\
with np.errstate(all="ignore"):
    print(formula_8_48(**{name: np.float64(number) for name, number in FAR.items()}))
backprop(SOFT, eval(SOFT, FAR), y=1.0)["w1"], FAR["w2"] * FAR["x"]
"""),
    Example("(8.46)", "As printed, it becomes softplus by the stable rewrites", "test_8_46_as_printed_becomes_softplus_by_the_stable_rewrites", """\
simplify(PRINTED, ["y"], None, EXACT + STABLE)
"""),
    Example("§8.2, four ways", "The slope of (8.47) by w1: by hand, by central differences, symbolically, automatically",
            "test_8_2_four_ways_to_a_derivative_agree_and_differences_to_fewer_digits", """\
x, w1, b1, w2, b2 = POINT.values()
y = lambda w1: np.log1p(np.exp(w2 * np.log1p(np.exp(w1 * x + b1)) + b2))
by_hand = sigma(w2 * np.log1p(np.exp(w1 * x + b1)) + b2) * w2 * sigma(w1 * x + b1) * x
differences = (y(w1 + 1e-5) - y(w1 - 1e-5)) / 2e-5
automatic = backprop(SOFT, eval(SOFT, POINT), y=1.0)["w1"]
[f"{slope:.16f}" for slope in (by_hand, formula_8_48(**POINT), automatic)]
abs(differences - by_hand) < 1e-9, same(by_hand, automatic), same(by_hand, formula_8_48(**POINT))
"""),
    Example("§8.2", "Loops, branches, recursion and procedures are differentiated, though they are no closed form",
            "test_8_2_loops_branches_recursion_and_procedures_are_differentiated_though_they_are_no_closed_form", """\
def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)

def halved_below_one(x):
    while x >= 1:
        x = x / 2
    return power(x, 3) if x > 0.6 else np.sin(x)

grad(halved_below_one)(3.0), 3 * 0.75 ** 2 / 4
"""),
    # 8.2.1
    Example("(8.49)", "The function of the example", "test_8_49_the_last_register_is_the_function", """\
f1 = lambda x1, x2: x1 * x2 + np.exp(x1 * x2) - np.sin(x2)
v["v7"], f1(0.7, 1.3)
trace(f1, 0.7, 1.3)
"""),
    Example("(8.50) to (8.56), Fig. 8.4", "The evaluation trace is the list", "test_8_50_to_8_56_and_figure_8_4_the_evaluation_trace_is_the_list", "TRACE\n"),
    Example("(8.50) to (8.56)", "The primal variables", "test_8_50_to_8_56_the_primal_variables", '{name: v[name] for name in ("v1", "v2", "v3", "v4", "v5", "v6", "v7")}\n'),
    Example("Fig. 8.4, as a graph", "The trace's graph for Graphviz", "test_8_50_to_8_56_and_figure_8_4_the_evaluation_trace_is_the_list",
            "$ xman paths trace.wl --of v7 --wrt x1 --wrt x2 --dot\n"),
    Example("Fig. 8.4, as a picture", "The parents of a node have arrows to it", "test_bishop_figures_8_4_and_8_5_the_parents_of_a_node_have_arrows_to_it", """\
for name in (*TRACE.inputs, *(line[0] for line in TRACE)):
    print(name, "←", *(arrow.low for arrow in picture(TRACE).arrows if arrow.high == name))
"""),
    Example("(8.57)", "A tangent is the sum over the parents", "test_8_57_a_tangent_is_the_sum_over_the_parents", """\
d = forward(TRACE, v, {"x1": 1.0, "x2": 0.5})
d["v3"], sum(d[j] * Jacobian([TRACE[2]], "v3", [j])(v)[j] for j in ("v1", "v2"))
"""),
    Example("(8.58) to (8.64)", "The tangent variables", "test_8_58_to_8_64_the_tangent_variables", "$ xman explain trace.wl x1=0.7 x2=1.3 --of v7 --wrt x1\n"),
    Example("(8.58) to (8.64)", "As a list, with each tangent after its primal", "test_8_58_to_8_64_as_a_list_with_each_tangent_after_its_primal", """\
pushed = tangent(TRACE[2:], ["v1", "v2"])
simplify(pushed, ["v7", "v7_dot"], dict.fromkeys(pushed.inputs, 1.0))
"""),
    Example("§8.2.1", "The required derivative is v̇7", "test_8_2_1_the_required_derivative_is_that_of_v7", """\
d = forward(TRACE, v, {"x1": 1.0})
d["v7"], 1.3 + 1.3 * np.exp(0.7 * 1.3)
d["v5"]
""", "The tuples are evaluated until v̇5 is obtained, “the required derivative”; meant is v̇7."),
    Example("(8.65), Fig. 8.5", "A second output is one line more, and both derivatives come from one forward pass",
            "test_8_65_a_second_output_is_one_line_more_and_both_derivatives_come_from_one_forward_pass", """\
BOTH[7:]
d = forward(BOTH, v, {"x1": 1.0})
d["v7"], d["v8"]
"""),
    Example("Fig. 8.5, as a picture", "v8 has the parents v5 and v6, and each node its value, tangent and adjoint", "test_bishop_figure_8_5_with_values_tangents_and_adjoints",
            "$ xman explain trace.wl x1=0.7 x2=1.3 --of v8 --wrt x1 --dot\n"),
    Example("(8.65), exercise 8.17", "Its tangents line by line with the numbers put in, and the derivative by hand",
            "test_8_65_the_trace_with_the_numbers_put_in_ends_in_the_derivative_by_hand", """\
print(explain(BOTH, "v8", "x1", X).interleaved())
(1 + 0.7 * 1.3 - np.sin(1.3)) * 1.3 * np.exp(0.7 * 1.3)
"""),
    Example("(8.65) and (8.67)", "Both outputs on the command line, with the tangents along r = (2, −1)",
            "test_8_67_the_product_of_the_jacobian_with_a_vector_takes_one_forward_pass",
            "$ xman explain trace.wl x1=0.7 x2=1.3 --of v7,v8 --along x1=2 --along x2=-1\n"),
    Example("(8.66)", "The Jacobian on the command line", "test_8_66_each_forward_pass_gives_a_column_of_the_jacobian",
            "$ xman jacobian trace.wl x1=0.7 x2=1.3\n"),
    Example("(8.65)", "The derivatives by x2 take a separate forward pass", "test_8_65_the_derivatives_by_x2_take_a_separate_forward_pass", """\
d = forward(BOTH, v, {"x2": 1.0})
d["v7"], d["v8"]
"""),
    Example("(8.66)", "Each forward pass gives a column of the Jacobian", "test_8_66_each_forward_pass_gives_a_column_of_the_jacobian", """\
columns = [forward(BOTH, v, {x: 1.0}) for x in ("x1", "x2")]
np.array([[d[out] for d in columns] for out in ("v7", "v8")])
f1 = lambda x: x[0] * x[1] + np.exp(x[0] * x[1]) - np.sin(x[1])
f2 = lambda x: (x[0] * x[1] - np.sin(x[1])) * np.exp(x[0] * x[1])
jacobian(lambda x: np.stack([f1(x), f2(x)]))(np.array([0.7, 1.3]))
""", "ẋ = e_i for column j; meant is ẋ = e_j."),
    Example("(8.66)", "D forward passes, or K reverse passes", "test_8_66_the_jacobian_takes_d_forward_passes_or_k_reverse_passes", """\
for D, K in [(3, 5), (5, 3)]:
    print(Jacobian([("y", "dot", ("W", "x"))], "y", ["x"]).count({"W": np.ones((K, D)), "x": np.ones(D)}))
"""),
    Example("(8.66)", "Column by column and row by row", "test_8_66_column_by_column_and_row_by_row", """\
steps = [("a", "dot", ("W", "x")), ("y", "tanh", ("a",))]
values = eval(steps, {"W": np.array([[1.0, -0.5], [0.3, 2.0], [0.0, 1.0]]), "x": np.array([0.2, 0.1])})
np.stack([forward(steps, values, {"x": e})["y"] for e in np.eye(2)], axis=1)
np.stack([backprop(steps, values, y=e)["x"] for e in np.eye(3)])
"""),
    Example("(8.67), exercise 8.18", "The product of the Jacobian with a vector takes one forward pass", "test_8_67_the_product_of_the_jacobian_with_a_vector_takes_one_forward_pass", """\
r = {"x1": 2.0, "x2": -1.0}
d = forward(BOTH, v, r)
[d["v7"], d["v8"]]
np.array([[forward(BOTH, v, {x: 1.0})[out] for x in r] for out in ("v7", "v8")]) @ [2.0, -1.0]
""", "J = J r, with the same J to the left as in (8.66); meant is the product J r, a vector."),
    # 8.2.2
    Example("(8.68)", "An adjoint is the derivative of the output by the register", "test_8_68_an_adjoint_is_the_derivative_of_the_output_by_the_register", """\
backprop(TRACE, v, v7=1.0)["v3"]
forward([line for line in TRACE if line[0] != "v3"], v, {"v3": 1.0})["v7"]
"""),
    Example("(8.69), exercise 8.16", "An adjoint is the sum over the children", "test_8_69_an_adjoint_is_the_sum_over_the_children", """\
bars = backprop(TRACE, v, v7=1.0)
children = [line for line in TRACE if "v2" in line[2]]
bars["v2"], sum(bars[line[0]] * Jacobian([line], line[0], ["v2"])(v)["v2"] for line in children)
"""),
    Example("(8.70) to (8.76)", "The adjoint variables", "test_8_70_to_8_76_the_adjoint_variables", """\
backprop(TRACE, v, v7=1.0)
v5, v3_bar = v["v5"], v["v5"] + 1.0                           # (8.74)
v3_bar * v["v1"] - np.cos(v["v2"]), v3_bar * v["v2"]          # (8.75), as it is meant, and (8.76)
""", "(8.75) has v̄2 v1 for v̄3 v1."),
    Example("(8.75)", "As printed it gives a wrong number, however it is read", "test_8_75_as_printed_gives_a_wrong_number_however_it_is_read", """\
right, v4_bar = backprop(TRACE, v, v7=1.0)["v2"], -1.0
right
0.0 * v["v1"] + v4_bar * np.cos(v["v2"])       # as an assignment, where v̄2 is 0 before it
v4_bar * np.cos(v["v2"]) / (1 - v["v1"])       # as an equation that v̄2 is to satisfy
""", "v̄2 = v̄2 v1 + v̄4 cos(v2); meant is v̄2 = v̄3 v1 + v̄4 cos(v2)."),
    Example("§8.2.2", "One reverse pass gives the derivatives by all inputs of one output", "test_8_2_2_one_reverse_pass_gives_the_derivatives_by_all_inputs_of_one_output", """\
for out in ("v7", "v8"):
    bars = backprop(BOTH, v, **{out: 1.0})
    print(out, round(bars["x1"], 5), round(bars["x2"], 5))
"""),
    Example("§8.2.2, memory", "Reverse mode stores all intermediate variables; forward mode frees them as it goes (bytes, of 10 lines and of 40)",
            "test_8_2_2_reverse_mode_stores_all_intermediate_variables_and_forward_mode_does_not", """\
for n in (10, 40):
    steps = [(f"v{k}", "sin", (f"v{k - 1}",)) for k in range(1, n + 1)] + [("y", "sum", (f"v{n}",))]
    costs = cost(steps, "y", ["v0"], {"v0": np.ones(1000)})
    print(costs.evaluation.peak, costs.tangent.peak, costs.adjoint.peak)
"""),
    Example("§8.2.2", "K outputs take K reverse passes: one gives only their sum", "test_8_2_2_k_outputs_take_k_reverse_passes_and_one_gives_only_their_sum", """\
bars = backprop(BOTH, v, v7=1.0, v8=1.0)
bars["x1"], bars["x2"]
"""),
    Example("§8.2.2, at most 6", "Either mode takes at most 6 times the operations of an operator",
            "test_8_2_2_either_mode_takes_at_most_6_times_the_operations_of_every_operator_but_these", """\
def times(line):
    values = {"u": 0.7, "w": 0.3, "x": np.ones(9), "A": np.eye(3)}
    return f"{line[0]} {max(cost([('y', line[0], line[1:])], values=values, measured=False).ratios):.3g}"

", ".join(times((op, "u")) for op in "exp log sqrt sin cos tanh arcsin arctan erf sigmoid relu gelu".split())
", ".join(times((op, "u", "w")) for op in "add subtract mul divide power maximum minimum hypot".split())
", ".join(times((op, "x")) for op in "sum mean max var norm logsumexp softmax cumsum".split())
", ".join(times((op, "A")) for op in "inv logabsdet pinv sqrtm".split())
"""),
    Example("§8.2.2, at most 6", "More it is only where the derivative is a longer calculation than the operator",
            "test_8_2_2_either_mode_takes_at_most_6_times_the_operations_of_every_operator_but_these", """\
def times(line):
    values = {"u": 0.7, "w": 0.3, "x": np.ones(9), "A": np.eye(3)}
    return f"{line[0]} {max(cost([('y', line[0], line[1:])], values=values, measured=False).ratios):.3g}"

", ".join(times((op, "u", "w")) for op in ("arctan2", "Beta", "betaln"))
", ".join([times(("betainc", 1.5, 2.5, "u")), times(("logNdtr", "u"))])
", ".join(times((op, 1.5, "u")) for op in "gammainc gammaincc besselIe besselK besselKe".split())
", ".join([times(("prod_of_others", "A")), times(("cumprod", "A"))])
", ".join(times((op, "A")) for op in "det cholesky eigvalsh svdvals upper expm".split())
"""),
    Example("§8.2.2, 2 or 3", "In the example the factor is between 2 and 3", "test_8_2_2_either_mode_takes_2_to_3_times_the_operations_of_8_49", """\
cost(TRACE, values=X, measured=False)
"""),
    Example("§8.2.2, 2 or 3", "And so it is in a network", "test_8_2_2_either_mode_typically_takes_2_or_3_times_the_operations_of_a_network", """\
model = MLP([64, 32, 10])
values = model.inputDict(X=np.ones((16, 64)), y=np.arange(16) % 10)
cost(model.operationSequence(model.loss), "loss", ["W1", "b1", "W2", "b2"], values, measured=False).ratios
"""),
    Example("§8.2.2, Pearlmutter", "The directional derivative differentiated in reverse mode is the Hessian times the vector",
            "test_8_2_2_the_directional_derivative_differentiated_in_reverse_mode_is_the_hessian_times_the_vector", """\
pushed = tangent(TRACE, ["x1", "x2"])
found = eval(gradient(pushed, "v7_dot", ["x1", "x2"]), {**X, "x1_dot": 2.0, "x2_dot": -1.0})
found["dv7_dot_dx1"], found["dv7_dot_dx2"]
Hessian(TRACE, "v7", ["x1", "x2"])(X) @ [2.0, -1.0]
""", "“We start from a vector b”, and then ẋ = v is set; the two are one vector, v."),
    Example("§8.2.2, O(W)", "The product holds bytes in proportion to W, where the matrix has 8 W² (W, bytes held, of the matrix)",
            "test_8_2_2_the_product_with_the_hessian_holds_bytes_in_proportion_to_w", """\
steps = [("t", "tanh", ("w",)), ("s", "squaredNorm", ("t",)), ("E", "square", ("s",))]
for W in (1000, 10000):
    at = {"w": np.linspace(0, 1, W), "w_dot": np.ones(W)}
    print(W, cost(Hessian(steps, "E", ["w"]).steps, values=at, measured=False).evaluation.peak, 8 * W ** 2)
"""),
    Example("§8.2.2, Pearlmutter", "For a quadratic form it is the symmetric part of its matrix times the vector",
            "test_8_2_2_for_a_quadratic_form_it_is_the_symmetric_part_of_its_matrix_times_the_vector", """\
A, x, v = np.array([[1.0, 2.0], [-1.0, 3.0]]), np.array([0.5, 0.2]), np.array([1.0, -1.0])
hvp(lambda x: 0.5 * x @ A @ x, (x,), (v,)), (A + A.T) / 2 @ v
"""),
]
