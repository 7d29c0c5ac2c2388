"""Ten things and more that a user gets wrong with each function of lists, and the sentence each gets."""

import re

import numpy as np
import pytest

import ops
from xman import (
    ALGEBRA,
    EXACT,
    XManError,
    cost,
    derivation,
    difference_errors,
    expand,
    explain,
    f,
    gradient,
    inverse_outer_products,
    outer_products,
    paths,
    rewrite,
    simplify,
    source,
    tangent,
)

TEXT = "z = mul(x, w)"
SUM = [("y", "mul", ("x", "w")), ("z", "sum", ("y",))]
AT = {"x": np.ones(3), "w": 2.0}
SINE = [("y", "mul", ("x", "w")), ("z", "sin", ("y",))]
NUMBERS = {"x": 1.5, "w": 2.0}
LAYER = [("a", "dot", ("X", "W")), ("l", "softmaxCrossEntropy", ("a", "y")), ("loss", "mean", ("l",))]
DATA = {"X": np.ones((4, 3)), "W": np.zeros((3, 2)), "y": np.array([0, 1, 1, 0])}
EMPTY = {**DATA, "X": np.ones((0, 3)), "y": np.zeros(0, int)}
DOUBLED = [(f"z{k}", "mul", (f"z{k - 1}", f"z{k - 1}")) for k in range(1, 40)]
POWERS = [("z0", "add", ("x", "y")), *DOUBLED[:11]]
MISSHAPEN = {**AT, "w": np.ones(2)}
NOT_A_LIST, NOT_A_TUPLE, TWICE = "steps is a str, not a list of lines", [("y", "sin", ("x"))], [SINE[0], ("y", "sin", ("y",))]

WRONG = {
    "gradient": [
        (lambda: gradient(SUM, "x", "z"),                           "'x' does not depend on 'z', which depends on 'x'; the order"),
        (lambda: gradient(TEXT, "z", ["x"]),                        NOT_A_LIST),
        (lambda: gradient(NOT_A_TUPLE, "y", ["x"]),                 "a tuple of one is written ('x',)"),
        (lambda: gradient(SUM, ["z", "y"], ["x"]),                  "of names one register here, and found z, y"),
        (lambda: gradient(SUM, "zz", ["x"]),                        "of names 'zz', which the list does not have; did you mean 'z'?"),
        (lambda: gradient(SUM, "z", None),                          "wrt takes the names of registers, strings, and found None"),
        (lambda: gradient(SUM, "z", ["v"]),                         "wrt names 'v', which the list does not have"),
        (lambda: gradient(SUM, "z", ["x"], seed="w"),               "the list has a register w already"),
        (lambda: gradient(SUM, "z", ["x"], seed=1.0),               "seed is the name of a new input"),
        (lambda: gradient(SUM, "z", ["x"], seed="two words"),       "'two words', which is not an identifier"),
        (lambda: gradient(gradient(SUM, "z", ["x"]), "z", ["x"]),   "the list has a register dz_dx already"),
        (lambda: gradient([("y", "sine", ("x",))], "y", ["x"]),     "there is no adjoint rule for the operator 'sine'"),
        (lambda: gradient(SUM, "z", ["x"], DG={}),                  "'mul', which is not in the table of operators")],
    "tangent": [
        (lambda: tangent(TEXT, ["x"]),                              NOT_A_LIST),
        (lambda: tangent(NOT_A_TUPLE, ["x"]),                       "a tuple of one is written ('x',)"),
        (lambda: tangent(TWICE, ["x"]),                             "assigns y a second time"),
        (lambda: tangent(SUM, None),                                "wrt takes the names of registers, strings, and found None"),
        (lambda: tangent(SUM, ["v"]),                               "wrt names 'v', which the list does not have"),
        (lambda: tangent(SUM, [1]),                                 "wrt takes the names of registers, strings, and found 1"),
        (lambda: tangent(SUM, ["y"]),                               "'y', which is computed; it takes inputs: x, w"),
        (lambda: tangent(SUM, []),                                  "wrt is empty: name at least one of the inputs"),
        (lambda: tangent([], ["x"]),                                "wrt names 'x', which the list does not have"),
        (lambda: tangent(SUM, ["x"], TG={}),                        "'mul', which is not in the table of operators")],
    "simplify": [
        (lambda: simplify(TEXT),                                    NOT_A_LIST),
        (lambda: simplify([("y", "mul", ("x",))]),                  "gives mul 1 argument; it takes 2 arguments"),
        (lambda: simplify([("y", "sine", ("x",))]),                 "'sine', which is not in the table of operators"),
        (lambda: simplify(TWICE),                                   "assigns y a second time"),
        (lambda: simplify(SUM, 5),                                  "keep takes the names of registers, strings, and found 5"),
        (lambda: simplify(SUM, ["zz"]),                             "keep names 'zz', which the list does not have; did you mean 'z'?"),
        (lambda: simplify(SUM, [1]),                                "keep takes the names of registers, strings, and found 1"),
        (lambda: simplify(SUM, None, [1.0]),                        "likes is a dictionary with an example of each input"),
        (lambda: simplify(SUM, None, None, "EXACT"),                "rewrites are rows of a table, as in EXACT + STABLE, and found 'E'"),
        (lambda: simplify(SUM, None, None, EXACT[0]),               "one of your own is [rewrite(form, becomes)]"),
        (lambda: rewrite(lambda x: x, lambda x: x),                 "this one would match every register"),
        (lambda: simplify(SUM, G={}),                               "'mul', which is not in the table of operators")],
    "source": [
        (lambda: source(TEXT),                                      NOT_A_LIST),
        (lambda: source([]),                                        "the list is empty"),
        (lambda: source(NOT_A_TUPLE),                               "a tuple of one is written ('x',)"),
        (lambda: source(SUM, "z"),                                  "the gradient of 'z' is with respect to what? name it, as in wrt=['x']"),
        (lambda: source(SUM, "zz", ["x"]),                          "of names 'zz', which the list does not have; did you mean 'z'?"),
        (lambda: source(SUM, "z", ["v"]),                           "wrt names 'v', which the list does not have"),
        (lambda: source(SUM, None, ["y"]),                          "'y', which is computed; it takes inputs"),
        (lambda: source(SUM, name="class"),                         "'class', which is a Python keyword"),
        (lambda: source(SUM, rewrites="ALGEBRA"),                   "rewrites are rows of a table"),
        (lambda: source(SUM, "z", ["x"], [1.0]),                    "likes is a dictionary with an example of each input")],
    "explain": [
        (lambda: explain(TEXT, values=AT),                                 NOT_A_LIST),
        (lambda: explain([], values={}),                                   "the list is empty"),
        (lambda: explain(SUM, values={}),                                  "no value for the input 'x'; without a value: x, w"),
        (lambda: explain(SUM, values=None),                                "the values are a dictionary with one for each input"),
        (lambda: explain(SUM, values=MISSHAPEN),                           "line 1, y = mul(x, w): x has shape (3,), w has shape (2,)"),
        (lambda: explain(SUM, "zz", values=AT),                            "of names 'zz', which the list does not have; did you mean 'z'?"),
        (lambda: explain(SUM, None, "v", AT),                       "wrt names 'v', which the list does not have"),
        (lambda: explain(SUM, None, ["x", "w"], AT),                "wrt names one register here, and found x, w"),
        (lambda: explain(SUM, None, {"x": np.ones(2)}, AT),         "the tangent given for 'x' has shape (2,), the register (3,)"),
        (lambda: explain(SUM, None, "x", {"x": np.arange(3), "w": 1.0}), "wrt names 'x', which holds whole numbers"),
        (lambda: explain(SUM, values=AT, digits=-1),                       "digits is the number of decimals, 0 to 17, not -1")],
    "derivation": [
        (lambda: derivation(TEXT, "z", "x"),                        NOT_A_LIST),
        (lambda: derivation([], "z", "x"),                          "of names 'z', which the list does not have"),
        (lambda: derivation(SINE, "zz", "x"),                       "of names 'zz', which the list does not have; did you mean 'z'?"),
        (lambda: derivation(SINE, "z", "v"),                        "wrt names 'v', which the list does not have"),
        (lambda: derivation(SINE, ["z", "x"], "x"),                 "of names one register here, and found z, x"),
        (lambda: derivation(SINE, "z", []),                         "wrt names one register here, and found none"),
        (lambda: derivation(SINE, "z", None),                       "wrt takes the names of registers, strings, and found None"),
        (lambda: derivation(SUM, "z", "x", values={"x": 3.0}),      "no value for the input 'w'"),
        (lambda: derivation(SUM, "z", "x", values=[3.0]),           "the values are a dictionary with one for each input"),
        (lambda: derivation(NOT_A_TUPLE, "y", "x"),                 "a tuple of one is written ('x',)"),
        (lambda: derivation(DOUBLED, "z39", "z0"),                  "has more than 300 parts")],
    "paths": [
        (lambda: paths(TEXT, "z", "x"),                             NOT_A_LIST),
        (lambda: paths([], "z", "x"),                               "of names 'z', which the list does not have"),
        (lambda: paths(SINE, "zz", "x"),                            "of names 'zz', which the list does not have; did you mean 'z'?"),
        (lambda: paths(SINE, "z", "v"),                             "wrt names 'v', which the list does not have"),
        (lambda: paths(SINE, "z", []),                              "wrt is empty; name a register of the list"),
        (lambda: paths(SINE, "z", None),                            "wrt takes the names of registers, strings, and found None"),
        (lambda: paths(SINE, "z", "x", {"x": 1.0}),                 "no value for the input 'w'"),
        (lambda: paths(SINE, "z", "x", {"x": "a", "w": 1.0}),       "the value of 'x' is 'a'; wanted a number or an array of numbers"),
        (lambda: paths(SINE, "z", "x").derivative,                  "these paths have no numbers: give paths the values of the inputs"),
        (lambda: paths(SINE, "z", "x").forward("w"),                "name one of the registers in wrt, x, not 'w'"),
        (lambda: paths(SINE, "z", "x", NUMBERS).symbolic("up"),     "the direction is 'forward' or 'backward', not 'up'"),
        (lambda: paths(SUM, "z", "x", AT).symbolic("forward"),      "is a matrix, and formulas are of numbers"),
        (lambda: paths(DOUBLED, "z39", "z0").all(),                 "there are 549,755,813,888 paths, and 100 is the limit")],
    "cost": [
        (lambda: cost(TEXT, values=AT),                                    NOT_A_LIST),
        (lambda: cost([], values={}),                                      "the list is empty"),
        (lambda: cost(SUM, values={}),                                     "no value for the input 'x'"),
        (lambda: cost(SUM, values=None),                                   "the values are a dictionary with one for each input"),
        (lambda: cost(SUM, values=MISSHAPEN),                              "line 1, y = mul(x, w): x has shape (3,), w has shape (2,)"),
        (lambda: cost(SUM, "zz", values=AT),                               "of names 'zz', which the list does not have; did you mean 'z'?"),
        (lambda: cost(SUM, None, ["v"], AT),                        "wrt names 'v', which the list does not have"),
        (lambda: cost(SUM, None, ["y"], AT),                        "'y', which is computed; it takes inputs"),
        (lambda: cost(SUM, None, [], AT),                           "there is nothing to differentiate by"),
        (lambda: cost([("y", "argmax", ("x",))], values={"x": np.arange(3)}), "there is nothing to differentiate by")],
    "difference_errors": [
        (lambda: difference_errors(TEXT, values=AT),                       NOT_A_LIST),
        (lambda: difference_errors([], values={}),                         "the list is empty"),
        (lambda: difference_errors(SUM, values={}),                        "no value for the input 'x'"),
        (lambda: difference_errors(SUM, values=None),                      "the values are a dictionary with one for each input"),
        (lambda: difference_errors(SUM, "zz", values=AT),                  "of names 'zz', which the list does not have; did you mean 'z'?"),
        (lambda: difference_errors(SUM, None, "v", AT),             "'v' is no input of floats that could be moved; the inputs are x, w"),
        (lambda: difference_errors(SUM, None, "y", AT),             "'y' is no input of floats that could be moved"),
        (lambda: difference_errors(SUM, None, {"x": np.ones(2)}, AT), "the tangent given for 'x' has shape (2,), the register (3,)"),
        (lambda: difference_errors(SUM, values=AT, sizes=[]),              "the step sizes are numbers above 0, not []"),
        (lambda: difference_errors(SUM, values=AT, sizes=[0.0]),           "the step sizes are numbers above 0, not [0.0]"),
        (lambda: difference_errors(SUM, values=AT, sizes="small"),         "the step sizes are numbers above 0"),
        (lambda: difference_errors(SUM, values={"x": np.arange(3), "w": np.arange(3)}), "there is nothing to differentiate by")],
    "outer_products": [
        (lambda: outer_products(TEXT, "a", ["W"], DATA),            NOT_A_LIST),
        (lambda: outer_products(LAYER, "b", ["W"], DATA),           "of names 'b', which the list does not have"),
        (lambda: outer_products(LAYER, "a", ["V"], DATA),           "wrt names 'V', which the list does not have"),
        (lambda: outer_products(LAYER, "a", [], DATA),              "wrt is empty: name at least one of the inputs X, W, y"),
        (lambda: outer_products(LAYER, "a", ["l"], DATA),           "wrt names 'l', which is computed"),
        (lambda: outer_products(LAYER, "a", ["y"], DATA),           "'y' holds int64, and whole numbers have no derivative"),
        (lambda: outer_products(LAYER, "a", ["W"], DATA, "hinge"),  "there is no error 'hinge'; there are squares, logistic, softmax"),
        (lambda: outer_products(LAYER, "a", ["W"], DATA, weight=-1), "the weight of an example is a positive number, not -1"),
        (lambda: outer_products(LAYER, "a", ["W"], {}),             "no value for the input 'X'"),
        (lambda: outer_products(LAYER, "a", ["W"], EMPTY),          "there are no examples: 'a' has shape (0, 2)"),
        (lambda: inverse_outer_products(LAYER, "a", ["W"], DATA, alpha=0), "alpha is a positive number"),
        (lambda: inverse_outer_products(LAYER, "a", ["W"], DATA, alpha="small"), "alpha is a positive number")],
    "expand": [
        (lambda: expand(TEXT, "z"),                                 NOT_A_LIST),
        (lambda: expand([], "z"),                                   "of names 'z', which the list does not have"),
        (lambda: expand(SINE, "zz"),                                "of names 'zz', which the list does not have"),
        (lambda: expand(POWERS, "z11"),                             "multiplied out it has more than 1,000 terms")],
}


@pytest.mark.parametrize(("call", "words"), [pytest.param(*case, id=f"{name}-{k}") for name, cases in WRONG.items()
                                             for k, case in enumerate(cases)])
def test_it_is_refused_in_one_sentence(call, words):
    with pytest.raises(XManError) as error:
        call()
    assert words in str(error.value) and "\n" not in str(error.value) and not re.search(r"object at 0x", str(error.value))


def test_a_rewrite_of_ones_own_is_a_row_like_any_other():
    row = rewrite(lambda x: f.sin(x) / f.cos(x), lambda x: f.tan(x), "rounding")
    steps = [("s", "sin", ("x",)), ("c", "cos", ("x",)), ("y", "divide", ("s", "c"))]
    assert simplify(steps, rewrites=EXACT + ALGEBRA + (row,)) == [("y", "tan", ("x",))] and "tan" in ops.G
