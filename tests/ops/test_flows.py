"""Where anything is sent: the flow and the steep of a delta after each operator, measured; what meets infinite factors; what is unclear."""
import itertools
import math

import numpy as np
import pytest
from operator_cases import CASES, in_each

import ops
from ops import DG, G, f
from ops.kinks import scale
from ops.kinks.masked import BY_VALUE, NOWHERE, Flow, Masked, bare, chosen, unclear
from ops.matrices.decompositions import columns_sent
from xman import backprop, eval, forward, gradient

EVERY = [(op, k) for op, cases in CASES.items() for k in range(len(cases))]


def test_the_flow_of_a_choice_is_that_of_what_is_chosen():
    c, one, two = (np.array([[False, True][i >> j & 1] for i in range(8)]) for j in range(3))
    flows = {"nowhere": (NOWHERE, False), "everywhere": (None, True), "one": (Flow(lambda: one), one), "two": (Flow(lambda: two), two)}
    for x, y in itertools.product(flows.values(), repeat=2):
        flow = chosen(Flow(lambda: c), x[0], y[0])
        assert np.array_equal(np.broadcast_to(flow(), 8), np.where(c, x[1], y[1]))


def measured(op, args, i, flowing):
    """Whether an entry of the result moves with an entry of the i-th argument that flows."""
    rest = [np.abs(a) + 0.5 if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a for a in args]
    return np.not_equal(G[op](*rest[:i], np.asarray(flowing, float), *rest[i + 1:]), 0)


@in_each((op, k) for op, k in EVERY if ops.facts_of(op).flow in ("moved", "part", "filled", "plus", "same", "product", "kept", "summed"))
def test_a_delta_flows_to_all_that_moves_with_what_flows(op, k):
    args, random, flow = CASES[op][k], np.random.default_rng(k), ops.facts_of(op).flow
    for i, a in enumerate(args):
        if not isinstance(a, np.ndarray) or a.dtype.kind != "f" or DG[op][i] is None or op in ("divide", "ratio") and i or op == "convolve":
            continue
        for share in (0.0, 0.5):
            flowing = random.uniform(size=a.shape) < share
            masked = Masked(np.where(flowing, a, 0.0), *[Flow(lambda flowing=flowing: flowing) for _ in range(2)], forward=True)
            out = getattr(f, op)(*args[:i], masked, *args[i + 1:])
            np.testing.assert_array_equal(out.value, G[op](*args[:i], masked.value, *args[i + 1:]))
            moves, place = measured(op, args, i, flowing), out.where("flow")
            flows = np.broadcast_to(True if place is None else place(), np.shape(out.value))
            assert np.all(flows >= moves) and out.forward, "what moves is left out"
            steep = out.where("steep")
            np.testing.assert_array_equal(np.broadcast_to(True if steep is None else steep(), flows.shape), flows)  # nothing is infinite
            if flow not in ("summed",) and not (flow == "plus" and sum(isinstance(b, np.ndarray) for b in args) > 1):
                np.testing.assert_array_equal(flows, moves)


def masked(value, flow=None, steep=None, forward=False):
    value = np.asarray(value, float)
    places = [m if m is BY_VALUE or m is None else Flow(lambda m=m: np.broadcast_to(np.asarray(m, bool), value.shape)) for m in (flow, steep)]
    return Masked(value, *places, forward)


INF = np.inf
STEEP = {  # operator on (value, steep): where the result is steep
    "an infinite sum is as steep as its infinite terms": [
        (lambda: f.add(masked([INF, INF, 1, 2], 1, [0, 1, 0, 1]), masked([1, 1, 1, 1], 1, [1, 0, 0, 0])), [0, 1, 0, 1]),
        (lambda: f.subtract(masked([1, 1, -INF], 1, [1, 0, 1]), masked([INF, INF, INF], 1, [0, 1, 0])), [0, 1, 1]),
        (lambda: f.sum(masked([[INF, 1], [1, INF], [1, 2]], 1, [[0, 1], [0, 1], [0, 1]]), 1), [0, 1, 1]),
        (lambda: f.concat(0, masked([INF, 1], 1, [0, 1]), masked([1.0], 1, [1])), [0, 1, 1])],
    "an infinite product of finite factors has overflowed, and is not": [
        (lambda: f.dot(masked([[1e200, 1e200]], 1, [[1, 1]]), np.full((2, 1), 1e200)), [[0]]),
        (lambda: f.dot(masked([[1e308, 1e308]], 1, [[1, 1]]), np.full((2, 1), 1e308)), [[0]]),  # the sum of the factors overflows, too
        (lambda: f.dot(masked([[1e200, INF]], 1, [[1, 1]]), np.full((2, 1), 1e200)), [[1]]),
        (lambda: f.dot(masked([[1.0, 2.0]], 1, [[1, 0]]), np.full((2, 1), INF)), [[1]]),
        (lambda: f.dot(masked([[1.0, 2.0]], 1, [[0, 0]]), np.ones((2, 1))), [[0]])],
    "it may be steep by value": [
        (lambda: f.negative(masked([0, 1, INF], 1, BY_VALUE)), [0, 1, 1]), (lambda: f.mul(masked([0, 2, 3], 1, BY_VALUE), np.ones(3)), [0, 1, 1]),
        (lambda: f.add(masked([0, 1], 1, BY_VALUE), masked([0, 0], 1, BY_VALUE)), [0, 1]), (lambda: f.sum(masked([0, 0.0], 1, BY_VALUE)), 0),
        (lambda: f.dot(masked([0, 1.0], 1, BY_VALUE), np.ones(2)), 1), (lambda: f.reshape(masked([0, 1.0], 1, BY_VALUE), (1, 2)), [[0, 1]])],
    "a choice is as steep as what is chosen": [
        (lambda: f.where(np.array([True, True, False, False]), masked([1] * 4, 1, [0, 1, 0, 1]), masked([1] * 4, 1, [1, 0, 1, 0])), [0, 1, 1, 0]),
        (lambda: f.where(np.array([True, False]), masked([1, 1], 1, [1, 1]), 0.0), [1, 0]),
        (lambda: f.where(np.array([True, False]), 0.0, masked([1, 1], 1, [1, 1])), [0, 1]),
        (lambda: f.where(np.array([True, False]), 2.0, masked([1, 1], 1, [0, 0])), [1, 0]),
        (lambda: f.scale(np.array([0.0, 2.0]), masked([1, 1], 1, [1, 1])), [0, 1])]}


@pytest.mark.parametrize("fact", STEEP)
@np.errstate(all="ignore")
def test_where_a_number_is_steep(fact):
    for k, (make, wanted) in enumerate(STEEP[fact]):
        out = make()
        places = out.where("steep")
        np.testing.assert_array_equal(np.broadcast_to(True if places is None else places(), np.shape(out.value)), np.array(wanted, bool), err_msg=str(k))


@np.errstate(all="ignore")
def test_what_does_not_flow_stays_0_at_an_infinite_factor_and_what_flows_does_not():
    d = masked([0, 0, 1], [0, 1, 1], [0, 1, 1])
    for product in (d * np.full(3, INF), f.mul(np.full(3, INF), d), d / np.zeros(3), d * INF, d * math.nan):
        assert product.value[0] == 0 and np.isnan(product.value[1]) and not np.isfinite(product.value[2])
    assert (d * 2.0).value.tolist() == [0, 0, 2]
    nowhere = masked([0, 0.0], [0, 0], [0, 0])
    assert (nowhere * np.full(2, INF)).value.tolist() == [0, 0] and np.isnan((masked([0, 0.0]) * np.full(2, INF)).value).all()


def test_a_seed_flows_where_its_direction_is_not_0():
    value = np.array([0.0, 1.0, 0.0])
    seed = Masked.seed(value, value, True)
    assert seed.forward and seed.flow().tolist() == [False, True, False] and seed.steep is seed.flow
    assert Masked.seed(value, np.ones(3)).flow is None and Masked.seed(value, 1.0).flow is None and not Masked.seed(value, 1.0).forward
    assert Masked.seed(value, 0.0).flow().any() and Masked.seed(0 * value, 0.0).flow().tolist() == [False] * 3
    other = seed.at(2 * value)
    assert (other.flow, other.steep, other.forward) == (seed.flow, seed.steep, True) and bare(other).tolist() == [0, 2, 0]
    assert bare({1: seed})[1] is seed.value


@pytest.mark.parametrize("size", [1, 3, 9_999, 10_000, 20_000])
def test_only_what_has_a_nan_is_unclear(size):
    x = np.ones(size)
    assert not unclear(x) and not unclear(x.astype(np.float32)) and not unclear({0: x}) and not unclear(np.arange(size))
    x[size // 2] = INF
    assert not unclear(x) and not unclear(x[size // 2])
    x[size // 2] = np.nan
    for unsure in x, x.astype(np.float32), x[size // 2], float(x[size // 2]), {0: np.ones(1), 1: x}, masked(x):
        assert unclear(unsure)


@pytest.mark.parametrize("op", ["divide", "ratio"])
@pytest.mark.parametrize("zero", [0, 0.0])
@np.errstate(divide="ignore", invalid="ignore")
def test_a_quotient_by_the_number_0_has_an_infinite_slope(op, zero):
    steps = [("y", op, ("x", zero)), ("d", "subtract", ("y", "y")), ("z", "tanh", ("d",))]
    values = eval(steps, {"x": 2.0})
    assert backprop(steps[:1], values, y=1.0)["x"] == eval(gradient(steps, "y", ["x"]), {"x": 2.0})["dy_dx"] == INF
    assert np.isnan(forward(steps, values, x=1.0)["z"])  # by the second walk


def test_a_product_in_which_0_is_nothing_is_a_product_elsewhere():
    x, w = np.meshgrid([0.0, -0.0, 1.0, -2.0, INF, np.nan], [0.0, 1.0, INF, -INF, np.nan])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(scale(x, w), np.where(x == 0, 0, x * w))
        np.testing.assert_array_equal(f.ratio(x, w), np.where(x == 0, 0, x / w))
        np.testing.assert_array_equal([f.ratio(x, y) for y in (2.0, 0.0, np.nan)], [np.where(x == 0, 0, x / np.float64(y)) for y in (2.0, 0.0, np.nan)])


def test_columns_of_vectors_are_sent_where_anything_flows_in_them():
    value, flow = np.ones((3, 2)), np.array([[False, False], [True, False], [False, False]])
    sent = columns_sent(masked(value, flow))
    assert sent.tolist() == [[True, False]] and columns_sent(masked(value, ~flow)).tolist() == [[True, True]]
    assert columns_sent(masked(np.ones((2, 3, 2)), np.stack([flow, ~flow]))).tolist() == [[[True, False]], [[True, True]]]
    assert columns_sent(value) is True and columns_sent(masked(value)) is True
