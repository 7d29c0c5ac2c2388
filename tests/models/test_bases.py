"""Facts about adaptive basis function regression: the page of Adams' notes by hand, what it learns, its picture, its errors."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from xman import XManError, backprop, check, eval, load
from xman.models import AdaptiveBasis
from xman.train import fit, predict
from xman.train.plot import basis_curve

KINDS = {"polynomial": ["exponents"], "rbf": ["centers", "scales"], "tanh": ["scales", "locations"]}
each_kind = pytest.mark.parametrize("kind", KINDS)
RANDOM = np.random.default_rng(0)
X = np.linspace(0.1, 2 * np.pi, 60) / np.pi  # in half waves
Y = np.sin(np.pi * X) + 0.1 * RANDOM.standard_normal(60)


def basis(kind, functions=3, dtype=np.float64, seed=1):
    return AdaptiveBasis(kind, functions, low=0.0, high=2.0, seed=seed, dtype=dtype)


def refusal(call, *args, **named):
    """The message of the XManError that the call raises: one line."""
    with pytest.raises(XManError) as caught:
        call(*args, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# the notes by hand


def by_hand(kind, v):
    """Φ_θ(x_n), row n, and for each register of θ the entries ∂φ_k/∂θ_k of its Jacobian; all others are 0."""
    x = X[:, None]
    if kind == "polynomial":
        phi = x ** v["exponents"]
        return phi, {"exponents": phi * np.log(x)}
    if kind == "rbf":
        e, s = x - v["centers"], v["scales"]
        phi = np.exp(-e ** 2 / s)
        return phi, {"centers": phi * 2 * e / s, "scales": phi * e ** 2 / s ** 2}
    phi = np.tanh(x * v["scales"] + v["locations"])
    return phi, {"scales": (1 - phi ** 2) * x, "locations": 1 - phi ** 2}


def gradients(kind, v):
    """The sums over n of equations 13 to 15."""
    phi, jacobians = by_hand(kind, v)
    r = phi @ v["w"] + v["b"] - Y[:, None]
    return {"w": phi.T @ r, "b": r.sum(0, keepdims=True), **{name: (J * v["w"].T * r).sum(0, keepdims=True)
                                                             for name, J in jacobians.items()}}


def run(model):
    steps = model.operationSequence(model.loss)
    return steps, eval(steps, model.inputDict(**model.feed(X, Y)))


@each_kind
def test_the_outputs_are_equation_1_and_the_loss_is_equation_4(kind):
    _, values = run(basis(kind))
    phi, _ = by_hand(kind, values)
    outputs = phi @ values["w"] + values["b"]
    np.testing.assert_allclose(values["outputs"], outputs, rtol=1e-12)
    assert values["loss"] == pytest.approx(0.5 * np.sum((outputs[:, 0] - Y) ** 2), rel=1e-12)


@each_kind
def test_the_deltas_are_equation_13_and_the_sums_of_14_and_15(kind):
    steps, values = run(basis(kind))
    deltas, expected = backprop(steps, values, loss=1.0), gradients(kind, values)
    assert {"w", "b", *KINDS[kind]} == expected.keys()
    for name, d in expected.items():
        np.testing.assert_allclose(deltas[name], d, rtol=1e-12, err_msg=name)


@each_kind
def test_the_first_step_of_fit_is_equations_14_to_16_with_a_rate_for_each_parameter(kind):
    model = basis(kind)
    _, values = run(model)
    rates = {name: 1e-3 / k for k, name in enumerate(["w", "b", *KINDS[kind]], 1)}
    moved = fit(model, (X, Y), lr=rates, epochs=1, batch_size=len(X), progress=False).parameters
    for name, d in gradients(kind, values).items():
        np.testing.assert_allclose(moved[name], values[name] - rates[name] * d, rtol=1e-12, err_msg=name)


@each_kind
def test_the_gradient_is_that_of_central_differences(kind):
    steps, values = run(basis(kind))
    report = check(steps, values)
    assert report.ok, str(report)
    assert {"w", "b", *KINDS[kind]} <= {entry.register for entry in report.entries}


def test_the_list_of_an_rbf_reads_like_the_notes():
    model = basis("rbf")
    assert repr(model.operationSequence(model.loss)) == (
        "z1 = subtract(X, centers)\nz2 = square(z1)\nz3 = negative(z2)\nz4 = divide(z3, scales)\nbasis = exp(z4)\n"
        "z5 = dot(basis, w)\noutputs = add(z5, b)\nz6 = subtract(outputs, y)\nz7 = square(z6)\nz8 = sum(z7)\nloss = half(z8)")


# where θ begins


def test_exponents_begin_as_1_2_3():
    assert basis("polynomial").inputDict()["exponents"].tolist() == [[1, 2, 3]]


def test_centers_begin_in_the_middles_of_cells_and_scales_as_the_square_of_their_width():
    v = basis("rbf", 4).inputDict()
    assert v["centers"].tolist() == [[0.25, 0.75, 1.25, 1.75]] and v["scales"].tolist() == [[0.25] * 4]


def test_each_tanh_begins_0_in_the_middle_of_its_cell_and_rises_by_1_over_its_width():
    v = basis("tanh", 4).inputDict()
    assert (-v["locations"] / v["scales"]).tolist() == [[0.25, 0.75, 1.25, 1.75]] and v["scales"].tolist() == [[2] * 4]


@each_kind
def test_a_seed_reproduces_w_and_b_and_another_gives_others_with_the_same_theta(kind):
    first, same, other = (basis(kind, seed=seed).inputDict() for seed in (3, 3, 4))
    assert all(np.array_equal(first[name], same[name]) for name in first)
    assert [name for name in first if np.array_equal(first[name], other[name])] == KINDS[kind]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@each_kind
def test_values_and_deltas_have_the_precision_of_the_parameters(kind, dtype):
    model = basis(kind, dtype=dtype)
    steps = model.operationSequence(model.loss)
    values = eval(steps, model.inputDict(**model.feed(X.astype(dtype), Y.astype(dtype))))
    assert {x.dtype for x in (*values.values(), *backprop(steps, values, loss=1.0).values())} == {np.dtype(dtype)}


# what it learns


@pytest.fixture(scope="module")
def trained():
    """For each kind two functions fitted to the noisy sine: (model, result)."""
    models = {kind: basis(kind, functions=2) for kind in KINDS}
    return {kind: (model, fit(model, (X, Y), optimizer="adam", epochs=1500, batch_size=len(X), progress=False,
                              lr={"w": 0.1, "b": 0.1, **dict.fromkeys(KINDS[kind], 0.03)}))
            for kind, model in models.items()}


def loss_at_best(columns):
    """The least ½ Σ (f(x_n) − y_n)² of any weights of the columns and any bias."""
    A = np.column_stack([*columns, np.ones(len(X))])
    return 0.5 * np.sum((A @ np.linalg.lstsq(A, Y, rcond=None)[0] - Y) ** 2)


# measured: 1.63, 0.287 and 0.239; the sine itself, without the noise, has 0.243, the best constant 13.9
@pytest.mark.parametrize("kind, loss, fixed", [("polynomial", 2.0, 5.3), ("rbf", 0.35, 2.6), ("tanh", 0.35, 4.8)])
def test_two_learnt_functions_fit_a_noisy_sine_far_better_than_any_w_and_b_of_fixed_ones(trained, kind, loss, fixed):
    model, result = trained[kind]
    outputs = predict(model, result.parameters, X)[:, 0]
    assert 0.5 * np.sum((outputs - Y) ** 2) < loss
    assert fixed < loss_at_best(by_hand(kind, model.inputDict())[0].T) < loss_at_best([])


def test_numbers_are_fed_and_predicted_as_columns():
    model = basis("rbf")
    flat, column = (predict(model, model.inputDict(), x) for x in (X, X[:, None]))
    assert flat.shape == (60, 1) and np.array_equal(flat, column)


# of several columns

TWO = np.column_stack([np.linspace(0.2, 2, 40), np.random.default_rng(1).uniform(1, 30, 40)])
RANGE = {"columns": 2, "low": [0.0, 1.0], "high": [2.0, 30.0]}
FORMULAS = {"polynomial": lambda v, x, k: np.prod(x ** v["exponents"][:, k]),
            "rbf": lambda v, x, k: np.exp(-np.sum((x - v["centers"][:, k]) ** 2 / v["scales"][:, k])),
            "tanh": lambda v, x, k: np.tanh(x @ v["scales"][:, k] + v["locations"][0, k])}


@each_kind
def test_of_two_columns_the_functions_are_those_of_the_docstring_and_their_gradient_is_checked(kind):
    model = AdaptiveBasis(kind, 5, **RANGE, dtype=np.float64)
    y = np.sin(TWO[:, 0]) + TWO[:, 1] / 30
    steps = model.operationSequence(model.loss)
    v = eval(steps, model.inputDict(**model.feed(TWO, y)))
    np.testing.assert_allclose(v["basis"], [[FORMULAS[kind](v, x, k) for k in range(5)] for x in TWO], rtol=1e-12)
    assert v["loss"] == pytest.approx(0.5 * np.sum((v["basis"] @ v["w"] + v["b"] - y[:, None]) ** 2), rel=1e-12)
    assert check(steps, v | {"X": TWO[:6], "y": y[:6, None]}, wrt=["w", "b", *KINDS[kind]]).ok


@each_kind
def test_one_column_is_a_row_of_one_whatever_it_is_written_as(kind):
    one, many = (AdaptiveBasis(kind, 3, high=2.0, columns=1).inputDict(), AdaptiveBasis(kind, 3, low=[0], high=[2.0]).inputDict())
    assert all(np.array_equal(one[name], many[name]) for name in one)


def test_exponents_of_two_columns_begin_as_the_monomials_by_degree():
    exponents = AdaptiveBasis("polynomial", 5, columns=2).inputDict()["exponents"]
    assert exponents.T.tolist() == [[1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]


def test_each_column_has_a_center_in_every_cell_and_scales_are_widths_squared_times_the_columns():
    v = AdaptiveBasis("rbf", 4, **RANGE, dtype=np.float64).inputDict()
    assert np.sort(v["centers"]).tolist() == [[0.25, 0.75, 1.25, 1.75], [4.625, 11.875, 19.125, 26.375]]
    np.testing.assert_allclose(v["scales"], np.broadcast_to([[2 * 1.0 ** 2], [2 * 14.5 ** 2]], (2, 4)), rtol=1e-12)


def test_each_tanh_is_0_in_a_cells_middle_and_rises_by_1_over_the_widths():
    v = AdaptiveBasis("tanh", 4, **RANGE, dtype=np.float64, seed=2).inputDict()
    middles = AdaptiveBasis("rbf", 4, **RANGE, dtype=np.float64, seed=2).inputDict()["centers"]
    np.testing.assert_allclose(np.sum(middles * v["scales"], 0) + v["locations"][0], 0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(v["scales"] * [[1.0], [14.5]], axis=0), 1, rtol=1e-12)


def test_functions_of_two_columns_learn_what_no_plane_is():
    y = np.sin(2 * TWO[:, 0]) * TWO[:, 1] / 30
    model = AdaptiveBasis("tanh", 6, **RANGE)
    fitted = fit(model, (TWO, y), optimizer="adam", lr=0.02, epochs=600, batch_size=len(y), progress=False).parameters
    plane = np.column_stack([TWO, np.ones(len(y))])
    off = lambda outputs: np.mean((outputs - y) ** 2)
    assert off(predict(model, fitted, TWO)[:, 0]) < 0.05 * off(plane @ np.linalg.lstsq(plane, y, rcond=None)[0])


def test_a_sparse_matrix_is_fed_as_the_array_that_it_is():
    model = AdaptiveBasis("tanh", 3, columns=2)
    assert np.array_equal(model.feed(csr_matrix(TWO), None)["X"], TWO)


@pytest.mark.parametrize("X", [np.ones(4), np.ones((4, 1)), np.ones((4, 3)), np.ones((4, 2, 1)), np.ones((2, 4)), 1.0])
def test_rows_of_another_width_are_refused(X):
    assert f"X is (n, 2), not of shape {np.shape(X)}" in refusal(AdaptiveBasis("rbf", 3, columns=2).feed, X, None)


@pytest.mark.parametrize("columns", [0, -2, 1.5, "2"])
def test_columns_that_are_no_number_of_them_are_refused(columns):
    assert "the columns of a basis are a whole number, at least one" in refusal(AdaptiveBasis, "rbf", 3, columns=columns)


@pytest.mark.parametrize("low, high", [([0, 0, 0], 1), ([0, 1], 1), (0, [1, np.nan]), ([0, 1], [1, 0.5])])
def test_ranges_that_are_none_of_two_columns_are_refused(low, high):
    assert "from low to high" in refusal(AdaptiveBasis, "rbf", 3, columns=2, low=low, high=high)


# its picture


@each_kind
def test_the_picture_of_a_fit_is_a_png(trained, kind, tmp_path):
    pytest.importorskip("matplotlib")
    model, result = trained[kind]
    basis_curve(model, result.parameters, (X, Y), tmp_path / "fit.png")
    assert (tmp_path / "fit.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.fixture
def drawn(trained, monkeypatch):
    """drawn(kind) -> the parameters of its fit, and the axes of the picture."""
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure
    saved = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *args, **named: saved.append(self))

    def draw(kind):
        model, result = trained[kind]
        basis_curve(model, result.parameters, (X, Y), "fit.png")
        return result.parameters, saved[-1].axes[0]

    return draw


@each_kind
def test_the_curve_drawn_is_the_sum_of_the_functions_drawn_and_the_bias(drawn, kind):
    parameters, axes = drawn(kind)
    data, curve, *functions = (line.get_ydata() for line in axes.lines)
    assert np.array_equal(data, Y) and len(functions) == 2
    np.testing.assert_allclose(curve, sum(functions) + parameters["b"][0], rtol=1e-9, atol=1e-12)


@each_kind
def test_the_data_fill_half_the_height_of_the_picture_however_large_the_functions_are(drawn, kind):
    low, high = drawn(kind)[1].get_ylim()
    assert np.ptp(Y) / (high - low) == pytest.approx(0.5, abs=0.03)


def test_a_picture_that_cannot_be_written_is_one_sentence_with_its_path(tmp_path):
    pytest.importorskip("matplotlib")
    model, path = basis("rbf"), tmp_path / "none" / "fit.png"
    assert f"the plot {path} could not be written" in refusal(basis_curve, model, model.inputDict(), (X, Y), path)


# what is refused


def test_an_unknown_basis_is_refused_with_the_nearest_and_those_that_there_are():
    assert refusal(AdaptiveBasis, "rbff", 3) == (
        "there is no basis 'rbff'; there are polynomial, rbf, tanh; did you mean 'rbf'?")


@pytest.mark.parametrize("functions", [0, -1, 2.5, "3"])
def test_a_basis_of_no_functions_is_refused(functions):
    assert refusal(AdaptiveBasis, "rbf", functions).startswith("the functions of a basis are a whole number, at least one")


@pytest.mark.parametrize("low, high", [(1, 1), (2, 1), (0, np.inf), (np.nan, 1)])
def test_a_range_that_is_none_is_refused(low, high):
    assert "from low to high" in refusal(AdaptiveBasis, "rbf", 3, low=low, high=high)


@pytest.mark.parametrize("x", [0.0, -1.0])
def test_exponents_of_numbers_that_are_not_above_0_are_refused_with_the_least(x):
    assert f"x^θ needs x > 0, found x = {x:g}" in refusal(basis("polynomial").feed, [x, 2.0], [1.0, 1.0])


@pytest.mark.parametrize("data, name", [((np.ones((4, 2)), np.ones(4)), "X"), ((np.ones(4), np.ones((4, 2))), "y"),
                                        ((1.0, np.ones(4)), "X"), ((csr_matrix(np.ones((4, 2))), np.ones(4)), "X")])
def test_data_of_more_than_one_number_on_one_are_refused_by_name(data, name):
    assert f": {name} is (n,) or (n, 1)" in refusal(basis("rbf").feed, *data)


@each_kind
def test_on_rows_below_zero_and_by_the_mean_each_basis_fits_a_parabola_and_its_model_is_one_list(kind, tmp_path):
    x = np.linspace(-1.7, 1.7, 80)[:, None].astype(np.float32)
    model = AdaptiveBasis(kind, 8, low=x.min(), high=x.max(), mean=True)
    result = fit(model, (x, x ** 2), epochs=300, optimizer="adam", lr=0.03, progress=False)
    result.save(tmp_path / "basis.safetensors")
    outputs = load(tmp_path / "basis.safetensors").outputs(x)
    assert np.mean((outputs - x ** 2) ** 2) < 0.01 and np.allclose(outputs, predict(model, result.parameters, x), atol=1e-6)
    losses = [eval(model.operationSequence(model.loss), model.inputDict(**model.feed(rows, rows ** 2)))["loss"]
              for rows in (x, np.concatenate([x, x]))]
    assert np.isclose(*losses, rtol=1e-4)
