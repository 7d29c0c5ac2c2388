"""Bishop, §8.1.1 to §8.1.5: evaluation of gradients."""

from . import Example

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
]
