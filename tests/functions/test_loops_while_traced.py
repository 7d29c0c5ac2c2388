"""A trace notices while it is recorded that it repeats: its lines stay few, and its numbers are those of plain Python.

XMAN_ALL_CASES=1 asks for the Hessian of each program, for a minute; otherwise of some.
"""

import os

import numpy as np
import pytest

import xman
from xman import grad, hessian, jit, value_and_grad
from xman.functions import repeated
from xman.functions.trees import flattened_tree

MOST = 120
P, E = np.array([0.1, 0.2, 0.7]), np.random.default_rng(5).normal(size=80)


def volatility(p, e):
    s, loss = p[0], 0.0
    for x in e:
        s = p[0] + p[1] * x ** 2 + p[2] * s
        loss = loss + np.log(s) + x ** 2 / s
    return 0.5 * loss


def two_states(p, e):
    a, b = p[0] * np.ones(3), p
    for t in range(60):
        a, b = np.tanh(b * e[t] + 0.5 * a), 0.9 * a - b * p[1]
    return np.sum(a * b)


def what_an_early_turn_gave(p, e):
    s, early, outside = p[0], None, None
    for t in range(70):
        s = np.sin(s * e[t]) + p[1]
        if t == 5:
            early, outside = s, np.exp(e[t])
    return s * early + outside


def branches_on_values(p, e):
    s = p[0]
    for t in range(60):
        s = s * p[2] + e[t]
        if t % 20 == 7 and s > 0:
            s = s * 0.5
    return s


def loops_in_loops(p, e):
    s = p[0]
    for t in range(30):
        inner = 0.0
        for k in range(5):
            inner = inner + p[1] * e[k] * s
        s = np.tanh(inner) + e[t]
    return s


def a_derivative_in_each_turn(p, e):
    s = p[0]
    for t in range(30):
        s = s - 0.1 * grad(lambda q: np.sin(q * p[1]) * e[t])(s)  # noqa: B023 it is called in its turn
    return s


def halves_and_wholes(p, e):
    s = np.float32(0.5) * p[0].astype(np.float32)
    k = 0
    for t in range(60):
        s = s * np.float32(0.25) + e[t]
        k = k + 1
    return s * k


def large_arrays(p, e):
    s = p[0] * np.ones(1000)
    for t in range(50):
        wave = np.cos(s)
        s = 0.5 * wave + e[t] * s
    return np.mean(s)


def drops_results(p, e):
    s = p[0]
    for t in range(70):
        s = np.tanh(s * e[t] + p[1])
        np.cos(s)
    return s


def a_derivative_with_more_lines_around_it_than_of_its_own(p, e):
    def inner(q):
        s, y = q, p[1]
        for t in range(40):
            for _ in range(12):
                y = np.sin(y)
            s = np.tanh(s * y + e[t])
        return s
    return grad(inner)(p[0])


PROGRAMS = [drops_results, a_derivative_with_more_lines_around_it_than_of_its_own, volatility, two_states, what_an_early_turn_gave, branches_on_values, loops_in_loops, a_derivative_in_each_turn,
            halves_and_wholes, large_arrays]
leaves = lambda tree: flattened_tree(tree)[0]
WAYS = {"values": lambda fn: lambda p, e: (fn(p, e),), "value_and_grad": lambda fn: value_and_grad(fn, (0, 1)), "hessian": hessian,
        "jvp": lambda fn: lambda p, e: xman.jvp(fn, (p, e), (np.ones(3), e))}
WITH_HESSIAN = PROGRAMS if os.environ.get("XMAN_ALL_CASES") else [what_an_early_turn_gave, halves_and_wholes]


@pytest.fixture
def longest(monkeypatch):
    """The most lines that a tape had when it was rolled, and after that."""
    lengths, alive = {"before": 0, "after": 0}, repeated.alive
    forget = repeated.forget
    monkeypatch.setattr(repeated, "MOST", MOST)
    monkeypatch.setattr(repeated, "alive", lambda tape: (noted("before", tape), alive(tape))[1])
    monkeypatch.setattr(repeated, "forget", lambda tape, names: (noted("after", tape), forget(tape, names))[1])

    def noted(when, tape):
        lengths[when] = max(lengths[when], len(tape.lines))
    return lengths


@pytest.mark.parametrize(("fn", "way"), [(fn, way) for fn in PROGRAMS for way in WAYS if way != "hessian" or fn in WITH_HESSIAN])
def test_numbers_are_those_of_plain_python_whenever_a_tape_is_rolled(fn, way, longest):
    plain, compiled = WAYS[way](fn), jit(WAYS[way](fn))
    for p, e, calls in (P, E, 3), (0.5 * P, E[::-1].copy(), 1), (P, -E, 1):
        want = leaves(plain(p, e))
        for _ in range(calls):
            for one, other in zip(leaves(compiled(p, e)), want, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
                assert np.asarray(one).dtype == np.asarray(other).dtype
    assert longest["before"] > MOST


@pytest.mark.parametrize("way", ["values", "value_and_grad"])
def test_a_tape_keeps_few_lines_of_many_turns(way, longest, monkeypatch):
    monkeypatch.setattr(repeated, "MOST", 1000)
    e = np.random.default_rng(0).normal(size=1500)
    compiled = jit(WAYS[way](volatility))
    compiled(P, e), compiled(P, e)
    assert longest["after"] < 500 < longest["before"] < 3000 and len(compiled.lists[0]) < 1500
    for one, other in zip(leaves(compiled(P, e)), leaves(WAYS[way](volatility)(P, e)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)


def test_results_of_all_turns_are_left_to_one_loop_at_the_end(longest):
    def states(p, e):
        s, every = p[0], []
        for x in e:
            s = np.tanh(s * x + p[1])
            every.append(s)
        return np.sum(np.stack(every) ** 2)
    e = np.random.default_rng(0).normal(size=2000)
    compiled = jit(value_and_grad(states))
    for _ in range(3):
        np.testing.assert_allclose(compiled(P, e)[1], grad(states)(P, e), rtol=1e-10)
    assert len(compiled.lists[0]) < 60


def test_a_derivative_of_a_derivative_reads_what_the_trace_around_both_has(longest):
    def fn(p, e):
        s = p[0]
        for t in range(40):
            s = np.tanh(s * e[t] + p[1])
        return s
    twice = grad(lambda p, e: np.sum(grad(fn)(p, e)))
    compiled = jit(twice)
    for _ in range(3):
        np.testing.assert_allclose(compiled(P, E), twice(P, E), rtol=1e-10, atol=1e-12)
