"""trace: the list of the path that a function takes."""
from __future__ import annotations

import cProfile
import sys

import numpy as np
import pytest

from xman import WengertList, XManError, backprop
from xman import eval as evaluate
from xman.functions import grad, jvp, trace


def network(params, X, y=None):
    h = X
    for W, b in params["layers"]:
        h = np.tanh(h @ W + b)
    unused = np.exp(h)  # noqa: F841
    return np.mean((h - y) ** 2) if y is not None else h


PARAMS = {"layers": [(np.eye(2), np.zeros(2)), (np.ones((2, 1)), np.zeros(1))]}


def test_the_list_has_the_users_names_and_no_line_that_leads_nowhere():
    assert repr(trace(network, PARAMS, np.ones((3, 2)), np.ones((3, 1)))) == """\
z1 = dot(X, params_layers_0_0)
z2 = add(z1, params_layers_0_1)
z3 = tanh(z2)
z4 = dot(z3, params_layers_1_0)
z5 = add(z4, params_layers_1_1)
h = tanh(z5)
z6 = subtract(h, y)
z7 = power(z6, 2)
network = mean(z7)"""


def test_the_list_is_a_wengert_list_that_evaluates_and_reads_back_from_its_text():
    def eq17(x1, x2):
        a = x1 / x2
        b = np.exp(x2)
        return (np.sin(a) + a - b) * (a - b)

    steps = trace(eq17, 1.5, 0.5)
    assert type(steps) is WengertList and WengertList.from_text(str(steps)) == list(steps)
    assert [line[0] for line in steps] == ["a", "b", "z1", "z2", "z3", "z4", "eq17"]
    values = evaluate(steps, {"x1": 1.5, "x2": 0.5})
    deltas = backprop(steps, values, eq17=1.0)
    assert (values["eq17"], deltas["x1"], deltas["x2"]) == pytest.approx((2.0167, 3.0118, -13.7239), abs=1e-4)  # Adams rounds


def test_a_branch_and_a_loop_are_the_path_taken():
    def path(x, n):
        for _ in range(n):
            x = x * x if x > 1.0 else x + 1.0
        return x
    assert repr(trace(path, 2.0, 2)) == "z1 = mul(x, x)\npath = mul(z1, z1)"
    assert repr(trace(path, 0.5, 2)) == "z1 = add(x, 1.0)\npath = mul(z1, z1)"


def test_inputs_are_floats_and_arrays_and_all_else_is_the_program():
    def fn(x, labels, n, flag, name, g, nothing, *, keyword):
        return np.sum(g(x)[labels]) * n * keyword if flag and name and nothing is None else x
    steps = trace(fn, np.ones(3), np.array([0, 1]), 2, True, "name", np.sin, None, keyword=3.0)
    assert steps.inputs == ("x", "labels")
    assert repr(steps) == "z1 = sin(x)\nz2 = getitem(z1, labels)\nz3 = sum(z2)\nz4 = mul(z3, 2)\nfn = mul(z4, 3.0)"


def test_several_outputs_are_called_by_their_paths():
    def fn(x):
        return {"a": [x * 2.0, x], "b": 3.0}
    assert repr(trace(fn, 1.0)) == "fn_a_0 = mul(x, 2.0)\nfn_a_1 = alias(x)\nfn_b = alias(3.0)"


def test_outputs_whose_paths_read_alike_have_names_of_their_own():
    def fn(x):
        return {"a b": x * 2.0, "a_b": x * 3.0}
    assert len({line[0] for line in trace(fn, 1.0)}) == 2


def test_one_result_given_twice_has_an_alias():
    def twice(x):
        y = x + 1.0
        return y, y
    assert repr(trace(twice, 1.0)) == "twice_0 = add(x, 1.0)\ntwice_1 = alias(twice_0)"


@pytest.mark.parametrize(("fn", "args", "text"), [
    (lambda x: 2.0 * x, [1.0], "result = mul(2.0, x)"),
    (np.tanh, [1.0], "result = tanh(x)"),
    (lambda mean, z1: mean * z1 + z1, [1.0, 2.0], "z2 = mul(mean_, z1)\nresult = add(z2, z1)"),
    (lambda result, *rest: result * rest[0], [1.0, 2.0], "result_ = mul(result, rest_0)"),
], ids=["a lambda", "a ufunc is called like its operator", "a parameter is called like an operator", "result is taken"])
def test_names_that_a_list_cannot_have_are_changed(fn, args, text):
    assert repr(trace(fn, *args)) == text


def test_a_derivative_is_traced_with_the_names_of_its_function():
    def fn(x):
        a = np.sin(x)
        return a * x
    steps = trace(grad(fn), 0.5)
    assert steps.inputs == ("x",) and steps[0] == ("a", "sin", ("x",))
    assert evaluate(steps, {"x": 2.0})[steps[-1][0]] == pytest.approx(np.sin(2) + 2 * np.cos(2))


def test_the_list_of_a_derivative_serves_other_shapes():
    def loss(W, X):
        return np.sum(np.tanh(X + W) ** 2)
    steps = trace(grad(loss), np.ones((1, 2)), np.ones((1, 2)))
    wide = evaluate(steps, {"W": np.ones((1, 2)), "X": np.ones((5, 2))})[steps[-1][0]]
    assert wide.shape == (1, 2) and wide == pytest.approx(grad(loss)(np.ones((1, 2)), np.ones((5, 2))))


def test_an_array_of_the_closure_is_a_literal_and_later_writes_do_not_matter():
    data = np.ones(2)
    steps = trace(lambda x: x * data, np.ones(2))
    data[:] = 7.0
    assert evaluate(steps, {"x": np.ones(2)})["result"].tolist() == [1, 1]


def test_the_precision_of_a_numpy_number_stays_where_it_matters():
    single = trace(lambda x: x * np.float64(2.0), np.ones(2, np.float32))
    assert evaluate(single, {"x": np.ones(2, np.float32)})["result"].dtype == np.float64
    assert repr(trace(lambda x: x * np.float64(2.0), np.ones(2))) == "result = mul(x, 2.0)"


def test_a_profiler_that_was_set_is_set_again():
    profiler = lambda *_: None
    sys.setprofile(profiler)
    try:
        trace(lambda x: x * 2.0, 1.0)
        assert sys.getprofile() is profiler
    finally:
        sys.setprofile(None)


def test_the_profiler_of_the_library_goes_on_after_a_trace():
    with cProfile.Profile() as profiler:
        trace(lambda x: x * 2.0, 1.0)
        sorted([2, 1])
    assert any("sorted" in str(entry.code) for entry in profiler.getstats())


def test_a_list_may_be_traced_inside_a_derivative():
    def fn(x):
        steps = trace(lambda y: y * 3.0, x)
        return x * len(steps)
    assert jvp(fn, (2.0,), (1.0,)) == (2.0, 1.0)


@pytest.mark.parametrize("fn", [lambda x, labels: np.eye(3)[labels] * x, lambda x, labels: np.ones(2)[x > 0] * labels[0]])
def test_an_index_of_a_plain_array_is_no_silent_constant_of_the_list(fn):
    with pytest.raises(XManError, match="constant of the list; write f.getitem"):
        trace(fn, np.ones(2), np.array([0, 1]))


def test_a_value_of_a_call_around_cannot_be_a_literal():
    with pytest.raises(XManError, match="mul was given a Tracer"):
        grad(lambda x: trace(lambda y: y * x, 1.0) and x)(2.0)


# bugs that had survived planting


def test_a_variable_of_a_call_of_itself_names_nothing():
    def tower(x, n):
        if n == 1:
            least = x * 1.5
            return least
        return tower(x, n - 1) * x
    assert repr(trace(tower, 2.0, 2)) == "z1 = mul(x, 1.5)\ntower = mul(z1, x)"


def test_no_temporary_takes_the_name_of_a_parameter():
    assert repr(trace(lambda z1: np.sin(np.exp(z1)), 1.0)) == "z2 = exp(z1)\nresult = sin(z2)"


def test_a_variable_called_as_its_function_leaves_the_name_to_the_output():
    def loss(x):
        loss = x * 2.0
        return np.sin(loss)
    assert repr(trace(loss, 1.0)) == "z1 = mul(x, 2.0)\nloss = sin(z1)"
