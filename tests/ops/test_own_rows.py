"""A row of one's own is first-class by itself: what passes, matrices, engines and models ask for are its facts."""

import sys
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import ops
from ops import elementwise, f, linear, operator
from ops.facts import FACTS, Facts
from ops.kinks import past_roots
from ops.reductions import gathered
from xman import WengertList, XManError, backprop, compile, diagonals, eval, forward, gradient
from xman.formulas.slopes import slopes_of
from xman.matrices import GaussNewton, Hessian
from xman.models import MLP
from xman.passes.examples import examples
from xman.passes.precision import in_mixed_precision
from xman.train import fit

R = np.random.default_rng(14)
X, W, Y = R.normal(size=(6, 4)), R.normal(size=(3, 4)), R.normal(size=(6, 3))


@pytest.fixture(autouse=True)
def rows():
    def logCosh(x, y): return np.log(np.cosh(x - y))
    def thriceLess(x, y): return 3.0 * x - y
    with ExitStack() as kept:
        for table in (ops.G, ops.DG, ops.TG, FACTS):
            kept.enter_context(mock.patch.dict(table))
        elementwise("logCosh", logCosh, lambda out, x, y: f.tanh(x - y), lambda out, x, y: f.tanh(y - x),
                    formula=logCosh, flops=4, convex=True, outputs="alias")
        elementwise("thriceLess", thriceLess, lambda out, x, y: 3.0, lambda out, x, y: -1, flow="plus")
        elementwise("weighed", lambda x, w: x * w, lambda out, x, w: w, lambda out, x, w: x, flow="product")
        linear("quartered", lambda x: x / 4.0, flow="same")
        linear("timesRows", lambda a, b: a @ b.T, lambda d, out, a, b: d @ b, lambda d, out, a, b: d.T @ a, flow="summed",
               formula=lambda a, b: a @ f.transpose(b), example=lambda a, b: np.broadcast_to(1.0, (len(a), len(b))))
        linear("spread", lambda x, like: np.broadcast_to(x, np.shape(like)), lambda d, out, x, like: f.gathering(d, x), None,
               view=True, flow="moved", like=1)
        linear("gathering", lambda d, like: np.sum(d, 0), lambda u, out, d, like: f.spread(u, d), None, flow="moved", like=1)
        operator("quartic", lambda x: np.sum(x ** 4), lambda d, out, x: 4.0 * d * x * x * x,
                 curvature=gathered(lambda d, out, slope, x: 12.0 * d * x * x))
        yield
        for op in OWN:
            delattr(f, op)


OWN = "logCosh", "thriceLess", "weighed", "quartered", "timesRows", "spread", "gathering", "quartic"
LAYER = [("scores", "timesRows", ("X", "W")), ("e", "logCosh", ("scores", "Y")), ("s", "sum", ("e",))]
VALUES = {"X": X, "W": W, "Y": Y}


def test_gauss_newton_goes_through_it_to_where_it_is_convex():
    steps = [*LAYER, ("t", "thriceLess", ("s", 1.0)), ("loss", "weighed", ("t", "c"))]
    G = GaussNewton(steps, "loss", ["W"])
    v = {"W": R.normal(size=W.shape)}
    assert G.through == ("scores",)
    np.testing.assert_allclose(G.times(VALUES | {"c": 2.0}, v)["W"], Hessian(steps, "loss", ["W"]).times(VALUES | {"c": 2.0}, v)["W"])
    with pytest.raises(XManError, match=r"weighed\(t, c\): its slope is negative"):
        G.times(VALUES | {"c": -2.0}, v)
    with pytest.raises(XManError, match="thriceLess.*: its slope is negative"):
        GaussNewton([*LAYER, ("loss", "thriceLess", (1.0, "s"))], "loss", ["W"]).times(VALUES, v)


@pytest.mark.parametrize("after", [[("loss", "sum", ("e",))], [("q", "quartered", ("e",)), ("loss", "quartic", ("q",))],
                                   [("b", "spread", ("e", "cube")), ("q", "mul", ("b", "b")), ("loss", "sum", ("q",))]])
def test_the_curvature_of_becker_and_lecun_goes_through_it(after):
    """Exact of one layer of weights, as with the rows that there are."""
    found = diagonals([*LAYER[:2], *after], "loss", ["W"], VALUES | {"cube": np.ones((2, 6, 3))})
    np.testing.assert_allclose(found.approximate["W"], found.exact["W"], rtol=1e-10)


def test_a_gradient_that_has_the_shape_of_its_argument_is_not_made_to_fit_once_more():
    steps = gradient([("y", "spread", ("x", "Y")), ("loss", "sum", ("y",))], "loss", ["x"])
    assert steps[-1] == ("dloss_dx", "gathering", ("dloss_dy", "x"))
    assert eval(steps, {"x": np.ones(3), "Y": Y})["dloss_dx"].tolist() == [6, 6, 6]


def test_its_sums_and_products_have_slopes_for_constants_too():
    assert [[*slopes_of(op, ["x", 2.0], "out", {})] for op in ("thriceLess", "weighed", "logCosh")] == [[0, 1], [0], [0]]


def test_mixed_precision_rounds_what_its_product_reads():
    pytest.importorskip("ml_dtypes")
    assert [op for _, op, _ in in_mixed_precision(WengertList(LAYER[:1]))] == ["astype"] * 4 + ["timesRows"]


def test_mixed_precision_names_the_extra_that_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(XManError, match=r"mixed precision needs the package ml_dtypes: pip install 'xman\[jax\]'"):
        in_mixed_precision(WengertList(LAYER[:1]))


def test_stand_ins_go_by_its_example():
    def computed(a, b): raise AssertionError("a stand-in needs no product")
    ops.G["timesRows"] = computed
    assert examples(LAYER[:1], {"X": X, "W": W})["scores"].shape == (6, 3)


@pytest.mark.parametrize("engine", ["numpy", "llvm"])
def test_engines_compute_its_formula_and_need_of_a_like_the_shape_alone(engine):
    steps = gradient([*LAYER[:2], ("b", "spread", ("e", "cube")), ("loss", "sum", ("b",))], "loss", ["W"])
    values = VALUES | {"cube": np.ones((2, 6, 3))}
    run = compile(steps, ["loss", "dloss_dW"], engine=engine)
    for name, x in run(values).items():
        np.testing.assert_allclose(x, eval(steps, values)[name], rtol=1e-12)
    assert {call.partition(" = ")[2].partition("(")[0] for call in run.plan.calls} == {"spread", "gathering"}


def test_a_model_learns_by_a_loss_of_ones_own():
    model = MLP([4, 3], loss="logCosh", dtype=float)
    losses = [row["loss"] for row in fit(model, (X, Y), epochs=4, lr=0.1, progress=False).history]
    assert losses == sorted(losses, reverse=True) and model.operationSequence(model.outputs)[-1][1] == "alias"


def test_the_page_on_an_operator_has_every_fact():
    page = Path(__file__).parents[2].joinpath("CONTRIBUTING.md").read_text("utf-8").partition("## A pass")[0]
    assert not [fact for fact in Facts._fields if f"`{fact}" not in page]


def test_a_row_that_is_written_anew_has_the_facts_of_the_new_one_alone():
    elementwise("weighed", np.multiply, None, None, squared="square")
    operator("weighed", np.matmul, None, None)
    assert FACTS["weighed"] == Facts(tame=True) and not past_roots([("y", "weighed", ("a", "b")), ("z", "square", ("y",))], ops.DG)


def test_what_its_rules_return_takes_the_precision_of_the_argument_or_of_the_result():
    operator("inDouble", lambda x: x + x, lambda d, out, x: d * np.full(x.shape, 2.0), tangents=[lambda t, out, x: t * np.full(x.shape, 2.0)])
    steps = [("y", "inDouble", ("x",))]
    values = eval(steps, {"x": np.ones(3, np.float32)})
    assert backprop(steps, values, y=1.0)["x"].dtype == forward(steps, values, x=1.0)["y"].dtype == np.float32
