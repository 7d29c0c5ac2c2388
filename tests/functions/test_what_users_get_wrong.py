"""What a user gets wrong with each of the functions, and the words of the sentence that says so."""
from __future__ import annotations

import inspect
import math
import re
import sys

import mistakes
import numpy as np
import pytest
from mistakes import MISTAKES

from tests.ops.operator_cases import in_each
from xman import XManError
from xman.functions import Dual, derivative, grad, hessian, hvp, jacobian, jvp, trace, value_and_grad, vjp

X = np.array([1.0, 2.0, -0.5])
ONES = np.ones(3)

# each function, used on a function of one array
USES = {
    "trace":          lambda fn: trace(fn, X),
    "grad":           lambda fn: grad(fn)(X),
    "value_and_grad": lambda fn: value_and_grad(fn)(X),
    "jvp":            lambda fn: jvp(fn, (X,), (ONES,)),
    "vjp":            lambda fn: vjp(fn, X),
    "jacobian":       lambda fn: jacobian(fn)(X),
    "hessian":        lambda fn: hessian(fn)(X),
    "hvp":            lambda fn: hvp(fn, (X,), (ONES,)),
    "derivative":     lambda fn: derivative(lambda t: fn(t * X))(1.0),
}

# whose comparisons of dual numbers are plain arrays, for which NumPy answers; and whose values may be kept
PLAIN_IN_DUAL = {mistakes.branches_on_an_array, mistakes.asks_where, mistakes.keeps_what_it_computed}


@in_each([(fn.__name__, use, fn, *case) for fn, *case in MISTAKES for use in USES if use != "derivative" or fn not in PLAIN_IN_DUAL])
def test_a_line_that_cannot_be_traced_is_shown_with_what_to_write(_, use, fn, line, found, instead):
    use = USES[use]
    mistakes.kept[:] = []
    if fn is mistakes.keeps_what_it_computed:
        use(fn)  # a first time, and it is kept
    source, start = inspect.getsourcelines(fn)
    number = start + next(k for k, text in enumerate(source) if text.strip().startswith(line))
    with pytest.raises(XManError) as error:
        use(fn)
    sentence = str(error.value)
    assert sentence.startswith(f"mistakes.py:{number}, `{line}") and found in sentence and instead in sentence
    assert "\n" not in sentence


def test_a_dual_number_itself_shows_the_line_too():
    with pytest.raises(XManError, match=r"mistakes.py:\d+, `return math.sin\(x\[0\]\)`: .* write np.sin"):
        mistakes.takes_the_sine_of_math(Dual(X, 1.0))


square, total = lambda x: x * x, lambda x: np.sum(x * x)
pull = vjp(lambda x: {"a": x * x}, X)[1]

WRONG = [
    # every function: what is no function, what has no derivative
    ("grad of a number",              lambda: grad(3.0), "grad takes a function, and found float"),
    ("value_and_grad of a number",    lambda: value_and_grad(total(X)), "takes a function, and found float64"),
    ("jvp of a number",               lambda: jvp(1.0, (X,), (X,)), "jvp takes a function"),
    ("vjp of an array",               lambda: vjp(X, X), "vjp takes a function, and found ndarray"),
    ("jacobian of an array",          lambda: jacobian(X), "jacobian takes a function"),
    ("hessian of an array",           lambda: hessian(X), "hessian takes a function"),
    ("hvp of an array",               lambda: hvp(X, (X,), (X,)), "hvp takes a function"),
    ("trace of an array",             lambda: trace(X, X), "trace takes a function"),
    ("derivative of an array",        lambda: derivative(X), "derivative takes a function"),
    ("integers",                      lambda: grad(total)(np.arange(3)), "argument 0 of <lambda> is an array of int64.*astype"),
    ("integers in jvp",               lambda: jvp(total, (np.arange(3),), (ONES,)), "only floats have derivatives"),
    ("integers in vjp",               lambda: vjp(total, np.arange(3)), "only floats have derivatives"),
    ("integers in jacobian",          lambda: jacobian(total)(np.arange(3)), "only floats have derivatives"),
    ("integers in hessian",           lambda: hessian(total)(np.arange(3)), "only floats have derivatives"),
    ("integers in hvp",               lambda: hvp(total, (np.arange(3),), (ONES,)), "only floats have derivatives"),
    ("integers in Dual",              lambda: Dual(np.arange(3)), "the value of a Dual is an array of int64"),
    ("integers in a tree",            lambda: grad(lambda p: p["w"].sum())({"w": np.arange(3)}), r"argument 0 of .*\{'w': \*\}"),
    ("complex numbers",               lambda: grad(total)(X * 1j), r"<lambda> returned a complex number, .*np.abs\(…\) or np.real\(…\).*holomorphic"),
    ("a text",                        lambda: grad(total)("x"), "argument 0 of <lambda> is of type str"),
    ("a boolean",                     lambda: grad(total)(True), "is of type bool"),
    ("a masked array",                lambda: grad(total)(np.ma.array(X)), "is of type MaskedArray"),
    ("a sparse matrix",               lambda: grad(total)(mistakes.sparse), "is of type csr_array"),
    # outputs
    ("an array for a gradient",       lambda: grad(square)(X), r"shape \(3,\), and a gradient is that of one number; .*jacobian"),
    ("an array of one",               lambda: grad(lambda x: x[:1])(X), r"shape \(1,\).*np.sum"),
    ("an array for value_and_grad",   lambda: value_and_grad(square)(X), "np.sum.*np.mean"),
    ("an array for hvp",              lambda: hvp(square, (X,), (X,)), "a gradient is that of one number"),
    ("two outputs for a gradient",    lambda: grad(lambda x: (x[0], x[1]))(X), "2 outputs.*has_aux=True"),
    ("no output",                     lambda: grad(lambda x: None)(X), "0 outputs, None"),
    ("a position",                    lambda: grad(np.argmax)(X), "argmax returned int64.*only floats"),
    ("a comparison",                  lambda: grad(lambda x: x[0] > 1)(X), "returned bool"),
    ("a text as output",              lambda: vjp(lambda x: "text", X), "object of type str; vjp wants arrays"),
    ("a function as output",          lambda: jvp(lambda x: np.sin, (X,), (X,)), "auxiliary output"),
    ("a set as output",               lambda: jacobian(lambda x: {1})(X), "object of type set; jacobian wants"),
    ("a text as a traced output",     lambda: trace(lambda x: "text", X), "object of type str; trace wants"),
    ("no pair with has_aux",          lambda: grad(total, has_aux=True)(X), "returns .output, auxiliary., and <lambda> returned one thing"),
    ("three with has_aux",            lambda: jvp(lambda x: (x, x, x), (X,), (X,), has_aux=True), "a tuple of 3"),
    # argnums
    ("argnums beyond",                lambda: grad(total, 1)(X), "names argument 1 of <lambda>, which was called with 1"),
    ("argnums below",                 lambda: jacobian(total, -2)(X), "names argument -2"),
    ("argnums of hvp beyond",         lambda: hvp(total, (X,), (X,), 2), "names argument 2"),
    ("argnums of hessian beyond",     lambda: hessian(total, 5)(X), "names argument 5"),
    ("an argument by name",           lambda: grad(total)(x=X), "by position, not by name"),
    ("argnums by name",               lambda: grad(total, "x")(X), "argnums is the position of an argument"),
    ("argnums of floats",             lambda: value_and_grad(total, 0.0)(X), "argnums is the position"),
    ("no argnums",                    lambda: jacobian(total, ())(X), "argnums is the position"),
    ("an argument twice",             lambda: grad(total, (0, -1))(X), "names an argument twice"),
    # directions
    ("no tuple of primals",           lambda: jvp(total, X, (X,)), r"primals of jvp are a tuple.*write \(x,\)"),
    ("no tuple of tangents",          lambda: jvp(total, (X,), X), "tangents of jvp are a tuple"),
    ("too few tangents",              lambda: jvp(np.add, (X, X), (X,)), "tangents is a tuple of 1 where primals has a tuple of 2"),
    ("tangents of another shape",     lambda: jvp(total, (X,), (1.0,)), r"shape \(\) where primals has float64 of shape \(3,\)"),
    ("tangents of another structure", lambda: jvp(lambda p: p["w"], ({"w": X},), ({"v": X},)), r"tangents\[0\] is a dict with the keys v"),
    ("a tangent of text",             lambda: jvp(total, (1.0,), ("x",)), "tangents has <U1"),
    ("a cotangent of another shape",  lambda: pull({"a": 1.0}), r"u has float64 of shape \(\) where the output has"),
    ("a cotangent without structure", lambda: pull(ONES), "u is a leaf where the output has a dict with the keys a"),
    ("no tuples for hvp",             lambda: hvp(total, X, (X,)), r"hvp\(fn, \(x,\), \(v,\)\)"),
    ("no tuple of vectors",           lambda: hvp(total, (X,), X), "found ndarray"),
    ("too many vectors",              lambda: hvp(total, (X,), (X, X)), "2 vectors for 1 arguments"),
    ("a vector of another shape",     lambda: hvp(total, (X,), (1.0,)), r"shape \(\) where primals"),
    ("another mode",                  lambda: jacobian(total, mode="backward"), "'forward', 'reverse' or None.*backward"),
    ("another mode to count",         lambda: jacobian(total, mode=1), "the mode is 'forward', 'reverse' or None"),
    # trace
    ("whole numbers alone",           lambda: trace(lambda n: n * 2, 3), "write 3.0, not 3"),
    ("no examples",                   lambda: trace(lambda: 3.0), "found no input"),
    ("a text for an example",         lambda: trace(lambda s: s, "x"), "belong to the program"),
    # Dual and derivative
    ("a Dual of text",                lambda: Dual("x"), "the value of a Dual is of type str"),
    ("a Dual of a list",              lambda: Dual([1.0, 2.0]), "of type list.*np.asarray"),
    ("a Dual of booleans",            lambda: Dual(X > 0), "an array of bool"),
    ("holomorphic of real numbers",   lambda: grad(total, holomorphic=True)(X), "holomorphic=True is for complex functions"),
    ("a tangent of text in Dual",     lambda: Dual(1.0, "x"), "the tangent of a Dual is of type str"),
    ("a tangent that does not fit",   lambda: Dual(X, np.ones(2)), r"shape \(2,\) and its value \(3,\)"),
    ("a tangent beyond a number",     lambda: Dual(1.0, np.ones(2)), r"shape \(2,\) and its value \(\)"),
    ("an element of a Dual",          lambda: Dual(X).__setitem__(0, 1.0), "in-place write"),
    ("the order of complex Duals",    lambda: Dual(1j, 1.0) < 2.0, "less is not defined for complex numbers here; give it np.real"),
    ("a matrix of no Dual",           lambda: Dual.from_matrix(np.ones((2, 2))), r"\[\[v, t\], \[0, v\]\]"),
    ("a matrix of odd shape",         lambda: Dual.from_matrix(np.ones((3, 2))), r"2n rows and 2m columns"),
    ("the matrix of three axes",      lambda: Dual(np.ones((1, 1, 1))).matrix(), "has no matrix"),
    ("a derivative at an array",      lambda: derivative(np.sin)(X), "at one number.*jacobian"),
    ("a derivative of order 1.5",     lambda: derivative(np.sin, 1.5), "whole number from 0"),
    ("a derivative at text",          lambda: derivative(np.sin)("x"), "the point of a derivative is of type str"),
]


@pytest.mark.parametrize(("call", "words"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_it_is_refused_in_a_sentence(call, words):
    with pytest.raises(XManError) as error:
        call()
    assert re.search(words, str(error.value)) and "\n" not in str(error.value)


def test_an_error_of_numpys_own_stays_as_it_is():
    with pytest.raises(ValueError, match="could not be broadcast") as error:
        grad(lambda x: np.sum(x + np.ones(2)))(X)
    assert not isinstance(error.value, XManError)


# what must not go on in silence


def swallowed(x):
    try:
        return x * math.log(x)
    except ValueError:
        return 0.0 * x


def written_into(x):
    try:
        x[0] = 5.0
    except ValueError:  # as a user's own handler would
        pass
    return x.sum()


def aliased(x):
    kept = [y := x * 2.0]
    y += 1.0
    return kept[0].sum()


@pytest.mark.parametrize("call, words", [
    (lambda: grad(swallowed)(2.0), "`return x * math.log(x)`: math.log would turn a traced value into a plain number"),
    (lambda: derivative(swallowed)(2.0), "math.log would turn a traced value into a plain number"),
    (lambda: trace(written_into, np.ones(3)), "`x[0] = 5.0`: an in-place write"),
    (lambda: grad(aliased)(np.ones(3)), "`y += 1.0`: x += y writes into the array x")])
def test_a_refusal_that_the_function_swallows_is_raised_all_the_same(call, words):
    with pytest.raises(XManError) as error:
        call()
    assert words in str(error.value)


def test_a_refusal_within_a_derivative_that_is_caught_around_it_is_over():
    def fn(x):
        try:
            grad(lambda y: math.sin(y))(1.0)
        except XManError:
            return x * 3.0
    assert grad(fn)(2.0) == 3.0


def test_a_truth_value_that_numpy_refuses_too_may_be_caught():
    def fn(x):
        try:
            return x.sum() if x > 0 else x.sum()
        except ValueError:
            return 2.0 * x.sum()
    assert grad(fn)(np.ones(2)).tolist() == [2, 2]


def test_x_plus_equals_y_is_for_numbers():
    def fn(x):
        total = x[0]
        total += x[1] * 2.0
        total *= 3.0
        return total
    assert grad(fn)(np.ones(2)).tolist() == [3, 6]


# bugs that had survived planting


@pytest.mark.skipif(sys.version_info < (3, 11), reason="before Python 3.11 a frame knows its line alone")
def test_of_two_conversions_in_a_line_the_one_that_is_refused_is_told():
    with pytest.raises(XManError, match=r"float\(\) would turn"):
        grad(lambda x: np.asarray([1.0]).sum() * float(x))(2.0)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="before Python 3.11 a frame knows its line alone")
def test_letters_beyond_ascii_before_a_conversion_do_not_shift_what_is_read():
    ééééééééé = np.array  # each of these letters is two bytes
    with pytest.raises(XManError, match="leave it an array; np.floor"):
        grad(lambda x: ééééééééé([1.0]).sum() * float(x) + np.asarray(3.0))(2.0)
