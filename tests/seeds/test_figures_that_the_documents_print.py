"""The graphs that Cohen, Reps and Bishop print, drawn by `picture`: their nodes, arrows, labels and numbers."""

import pytest

from xman import XMan, backprop, eval, explain, f, forward, paths, picture


def arrows(drawn):
    """{(low, high): label} of the arrows, of which no two have the same ends."""
    assert len({arrow[:2] for arrow in drawn.arrows}) == len(drawn.arrows)
    return {arrow[:2]: arrow.label for arrow in drawn.arrows}


def lines(drawn):
    return {node.key: node.lines for node in drawn.nodes}


def green(drawn):
    """What is written in green, by node, and the ends of the arrows on the way."""
    return {node.key: node.note for node in drawn.nodes if node.note}, {arrow[:2] for arrow in drawn.arrows if arrow.kind == "on"}


# Cohen, Fig. 1: the data structures of the Triangle


class Triangle(XMan):
    h = f.param()
    w = f.param()
    area = f.half(h * w)


def test_cohen_figure_1_registers_are_blue_operations_green_and_arrows_are_pointers():
    drawn = picture(Triangle().setup())
    assert {node.key: (node.lines[0], node.kind) for node in drawn.nodes} == {
        "h": ("h", "register"), "w": ("w", "register"), "z1 = mul": ("mul", "operation"), "z1": ("z1", "register"),
        "area = half": ("half", "operation"), "area": ("area", "register")}
    pointers = {((a.high, a.low) if a.down else (a.low, a.high), a.label) for a in drawn.arrows}
    assert pointers == {
        (("area", "area = half"), "definedAs"), (("area = half", "area"), "outputReg"), (("area = half", "z1"), "args[0]"),
        (("z1", "z1 = mul"), "definedAs"), (("z1 = mul", "z1"), "outputReg"),
        (("z1 = mul", "h"), "args[0]"), (("z1 = mul", "w"), "args[1]")}


def test_cohen_figure_1_the_pointers_are_those_of_the_objects():
    """Each arrow is followed from object to object by the attribute that is its label."""
    model = Triangle().setup()
    half = model.area.definedAs
    objects = {"area": model.area, "area = half": half, "z1": half.args[0], "z1 = mul": half.args[0].definedAs,
               "h": model.h, "w": model.w}
    for low, high, label, down, _ in picture(model).arrows:
        start, end = (objects[high], objects[low]) if down else (objects[low], objects[high])
        name, _, place = label.partition("[")
        assert (getattr(start, name)[int(place[:-1])] if place else getattr(start, name)) is end


# Reps, Figs. 2 to 4: h(x, y) = (x + 4y)·((x + y)·y), with a = x + 4y, b = x + y and c = b·y

H = [("y4", "mul", (4, "y")), ("a", "add", ("x", "y4")), ("b", "add", ("x", "y")), ("c", "mul", ("b", "y")),
     ("h", "mul", ("a", "c"))]
AT = {"x": 3.0, "y": 5.0}


def test_reps_figure_2a_has_the_other_factor_as_the_label_of_a_product_and_1_as_that_of_a_sum():
    drawn = picture(paths(H, "h", ["x", "y"]))
    assert arrows(drawn) == {("y", "y4"): "4", ("x", "a"): "1", ("y4", "a"): "1", ("x", "b"): "1", ("y", "b"): "1", ("b", "c"): "y",
                             ("y", "c"): "b", ("a", "h"): "c", ("c", "h"): "a"}
    assert lines(drawn) == {"x": ("x",), "y": ("y",), "y4": ("y4", "4·y"), "a": ("a", "x + y4"), "b": ("b", "x + y"),
                            "c": ("c", "b·y"), "h": ("h", "a·c")}


def test_reps_figure_2b_has_the_numbers_at_3_and_5():
    drawn = picture(paths(H, "h", ["x", "y"], AT))
    assert arrows(drawn) == {("y", "y4"): "4", ("x", "a"): "1", ("y4", "a"): "1", ("x", "b"): "1", ("y", "b"): "1",
                             ("b", "c"): "y = 5", ("y", "c"): "b = 8", ("a", "h"): "c = 40", ("c", "h"): "a = 23"}
    assert {name: rows[-1] for name, rows in lines(drawn).items()} == {
        "x": "= 3", "y": "= 5", "y4": "= 20", "a": "= 23", "b": "= 8", "c": "= 40", "h": "= 920"}


FROM_X = {("x", "a"), ("x", "b"), ("b", "c"), ("a", "h"), ("c", "h")}
FROM_Y = {("y", "y4"), ("y4", "a"), ("y", "b"), ("b", "c"), ("y", "c"), ("a", "h"), ("c", "h")}


@pytest.mark.parametrize("wrt, way, sums, on", [
    ("x", "forward", {"x": 1, "a": 1, "b": 1, "c": 5, "h": 155}, FROM_X),
    ("x", "backward", {"h": 1, "a": 40, "c": 23, "b": 115, "x": 155}, FROM_X),
    ("y", "forward", {"y": 1, "y4": 4, "a": 4, "b": 1, "c": 13, "h": 459}, FROM_Y),
    ("y", "backward", {"h": 1, "a": 40, "y4": 40, "c": 23, "b": 115, "y": 459}, FROM_Y)], ids=["3a", "3b", "3c", "3d"])
def test_reps_figure_3_the_sums_stand_in_green_at_the_nodes_between_the_two(wrt, way, sums, on):
    graph = paths(H, "h", wrt, AT)
    drawn = picture(graph, getattr(graph, way)())
    assert green(drawn) == ({name: str(x) for name, x in sums.items()}, on)
    assert {a[:2] for a in drawn.arrows if a.kind == "off"} == {(e.source, e.target) for e in graph.edges} - on


@pytest.mark.parametrize("op, found", [("add", "1·∂f/∂x + 1·∂g/∂x"), ("mul", "g·∂f/∂x + f·∂g/∂x")])
def test_reps_figure_4_the_induction_step(op, found):
    """f and g are functions of x, here sin and exp, of which the graph takes nothing but that ∂f/∂x and ∂g/∂x are found."""
    graph = paths([("f", "sin", ("x",)), ("g", "exp", ("x",)), ("p", op, ("f", "g"))], "p", "x")
    notes = graph.solve(lambda x, label: f"{label}·{x}".removesuffix("·1"), lambda x, y: f"{x} + {y}", "1",
                        lambda edge: f"∂{edge.target}/∂x" if edge.source == "x" else edge.label)
    assert green(picture(graph, notes))[0] == {"x": "1", "f": "∂f/∂x", "g": "∂g/∂x", "p": found}


# Reps, Fig. 9: w1 … w9 lead from h1, h2, h3 to y1, y2, y3, and w10 … w15 from x1, x2 to h1, h2, h3


def net():
    m = XMan()
    for name in ["x1", "x2", "v1", "v2", "v3"]:
        setattr(m, name, f.input(default=0.1 * len(name) + 0.2 * int(name[1])))
    for i in range(1, 16):
        setattr(m, f"w{i}", f.param(default=0.3 * i - 2))
    r = lambda name, k: getattr(m, f"{name}{k}")
    for k in (1, 2, 3):
        setattr(m, f"h{k}", f.sigmoid(r("w", 8 + 2 * k) * m.x1 + r("w", 9 + 2 * k) * m.x2))
    for j in (1, 2, 3):
        setattr(m, f"y{j}", f.sigmoid(r("w", 3 * j - 2) * m.h1 + r("w", 3 * j - 1) * m.h2 + r("w", 3 * j) * m.h3))
        setattr(m, f"d{j}", r("y", j) - r("v", j))
    m.Cost = f.half(f.square(m.d1)) + f.half(f.square(m.d2)) + f.half(f.square(m.d3))
    return m.setup().operationSequence(m.Cost), m.inputDict()


def test_reps_figure_9_has_the_labels_of_its_path_from_w4_to_the_cost():
    """From the Cost down to w4: (y2 − v2), here 2·d2·0.5, then y2(1 − y2), 1, and h1."""
    steps, _ = net()
    graph = paths(steps, "Cost", "w4")
    labels = arrows(picture(graph))
    (path,) = graph.all()
    assert [labels[edge.source, edge.target] for edge in path.edges] == [
        "h1", "1", "1", "y2·(1 - y2)", "1", "2·d2", "0.5", "1", "1"]
    assert {name for name in lines(picture(graph)) if name[0] in "xwhyv"} == {
        *("x1", "x2", "v1", "v2", "v3", "h1", "h2", "h3", "y1", "y2", "y3"), *(f"w{k}" for k in range(1, 16))}


def test_reps_figure_9_one_backward_pass_writes_the_adjoint_of_every_weight():
    steps, given = net()
    weights = [f"w{k}" for k in range(1, 16)]
    graph, deltas = paths(steps, "Cost", weights, given), backprop(steps, eval(steps, given), Cost=1.0)
    notes, on = green(picture(graph, graph.backward()))
    assert {w: notes[w] for w in weights} == {w: f"{deltas[w]:.6g}" for w in weights}
    assert "x1" not in notes and ("w4", "z17") in on and not any(low[0] in "xv" for low, _ in on)


# Bishop, Figs. 8.4 and 8.5: the evaluation trace of (8.49), and that with f2 of (8.65) as v8

TRACE = [("v1", "alias", ("x1",)), ("v2", "alias", ("x2",)), ("v3", "mul", ("v1", "v2")), ("v4", "sin", ("v2",)),
         ("v5", "exp", ("v3",)), ("v6", "subtract", ("v3", "v4")), ("v7", "add", ("v5", "v6")), ("v8", "mul", ("v6", "v5"))]
FIGURE_8_4 = {("x1", "v1"), ("x2", "v2"), ("v1", "v3"), ("v2", "v3"), ("v2", "v4"), ("v3", "v5"), ("v3", "v6"), ("v4", "v6"),
              ("v5", "v7"), ("v6", "v7")}
POINT = {"x1": 0.7, "x2": 1.3}


@pytest.mark.parametrize("steps, edges", [(TRACE[:-1], FIGURE_8_4), (TRACE, FIGURE_8_4 | {("v5", "v8"), ("v6", "v8")})],
                         ids=["8.4", "8.5"])
def test_bishop_figures_8_4_and_8_5_the_parents_of_a_node_have_arrows_to_it(steps, edges):
    for drawn in (picture(steps), picture(explain(steps, steps[-1][0], "x1", POINT))):
        assert arrows(drawn).keys() == edges and {*arrows(drawn).values()} == {""}
    assert lines(picture(steps))["v6"] == ("v6", "v3 - v4")


@pytest.mark.parametrize("of", ["v7", "v8"])
def test_bishop_figure_8_5_with_values_tangents_and_adjoints(of):
    values = eval(TRACE, POINT)
    tangents, adjoints = forward(TRACE, values, {"x1": 1.0, "x2": 0.0}), backprop(TRACE, values, **{of: 1.0})
    for name, rows in lines(picture(explain(TRACE, of, "x1", POINT))).items():
        assert rows[-3:] == (f"value   {values[name]:.4f}", f"tangent {tangents[name]:.4f}", f"adjoint {adjoints.get(name, 0.0):.4f}")
