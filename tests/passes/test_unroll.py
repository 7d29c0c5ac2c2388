"""A loop written out computes the same to the last bit, as do its derivatives, which are the unrolled list's."""
import numpy as np
import pytest

import xman
from tests.engines.test_loops_in_engines import ARGS, branched, embedded, others, rnn
from xman import WengertList, XManError, eval, gradient, trace, unroll


def programs(steps):
    return [op for _, op, _ in steps if op in ("scan", "call", "bundle", "item")]


@pytest.mark.parametrize("fn", [rnn, embedded, others])
def test_values_and_gradients_are_those_of_the_loop(fn):
    steps = trace(fn, *ARGS.values())
    flat, loss = unroll(steps, ARGS), steps.outputs[0]
    both = gradient(steps, loss, ["U", "W", "h0"])
    wanted, of_flat = eval(both, ARGS), gradient(flat, loss, ["U", "W", "h0"])
    assert len(programs(flat)) < len(programs(steps)) and {*flat.outputs} >= {*steps.outputs}
    for found in (eval(unroll(both, ARGS), ARGS), eval(of_flat, ARGS)):
        for y in both.outputs:
            np.testing.assert_allclose(found[y], wanted[y], rtol=1e-12, atol=1e-14)
    assert eval(flat, ARGS)[loss] == wanted[loss]


def test_steps_have_numbers_and_what_turns_on_values_stays():
    steps = trace(lambda h0, X, U, W: xman.scan(lambda h, x: (np.tanh(h @ U + x @ W), None), h0, X)[0], *ARGS.values())
    assert [line[0] for line in unroll(steps, ARGS) if line[1] == "tanh"] == [f"h1_{t}" for t in range(1, 6)] + [steps[-1][0]]
    assert unroll(steps) == steps  # how many steps, no list says
    first = WengertList.from_text("def step(x, t):\n    return t, x\n\nb = bundle(0.5, 1)\nc = scan(step, 1, 1, b)\ny = item(c, 1)\nz = getitem(y, slice(1, None))")
    assert eval(unroll(first), {})["z"].shape == (0,)
    assert "cond" in [op for _, op, _ in unroll(trace(branched, *ARGS.values()), ARGS)]


def test_more_lines_than_anybody_wants_are_refused():
    steps = WengertList.from_text("def step(x, t):\n    x1 = sin(x)\n    return x1\n\nb = bundle(x, 100000000)\nc = scan(step, 1, 1, b)")
    with pytest.raises(XManError, match="the 100,000,000 steps of step make more than 10,000,000 lines"):
        unroll(steps)


def test_a_loop_in_a_loop_goes_by_the_rows_of_what_the_outer_step_computes():
    def nested(h, X):
        inner = lambda x: xman.scan(lambda c, y: (np.tanh(c * y), None), 0.5, np.sin(x) * h)[0]
        sums = xman.map(lambda x: xman.scan(lambda c, y: (c + y, c * y), 0.0, x)[1], X)
        return np.sum(sums) + xman.scan(lambda c, x: (c + inner(x), None), 1.0, X)[0]
    values = {"h": 0.3, "X": ARGS["X"][0]}
    steps = trace(nested, *values.values())
    flat = unroll(steps, values)
    assert "scan" in programs(steps) and not programs(flat)
    assert eval(flat, values)["nested"] == eval(steps, values)["nested"]


def test_what_is_no_list_is_refused_whether_shapes_are_known_or_not():
    for likes in (None, {"x": 1.0}):
        with pytest.raises(XManError, match="line 1.*nosuch"):
            unroll([("y", "nosuch", ("x",))], likes)


def test_an_array_that_is_broadcast_to_all_steps_is_no_number_for_each():
    steps = WengertList.from_text("def step(c, t):\n    c1 = sin(c)\n    return c1, c1\n\nb = bundle(x, 3)\ns = scan(step, 1, 1, b)\n"
                                  "y = item(s, 1)\nz = broadcast(v, y)\nr = mul(y, z)")
    values = {"x": np.array([0.5, 0.7]), "v": np.array([[1.0], [2.0], [3.0]])}
    assert np.array_equal(eval(unroll(steps, values), values)["r"], eval(steps, values)["r"])
