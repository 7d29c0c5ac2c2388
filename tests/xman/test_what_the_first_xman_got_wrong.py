"""Facts about models for which the first expression manager failed in silence: right now, or a named error."""

import re

import numpy as np
import pytest

from xman import XMan, XManError, XManFunctions, backprop, eval, f


def model(**attributes):
    result = XMan()
    for name, value in attributes.items():
        setattr(result, name, value)
    return result


def refusal(call, *args, **named):
    """The message of the XManError that the call raises: one line."""
    with pytest.raises(XManError) as caught:
        call(*args, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# names


def test_a_register_of_the_users_called_z1_keeps_its_line_and_temporaries_skip_its_name():
    m = XMan()
    m.x = f.param()
    m.z1 = m.x * m.x
    m.out = f.exp(m.z1 + 1.0) * 2.0
    assert repr(m.setup().operationSequence(m.out)) == (
        "z1 = mul(x, x)\nz2 = add(z1, 1.0)\nz3 = exp(z2)\nout = mul(z3, 2.0)")


def test_a_name_z1_given_in_the_middle_of_an_expression_is_skipped_before_it_and_after():
    m = model(x=f.param())
    first = m.x * m.x
    middle = first + 1.0
    middle.name = "z1"
    m.out = f.exp(middle) * first
    assert repr(m.setup().operationSequence(m.out)) == (
        "z2 = mul(x, x)\nz1 = add(z2, 1.0)\nz3 = exp(z1)\nout = mul(z3, z2)")


def shared():
    """Two models with one register under different names: y of the first is the second's v."""
    first = model(x=f.param())
    first.y = first.x * first.x
    first.out = f.exp(first.y)
    second = model(u=first.x, v=first.y)
    second.out = f.sin(second.v + 1.0)
    return first.setup(), second.setup()


def test_a_register_that_two_models_share_goes_by_the_name_of_each():
    first, second = shared()
    assert repr(second.operationSequence(second.out)) == "v = mul(u, u)\nz1 = add(v, 1.0)\nout = sin(z1)"
    assert repr(first.operationSequence(first.out)) == "y = mul(x, x)\nout = exp(y)"


def test_two_models_that_share_registers_do_not_see_each_others_names():
    first, second = shared()
    assert second.isParam("u") and first.isParam("x")
    assert "'x'" in refusal(second.isParam, "x")


def test_two_registers_with_one_name_are_refused_by_that_name():
    m = model(a=f.input("q"), b=f.input("q"))
    assert "two registers are called 'q'" in refusal(m.setup)


def test_a_name_that_is_another_registers_attribute_is_refused():
    m = model(x=f.input("y"), y=f.input())
    assert "two registers are called 'y'" in refusal(m.setup)


def test_two_temporaries_given_one_name_are_refused_when_the_list_is_made():
    m = model(x=f.input())
    p, q = m.x + 1.0, m.x * 2.0
    p.name = q.name = "twice"
    m.out = p + q
    assert "two registers are called 'twice'" in refusal(m.setup().operationSequence, m.out)


def test_the_refusal_of_a_name_says_under_which_attributes_the_registers_stand():
    m = model(first=f.input("q"), second=f.input("q"))
    message = refusal(m.setup)
    assert "first" in message and "second" in message


def two_names():
    m = model(a=f.input())
    m.b = m.a
    m.out = m.a * m.b
    return m.setup()


@pytest.mark.parametrize("name", ["a", "b"])
def test_one_register_under_two_names_is_known_by_both(name):
    m = two_names()
    assert m.isInput(name) and not m.isParam(name) and not m.isOpOutput(name)


@pytest.mark.parametrize("name", ["a", "b"])
def test_one_register_under_two_names_is_given_its_value_by_either(name):
    m = two_names()
    assert eval(m.operationSequence(m.out), m.inputDict(**{name: 3.0}))["out"] == 9


def test_two_values_for_the_two_names_of_one_register_are_refused():
    message = refusal(two_names().inputDict, a=3.0, b=4.0)
    assert "'a'" in message and "'b'" in message


@pytest.mark.parametrize("name, why", [
    ("lambda", "keyword"), ("None", "keyword"), ("a b", "identifier"),
    ("1x", "identifier"), ("x.y", "identifier"), ("z\n1", "identifier"), ("array", "word of the text form")])
def test_a_name_that_cannot_stand_in_a_list_is_refused_with_the_reason(name, why):
    for m in (model(**{name: f.input()}), model(x=f.input(name))):
        message = refusal(m.setup)
        assert repr(name) in message and why in message


@pytest.mark.parametrize("name", ["registers", "setup", "operationSequence", "isParam", "names"])
def test_a_register_called_like_a_method_is_refused_on_an_instance(name):
    assert f"{name!r}: that is a method of XMan" in refusal(setattr, XMan(), name, f.param())


def test_a_register_called_like_a_method_is_refused_in_a_class():
    assert "'registers': that is a method" in refusal(type, "Model", (XMan,), {"registers": f.param()})


# attributes and base classes


class Base(XMan):
    x = f.param()
    y = f.square(x)


class Middle(Base):
    z = Base.y + 1.0


class Empty(Middle):
    pass


class Last(Empty):
    w = f.exp(Middle.z)


def test_a_subclass_without_registers_of_its_own_has_those_of_its_bases():
    assert [name for name, _ in Empty().setup().namedRegisterItems()] == ["x", "y", "z"]


def test_three_levels_of_inheritance_count_and_a_register_goes_by_the_first_attribute_of_all():
    m = Last().setup()
    m.a = m.w
    assert [name for name, _ in m.namedRegisterItems()] == ["a", "w", "x", "y", "z"]
    assert repr(m.operationSequence(m.w)) == "y = square(x)\nz = add(y, 1.0)\nw = exp(z)"


@pytest.mark.parametrize("value", [0, None, False, "off"])
def test_an_instance_attribute_hides_the_register_of_the_class(value):
    m = Last()
    m.w = value
    assert "w" not in dict(m.setup().namedRegisterItems())
    assert "'w'" in refusal(m.isOpOutput, "w")


def test_none_over_a_parameter_that_is_still_used_is_refused_by_the_name_of_its_user():
    m = Base()
    m.x = None
    message = refusal(m.setup().operationSequence, m.y)
    assert re.match(r"a param without a name is used by .*\by\b.*square", message)


def test_an_instance_register_replaces_the_register_of_the_class():
    m = Base()
    m.y = m.x * 3.0
    assert m.setup().operationSequence(m.y) == [("y", "mul", ("x", 3.0))]


def test_an_attribute_added_after_setup_is_in_the_list_under_its_name():
    m = model(x=f.param())
    m.y = m.x * 2.0
    m.setup()
    m.q = f.input()
    m.out = m.y * m.q
    assert m.operationSequence(m.out) == [("y", "mul", ("x", 2.0)), ("out", "mul", ("y", "q"))]
    assert m.isInput("q")


def test_setup_twice_returns_the_model_and_the_same_list():
    m = Last().setup()
    before = m.operationSequence(m.w)
    assert m.setup() is m and m.operationSequence(m.w) == before


def test_a_register_without_name_and_attribute_is_refused_by_its_user():
    m = model(out=f.exp(f.input()))
    message = refusal(m.setup().operationSequence, m.out)
    assert "input without a name" in message and "exp" in message and "attribute" in message


# the graph


def test_a_chain_of_20_000_operations_is_listed_evaluated_and_differentiated():
    m = model(x=f.param())
    r = m.x
    for _ in range(20_000):
        r = r + 1.0
    m.out = r
    steps = m.setup().operationSequence(m.out)
    values = eval(steps, m.inputDict(x=1.0))
    assert (len(steps), values["out"], backprop(steps, values, out=1.0)["x"]) == (20_000, 20_001, 1)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_cycle_is_refused(length):
    m = model(x=f.param())
    m.out = first = m.x + 1.0
    for _ in range(length - 1):
        m.out = m.out * 2.0
    first.definedAs.args = (m.out, 1.0)
    assert "defined by itself" in refusal(m.setup().operationSequence, m.out)


# constants and operators


@pytest.mark.parametrize("expression, right", [
    (lambda r: 1 - r, -1.0), (lambda r: -r, -2.0), (lambda r: r / 4, 0.5), (lambda r: 4 / r, 2.0), (lambda r: r ** 3, 8.0),
    (lambda r: 3 ** r, 9.0), (lambda r: 2 * r + 1, 5.0), (lambda r: abs(-r), 2.0), (lambda r: +r * 1, 2.0)])
def test_constants_and_reversed_operators_are_recorded(expression, right):
    m = model(x=f.input())
    m.out = expression(m.x)
    assert eval(m.setup().operationSequence(m.out), {"x": 2.0})["out"] == right


def test_a_wrong_number_of_arguments_is_refused_where_the_operator_is_called():
    with pytest.raises(TypeError, match="mul takes 2 arguments; 1 was given"):
        f.mul(f.input("x"))


def test_a_wrong_number_of_arguments_in_a_list_is_refused_before_anything_runs():
    ran = []
    G = {"tick": lambda x: ran.append(x), "mul": lambda x, y: x * y}
    m = model(x=f.input())
    m.out = XManFunctions.registerDefinedByOperator("mul", XManFunctions.registerDefinedByOperator("tick", m.x))
    message = refusal(eval, m.setup().operationSequence(m.out), {"x": 1.0}, G)
    assert "line 2" in message and "1 argument; it takes 2 arguments" in message and not ran


# values and defaults


def test_an_unknown_name_in_inputdict_is_refused_with_the_nearest():
    m = model(alpha=f.input(), beta=f.input())
    message = refusal(m.setup().inputDict, alhpa=1)
    assert "'alhpa'" in message and "did you mean 'alpha'?" in message


def test_a_missing_input_is_named_with_the_line_that_wants_it():
    m = model(alpha=f.input(), beta=f.input())
    m.out = m.alpha * m.beta
    message = refusal(eval, m.setup().operationSequence(m.out), m.inputDict(alpha=1.0))
    assert "line 1, out = mul(alpha, beta)" in message and "'beta'" in message


def test_an_unknown_name_is_neither_input_nor_parameter_nor_output_but_an_error():
    for ask in (Base().isInput, Base().isParam, Base().isOpOutput):
        assert "no register 'nosuch'" in refusal(ask, "nosuch")


@pytest.mark.parametrize("make", [f.input, f.param])
def test_a_number_as_first_argument_is_the_default_and_not_the_name(make):
    m = model(x=make(8.0))
    assert m.setup().inputDict() == {"x": 8.0}


@pytest.mark.parametrize("make", [f.input, f.param])
def test_a_string_as_first_argument_is_the_name(make):
    m = model(r=make("x", 2.0))
    assert m.setup().inputDict() == {"x": 2.0}


def test_a_number_as_name_beside_a_default_is_refused():
    assert "a register's name is a string" in refusal(f.input, 8.0, 9.0)


def test_what_is_trained_in_place_is_there_in_a_fresh_inputdict_and_zero_is_a_default():
    m = model(w=f.param(default=np.ones(2)), b=f.param(default=0.0))
    m.setup().inputDict()["w"][:] = 7
    assert m.inputDict()["w"].tolist() == [7, 7] and m.inputDict()["b"] == 0
