"""Facts about values and gradients where libraries go wrong: overflow, ties, zeros, nothing at all, shapes and dtypes."""

import itertools

import numpy as np
import pytest

import ops
from xman import XMan, backprop, eval, f, forward

inf = np.inf


def lists(function, *inputs):
    """(steps, values) of out = function(x, y, …) at the inputs, which are called x, y, z, …"""
    m, names = XMan(), "xyzuvw"[:len(inputs)]
    for name in names:
        setattr(m, name, f.input())
    m.out = function(*(getattr(m, name) for name in names))
    steps = m.setup().operationSequence(m.out)
    return steps, eval(steps, dict(zip(names, inputs, strict=True)))


def derive(function, *inputs, seed=1.0):
    """The value of function(x, y, …), and the deltas that `seed` has sent to the inputs, None where there is none."""
    steps, values = lists(function, *inputs)
    deltas = backprop(steps, values, out=seed)
    return values["out"], *(deltas.get(name) for name in "xyzuvw"[:len(inputs)])


RECORD = {op: getattr(f, op) for op in ops.G}  # a table by which eval over registers writes the list again


def second(function, x, weight=1.0):
    """The gradient of Σ weight·gradient: backprop over registers writes the list of the gradient, and that is derived."""
    m = XMan()
    m.x = f.input()
    m.out = function(m.x)
    steps = m.setup().operationSequence(m.out)
    gradient = backprop(steps, eval(steps, {"x": m.x}, RECORD), out=1.0)["x"]
    m.second = f.sum(gradient * weight)
    steps = m.operationSequence(m.second)
    return backprop(steps, eval(steps, {"x": x}), second=1.0).get("x", 0.0)


def array(*entries):
    return np.array(entries, float)


labels = np.array([0])

# fact: (function, x, value, gradient of the sum)
FACTS = {
    "logsumexp of -inf alone is -inf and sends nothing": (f.logsumexp, array(-inf, -inf), -inf, [0, 0]),
    "logsumexp of +inf is +inf and sends all to it": (f.logsumexp, array(inf, 0), inf, [1, 0]),
    "logsumexp of 1000 and 0 does not overflow": (f.logsumexp, array(1000, 0), 1000, [1, 0]),
    "logsumexp of nothing is -inf": (f.logsumexp, np.zeros(0), -inf, []),
    "logsumexp of a row of -inf leaves the other row right":
        (lambda x: f.logsumexp(x, 1), array([-inf, -inf], [0, 0]), [-inf, np.log(2)], [[0, 0], [.5, .5]]),
    "logaddexp of -inf and -inf is -inf and sends nothing": (lambda x: f.logaddexp(x, -inf), array(-inf), [-inf], [0]),
    "softplus of 1000 is 1000": (f.softplus, array(1000, -1000), [1000, 0], [1, 0]),
    "cross-entropy of logits hundreds apart does not overflow":
        (lambda z: f.softmaxCrossEntropy(z, labels), array([-431, 279, 427]), [[858]], [[-1, 5.3017e-65, 1]]),
    "cross-entropy of a logit -inf that is not the label's is finite":
        (lambda z: f.softmaxCrossEntropy(z, labels), array([0, -inf, 0]), [[.693147]], [[-.5, 0, .5]]),
    "cross-entropy of one-hot targets is that of labels":
        (lambda z: f.softmaxCrossEntropy(z, array([1, 0, 0])), array([0, -inf, 0]), [[.693147]], [[-.5, 0, .5]]),
    "cross-entropy with probability 0 where the target is 0 is finite":
        (lambda p: f.crossEntropy(p, array([0, 1])), array([0, 1]), [[0]], [[0, -1]]),
    "sigmoidCrossEntropy of logits 1000 and -1000 does not overflow":
        (lambda z: f.sigmoidCrossEntropy(z, array(1, 1, 0)), array(1000, -1000, 1000), [0, 1000, 1000], [0, -1, 1]),
    "sigmoidCrossEntropy of infinite logits is 0 where they are right":
        (lambda z: f.sigmoidCrossEntropy(z, array(1, 0, 1, 0)), array(inf, -inf, -inf, inf), [0, 0, inf, inf], [0, 0, -1, 1]),
    "hinge has derivative 0 at its kink, as relu": (lambda z: f.hinge(z, labels), array([1, 0, -3]), [[0]], [[0, 0, 0]]),
    "hinge has there 0 by its target, too": (lambda y: f.hinge(array([1, 0, -3]), y), array([1, 0, 0]), [[0]], [[-1, 0, 0]]),
    "softmax of a logit -inf gives it 0": (lambda z: f.softmax(z)[0], array(0, -inf, 0), .5, [.25, 0, -.25]),
    "softmax of 1000 and 0 does not overflow": (lambda z: f.softmax(z)[0], array(1000, 0), 1, [0, 0]),
    "sigmoid at 1000 and -1000 is 1 and 0 and flat": (f.sigmoid, array(1000, -1000), [1, 0], [0, 0]),
    "tanh at 1000 and -1000 is 1 and -1 and flat": (f.tanh, array(1000, -1000), [1, -1], [0, 0]),
    "logSigmoid at 1000 and -1000 is 0 and -1000": (f.logSigmoid, array(1000, -1000), [0, -1000], [0, 1]),
    "log1p and expm1 keep what is tiny": (lambda x: f.log1p(x) + f.expm1(x), array(1e-20), [2e-20], [2]),
    "where with log2 beside zero":
        (lambda x: f.sum(f.where(x > 2, f.log2(x), 2 * x)), array(0, 2, 3), 5.584963, [2, 2, .480898]),
    "where leaves out an exp that overflows": (lambda x: f.where(x > 1, x, f.exp(x)), array(1000, 0), [1000, 1], [1, 1]),
    "where leaves out a square root at 0": (lambda x: f.where(x > 0, f.sqrt(x), 0.0), array(0, 4), [0, 2], [0, .25]),
    "where leaves out a logarithm of what is negative":
        (lambda x: f.where(x > 0, f.log(x), 0.0), array(-1, 1), [0, 0], [0, 1]),
    "where leaves out 0/0": (lambda x: f.where(x == 0, 1.0, f.sin(x) / x), array(0), [1], [0]),
    "where leaves out a reciprocal of 0": (lambda x: f.where(x == 0, 0.0, 1 / x), array(0, 2), [0, .5], [0, -.25]),
    "where leaves out a power of what is negative":
        (lambda x: f.where(x > 0, x ** 0.5, 0.0), array(-4, 4), [0, 2], [0, .25]),
    "where leaves out an arcsin beyond 1": (lambda x: f.where(abs(x) < 1, f.arcsin(x), 0.0), array(0, 2), [0, 0], [1, 0]),
    "where leaves out the square of an infinity":
        (lambda x: f.where(x < 2, x, f.exp(x) ** 2), array(1, 1000), [1, inf], [1, inf]),
    "prod with one zero": (f.prod, array(2, 0, 3), 0, [0, 6, 0]),
    "prod with two zeros": (f.prod, array(0, 0, 3), 0, [0, 0, 0]),
    "prod along an axis with a zero in one row": (lambda x: f.prod(x, 1), array([2, 0], [3, 4]), [0, 12], [[0, 2], [4, 3]]),
    "cumprod with a zero": (f.cumprod, array(2, 0, 3), [2, 0, 0], [1, 8, 0]),
    "x to the 0 at 0": (lambda x: x ** 0, array(0), [1], [0]),
    "x to the 1 at 0": (lambda x: x ** 1, array(0), [0], [1]),
    "x to the 2 at 0": (lambda x: x ** 2, array(0), [0], [0]),
    "2 to the x at -inf": (lambda x: 2 ** x, array(-inf), [0], [0]),
    "a negative base to an integer": (lambda x: x ** 3, array(-2), [-8], [12]),
    "0 to the 2 by its exponent": (lambda x: 0.0 ** x, array(2), [0], [0]),
    "relu at 0 has derivative 0": (f.relu, array(-1, 0, 1), [0, 0, 1], [0, 0, 1]),
    "abs at 0 has derivative 0": (abs, array(-2, -0.0, 0, 2), [2, 0, 0, 2], [-1, 0, 0, 1]),
    "sqrt at 0 has derivative +inf": (f.sqrt, array(0, 4), [0, 2], [inf, .25]),
    "clip passes the gradient at its bounds":
        (lambda x: f.clip(x, -1, 1), array(-2, -1, 0, 1, 2), [-1, -1, 0, 1, 1], [0, 1, 1, 1, 0]),
    "ties of max share the gradient equally": (f.max, array(3, 1, 3, 3), 3, [1 / 3, 0, 1 / 3, 1 / 3]),
    "ties of max along an axis share it in each row":
        (lambda x: f.max(x, 1), array([2, 2, 1], [0, 5, 0]), [2, 5], [[.5, .5, 0], [0, 1, 0]]),
    "ties of min share the gradient equally": (f.min, array([0, 0], [0, 0]), 0, [[.25, .25], [.25, .25]]),
    "ties of max at infinity share it too": (f.max, array(inf, inf, 0), inf, [.5, .5, 0]),
    "an infinite slope goes to the max alone": (lambda x: f.sqrt(f.max(x)), array(0, -1), 0, [inf, 0]),
    "an infinite slope goes to the min alone": (lambda x: f.sqrt(-f.min(x)), array(-0.0, 1), 0, [-inf, 0]),
    "an infinite slope goes to the maximum alone": (lambda x: f.sqrt(f.maximum(x[0], x[1])), array(0, -1), 0, [inf, 0]),
    "a tie of maximum gives one half": (lambda x: f.maximum(x, 1.0), array(0, 1, 2), [1, 1, 2], [0, .5, 1]),
    "a tie of minimum gives one half": (lambda x: f.minimum(1.0, x), array(0, 1, 2), [0, 1, 1], [1, .5, 0]),
    "maximum of a register and itself has derivative 1": (lambda x: f.maximum(x, x), array(3), [3], [1]),
    "the norm of zeros has gradient 0": (f.norm, np.zeros(3), 0, [0, 0, 0]),
    "the norms of rows, one of zeros": (lambda x: f.norm(x, 1), array([0, 0], [3, 4]), [0, 5], [[0, 0], [.6, .8]]),
    "the Frobenius norm of zeros has gradient 0": (f.frobeniusNorm, np.zeros((2, 2)), 0, np.zeros((2, 2))),
    "the standard deviation of a constant has gradient 0": (f.std, array(2, 2, 2), 0, [0, 0, 0]),
    "the standard deviations of rows, one constant":
        (lambda x: f.std(x, 1), array([7, 7], [1, 3]), [0, 1], [[0, 0], [-.5, .5]]),
    "the variance of numbers far from 0 loses nothing": (f.var, array(1e8, 1e8 + 1, 1e8 + 2), 2 / 3, [-2 / 3, 0, 2 / 3]),
    "mean of a matrix sends 1/n to each entry": (f.mean, np.ones((2, 4)), 1, np.full((2, 4), 1 / 8)),
    "mean over an axis sends 1 over its length":
        (lambda x: f.mean(x, 0), np.ones((2, 4)), np.ones(4), np.full((2, 4), 1 / 2)),
    "a sum over no elements is 0": (f.sum, np.zeros(0), 0, []),
    "a mean over no elements is NaN": (f.mean, np.zeros(0), np.nan, []),
    "a sum over an empty axis": (lambda x: f.sum(x, 0), np.zeros((0, 3)), [0, 0, 0], np.zeros((0, 3))),
    "a product over no elements is 1": (f.prod, np.zeros(0), 1, []),
    "a softmax of no rows": (f.softmax, np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3))),
    "an entry that is taken twice receives twice": (lambda x: x[np.array([0, 0, 2])], array(1, 2, 3), [1, 1, 3], [2, 0, 1]),
    "a sum over an axis given as NumPy's integer":
        (lambda x: f.sum(x, np.int64(1)), np.ones((2, 3)), [3, 3], np.ones((2, 3))),
    "a sum over a negative axis": (lambda x: f.sum(x, -2), np.ones((2, 3)), [2, 2, 2], np.ones((2, 3))),
}


@pytest.mark.parametrize("fact", FACTS)
def test_value_and_gradient(fact):
    function, x, value, gradient = FACTS[fact]
    found, delta = derive(function, x)
    np.testing.assert_allclose(found, value, rtol=1e-5, atol=1e-300)
    np.testing.assert_allclose(delta, gradient, rtol=1e-4, atol=1e-300)
    assert delta.shape == x.shape and delta.dtype == x.dtype


@pytest.mark.parametrize("function, x, weight, right", [
    (lambda x: x ** 2, 0.0, 1.0, 2.0), (lambda x: x ** 3, 0.0, 1.0, 0.0), (lambda x: x ** 1, 0.0, 1.0, 0.0),
    (lambda x: x ** 0, 0.0, 1.0, 0.0), (f.softplus, 1000.0, 1.0, 0.0), (f.relu, 0.0, 1.0, 0.0),
    (lambda x: f.sqrt(x * x + 1), 0.0, 1.0, 1.0), (lambda x: f.where(x > 0, x ** 0.5, x * x), -1.0, 1.0, 2.0),
    (f.prod, array(0, 0, 3), array(1, 0, 0), array(0, 3, 0)), (f.prod, array(2, 0, 3), array(1, 0, 0), array(0, 3, 0)),
    (f.logsumexp, array(0, -inf, 0), array(1, 0, 0), array(.25, 0, -.25))])
def test_second_derivative(function, x, weight, right):
    np.testing.assert_allclose(second(function, x, weight), right)


# shapes and dtypes


def test_a_column_added_to_a_matrix_has_a_gradient_of_its_own_shape():
    _, dx, dy = derive(lambda x, y: x + y, np.ones((5, 1)), np.ones((5, 5)))
    assert dx.tolist() == [[5]] * 5 and dy.tolist() == [[1] * 5] * 5


BINARY = [f.add, f.subtract, f.mul, f.divide, f.power, f.maximum, f.minimum, f.logaddexp, f.arctan2,
          lambda x, y: f.where(x > 2, x, y)]
SHAPES = [((5, 1), (5, 5)), ((5,), (5, 5)), ((), (5, 5)), ((1, 5), (5, 1)), ((2, 1, 3), (4, 1)), ((0, 3), (1, 3))]


@pytest.mark.parametrize("function", BINARY)
@pytest.mark.parametrize("shapes", [*SHAPES, *(pair[::-1] for pair in SHAPES)], ids=str)
def test_a_gradient_has_the_shape_and_the_dtype_of_its_argument(function, shapes):
    for dtypes in itertools.product(["float32", "float64"], repeat=2):
        inputs = [np.full(shape, 1.5 + k, dtype) for k, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True))]
        _, *deltas = derive(function, *inputs)
        assert [(np.shape(d), d.dtype) for d in deltas] == [(x.shape, x.dtype) for x in inputs]


@pytest.mark.parametrize("like", [np.array([1, 2]), np.array([True, False]), True, np.array([1, 2], np.uint8)])
def test_integers_and_booleans_have_no_gradient(like):
    _, dx, dy = derive(lambda x, y: x * y, array(1, 2), like)
    assert dx.shape == (2,) and dy is None


def test_integer_labels_have_no_gradient_in_a_loss():
    assert derive(f.softmaxCrossEntropy, np.zeros((1, 3)), labels)[2] is None


def test_a_register_that_nothing_differentiable_leads_to_has_no_delta():
    assert derive(lambda x: f.sum(f.floor(x)), array(1.5))[1] is None


def test_float32_stays_float32_from_end_to_end():
    x, w = np.ones((2, 3), "f"), np.ones((3, 2), "f")
    steps, values = lists(lambda x, w: f.mean(f.softplus(2 * (x @ w) - 0.5) / 3), x, w)
    deltas = backprop(steps, values, out=1.0)
    assert {v.dtype for v in (*values.values(), *deltas.values())} == {np.dtype("f")}


def test_a_float32_parameter_beside_float64_data_has_a_float32_gradient():
    _, dx, dw = derive(lambda x, w: f.mean(f.tanh(x @ w)), np.ones((2, 3)), np.ones((3, 2), "f"))
    assert (dx.dtype, dw.dtype) == (np.float64, np.float32)


def test_python_integers_are_the_real_numbers_that_they_are():
    value, dx, dy = derive(lambda x, y: x / y, 1, 2)
    assert (value, dx, dy) == (0.5, 0.5, -0.25)


@pytest.mark.parametrize("number", [float, np.float64, np.array])
@pytest.mark.parametrize("x, y, right", [(0.0, 0.0, 0.0), (1e200, 3.0, inf), (-8.0, 0.5, np.nan), (0.0, 0.5, inf)])
def test_a_power_of_numbers_has_the_derivative_that_it_has_of_arrays(number, x, y, right):
    np.testing.assert_equal(float(derive(f.power, number(x), number(y))[1]), right)


def test_a_negative_base_has_a_derivative_beside_an_exponent_that_is_a_register():
    value, dx, _ = derive(f.power, -2.0, 3.0)
    assert (value, dx) == (-8, 12)


@pytest.mark.parametrize("function, shapes", [
    (f.dot, [(0, 3), (3, 2)]), (f.dot, [(2, 0), (0, 3)]), (f.dot, [(0,), (0,)]),
    (lambda x, y: f.concat(0, x, y), [(0, 3), (2, 3)]), (lambda x, y: f.stack(0, x, y), [(0,), (0,)]),
    (f.outer, [(0,), (3,)]), (f.add, [(0,), (1,)])])
def test_empty_arrays_have_gradients_of_their_shapes(function, shapes):
    _, *deltas = derive(function, *(np.ones(shape) for shape in shapes))
    assert [d.shape for d in deltas] == shapes


@pytest.mark.parametrize("total", [f.sum, f.mean])
def test_a_batch_of_no_rows_goes_through_a_whole_softmax_regression(total):
    X, W, b, y = np.ones((0, 4)), np.ones((4, 3)), np.zeros(3), np.zeros(0, int)
    _, dX, dW, db, dy = derive(lambda X, W, b, y: total(f.crossEntropy(f.softmax(X @ W + b), y)), X, W, b, y)
    assert dX.shape == (0, 4) and dW.tolist() == np.zeros((4, 3)).tolist() and db.tolist() == [0, 0, 0] and dy is None


def test_a_rule_called_on_its_own_returns_its_arguments_shape():
    x, y = np.ones((5, 1), "f"), np.ones((5, 5))
    part = ops.DG["add"][0](np.ones((5, 5)), x + y, x, y)
    assert (part.shape, part.dtype) == ((5, 1), np.float32)


# buffers

LISTS = {
    "add": lambda x, y: (x + y) + 3 * x,
    "add itself": lambda x, y: (x + x) + y,
    "alias": lambda x, y: f.alias(f.alias(x) + y),
    "plus": lambda x, y: +x + +y,
    "subtract": lambda x, y: x - (y - x),
    "transpose": lambda x, y: x.T + f.transpose(y, (1, 0)),
    "mT": lambda x, y: x.mT + f.mT(y),
    "reshape": lambda x, y: f.reshape(x, (-1,)) + y.reshape(9),
    "broadcast": lambda x, y: f.broadcast(x[0], y) + x,
    "sum": lambda x, y: f.sum(x, 0) + f.sum(y),
    "max": lambda x, y: f.max(x, 1) + y,
    "flip": lambda x, y: f.flip(x) + y,
    "getitem": lambda x, y: x[1:] + y[:2],
    "new axes": lambda x, y: x[:, None, :] + y[None],
    "concat": lambda x, y: f.concat(0, x, y, x),
    "stack": lambda x, y: f.stack(1, x, y),
    "where": lambda x, y: f.where(x > 0, x, y),
    "diag": lambda x, y: f.diag(x) + f.trace(y),
    "dot": lambda x, y: x @ y + f.dot(x, y.T)}


def run(name):
    x, y = np.arange(1.0, 10).reshape(3, 3), np.ones((3, 3))
    steps, values = lists(LISTS[name], x, y)
    return steps, values, np.ones_like(values["out"])


@pytest.mark.parametrize("name", LISTS)
def test_no_two_deltas_share_memory_nor_one_with_a_value_or_with_the_delta_given(name):
    steps, values, seed = run(name)
    deltas = backprop(steps, values, out=seed)
    pairs = [*itertools.combinations(deltas.values(), 2), *itertools.product(deltas.values(), [*values.values(), seed])]
    assert not any(np.shares_memory(d, other) for d, other in pairs)


@pytest.mark.parametrize("name", LISTS)
def test_a_delta_can_be_written_to(name):
    steps, values, seed = run(name)
    assert all(d.flags.writeable for d in backprop(steps, values, out=seed).values() if isinstance(d, np.ndarray))


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("interpreter", [
    lambda steps, values, seed: eval(steps, values),
    lambda steps, values, seed: backprop(steps, values, out=seed),
    lambda steps, values, seed: forward(steps, values, {"x": values["y"], "y": values["x"]})])
def test_interpreters_never_change_what_they_are_given(interpreter, name):
    steps, values, seed = run(name)
    lines, before, given = list(steps), {key: np.copy(v).tobytes() for key, v in values.items()}, seed.tobytes()
    interpreter(steps, values, seed)
    assert (list(steps), {key: v.tobytes() for key, v in values.items()}, seed.tobytes()) == (lines, before, given)
