"""Facts about what a newcomer types first, and what they are told."""

import builtins
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ops
import xman
from ops.expression import HABITS
from xman import WengertList, XManError, custom_vjp, eval, f, grad, hessian, jacfwd, jacobian, jit, jvp, tree_map, vmap
from xman.notation.habits import ROWS

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("place, text", [("ops.py", "def helper(): pass\n"), ("ops.py", "raise SystemExit\n"), ("ops.py", ""),
                                         ("ops/__init__.py", "from xman import f\n")])
def test_an_ops_of_the_users_own_is_named_in_one_sentence_and_not_run(tmp_path, place, text):
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text(text)
    command = [sys.executable, "-c", "import sys; sys.path.append(sys.argv[1]); import xman", str(ROOT)]
    last = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: {tmp_path / place} hides the package ops that comes with xman: give it another name")


@pytest.mark.parametrize("formula, lines", [
    ("x * x", "f = mul(x, x)"), ("2*x + y", "z1 = mul(2, x), f = add(z1, y): one operator a line"), ("x ^ 2", "f = power(x, 2)"),
    ("-x.T @ y", "z1 = transpose(x), z2 = negative(z1), f = dot(z2, y): one operator a line"), ("x", "f = alias(x)"),
    ("mul(x - 1, y)", "z1 = subtract(x, 1), f = mul(z1, y): one operator a line"),
    ("1 / (1 + np.exp(-x))", "z1 = negative(x), z2 = exp(z1), z3 = add(1, z2), f = divide(1, z3): one operator a line")])
def test_a_formula_in_a_text_is_answered_with_its_lines_which_compute_it(formula, lines):
    with pytest.raises(XManError) as refused:
        WengertList.from_text(f"f = {formula}")
    assert str(refused.value).endswith(f"; write {lines}")
    steps = WengertList.from_text(lines.partition(":")[0].replace("), ", ")\n"))
    values = {"x": np.array([0.5, 2.0]), "y": np.array([3.0, -1.0])}
    wanted = builtins.eval(formula.replace("^", "**"), {"np": np, "mul": np.multiply, **values})
    np.testing.assert_array_equal(eval(steps, values)["f"], wanted)


def test_the_lines_for_a_formula_take_no_name_of_the_text():
    with pytest.raises(XManError, match="write z2 = mul.x, x., f = add.z2, z1."):
        WengertList.from_text("z1 = add(x, 1)\nf = x*x + z1")


@pytest.mark.parametrize("line", ["f = x[0]", "f = nothing(2*x)", "f(x) = x", "f = x if y else z", "f = exp(x, axis=1)"])
def test_what_is_no_formula_of_operators_is_answered_with_the_form_of_a_line(line):
    with pytest.raises(XManError, match="wanted an assignment of one operator"):
        WengertList.from_text(line)


@pytest.mark.parametrize("name", [name for name in HABITS if name[-1] != "="])
def test_a_name_of_another_system_is_answered_with_what_it_is_here(name):
    for room in xman, f, xman.functions:
        if not hasattr(room, name):
            with pytest.raises(AttributeError, match=re.escape(f"; here: {HABITS[name]}")):
                getattr(room, name)


@pytest.mark.parametrize("call, option", [
    (lambda: jit(np.sin, static_argnums=0), "static_argnums"), (lambda: xman.map(np.sin, [1.0], in_axes=1), "in_axes"),
    (lambda: grad(np.sin, argnames="x"), "argnames"), (lambda: hessian(np.sin, holomorphic=True), "holomorphic"),
    (lambda: vmap(np.sin, in_dims=0), "in_dims"), (lambda: custom_vjp(np.sin, nondiff_argnums=0), "nondiff_argnums"),
    (lambda: xman.cond(True, np.sin, np.cos, operand=1.0), "operand"), (lambda: tree_map(np.sin, [1.0], is_leaf=bool), "is_leaf"),
    (lambda: xman.while_loop(bool, abs, init_val=1.0), "init_val"), (lambda: xman.compile([], fullgraph=True), "fullgraph")])
def test_an_option_of_another_system_is_answered_with_what_it_is_here(call, option):
    with pytest.raises(TypeError, match=re.escape(f" takes no {option}=; here: {HABITS[option + '=']}")):
        call()


def test_an_unknown_option_is_answered_with_the_nearest_and_a_traced_value_answers_too():
    with pytest.raises(TypeError, match="grad takes no argnum=; did you mean 'argnums'"):
        grad(np.sin, argnum=0)
    answers = {"detach": "f.stopGradient", "unsqueeze": "x.reshape", "view": "x.reshape", "mm": "f.dot", "tanh": "f.tanh"}
    for method, here in answers.items():
        with pytest.raises((AttributeError, XManError), match=here):
            grad(lambda x, method=method: getattr(x, method)(0))(1.0)
    with pytest.raises(AttributeError, match="lower'; here: fast = xman.jit.fn.: fast.lists"):
        jit(np.sin).lower(1.0)


@pytest.mark.parametrize("derivative", [grad, xman.value_and_grad, jacobian, hessian])
def test_numbers_in_the_place_of_positions_are_refused_where_they_are_given(derivative):
    with pytest.raises(XManError, match=f"and found ndarray; the numbers come in a second call: {derivative.__name__}.fn..x."):
        derivative(np.sum, np.ones(3))


def test_deltas_of_inputs_alone_are_answered_with_what_the_values_are():
    with pytest.raises(XManError, match="for 'f', which has no value; values are what eval.steps, inputs. gives"):
        xman.backprop([("f", "square", ("x",))], {"x": 3.0}, f=1.0)


def test_the_page_for_those_who_come_from_elsewhere_has_the_table_of_names():
    page = (ROOT / "docs" / "coming-from.md").read_text("utf-8")
    rows = [f"| {', '.join(f'`{name}`' for name in names.split(', '))} | {here} |" for names, here in ROWS]
    assert page.endswith("| there | here |\n|---|---|\n" + "\n".join(rows) + "\n")


@pytest.mark.parametrize("axes", [(None, 0), (None, 1), (1, None), 0], ids=repr)
def test_vmap_stacks_what_the_function_gives_at_each_place_and_is_differentiated(axes):
    random = np.random.default_rng(0)
    a, b = random.normal(size=(3, 3)), random.normal(size=(3, 3))
    at = lambda x, axis, k: x if axis is None else np.take(x, k, axis)
    by_hand = lambda a, b: np.stack([np.tanh(at(a, axes[0], k) @ at(b, axes[1], k)) for k in range(3)])
    axes, given = (axes if isinstance(axes, tuple) else (axes, axes)), axes
    mapped = vmap(lambda x, y: np.tanh(x @ y), given)
    np.testing.assert_allclose(mapped(a, b), by_hand(a, b), rtol=1e-14)
    slope = lambda fn: grad(lambda a, b: np.sum(fn(a, b) ** 2), (0, 1))(a, b)
    np.testing.assert_allclose(slope(mapped), slope(by_hand), rtol=1e-12)


def test_vmap_takes_a_tree_of_axes_and_an_axis_of_the_results():
    layer, X = {"W": np.arange(6.0).reshape(2, 3), "b": np.arange(8.0).reshape(4, 2)}, np.arange(12.0).reshape(3, 4)
    predict = lambda layer, x: {"y": layer["W"] @ x + layer["b"]}
    wanted = layer["W"] @ X + layer["b"].T
    np.testing.assert_array_equal(vmap(predict, ({"W": None, "b": 0}, 1), 1)(layer, X)["y"], wanted)
    np.testing.assert_array_equal(vmap(predict, [{"W": None, "b": 0}, 1])(layer, X)["y"], wanted.T)
    with pytest.raises(XManError, match="in_axes of vmap is"):
        vmap(predict, ({"W": None}, 1))(layer, X)


def test_vmap_without_an_axis_is_refused():
    with pytest.raises(XManError, match="in_axes of vmap is .None, None."):
        vmap(np.add, (None, None))(1.0, 2.0)


def test_the_familiar_names_of_jacobians_and_trees_do_what_they_do_elsewhere():
    fn, x = lambda x: np.exp(x[1:] * x[:-1]), np.array([0.1, 0.2, 0.3])
    np.testing.assert_array_equal(jacfwd(fn)(x), jacobian(fn, mode="forward")(x))
    np.testing.assert_array_equal(xman.jacrev(fn)(x), jacobian(fn, mode="reverse")(x))
    assert tree_map(lambda a, b: a + b, {"a": 1, "b": [2, 3]}, {"a": 10, "b": [20, 30]}) == {"a": 11, "b": [22, 33]}
    with pytest.raises(XManError, match="the same structure"):
        tree_map(max, [1, 2], [1, 2, 3])


def test_a_function_with_a_way_back_of_its_own_is_differentiated_by_it_in_all_modes_and_orders(monkeypatch):
    for table in (ops.G, ops.DG, ops.TG):  # the operator exp_ ends with the test
        monkeypatch.setitem(table, "exp_", None)
        table.pop("exp_")

    @custom_vjp
    def scaled(x, y): return np.minimum(x, 1.0) * y
    with pytest.raises(XManError, match="scaled has no way back yet"):
        scaled(1.0, 2.0)
    scaled.defvjp(lambda x, y: (scaled(x, y), (x, y)), lambda xy, u: (u * xy[1], u * np.minimum(xy[0], 1.0)))
    assert scaled(3.0, 2.0) == 2.0 and grad(scaled, (0, 1))(3.0, 2.0) == (2.0, 1.0) == jit(grad(scaled, (0, 1)), "tape")(3.0, 2.0)
    assert jvp(scaled, (3.0, 2.0), (1.0, 0.0))[1] == 2.0
    assert grad(grad(lambda x: scaled(x, x)))(3.0) == 1.0  # of x + min(x, 1), and not of min(x, 1) alone
    exp = custom_vjp(lambda x: 3.0 * x)
    exp.__name__ = "exp"
    exp.defvjp(lambda x: (exp(x), None), lambda _, u: (7.0 * u,))
    assert exp(1.0) == 3.0 and grad(exp)(1.0) == 7.0 and f.exp(0.0) == 1.0
