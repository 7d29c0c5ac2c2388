"""Facts about the manager as the course's code uses it: its dictionaries, the names of registers, and where they may lie."""

import os
import pickle

import numpy as np
import pytest
from course_programs import f

import xman
from xman import XMan, XManError

RANDOM_CASES = 600 if os.environ.get("XMAN_ALL_CASES") else 30


# the manager's dictionaries, as test_xman.py of the course reads them


def net_of_the_courses_test():
    net = XMan()
    net.input, net.input2hidden, net.bias1 = f.input(), f.param(), f.param()
    net.hidden2output, net.bias2 = f.param(), f.param()
    net.hidden = f.tanh(net.input * net.input2hidden + net.bias1)
    net.output = f.tanh(net.hidden * net.hidden2output + net.bias2)
    return net.setup()


def test_named_register_items_are_sorted_by_name():
    named = net_of_the_courses_test().namedRegisterItems()
    assert [name for name, _ in named] == "bias1 bias2 hidden hidden2output input input2hidden output".split()
    assert all(reg.name == name for name, reg in named)


def test_registers_is_a_dictionary_with_the_temporaries():
    net = net_of_the_courses_test()
    registers = net.registers()
    assert sorted(registers) == "bias1 bias2 hidden hidden2output input input2hidden output z1 z2 z3 z4".split()
    assert net.isOpOutput("z4") and registers["z2"] is net.hidden.inputsTo()[0]
    assert str(registers["z2"].definedAs) == "z2 = f.add(z1,bias1)"


def test_the_sequence_has_each_line_once_in_the_order_of_evaluation():
    net = net_of_the_courses_test()
    assert [line[0] for line in net.operationSequence(net.output)] == "z1 z2 hidden z3 z4 output".split()


def test_registers_previously_defined_are_left_out_and_a_set_learns_the_others():
    net, done = net_of_the_courses_test(), {"input"}
    first = net.operationSequence(net.hidden, done)
    assert [line[0] for line in first] == ["z1", "z2", "hidden"] and {"z1", "z2", "hidden", "bias1"} <= done
    second = net.operationSequence(net.output, done)
    assert second == [("z3", "mul", ("hidden", "hidden2output")), ("z4", "add", ("z3", "bias2")), ("output", "tanh", ("z4",))]
    assert net.operationSequence(net.output, done) == [] != net.operationSequence(net.output, None)
    assert net.operationSequence(net.output, previouslyDefined=["hidden"])[0] == ("z1", "mul", ("hidden", "hidden2output"))


@pytest.mark.parametrize("strange", ["loss", ["hidden", 3], 3.0, np.ones(2), [f.input()]], ids=str)
def test_what_is_no_register_is_refused_by_the_sequence(strange):
    net = net_of_the_courses_test()
    for outputs in ((strange,), (net.output, strange)):
        with pytest.raises(XManError) as error:
            net.operationSequence(*outputs)
        assert "takes the registers of the model" in str(error.value) and repr(strange) in str(error.value)
    with pytest.raises(XManError, match="not nothing"):
        net.operationSequence()


def test_a_temporary_previously_defined_keeps_its_name_in_the_rest():
    net = net_of_the_courses_test()
    net.operationSequence(net.hidden)
    assert net.operationSequence(net.hidden, ["z1"])[0] == ("z2", "add", ("z1", "bias1"))


def test_a_register_of_two_names_says_so_when_it_is_asked_for_one():
    one, other, reg = XMan(), XMan(), f.param()
    one.W = other.V = reg
    assert reg.name is None and one.setup() and reg.name == "W" and other.setup()
    with pytest.raises(XManError, match="called V and elsewhere W.*register.name = 'x'"):
        _ = reg.name
    reg.name = "U"
    assert reg.name == "U" and "V" not in repr(reg)


@pytest.mark.parametrize("name", ["names", "registers", "inputDict", "isParam"])
@pytest.mark.parametrize("data", [["a", "b"], {"a": 1}, 3, "x", None, np.ones(2)], ids=str)
def test_plain_data_in_the_place_of_a_method_is_refused(name, data):
    for define in (lambda: setattr(XMan(), name, data), lambda: type("Model", (XMan,), {name: data})):
        with pytest.raises(XManError, match=f"an attribute cannot be called '{name}': that is a method of XMan"):
            define()


def test_a_method_may_be_overridden():
    model = type("Model", (XMan,), {"setup": lambda self: "mine", "names": property(lambda self: 1)})()
    model.feed = model.inputDict = dict
    assert model.setup() == "mine" and model.names == 1 and model.inputDict(a=1) == {"a": 1}


# registers in lists and dictionaries


def nested(random, made, depth=0):
    """A list, tuple or dictionary of registers, numbers and others of its kind; `made` learns each register with its place."""
    kind, found = random.integers(3), []
    for k in range(random.integers(1, 4)):
        place = random.choice(["a", "b7", "key", "0"]) + str(k) if kind == 2 else k
        inside: list = []
        what = random.uniform()
        part = nested(random, inside, depth + 1) if depth < 3 and what < 0.4 else f.param() if what < 0.8 else float(k)
        made += [((place, *path), reg) for path, reg in (inside or [((), part)]) if isinstance(reg, xman.Register)]
        found.append((place, part))
    return dict(found) if kind == 2 else (list, tuple)[kind](part for _, part in found)


@pytest.mark.parametrize("seed", range(RANDOM_CASES))
def test_registers_are_found_wherever_they_lie_and_called_by_their_place(seed):
    random, made, model = np.random.default_rng(seed), [], XMan()
    model.W = nested(random, made)
    names = {id(reg): "_".join(map(str, ("W", *path))) for path, reg in made}
    assert model.setup().names() == names
    assert all(reg.name == names[id(reg)] and model.isParam(reg.name) for _, reg in made)
    assert [name for name, _ in model.namedRegisterItems()] == sorted(names.values())


def test_a_list_that_holds_itself_and_a_list_of_lines_hold_no_more_registers():
    model = XMan()
    model.h = [f.param()]
    model.h.append(model.h)
    model.steps = model.operationSequence(f.square(model.h[0]))
    assert [name for name, _ in model.setup().namedRegisterItems()] == ["h_0"]


# models made of models


class Affine(XMan):
    def __init__(self, n, m):
        self.W, self.b = f.param(default=np.ones((n, m))), f.param(default=np.zeros(m))
    def __call__(self, x): return x * self.W + self.b


class PlainAffine:
    __init__, __call__ = Affine.__init__, Affine.__call__


class Stack:
    def __init__(self, kind): self.layers, self.owner = [kind(3, 3), kind(3, 3)], self
    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@pytest.mark.parametrize("kind", [Affine, PlainAffine])
def test_registers_of_models_and_objects_within_are_called_by_their_path(kind):
    model = XMan()
    model.x, model.l1, model.deep = f.input(), kind(2, 3), Stack(kind)
    model.again = model.l1
    model.y = model.deep(f.tanh(model.l1(model.x)))
    assert model.setup().operationSequence(model.y).inputs == (
        "x", "l1_W", "l1_b", "deep_layers_0_W", "deep_layers_0_b", "deep_layers_1_W", "deep_layers_1_b")
    assert model.isParam("l1_W") and model.l1.W.name == "l1_W" and model.inputDict()["l1_W"] is model.l1.W.default
    copied = pickle.loads(pickle.dumps(model))
    assert copied.operationSequence(copied.y) == model.operationSequence(model.y)


def test_the_role_of_a_name_is_that_of_the_register_that_has_it_now():
    model = XMan()
    model.x, model.l1, model.l2 = f.input(), Affine(2, 2), Affine(2, 2)
    model.y = model.l2(model.l1(model.x))
    assert model.isParam("l1_W") and model.isParam("l2_W")
    model.l1, model.l2.W = Affine(2, 2), f.input(default=np.ones((2, 2)))
    model.l1.W = f.input(default=np.ones((2, 2)))
    model.y = model.l2(model.l1(model.x))
    assert [name for name in model.operationSequence(model.y).inputs if model.isParam(name)] == ["l1_b", "l2_b"]


def test_a_model_in_the_class_of_a_model_and_one_that_is_shared_have_one_name_for_each_register():
    class Net(XMan):
        x, l1 = f.input(), Affine(2, 2)
        y = l1(l1(x))
    assert Net().setup().operationSequence(Net.y).inputs == ("x", "l1_W", "l1_b")
    assert [name for name, _ in Net().namedRegisterItems()] == ["l1_W", "l1_b", "x", "y"]


@pytest.mark.parametrize("value", [np.ones(2), np, len, Affine, lambda x: x, {1: 2}, pytest, Exception("x")],
                         ids=["array", "module", "function", "class", "lambda", "dict", "pytest", "error"])
def test_what_holds_no_registers_is_passed_over(value):
    model = XMan()
    model.x, model.value, model.values = f.input(), value, [value]
    assert list(model.setup().registers()) == ["x"]


def test_a_register_that_a_subclass_replaces_is_told_from_the_one_that_the_base_reads():
    class Base(XMan):
        x, W = f.input(), f.param(default=1.0)
        h = x * W
    class Model(Base):
        W = f.param(default=3.0)
        y = Base.h + W
    with pytest.raises(XManError, match=r"h = mul\(…\) reads W of Base, but W is another register in Model"):
        Model().setup().operationSequence(Model.y)
    class Renewed(Base):
        W = f.param(default=3.0)
        h = Base.x * W
    assert Renewed().operationSequence(Renewed.h).inputs == ("x", "W") and Renewed().inputDict() == {"W": 3.0}


def test_two_places_that_make_one_name_are_refused():
    model = XMan()
    model.W, model.W_0 = [f.param()], f.param()
    with pytest.raises(XManError, match="two registers are called 'W_0'"):
        model.setup()


def test_a_place_in_a_list_gives_way_to_a_name_and_to_an_attribute():
    model = XMan()
    model.x = [f.input("x_1"), f.input("x_2")]
    model.h = [f.param(), f.param()]
    model.h_1, model.h_2 = model.h
    assert [name for name, _ in model.setup().namedRegisterItems()] == ["h_1", "h_2", "x_1", "x_2"]
    assert all(reg.name == name for name, reg in model.namedRegisterItems())
    assert model.names()[id(model.h[0])] == "h_1" and model.isInput("x_1")


def test_a_list_that_is_read_backwards_is_the_lines_and_no_error():
    net = net_of_the_courses_test()
    opseq = net.operationSequence(net.output)
    assert opseq[::-1] == list(reversed(opseq)) and type(opseq[:2]) is xman.WengertList and opseq[4:1:-2] == [opseq[4], opseq[2]]


def test_a_register_keeps_its_attributes_name_where_another_model_lists_it_as_a_temporary():
    one, other = XMan(), XMan()
    one.x = other.x = f.input()
    one.h = f.tanh(one.x)
    other.y = f.square(one.h)
    assert one.setup() and other.setup().operationSequence(other.y)[0] == ("z1", "tanh", ("x",))
    assert one.h.name == "h" and other.registers()["z1"] is one.h


def test_a_model_prints_what_it_is_given():
    class House(XMan):
        h, w = f.param(default=5.0), f.param(default=10.0)
        area = h * w
    assert repr(House()) == "<House of h, w>" and repr(XMan()) == "<XMan>"
