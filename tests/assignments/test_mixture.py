"""Facts about assignments/scripts/mixture.py: its density, its descent and its picture."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from xman import grad

SCRIPT = Path(__file__).parents[2] / "assignments" / "scripts" / "mixture.py"
R = np.random.default_rng(0)
P = {"a": R.normal(size=3), "means": R.normal(size=(3, 2)), "s": R.normal(size=(3, 2)), "c": R.normal(size=3)}
X = R.normal(size=(7, 2))


@pytest.fixture
def mixture(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    import mixture
    yield mixture
    del sys.modules["mixture"]


def test_it_is_at_most_60_lines():
    assert len(SCRIPT.read_text("utf-8").splitlines()) <= 60


def test_the_loss_is_that_of_scipys_gaussians(mixture):
    weights, total = np.exp(P["a"]) / np.sum(np.exp(P["a"])), 0.0
    for k in range(3):
        A = np.array([[np.exp(P["s"][k, 0]), 0], [P["c"][k] * np.exp(P["s"][k, 1]), np.exp(P["s"][k, 1])]])
        total += weights[k] * multivariate_normal(P["means"][k], np.linalg.inv(A.T @ A)).pdf(X)
    assert mixture.loss(P, X) == pytest.approx(-np.mean(np.log(total)), rel=1e-10)


def test_the_gradient_is_that_of_central_differences(mixture):
    slope = grad(mixture.loss)(P, X)
    for name, x in P.items():
        direction = R.normal(size=x.shape)
        up, down = (mixture.loss({**P, name: x + e * direction}, X) for e in (1e-6, -1e-6))
        assert np.sum(slope[name] * direction) == pytest.approx((up - down) / 2e-6, rel=1e-6, abs=1e-8)


def test_a_row_far_from_all_the_means_has_a_finite_loss(mixture):
    assert np.isfinite(mixture.loss(P, np.array([[1e3, -1e3]])))


def test_the_three_gaussians_are_found_again(mixture):
    random = np.random.default_rng(1)
    X = np.concatenate([random.multivariate_normal(mean, covariance, 60) for mean, covariance in mixture.TRUE])
    p, losses = mixture.fit(X, 3, 120)
    right = [mean for mean, _ in mixture.TRUE]
    nearest = [min(np.linalg.norm(mean - other) for other in p["means"]) for mean in right]
    assert max(nearest) < 0.4 and len(losses) == 121 and losses[-1] < losses[0] - 1


def test_it_draws_in_the_folder_where_it_is_run(mixture, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    mixture.main(steps=3)
    out = capsys.readouterr().out
    assert out.startswith("loss ") and "after 3 steps; the means are\n[[" in out and out.isascii()
    assert (tmp_path / "mixture.png").read_bytes().startswith(b"\x89PNG")
