"""Facts about difference_errors: Bishop's Fig. 8.2 in numbers, and its picture."""

import numpy as np
import pytest
from lists_to_show import ADAMS, AT, LISTS

from xman import XManError
from xman.plots.differences import difference_errors


@pytest.mark.parametrize("name", [name for name in LISTS if "relu" not in name])  # at a kink the error is no power of ε
def test_finite_differences_have_slope_1_and_central_ones_slope_2(name):
    found = difference_errors(LISTS[name][0], values=LISTS[name][1])
    slopes = [slope for slope in found.slopes if not np.isnan(slope)]
    assert slopes == pytest.approx([1, 2][:len(slopes)], abs=0.05)


def test_central_differences_are_much_better_and_at_a_larger_step():
    found = difference_errors(ADAMS, values=AT, wrt="x1")
    assert found.best[1] > 10 * found.best[0] and min(found.central) < min(found.one_sided) / 10


def test_below_the_best_step_round_off_makes_the_error_grow():
    found = difference_errors(ADAMS, values=AT, wrt="x1")
    assert np.median(found.one_sided[found.sizes < 1e-13]) > 1e4 * np.median(found.one_sided[abs(found.sizes - 1e-8) < 5e-9])


def test_the_errors_are_those_of_8_24_and_8_25():
    found = difference_errors([("y", "square", ("x",))], values={"x": 3.0}, sizes=[0.5])
    assert (found.derivative, found.one_sided[0], found.central[0]) == (6, 0.5, 0)


def test_the_central_quotient_of_a_parabola_has_no_truncation_error_and_so_no_slope():
    one, two = difference_errors([("y", "square", ("x",))], values={"x": 3.0}).slopes
    assert one == pytest.approx(1, abs=0.01) and np.isnan(two)


def test_single_precision_is_taken_in_double():
    steps = [("z", "exp", ("x",)), ("y", "sum", ("z",))]
    found = [difference_errors(steps, values={"x": np.ones(3, dtype)}) for dtype in (np.float32, np.float64)]
    assert np.array_equal(found[0].central, found[1].central)


def test_an_array_is_moved_in_a_direction_that_the_seed_draws():
    values = {"x": np.arange(3.0)}
    first, again, other = (difference_errors([("y", "exp", ("x",))], values=values, seed=seed).derivative for seed in (0, 0, 1))
    assert first == again != other


def test_wrt_may_be_a_direction():
    assert difference_errors(ADAMS, values=AT, wrt={"x1": 1.0, "x2": 0.0}).derivative == pytest.approx(3.01184333)


def test_of_names_the_register():
    assert difference_errors(ADAMS, "v3", "x2", AT).derivative == pytest.approx(np.exp(0.5))


def test_it_prints_both_slopes_and_the_best_steps():
    text = str(difference_errors(ADAMS, values=AT, wrt="x1"))
    assert text.startswith("∂y/∂x1 = 3.0118433\n") and "finite differences (8.24)    1.00" in text and "   2.00" in text


def test_a_value_that_is_infinite_on_the_way_leaves_a_gap():
    found = difference_errors([("y", "log", ("x",))], values={"x": 0.5})
    assert not np.isfinite(found.central[-1]) and found.slopes == pytest.approx((1, 2), abs=0.01) and np.isfinite(found.best[1])


# the picture


def plotted(tmp_path, steps, values, **options):
    pytest.importorskip("matplotlib")
    path = tmp_path / "errors.png"
    difference_errors(steps, values=values, **options).plot(path)
    return path.read_bytes()


@pytest.mark.parametrize(("steps", "values"), [
    (ADAMS, AT), ([("y", "square", ("x",))], {"x": 1.0}), ([("y", "mul", ("x", 2.0))], {"x": 1.0}),
    ([("y", "mul", ("x", 0.0))], {"x": 1.0}), ([("y", "log", ("x",))], {"x": 0.0}), ([("y", "exp", ("x",))], {"x": np.nan})],
    ids=["usual", "one branch", "no branch", "no error", "infinite", "not a number"])
def test_it_is_drawn_even_where_errors_are_0_or_not_finite(tmp_path, steps, values):
    assert plotted(tmp_path, steps, values).startswith(b"\x89PNG")


def test_it_is_drawn_for_a_single_step(tmp_path):
    assert plotted(tmp_path, ADAMS, AT, sizes=[1e-3]).startswith(b"\x89PNG")


def test_a_path_that_cannot_be_written_is_told_in_a_sentence(tmp_path):
    pytest.importorskip("matplotlib")
    for path in (tmp_path / "nowhere" / "a.png", tmp_path / "a.nonsense"):
        with pytest.raises(XManError, match="could not be written"):
            difference_errors(ADAMS, values=AT).plot(path)


@pytest.mark.parametrize(("options", "words"), [
    (dict(of="z"), "of names 'z', which the list does not have"),
    (dict(wrt="v1"), "'v1' is no input of floats that could be moved; the inputs are x1, x2"),
    (dict(wrt={"x3": 1.0}), "'x3' is no input of floats"),
    (dict(wrt={"x1": np.ones(3)}), "the tangent given for 'x1' has shape (3,)"),
    (dict(sizes=[0.0, 1.0]), "the step sizes are numbers above 0"),
    (dict(sizes=[]), "the step sizes are numbers above 0"),
    (dict(wrt=[]), "nothing to differentiate by"),
])
def test_a_mistake_is_told_in_a_sentence(options, words):
    with pytest.raises(XManError) as caught:
        difference_errors(ADAMS, values=AT, **options)
    assert words in str(caught.value) and "\n" not in str(caught.value)


# bugs that had survived planting


def test_where_the_function_is_0_its_rounding_is_that_of_its_slope():
    assert difference_errors([("y", "sin", ("x",))], values={"x": 0.0}).rounding.min() > 0
