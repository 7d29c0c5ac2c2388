"""Bishop, §8.1.6: the Hessian and its approximations."""

from . import Example

EXAMPLES = [
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
    Example("§8.1.6", "The exact Hessian is of order W² for each data point, and a product with it of order W",
            "test_8_1_6_the_exact_hessian_is_of_order_w_squared_for_each_point_and_a_product_with_it_of_order_w", """\
H = Hessian(listed("E"), "E", WEIGHTS)
X, T = np.ones((1, 2)), np.zeros((1, 1))
for hidden in (10, 20, 40, 80):
    values = {"W1": np.ones((2, hidden)), "W2": np.ones((hidden, 1)), "X": X, "T": T}
    W, matrix, diagonal = 3 * hidden, operations(H, values), operations(H.diagonal, values)
    product = operations(lambda given: H.times(given, {"W1": values["W1"]}), values)
    print(f"W = {W}: H {matrix / W**2:.1f} W², diagonal {diagonal / W**2:.1f} W², H v {product / W:.1f} W")
"""),
    Example("§8.1.6", "The diagonal of Becker and LeCun is exact where no two units meet again, and not elsewhere",
            "test_8_1_6_the_diagonal_of_becker_and_lecun_is_exact_where_no_two_units_meet_again_and_not_elsewhere", """\
values = given(outputs=3)
squares, softmax = (diagonals(listed(E), E, WEIGHTS, values) for E in ("E", "E_softmax"))
[same(squares.approximate[w], squares.exact[w]) for w in WEIGHTS]
[same(softmax.approximate[w], softmax.exact[w]) for w in WEIGHTS]
softmax.exact["W1"], softmax.approximate["W1"], softmax.difference["W1"]
"""),
    Example("§8.1.6", "The diagonal of Becker and LeCun is of order W for each data point",
            "test_8_1_6_the_diagonal_of_becker_and_lecun_is_of_order_w", """\
X, T = np.ones((1, 2)), np.zeros((1, 1))
for hidden in (10, 20, 40, 80):
    values = {"W1": np.ones((2, hidden)), "W2": np.ones((hidden, 1)), "X": X, "T": T}
    made = operations(lambda given: becker_lecun(listed("E"), "E", WEIGHTS, given), values)
    print(f"W = {3 * hidden}: {made / (3 * hidden):.1f} W")
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
outer = outer_products(listed("A"), "A", WEIGHTS, values, "squares")
0 < np.linalg.norm(Hessian(listed("E"), "E", WEIGHTS)(values) - outer) < 1e-5 * np.linalg.norm(outer)
"""),
    Example("(8.39), exercise 8.9", "Errors of mean zero at each input leave the outer products alone", "test_8_39_errors_of_mean_zero_at_each_input_leave_the_outer_products_alone", """\
values, noise = given(), np.array([[0.5], [-1.0], [2.0], [0.1]])
a = eval(listed("A"), values)["A"]
values |= {"X": np.vstack([values["X"]] * 2), "T": np.vstack([a + noise, a - noise])}
same(outer_products(listed("A"), "A", WEIGHTS, values, "squares"), Hessian(listed("E"), "E", WEIGHTS)(values))
"""),
    Example("(8.40)", "Levenberg and Marquardt: outer products of the slopes of the outputs",
            "test_8_40_levenberg_and_marquardt_approximate_by_the_outer_products_of_the_slopes_of_the_outputs", """\
outer = outer_products(listed("A"), "A", WEIGHTS, given(), "squares")
outer
same(outer, sum(np.outer(slope, slope) for slope, _ in each("S", given())))
""", "∇a_n ∇a_nᵀ; meant is the ∇y_n of (8.39). The two are one where the output unit is linear, and only there."),
    Example("(8.40)", "Where the output unit is a sigmoid, ∇a and ∇y are two matrices", "test_8_40_levenberg_and_marquardt_approximate_by_the_outer_products_of_the_slopes_of_the_outputs", """\
values = given()
values["T"] = eval(listed("Y"), values)["Y"]      # without errors the approximation is the Hessian
H = Hessian(listed("E_of_y"), "E_of_y", WEIGHTS)(values)
[same(H, outer_products(listed(y), y, WEIGHTS, values, "squares")) for y in ("Y", "A")]
"""),
    Example("Exercise 8.8", "Of several outputs (8.40) is the sum over data points and outputs",
            "test_exercise_8_8_of_several_outputs_8_40_is_the_sum_over_data_points_and_outputs", """\
values = eval(listed("E"), given(outputs=3))
r, found = (values["A"] - values["T"]).ravel(), [*each("S", values)]      # n and k in one index
outer = sum(np.outer(slope, slope) for slope, _ in found)
same(outer_products(listed("A"), "A", WEIGHTS, values, "squares"), outer)
rest = sum(e * curvature for e, (_, curvature) in zip(r, found))
same(Hessian(listed("E"), "E", WEIGHTS)(values), outer + rest), np.linalg.norm(rest) / np.linalg.norm(outer)
"""),
    Example("Exercise 8.8", "It is the product of a matrix of all slopes with its transpose: a column for each data point and output",
            "test_exercise_8_8_it_is_the_product_of_a_matrix_of_all_slopes_with_its_transpose", """\
values, v = given(outputs=3), {"W1": np.array([[1.0, 0.0], [0.0, -1.0]]), "W2": np.ones((2, 3))}
B = np.stack([slope for slope, _ in each("S", values)], axis=1)
B.shape, same(outer_products(listed("A"), "A", WEIGHTS, values, "squares"), B @ B.T)
Gv = GaussNewton(listed("E"), "E", WEIGHTS).times(values, v)      # and without the matrix
np.concatenate([Gv[w].ravel() for w in WEIGHTS])
B @ (B.T @ np.concatenate([v[w].ravel() for w in WEIGHTS]))
"""),
    Example("Exercise 8.8", "Of logistic outputs (8.41) is the sum over outputs too", "test_exercise_8_8_of_logistic_outputs_8_41_is_the_sum_over_outputs_too", """\
values = given(outputs=3)
y, found = eval(listed("Y"), values)["Y"].ravel(), [*each("S", values)]
outer = sum(p * (1 - p) * np.outer(slope, slope) for p, (slope, _) in zip(y, found))
rest = sum(e * curvature for e, (_, curvature) in zip(y - values["T"].ravel(), found))
same(outer_products(listed("A"), "A", WEIGHTS, values, "logistic"), outer)
same(Hessian(listed("E_logistic"), "E_logistic", WEIGHTS)(values), outer + rest)
"""),
    Example("(8.41), exercise 8.10", "For cross-entropy they are weighted by y(1 − y)", "test_8_41_for_cross_entropy_the_outer_products_are_weighted_by_y_times_1_minus_y", """\
y = eval(listed("Y"), given())["Y"][:, 0]
outer = sum(y[n] * (1 - y[n]) * np.outer(slope, slope) for n, (slope, _) in enumerate(each("S", given())))
same(outer_products(listed("A"), "A", WEIGHTS, given(), "logistic"), outer)
"""),
    Example("Exercises 8.11 and 8.12", "For softmax they are weighted by δ_kl y_k − y_k y_l", "test_exercises_8_11_and_8_12_for_softmax_they_are_weighted_by_delta_kl_y_k_minus_y_k_y_l", """\
values = given(rows=2, outputs=3)
outer = outer_products(listed("A"), "A", WEIGHTS, values, "softmax")
e = np.exp(eval(listed("A"), values)["A"])
values["T"] = e / e.sum(1, keepdims=True)      # without errors
same(outer, Hessian(listed("E_softmax"), "E_softmax", WEIGHTS)(values))
"""),
    Example("§8.1.6", "Hassibi and Stork build the inverse one example at a time", "test_8_1_6_hassibi_and_stork_build_the_inverse_one_example_at_a_time", """\
outer = outer_products(listed("A"), "A", WEIGHTS, given(), "squares")
inverse = inverse_outer_products(listed("A"), "A", WEIGHTS, given(), "squares", alpha=0.1)
np.allclose(inverse, np.linalg.inv(0.1 * np.eye(6) + outer))
"""),
]
