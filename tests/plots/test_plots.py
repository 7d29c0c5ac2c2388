"""Pictures by Matplotlib: the numbers that they show, and that a file is there."""

import numpy as np
import pytest

from xman import XManError
from xman.plots import confusion_picture, decision_regions, growth_of_derivatives, hessian_spectrum, weight_images

pytest.importorskip("matplotlib")


def test_the_confusion_counts_rows_by_truth_and_prediction(tmp_path):
    counts = confusion_picture([0, 0, 1, 2, 2], [0, 1, 1, 2, 0], tmp_path / "a.svg", ["a", "b", "c"])
    np.testing.assert_array_equal(counts, [[1, 1, 0], [0, 1, 0], [1, 0, 1]])
    assert "<svg" in (tmp_path / "a.svg").read_text("utf-8")


def test_weights_are_images_by_column(tmp_path):
    W = np.arange(12.0).reshape(6, 2)
    np.testing.assert_array_equal(weight_images(W, (2, 3), tmp_path / "w.png")[1], W[:, 1].reshape(2, 3))
    assert (tmp_path / "w.png").stat().st_size > 1000


def test_regions_are_what_the_model_says_between_the_rows(tmp_path):
    X = np.array([[-1.0, 0.0], [1.0, 1.0], [1.0, -1.0]])
    for predict in (lambda rows: (rows[:, 0] > 0).astype(int), lambda rows: np.stack([-rows[:, 0], rows[:, 0]], -1)):
        regions = decision_regions(predict, X, [0, 1, 1], tmp_path / "r.svg")
        assert regions[:, 0].tolist() == [0] * 200 and regions[:, -1].tolist() == [1] * 200


def test_the_spectrum_is_that_of_the_whole_matrix(tmp_path):
    steps = [("z", "mul", ("x", "y")), ("f", "sum", ("z",))]  # the Hessian is [[0, 1], [1, 0]], for each pair of entries
    found = hessian_spectrum(steps, "f", ["x", "y"], {"x": np.ones(2), "y": np.ones(2)}, tmp_path / "h.svg")
    np.testing.assert_allclose(found, [-1, -1, 1, 1], atol=1e-12)


def test_lists_grow_with_the_order_and_simplify_keeps_them_short(tmp_path):
    steps = [("z", "exp", ("x",)), ("f", "mul", ("x", "z"))]
    counts = growth_of_derivatives(steps, "f", "x", {"x": 1.0}, 3, tmp_path / "g.svg")
    assert (np.diff(counts[:, 0]) > 0).all() and counts[3, 1] == 3  # (x + 3) eˣ


@pytest.mark.parametrize("draw, said", [
    (lambda path: confusion_picture([0, 1], [0], path), "one a row; found the shapes"),
    (lambda path: weight_images(np.ones((5, 2)), (2, 3), path), "W has shape"),
    (lambda path: decision_regions(np.sign, np.ones((3, 3)), [0, 1, 1], path), "rows of two numbers"),
    (lambda path: weight_images(np.ones((6, 2)), (2, 3), path / "no" / "w.png"), "could not be written")])
def test_what_cannot_be_drawn_is_said(draw, said, tmp_path):
    with pytest.raises(XManError, match=said):
        draw(tmp_path)
