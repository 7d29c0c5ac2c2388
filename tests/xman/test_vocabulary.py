"""One vocabulary: the order is (steps, of, wrt, values), wrt is a name or names, and `dir` shows what is public."""

import numpy as np
import pytest

import xman
from xman import WengertList, XManError, backprop, eval, gradient, tangent
from xman.matrices import GaussNewton, Hessian, Jacobian, becker_lecun, diagonals, inverse_outer_products, outer_products
from xman.show import cost, paths, source

STEPS = WengertList([("z", "mul", ("x", "w")), ("loss", "mul", ("z", "z"))])
VALUES = {"x": 2.0, "w": 3.0}


@pytest.mark.parametrize("found", [
    lambda wrt: gradient(STEPS, "loss", wrt), lambda wrt: tangent(STEPS, wrt), lambda wrt: source(STEPS, "loss", wrt),
    lambda wrt: source(STEPS, wrt=wrt), lambda wrt: str(paths(STEPS, "loss", wrt)),
    lambda wrt: [kind(STEPS, "loss", wrt).wrt for kind in (Jacobian, Hessian, GaussNewton)],
    lambda wrt: backprop(STEPS, eval(STEPS, VALUES), wrt=wrt, loss=1.0), lambda wrt: becker_lecun(STEPS, "loss", wrt, VALUES),
    lambda wrt: outer_products(STEPS, "z", wrt, VALUES).tolist(),
    lambda wrt: str(cost(STEPS, "loss", wrt, VALUES, measured=False))])
def test_wrt_is_a_name_or_names(found):
    assert found("w") == found(["w"])


@pytest.mark.parametrize("call", [diagonals, becker_lecun, outer_products, inverse_outer_products])
def test_values_in_the_place_that_they_had_are_told_the_order(call):
    with pytest.raises(XManError, match=r"of is a .*found a dictionary; the order is \(steps, of, wrt, values\)"):
        call(STEPS, VALUES, "loss", ["w"])


def test_backprop_takes_what_is_wanted_without_the_table():
    values = eval(STEPS, VALUES)
    assert backprop(STEPS, values, wrt=["w"], loss=1.0) == {"loss": 1.0, "z": 12.0, "w": 24.0}


@pytest.mark.parametrize("name, delta", [("wrt", 1.0), ("wrt", np.ones(2)), ("DG", 1.0)])
def test_the_delta_of_a_register_with_the_name_of_an_argument_is_refused_with_the_mend(name, delta):
    steps = [(name, "square", ("x",))]
    with pytest.raises(XManError, match=f"{name}=.*, and is no delta: a register called {name} needs another name"):
        backprop(steps, eval(steps, {"x": 2.0}), **{name: delta})


def test_dir_shows_what_is_public_and_packages_are_there_on_asking():
    assert {"gradient", "eval", "f", "train", "engines", "models"} <= set(dir(xman))
    assert not {"importlib", "Any", "LATER", "nearest", "manager", "register"} & set(dir(xman))
    assert all(getattr(xman, name) is not None for name in dir(xman))
