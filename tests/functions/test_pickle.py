"""Derivatives, compiled lists and deep models go through pickle and copy, and so to other processes."""
from __future__ import annotations

import copy
import functools
import inspect
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import xman
from xman import Dual, XMan, XManError, XManFunctions, grad
from xman.functions import derivative, hessian, jacobian, value_and_grad, vjp
from xman.models import MLP

f = XManFunctions
POINTS = [np.array([1.0, 2.0]), np.array([-0.5, 3.0])]


def rosenbrock(x, scale=100.0):
    """A valley."""
    return np.sum(scale * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def cube(x):
    return x ** 3


def both(x):
    return np.sum(x * x), {"twice": 2.0 * x}


class Quadratic:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return np.sum(self.factor * x * x)


class House(XMan):
    h = f.param(default=5.0)
    w = f.param(default=10.0)
    wall = f.half(h * w)

    def __init__(self, n=2):
        area = self.wall
        for _ in range(n):
            area = area + f.half(self.h) * self.w
        self.area = area


class Chain(XMan):
    def __init__(self, n):
        self.x = f.input()
        y = self.x
        for k in range(n):
            y = f.sin(y + self.x)
            if k % 50 == 0:
                setattr(self, f"y{k}", y)
        self.y = y


def pickled(x):
    return pickle.loads(pickle.dumps(x))


each_way = pytest.mark.parametrize("through", [pickled, copy.deepcopy, copy.copy, lambda x: pickle.loads(pickle._dumps(x)),
                                               lambda x: pickle.loads(pickle.dumps(x, 1))],
                                   ids=["pickle", "deepcopy", "copy", "pickle in Python", "protocol 1"])
DERIVATIVES = {
    "grad": grad(rosenbrock), "grad of a partial": grad(functools.partial(rosenbrock, scale=2.0)), "aux": grad(both, has_aux=True),
    "value_and_grad": value_and_grad(rosenbrock, (0,)), "jacobian": jacobian(np.cumsum, mode="reverse"), "hessian": hessian(rosenbrock),
    "grad of an object": grad(Quadratic(np.array([2.0, 3.0]))), "jacobian of grad": jacobian(grad(rosenbrock)),
}


@each_way
@pytest.mark.parametrize("slope", DERIVATIVES.values(), ids=DERIVATIVES)
def test_a_derivative_gives_the_same_when_it_was(slope, through):
    same = through(slope)
    assert same.__name__ == slope.__name__ and same.__doc__ == slope.__doc__
    np.testing.assert_equal(same(POINTS[1]), slope(POINTS[1]))


@each_way
def test_so_do_dual_numbers_and_a_pull_whose_function_is_not_asked_again(through):
    assert through(derivative(cube, 2))(3.0) == 18.0
    pull = vjp(lambda x: np.cumsum(x * x), POINTS[0])[1]
    np.testing.assert_array_equal(through(pull)(POINTS[1])[0], pull(POINTS[1])[0])


@each_way
def test_a_dual_number_goes_through_alone_but_not_out_of_the_derivative_whose_epsilon_it_has(through):
    x = through(Dual(Dual(3.0, 1.0), Dual(1.0, 0.0)) ** 3)
    assert repr(x) == "Dual(Dual(27.0, 27.0), Dual(27.0, 18.0))" and repr(x * Dual(1.0, 0.0)) == repr(x)
    with pytest.raises(XManError, match="a traced value cannot be pickled"):
        derivative(pickle.dumps)(1.0)


def test_a_derivative_has_the_name_the_signature_and_the_docstring_of_a_function():
    slope = grad(rosenbrock)
    assert slope.__name__ == "grad_rosenbrock" and slope.__doc__ == "grad of rosenbrock."
    assert inspect.signature(slope) == inspect.signature(rosenbrock) and inspect.unwrap(slope) is rosenbrock
    assert jacobian(cube).count(2.0).passes == pickled(jacobian(cube)).count(2.0).passes == 1


def test_a_derivative_that_is_an_attribute_of_a_class_is_a_method():
    class Model:
        factor = 3.0
        slope = grad(lambda self, x: self.factor * x * x, 1)
    assert Model().slope(2.0) == 12.0 == Model.slope(Model(), 2.0)


def test_the_derivative_of_order_0_leaves_the_function_as_it_was():
    assert derivative(cube, 0)(2.0) == 8.0 and cube.__name__ == "cube" and not hasattr(cube, "__wrapped__")


def test_a_deep_copy_has_an_object_of_its_own():
    slope = grad(Quadratic(np.ones(2)))
    other = copy.deepcopy(slope)
    slope.__wrapped__.factor[:] = 7.0
    assert other(np.ones(2)).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("make", [grad, value_and_grad, jacobian, hessian, derivative, lambda fn: grad(grad(fn))])
def test_what_has_no_name_in_a_file_is_refused_in_a_sentence_and_copied(make):
    def local(x):
        return x * x

    for fn in (local, lambda x: x * x):
        with pytest.raises(XManError, match=r"cannot be pickled: .*<l.* has none there; write it with def at the top of a file"):
            pickle.dumps(make(fn))
        assert copy.deepcopy(make(fn))(2.0) == make(fn)(2.0)


def test_derivatives_run_in_other_processes():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        found = list(pool.map(grad(rosenbrock), POINTS))
    np.testing.assert_array_equal(found, [grad(rosenbrock)(x) for x in POINTS])


# ---- compiled lists -------------------------------------------------------------------------------------------------

@each_way
def test_a_compiled_list_is_compiled_anew(through):
    model = MLP([3, 4, 2], dtype=np.float64)
    steps = model.operationSequence(model.loss)
    values = model.inputDict(X=np.ones((5, 3)), y=np.array([0, 1, 1, 0, 1]))
    step = xman.compile(steps, ["loss"], engine="numpy")
    before = step(values)
    same = through(step)
    assert same.requested == "numpy" and same.outputs == ("loss",) and same.steps == step.steps and same(values) == before
    assert b"def " not in pickle.dumps(step) and b"code" not in pickle.dumps(step)


def test_a_compiled_list_overwrites_what_it_did():
    step = pickled(xman.compile([("w2", "subtract", ("w", "d"))], inplace={"w": "w2"}, engine="numpy"))
    w = np.ones(3)
    step({"w": w, "d": np.full(3, 0.25)})
    assert w.tolist() == [0.75] * 3


# ---- models ---------------------------------------------------------------------------------------------------------

@each_way
@pytest.mark.parametrize("model", [House(), House(0), Chain(3), MLP([3, 4, 2])], ids=["house", "house 0", "chain", "network"])
def test_a_model_has_the_same_list(model, through):
    same = through(model.setup())
    for name, reg in model.namedRegisterItems():
        if reg.definedAs:
            assert same.operationSequence(getattr(same, name)) == model.operationSequence(reg)
    assert [name for name, _ in same.namedRegisterItems()] == [name for name, _ in model.namedRegisterItems()]
    np.testing.assert_equal(same.inputDict(), model.inputDict())


@each_way
def test_registers_of_a_class_are_those_of_the_class(through):
    same = through(House())
    assert through(House.wall) is same.wall is House.wall and same.area.inputsTo()[0].inputsTo()[0] is House.wall
    assert same.operationSequence(same.area, House.wall) == House().operationSequence(House.wall) + same.operationSequence(same.area)[2:]


@pytest.mark.parametrize("through", [pickled, copy.deepcopy])
def test_deep_models_and_registers_do_not_recurse_and_grow_with_their_length(through):
    deep = Chain(1000)
    sizes = len(pickle.dumps(deep)), len(pickle.dumps(deep.y)), len(pickle.dumps(Chain(250)))
    same = through(deep)
    assert same.operationSequence(same.y) == deep.operationSequence(deep.y)
    x, y = through([deep.x, deep.y])
    assert x.definedAs is None and next(iter(r for r in xman.register.evaluation_order(y))) is x
    assert sizes[0] < 1.2 * sizes[1] and sizes[0] < 5 * sizes[2]
