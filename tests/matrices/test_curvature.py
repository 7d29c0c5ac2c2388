"""The diagonal of the Hessian after Becker and LeCun, exact where it should be, and its work."""

import itertools

import numpy as np
import pytest

import ops
from ops.functions import ORDERED
from xman import XMan, XManError, eval, f
from xman.matrices import Hessian, becker_lecun, diagonals
from xman.models import LSTM, MLP, LogisticRegression

R = np.random.default_rng(89)
LOSSES = ["crossEntropy", "softmaxCrossEntropy", "sigmoidCrossEntropy", "squaredError", "hinge"]


def listed(model, X, y):
    steps = model.operationSequence(model.loss)
    return steps, model.inputDict(**model.feed(X, y)), [w for w in steps.inputs if model.isParam(w)]


def network(sizes, rows=5, **options):
    y = R.integers(0, sizes[-1], rows) if sizes[-1] > 1 else R.uniform(size=(rows, 1))
    return listed(MLP(sizes, dtype=np.float64, **options), R.normal(size=(rows, sizes[0])), y)


def exact(steps, values, wrt, of="loss"):
    """The approximation where it is to be the diagonal of the Hessian."""
    found = diagonals(steps, of, wrt, values)
    for x in wrt:
        assert np.shape(found.approximate[x]) == np.shape(values[x])
        np.testing.assert_allclose(found.approximate[x], found.exact[x], rtol=1e-9, atol=1e-12)
    return found


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("outputs", [1, 3])
def test_of_one_layer_it_is_exact_with_every_loss(loss, outputs):
    if outputs > 1 or loss not in ("hinge", "crossEntropy", "softmaxCrossEntropy"):
        exact(*network([4, outputs], loss=loss))


@pytest.mark.parametrize("activation", ["tanh", "sigmoid", "relu"])
@pytest.mark.parametrize("outputs, loss", [(1, "squaredError"), (3, "squaredError"), (3, "sigmoidCrossEntropy")])
def test_of_two_layers_it_is_exact_where_the_loss_is_a_sum_over_outputs(activation, outputs, loss):
    exact(*network([4, 5, outputs], loss=loss, activation=activation))


@pytest.mark.parametrize("layers", [3, 5])
def test_of_a_chain_of_numbers_it_is_exact(layers):
    exact(*network([1] * layers, loss="squaredError"))


def test_of_three_layers_it_is_not_but_for_the_last_two():
    """What is dropped is ∂²E/∂h∂h' of two units of the second hidden layer."""
    steps, values, wrt = network([4, 5, 6, 2], loss="squaredError")
    found = diagonals(steps, "loss", wrt, values)
    off = {x: np.abs(d).max() for x, d in found.difference.items()}
    assert max(off["W3"], off["b3"], off["W2"], off["b2"]) < 1e-12 < 1e-4 < min(off["W1"], off["b1"])


def test_with_softmax_the_last_layer_alone_is_exact():
    steps, values, wrt = network([4, 5, 3])
    off = {x: np.abs(d).max() for x, d in diagonals(steps, "loss", wrt, values).difference.items()}
    assert max(off["W2"], off["b2"]) < 1e-12 < 1e-4 < min(off["W1"], off["b1"])


def test_it_is_the_formula_of_becker_and_lecun_layer_by_layer():
    """κ_a = h'² Σ w² κ + h'' δ, and x² κ_a for a weight, with all products of one unit's curvature with another's left out."""
    steps, values, _ = network([4, 5, 6, 2], loss="squaredError")
    at = eval(steps, values)
    n, X, T = len(at["X"]), at["X"], ops.G["oneHot"](at["y"], at["scores"])
    d = (at["scores"] - T) / (n * 2)  # the mean is over the entries
    k = np.full_like(d, 1 / (n * 2))
    for layer, h, before in ((3, None, at["h2"]), (2, at["h2"], at["h1"]), (1, at["h1"], X)):
        if h is not None:
            back, forth = d @ at[f"W{layer + 1}"].T, k @ (at[f"W{layer + 1}"] ** 2).T
            d, k = (1 - h ** 2) * back, (1 - h ** 2) ** 2 * forth - 2 * h * (1 - h ** 2) * back
        found = becker_lecun(steps, "loss", [f"W{layer}", f"b{layer}"], values)
        np.testing.assert_allclose(found[f"W{layer}"], (before ** 2).T @ k, rtol=1e-10)
        np.testing.assert_allclose(found[f"b{layer}"], k.sum(0, keepdims=True), rtol=1e-10)


def test_a_penalty_on_the_weights_adds_its_own_diagonal():
    model = LogisticRegression(3, 4, penalty=0.3, dtype=np.float64)
    exact(*listed(model, R.normal(size=(6, 3)), R.integers(0, 4, 6)))


def test_an_lstm_has_one_too_though_its_states_meet_again():
    steps, values, wrt = listed(LSTM(3, 2, 2, steps=2, dtype=np.float64), R.normal(size=(4, 2, 3)), R.integers(0, 2, 4))
    found = diagonals(steps, "loss", wrt, values)
    assert all(np.isfinite(d).all() for d in found.approximate.values())
    np.testing.assert_allclose(found.approximate["b2"], found.exact["b2"], rtol=1e-9)


# line by line

AB = R.uniform(0.2, 0.8, (2, 3))


def chain(make):
    """(steps, values) of the sum of what make writes of x, each entry squared on the way, so that first derivatives count."""
    model = XMan()
    model.x, model.c = f.input(), f.input()
    model.loss = f.sum(f.square(make(model.x, model.c)) * 1.5)
    return model.setup().operationSequence(model.loss), model.inputDict(x=AB, c=AB[::-1] + 0.3)


@pytest.mark.parametrize("op", sorted(
    {op for op in ops.OURS if ops.facts_of(op).elementwise} - ORDERED - {"where", "polygamma", "share"}))  # whose first argument has no derivative
def test_every_operator_that_works_entry_by_entry_is_exact(op):
    arity = ops.table.arity(ops.G[op])[0]
    for places in itertools.product("xc", repeat=arity):
        if "x" in places:
            steps, values = chain(lambda x, c, places=places: getattr(f, op)(*({"x": x, "c": c}[p] for p in places)))
            if op == "arccosh":
                values["x"] = values["x"] + 1
            assert np.isfinite(eval(steps, values)["loss"])
            exact(steps, values, ["x"])


@pytest.mark.parametrize("make", [
    lambda x, c: f.softmax(x[:, :1]), lambda x, c: f.logsumexp(x, 1), lambda x, c: f.mean(x, 0), lambda x, c: f.norm(x, 1),
    lambda x, c: f.prod(x, 1), lambda x, c: f.max(x, 0), lambda x, c: f.min(x, 1), lambda x, c: f.reshape(x, (-1,)).T,
    lambda x, c: f.concat(0, x, x), lambda x, c: f.stack(0, x, c, x), lambda x, c: f.take(x, (0, 0, 1), 1), lambda x, c: x[:, 1],
    lambda x, c: f.flip(x, 0), lambda x, c: f.pad(x, 1), lambda x, c: f.frobeniusNorm(x), lambda x, c: x * c[0] + x[:, :1] * 0.0,
    lambda x, c: f.outer(c, x), lambda x, c: f.outer(x, c), lambda x, c: f.where(f.greater(x, 0.5), x, c), lambda x, c: f.roll(x, 1),
    lambda x, c: f.broadcast(x[0], c), lambda x, c: f.convolve(x[0], c[1]), lambda x, c: f.correlate(c[1], x[0, :2]),
    lambda x, c: f.column(x[:, 0], c[:, 0])[:, 0]])
def test_lines_that_keep_entries_apart_are_exact(make):
    """One register on the way with its square: what meets again is left out of the list of makes."""
    steps, values = chain(make)
    found = diagonals(steps, "loss", ["x"], values)
    scale = np.abs(found.exact["x"]).max()
    np.testing.assert_allclose(found.approximate["x"], found.exact["x"], rtol=1e-9, atol=1e-12 * scale)


@pytest.mark.parametrize("op", ["softmax", "logSoftmax"])
def test_a_row_of_softmax_is_the_square_of_its_jacobian_and_its_own_second_derivatives(op):
    """Σ_k c_k out_k² has curvature 2 c_k at out_k and no other, so that nothing is dropped."""
    steps, values = chain(lambda x, c: getattr(f, op)(x) * c)
    exact(steps, values, ["x"])


def calls(hidden, monkeypatch):
    """How many rules one approximation applies for a network with so many hidden units, which has 7 hidden + 3 weights."""
    steps, values, wrt = network([3, hidden, 3])
    made = []
    with monkeypatch.context() as patch:
        for table in (ops.DG, ops.TG):
            for op in {op for _, op, _ in steps}:
                patch.setitem(table, op, [rule and (lambda *args, rule=rule: made.append(1) or rule(*args)) for rule in
                                          list(itertools.islice(table[op], 3))])
        becker_lecun(steps, "loss", wrt, values)
    return len(made)


def test_its_passes_do_not_grow_with_the_number_of_weights(monkeypatch):
    assert 0 < calls(2, monkeypatch) == calls(200, monkeypatch)


def test_single_precision_stays_single_and_what_does_not_count_is_zero():
    steps = [("h", "tanh", ("x",)), ("y", "sum", ("h",)), ("u", "exp", ("w",))]
    found = becker_lecun(steps, "y", ["x", "w"], {"x": np.ones(3, np.float32), "w": np.ones(2)})
    assert found["x"].dtype == np.float32 and found["w"].tolist() == [0, 0]


def test_it_prints_the_three_norms():
    steps, values, wrt = network([4, 5, 3])
    lines = str(diagonals(steps, "loss", wrt, values)).splitlines()
    assert lines[0].split() == ["exact", "Becker–LeCun", "difference"] and [line.split()[0] for line in lines[1:]] == wrt
    d = Hessian(steps, "loss", wrt).diagonal(values)["W1"]
    assert float(lines[1].split()[1]) == pytest.approx(np.linalg.norm(d), rel=1e-3)


GOOD = {"x": np.eye(2), "w": np.eye(2)}


@pytest.mark.parametrize("steps, of, words", [
    ([("z", "dot", ("x", "x")), ("y", "sum", ("z",))], "y", "z = dot(x, x): the diagonal after Becker and LeCun is not defined for "
     "dot of a register and itself; take the exact one, Hessian(…).diagonal"),
    ([("z", "inv", ("x",)), ("y", "sum", ("z",))], "y", "is not defined for the operator 'inv'"),
    ([("y", "hinge", ("w", "x")), ("z", "sum", ("y",))], "z", "is not defined for the operator 'hinge'"),
    ([("y", "tanh", ("x",))], "y", "'y' has shape (2, 2); a Hessian is that of one number"),
    ([("y", "sum", ("x",))], "yy", "of names 'yy', which the list does not have; did you mean 'y'?"),
    ([("y", "sum", ("w",))], "y", "wrt names 'x', which the list does not have")])
def test_what_is_wrong_gets_a_sentence(steps, of, words):
    with pytest.raises(XManError) as error:
        becker_lecun(steps, of, ["x"], GOOD)
    assert words in str(error.value) and "\n" not in str(error.value)
