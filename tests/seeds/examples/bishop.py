"""Chapter 8 of Bishop's book, section by section, figure by figure, exercise by exercise."""

from . import Example

AUTHOR = "Bishop"
TITLE = "Bishop, Deep Learning, chapter 8: Backpropagation"
SOURCE = "Christopher M. Bishop with Hugh Bishop, Deep Learning: Foundations and Concepts (2024), chapter 8."

FILES = {"trace.wl": """\
v1 = alias(x1)
v2 = alias(x2)
v3 = mul(v1, v2)
v4 = sin(v2)
v5 = exp(v3)
v6 = subtract(v3, v4)
v7 = add(v5, v6)
v8 = mul(v6, v5)
""", "softrelu.wl": "p = mul(w1, x)\na = add(p, b1)\nz = softplus(a)\nq = mul(w2, z)\nc = add(q, b2)\ny = softplus(c)\n"}

PRELUDE = '''\
import ops
from xman.models import MLP

def sigma(a):
    return 1 / (1 + np.exp(-a))

# (8.1) to (8.4): a linear model
LINEAR = [("y", "dot", ("w", "x")), ("e", "subtract", ("y", "t")), ("s", "square", ("e",)), ("q", "sum", ("s",)),
          ("E", "half", ("q",))]
AT = eval(LINEAR, {"w": np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]]), "x": np.array([1.0, 2.0, -1.0]),
                   "t": np.array([0.0, 1.0])})

# (8.5) to (8.13): z0 is 1, z1 to z3 are inputs, units 4 to 6 are hidden, 7 and 8 linear outputs; links skip layers
SENDERS = {4: [0, 1, 2], 5: [0, 2, 3, 4], 6: [1, 4, 5], 7: [0, 5, 6], 8: [3, 4, 6]}
H = {4: "tanh", 5: "sigmoid", 6: "softplus", 7: "alias", 8: "alias"}
SLOPE = {"tanh": lambda a: 1 - np.tanh(a) ** 2, "sigmoid": lambda a: sigma(a) * (1 - sigma(a)), "softplus": sigma}

def network():
    m, number = XMan(), iter(np.round(np.random.default_rng(8).normal(size=21), 1)).__next__
    m.z0, m.z1, m.z2, m.z3, m.t7, m.t8 = f.input(1.0), *(f.input(number()) for _ in range(5))
    for j in SENDERS:
        for i in SENDERS[j]:
            setattr(m, f"w{j}_{i}", f.param(number()))
        setattr(m, f"a{j}", sum((getattr(m, f"w{j}_{i}") * getattr(m, f"z{i}") for i in SENDERS[j][1:]),
                                start=getattr(m, f"w{j}_{SENDERS[j][0]}") * getattr(m, f"z{SENDERS[j][0]}")))
        setattr(m, f"z{j}", getattr(f, H[j])(getattr(m, f"a{j}")))
    m.E = f.half(f.square(m.z7 - m.t7) + f.square(m.z8 - m.t8))
    return m.setup()

net = network()
NET = net.operationSequence(net.E)
V = eval(NET, net.inputDict())
D = backprop(NET, V, E=1.0)
w = lambda j, i: V[f"w{j}_{i}"]
without = lambda *names: [line for line in NET if line[0] not in names]   # these are inputs of the rest

# (8.15) to (8.23): two layers, rows of X with x0 = 1 first
class TwoLayers(XMan):
    X, T, W1, W2 = f.input(), f.input(), f.param(), f.param()
    Z = f.tanh(X @ W1)
    Y = f.concat(1, X[:, :1], Z) @ W2
    E = f.half(f.sum(f.square(Y - T)))

TWO = TwoLayers().setup().operationSequence(TwoLayers.E)

def two_layers(rows):
    random = np.random.default_rng(8)
    X, T = np.hstack([np.ones((rows, 1)), random.normal(size=(rows, 2))]), random.normal(size=(rows, 2))
    return {"X": X, "T": T, "W1": random.normal(size=(3, 3)), "W2": random.normal(size=(4, 2))}

# (8.24) to (8.41): scores A and outputs Y of rows X, and errors; S singles out scores by C
class Network(XMan):
    X, T, C, W1, W2 = f.input(), f.input(), f.input(), f.param(), f.param()
    A = f.tanh(X @ W1) @ W2
    Y = f.sigmoid(A)
    S = f.sum(C * A)
    E = f.half(f.sum(f.square(A - T)))
    E_of_y = f.half(f.sum(f.square(Y - T)))
    E_logistic = f.sum(f.sigmoidCrossEntropy(A, T))
    E_softmax = f.sum(f.softmaxCrossEntropy(A, T))

N, WEIGHTS = Network().setup(), ["W1", "W2"]
listed = lambda of: N.operationSequence(getattr(N, of))

def given(rows=4, outputs=1):
    random = np.random.default_rng(84)
    return {"X": random.normal(size=(rows, 2)), "T": random.dirichlet(np.ones(outputs + 1), rows)[:, 1:],
            "W1": random.normal(size=(2, 2)), "W2": random.normal(size=(2, outputs))}

def each(of, values):   # ∇ and ∇∇ of each row's first score, or of "E" by W1 and W2 in one vector
    for n in range(len(values["X"])):
        at = {**values, "C": np.eye(len(values["X"]))[:, n:n + 1]}
        slope = backprop(listed(of), eval(listed(of), at), **{of: 1.0})
        yield np.concatenate([slope[x].ravel() for x in WEIGHTS]), Hessian(listed(of), of, WEIGHTS)(at)

# (8.43): how many operations a list is as one expression, nothing by name
def written_out(steps):
    sizes = {}
    for dst, _, args in steps:
        sizes[dst] = 1 + sum(sizes.get(a, 0) for a in args)
    return sizes[dst]

# (8.44) to (8.48): two soft ReLUs, as a list with softplus, as printed, and the symbolic derivative
class SoftReLU(XMan):
    x, w1, b1, w2, b2 = (f.input() for _ in range(5))
    z = f.softplus(w1 * x + b1)
    y = f.softplus(w2 * z + b2)

class AsPrinted(XMan):
    x, w1, b1, w2, b2 = (f.input() for _ in range(5))
    z = f.log(1 + f.exp(w1 * x + b1))
    y = f.log(1 + f.exp(w2 * z + b2))

SOFT = SoftReLU().setup().operationSequence(SoftReLU.y)
PRINTED = AsPrinted().setup().operationSequence(AsPrinted.y)
POINT = {"x": 0.5, "w1": 1.2, "b1": -0.3, "w2": 0.8, "b2": 0.1}
FAR = {"x": 400.0, "w1": 2.0, "b1": 0.5, "w2": 0.25, "b2": -1.0}

def formula_8_48(x, w1, b1, w2, b2, exp=np.exp, ln=np.log):
    return (w2 * x * exp(w1 * x + b1 + b2 + w2 * ln(1 + exp(w1 * x + b1)))
            / ((1 + exp(w1 * x + b1)) * (1 + exp(b2 + w2 * ln(1 + exp(w1 * x + b1))))))

# (8.49) to (8.76): Fig. 8.4 and, with v8, Fig. 8.5
TRACE = WengertList.from_text("v1 = alias(x1)\\nv2 = alias(x2)\\nv3 = mul(v1, v2)\\nv4 = sin(v2)\\nv5 = exp(v3)\\n"
                              "v6 = subtract(v3, v4)\\nv7 = add(v5, v6)")
BOTH = WengertList([*TRACE, ("v8", "mul", ("v6", "v5"))])
X = {"x1": 0.7, "x2": 1.3}
v = eval(BOTH, X)
'''

EXAMPLES = [
    # 8.1.1 to 8.1.3
    Example("(8.1)", "The error is the sum of those of the data points", "test_8_01_the_error_is_the_sum_of_those_of_the_data_points", """\
values = two_layers(5)
E = lambda rows: eval(TWO, {**values, "X": values["X"][rows], "T": values["T"][rows]})["E"]
E(slice(5)), sum(E(slice(n, n + 1)) for n in range(5))
"""),
    Example("(8.2)", "The outputs of a linear model are sums over its inputs", "test_8_02_the_outputs_of_a_linear_model_are_sums_over_its_inputs", """\
AT["y"], [sum(AT["w"][k, i] * AT["x"][i] for i in range(3)) for k in range(2)]
"""),
    Example("(8.3)", "Its error is half the sum of squares", "test_8_03_its_error_is_half_the_sum_of_squares", """\
AT["E"], 1 / 2 * sum((AT["y"][k] - AT["t"][k]) ** 2 for k in range(2))
"""),
    Example("(8.4)", "The gradient of a linear model is error times input", "test_8_04_the_gradient_of_a_linear_model_is_error_times_input", """\
backprop(LINEAR, AT, E=1.0)["w"]
np.outer(AT["y"] - AT["t"], AT["x"])
"""),
    Example("(8.5)", "A unit's pre-activation is a weighted sum, in any feed-forward topology", "test_8_05_the_networks_here_have_skip_connections_and_units_of_each_activation", """\
V["a5"], sum(w(5, i) * V[f"z{i}"] for i in SENDERS[5])
"""),
    Example("(8.6)", "Forward propagation is the evaluation of the list", "test_8_05_and_8_06_forward_propagation_is_the_evaluation_of_the_list", """\
[(V[f"z{j}"], ops.G[H[j]](V[f"a{j}"])) for j in (4, 5, 6)]
"""),
    Example("(8.7)", "∂E/∂w is ∂E/∂a times ∂a/∂w", "test_8_07_a_derivative_is_that_of_the_error_by_the_pre_activation_times_that_of_the_pre_activation", """\
D["w5_4"], D["a5"] * forward(NET, V, {"w5_4": 1.0})["a5"]
"""),
    Example("(8.8)", "The error δ of a unit is the adjoint of its pre-activation", "test_8_08_the_error_of_a_unit_is_the_adjoint_of_its_pre_activation", """\
[D[f"a{j}"] for j in SENDERS]
[forward(without(f"a{j}"), V, {f"a{j}": 1.0})["E"] for j in SENDERS]
"""),
    Example("(8.9)", "∂a/∂w is z", "test_8_09_the_derivative_of_a_pre_activation_by_its_weight_is_z", 'forward(NET, V, {"w6_5": 1.0})["a6"], V["z5"]\n'),
    Example("(8.10)", "A derivative is δ at the end of the link times z at its beginning", "test_8_10_a_derivative_is_the_error_at_the_end_of_the_link_times_z_at_its_beginning", """\
links = [(j, i) for j in SENDERS for i in SENDERS[j]]
same([D[f"w{j}_{i}"] for j, i in links], [D[f"a{j}"] * V[f"z{i}"] for j, i in links])
D["w7_5"], D["a7"] * V["z5"]
"""),
    Example("(8.11)", "With the canonical link the error of an output unit is y − t: three links",
            "test_8_11_the_error_of_an_output_unit_with_the_canonical_link_is_y_minus_t", """\
a, t = np.array([0.5, -1.0, 0.2]), np.array([0.2, 0.3, 0.5])
grad(lambda a: 0.5 * np.sum((a - t) ** 2))(a), a - t
grad(lambda a: f.sum(f.sigmoidCrossEntropy(a, t)))(a), sigma(a) - t
grad(lambda a: f.sum(f.softmaxCrossEntropy(a, t)))(a), np.exp(a) / np.exp(a).sum() - t
"""),
    Example("(8.11)", "Without the canonical link it is something else", "test_8_11_without_the_canonical_link_it_is_something_else", """\
a, t = np.array([0.5, -1.0, 0.2]), np.array([0.2, 0.3, 0.5])
y = sigma(a)
grad(lambda a: 0.5 * np.sum((f.sigmoid(a) - t) ** 2))(a)
y - t, (y - t) * y * (1 - y)
"""),
    Example("(8.12), Fig. 8.1", "δ of a hidden unit is the sum over the units that it sends to", "test_8_12_the_error_of_a_hidden_unit_is_the_sum_over_the_units_that_it_sends_to", """\
links = {k: forward(without(*(f"a{j}" for j in SENDERS if j != k)), V, {"a4": 1.0})[f"a{k}"] for k in (5, 6, 8)}
D["a4"], sum(D[f"a{k}"] * links[k] for k in links)
"""),
    Example("(8.13), exercise 8.1", "The backpropagation formula", "test_8_13_and_exercise_8_1_errors_are_backpropagated_from_the_units_higher_up", """\
[D[f"a{j}"] for j in (4, 5, 6)]
[SLOPE[H[j]](V[f"a{j}"]) * sum(w(k, j) * D[f"a{k}"] for k in SENDERS if j in SENDERS[k]) for j in (4, 5, 6)]
"""),
    Example("Algorithm 8.1", "Backpropagation through a network with skip connections, line by line",
            "test_algorithm_8_1_backpropagation_through_a_network_with_skip_connections", """\
delta = {k: V[f"z{k}"] - V[f"t{k}"] for k in (7, 8)}
for j in (6, 5, 4):
    delta[j] = SLOPE[H[j]](V[f"a{j}"]) * sum(w(k, j) * delta[k] for k in SENDERS if j in SENDERS[k])
slopes = {f"w{j}_{i}": delta[j] * V[f"z{i}"] for j in SENDERS for i in SENDERS[j]}
len(slopes), same([D[x] for x in slopes], list(slopes.values()))
""", "The last loop, in which the derivatives are evaluated, runs over the hidden units alone, and so the weights of the output units get "
            "none; meant is (8.10) for all hidden and output units."),
    Example("(8.14)", "The derivative of the total error is the sum over the data points", "test_8_14_the_derivative_of_the_total_error_is_the_sum_over_the_data_points", """\
values = two_layers(5)
points = [eval(TWO, {**values, "X": values["X"][n:n + 1], "T": values["T"][n:n + 1]}) for n in range(5)]
backprop(TWO, eval(TWO, values), E=1.0)["W2"]
same(sum(backprop(TWO, point, E=1.0)["W2"] for point in points), backprop(TWO, eval(TWO, values), E=1.0)["W2"])
"""),
    Example("Exercise 8.2", "In matrix notation errors go back through the transposes",
            "test_exercise_8_2_in_matrix_notation_errors_go_back_through_the_transposes", """\
model = MLP([3, 5, 2], loss="squaredError")
example = model.inputDict(X=np.ones((4, 3), np.float32), y=np.ones((4, 2), np.float32))
print(source(simplify(model.operationSequence(model.loss)), of="loss", wrt=["W1", "W2"], likes=example))
"""),
    Example("(8.15)", "tanh", "test_8_15_and_8_16_the_derivative_of_tanh_is_1_minus_its_square", """\
a = np.array([-2.0, 0.0, 0.5])
ops.G["tanh"](a), (np.exp(a) - np.exp(-a)) / (np.exp(a) + np.exp(-a))
"""),
    Example("(8.16)", "h′(a) = 1 − h(a)²", "test_8_15_and_8_16_the_derivative_of_tanh_is_1_minus_its_square", """\
a = np.array([-2.0, 0.0, 0.5])
backprop([("h", "tanh", ("a",))], {"a": a, "h": np.tanh(a)}, h=1.0)["a"], 1 - np.tanh(a) ** 2
"""),
    Example("(8.16)", "It is found from the value, and not from a second tanh", "test_8_16_the_derivative_of_tanh_is_found_from_its_value_and_not_from_a_second_tanh", """\
gradient([("h", "tanh", ("a",))], "h", ["a"])
"""),
    Example("(8.17)", "The error of one data point", "test_8_17_to_8_20_the_two_layer_network_with_biases_as_weights_of_x0_and_z0", """\
values = eval(TWO, two_layers(1))
values["E"], 1 / 2 * np.sum((values["Y"] - values["T"]) ** 2)
"""),
    Example("(8.18) to (8.20)", "The two-layer network, with biases as weights of x0 = z0 = 1", "test_8_17_to_8_20_the_two_layer_network_with_biases_as_weights_of_x0_and_z0", """\
values = eval(TWO, two_layers(1))
x, w1, w2 = values["X"][0], values["W1"].T, values["W2"].T
z = np.tanh([sum(w1[j, i] * x[i] for i in range(3)) for j in range(3)])
values["Y"][0], w2 @ [1.0, *z]
"""),
    Example("(8.21) to (8.23)", "Its errors and its derivatives", "test_8_21_to_8_23_its_errors_and_its_derivatives", """\
values = eval(TWO, two_layers(1))
d, delta_k, z = backprop(TWO, values, E=1.0), values["Y"][0] - values["T"][0], values["Z"][0]      # (8.21)
delta_j = (1 - z ** 2) * (values["W2"][1:] @ delta_k)                                              # (8.22)
same(d["W1"].T, np.outer(delta_j, values["X"][0])), same(d["W2"].T, np.outer(delta_k, [1, *z]))    # (8.23)
"""),
    # 8.1.4
    Example("(8.24)", "The error of one-sided differences is of order ε", "test_8_24_the_error_of_one_sided_differences_is_of_order_1", """\
errors = difference_errors(listed("E"), "E", "W1", given(), np.logspace(-6, -3, 7))
round(np.polyfit(np.log10(errors.sizes), np.log10(errors.one_sided), 1)[0], 1)
"""),
    Example("(8.25)", "The error of central differences is of order ε²", "test_8_25_the_error_of_central_differences_is_of_order_2", """\
errors = difference_errors(listed("E"), "E", "W1", given(), np.logspace(-4, -2, 7))
round(np.polyfit(np.log10(errors.sizes), np.log10(errors.central), 1)[0], 1)
"""),
    Example("(8.24) and (8.25)", "One evaluation a weight, or two", "test_8_24_takes_one_evaluation_a_weight_beside_that_of_the_error_and_8_25_takes_two", """\
for sides in (1, 2):
    calls = []
    G = {**ops.G, "tanh": lambda a: calls.append(a) or np.tanh(a)}
    check(listed("E"), given(), G, wrt=["W1"], sides=sides)
    print(f"{sides}-sided:", len(calls), "evaluations for 4 weights")
"""),
    Example("Exercise 8.3", "The terms of order ε cancel: the errors are ½ ε E″ and ε² E‴/6", "test_exercise_8_3_the_errors_are_those_of_the_taylor_expansion", """\
E = lambda w: 0.5 * (np.tanh(1.3 * w) + 0.4) ** 2
e, first, second, third = 1e-3, grad(E), grad(grad(E)), grad(grad(grad(E)))
f"{(E(0.7 + e) - E(0.7)) / e - first(0.7):.1e}", f"{e / 2 * second(0.7):.1e}"
f"{(E(0.7 + e) - E(0.7 - e)) / (2 * e) - first(0.7):.1e}", f"{e ** 2 / 6 * third(0.7):.1e}"
"""),
    Example("Fig. 8.2", "The slopes of the two lines are 1 and 2", "test_figure_8_2_the_slopes_of_the_two_lines_are_1_and_2", """\
[round(slope, 1) for slope in difference_errors(listed("E"), "E", "W1", given()).slopes]
"""),
    Example("Fig. 8.2", "The least error of central differences is much smaller", "test_figure_8_2_the_least_error_of_central_differences_is_much_smaller", """\
errors = difference_errors(listed("E"), "E", "W1", given())
errors.central.min() < 0.1 * errors.one_sided.min()
"""),
    Example("Fig. 8.2", "Where rounding takes over, the error grows as ε shrinks", "test_figure_8_2_where_rounding_takes_over_the_line_is_noisy_and_the_error_grows_as_epsilon_shrinks", """\
sizes = np.array([1e-13, 1e-9])
errors = [difference_errors(listed("E"), "E", "W1", given(), sizes, seed=seed).central for seed in range(10)]
small, large = np.sqrt(np.mean(np.square(errors), axis=0))
small > 100 * large
"""),
    Example("§8.1.4", "Central differences catch a backpropagation with a mistake", "test_8_1_4_central_differences_catch_a_backpropagation_with_a_mistake", """\
forgotten_square = {**ops.DG, "tanh": [lambda d, out, a: d * (1 - out)]}
check(listed("E"), given()).ok, check(listed("E"), given(), ops.G, forgotten_square).ok
"""),
    # 8.1.5
    Example("(8.26)", "The Jacobian of the outputs by the inputs", "test_8_26_the_jacobian_is_that_of_the_outputs_by_the_inputs", """\
values = given(rows=1, outputs=2)
Jacobian(listed("A"), "A", ["X"])(values)["X"][0, :, 0, :]
values["W2"].T @ np.diag(1 - np.tanh(values["X"] @ values["W1"])[0] ** 2) @ values["W1"].T
"""),
    Example("(8.27), Fig. 8.3", "The error goes back through a module by its Jacobian", "test_8_27_and_figure_8_3_the_error_goes_back_through_a_module_by_its_jacobian", """\
before, module = [("z", "sin", ("w",))], [("a", "square", ("z",)), ("y", "softmax", ("a",))]
after = [("s", "square", ("y",)), ("E", "sum", ("s",))]
values = eval([*before, *module, *after], {"w": np.array([0.5, 1.0, -0.3])})
J = lambda part, y, x: Jacobian(part, y, [x])(values)[x]
J(after, "E", "y") @ J(module, "y", "z") @ J(before, "z", "w")
backprop([*before, *module, *after], values, E=1.0)["w"]
"""),
    Example("(8.28)", "Errors of the inputs propagate by the Jacobian, up to a remainder of order 2", "test_8_28_errors_of_the_inputs_propagate_by_the_jacobian_up_to_a_remainder_of_order_2", """\
values, dX = given(rows=1), np.array([[1.0, -0.5]])
y = lambda size: eval(listed("Y"), {**values, "X": values["X"] + size * dX})["Y"][0, 0]
J = Jacobian(listed("Y"), "Y", ["X"])
[(y(size) - y(0), J.jv(values, {"X": size * dX})[0, 0]) for size in (0.1, 0.01, 0.001)]
"""),
    Example("(8.28)", "For a linear network there is no remainder", "test_8_28_for_a_linear_network_there_is_no_remainder", """\
values = {"w": np.array([[1.0, 2.0], [3.0, 4.0]]), "x": np.array([5.0, 6.0])}
Jacobian([("y", "dot", ("w", "x"))], "y", ["x"]).jv(values, {"x": np.array([100.0, -7.0])})
values["w"] @ [100.0, -7.0]
"""),
    Example("(8.29)", "J is the sum over the units that an input sends to", "test_8_29_and_8_30_the_rows_of_the_jacobian_are_backpropagated_from_the_output_units", """\
row = backprop(without("E"), V, z7=1.0)      # ∂y/∂a for all units at once
row["z2"], sum(w(j, 2) * row[f"a{j}"] for j in SENDERS if 2 in SENDERS[j] and f"a{j}" in row)
Jacobian(without("E"), "z7", ["z2"])(V)["z2"]
"""),
    Example("(8.30)", "The rows are backpropagated from the output units", "test_8_29_and_8_30_the_rows_of_the_jacobian_are_backpropagated_from_the_output_units", """\
row = backprop(without("E"), V, z7=1.0)
[row[f"a{j}"] for j in (4, 5, 6)]
above = lambda j: sum(w(k, j) * row.get(f"a{k}", 0.0) for k in SENDERS if j in SENDERS[k])
[SLOPE[H[j]](V[f"a{j}"]) * above(j) for j in (4, 5, 6)]
"""),
    Example("(8.31) and (8.32)", "Linear output units start from the identity matrix", "test_8_31_and_8_32_linear_output_units_start_from_the_identity_matrix", """\
Jacobian([("y", "alias", ("a",))], "y", ["a"])({"a": np.array([0.5, -1.0, 0.2])})["a"]
"""),
    Example("(8.33)", "Sigmoid output units start from their slopes on the diagonal", "test_8_33_sigmoid_output_units_start_from_their_slopes_on_the_diagonal", """\
Jacobian([("y", "sigmoid", ("a",))], "y", ["a"])({"a": np.array([0.5, -1.0, 0.2])})["a"]
"""),
    Example("(8.34)", "Softmax output units start from δ_kl y_k − y_k y_l", "test_8_34_softmax_output_units_start_from_delta_kl_y_k_minus_y_k_y_l", """\
a = np.array([0.5, -1.0, 0.2])
y = np.exp(a) / np.exp(a).sum()
Jacobian([("y", "softmax", ("a",))], "y", ["a"])({"a": a})["a"]
np.diag(y) - np.outer(y, y)
"""),
    Example("§8.1.5, exercise 8.5", "The Jacobian forwards instead of backwards", "test_8_29_and_8_30_the_rows_of_the_jacobian_are_backpropagated_from_the_output_units", """\
J = {mode: Jacobian(listed("A"), "A", ["X"], mode)(given(1, 2))["X"] for mode in ("forward", "reverse")}
same(J["forward"], J["reverse"])
"""),
    Example("(8.35)", "Central differences check the Jacobian in 2D forward passes", "test_8_35_central_differences_check_the_jacobian_in_2_d_forward_passes", """\
values, e = given(rows=1, outputs=2), 1e-5
y = lambda x: eval(listed("Y"), {**values, "X": x})["Y"][0]
np.stack([(y(values["X"] + e * i) - y(values["X"] - e * i)) / (2 * e) for i in np.eye(2)], axis=1)
Jacobian(listed("Y"), "Y", ["X"])(values)["X"][0, :, 0, :]
"""),
    # 8.1.6
    Example("(8.36)", "Second derivatives by the weights of linear output units are products of their inputs",
            "test_8_36_the_second_derivatives_by_the_weights_of_a_linear_output_unit_are_products_of_its_inputs", """\
values = given()
Hessian(listed("E"), "E", WEIGHTS).blocks(values)["W2", "W2"][:, 0, :, 0]
(z := np.tanh(values["X"] @ values["W1"])).T @ z
"""),
    Example("(8.36)", "Each is the derivative of a derivative: the gradient of the gradient's list", "test_8_36_each_is_the_derivative_of_a_derivative", """\
twice = gradient(gradient([("h", "tanh", ("w",)), ("E", "square", ("h",))], "E", ["w"]), "dE_dw", ["w"])
eval(twice, {"w": 0.7})["ddE_dw_dw"], grad(grad(lambda w: np.tanh(w) ** 2))(0.7)
"""),
    Example("(8.37)", "The Hessian is a symmetric W × W matrix", "test_8_37_the_hessian_is_a_symmetric_w_by_w_matrix_and_the_jacobian_of_the_gradient", """\
Hessian(listed("E"), "E", WEIGHTS)(given())
"""),
    Example("§8.1.6, exercise 8.6", "The product vᵀH needs no matrix", "test_8_1_6_the_product_of_a_vector_with_the_hessian_needs_no_matrix", """\
values, v = given(), {"W1": np.array([[1.0, 0.0], [0.0, -1.0]]), "W2": np.array([[2.0], [0.5]])}
Hv = Hessian(listed("E"), "E", WEIGHTS).times(values, v)
np.concatenate([Hv["W1"].ravel(), Hv["W2"].ravel()])
[1, 0, 0, -1, 2, 0.5] @ Hessian(listed("E"), "E", WEIGHTS)(values)
"""),
    Example("§8.1.6", "Its work is of order W: operations a weight, for 10, 100 and 1,000 hidden units", "test_8_1_6_its_work_is_of_order_w", """\
for hidden in (10, 100, 1000):
    weights, H = {"W1": np.ones((2, hidden)), "W2": np.ones((hidden, 1))}, Hessian(listed("E"), "E", WEIGHTS)
    values = {"X": np.ones((1, 2)), "T": np.ones((1, 1)), **weights, **{H.dots[x]: weights[x] for x in WEIGHTS}}
    work = cost(H.steps, values=values, measured=False).evaluation.flops
    print(3 * hidden, "weights", round(work / (3 * hidden), 1), "operations each")
"""),
    Example("§8.1.6", "The diagonal leaves significant terms out", "test_8_1_6_the_diagonal_leaves_significant_terms_out", """\
H, diagonal = Hessian(listed("E"), "E", WEIGHTS)(given()), Hessian(listed("E"), "E", WEIGHTS).diagonal(given())
np.concatenate([diagonal["W1"].ravel(), diagonal["W2"].ravel()]), np.diag(H)
np.linalg.norm(H - np.diag(np.diag(H))) / np.linalg.norm(H)
"""),
    Example("(8.38)", "The error of one output over the data points", "test_8_38_the_error_of_one_output_is_half_the_sum_of_squares_over_the_data_points", """\
values = eval(listed("E"), given())
values["E"], 1 / 2 * np.sum((values["A"] - values["T"]) ** 2)
"""),
    Example("(8.39)", "The Hessian is outer products and errors times curvatures", "test_8_39_the_hessian_is_outer_products_and_errors_times_curvatures", """\
values = eval(listed("E"), given())
r = (values["A"] - values["T"])[:, 0]
outer = sum(np.outer(slope, slope) for slope, _ in each("S", values))
rest = sum(r[n] * curvature for n, (_, curvature) in enumerate(each("S", values)))
same(Hessian(listed("E"), "E", WEIGHTS)(values), outer + rest), np.linalg.norm(rest) / np.linalg.norm(outer)
"""),
    Example("(8.39)", "The second term is small where the outputs are close to the targets", "test_8_39_the_second_term_is_small_where_the_outputs_are_close_to_the_targets", """\
values = given()
values["T"] = eval(listed("A"), values)["A"] + 1e-6
outer = outer_products(listed("A"), values, "A", WEIGHTS, "squares")
0 < np.linalg.norm(Hessian(listed("E"), "E", WEIGHTS)(values) - outer) < 1e-5 * np.linalg.norm(outer)
"""),
    Example("(8.39), exercise 8.9", "Errors of mean zero at each input leave the outer products alone", "test_8_39_errors_of_mean_zero_at_each_input_leave_the_outer_products_alone", """\
values, noise = given(), np.array([[0.5], [-1.0], [2.0], [0.1]])
a = eval(listed("A"), values)["A"]
values |= {"X": np.vstack([values["X"]] * 2), "T": np.vstack([a + noise, a - noise])}
same(outer_products(listed("A"), values, "A", WEIGHTS, "squares"), Hessian(listed("E"), "E", WEIGHTS)(values))
"""),
    Example("(8.40)", "Levenberg and Marquardt: outer products of the slopes of the outputs",
            "test_8_40_levenberg_and_marquardt_approximate_by_the_outer_products_of_the_slopes_of_the_outputs", """\
outer = outer_products(listed("A"), given(), "A", WEIGHTS, "squares")
outer
same(outer, sum(np.outer(slope, slope) for slope, _ in each("S", given())))
""", "∇a_n ∇a_nᵀ; meant is the ∇y_n of (8.39). The two are one where the output unit is linear, and only there."),
    Example("(8.40)", "Where the output unit is a sigmoid, ∇a and ∇y are two matrices", "test_8_40_levenberg_and_marquardt_approximate_by_the_outer_products_of_the_slopes_of_the_outputs", """\
values = given()
values["T"] = eval(listed("Y"), values)["Y"]      # without errors the approximation is the Hessian
H = Hessian(listed("E_of_y"), "E_of_y", WEIGHTS)(values)
[same(H, outer_products(listed(y), values, y, WEIGHTS, "squares")) for y in ("Y", "A")]
"""),
    Example("(8.41), exercise 8.10", "For cross-entropy they are weighted by y(1 − y)", "test_8_41_for_cross_entropy_the_outer_products_are_weighted_by_y_times_1_minus_y", """\
y = eval(listed("Y"), given())["Y"][:, 0]
outer = sum(y[n] * (1 - y[n]) * np.outer(slope, slope) for n, (slope, _) in enumerate(each("S", given())))
same(outer_products(listed("A"), given(), "A", WEIGHTS, "logistic"), outer)
"""),
    Example("Exercises 8.11 and 8.12", "For softmax they are weighted by δ_kl y_k − y_k y_l", "test_exercises_8_11_and_8_12_for_softmax_they_are_weighted_by_delta_kl_y_k_minus_y_k_y_l", """\
values = given(rows=2, outputs=3)
outer = outer_products(listed("A"), values, "A", WEIGHTS, "softmax")
e = np.exp(eval(listed("A"), values)["A"])
values["T"] = e / e.sum(1, keepdims=True)      # without errors
same(outer, Hessian(listed("E_softmax"), "E_softmax", WEIGHTS)(values))
"""),
    Example("§8.1.6", "Hassibi and Stork build the inverse one example at a time", "test_8_1_6_hassibi_and_stork_build_the_inverse_one_example_at_a_time", """\
outer = outer_products(listed("A"), given(), "A", WEIGHTS, "squares")
inverse = inverse_outer_products(listed("A"), given(), "A", WEIGHTS, "squares", alpha=0.1)
np.allclose(inverse, np.linalg.inv(0.1 * np.eye(6) + outer))
"""),
    # 8.2
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
    Example("(8.48)", "28 operations as printed, 16 without repetitions; with 16 the list has the value too",
            "test_8_48_is_28_operations_as_printed_and_16_without_repetitions_in_which_the_list_has_the_value_too", """\
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
    Example("§8.2.2", "K outputs take K reverse passes: one gives only their sum", "test_8_2_2_k_outputs_take_k_reverse_passes_and_one_gives_only_their_sum", """\
bars = backprop(BOTH, v, v7=1.0, v8=1.0)
bars["x1"], bars["x2"]
"""),
    Example("§8.2.2, at most 6", "Either mode takes at most 6 times the operations of an elementary function", "test_8_2_2_either_mode_takes_at_most_6_times_the_operations_of_an_elementary_function", """\
for op in ("add", "mul", "divide", "exp", "log", "sin", "sqrt", "tanh"):
    args = ("u", "w") if op in ("add", "mul", "divide") else ("u",)
    print(op, cost([("y", op, args)], values={"u": 0.7, "w": 1.3}, measured=False).ratios)
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
    Example("§8.2.2, Pearlmutter", "For a quadratic form it is the symmetric part of its matrix times the vector",
            "test_8_2_2_for_a_quadratic_form_it_is_the_symmetric_part_of_its_matrix_times_the_vector", """\
A, x, v = np.array([[1.0, 2.0], [-1.0, 3.0]]), np.array([0.5, 0.2]), np.array([1.0, -1.0])
hvp(lambda x: 0.5 * x @ A @ x, (x,), (v,)), (A + A.T) / 2 @ v
"""),
]
