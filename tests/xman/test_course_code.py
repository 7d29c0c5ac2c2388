"""Facts about the course's old code: it runs as its students wrote it, on tables of their own."""

import builtins
import inspect

import course_programs
import numpy as np
import pytest

import ops
import xman
from xman import Autograd, XMan, XManError, check


@pytest.fixture(scope="module")
def course():
    """The student's module functions.py."""
    return course_programs


RNG = np.random.default_rng(0)
X = RNG.standard_normal((20, 4))
Y = np.eye(3)[X[:, :3].argmax(axis=1)]


def network(f, hidden=6):
    """The student's network, on an instance: registers named by f.input(name=…) or by their attribute."""
    rng = np.random.default_rng(1)
    net = XMan()
    net.x = f.input(name="x", default=X)
    net.y = f.input(name="y", default=Y)
    net.W1 = f.param(name="W1", default=rng.uniform(-.5, .5, (4, hidden)))
    net.b1 = f.param(name="b1", default=rng.uniform(-.1, .1, hidden))
    net.W2 = f.param(default=rng.uniform(-.5, .5, (hidden, 3)))
    net.b2 = f.param(default=rng.uniform(-.1, .1, 3))
    net.o1 = f.relu(f.mul(net.x, net.W1) + net.b1)
    net.p = f.softMax(f.mul(net.o1, net.W2) + net.b2)
    net.loss = f.mean(f.crossEnt(net.p, net.y))
    return net.setup()


def trained(course, rounds=60, rate=0.5):
    """(net, losses) of the loop in which the course trains."""
    net = network(course.f)
    opseq, data = net.operationSequence(net.loss), net.inputDict()
    ad, losses = Autograd(net, course.EVAL_FUNS, course.BP_FUNS), []
    for _ in range(rounds):
        vd = ad.eval(opseq, data)
        losses.append(float(vd["loss"]))
        gradients = ad.bprop(opseq, data, loss=np.float64(1.0))
        for name in gradients:
            if net.isParam(name):
                data[name] -= rate * gradients[name]
    return net, losses


# the names


def starred():
    exec("from xman import *", space := {})
    return set(space) - {"__builtins__"}


def test_star_import_gives_the_four_classes_of_the_course():
    assert starred() == {"XMan", "XManFunctions", "Register", "Operation"}
    assert all(inspect.isclass(getattr(xman, name)) for name in starred())


def test_star_import_shadows_no_builtin():
    assert not starred() & set(dir(builtins))


def test_xman_eval_is_a_function():
    assert inspect.isfunction(xman.eval)


# lists


def test_an_instance_with_registers_set_on_it_is_a_model(course):
    x = XMan()
    x.h, x.w = course.f.param(default=3.0), course.f.param(default=6.0)
    x.area = course.f.square(course.f.mul(x.h, x.w))
    assert repr(x.setup().operationSequence(x.area)) == "z1 = mul(h, w)\narea = square(z1)"


def test_the_students_network_is_listed_by_the_names_of_registers_and_attributes(course):
    net = network(course.f)
    assert repr(net.operationSequence(net.loss)) == """\
z1 = mul(x, W1)
z2 = add(z1, b1)
o1 = relu(z2)
z3 = mul(o1, W2)
z4 = add(z3, b2)
p = softMax(z4)
z5 = crossEnt(p, y)
loss = mean(z5)"""


def test_an_operator_of_python_records_the_courses_operator(course):
    x = XMan()
    x.a, x.b = course.f.input(), course.f.input()
    x.out = x.a * x.b + x.a - x.b
    assert [op for _, op, _ in x.setup().operationSequence(x.out)] == ["mul", "add", "subtract"]


def test_an_operation_is_its_string_tuple(course):
    out = course.f.mul(course.f.input("a"), course.f.input("b"))
    out.name = "c"
    assert out.definedAs.asStringTuple() == ("c", "mul", ("a", "b")) and out.definedAs.outputReg is out
    assert [r.name for r in out.inputsTo()] == ["a", "b"]


def test_a_register_knows_its_role(course):
    assert (course.f.input().role, course.f.param().role) == ("input", "param")
    assert course.f.square(course.f.input()).role == "operationOutput"


def test_roles_are_known_by_name_for_temporaries_too(course):
    net = network(course.f)
    net.operationSequence(net.loss)
    assert net.isParam("W2") and net.isInput("x") and net.isOpOutput("loss")
    assert net.isOpOutput("z1") and not net.isParam("z1")


def test_a_computed_register_is_not_given_by_inputdict(course):
    with pytest.raises(XManError, match="'p' is computed, not given"):
        network(course.f).inputDict(p=Y)


# values and gradients


def test_the_courses_mul_is_the_matrix_product_where_its_table_says_so(course):
    values = Autograd(XMan(), course.EVAL_FUNS, course.BP_FUNS).eval([("z", "mul", ("x", "y"))], {"x": X, "y": X.T})
    np.testing.assert_array_equal(values["z"], X @ X.T)


def test_eval_adds_to_the_dictionary_that_it_is_given_and_returns_it(course):
    data = {"x": 3.0}
    result = Autograd(XMan(), course.EVAL_FUNS).eval([("z", "square", ("x",))], data)
    assert result is data and data["z"] == 9


def test_a_small_network_trains_down(course):
    _, losses = trained(course)
    assert losses[-1] < 0.3 * losses[0]


def test_training_in_place_trains_the_register_in_each_model_that_has_it_and_not_the_array_it_was_made_from(course):
    start = np.ones(3)

    class Shared(XMan):
        w = course.f.param(default=start)
        ints = course.f.param(default=np.array([1, 2]))

    one, other = Shared().setup(), Shared().setup()
    one.inputDict()["w"] -= 0.5
    assert one.inputDict()["w"] is other.inputDict()["w"] is Shared.w.default
    assert one.inputDict()["w"].tolist() == [0.5, 0.5, 0.5] and start.tolist() == [1, 1, 1]
    assert one.inputDict()["ints"].dtype == float and one.inputDict()["ints"] is one.inputDict()["ints"]
    one.w = course.f.param(default=np.zeros(2))
    assert one.inputDict()["w"].tolist() == [0, 0] and other.inputDict()["w"].tolist() == [0.5, 0.5, 0.5]
    other.w.default = start
    assert other.inputDict()["w"].tolist() == [1, 1, 1]
    net, _ = trained(course, rounds=2)
    assert (net.inputDict()["W1"] != network(course.f).inputDict()["W1"]).any()


def test_the_courses_tables_pass_the_gradient_check(course):
    net = network(course.f)
    assert check(net.operationSequence(net.loss), net.inputDict(),
                 course.EVAL_FUNS, course.BP_FUNS).ok


def test_autograd_without_tables_does_not_guess_and_says_what_to_hand_in():
    half = Autograd(XMan(), ops.G)
    for call in (lambda: Autograd(XMan()), lambda: half.bprop([("z", "sin", ("x",))], {"x": 0.0, "z": 0.0}, z=1.0)):
        with pytest.raises(XManError, match=r"matrix product.*write Autograd\(model, EVAL_FUNS, BP_FUNS\), or .*ops\.G, ops\.DG"):
            call()


def test_autograd_takes_the_tables_of_ops_when_they_are_handed_in():
    ad = Autograd(XMan(), ops.G, ops.DG)
    data = ad.eval([("z", "sin", ("x",))], {"x": 0.0})
    assert ad.bprop([("z", "sin", ("x",))], data, z=1.0)["x"] == 1


# crossEnt-softMax

PAIRS = [("p", "softMax", ("a",)), ("l", "crossEnt", ("p", "y")), ("q", "softMax", ("b",)), ("m", "crossEnt", ("q", "y")),
         ("s", "add", ("l", "m")), ("loss", "mean", ("s",))]
ELSEWHERE = [("p", "softMax", ("a",)), ("l", "crossEnt", ("p", "y")), ("n", "subtract", ("p", "b")),
             ("n2", "square", ("n",)), ("m1", "mean", ("l",)), ("m2", "mean", ("n2",)), ("loss", "add", ("m1", "m2"))]
ALONE = [("p", "softMax", ("a",)), ("n", "subtract", ("p", "b")), ("n2", "square", ("n",)), ("loss", "mean", ("n2",))]
TWICE = [("p", "softMax", ("a",)), ("l", "crossEnt", ("p", "y")), ("k", "crossEnt", ("p", "b")),
         ("s", "add", ("l", "k")), ("loss", "mean", ("s",))]
SELF = [("p", "softMax", ("a",)), ("l", "crossEnt", ("p", "p")), ("loss", "mean", ("l",))]
A, B = RNG.standard_normal((20, 3)), np.exp(RNG.standard_normal((20, 3)))


CASES = {"two pairs": PAIRS, "softMax used elsewhere": ELSEWHERE, "no pair": ALONE, "softMax in two pairs": TWICE,
         "softMax on both sides": SELF}


def both(course, steps, **deltas):
    """The deltas with the rule of the pair, and without."""
    plain = {name: rules for name, rules in course.BP_FUNS.items() if name != "crossEnt-softMax"}
    with_rule, without = (Autograd(XMan(), course.EVAL_FUNS, rules) for rules in (course.BP_FUNS, plain))
    data = with_rule.eval(steps, {"a": A, "b": B, "y": Y})
    return with_rule.bprop(steps, data, **deltas), without.bprop(steps, data, **deltas)


@pytest.mark.parametrize("case", CASES)
def test_the_rule_of_the_pair_changes_no_gradient(course, case):
    found, right = both(course, CASES[case], loss=1.0)
    for name in {"a", "b"} & set(right):
        np.testing.assert_allclose(found[name], right[name], rtol=1e-12, atol=1e-14)


def test_a_delta_given_for_the_softmax_of_a_pair_is_not_lost(course):
    found, right = both(course, PAIRS, loss=1.0, p=B)
    np.testing.assert_allclose(found["a"], right["a"], rtol=1e-12, atol=1e-14)


def test_the_rule_of_the_pair_is_used_for_each_pair(course):
    called = []
    rules = {**course.BP_FUNS, "crossEnt-softMax": [lambda delta, out, x, y: called.append(x) or x, None]}
    data = {"a": A, "b": B, "y": Y}
    ad = Autograd(XMan(), course.EVAL_FUNS, rules)
    ad.bprop(PAIRS, ad.eval(PAIRS, data), loss=1.0)
    assert [x is A or x is B for x in called] == [True, True]


def test_the_rule_of_the_pair_makes_a_logit_of_minus_infinity_harmless(course):
    steps, a = PAIRS[:2], np.array([[0.0, -800.0, 0.0]])
    ad = Autograd(XMan(), course.EVAL_FUNS, course.BP_FUNS)
    data = ad.eval(steps, {"a": a, "y": np.array([[1.0, 0.0, 0.0]])})
    np.testing.assert_allclose(ad.bprop(steps, data, l=np.ones((1, 1)))["a"], [[-.5, 0, .5]], atol=1e-15)


def test_the_pair_is_found_beside_a_line_with_an_array_literal(course):
    steps = [("c", "add", (np.ones((20, 3)), "a")), ("p", "softMax", ("c",)), PAIRS[1], ("loss", "mean", ("l",))]
    ad = Autograd(XMan(), course.EVAL_FUNS, course.BP_FUNS)
    data = ad.eval(steps, {"a": A, "y": Y})
    assert ad.bprop(steps, data, loss=1.0)["a"].shape == (20, 3)


def test_bprop_refuses_steps_that_can_be_read_only_once(course):
    with pytest.raises(XManError, match="not a list of lines"):
        Autograd(XMan(), course.EVAL_FUNS, course.BP_FUNS).bprop(iter(PAIRS), {}, loss=1.0)


def test_a_rule_that_the_students_table_lacks_is_named(course):
    rules = {name: rule for name, rule in course.BP_FUNS.items() if name != "relu"}
    net = network(course.f)
    opseq = net.operationSequence(net.loss)
    ad = Autograd(net, course.EVAL_FUNS, rules)
    with pytest.raises(XManError, match=r"line 3, o1 = relu\(z2\).*no adjoint rule for the operator 'relu'"):
        ad.bprop(opseq, ad.eval(opseq, net.inputDict()), loss=1.0)
