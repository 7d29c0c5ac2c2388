"""Reps' lecture, section by section."""

from . import Example

AUTHOR = "Reps"
TITLE = "Reps, Automatic Differentiation and Backpropagation"
SOURCE = "Thomas Reps, lecture notes for CS701: automatic differentiation as a path problem on the computation graph."

FILES = {"h.wl": "y4 = mul(4, y)\na = add(x, y4)\nb = add(x, y)\nc = mul(b, y)\nh = mul(a, c)\n"}

PRELUDE = '''\
import math
import operator

# §2: four functions f_1 … f_4 and their derivatives, and Prod as a program
FACTORS = [np.sin, lambda x: x * x + 1, np.exp, lambda x: 1 / x]
SLOPES = [np.cos, lambda x: 2 * x, np.exp, lambda x: -1 / (x * x)]

def prod(x):
    ans = 1.0
    for f_i in FACTORS:
        ans = ans * f_i(x)
    return ans

def by_mathematics(x):   # Σ_i f′_i(x) Π_{j≠i} f_j(x)
    return sum(SLOPES[i](x) * np.prod([FACTORS[j](x) for j in range(4) if j != i]) for i in range(4))

PRODUCT = [("ans1", "mul", (1.0, "f1")), ("ans2", "mul", ("ans1", "f2")), ("ans3", "mul", ("ans2", "f3"))]
PUSHED = tangent(PRODUCT, ["f1", "f2", "f3"])
DOUBLED = simplify(PUSHED, ["ans1", "ans1_dot", "ans2", "ans2_dot", "ans3", "ans3_dot"],
                   dict.fromkeys(PUSHED.inputs, 1.0))

# §3 and 4: h(x, y) = (x + 4y)·((x + y)·y)
H = [("y4", "mul", (4, "y")), ("a", "add", ("x", "y4")), ("b", "add", ("x", "y")), ("c", "mul", ("b", "y")),
     ("h", "mul", ("a", "c"))]
AT = {"x": 3.0, "y": 5.0}

# §6: the net of Fig. 9 with its training layer
# w10 … w15 lead from x1, x2 to h1, h2, h3, and w1 … w9 from h1, h2, h3 to y1, y2, y3
def net():
    m, numbers = XMan(), iter(np.round(np.random.default_rng(9).uniform(-1, 1, 20), 2))
    for name in ["x1", "x2", "v1", "v2", "v3", *(f"w{i}" for i in range(1, 16))]:
        setattr(m, name, (f.param if name[0] == "w" else f.input)(default=abs(next(numbers))))
    r = lambda name, k: getattr(m, f"{name}{k}")
    for k in (1, 2, 3):
        setattr(m, f"h{k}", f.sigmoid(r("w", 8 + 2 * k) * m.x1 + r("w", 9 + 2 * k) * m.x2))
    for j in (1, 2, 3):
        w = lambda i: r("w", 3 * j - 3 + i)
        setattr(m, f"y{j}", f.sigmoid(w(1) * m.h1 + w(2) * m.h2 + w(3) * m.h3))
        setattr(m, f"d{j}", r("y", j) - r("v", j))
    m.Cost = f.half(f.square(m.d1)) + f.half(f.square(m.d2)) + f.half(f.square(m.d3))
    return m.setup()

TRAINED = net()
NET, GIVEN = TRAINED.operationSequence(TRAINED.Cost), TRAINED.inputDict()
WEIGHTS = [f"w{i}" for i in range(1, 16)]
V = eval(NET, GIVEN)
delta = lambda j: (V[f"y{j}"] - V[f"v{j}"]) * V[f"y{j}"] * (1 - V[f"y{j}"])   # (y_j − v_j) y_j (1 − y_j)
'''

EXAMPLES = [
    Example("§2, box (1)", "The naive quotient loses the digits that automatic differentiation keeps",
            "test_box_1_the_naive_quotient_loses_the_digits_that_automatic_differentiation_keeps", """\
x = np.float32(1.3)      # float, as the box says
error = lambda slope: abs(slope / by_mathematics(1.3) - 1)
naive = lambda size: (prod(x + np.float32(size)) - prod(x)) / np.float32(size)
error(naive(1e-2)) > 1e-4, error(naive(1e-6)) > 1e-3, error(naive(1e-7)) > 1e-2
error(derivative(prod)(x)) < 1e-6
"""),
    Example("Ex. 2.1", "Prod as a program, and its derivative as the mathematics has it", "test_example_2_1_the_product_of_k_functions_and_its_derivative", """\
prod(1.3), derivative(prod)(1.3), by_mathematics(1.3)
"""),
    Example("Ex. 2.1", "Prod′ as an automatic-differentiation system creates it", "test_example_2_1_the_product_of_k_functions_and_its_derivative", """\
slope, ans, x = 0.0, 1.0, 1.3
for f_i, slope_i in zip(FACTORS, SLOPES):
    slope = slope * f_i(x) + ans * slope_i(x)
    ans = ans * f_i(x)
slope, same(slope, derivative(prod)(1.3))
"""),
    Example("§2, the transformation", "Each statement gets that of its derivative; in a list nothing is assigned twice, and so it may stand behind it", "test_the_transformation_follows_each_statement_by_that_of_its_derivative", """\
print(source(PRODUCT, wrt=["f1", "f2", "f3"], likes={"f1": 1.0, "f2": 1.0, "f3": 1.0}, name="product"))
"""),
    Example("Ex. 2.1, as source", "With its loop and its procedures it comes back as a program with both", "test_example_2_1_comes_back_as_source_with_its_loop_and_its_procedures", """\
from xman import call, scan, trace
procedure = lambda x, k: np.sin(k * x) + k
looped = lambda x, ks: scan(lambda ans, k: (ans * call(procedure, x, k), None), 1.0, ks)[0]
ks = np.array([1.0, 2.0, 3.0])
print(source(trace(looped, 1.3, ks), None, ["x"], {"x": 1.3, "ks": ks}))
"""),
    Example("Ex. 2.2", "The table of ans′ and ans at the start of each iteration", "test_example_2_2_the_table_of_ans_prime_and_ans_at_the_start_of_each_iteration", """\
for i in (1, 2, 3):
    print(i, expand(DOUBLED, f"ans{i}_dot"), "|", expand(DOUBLED, f"ans{i}"), sep="  ")
"""),
    Example("Ex. 2.2, the invariant", "The loop keeps ans′ the derivative of ans", "test_example_2_2_the_loop_keeps_ans_prime_the_derivative_of_ans", """\
given = {f"f{i}": FACTORS[i - 1](1.3) for i in (1, 2, 3)} | {f"f{i}_dot": SLOPES[i - 1](1.3) for i in (1, 2, 3)}
values = eval(DOUBLED, given)
for i in (1, 2, 3):
    print(i, same(values[f"ans{i}_dot"], derivative(lambda x: math.prod(f_j(x) for f_j in FACTORS[:i]))(1.3)))
"""),
    Example("§2, eq. (2)", "The third value of ans′ is grouped as it is computed", "test_eq_2_the_third_value_of_ans_prime_is_grouped_as_it_is_computed", """\
f1, f2, f3, d1, d2, d3 = given = np.random.default_rng(2).normal(size=(6, 1000))
found = eval(DOUBLED, dict(zip(["f1", "f2", "f3", "f1_dot", "f2_dot", "f3_dot"], given)))["ans3_dot"]
np.array_equal(found, (d1 * f2 + f1 * d2) * f3 + (f1 * f2) * d3)       # to the last bit
np.array_equal(found, d1 * f2 * f3 + f1 * d2 * f3 + f1 * f2 * d3)      # the table's expanded sum
"""),
    Example("Fig. 1", "The differentiation arithmetic: CONST, VAR, + and ×", "test_figure_1_the_differentiation_arithmetic", """\
Dual.CONST(3.0), Dual.VAR(3.0)
a, b = Dual(2.0, 5.0), Dual(-7.0, 0.5)
a + b, a * b
"""),
    Example("Ex. 2.3", "Prod by overloading: the types change and the program does not", "test_example_2_3_prod_by_overloading_with_const_and_var", """\
prod(Dual.VAR(1.3)).tangent, by_mathematics(1.3)
"""),
    Example("§2, boxes", "A procedure is a box from (v, w) to (F(v), F′(v)·w)", "test_boxes_have_two_inputs_and_two_outputs_and_snap_together", """\
box = np.exp(Dual(0.7, 3.5))
box.value, box.tangent, same([box.value, box.tangent], [np.exp(0.7), np.exp(0.7) * 3.5])
"""),
    Example("§2, boxes", "Boxes snap together: F′(G(v))·G′(v)", "test_boxes_have_two_inputs_and_two_outputs_and_snap_together", """\
tangent([("y", "sin", ("x",)), ("z", "exp", ("y",))], ["x"])
np.exp(np.sin(Dual(0.7, 1.0))).tangent, np.exp(np.sin(0.7)) * np.cos(0.7)
"""),
    Example("§2, store or recompute", "Reverse mode stores what it needs, or computes it again: bytes held, and operations beside those of the loop",
            "test_section_2_intermediate_values_are_stored_or_computed_again", """\
from xman import scan
step = lambda h, x: (np.sin(h * x), None)
last = lambda h, rows: scan(step, h, rows, keep=False)[0]
stored = lambda h, X: np.sum(scan(step, h, X)[0])
again = lambda h, X: np.sum(scan(lambda h, rows: (last(h, rows), None), h, X.reshape(16, 16, 50))[0])
at = {"h": np.full(50, 0.5), "X": np.linspace(0.5, 1.5, 256 * 50).reshape(256, 50)}
for fn in (stored, again):
    costs = cost(trace(fn, *at.values()), wrt=["h"], values=at, measured=False)
    print(costs.adjoint.peak, costs.ratios[1])
"""),
    Example("§2, the spectrum", "Forward and reverse mode in different parts of one computation, through what is narrow: 4 passes for 50",
            "test_section_2_forward_and_reverse_mode_in_different_parts_take_fewer_passes", """\
steps = [("a", "dot", ("A", "x")), ("t", "tanh", ("a",)), ("y", "dot", ("B", "t"))]
at = {"A": np.ones((2, 50)) / 50, "x": np.linspace(-1, 1, 50), "B": np.ones((50, 2))}
Jacobian(steps, "y", ["x"]).count(at)
same(Jacobian(steps, "y", ["x"])(at)["x"], Jacobian(steps, "y", ["x"], "reverse")(at)["x"])
"""),
    Example("§3, eq. (3)", "h(3, 5) and its partial derivatives", "test_eq_3_h_is_920_and_its_partials_155_and_459", "$ xman eval h.wl x=3 y=5\n$ xman grad h.wl x=3 y=5\n"),
    Example("§3, eq. (3)", "Multiplied out, h is a polynomial", "test_eq_3_is_the_multivariate_polynomial", 'expand(H, "h")\n'),
    Example("§3, extend and combine", "Extend is ×, combine is +: ∂h/∂x as a path problem with its algebra named",
            "test_figure_3a_the_forward_path_problem_from_x", """\
paths(H, "h", "x", AT).solve(operator.mul, operator.add, 1)
"""),
    Example("§3, extend and combine", "With labels 1, × and + count the paths", "test_the_paths_are_counted_where_each_edge_is_1", """\
paths(H, "h", "y").solve(operator.mul, operator.add, 1, lambda edge: 1)
"""),
    Example("§3, extend and combine", "With labels 1, extend + and combine min it is the shortest path, in edges",
            "test_the_shortest_and_the_longest_path_where_extend_is_plus", """\
paths(H, "h", "y").solve(operator.add, min, 0, lambda edge: 1)
paths(H, "h", "y").solve(operator.add, max, 0, lambda edge: 1)
"""),
    Example("§3, extend and combine", "With intervals for labels it bounds ∂h/∂x for all x in [3, 3.5] and y in [5, 5.5]",
            "test_intervals_bound_the_derivative_over_a_range_of_the_inputs", """\
low, high = (paths(H, "h", "x", at) for at in [{"x": 3.0, "y": 5.0}, {"x": 3.5, "y": 5.5}])
top = {edge[:2]: edge.value for edge in high.edges}      # the labels of h grow with x and y
times, plus = (lambda a, b: (a[0] * b[0], a[1] * b[1])), (lambda a, b: (a[0] + b[0], a[1] + b[1]))
low.solve(times, plus, (1.0, 1.0), lambda edge: (edge.value, top[edge[:2]]))["h"]
paths(H, "h", "x", {"x": 3.2, "y": 5.3}).derivative
"""),
    Example("§3, idempotence", "Combine is not idempotent: 1 + 1 is 2", "test_combine_is_not_idempotent_1_plus_1_is_2", """\
paths([("y", "add", ("x", "x"))], "y", "x", {"x": 7.0})
"""),
    Example("§3, the labels of + and ×", "An edge into + has the label 1, an edge into × the other factor", "test_section_5_the_label_of_the_jth_argument_is_the_partial_derivative", """\
paths([("v", "add", ("f", "g"))], "v", ["f", "g"]).edges
paths([("v", "mul", ("f", "g"))], "v", ["f", "g"]).edges
"""),
    Example("Fig. 2a", "The symbolic computation graph", "test_figure_2a_the_symbolic_computation_graph", "$ xman paths h.wl --wrt x --wrt y\n"),
    Example("Fig. 2b", "The computation graph at x = 3, y = 5", "test_figure_2b_the_computation_graph_at_3_and_5", """\
print(*paths(H, "h", ["x", "y"], AT).edges, sep="\\n")
"""),
    Example("Fig. 2, as a picture", "The graph for Graphviz", "test_figure_2a_the_symbolic_computation_graph", "$ xman paths h.wl --wrt x --wrt y --dot\n"),
    Example("Fig. 2a, as a picture", "A product's arrow has the other factor as its label, a sum's has 1",
            "test_reps_figure_2a_has_the_other_factor_as_the_label_of_a_product_and_1_as_that_of_a_sum", """\
drawn = picture(paths(H, "h", ["x", "y"]))
[" = ".join(node.lines) for node in drawn.nodes]
for arrow in drawn.arrows:
    print(f"{arrow.low} → {arrow.high}: {arrow.label}")
"""),
    Example("Fig. 2b, as a picture", "The numbers at x = 3, y = 5", "test_reps_figure_2b_has_the_numbers_at_3_and_5", """\
drawn = picture(paths(H, "h", ["x", "y"], AT))
[" ".join(node.lines) for node in drawn.nodes]
[f"{arrow.low} → {arrow.high}: {arrow.label}" for arrow in drawn.arrows if arrow.label != "1"]
"""),
    Example("Fig. 3a", "∂h/∂x by the forward path problem", "test_figure_3a_the_forward_path_problem_from_x", 'paths(H, "h", "x", AT).forward()\n'),
    Example("Fig. 3b", "∂h/∂x by the backward path problem", "test_figure_3b_the_backward_path_problem_to_x", 'paths(H, "h", "x", AT).backward()\n'),
    Example("Fig. 3c", "∂h/∂y by the forward path problem", "test_figure_3c_the_forward_path_problem_from_y", 'paths(H, "h", "y", AT).forward()\n'),
    Example("Fig. 3d", "∂h/∂y by the backward path problem", "test_figure_3d_the_backward_path_problem_to_y", 'paths(H, "h", "y", AT).backward()\n'),
    Example("Fig. 3", "Both problems of both inputs on the command line", "test_figure_3a_the_forward_path_problem_from_x", "$ xman paths h.wl x=3 y=5 --wrt x\n"),
    Example("Fig. 3, as a picture", "The sums stand in green at the nodes between the two, and the arrows beside the way are grey",
            "test_reps_figure_3_the_sums_stand_in_green_at_the_nodes_between_the_two", """\
for wrt, way in [("x", "forward"), ("x", "backward"), ("y", "forward"), ("y", "backward")]:
    graph = paths(H, "h", wrt, AT)
    drawn = picture(graph, getattr(graph, way)())
    print(wrt, way, {node.key: node.note for node in drawn.nodes if node.note})
    print("  beside the way:", [f"{arrow.low} → {arrow.high}" for arrow in drawn.arrows if arrow.kind == "off"])
"""),
    Example("§4, linear time", "The work is linear in the graph, however many the paths", "test_section_4_the_work_is_linear_in_the_graph_however_many_the_paths", """\
graph = paths([(f"x{k}", "add", (f"x{k - 1}", f"x{k - 1}")) for k in range(1, 51)], "x50", "x0", {"x0": 1.0})
graph.count
graph.backward().extends, graph.backward().combines
"""),
    Example("Fig. 4a", "The induction step at a +-node: 1·∂f/∂x + 1·∂g/∂x", "test_figure_4_the_induction_step", """\
graph = paths([("f", "sin", ("x",)), ("g", "exp", ("x",)), ("p", "add", ("f", "g"))], "p", "x", {"x": 0.4})
graph.forward()
graph.derivative, 1 * np.cos(0.4) + 1 * np.exp(0.4)
"""),
    Example("Fig. 4b", "The induction step at a ×-node: g·∂f/∂x + f·∂g/∂x", "test_figure_4_the_induction_step", """\
graph = paths([("f", "sin", ("x",)), ("g", "exp", ("x",)), ("p", "mul", ("f", "g"))], "p", "x", {"x": 0.4})
graph.forward()
graph.derivative, np.exp(0.4) * np.cos(0.4) + np.sin(0.4) * np.exp(0.4)
"""),
    Example("Fig. 4, as a picture", "The induction step with ∂f/∂x and ∂g/∂x as symbols", "test_reps_figure_4_the_induction_step", """\
for op in ("add", "mul"):
    graph = paths([("f", "sin", ("x",)), ("g", "exp", ("x",)), ("p", op, ("f", "g"))], "p", "x")
    label = lambda edge: f"∂{edge.target}/∂x" if edge.source == "x" else edge.label
    notes = graph.solve(lambda x, y: f"{y}·{x}".removesuffix("·1"), lambda x, y: f"{x} + {y}", "1", label)
    print({node.key: node.note for node in picture(graph, notes).nodes})
"""),
    Example("Ex. 4.1", "The polynomial's derivative, 2xy + 5y², is 30 + 125 = 155 at (3, 5)", "test_example_4_1_both_path_problems_solved_symbolically_give_2xy_plus_5y2",
            '2 * 3 * 5, 5 * 5**2, paths(H, "h", "x", AT).derivative\n', "The function is h(x, y); the example writes ∂h(y, x)/∂x throughout."),
    Example("Ex. 4.1", "The forward path problem solved symbolically", "test_example_4_1_both_path_problems_solved_symbolically_give_2xy_plus_5y2", """\
graph = paths(H, "h", "x")
[path.text for path in graph.all()]
graph.symbolic("forward")
""", "The second line, xy + y² + yx + 4y²), ends in a bracket that nothing opens."),
    Example("Ex. 4.1", "The backward path problem solved symbolically", "test_example_4_1_both_path_problems_solved_symbolically_give_2xy_plus_5y2", """\
paths(H, "h", "x").symbolic("backward")
"""),
    Example("Ex. 4.1", "The same on the command line", "test_example_4_1_both_path_problems_solved_symbolically_give_2xy_plus_5y2",
            "$ xman paths h.wl --wrt x --symbolic\n$ xman paths h.wl --wrt y --symbolic\n"),
    Example("Fig. 5", "|L| forward passes or |K| backward passes: one input and five outputs", "test_figure_5_l_forward_passes_or_k_backward_passes", """\
steps = [("s", "sin", ("x",)), ("t", "exp", ("s",)), *((f"h{k}", "mul", (k, "t")) for k in range(1, 6))]
paths(steps, [f"h{k}" for k in range(1, 6)], "x", {"x": 0.3}).work
"""),
    Example("Fig. 5", "One output and four inputs: a single backward pass", "test_figure_5_l_forward_passes_or_k_backward_passes", """\
steps = [("s2", "add", ("x1", "x2")), ("s3", "mul", ("s2", "x3")), ("s4", "mul", ("s3", "x4")),
         ("h", "sin", ("s4",))]
paths(steps, "h", ["x1", "x2", "x3", "x4"], {"x1": 0.3, "x2": 0.3, "x3": 0.3, "x4": 0.3}).work
"""),
    Example("§4, the trade-off", "Forward mode where |L| ≪ |K|, reverse mode where |L| ≫ |K|, which a Jacobian chooses by itself",
            "test_figure_5_l_forward_passes_or_k_backward_passes", """\
for n, m in [(2, 60), (60, 2)]:
    print(Jacobian([("y", "dot", ("W", "x"))], "y", ["x"]).count({"W": np.ones((m, n)), "x": np.ones(n)}))
"""),
    Example("§5, any operator", "The label of the jth argument is the partial derivative by it", "test_section_5_the_label_of_the_jth_argument_is_the_partial_derivative", """\
for op in ["divide", "power"]:
    print(*paths([("v", op, ("x", "y"))], "v", ["x", "y"]).edges, sep="\\n")
""", "The print divides by ∂f_i; the jth argument is f_j."),
    Example("§5, square root", "The label 1/(2v) is a function of the output", "test_section_5_square_root_and_sigmoid_have_labels_that_are_functions_of_the_output", """\
print(*paths([("v", "sqrt", ("x",))], "v", "x", {"x": 1.7}).edges)
0.5 * 1.7 ** -0.5
"""),
    Example("§5, sigmoid", "The label is v(1 − v)", "test_section_5_square_root_and_sigmoid_have_labels_that_are_functions_of_the_output", """\
print(*paths([("v", "sigmoid", ("x",))], "v", "x", {"x": 1.7}).edges)
np.exp(-1.7) / (1 + np.exp(-1.7)) ** 2
"""),
    Example("§5, squares of differences", "The label of ½(x − v)² is x − v", "test_section_5_squares_of_differences_have_the_label_x_minus_v", """\
steps = [("d", "subtract", ("x", "v")), ("s", "square", ("d",)), ("cost", "half", ("s",))]
paths(steps, "cost", "x").symbolic()
paths(steps, "cost", "x", {"x": 0.9, "v": 0.25}).derivative
"""),
    Example("Fig. 6a", "A neural net with one hidden layer: its list", "test_figure_7_a_node_multiplies_sums_and_applies_the_sigmoid", """\
lines = [dst for dst, _, _ in NET]
print(source(NET[:lines.index("y1") + 1]))
"""),
    Example("Fig. 7", "A node multiplies, sums and applies the sigmoid", "test_figure_7_a_node_multiplies_sums_and_applies_the_sigmoid", """\
V["h3"], 1 / (1 + np.exp(-(V["w14"] * V["x1"] + V["w15"] * V["x2"])))
"""),
    Example("Fig. 6b", "The training layer sums the squared differences, ½(y_j − v_j)²", "test_figure_6b_the_training_layer_sums_the_squared_differences", """\
V["Cost"], sum(1 / 2 * (V[f"y{j}"] - V[f"v{j}"]) ** 2 for j in (1, 2, 3))
"""),
    Example("Fig. 8", "A single backward pass gives the derivatives by all weights", "test_figure_8_a_single_backward_pass_gives_the_derivatives_by_all_weights", """\
graph = paths(NET, "Cost", WEIGHTS, GIVEN)
graph.work
[graph.backward()[w] for w in WEIGHTS[:5]]
"""),
    Example("Fig. 9, ∂Cost/∂w4", "Cost by w4 has one path", "test_figure_9_cost_by_w4_has_one_path", """\
(path,) = paths(NET, "Cost", "w4", GIVEN).all()
path.nodes
path.text
path.value, delta(2) * V["h1"]
"""),
    Example("Fig. 9, ∂Cost/∂w14", "Cost by w14 has three paths, one for each output", "test_figure_9_cost_by_w14_has_three_paths_one_for_each_output", """\
found = paths(NET, "Cost", "w14", GIVEN).all()
for path in found:
    print(path.text)
sum(path.value for path in found)
"""),
    Example("Fig. 9, symbolically", "Multiplied out, both path problems are the printed formula", "test_figure_9_the_two_partial_derivatives_symbolically", """\
m = net()
m.printed = (m.y2 - m.v2) * m.y2 * (1 - m.y2) * m.h1
printed = expand(m.setup().operationSequence(m.printed), "printed")
graph = paths(NET, "Cost", "w4")
graph.symbolic("forward") == graph.symbolic("backward") == printed
"""),
    Example("Fig. 9, numerically", "Forward, backward, backprop and the printed formula for w14", "test_figure_9_the_two_partial_derivatives_numerically", """\
graph = paths(NET, "Cost", "w14", GIVEN)
graph.forward()["Cost"], graph.backward()["w14"], backprop(NET, V, Cost=1.0)["w14"]
sum(delta(j) * V[w] for j, w in [(1, "w3"), (2, "w6"), (3, "w9")]) * V["h3"] * (1 - V["h3"]) * V["x1"]
"""),
    Example("Fig. 9, as a picture", "The labels on the path from w4 up to the Cost", "test_reps_figure_9_has_the_labels_of_its_path_from_w4_to_the_cost", """\
graph = paths(NET, "Cost", "w4")
labels = {(arrow.low, arrow.high): arrow.label for arrow in picture(graph).arrows}
(path,) = graph.all()
[labels[edge.source, edge.target] for edge in path.edges]
"""),
    Example("Fig. 9, as a picture", "One backward pass writes its adjoint at every weight", "test_reps_figure_9_one_backward_pass_writes_the_adjoint_of_every_weight", """\
graph, deltas = paths(NET, "Cost", WEIGHTS, GIVEN), backprop(NET, V, Cost=1.0)
notes = {node.key: node.note for node in picture(graph, graph.backward()).nodes}
{w: notes[w] for w in WEIGHTS}
all(notes[w] == f"{deltas[w]:.6g}" for w in WEIGHTS)
"""),
    Example("§6, the update", "The rule descends where it subtracts", "test_section_6_the_update_rule_descends_where_it_subtracts", """\
slopes = backprop(NET, V, Cost=1.0)
moved = lambda eta: eval(NET, {x: v + eta * slopes[x] if x in WEIGHTS else v for x, v in GIVEN.items()})["Cost"]
moved(-0.1), V["Cost"], moved(+0.1)
""", "w := w + η ∂Cost/∂w, here and in both lines at the end, climbs, and the Cost is to become small; meant is w − η ∂Cost/∂w."),
    Example("§6, the end of training", "Training continues until the adjustments fall below a threshold", "test_section_6_training_continues_until_the_adjustments_fall_below_a_threshold", """\
given = GIVEN
for _ in range(1000):
    slopes = backprop(NET, eval(NET, given), Cost=1.0)
    given = {x: v - 2.0 * slopes[x] if x in WEIGHTS else v for x, v in given.items()}
    if max(abs(2.0 * slopes[w]) for w in WEIGHTS) < 1e-5: break
[round(eval(NET, given)[y] - given[v], 3) for y, v in [("y1", "v1"), ("y2", "v2"), ("y3", "v3")]]
"""),
]
