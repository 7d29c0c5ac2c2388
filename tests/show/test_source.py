"""A list as a Python function: it runs, it gives what the interpreters give, and it reads like one written by hand."""

import ast

import numpy as np
import pytest

from tests.ops.operator_cases import CASES, in_each
from xman import WengertList, XMan, XManError, backprop, eval, f, forward
from xman.models import LSTM, MLP
from xman.passes import ALGEBRA, EXACT
from xman.show.source import source

R = np.random.default_rng(7)
TRIANGLE = [("z1", "mul", ("h", "w")), ("area", "half", ("z1",))]
EQ17 = [("v1", "divide", ("x1", "x2")), ("v2", "sin", ("v1",)), ("v3", "exp", ("x2",)), ("v4", "subtract", ("v1", "v3")),
        ("v5", "add", ("v2", "v4")), ("y", "mul", ("v5", "v4"))]


class House(XMan):
    h, w = f.param(default=5.0), f.param(default=10.0)
    targetArea, targetHeight, heightFactor = f.input(default=200.0), f.input(default=8.0), f.input(default=100.0)
    area = h * w + f.half(f.half(h) * w)
    loss = f.square(area - targetArea) + f.square(h - targetHeight) * heightFactor


def run(text, values):
    """What the function of the text returns for the values by name."""
    space = {}
    exec(compile(text, "<source>", "exec"), space)
    function = next(v for v in space.values() if getattr(v, "__module__", None) is None and callable(v) and hasattr(v, "__code__"))
    return function(*(values[name] for name in function.__code__.co_varnames[:function.__code__.co_argcount]))


def model_and_values(model, rows=4):
    features = next(np.shape(default)[0] for name, default in model.inputDict().items() if name.startswith("W"))
    inputs = {name: R.normal(size=(rows, features)) for name in model.operationSequence(model.loss).inputs if name[0] == "X"}
    return model.operationSequence(model.loss), model.inputDict(**inputs, y=np.eye(3)[R.integers(0, 3, rows)])


NETWORK, NUMBERS = model_and_values(MLP([4, 5, 3], dtype=np.float64))
LISTS = {"triangle": (TRIANGLE, {"h": np.float64(3), "w": np.float64(6)}), "eq. 17": (EQ17, {"x1": np.float64(1.5), "x2": np.float64(0.5)}),
         "house": (House().setup().operationSequence(House.loss), {k: np.float64(v) for k, v in House().setup().inputDict().items()}),
         "mlp": (NETWORK, NUMBERS), "hinge": model_and_values(MLP([2, 3, 3], dtype=np.float64, loss="hinge")),
         "lstm": model_and_values(LSTM(2, 3, 3, steps=2, dtype=np.float64))}
each_list = pytest.mark.parametrize("steps, values", LISTS.values(), ids=LISTS)
with_likes = pytest.mark.parametrize("likes", [False, True], ids=["plain", "with likes"])


def leaves(steps, values):
    return [name for name in WengertList(steps).inputs if np.asarray(values[name]).dtype.kind == "f" and name != "y"]


@with_likes
@each_list
def test_the_function_gives_the_values_of_eval_to_the_last_bit(steps, values, likes):
    expected = eval(steps, values)[steps[-1][0]]
    assert np.array_equal(run(source(steps, likes=values if likes else None), values), expected)


@with_likes
@each_list
def test_the_function_of_the_gradient_gives_the_deltas_of_backprop(steps, values, likes):
    of, wrt = steps[-1][0], leaves(steps, values)
    result = eval(steps, values)
    deltas = backprop(steps, result, **{of: 1.0})
    value, *slopes = run(source(steps, of, wrt, likes=values if likes else None), values)
    assert np.array_equal(value, result[of])
    for x, slope in zip(wrt, slopes, strict=True):
        np.testing.assert_allclose(slope, deltas[x], rtol=1e-12, atol=1e-15)


@with_likes
@each_list
def test_the_function_of_the_tangent_gives_the_tangents_of_forward(steps, values, likes):
    of, wrt = steps[-1][0], leaves(steps, values)
    directions = {x: R.normal(size=np.shape(values[x])) for x in wrt}
    expected = forward(steps, eval(steps, values), directions)[of]
    text = source(steps, wrt=wrt, likes=values if likes else None)
    _, slope = run(text, {**values, **{x + "_dot": d for x, d in directions.items()}})
    np.testing.assert_allclose(slope, expected, rtol=1e-12, atol=1e-15)


@in_each([(op,) for op in CASES])
def test_every_operator_can_be_written_out(op):
    for args in CASES[op]:
        names = [f"x{i}" if isinstance(a, np.ndarray) else a for i, a in enumerate(args)]
        values = {f"x{i}": a for i, a in enumerate(args) if isinstance(a, np.ndarray)}
        if values:
            steps = [("y", op, tuple(names))]
            np.testing.assert_array_equal(run(source(steps), values), eval(steps, values)["y"])


def test_the_triangle_is_written_as_a_person_would():
    assert source(TRIANGLE) == '''\
def value_of_area(h, w):
    """area."""
    area = 0.5 * (h * w)
    return area
'''


def test_each_adjoint_stands_under_the_line_it_belongs_to():
    assert source(EQ17, "y", ["x1", "x2"], {"x1": 1.5, "x2": 0.5}, EXACT + ALGEBRA) == '''\
import numpy as np


def gradient_of_y(x1, x2):
    """y and its gradient: dy_dx1 is ∂y/∂x1, and so on (reverse mode)."""
    v1 = x1 / x2
    v2 = np.sin(v1)
    v3 = np.exp(x2)
    v4 = v1 - v3
    v5 = v2 + v4
    y = v5 * v4

    # v5 = v2 + v4
    dy_dv4 = v5 + v4

    # v3 = np.exp(x2)
    z7 = -(dy_dv4 * v3)

    # v2 = np.sin(v1)
    dy_dv1 = dy_dv4 + v4 * np.cos(v1)

    # v1 = x1 / x2
    dy_dx1 = dy_dv1 / x2
    dy_dx2 = z7 - dy_dv1 * v1 / x2
    return y, dy_dx1, dy_dx2
'''


def test_each_tangent_stands_under_the_line_it_belongs_to():
    lines = [line.strip() for line in source(EQ17, wrt=["x1"], likes={"x1": 1.5, "x2": 0.5}).splitlines()]
    for name in ("v1", "v2", "v5", "y"):
        assert lines[[line.startswith(f"{name} =") for line in lines].index(True) + 1].startswith(f"{name}_dot =")


def test_with_shapes_known_a_networks_gradient_is_the_textbooks():
    lines = [line.strip() for line in source(NETWORK, "loss", ["W1", "b1", "W2", "b2"], NUMBERS).splitlines()]
    for line in ("dloss_dW2 = h1.T @ dloss_dscores", "dloss_dh1 = dloss_dscores @ W2.T", "dloss_dW1 = X.T @ dloss_dz2",
                 "dloss_dz2 = dloss_dh1 * (1.0 - h1 * h1)", "dloss_db1 = np.sum(dloss_dz2, axis=0, keepdims=True)"):
        assert line in lines


def test_registers_called_f_and_np_do_not_hide_the_operators():
    steps = [("np", "softplus", ("x",)), ("f", "exp", ("np",)), ("y", "softplus", ("f",)), ("z", "cos", ("y",))]
    values = {"x": np.float64(0.3)}
    assert run(source(steps), values) == eval(steps, values)["z"]
    assert run(source(steps, "z", ["x"]), values)[1] == pytest.approx(backprop(steps, eval(steps, values), z=1.0)["x"], rel=1e-14)


@pytest.mark.parametrize("name", ["np", "f"])
def test_a_function_with_the_name_of_its_import_runs(name):
    steps = [("y", "sin", ("x",)), ("z", "softplus", ("y",))]
    assert run(source(steps, name=name), {"x": 0.3}) == eval(steps, {"x": 0.3})["z"]


def test_no_line_of_a_long_function_is_wider_than_a_page():
    steps, values = model_and_values(LSTM(2, 3, 3, steps=10, dtype=np.float64))
    assert max(map(len, source(steps, "loss", leaves(steps, values)).splitlines())) <= 130


def test_several_outputs_come_as_a_tuple():
    steps = [("a", "exp", ("x",)), ("b", "sin", ("x",))]
    assert source(steps).endswith("return a, b\n") and run(source(steps), {"x": 0.0}) == (1.0, 0.0)


def test_the_function_can_be_given_a_name():
    assert source(TRIANGLE, name="triangle").startswith("def triangle(h, w):")


def test_a_list_of_literals_alone_is_a_function_of_nothing():
    assert run(source([("y", "add", (1.0, 2.0))]), {}) == 3.0


def test_the_text_is_one_function_with_a_docstring():
    tree = ast.parse(source(NETWORK, "loss", ["W1"]))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len(functions) == 1 and "∂loss/∂W1" in ast.get_docstring(functions[0])


@pytest.mark.parametrize("call, words", [
    (lambda: source([]), "the list is empty"),
    (lambda: source("z = mul(x, y)"), "write WengertList.from_text(steps)"),
    (lambda: source(TRIANGLE, of="area"), "the gradient of 'area' is with respect to what? name it, as in wrt=['h']"),
    (lambda: source(TRIANGLE, of="aera", wrt=["h"]), "of names 'aera', which the list does not have; did you mean 'area'?"),
    (lambda: source(TRIANGLE, of="area", wrt=["x"]), "wrt names 'x', which the list does not have"),
    (lambda: source(TRIANGLE, wrt=["x"]), "wrt names 'x', which the list does not have"),
    (lambda: source(TRIANGLE, name="lambda"), "a register cannot be called 'lambda', which is a Python keyword"),
    (lambda: source(TRIANGLE, name="two words"), "is not an identifier"),
    (lambda: source([("y", "squre", ("x",))]), "which is not in the table of operators; did you mean 'square'?"),
    (lambda: source([("y", "round", ("x",)), ("y", "exp", ("x",))]), "assigns y a second time")])
def test_what_is_wrong_gets_a_sentence(call, words):
    with pytest.raises(XManError) as error:
        call()
    assert words in str(error.value)


# bugs that had survived planting


def test_what_is_differentiated_stands_line_by_line_temporaries_too():
    text = source([("z1", "mul", ("h", "w")), ("area", "half", ("z1",))], "area", ["h"], {"h": 1.0, "w": 1.0})
    assert "    z1 = h * w\n    area = 0.5 * z1\n" in text


def test_an_output_that_does_not_depend_on_wrt_has_no_tangent():
    assert source([("y", "exp", ("x",)), ("z", "sin", ("v",))], wrt=["x"]).endswith("return y, z, y_dot\n")


def test_with_likes_the_tangents_too_are_known_by_shape():
    assert "broadcast" not in source([("z1", "mul", ("h", "w")), ("area", "half", ("z1",))], wrt=["h"], likes={"h": 1.0, "w": 1.0})
