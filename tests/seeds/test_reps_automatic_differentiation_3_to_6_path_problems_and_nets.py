"""Reps, Automatic Differentiation and Backpropagation (CS701), §3 to 6: computation graphs, path problems, neural nets."""

import ast
import operator

import numpy as np
import pytest

from xman import Jacobian, XMan, backprop, eval, f, paths
from xman.formulas.polynomial import polynomial
from xman.show import expand


def same(found, right):
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-14)


# §3 Computation graphs: eq. 3, h(x, y) = (x + 4y)·((x + y)·y), with a = x + 4y, b = x + y and c = b·y

H = [("y4", "mul", (4, "y")), ("a", "add", ("x", "y4")), ("b", "add", ("x", "y")), ("c", "mul", ("b", "y")),
     ("h", "mul", ("a", "c"))]
AT = {"x": 3.0, "y": 5.0}
GRAPH = {("y", "y4"): ("4", 4), ("x", "a"): ("1", 1), ("y4", "a"): ("1", 1), ("x", "b"): ("1", 1), ("y", "b"): ("1", 1),
         ("b", "c"): ("y", 5), ("y", "c"): ("b", 8), ("a", "h"): ("c", 40), ("c", "h"): ("a", 23)}


def test_eq_3_h_is_920_and_its_partials_155_and_459():
    values = eval(H, AT)
    deltas = backprop(H, values, h=1.0)
    assert (values["h"], deltas["x"], deltas["y"]) == ((3 + 4 * 5) * ((3 + 5) * 5), 155, 459) == (920, 155, 459)


def test_eq_3_is_the_multivariate_polynomial():
    assert expand(H, "h") == "x**2*y + 5*x*y**2 + 4*y**3"


def test_figure_2a_the_symbolic_computation_graph():
    """An edge into + has the label 1, an edge into × the other factor: (x + y)y, x + 4y, x + y and y."""
    graph = paths(H, "h", ["x", "y"])
    assert {(edge.source, edge.target): edge.label for edge in graph.edges} == {ends: label for ends, (label, _) in GRAPH.items()}
    assert [expand(H, label) for label in "cab"] == ["x*y + y**2", "x + 4*y", "x + y"]


def test_figure_2b_the_computation_graph_at_3_and_5():
    graph = paths(H, "h", ["x", "y"], AT)
    assert {(edge.source, edge.target): edge.value for edge in graph.edges} == {ends: value for ends, (_, value) in GRAPH.items()}


def test_combine_is_not_idempotent_1_plus_1_is_2():
    assert [path.value for path in paths([("y", "add", ("x", "x"))], "y", "x", {"x": 7.0}).all()] == [1, 1]
    assert paths([("y", "add", ("x", "x"))], "y", "x", {"x": 7.0}).derivative == 2


# extend and combine of other path problems


@pytest.mark.parametrize("wrt, number", [("x", 2), ("y", 3)])
def test_the_paths_are_counted_where_each_edge_is_1(wrt, number):
    graph = paths(H, "h", wrt)
    assert graph.solve(operator.mul, operator.add, 1, lambda edge: 1)["h"] == graph.count == len(graph.all()) == number


@pytest.mark.parametrize("back, start, end", [(False, "y", "h"), (True, "h", "y")])
@pytest.mark.parametrize("best", [min, max])
def test_the_shortest_and_the_longest_path_where_extend_is_plus(best, back, start, end):
    graph = paths(H, "h", "y")
    assert graph.solve(operator.add, best, 0, lambda edge: 1, start, back)[end] == best(len(path.edges) for path in graph.all())


def test_intervals_bound_the_derivative_over_a_range_of_the_inputs():
    """The labels of h grow with x and y, so that those at two corners are the ends of an interval each."""
    low, high = (paths(H, "h", "x", {"x": x, "y": y}) for x, y in [(3.0, 5.0), (3.5, 5.5)])
    top = {edge[:2]: edge.value for edge in high.edges}
    bounds = low.solve(lambda a, b: (a[0] * b[0], a[1] * b[1]), lambda a, b: (a[0] + b[0], a[1] + b[1]), (1.0, 1.0),
                       lambda edge: (edge.value, top[edge[:2]]))["h"]
    assert bounds == (155.0, 2 * 3.5 * 5.5 + 5 * 5.5 ** 2)  # of 2xy + 5y²
    for x, y in np.random.default_rng(3).uniform((3.0, 5.0), (3.5, 5.5), (20, 2)):
        assert bounds[0] <= paths(H, "h", "x", {"x": x, "y": y}).derivative <= bounds[1]


# §4 Computing partial derivatives using a computation graph


def test_figure_3a_the_forward_path_problem_from_x():
    found = paths(H, "h", "x", AT).forward()
    assert found == {"x": 1, "a": 1, "b": 1, "c": 5, "h": 1 * 40 + 5 * 23} and found["h"] == 155


def test_figure_3b_the_backward_path_problem_to_x():
    found, below = paths(H, "h", "x", AT).backward(), {"h": 1, "a": 40, "c": 23, "b": 23 * 5, "x": 40 * 1 + 115 * 1}
    assert {node: found[node] for node in below} == below and below["x"] == 155


def test_figure_3c_the_forward_path_problem_from_y():
    found = paths(H, "h", "y", AT).forward()
    assert found == {"y": 1, "y4": 4, "a": 4, "b": 1, "c": 1 * 5 + 1 * 8, "h": 4 * 40 + 13 * 23} and found["h"] == 459


def test_figure_3d_the_backward_path_problem_to_y():
    found = paths(H, "h", "y", AT).backward()
    below = {"h": 1, "a": 40, "y4": 40, "c": 23, "b": 115, "y": 40 * 4 + 115 * 1 + 23 * 8}
    assert {node: found[node] for node in below} == below and below["y"] == 459


@pytest.mark.parametrize("n", [10, 50])
def test_section_4_the_work_is_linear_in_the_graph_however_many_the_paths(n):
    graph = paths([(f"x{k}", "add", (f"x{k - 1}", f"x{k - 1}")) for k in range(1, n + 1)], f"x{n}", "x0", {"x0": 1.0})
    assert graph.count == graph.derivative == 2 ** n
    for solution in (graph.forward(), graph.backward()):
        assert (solution.extends, solution.combines) == (2 * n, n)


@pytest.mark.parametrize("op, step", [("add", lambda f, g, df, dg: 1 * df + 1 * dg),
                                      ("mul", lambda f, g, df, dg: g * df + f * dg)], ids=["plus", "times"])
@pytest.mark.parametrize("x", [0.4, 1.3])
def test_figure_4_the_induction_step(op, step, x):
    graph = paths([("f", "sin", ("x",)), ("g", "exp", ("x",)), ("p", op, ("f", "g"))], "p", "x", {"x": x})
    same(graph.forward()["p"], step(np.sin(x), np.exp(x), np.cos(x), np.exp(x)))
    same(graph.backward()["x"], graph.forward()["p"])


def test_example_4_1_both_path_problems_solved_symbolically_give_2xy_plus_5y2():
    """The notes print ∂h(y, x)/∂x; meant is that of the h(x, y) of eq. 3, whose arguments the other way round give another number."""
    graph = paths(H, "h", "x", AT)
    assert graph.symbolic("forward") == graph.symbolic("backward") == "2*x*y + 5*y**2"
    assert [path.text for path in graph.all()] == ["1·c", "1·y·a"] and graph.derivative == 30 + 125 == 155
    assert paths(H, "h", "x", {"x": AT["y"], "y": AT["x"]}).derivative != 155


OUTPUTS = pytest.mark.parametrize("n, m, mode", [(1, 5, "forward"), (5, 1, "reverse"), (2, 6, "forward"), (6, 2, "reverse")])


@OUTPUTS
def test_figure_5_l_forward_passes_or_k_backward_passes(n, m, mode):
    """h_k = sin(k·tanh(exp(sin(x_1 + … + x_n)))): all m with respect to all n, by n forward or m backward passes."""
    model = XMan()
    L, K = [f"x{j}" for j in range(1, n + 1)], [f"h{k}" for k in range(1, m + 1)]
    for j, name in enumerate(L):
        setattr(model, name, f.input(default=0.3 + j))
    shared = f.tanh(f.exp(f.sin(sum((getattr(model, name) for name in L[1:]), start=model.x1))))
    for k, name in enumerate(K, 1):
        setattr(model, name, f.sin(k * shared))
    steps, given = model.setup().operationSequence(*(getattr(model, name) for name in K)), model.inputDict()
    graph = paths(steps, K, L, given)
    by_forward, by_backward = [graph.forward(x) for x in L], [graph.backward(h) for h in K]
    total = sum(given.values())
    e, t = np.exp(np.sin(total)), np.tanh(np.exp(np.sin(total)))
    by_hand = [[np.cos(k * t) * k * (1 - t ** 2) * e * np.cos(total)] * n for k in range(1, m + 1)]
    same([[found[h] for found in by_forward] for h in K], by_hand)
    same([[found[x] for x in L] for found in by_backward], by_hand)
    work = graph.work
    assert (work.forward_passes, work.backward_passes) == (n, m)
    assert (work.forward_extends < work.backward_extends) == (mode == "forward")
    count = Jacobian([*steps, ("h", "stack", (0, *K))], "h", L).count(given)
    assert (count.inputs, count.outputs, count.mode) == (n, m, mode)


# §5 Derivatives for other operators


@pytest.mark.parametrize("op, partials", [("add", lambda x, y: (1, 1)), ("mul", lambda x, y: (y, x)),
                                          ("divide", lambda x, y: (1 / y, -x / y ** 2)),
                                          ("power", lambda x, y: (y * x ** (y - 1), x ** y * np.log(x)))],
                         ids=["add", "mul", "divide", "power"])
def test_section_5_the_label_of_the_jth_argument_is_the_partial_derivative(op, partials):
    same([edge.value for edge in paths([("v", op, ("x", "y"))], "v", ["x", "y"], {"x": 1.7, "y": 0.6}).edges], partials(1.7, 0.6))


@pytest.mark.parametrize("op, label, of_v, of_x", [
    ("sqrt", "1/(2·v)", lambda v: 1 / (2 * v), lambda x: 0.5 * x ** -0.5),
    ("sigmoid", "v·(1 - v)", lambda v: v * (1 - v), lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2)], ids=["sqrt", "sigmoid"])
def test_section_5_square_root_and_sigmoid_have_labels_that_are_functions_of_the_output(op, label, of_v, of_x):
    (edge,) = paths([("v", op, ("x",))], "v", "x", {"x": 1.7}).edges
    assert edge.label == label
    same([edge.value] * 2, [of_v(eval([("v", op, ("x",))], {"x": 1.7})["v"]), of_x(1.7)])


def test_section_5_squares_of_differences_have_the_label_x_minus_v():
    steps = [("d", "subtract", ("x", "v")), ("s", "square", ("d",)), ("cost", "half", ("s",))]
    graph = paths(steps, "cost", "x", {"x": 0.9, "v": 0.25})
    assert graph.symbolic() == expand(steps, "d") and graph.derivative == 0.9 - 0.25


# §6 Backpropagation for training a neural net: Fig. 9, where w1 … w9 lead from h1, h2, h3 to y1, y2, y3 and w10 … w15 from x1, x2


def sigma(a):
    return 1 / (1 + np.exp(-a))


def net():
    """(model, list, inputs) of the two-layer net with its training layer; d1 to d3 are y − v."""
    m, random = XMan(), np.random.default_rng(9)
    for name in ["x1", "x2", "v1", "v2", "v3"]:
        setattr(m, name, f.input(default=random.uniform()))
    for i in range(1, 16):
        setattr(m, f"w{i}", f.param(default=random.normal()))
    r = lambda name, k: getattr(m, f"{name}{k}")
    for k in (1, 2, 3):
        setattr(m, f"h{k}", f.sigmoid(r("w", 8 + 2 * k) * m.x1 + r("w", 9 + 2 * k) * m.x2))
    for j in (1, 2, 3):
        setattr(m, f"y{j}", f.sigmoid(r("w", 3 * j - 2) * m.h1 + r("w", 3 * j - 1) * m.h2 + r("w", 3 * j) * m.h3))
        setattr(m, f"d{j}", r("y", j) - r("v", j))
    m.Cost = f.half(f.square(m.d1)) + f.half(f.square(m.d2)) + f.half(f.square(m.d3))
    return m, m.setup().operationSequence(m.Cost), m.inputDict()


def of_w4(v):
    """∂Cost/∂w4 as it is printed, of anything with values by name."""
    return (v("y2") - v("v2")) * v("y2") * (1 - v("y2")) * v("h1")


def of_w14(v):
    """∂Cost/∂w14 as it is printed."""
    return ((v("y1") - v("v1")) * v("y1") * (1 - v("y1")) * v("w3") + (v("y2") - v("v2")) * v("y2") * (1 - v("y2")) * v("w6")
            + (v("y3") - v("v3")) * v("y3") * (1 - v("y3")) * v("w9")) * v("h3") * (1 - v("h3")) * v("x1")


def test_figure_7_a_node_multiplies_sums_and_applies_the_sigmoid():
    _, steps, given = net()
    v = eval(steps, given)
    same(v["h3"], sigma(v["w14"] * v["x1"] + v["w15"] * v["x2"]))
    same(v["y2"], sigma(v["w4"] * v["h1"] + v["w5"] * v["h2"] + v["w6"] * v["h3"]))


def test_figure_6b_the_training_layer_sums_the_squared_differences():
    _, steps, given = net()
    v = eval(steps, given)
    same(v["Cost"], sum(1 / 2 * (v[f"y{j}"] - v[f"v{j}"]) ** 2 for j in (1, 2, 3)))


def labels(path):
    """The labels along a path, without those that are 1."""
    return [label for label in path.text.split("·") if label != "1"]


def test_figure_9_cost_by_w4_has_one_path():
    """(y2 − v2) is 2·d2·0.5 here, where the notes have one node for ½(x − v)²."""
    _, steps, given = net()
    (path,) = paths(steps, "Cost", "w4", given).all()
    assert labels(path) == ["h1", "y2", "(1 - y2)", "2", "d2", "0.5"]
    same(path.value, of_w4(eval(steps, given).get))


def test_figure_9_cost_by_w14_has_three_paths_one_for_each_output():
    _, steps, given = net()
    found, v = paths(steps, "Cost", "w14", given).all(), eval(steps, given)
    assert [labels(path) for path in found] == [
        ["x1", "h3", "(1 - h3)", w, f"y{j}", f"(1 - y{j})", "2", f"d{j}", "0.5"] for j, w in [(1, "w3"), (2, "w6"), (3, "w9")]]
    same(sum(path.value for path in found), of_w14(v.get))


@pytest.mark.parametrize("w, printed", [("w4", of_w4), ("w14", of_w14)])
def test_figure_9_the_two_partial_derivatives_symbolically(w, printed):
    """Multiplied out in the inputs, weights and targets, the path problems both ways and the printed formula are one text."""
    m, steps, _ = net()
    m.formula = printed(lambda name: getattr(m, name))
    formula, graph = expand(m.setup().operationSequence(m.formula), "formula"), paths(steps, "Cost", w)
    assert graph.symbolic("forward") == graph.symbolic("backward")
    assert str(polynomial(ast.parse(graph.symbolic(), mode="eval").body, {})) == formula


@pytest.mark.parametrize("w, printed", [("w4", of_w4), ("w14", of_w14)])
def test_figure_9_the_two_partial_derivatives_numerically(w, printed):
    _, steps, given = net()
    graph, values = paths(steps, "Cost", w, given), eval(steps, given)
    for found in (graph.forward()["Cost"], graph.backward()[w], graph.derivative, backprop(steps, values, Cost=1.0)[w]):
        same(found, printed(values.get))


def test_figure_8_a_single_backward_pass_gives_the_derivatives_by_all_weights():
    _, steps, given = net()
    weights = [f"w{i}" for i in range(1, 16)]
    graph, deltas = paths(steps, "Cost", weights, given), backprop(steps, eval(steps, given), Cost=1.0)
    assert (graph.work.backward_passes, graph.work.forward_passes) == (1, 15)
    same([graph.backward()[w] for w in weights], [deltas[w] for w in weights])


def test_section_6_the_update_rule_descends_where_it_subtracts():
    """The notes print w := w + η ∂Cost/∂w, which climbs; the Cost is to become small, and descent subtracts."""
    _, steps, given = net()
    before, deltas = eval(steps, given)["Cost"], backprop(steps, eval(steps, given), Cost=1.0)
    moved = lambda eta: eval(steps, {x: v + eta * deltas[x] if x[0] == "w" else v for x, v in given.items()})["Cost"]
    assert moved(-0.1) < before < moved(+0.1)


def test_section_6_training_continues_until_the_adjustments_fall_below_a_threshold():
    _, steps, given = net()
    for _ in range(1000):
        deltas = backprop(steps, eval(steps, given), Cost=1.0)
        adjustments = {x: -2.0 * deltas[x] for x in given if x[0] == "w"}
        if max(map(abs, adjustments.values())) < 1e-8:
            break
        given = {x: v + adjustments.get(x, 0.0) for x, v in given.items()}
    assert max(map(abs, adjustments.values())) < 1e-8
    values = eval(steps, given)
    np.testing.assert_allclose([values["y1"], values["y2"], values["y3"]], [given["v1"], given["v2"], given["v3"]], atol=1e-6)
