"""Facts about path problems on the computation graph: Reps' examples, arrays, work, long lists, and what is refused."""
import doctest
import math
import operator
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from xman import WengertList, XManError, backprop, forward
from xman import eval as evaluate
from xman.show.paths import paths

REPS_3 = WengertList.from_text("z1 = mul(4, y)\nz2 = add(x, z1)\nz3 = add(x, y)\nz4 = mul(z3, y)\nh = mul(z2, z4)")
POINT = {"x": 3, "y": 5}


def test_the_example_in_the_docstring_runs():
    assert doctest.testmod(sys.modules[paths.__module__]).failed == 0


# Reps, equation 3 and figures 2 and 3


def test_the_edges_carry_the_labels_of_figure_2():
    graph = paths(REPS_3, "h", "x", POINT)
    assert [(e.source, e.target, e.label, e.value) for e in graph.edges] == [
        ("y", "z1", "4", 4.0), ("x", "z2", "1", 1.0), ("z1", "z2", "1", 1.0), ("x", "z3", "1", 1.0), ("y", "z3", "1", 1.0),
        ("z3", "z4", "y", 5.0), ("y", "z4", "z3", 8.0), ("z2", "h", "z4", 40.0), ("z4", "h", "z2", 23.0)]


def test_the_derivatives_are_155_and_459():
    graph = paths(REPS_3, "h", ["x", "y"], POINT)
    assert graph.derivative == {("h", "x"): 155.0, ("h", "y"): 459.0} and graph.values["h"] == 920


def test_the_forward_problem_finds_the_derivative_of_each_register_by_x():
    found = paths(REPS_3, "h", "x", POINT).forward()
    assert found == {"x": 1.0, "z2": 1.0, "z3": 1.0, "z4": 5.0, "h": 155.0} and (found.extends, found.combines) == (5, 1)


def test_the_backward_problem_finds_the_derivative_of_h_by_each_register():
    found = paths(REPS_3, "h", "x", POINT).backward()
    assert found == {"h": 1.0, "z2": 40.0, "z4": 23.0, "z3": 115.0, "z1": 40.0, "x": 155.0, "y": 459.0}
    assert (found.extends, found.combines) == (9, 3)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_both_problems_have_the_answer_of_example_4_1(direction):
    assert paths(REPS_3, "h", "x").symbolic(direction) == "2*x*y + 5*y**2"
    assert paths(REPS_3, "h", "y").symbolic(direction) == "x**2 + 10*x*y + 12*y**2"


def test_the_two_paths_are_those_that_reps_adds_up():
    assert [(path.text, path.value) for path in paths(REPS_3, "h", "x", POINT).all()] == [("1·z4", 40.0), ("1·y·z2", 115.0)]


# Reps, figure 9: two inputs, three hidden nodes, three outputs, a cost


def network():
    lines = []
    for j in (1, 2, 3):
        w = 8 + 2 * j  # w10 and w11 lead to h1, w14 and w15 to h3
        lines += [f"a{j} = mul(w{w}, x1)", f"b{j} = mul(w{w + 1}, x2)", f"s{j} = add(a{j}, b{j})", f"h{j} = sigmoid(s{j})"]
    for i in (1, 2, 3):
        lines += [f"p{i}{j} = mul(w{3 * i - 3 + j}, h{j})" for j in (1, 2, 3)]
        lines += [f"q{i} = add(p{i}1, p{i}2)", f"t{i} = add(q{i}, p{i}3)", f"y{i} = sigmoid(t{i})",
                  f"e{i} = subtract(y{i}, v{i})", f"g{i} = square(e{i})", f"c{i} = half(g{i})"]
    return WengertList.from_text("\n".join([*lines, "c = add(c1, c2)", "cost = add(c, c3)"]))


def weights():
    random = np.random.default_rng(9)
    return {name: random.normal() for name in network().inputs}


def test_one_path_leads_from_w4_to_the_cost_and_it_is_the_product_of_figure_9():
    path, = paths(network(), "cost", "w4").all()
    assert path.text == "h1·1·1·y2·(1 - y2)·1·2·e2·0.5·1·1" and path.value is None


def test_three_paths_lead_from_w14_to_the_cost():
    texts = [path.text for path in paths(network(), "cost", "w14").all()]
    assert texts == ["x1·1·h3·(1 - h3)·w3·1·y1·(1 - y1)·1·2·e1·0.5·1·1", "x1·1·h3·(1 - h3)·w6·1·y2·(1 - y2)·1·2·e2·0.5·1·1",
                     "x1·1·h3·(1 - h3)·w9·1·y3·(1 - y3)·1·2·e3·0.5·1"]


def test_the_derivatives_of_figure_9_are_those_of_its_formulas():
    graph = paths(network(), "cost", ["w4", "w14"], weights())
    v = graph.values
    slope = {i: (v[f"y{i}"] - v[f"v{i}"]) * v[f"y{i}"] * (1 - v[f"y{i}"]) for i in (1, 2, 3)}
    assert math.isclose(graph.derivative["cost", "w4"], slope[2] * v["h1"], rel_tol=1e-13)
    wanted = (slope[1] * v["w3"] + slope[2] * v["w6"] + slope[3] * v["w9"]) * v["h3"] * (1 - v["h3"]) * v["x1"]
    assert math.isclose(graph.derivative["cost", "w14"], wanted, rel_tol=1e-13)


def test_one_backward_pass_is_cheaper_than_a_forward_pass_for_each_weight():
    work = paths(network(), "cost", [f"w{k}" for k in range(1, 16)]).work
    assert (work.forward_passes, work.backward_passes) == (15, 1) and work.backward_extends < work.forward_extends / 2


def test_one_forward_pass_is_cheaper_than_a_backward_pass_for_each_output():
    work = paths(network(), ["y1", "y2", "y3"], "x1").work
    assert (work.forward_passes, work.backward_passes) == (1, 3) and work.forward_extends < work.backward_extends
    assert str(work) == ("1 forward pass: 46 extends, 8 combines\n3 backward passes: 96 extends, 12 combines")


# graphs of other lists


def test_an_argument_that_is_read_twice_has_two_edges():
    graph = paths([("f", "add", ("x", "x"))], "f", "x", {"x": 3.0})
    assert [edge.label for edge in graph.edges] == ["1", "1"] and graph.derivative == 2.0 and graph.count == 2
    assert [edge.label for edge in paths([("f", "divide", ("x", "x"))], "f", "x").edges] == ["1/x", "-x/x^2"]


def test_the_label_of_an_operator_can_be_made_of_its_result():
    steps = WengertList.from_text("r = sqrt(x)\ns = sigmoid(r)\nt = exp(s)\nu = tanh(t)\nv = sin(u)")
    assert [edge.label for edge in paths(steps, "v", "x").edges] == ["1/(2·r)", "s·(1 - s)", "t", "1 - u^2", "cos(u)"]


def test_the_formula_of_a_composition_is_in_the_inputs():
    assert paths([("z", "mul", ("x", "x")), ("f", "exp", ("z",))], "f", "x").symbolic() == "2*x*exp(x**2)"


def test_lines_that_lead_neither_from_wrt_nor_to_of_are_left_out():
    steps = [*REPS_3, ("u", "exp", ("v",)), ("w", "square", ("h",))]
    assert {edge.target for edge in paths(steps, "h", "x").edges} == {"z1", "z2", "z3", "z4", "h", "w"}


def test_a_register_that_is_not_reached_has_the_derivative_0():
    steps = [("f", "exp", ("x",)), ("g", "exp", ("y",))]
    graph = paths(steps, "g", "x", {"x": 1.0, "y": 2.0})
    assert graph.derivative == 0.0 and graph.symbolic() == "0" and graph.all() == [] and graph.count == 0
    assert paths(steps, "g", "x", {"x": np.ones(3), "y": np.ones(2)}).derivative.tolist() == np.zeros((2, 3)).tolist()


def test_a_sparse_input_has_a_column_for_each_of_its_places():
    X, W = csr_matrix(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])), np.ones((3, 2))
    graph = paths([("z", "dot", ("X", "W")), ("y", "sum", ("z",))], "y", ["X", "W"], {"X": X, "W": W})
    assert graph.derivative["y", "X"].shape == (1, 6) and graph.derivative["y", "W"].tolist() == [[1, 1, 0, 0, 2, 2]]


def test_a_register_by_itself_has_the_derivative_1():
    graph = paths(REPS_3, "z2", "z2", POINT)
    assert graph.derivative == 1.0 and graph.symbolic() == "1" and graph.count == 1


def test_a_computed_register_can_be_wrt():
    graph = paths(REPS_3, "h", "z3", POINT)
    assert graph.derivative == 115.0 and graph.symbolic() == "x*y + 4*y**2"


def test_an_operator_without_derivative_has_the_label_0():
    graph = paths([("s", "sign", ("x",)), ("f", "mul", ("s", "x"))], "f", "x", {"x": -2.0})
    assert [edge.label for edge in graph.edges] == ["0", "x", "s"] and graph.derivative == -1.0


def test_a_list_without_inputs_has_no_edges():
    graph = paths([("f", "exp", (1.0,))], "f", "f", {})
    assert graph.edges == [] and graph.derivative == 1.0 and "0 extends" in str(graph)


# arrays


MLP = WengertList.from_text("z1 = dot(x, W)\nz2 = add(z1, b)\nz3 = tanh(z2)\nz4 = softmax(z3)\nz5 = crossEntropy(z4, y)\nloss = mean(z5)")
RANDOM = np.random.default_rng(3)
ARRAYS = {"x": RANDOM.normal(size=(4, 3)), "W": RANDOM.normal(size=(3, 2)), "b": RANDOM.normal(size=2), "y": np.array([0, 1, 1, 0])}


@pytest.mark.parametrize("x", ["x", "W", "b"])
def test_the_derivative_of_a_number_by_an_array_is_the_row_that_backprop_finds(x):
    delta = backprop(MLP, evaluate(MLP, ARRAYS), loss=1.0)[x]
    found = paths(MLP, "loss", x, ARRAYS).derivative
    assert found.shape == (1, delta.size) and np.allclose(found[0], delta.ravel(), rtol=1e-13, atol=1e-15)


def test_forward_and_backward_find_the_same_matrix():
    graph = paths(MLP, "z4", "b", ARRAYS)
    assert np.allclose(graph.forward()["z4"], graph.backward()["b"], rtol=1e-13, atol=1e-15)
    tangents = forward(MLP, evaluate(MLP, ARRAYS), {"b": np.array([1.0, 0.0])})["z4"]
    assert np.allclose(graph.derivative[:, 0], tangents.ravel(), rtol=1e-13, atol=1e-15)


def test_a_number_that_depends_on_a_number_by_way_of_arrays_has_a_number_for_derivative():
    steps = WengertList.from_text("a = mul(x, v)\nf = sum(a)")
    assert paths(steps, "f", "x", {"x": 2.0, "v": np.array([1.0, 2.0, 4.0])}).derivative == 7.0


def test_the_label_of_an_operator_on_arrays_is_named_where_it_is_not_entrywise():
    assert [edge.label for edge in paths(MLP, "loss", "W", ARRAYS).edges][:5] == [
        "d(x @ W)/dx", "d(x @ W)/dW", "1", "1", "1 - z3^2"]


def test_whole_numbers_have_labels_of_zeros():
    edge = [edge for edge in paths(MLP, "loss", "W", ARRAYS).edges if edge.source == "y"][0]
    assert edge.value.shape == (4, 4) and not edge.value.any()


def test_arrays_without_elements_are_taken():
    assert paths([("f", "sum", ("x",))], "f", "x", {"x": np.ones((0, 3))}).derivative.shape == (1, 0)


# long lists and many paths


def doubling(n):
    return WengertList((f"z{k + 1}", "add", (f"z{k}", f"z{k}")) for k in range(n))


def test_paths_are_counted_without_being_listed():
    graph = paths(doubling(60), "z60", "z0", {"z0": 1.0})
    assert graph.count == 2 ** 60 == graph.derivative and graph.work.forward_extends == 120


def test_three_thousand_lines_are_solved():
    steps = WengertList((f"z{k + 1}", "sin" if k % 2 else "add", (f"z{k}",) if k % 2 else (f"z{k}", "x")) for k in range(3_000))
    graph = paths(steps, "z3000", "x", {"x": 0.5, "z0": 0.1})
    delta = backprop(steps, graph.values, z3000=1.0)["x"]
    assert math.isclose(graph.derivative, delta, rel_tol=1e-12) and math.isclose(graph.forward()["z3000"], delta, rel_tol=1e-12)
    assert graph.count == 1500 and "4,460 edges more" in str(graph)


def test_a_path_of_three_thousand_edges_is_listed():
    path, = paths([(f"z{k + 1}", "sin", (f"z{k}",)) for k in range(3_000)], "z3000", "z0", {"z0": 0.1}).all()
    assert len(path.edges) == 3_000 and path.text.startswith("cos(z0)·cos(z1)·")


# pictures


def test_it_prints_the_edges_with_both_labels_and_both_solutions_with_their_work():
    assert str(paths(REPS_3, "h", "x", POINT)).splitlines()[5:] == [
        "z3 → z4   y    5", "y → z4    z3   8", "z2 → h    z4   40", "z4 → h    z2   23",
        "forward from x: x = 1, z2 = 1, z3 = 1, z4 = 5, h = 155   (5 extends, 1 combine)",
        "backward from h: h = 1, z4 = 23, z2 = 40, y = 459, z3 = 115, x = 155, z1 = 40   (9 extends, 3 combines)",
        "path x → z2 → h        1·z4 = 40", "path x → z3 → z4 → h   1·y·z2 = 115"]


def test_without_values_it_prints_the_formulas_and_the_work():
    assert str(paths(REPS_3, "h", "x")).splitlines()[-3:] == [
        "path x → z3 → z4 → h   1·y·z2", "1 forward pass: 5 extends, 1 combine", "1 backward pass: 9 extends, 3 combines"]


def test_with_several_wrt_it_prints_a_solution_for_each_and_compares_the_work():
    assert str(paths(REPS_3, "h", ["x", "y"], POINT)).splitlines()[-9:] == [
        "forward from y: y = 1, z1 = 4, z2 = 4, z3 = 1, z4 = 13, h = 459   (7 extends, 2 combines)",
        "backward from h: h = 1, z4 = 23, z2 = 40, y = 459, z3 = 115, x = 155, z1 = 40   (9 extends, 3 combines)",
        "path x → z2 → h        1·z4 = 40", "path x → z3 → z4 → h   1·y·z2 = 115", "path y → z1 → z2 → h   4·1·z4 = 160",
        "path y → z3 → z4 → h   1·y·z2 = 115", "path y → z4 → h        z3·z2 = 184",
        "2 forward passes: 12 extends, 3 combines", "1 backward pass: 9 extends, 3 combines"]


def test_an_edge_and_a_path_print_in_a_line():
    assert repr(paths(REPS_3, "h", "x", POINT).edges[0]) == "<y → z1: 4 = 4>"
    assert repr(paths(REPS_3, "h", "x").edges[0]) == "<y → z1: 4>"


# what is refused


GRAPH, PLAIN = paths(REPS_3, ["h", "z4"], ["x", "y"], POINT), paths(REPS_3, "h", "x")


@pytest.mark.parametrize("call, words", [
    (lambda: paths(REPS_3, "hh", "x"), "of names 'hh', which the list does not have"),
    (lambda: paths(REPS_3, "z44", "x"), "did you mean 'z4'?"),
    (lambda: paths(REPS_3, "h", ["x", "yy"]), "wrt names 'yy', which the list does not have; did you mean 'y'?"),
    (lambda: paths(REPS_3, "h", []), "wrt is empty; name a register"),
    (lambda: paths(REPS_3, 3, "x"), "and found 3"),
    (lambda: paths(REPS_3, "h", "x", {"x": 3}), "no value for the input 'y'"),
    (lambda: paths(REPS_3, "h", "x", 3.0), "values is a float; wanted the value of each input by its name"),
    (lambda: paths([("f", "square", ("x"))], "f", "x"), "a tuple of one is written ('x',)"),
    (lambda: paths("f = square(x)", "f", "x"), "WengertList.from_text(steps)"),
    (lambda: PLAIN.forward(), "these paths have no numbers: give paths the values of the inputs"),
    (lambda: PLAIN.backward("h"), "symbolic() needs none"),
    (lambda: PLAIN.derivative, "these paths have no numbers"),
    (lambda: GRAPH.forward(), "name one of the registers in wrt, x, y"),
    (lambda: GRAPH.backward("z2"), "name one of the registers in of, h, z4, not 'z2'"),
    (lambda: GRAPH.symbolic("sideways"), "the direction is 'forward' or 'backward', not 'sideways'"),
    (lambda: paths(doubling(40), "z40", "z0").all(), "there are 1,099,511,627,776 paths, and 100 is the limit"),
    (lambda: paths(doubling(4000), "z4000", "z0").all(), "there are more than 10^1200 paths"),
    (lambda: paths(MLP, "loss", "W", ARRAYS).symbolic(), "the label d(x @ W)/dW is a matrix"),
    (lambda: paths(MLP, "loss", "W", {**ARRAYS, "x": np.ones((900, 3)), "y": np.zeros(900, int)}),
     "z1 = dot(x, W): a matrix of 1,800 × 2,700 partial derivatives"),
    (lambda: paths([("f", "sum", ("x",))], "f", "x", {"x": np.ones(2000)}).forward(), "the derivative of an array by itself"),
    (lambda: paths([("f", "dot", ("x", "y"))], "f", "x", {"x": np.ones(2), "y": np.ones(3)}), "line 1, f = dot(x, y): x has shape (2,)"),
    (lambda: paths([("z0", "add", ("x", 1.0)), *((f"z{k + 1}", "mul", (f"z{k}", f"y{k}")) for k in range(9)),
                    ("f", "power", ("z9", 1001)), ("s", "add", ("z9", "x")), ("g", "power", ("s", 900))], "g", "x").symbolic(),
     "more than 1,000 terms")])
def test_a_mistake_gets_its_sentence(call, words):
    with pytest.raises(XManError) as error:
        call()
    assert words in str(error.value) and "\n" not in str(error.value)


# bugs that had survived planting


def test_a_sum_among_the_labels_of_a_path_stands_in_brackets():
    steps = WengertList.from_text("z = tanh(x)\nf = mul(z, y)")
    assert [path.text for path in paths(steps, "f", "x").all()] in (["(1 - z^2)·y"], ["y·(1 - z^2)"])


def test_a_line_on_arrays_beside_the_paths_does_not_hold_a_formula_back():
    steps = WengertList.from_text("f = mul(x, x)\ns = softmax(x)")
    assert paths(steps, "f", "x").symbolic() == "2*x"


# extend and combine of one's own


def test_the_derivative_is_the_problem_of_products_and_sums():
    graph = paths(REPS_3, "h", ["x", "y"], POINT)
    for x in ("x", "y"):
        assert graph.solve(operator.mul, operator.add, 1.0, start=x) == graph.forward(x)


def test_a_start_that_is_not_among_wrt_is_refused():
    with pytest.raises(XManError, match="name one of the registers in wrt, x, not 'h'"):
        paths(REPS_3, "h", "x").solve(operator.add, min, 0, lambda edge: 1, "h")
