"""Honest work has all points, whatever is drawn, and the same each time.

XMAN_ALL_CASES=1: a hundred submissions twice, and the solutions with inputs of 400 terms; otherwise one of each assignment.
"""
import hashlib
import math
import os
from pathlib import Path

import numpy as np
import pytest
from honest import WAYS, written
from inside import Inside, cases_of, module_of, probes_of
from scipy.stats import beta, kstest, norm

from xman.grade import Wrong, load_assignment
from xman.grade.record import seed_of
from xman.grade.session import Student

ROOT = Path(__file__).parents[2] / "assignments"
ALL = bool(os.environ.get("XMAN_ALL_CASES"))
RATE = 1e-6      # at which honest work may lose points
LEARNING = [("mlp", "it learns names"), ("logreg", "trained on the digits"),
            ("logreg", "settings that go far in eight epochs")]
SLOW = "it learns names", "trained on the digits", "settings that go far in eight epochs", "eval: a list of 100,000 lines", \
    "backprop: a list of 100,000 lines"
each_assignment = pytest.mark.parametrize("name", sorted(WAYS))


def solution(name):
    return (ROOT / name / "solution" / f"{name}.py").read_text("utf-8")


def graded(name, source, term, but=()):
    """{(part, case): (credit, feedback)}."""
    assignment = load_assignment(ROOT / name)
    parts = {part.title for task in assignment.tasks for part in task.parts} - set(but)
    return {(part.title, case["name"]): (case["credit"], case["feedback"])
            for part, case in cases_of(assignment, source, term, parts)}


@pytest.mark.filterwarnings("ignore")  # what overflows, and may
@pytest.mark.parametrize("name, seed", [(name, seed) for name in sorted(WAYS) for seed in range(15 if ALL else 1)])
def test_honest_work_has_all_points_and_the_same_points_twice(name, seed):
    source = written(name, solution(name), seed)
    secret = seed_of("a term", hashlib.sha256(source.encode()).hexdigest())
    once = graded(name, source, secret, () if ALL else SLOW)
    assert {place: found for place, found in once.items() if found[0] < 1} == {}
    assert not ALL or repr(graded(name, source, secret)) == repr(once)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(not ALL, reason="400 terms take minutes: XMAN_ALL_CASES=1")
@pytest.mark.parametrize("hundred", range(4))  # one test each, as 400 terms take longer than a test may
@each_assignment
def test_the_solution_has_all_points_in_four_hundred_terms(name, hundred):
    lost = [(term, place, found) for term in range(100 * hundred, 100 * hundred + 100)
            for place, found in graded(name, solution(name), f"term {term}", SLOW).items() if found[0] < 1]
    assert lost == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(not ALL, reason="to train a hundred times takes minutes: XMAN_ALL_CASES=1")
@pytest.mark.parametrize("name, title", LEARNING)
def test_the_solution_learns_better_than_it_has_to_by_five_standard_deviations(name, title, monkeypatch):
    """What it reaches is nearly normal: a normal variable is beyond five standard deviations 3 times in ten millions."""
    assignment, reached = load_assignment(ROOT / name), []
    function, inner = function_of(assignment, title)
    monkeypatch.setitem(inner, "scale", lambda x, none, full: reached.append((x - full) * np.sign(full - none)) or 1.0)
    for k in range(100):
        function(Student(Inside(module_of(solution(name)), probes_of(assignment.probes))), np.random.default_rng(k))
    margins = reached[::len(reached) // 100]  # of two, the second is of the passes, which do not vary
    assert min(margins) >= 0 and norm.sf(np.mean(margins) / np.std(margins)) < RATE


def function_of(assignment, title):
    """(the function of the part of that title, the names of its module)."""
    function = next(part.function for task in assignment.tasks for part in task.parts if part.title == title)
    return function, getattr(function, "__wrapped__", function).__globals__


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(not ALL, reason="to train a hundred times takes minutes: XMAN_ALL_CASES=1")
def test_of_six_draws_the_lstm_learns_one():
    """By the chance that one draw is too hard, at its upper limit of 95 % confidence (Clopper and Pearson)."""
    assignment = load_assignment(ROOT / "lstm")
    learned, hard = function_of(assignment, "it learns names")[1]["learned"], 0
    for k in range(100):
        try:
            student = Student(Inside(module_of(solution("lstm")), probes_of(assignment.probes)))
            hard += learned(student, np.random.default_rng(k)) < 1
        except Wrong:
            hard += 1
    assert beta.ppf(0.95, hard + 1, 100 - hard) ** 6 < RATE


def test_draws_that_are_counted_fall_short_at_most_once_in_a_million():
    """Bounds on the sum of the chances: an order of 4 rows that none of 500 epochs has, a row that is never first or last,
    two epochs of 24 rows alike, or one that is not shuffled."""
    assert 24 * (23 / 24) ** 500 + 8 * (3 / 4) ** 500 < RATE and 2 / float(math.factorial(24)) < RATE


def test_a_guess_is_right_at_most_once_in_a_million():
    """The most frequent share of right rows, which a guess would name, in all of the draws that a part makes."""
    rng = np.random.default_rng(0)
    for rows, classes, draws in ((6, 3, 20), (12, 3, 20), (13, 3, 20)):
        right = (rng.integers(classes, size=(10 ** 5, rows)) == 0).sum(1)
        assert (np.bincount(right).max() / 10 ** 5) ** draws < RATE
    assert max(0.6, 1 - 0.6) ** 30 < RATE  # three rows, of which the first is right and the second wrong


def test_a_uniform_start_is_taken_for_one_that_is_not_at_most_once_in_a_million():
    """logreg tests b and W, 2,000 and 6,000 numbers, by Kolmogorov's exact distribution at 1e-7; and neighbours for correlation.

    The sum of n products of neighbours, each at most 1 and of variance 1/9, is beyond 2√n at most as often as Freedman's bound.
    """
    for n in (2000, 6000):
        freedman = 2 * np.exp(-4 * n / 2 / (n / 9 + 2 * np.sqrt(n) / 3))
        assert 1e-7 + freedman < RATE
        found = np.random.default_rng(n).uniform(-1, 1, (2000 if ALL else 100, n))
        assert np.max(np.abs(np.sum(found[:, 1:] * found[:, :-1], 1))) < 2 * np.sqrt(n)
        assert min(kstest(u, "uniform", (-1, 2)).pvalue for u in found) > 1e-7
