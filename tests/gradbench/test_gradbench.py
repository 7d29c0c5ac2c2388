"""The modules of GradBench's evals: by the protocol, against differences, closed forms and one another."""
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.gradbench import inputs
from tests.gradbench.comparing import largest_difference
from tests.gradbench.tool import answer, imported

SMALL = {"gmm": (3, 4, 20, 2), "lstm": (2, 4, 5), "ode": (6, 3), "det": (4,), "lse": (50,), "llsq": (12, 5),
         "kmeans": (3, 40, 2)}
TOLERANCE = 1e-4  # GradBench's


def evaluated(name: str, function: str, given: object) -> object:
    message = {"kind": "evaluate", "module": name, "function": function, "input": given}
    said = answer(json.loads(json.dumps(message)))
    assert said["success"], said["error"]
    assert all(timing["nanoseconds"] > 0 for timing in said["timings"])
    return json.loads(json.dumps(said["output"]))


def of(name: str, *size) -> dict:
    """The input and the outputs of an eval, by function. Skips where its files are not there."""
    try:
        asked = [*inputs.EVALS[name](*(size or SMALL.get(name, ())))]
    except FileNotFoundError as error:
        pytest.skip(str(error))
    return {"given": asked[0][2]} | {function: evaluated(name, function, given) for function, _,
                                     given in asked}


def differences(fn, x: np.ndarray) -> np.ndarray:
    """The central differences of fn, along the last axis."""
    steps = 1e-5 * np.eye(x.size)
    return np.stack([(np.array(fn(x + step.reshape(x.shape))) - np.array(fn(x - step.reshape(x.shape))))
                     / 2e-5 for step in steps], -1)


@pytest.mark.parametrize("name, field", [("lse", "x"), ("llsq", "x"), ("det", "A")])
def test_a_gradient_is_that_of_differences(name, field):
    found = of(name)
    primal = lambda x: evaluated(name, "primal", found["given"] | {field: x.tolist()})
    assert largest_difference(differences(primal, np.array(found["given"][field])).tolist(),
                              found["gradient"]) < TOLERANCE


def test_ode_is_a_product_and_the_gradient_its_last_entrys():
    found = of("ode", 4, 20)  # enough steps that y₁ = x₀ x₁ t² / 2 and so on are exact up to the fourth order
    x = np.array(found["given"]["x"])
    closed = np.cumprod(x) * 2.0 ** np.arange(1, 5) / np.cumprod(np.arange(1, 5))
    assert largest_difference(closed.tolist(), found["primal"]) < 1e-12
    assert largest_difference((closed[-1] / x).tolist(), found["gradient"]) < 1e-12


@pytest.mark.parametrize("name", ["gmm", "lstm"])
def test_the_gradient_of_a_model_is_that_of_differences(name):
    found = of(name)
    fields = ("alpha", "mu", "q", "l") if name == "gmm" else ("main_params", "extra_params")
    slopes = []
    for field in fields:
        objective = lambda x, field=field: evaluated(name, "objective", found["given"] | {field: x.tolist()})
        x = np.array(found["given"][field])
        slopes.append(differences(objective, x).reshape(x.shape))
    want = {field: slope.tolist() for field, slope in zip(fields, slopes, strict=True)} if name == "gmm" else np.concatenate(
        [slope.ravel() for slope in slopes]).tolist()
    assert largest_difference(want, found["jacobian"]) < TOLERANCE


def test_the_mixture_is_that_of_its_densities():
    from scipy.stats import multivariate_normal, wishart

    found, given = of("gmm", 2, 3, 5, 1), [*inputs.gmm(2, 3, 5, 1)][0][2]
    weights, likelihood, prior = np.exp(given["alpha"]) / np.sum(np.exp(given["alpha"])), 0.0, 0.0
    for weight, mu, q, l in zip(weights, *(np.array(given[name]) for name in ("mu", "q", "l")), strict=True):
        Q = np.diag(np.exp(q)) + np.diag(l, -1)
        likelihood += weight * multivariate_normal(mu, np.linalg.inv(Q.T @ Q)).pdf(given["x"])
        prior += wishart(4, np.eye(2)).logpdf(Q.T @ Q)
    assert found["objective"] == pytest.approx(np.sum(np.log(likelihood)) + prior, rel=1e-12)


def test_the_determinant_is_numpys():
    found = of("det")
    assert found["primal"] == pytest.approx(np.linalg.det(np.reshape(found["given"]["A"], (4, 4))), rel=1e-10)


def test_a_newton_step_of_k_means_leads_to_the_means():
    found = of("kmeans")
    points, centroids = (np.array(found["given"][name]) for name in ("points", "centroids"))
    nearest = np.argmin(np.sum((points[:, None] - centroids) ** 2, axis=2), axis=1)
    means = [points[nearest == k].mean(axis=0) for k in range(3)]
    assert largest_difference((centroids - means).tolist(), found["dir"]) < 1e-10
    assert found["cost"] == pytest.approx(np.sum((points - centroids[nearest]) ** 2))


def test_the_jacobian_of_bundle_adjustment_is_that_of_differences(monkeypatch):
    monkeypatch.setenv("XMAN_ENGINE", "auto")  # 20 million operators, a minute as plain NumPy
    found = of("ba")
    given = found["given"] | {"n": 2, "m": 3, "p": 5}
    module = imported("ba")
    args = module.prepare(given)
    J, (cameras, points, _, *rest) = module.jacobian(*args), args
    flat = np.concatenate([part.ravel() for part in args[:3]])

    def errors(x):
        one, two, three = np.split(x, [cameras.size, cameras.size + points.size])
        return np.concatenate([part.ravel() for part in module.objective(one.reshape(2, 11), two.reshape(3, 3),
                                                                         three, *rest)])
    assert J.shape == (15, 2 * 11 + 3 * 3 + 5) and J.nnz == 5 * 2 * 15 + 5
    assert largest_difference(differences(errors, flat).tolist(), J.toarray().tolist()) < TOLERANCE
    said = evaluated("ba", "jacobian", given)
    assert len(said["vals"]) == 31 and said["rows"][:2] == [0, 15] and said["rows"][-1] == J.nnz
    assert largest_difference(evaluated("ba", "objective", given)["reproj_error"]["elements"], errors(flat)[:2].tolist()) == 0


@pytest.mark.parametrize("kind", ["simple", "complicated"])
def test_the_jacobian_of_the_hand_is_that_of_differences(kind):
    found = of("ht", 1, kind)
    theta = np.array(found["given"]["theta"])
    objective = lambda x: evaluated("ht", "objective", found["given"] | {"theta": x.tolist()})
    J = np.array(found["jacobian"])
    along = np.sin(np.arange(26.0))
    slope = (np.array(objective(theta + 1e-5 * along)) - objective(theta - 1e-5 * along)) / 2e-5
    assert largest_difference(slope.tolist(), (J[:, -26:] @ along).tolist()) < TOLERANCE
    assert J.shape == (300, 26 if kind == "simple" else 28)
    if kind == "complicated":
        us = np.array(found["given"]["us"]) + [1e-3, 0]
        moved = evaluated("ht", "objective", found["given"] | {"us": us.tolist()})
        assert largest_difference(((np.array(moved) - found["objective"]) / 1e-3).tolist(), J[:, 0].tolist()) < 1e-9


def test_the_descent_ends_where_that_of_gradbench_does():
    from tests.gradbench.evals.descent import argmax, argmin

    for end in (argmin(lambda x: np.sum(x ** 2), lambda x: 2 * x, np.ones(2)),
                argmax(lambda x: -np.sum(x ** 2), lambda x: -2 * x, np.ones(2))):
        np.testing.assert_allclose(end, 8.246324826140356e-06, rtol=1e-9)  # what its eval saddle wants from (1, 1)


@pytest.mark.parametrize("name, start, small", [("saddle", {"start": [1.0, 1.0]}, 1e-2), ("particle", {"w": 0.0}, 1e-1)])
def test_gradient_descent_within_a_derivative_arrives_in_all_modes(name, start, small, monkeypatch):
    monkeypatch.setattr(imported("descent"), "SMALL", small)  # a few long steps
    monkeypatch.setattr(imported("descent"), "FIRST", 0.25 if name == "saddle" else 1e-2)
    if name == "particle":
        monkeypatch.setattr(imported("particle"), "STEP", 0.5)
    ends = [evaluated(name, function, start) for function in ("ff", "fr", "rf", "rr")]
    assert all(largest_difference(ends[0], end) < 1e-9 for end in ends), ends
    want = 0.0 if name == "saddle" else 0.35
    assert np.max(np.abs(np.array(ends[0]) - want)) < small, ends


def test_the_tool_answers_line_by_line_and_tells_what_it_does_not_know():
    messages = [{"kind": "start", "eval": "hello"}, {"kind": "define", "module": "hello"}, {"kind": "define", "module": "hullo"},
                {"kind": "evaluate", "module": "hello", "function": "square", "input": 3.0},
                {"kind": "evaluate", "module": "hello", "function": "double", "input": 3.0},
                {"kind": "analysis", "of": 3, "valid": True}, {"kind": "evaluate", "module": "lse", "function": "primal",
                                                               "input": {"x": [0.0, 0.0], "min_runs": 3, "min_seconds": 0}}]
    lines = "\n".join(json.dumps({"id": k, **message}) for k, message in enumerate(messages))
    root = Path(__file__).parents[2]
    ran = subprocess.run([sys.executable, "-m", "tests.gradbench.tool"], input=lines, text=True, capture_output=True, cwd=root)
    said = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [each["id"] for each in said] == [*range(7)], ran.stderr
    assert [each.get("success") for each in said] == [None, True, False, True, True, None, True]
    assert "hullo" in said[2]["error"] and [each.get("output") for each in said[3:5]] == [9.0, 6.0]
    assert len(said[6]["timings"]) == 3 and said[6]["output"] == pytest.approx(np.log(2))


def test_a_difference_is_gradbenchs():
    assert largest_difference({"a": [1, 2.0]}, {"a": [1.0, 2.1]}) == pytest.approx(0.1 / 4.1)
    assert largest_difference([1.0], [1.0, 2.0]) == largest_difference(1.0, float("nan")) == float("inf")
