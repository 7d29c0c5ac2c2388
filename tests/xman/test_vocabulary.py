"""One vocabulary: the order is (steps, of, wrt, values), a register is a name or names, and `dir` shows what is public."""

import re

import numpy as np
import pytest

import ops
import xman
from xman import Tape, WengertList, XManError, backprop, check, eval, explore, forward, gradient, tangent
from xman.matrices import GaussNewton, Hessian, Jacobian, becker_lecun, diagonals, inverse_outer_products, outer_products, packed
from xman.show import cost, derivation, expand, explain, paths, source
from xman.train import training_list

STEPS = WengertList([("h", "mul", ("x", "wh")), ("loss", "mul", ("h", "h"))])  # wh, whose letters are no registers but h
VALUES = {"x": 2.0, "wh": 3.0}
AT = eval(STEPS, VALUES)


@pytest.mark.parametrize("found", [
    lambda wrt: gradient(STEPS, "loss", wrt), lambda wrt: tangent(STEPS, wrt), lambda wrt: source(STEPS, "loss", wrt),
    lambda wrt: source(STEPS, wrt=wrt), lambda wrt: str(paths(STEPS, "loss", wrt)),
    lambda wrt: [kind(STEPS, "loss", wrt).wrt for kind in (Jacobian, Hessian, GaussNewton)],
    lambda wrt: backprop(STEPS, eval(STEPS, VALUES), wrt=wrt, loss=1.0), lambda wrt: becker_lecun(STEPS, "loss", wrt, VALUES),
    lambda wrt: outer_products(STEPS, "h", wrt, VALUES).tolist(), lambda wrt: check(STEPS, VALUES, wrt=wrt),
    lambda wrt: str(cost(STEPS, "loss", wrt, VALUES, measured=False)), lambda wrt: derivation(STEPS, "loss", wrt),
    lambda wrt: str(explain(STEPS, "loss", wrt, VALUES)), lambda wrt: Tape(STEPS, "loss", wrt).value_and_gradient(VALUES),
    lambda wrt: packed(VALUES, wrt).tolist(), lambda wrt: xman.matrices.unpacked(np.ones(1), VALUES, wrt),
    lambda wrt: training_list(STEPS, "loss", wrt)])
def test_wrt_is_a_name_or_names(found):
    assert found("wh") == found(["wh"])


@pytest.mark.parametrize("found", [
    lambda of: gradient(STEPS, of, "wh"), lambda of: source(STEPS, of, "wh"), lambda of: expand(STEPS, of),
    lambda of: [kind(STEPS, of, "wh").times(VALUES, {"wh": 1.0}) for kind in (Hessian, GaussNewton)],
    lambda of: Jacobian(STEPS, of, "wh")(VALUES), lambda of: becker_lecun(STEPS, of, "wh", VALUES),
    lambda of: outer_products(STEPS, of, "wh", VALUES).tolist(), lambda of: derivation(STEPS, of, "wh"),
    lambda of: str(cost(STEPS, of, "wh", VALUES, measured=False)),
    lambda of: check(STEPS, VALUES, of=of), lambda of: Tape(STEPS, of).value(VALUES), lambda of: training_list(STEPS, of, "wh"),
    lambda of: str(explore(STEPS, of=of, guided=False))])
def test_where_one_register_makes_sense_a_list_of_one_name_is_that_name_and_several_are_refused(found):
    assert found("loss") == found(["loss"])
    for several, words in (["loss", "h"], "loss, h"), ([], "none"):
        with pytest.raises(XManError, match=f"(of|loss) names one register here, and found {words}$"):
            found(several)


def test_the_ends_of_paths_and_what_is_defined_already_are_said_so_too():
    graph = paths(STEPS, "loss", ["x", "wh"], VALUES)
    assert str(explain(STEPS, "loss", "wh", VALUES)) == str(explain(STEPS, ["loss"], "wh", VALUES))
    assert str(graph.forward("wh")) == str(graph.forward(["wh"])) and str(graph.backward("loss")) == str(graph.backward(["loss"]))
    model = xman.XMan()
    model.half = xman.f.half(xman.f.param("w"))
    model.loss = xman.f.square(model.half)
    one, several = (model.operationSequence(model.loss, previouslyDefined=x) for x in ("half", ["half"]))
    assert one == several == [("loss", "square", ("half",))]


def test_a_model_is_explored_and_a_table_read_by_a_name_or_a_list_of_it():
    model = xman.XMan()
    model.loss = xman.f.square(xman.f.param("w", 2.0))
    assert str(explore(model, of="loss", guided=False)) == str(explore(model, of=["loss"], guided=False))
    with pytest.raises(XManError, match=r"no register \['loss', 'w'\]; say which with of=: loss"):
        explore(model, of=["loss", "w"])
    table = {"size": np.arange(4.0), "age": np.arange(4.0) ** 2, "price": np.arange(4.0) + 1}
    one, several = (xman.tables.prepared(table, "price", ignore) for ignore in ("age", ["age"]))
    assert [c.name for c in one.columns] == [c.name for c in several.columns] == ["size"]


def test_what_backprop_gives_for_a_name_is_what_it_gives_for_a_list_of_it():
    steps = [("a", "norm", ("ab",)), ("b", "power", ("a", 3)), ("y", "alias", ("b",))]  # it goes past a, which is not wanted
    assert backprop(steps, eval(steps, {"ab": np.zeros(3)}), wrt="ab", y=1.0).keys() == {"y", "b", "ab"}


@pytest.mark.parametrize("call", [diagonals, becker_lecun, outer_products, inverse_outer_products])
def test_values_in_the_place_that_they_had_are_told_the_order(call):
    with pytest.raises(XManError, match=r"of is a .*found a dictionary; the order is \(steps, of, wrt, values\)"):
        call(STEPS, VALUES, "loss", ["wh"])


def test_backprop_takes_what_is_wanted_without_the_table():
    values = eval(STEPS, VALUES)
    assert backprop(STEPS, values, wrt=["wh"], loss=1.0) == {"loss": 1.0, "h": 12.0, "wh": 24.0}


@pytest.mark.parametrize("name, delta", [("wrt", 1.0), ("wrt", [1.0]), ("wrt", np.ones(2)), ("wrt", np.ones(())), ("DG", 1.0)])
def test_the_delta_of_a_register_with_the_name_of_an_argument_is_refused_with_the_mend(name, delta):
    steps = [(name, "square", ("x",))]
    with pytest.raises(XManError, match=f"{name} takes .*; a register called {name} needs another name"):
        backprop(steps, eval(steps, {"x": 2.0}), **{name: delta})


def test_forward_takes_tangents_by_name_as_backprop_takes_deltas():
    assert forward(STEPS, AT, wh=1.0) == forward(STEPS, AT, {"wh": 1.0}) == {"wh": 1.0, "h": 2.0, "loss": 24.0}


def test_a_wrt_that_of_does_not_depend_on_has_zeros_for_its_gradient():
    assert eval(gradient([*STEPS, ("v", "negative", ("b",))], "loss", ["b"]), {**VALUES, "b": 1.0})["dloss_db"] == 0.0


@pytest.mark.parametrize("call, sentence", [
    (lambda: forward(STEPS, AT, "wh"), "the tangents are a dictionary with one for each input, {'x': 3.0}, not 'wh'"),
    (lambda: forward(STEPS, AT), "no tangent was given to start from; name a register and its tangent, as in loss=1.0"),
    (lambda: backprop(STEPS, AT, wrt=np.array(["wh"]), loss=1.0), "wrt takes names in a list, and found array(['wh']"),
    (lambda: backprop(STEPS, AT, wrt=3, loss=1.0), "wrt takes names in a list, and found 3"),
    (lambda: backprop(STEPS, AT, wr=["wh"], loss=1.0), "'wr', which has no value; did you mean 'wrt'?"),
    (lambda: backprop(STEPS, AT, {"loss": 1.0}), "as in loss=1.0; in the third place is DG, the table of rules"),
    (lambda: Jacobian(STEPS, "loss", "wh", VALUES), "not a dictionary: call the result with values"),
    (lambda: eval("x", {}), "steps is a str, not a list of lines: write WengertList.from_text(steps)"),
    (lambda: eval(iter(STEPS), {}), "not a list of lines, and would be empty the second time it is read: write"),
    (lambda: xman.compile(STEPS, engine="numba"), "did you mean 'llvm'?"),
    (lambda: xman.train.load("digits", numbers=True), "load takes no 'numbers' (for numbers=True write task='regress')")])
def test_what_stands_in_a_wrong_place_is_named_with_the_mend(call, sentence):
    with pytest.raises(XManError, match=re.escape(sentence)):
        call()


@pytest.mark.parametrize("where, name, sentence", [
    (xman.train, "fitt", "xman.train has no attribute 'fitt'; did you mean 'fit'?"), (xman.models, "MPL", "did you mean 'MLP'?"),
    (xman.engines, "compil", "did you mean 'compile'?"), (xman, "sandbox", "did you mean 'grade'?"),
    (ops.f, "input", "no operator 'input'; registers are made by xman's f: from xman import f"), (xman, "nearest", "'nearest'"),
    (ops.f, "expmm1", "no operator 'expmm1'; did you mean 'expm1'?"),
    (xman.engines, "suggesting", "no attribute 'suggesting'"), (xman.engines, "engine", "no attribute 'engine'")])
def test_a_name_that_a_package_lacks_is_told_the_nearest(where, name, sentence):
    with pytest.raises(AttributeError, match=re.escape(sentence)):
        getattr(where, name)


def test_another_function_of_scipys_is_no_slip():
    with pytest.raises(AttributeError, match="there is no operator 'exp1'$"):
        ops.f.exp1(1.0)


def test_dir_shows_what_is_public_and_packages_are_there_on_asking():
    assert {"gradient", "eval", "f", "train", "engines", "models", "scale"} <= set(dir(xman))
    assert not {"importlib", "Any", "LATER", "nearest", "manager", "register"} & set(dir(xman))
    assert all(getattr(xman, name) is not None for name in dir(xman))


@pytest.mark.parametrize("op", """det_sign squared_hypot prod_of_others exp_difference diag_back cofactor_slope lower_half
    inverse_gaps left_vectors right_vectors dot_left dot_right einsum_back""".split())
def test_a_list_with_the_name_that_a_helper_of_the_rules_had_is_told_its_new_one(op):
    head, *words = op.split("_")
    old = head + "".join(map(str.capitalize, words))
    with pytest.raises(XManError, match=f"calls '{old}', which is not in the table of operators; did you mean '{op}'"):
        eval([("y", old, ("x",))], {"x": np.eye(2)})
