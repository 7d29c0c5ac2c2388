"""Bishop, Deep Learning, §8.1.6, (8.36) to (8.41), example by example: the Hessian and its approximations."""

import numpy as np
import pytest

from xman import Hessian, XMan, backprop, becker_lecun, diagonals, eval, f, gradient, inverse_outer_products, outer_products
from xman.matrices import GaussNewton, packed, unpacked


def same(found, right):
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-13)


WEIGHTS = ["W1", "W2"]


class Network(XMan):
    """Scores A (n, k) of rows X, and errors of them for targets T; S and V single out scores and outputs by C."""
    X, T, C = f.input(), f.input(), f.input()
    W1, W2 = f.param(), f.param()
    Z = f.tanh(X @ W1)
    A = Z @ W2
    Y = f.sigmoid(A)
    S, V = f.sum(C * A), f.sum(C * Y)
    E_squares = f.half(f.sum(f.square(A - T)))
    E_squares_of_sigmoid = f.half(f.sum(f.square(Y - T)))
    E_logistic = f.sum(f.sigmoidCrossEntropy(A, T))
    E_softmax = f.sum(f.softmaxCrossEntropy(A, T))


def network(rows=5, inputs=3, hidden=4, outputs=1, seed=84):
    """The inputs of the network, at random."""
    random, m = np.random.default_rng(seed), Network().setup()
    return m.inputDict(X=random.normal(size=(rows, inputs)), T=random.dirichlet(np.ones(outputs + 1), rows)[:, 1:],
                       W1=random.normal(size=(inputs, hidden)), W2=random.normal(size=(hidden, outputs)))


def listed(of):
    return Network().setup().operationSequence(getattr(Network, of))


def hessian(of, values):
    return Hessian(listed(of), of, WEIGHTS)(values)


def test_8_36_the_second_derivatives_by_the_weights_of_a_linear_output_unit_are_products_of_its_inputs():
    values = network(outputs=2)
    z = np.tanh(values["X"] @ values["W1"])
    block = Hessian(listed("E_squares"), "E_squares", WEIGHTS).blocks(values)["W2", "W2"]
    same(block, np.einsum("nj,nl,kp->jklp", z, z, np.eye(2)))


def test_8_36_each_is_the_derivative_of_a_derivative():
    twice = gradient(gradient(listed("E_squares"), "E_squares", WEIGHTS), "dE_squares_dW1", WEIGHTS)
    values, H = network(), Hessian(listed("E_squares"), "E_squares", WEIGHTS)
    found = eval(twice, values)  # the sums over the elements of dE/dW1
    for w in WEIGHTS:
        same(found[f"ddE_squares_dW1_d{w}"], H.blocks(values)["W1", w].sum(axis=(0, 1)))


def test_8_37_the_hessian_is_a_symmetric_w_by_w_matrix_and_the_jacobian_of_the_gradient():
    values, epsilon = network(), 1e-5
    H, w = hessian("E_squares", values), packed(values, WEIGHTS)

    def slopes(w):
        here = eval(listed("E_squares"), {**values, **unpacked(w, values, WEIGHTS)})
        return packed(backprop(listed("E_squares"), here, E_squares=1.0), WEIGHTS)
    quotients = [(slopes(w + epsilon * e) - slopes(w - epsilon * e)) / (2 * epsilon) for e in np.eye(16)]
    assert H.shape == (16, 16)
    same(H, H.T)
    np.testing.assert_allclose(H, quotients, rtol=1e-7, atol=1e-8)


def test_8_1_6_the_product_of_a_vector_with_the_hessian_needs_no_matrix():
    values, v = network(), np.random.default_rng(37).normal(size=16)
    product = Hessian(listed("E_squares"), "E_squares", WEIGHTS).times(values, unpacked(v, values, WEIGHTS))
    same(packed(product, WEIGHTS), v @ hessian("E_squares", values))


def touched(hidden):
    """How many numbers the lines of one product with the Hessian read and write, for each of the weights."""
    values, H = network(rows=1, hidden=hidden), Hessian(listed("E_squares"), "E_squares", WEIGHTS)
    found = eval(H.steps, {**values, **{H.dots[x]: values[x] for x in WEIGHTS}})
    names = [name for dst, _, args in H.steps for name in (dst, *(a for a in args if isinstance(a, str)))]
    return sum(np.size(found[name]) for name in names) / sum(values[x].size for x in WEIGHTS)


def test_8_1_6_its_work_is_of_order_w():
    assert touched(1000) < touched(100) < touched(10) < 100


class Counted(np.ndarray):
    """Counts the entries that NumPy computes with."""
    made = 0

    def __array_ufunc__(self, ufunc, method, *args, **options):
        plain = [np.asarray(a) if isinstance(a, Counted) else a for a in args]
        out = getattr(ufunc, method)(*plain, **options)
        Counted.made += 2 * plain[0].shape[-1] * np.size(out) if ufunc is np.matmul else max(map(np.size, (out, *plain)))
        return out.view(Counted) if isinstance(out, np.ndarray) else out


def growth(of):
    """The slope of log operations on log weights, of one data point."""
    found = []
    for hidden in (20, 40, 80):
        values, Counted.made = network(rows=1, hidden=hidden), 0
        of(Hessian(listed("E_squares"), "E_squares", WEIGHTS), {name: x.view(Counted) for name, x in values.items()})
        found.append((sum(values[x].size for x in WEIGHTS), Counted.made))
    return np.polyfit(*np.log(found).T, 1)[0]


def test_8_1_6_the_exact_hessian_is_of_order_w_squared_for_each_point_and_a_product_with_it_of_order_w():
    assert growth(lambda H, values: H(values)) == pytest.approx(2, abs=0.05)
    assert growth(lambda H, values: H.diagonal(values)) == pytest.approx(2, abs=0.05)
    assert growth(lambda H, values: H.times(values, {"W1": values["W1"]})) == pytest.approx(1, abs=0.05)


def test_8_1_6_the_diagonal_of_becker_and_lecun_is_of_order_w():
    assert growth(lambda _, values: becker_lecun(listed("E_squares"), "E_squares", WEIGHTS, values)) == pytest.approx(1, abs=0.05)


def test_8_1_6_the_diagonal_of_becker_and_lecun_is_exact_where_no_two_units_meet_again_and_not_elsewhere():
    """∂²E/∂a² = h'² Σ w² ∂²E/∂a² + h'' Σ w ∂E/∂a: of two layers and squares nothing is left out, of a softmax something is."""
    values = network(outputs=3)
    squares, softmax = (diagonals(listed(of), of, WEIGHTS, values) for of in ("E_squares", "E_softmax"))
    for w in WEIGHTS:
        same(squares.approximate[w], squares.exact[w])
    same(softmax.approximate["W2"], softmax.exact["W2"])
    assert np.linalg.norm(softmax.difference["W1"]) > 0.05 * np.linalg.norm(softmax.exact["W1"])


def test_8_1_6_the_diagonal_leaves_significant_terms_out():
    values = network()
    H, diagonal = hessian("E_squares", values), Hessian(listed("E_squares"), "E_squares", WEIGHTS).diagonal(values)
    same(packed(diagonal, WEIGHTS), np.diag(H))
    assert np.linalg.norm(H - np.diag(np.diag(H))) > 0.5 * np.linalg.norm(H)


def slopes_and_curvatures(values, of="S"):
    """∇a and ∇∇a for each row n and score k, arrays (n, k, W) and (n, k, W, W); of="V": those of y."""
    steps, shape = listed(of), (len(values["X"]), values["W2"].shape[1])
    each = [{**values, "C": C} for C in np.eye(np.prod(shape)).reshape(-1, *shape)]  # singles out one row and one score
    slopes = [packed(backprop(steps, eval(steps, v), **{of: 1.0}), WEIGHTS) for v in each]
    curvatures = [Hessian(steps, of, WEIGHTS)(v) for v in each]
    return np.reshape(slopes, (*shape, -1)), np.reshape(curvatures, (*shape, *np.shape(curvatures)[1:]))


def test_8_38_the_error_of_one_output_is_half_the_sum_of_squares_over_the_data_points():
    values = eval(listed("E_squares"), network())
    same(values["E_squares"], 1 / 2 * sum((values["A"][n, 0] - values["T"][n, 0]) ** 2 for n in range(5)))


@pytest.mark.parametrize("of, error", [("S", "E_squares"), ("V", "E_squares_of_sigmoid")])
def test_8_39_the_hessian_is_outer_products_and_errors_times_curvatures(of, error):
    values = network()
    y = eval(listed(of), {**values, "C": 1.0})["A" if of == "S" else "Y"][:, 0]
    slopes, curvatures = (array[:, 0] for array in slopes_and_curvatures(values, of))
    outer = sum(np.outer(slope, slope) for slope in slopes)
    rest = sum((y[n] - values["T"][n, 0]) * curvatures[n] for n in range(5))
    assert np.linalg.norm(rest) > 0.05 * np.linalg.norm(outer)  # in general it is not negligible
    same(hessian(error, values), outer + rest)


def test_8_39_the_second_term_is_small_where_the_outputs_are_close_to_the_targets():
    values = network()
    values["T"] = eval(listed("A"), values)["A"] + 1e-6
    outer = outer_products(listed("A"), "A", WEIGHTS, values, "squares")
    assert 0 < np.linalg.norm(hessian("E_squares", values) - outer) < 1e-5 * np.linalg.norm(outer)


def test_8_39_errors_of_mean_zero_at_each_input_leave_the_outer_products_alone():
    values, noise = network(), np.random.default_rng(39).normal(size=(5, 1))
    a = eval(listed("A"), values)["A"]
    values |= {"X": np.vstack([values["X"]] * 2), "T": np.vstack([a + noise, a - noise])}
    same(outer_products(listed("A"), "A", WEIGHTS, values, "squares"), hessian("E_squares", values))


def test_8_40_levenberg_and_marquardt_approximate_by_the_outer_products_of_the_slopes_of_the_outputs():
    """The book prints ∇a_n; meant is the ∇y_n of (8.39). The two are one where the output unit is linear, and only there."""
    values = network()
    of_a, of_y = (sum(np.outer(slope, slope) for slope in slopes_and_curvatures(values, of)[0][:, 0]) for of in "SV")
    same(outer_products(listed("A"), "A", WEIGHTS, values, "squares"), of_a)
    same(outer_products(listed("Y"), "Y", WEIGHTS, values, "squares"), of_y)
    values["T"] = eval(listed("Y"), values)["Y"]  # without errors the approximation is the Hessian
    same(hessian("E_squares_of_sigmoid", values), of_y)
    assert np.linalg.norm(of_a - of_y) > np.linalg.norm(of_y)


def test_exercise_8_8_of_several_outputs_8_40_is_the_sum_over_data_points_and_outputs():
    """E = ½ Σ_n Σ_k (y_nk − t_nk)²: H = Σ_n Σ_k ∇y_nk ∇y_nkᵀ + Σ_n Σ_k (y_nk − t_nk) ∇∇y_nk, whose first part (8.40) keeps."""
    values = network(outputs=3)
    here = eval(listed("A"), values)
    same(eval(listed("E_squares"), values)["E_squares"], 1 / 2 * sum(
        (here["A"][n, k] - values["T"][n, k]) ** 2 for n in range(5) for k in range(3)))
    slopes, curvatures = slopes_and_curvatures(values)
    outer = sum(np.outer(slopes[n, k], slopes[n, k]) for n in range(5) for k in range(3))
    rest = sum((here["A"][n, k] - values["T"][n, k]) * curvatures[n, k] for n in range(5) for k in range(3))
    same(outer_products(listed("A"), "A", WEIGHTS, values, "squares"), outer)
    same(hessian("E_squares", values), outer + rest)
    same(hessian("E_squares", {**values, "T": here["A"]}), outer)  # where the network fits its data


def test_exercise_8_8_it_is_the_product_of_a_matrix_of_all_slopes_with_its_transpose():
    """A column for each data point and output, (W, N K): H ≃ B Bᵀ; and without the matrix, a product with it is B (Bᵀ v)."""
    values, v = network(outputs=3), np.random.default_rng(88).normal(size=24)
    B = slopes_and_curvatures(values)[0].reshape(15, -1).T
    same(outer_products(listed("A"), "A", WEIGHTS, values, "squares"), B @ B.T)
    product = GaussNewton(listed("E_squares"), "E_squares", WEIGHTS).times(values, unpacked(v, values, WEIGHTS))
    same(packed(product, WEIGHTS), B @ (B.T @ v))


def test_exercise_8_8_of_logistic_outputs_8_41_is_the_sum_over_outputs_too():
    values = network(outputs=3)
    slopes, curvatures = slopes_and_curvatures(values)
    y = eval(listed("Y"), values)["Y"]
    outer = np.einsum("nk,nki,nkj->ij", y * (1 - y), slopes, slopes)
    same(outer_products(listed("A"), "A", WEIGHTS, values, "logistic"), outer)
    same(hessian("E_logistic", values), outer + np.einsum("nk,nkij->ij", y - values["T"], curvatures))


def test_8_41_for_cross_entropy_the_outer_products_are_weighted_by_y_times_1_minus_y():
    values = network()
    slopes, curvatures = (array[:, 0] for array in slopes_and_curvatures(values))
    y = eval(listed("Y"), values)["Y"][:, 0]
    outer = sum(y[n] * (1 - y[n]) * np.outer(slopes[n], slopes[n]) for n in range(5))
    same(outer_products(listed("A"), "A", WEIGHTS, values, "logistic"), outer)
    same(hessian("E_logistic", values), outer + sum((y[n] - values["T"][n, 0]) * curvatures[n] for n in range(5)))


def test_exercises_8_11_and_8_12_for_softmax_they_are_weighted_by_delta_kl_y_k_minus_y_k_y_l():
    values = network(outputs=3)
    values["T"] = values["T"] / values["T"].sum(1, keepdims=True)
    slopes, curvatures = slopes_and_curvatures(values)
    y = np.exp(eval(listed("A"), values)["A"])
    y /= y.sum(1, keepdims=True)
    outer = sum(((k == l) * y[n, k] - y[n, k] * y[n, l]) * np.outer(slopes[n, k], slopes[n, l])
                for n in range(5) for k in range(3) for l in range(3))
    same(outer_products(listed("A"), "A", WEIGHTS, values, "softmax"), outer)
    same(hessian("E_softmax", values), outer + np.einsum("nk,nkij->ij", y - values["T"], curvatures))


@pytest.mark.parametrize("error, outputs", [("squares", 1), ("logistic", 1), ("softmax", 3)])
def test_8_1_6_hassibi_and_stork_build_the_inverse_one_example_at_a_time(error, outputs):
    values = network(outputs=outputs)
    for rows in range(1, 6):
        some = {**values, "X": values["X"][:rows], "T": values["T"][:rows]}
        outer = outer_products(listed("A"), "A", WEIGHTS, some, error)
        inverse = inverse_outer_products(listed("A"), "A", WEIGHTS, some, error, alpha=0.1)
        np.testing.assert_allclose(inverse, np.linalg.inv(0.1 * np.eye(len(outer)) + outer), rtol=1e-9, atol=1e-11)
