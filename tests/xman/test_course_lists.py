"""Facts about lists of the course: registers called like operators, its operators in those of `ops`, mistakes in its tables."""

import inspect
import os
import warnings

import numpy as np
import pytest
from course_programs import BP_FUNS, CLASSES, EVAL_FUNS, ROWS, E, L, perceptron

import ops
import xman
from xman import COURSE, Autograd, XManError, backprop, compile, eval, gradient, source, translated
from xman.notation import apart_from_operators, from_text, to_text
from xman.train import evaluate, fit, predict

RANDOM_CASES = 600 if os.environ.get("XMAN_ALL_CASES") else 30


# registers with the name of an operator


OPERATORS = ["exp", "mul", "half", "mean", "softmax", "dot", "add", "where", "sum", "max"]


@pytest.mark.parametrize("seed", range(RANDOM_CASES))
def test_a_register_may_have_the_name_of_an_operator_where_the_tables_are_handed_in(seed):
    random, plain = np.random.default_rng(seed), [("z0", "mul", ("x", "w"))]
    for k in range(1, 8):
        op = random.choice(["add", "mul", "square", "tanh", "half"])
        plain.append((f"z{k}", str(op), tuple(str(a) for a in random.choice(["x", "w", *(f"z{i}" for i in range(k))],
                                                                              1 + (op in ("add", "mul"))))))
    called = dict(zip(random.choice(["x", "w", *(f"z{k}" for k in range(8))], 4, replace=False).tolist(),
                      random.choice([*OPERATORS, "exp_"], 4, replace=False).tolist(), strict=True))
    new = lambda a: called.get(a, a)
    steps = [(new(dst), op, tuple(map(new, args))) for dst, op, args in plain]
    values, G, DG = {"x": 0.3, "w": -0.7}, dict(ops.G), dict(ops.DG)
    right = eval(plain, values)
    found = eval(steps, {new(a): v for a, v in values.items()}, G)
    assert found == {new(a): v for a, v in right.items()}
    deltas = backprop(steps, found, DG, **{new("z7"): 1.0})
    assert deltas == {new(a): v for a, v in backprop(plain, right, z7=1.0).items()}
    if refused := {*called.values()} & ops.G.keys() & {a for dst, _, args in steps for a in (dst, *args)}:
        for call in (eval, lambda steps, values: gradient(steps, new("z7"), [new("x")])):
            with pytest.raises(XManError, match="a register cannot be called '.*', which is an operator"):
                call(steps, values)
    text = to_text(steps)
    assert all(f"is the register {name}, which has the name of an operator" in text for name in refused)
    again, renamed = from_text(text), apart_from_operators(steps)[1]
    inputs = {renamed.get(new(a), new(a)): v for a, v in values.items()}
    assert renamed.keys() == refused and eval(again, inputs)[again[-1][0]] == right["z7"]
    exec(source(steps, of=new("z7"), wrt=[new("x")]), space := {})
    function = next(value for name, value in space.items() if name.startswith("gradient_of_"))
    wanted = {new(a): v for a, v in backprop(plain, right, z7=1.0).items()}
    assert function(*(inputs[a] for a in inspect.signature(function).parameters))[1] == wanted.get(new("x"), 0.0)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        step = compile(steps, engine="interpret")
    assert len(said) == len(refused) and all(any(name in str(w.message) for w in said) for name in refused)
    assert step(inputs)[again[-1][0]] == right["z7"]


def test_source_says_what_a_register_with_the_name_of_an_operator_is_called():
    text = source([("exp", "square", ("half",)), ("y", "mul", ("exp", 3.0))], of="y", wrt=["half"], likes={"half": 2.0})
    exec(text, space := {})
    assert text.startswith("# exp_ is the register exp,") and "# half_ is the register half," in text
    assert space["gradient_of_y"](2.0) == (12.0, 12.0)


# lists of the course in the operators of ops


def test_a_translated_list_has_the_values_and_the_gradient_of_the_students_tables():
    net = perceptron()
    opseq, data = net.operationSequence(net.loss), net.inputDict(out0=E.reshape(ROWS, -1), y=L)
    steps = translated(opseq)
    assert repr(steps).splitlines()[0] == "z1 = dot(out0, W0)" and steps[-2][1] == "crossEntropy"
    ad = Autograd(net, EVAL_FUNS, BP_FUNS)
    right = ad.bprop(opseq, ad.eval(opseq, dict(data)), loss=1.0)
    slopes = gradient(steps, "loss", ["W0", "b1"])
    for name in ("W0", "b1"):
        for found in (backprop(steps, eval(steps, data), loss=1.0)[name], eval(slopes, data)[f"dloss_d{name}"],
                      compile(slopes, engine="numpy")(data)[f"dloss_d{name}"]):
            np.testing.assert_allclose(found, right[name], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("op, args", [
    ("add", "AB"), ("subtract", "AB"), ("mul", "AC"), ("hadamard", "AB"), ("elem_prod", "AB"), ("ele_mul", "AB"), ("square", "A"),
    ("relu", "A"), ("tanh", "A"), ("logistic", "A"), ("softMax", "A"), ("crossEnt", "PY"), ("crossEnt-softMax", "AY"),
    ("mean", "A")])
def test_each_operator_of_the_course_means_what_its_students_wrote(op, args):
    random = np.random.default_rng(0)
    values = {"A": random.normal(size=(4, 3)), "B": random.normal(size=(4, 3)), "C": random.normal(size=(3, 2)),
              "P": random.dirichlet([1, 1, 1], 4), "Y": np.eye(3)[[0, 2, 1, 1]]}
    table = EVAL_FUNS | {"elem_prod": np.multiply, "ele_mul": np.multiply,
                         "crossEnt-softMax": lambda x, y: EVAL_FUNS["crossEnt"](EVAL_FUNS["softMax"](x), y)}
    steps = [("z", op, tuple(args))]
    np.testing.assert_allclose(eval(translated(steps), values)["z"], eval(steps, values, table)["z"], rtol=1e-13)


def test_a_course_model_is_fitted_translated_and_refused_as_it_is():
    net, data = perceptron(), (E, L.argmax(1))
    net.feed = lambda X, y: {"out0": X.reshape(len(X), -1), **({} if y is None else {"y": np.eye(CLASSES)[y]})}
    before = net.inputDict()["W0"].copy()
    result = fit(translated(net), data, epochs=30, lr=0.5, optimizer="sgd", engine="numpy", progress=False)
    assert evaluate(translated(net), result.parameters, data)[1] > 0.6
    assert predict(translated(net), result.parameters, E).shape == (ROWS, CLASSES) and (net.W0.default == before).all()
    with pytest.raises(XManError, match="'softMax'.*xman.translated writes a list of the course in ours; did you mean 'softmax'"):
        fit(net, data, epochs=1)


def test_an_operator_of_ones_own_is_translated_by_a_function():
    steps = [("z", "tri_add", ("x", "w", "b")), ("same", "copy", ("z",)), ("y", "hadamard", ("same", 2.0))]
    mine = {**COURSE, "tri_add": lambda a, b, c: a + b + c, "copy": lambda a: a}
    assert repr(translated(steps, mine)) == "z1 = add(x, w)\nz = add(z1, b)\nsame = alias(z)\ny = mul(same, 2.0)"
    with pytest.raises(XManError, match=r"line 1, z = tri_add\(x, w, b\), calls 'tri_add', which has no translation.*\*\*COURSE"):
        translated(steps)
    with pytest.raises(XManError, match=r"line 1, z = tri_add\(x, w, b\): .*takes 1 positional argument"):
        translated(steps, {"tri_add": lambda a: a})


def test_a_translated_register_with_the_name_of_an_operator_is_renamed_and_said():
    with pytest.warns(UserWarning, match="exp_ is the register exp, which has the name of an operator"):
        assert translated([("exp", "mul", ("x", "w"))]) == [("exp_", "dot", ("x", "w"))]


# what a student's table gets wrong, and what operators are called elsewhere


CHAIN = [("z", "square", ("x",)), ("y", "mul", ("z", "x"))]
GOOD = {"square": np.square, "mul": np.multiply}
RULES = {"square": [lambda d, out, x: 2 * d * x], "mul": [lambda d, out, x, y: d * y, lambda d, out, x, y: d * x]}


@pytest.mark.parametrize("x", [3.0, np.ones(2)], ids=["number", "array"])
@pytest.mark.parametrize("G, DG, message", [
    ({"square": lambda x: None}, {}, r"line 1, z = square\(x\): .*the function of 'square' returned None; does it lack a return"),
    ({}, {"square": [lambda d, out, x: None]}, r"line 1, z = square\(x\): .*the rule for x returned None; does it lack a return"),
    ({}, {"mul": [RULES["mul"][0], lambda *v: None]}, r"line 2, y = mul\(z, x\): .*the rule for x returned None"),
    ({}, {"square": lambda d, out, x: 2 * d * x}, r"line 1, z = square\(x\).*write 'square': \[rule\]"),
    ({}, {"square": lambda *v: 2 * v[0] * v[2]}, r"line 1, z = square\(x\).*write 'square': \[rule\]"),
    ({"square": [np.square]}, {}, r"line 1, z = square\(x\).*wanted a function")])
def test_a_mistake_in_a_table_is_named_where_it_is(x, G, DG, message):
    with pytest.raises(XManError, match=message):
        backprop(CHAIN, eval(CHAIN, {"x": x}, GOOD | G), RULES | DG, y=1.0)


def test_a_rule_of_gradient_that_returns_none_is_named_too():
    with pytest.raises(XManError, match="the rule for x returned None"):
        gradient(CHAIN, "y", ["x"], DG=RULES | {"square": [lambda d, out, x: None]})


@pytest.mark.parametrize("said, meant", [
    ("multiply", "mul"), ("times", "mul"), ("hadamard", "mul"), ("div", "divide"), ("sub", "subtract"), ("minus", "subtract"),
    ("plus", "add"), ("matmul", "dot"), ("mm", "dot"), ("atan", "arctan"), ("ln", "log"), ("neg", "negative"), ("pow", "power"),
    ("squar", "square"), ("softMax", "softmax"), ("crossEnt", "crossEntropy")])
def test_another_word_for_an_operator_is_answered_with_ours(said, meant):
    args = ("x",) * ops.table.arity(ops.G[meant])[0]
    with pytest.raises(XManError, match=f"calls '{said}'.*did you mean '{meant}'"):
        eval([("z", said, args)], {"x": 1.0})
    for f in (xman.f, ops.f):
        hint = "did you mean '" if said == "squar" else "here: f."
        with pytest.raises(AttributeError, match=f"no operator '{said}'; {hint}{meant}"):
            getattr(f, said)


def test_each_other_word_is_no_operator_and_means_one():
    assert not COURSE.keys() & ops.G.keys() - {"mul"} and {*COURSE.values()} <= ops.G.keys()
