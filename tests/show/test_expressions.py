"""Facts about lines as Python expressions: what they look like, and that they evaluate to what the operator does."""
import ast

import numpy as np
import pytest

import ops
from ops import f
from tests.ops.operator_cases import APPLYING, CASES, in_each
from xman import WengertList, XManError
from xman.formulas.expressions import expression, inlined, mathematical


def text(op, args):
    return ast.unparse(expression(op, args))


def evaluated(source, **values):
    return eval(source, {"np": np, "f": f, **values})


def assert_same(a, b):
    assert type(a) is type(b)
    if isinstance(b, (np.ndarray, np.generic)):
        assert a.dtype == b.dtype and np.shape(a) == np.shape(b) and a.tobytes() == b.tobytes()
    else:
        assert repr(a) == repr(b)


def test_every_operator_has_cases():
    lacking = ops.OURS - CASES.keys() - APPLYING.keys()  # what applies functions is swept in operators made of it
    assert not lacking, f"tests/ops/operator_cases.py lacks a row for {lacking}"


@pytest.mark.filterwarnings("ignore:::")
@in_each((op, args) for op, cases in CASES.items() for args in cases)
def test_the_text_evaluates_to_the_operators_value_bit_for_bit(op, args):
    names = {f"x{i}": a for i, a in enumerate(args) if isinstance(a, np.ndarray)}
    line = [f"x{i}" if isinstance(a, np.ndarray) else a for i, a in enumerate(args)]
    assert_same(evaluated(text(op, line), **names), ops.G[op](*args))
    if not any(isinstance(a, np.ndarray) and a.dtype.kind not in "biuf" for a in args):  # those are no literals
        assert_same(evaluated(text(op, args)), ops.G[op](*args))  # all of it literal


@pytest.mark.parametrize("op, args, source", [
    ("add", ("x", "y"), "x + y"), ("mul", (2, "x"), "2 * x"), ("dot", ("x", "W"), "x @ W"), ("negative", ("x",), "-x"),
    ("half", ("x",), "0.5 * x"), ("square", ("x",), "x ** 2"), ("power", (-2.0, "x"), "(-2.0) ** x"), ("alias", ("x",), "x"),
    ("reciprocal", ("x",), "1.0 / x"), ("greater", ("x", 0), "x > 0"), ("transpose", ("x",), "x.T"), ("mT", ("x",), "x.mT"),
    ("transpose", ("x", (2, 0, 1)), "np.transpose(x, axes=(2, 0, 1))"), ("getitem", ("x", slice(1, None), 0), "x[1:, 0]"),
    ("getitem", ("x", None, ..., slice(None, None, -2)), "x[None, ..., ::-2]"), ("getitem", ("x", "i"), "x[i]"),
    ("getitem", ("x",), "x[()]"), ("getitem", ("x", (0, 1)), "x[(0, 1),]"), ("exp", ("x",), "np.exp(x)"),
    ("abs", ("x",), "np.abs(x)"), ("sum", ("x", None, True), "np.sum(x, keepdims=True)"), ("mean", ("x", 0), "np.mean(x, axis=0)"),
    ("reshape", ("x", (3, -1)), "np.reshape(x, (3, -1))"), ("reshape", ("x", "y"), "f.reshape(x, y)"),
    ("concat", (1, "x", "y"), "np.concatenate((x, y), axis=1)"), ("stack", (0, "x"), "np.stack((x,), axis=0)"),
    ("einsum", (("ij,jk->ik",), "x", "y"), "np.einsum('ij,jk->ik', x, y)"), ("clip", ("x", 0.5), "np.clip(x, 0.5, None)"),
    ("clip", ("x", "lo", 1.0), "np.clip(x, lo, 1.0)"), ("softmax", ("x",), "f.softmax(x)"), ("softmax", ("x", -1), "f.softmax(x)"),
    ("norm", ("x", 1, True), "f.norm(x, axis=1, keepdims=True)"), ("scale", ("x", "w"), "f.scale(x, w)"),
    ("leakyRelu", ("x", "s"), "f.leakyRelu(x, slope=s)"), ("scatterAdd", ("d", "x", slice(None), 1), "f.scatterAdd(d, x, slice(None), 1)"),
    ("logical_and", ("x", "y"), "np.logical_and(x, y)"), ("add", ("x", float("inf")), "x + np.inf"), ("add", (2, 3), "np.add(2, 3)"),
    ("mul", ("x", -float("inf")), "x * -np.inf"), ("mul", ("x", float("nan")), "x * np.nan"), ("mul", ("x", -0.0), "x * -0.0"),
    ("add", ("x", np.array([1.0, -2.0])), "x + np.array([1.0, -2.0])"), ("add", ("x", np.float32(2)), "x + np.float32(2.0)"),
    ("add", ("x", np.zeros((0, 3), "f")), "x + np.reshape(np.array([], dtype='float32'), (0, 3))")])
def test_a_line_is_written_as_a_person_would(op, args, source):
    assert text(op, args) == source


def test_an_operator_of_the_users_own_is_called_by_its_name(monkeypatch):
    monkeypatch.setitem(ops.G, "cubed", lambda x: x * x * x)
    assert text("cubed", ("x",)) == "f.cubed(x)"


def test_brackets_are_those_that_are_needed():
    inner = expression("add", ("x", "y"))
    assert ast.unparse(expression("mul", (inner, "z"))) == "(x + y) * z"
    assert ast.unparse(expression("add", (inner, "z"))) == "x + y + z"
    assert ast.unparse(expression("getitem", (inner, 0))) == "(x + y)[0]"


def test_an_expression_compiles():
    e = ast.fix_missing_locations(ast.Expression(expression("sum", (expression("getitem", ("x", slice(1, 3))), 0))))
    assert eval(compile(e, "", "eval"), {"np": np, "x": np.arange(4.0)}) == 3.0


@pytest.mark.parametrize("op, args, shown", [
    ("mul", (2.0, "z2"), "2·z2"), ("square", ("z2",), "z2^2"), ("divide", ("x", "y"), "x/y"), ("exp", ("x",), "exp(x)"),
    ("mul", ("x", 12.05), "x·12.05"), ("transpose", ("f",), "f.T"), ("sigmoid", ("f",), "sigmoid(f)"), ("add", ("x", 10.0), "x + 10")])
def test_the_mathematical_form_is_that_of_the_notes(op, args, shown):
    assert mathematical(expression(op, args)) == shown


EQ3 = WengertList([("z1", "mul", (4, "y")), ("z2", "add", ("x", "z1")), ("z3", "add", ("x", "y")),
                   ("z4", "mul", ("z3", "y")), ("h", "mul", ("z2", "z4"))])


def test_a_register_is_written_out_in_its_inputs():
    assert ast.unparse(inlined(EQ3, "h")) == "(x + 4 * y) * ((x + y) * y)"


def test_an_input_is_itself():
    assert ast.unparse(inlined(EQ3, "x")) == "x"


def test_an_expression_that_would_explode_is_refused_at_once():
    doubling = WengertList((f"z{k + 1}", "add", (f"z{k}", f"z{k}")) for k in range(200))
    with pytest.raises(XManError, match="z200, written out in its inputs, has more than 200 parts; print the list"):
        inlined(doubling, "z200")
    assert ast.unparse(inlined(doubling, "z2")) == "z0 + z0 + (z0 + z0)"


def test_a_deep_expression_within_the_limit_is_printed():
    chain = WengertList((f"z{k + 1}", "sin", (f"z{k}",)) for k in range(150))
    assert ast.unparse(inlined(chain, "z150")).count("sin") == 150


def test_an_unknown_operator_is_named_with_the_nearest():
    with pytest.raises(XManError, match="there is no operator 'sofmax'; define it with ops.operator; did you mean 'softmax'"):
        text("sofmax", ("x",))
