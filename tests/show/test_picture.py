"""Facts about pictures: nothing lies on anything, both forms say the same, names are escaped, and what is refused."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import combinations
from shutil import which

import numpy as np
import pytest
from lists_to_show import LISTS

from xman import WengertList, XMan, XManError, backprop, eval, explain, f, paths, picture
from xman.models import MLP
from xman.show import Picture
from xman.show.picture import Arrow, BoxOfLines
from xman.show.picture.picture import LINE, text_size

ALL = os.environ.get("XMAN_ALL_CASES")
SVG = "{http://www.w3.org/2000/svg}"


def random_graph(seed):
    """A graph of up to 25 nodes, each with arrows from up to three of those before it, twice from one at times."""
    random = np.random.default_rng(seed)
    names = [f"n{k}" for k in range(random.integers(1, 26))]
    nodes = [BoxOfLines(name, (name, "x" * random.integers(1, 30))[:random.integers(1, 3)], note="1" * random.integers(0, 9))
             for name in names]
    arrows = [Arrow(names[random.integers(k)], names[k], "label" * random.integers(0, 3), bool(random.integers(2)))
              for k in range(1, len(names)) for _ in range(random.integers(4))]
    return Picture(nodes, arrows)


def boxes_and_paths(drawn):
    """The boxes (left, top, right, bottom) of the nodes and of the labels, the arrows as points, and the whole."""
    root = ET.fromstring(drawn.svg())
    number = lambda e, *names: [float(e.get(name)) for name in names]
    nodes = [(x, y, x + w, y + h) for x, y, w, h in (number(e, "x", "y", "width", "height") for e in root.iter(f"{SVG}rect")
                                                      if e.get("class") != "paper")]
    labels = []
    for e in root.iter(f"{SVG}text"):
        if e.get("class").startswith("label"):
            (x, y), (w, _) = number(e, "x", "y"), text_size(e.text, around=0)
            labels.append((x - w / 2, y - 10, x + w / 2, y + 2))
    ways = [curve(e.get("d")) for e in root.iter(f"{SVG}path") if e.get("class").startswith("line")]
    return nodes, labels, ways, (0, 0, *number(root, "width", "height"))


def curve(d):
    """Points on a path of M, V and C."""
    points = []
    for word, text in re.findall(r"([MVC])([^MVC]*)", d):
        n = [float(x) for x in text.split()]
        if word == "M":
            points.append(n)
        elif word == "V":
            points += [[points[-1][0], points[-1][1] + t * (n[0] - points[-1][1])] for t in np.linspace(0, 1, 9)]
        else:
            start = points[-1]
            for t in np.linspace(0, 1, 9):
                weights = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3
                points.append([sum(w * p[i] for w, p in zip(weights, (start, n[:2], n[2:4], n[4:]), strict=True)) for i in (0, 1)])
    return points


def apart(a, b):
    return a[2] <= b[0] + 0.2 or b[2] <= a[0] + 0.2 or a[3] <= b[1] + 0.2 or b[3] <= a[1] + 0.2


def check(drawn):
    nodes, labels, ways, whole = boxes_and_paths(drawn)
    assert len(nodes) == len(drawn.nodes) and len(ways) == len(drawn.arrows)
    for a, b in combinations([*nodes, *labels], 2):
        assert apart(a, b)
    for left, top, right, bottom in [*nodes, *labels]:
        assert whole[0] <= left < right <= whole[2] and whole[1] <= top < bottom <= whole[3]
    at = {node.key: box for node, box in zip(drawn.nodes, nodes, strict=True)}
    for arrow, way in zip(drawn.arrows, ways, strict=True):
        (x0, y0), (x1, y1) = way[0], way[-1]
        assert at[arrow.low][0] < x0 < at[arrow.low][2] and y0 == pytest.approx(at[arrow.low][1], abs=0.2)  # from the top of low
        assert at[arrow.high][0] < x1 < at[arrow.high][2] and y1 == pytest.approx(at[arrow.high][3], abs=0.2)  # to high's foot
        for x, y in way:
            assert not any(a + 0.2 < x < c - 0.2 and b + 0.2 < y < d - 0.2 for a, b, c, d in nodes)


@pytest.mark.parametrize("seed", range(1000 if ALL else 15))
def test_no_node_label_or_arrow_lies_on_another_node_or_label(seed):
    check(random_graph(seed))


@pytest.mark.parametrize("name", LISTS if ALL else ["House", "MLP"])
def test_nor_do_they_in_the_pictures_of_a_list(name):
    steps, values, wrt = LISTS[name]
    check(picture(steps))
    check(picture(explain(steps, values=values)))
    check(picture(steps, backprop(steps, eval(steps, values), **{steps[-1][0]: 1.0})))
    if name == "House":
        graph = paths(steps, "loss", wrt, values)
        check(picture(graph, graph.backward()))


def test_nor_do_they_in_the_picture_of_a_models_objects():
    check(picture(MLP([4, 3, 2])))


@pytest.mark.parametrize("seed", range(5))
def test_chains_side_by_side_do_not_cross_in_whatever_order_their_lines_stand(seed):
    random, names = np.random.default_rng(seed), "abcdef"
    lines = [(f"{names[k]}{layer}", "exp", (f"{names[k]}{layer - 1}",)) for layer in (1, 2, 3) for k in random.permutation(6)]
    _, _, ways, _ = boxes_and_paths(picture(lines))
    for way, other in combinations(ways, 2):
        assert way[0][1] != other[0][1] or (way[0][0] - other[0][0]) * (way[-1][0] - other[-1][0]) > 0


def test_both_forms_have_every_text():
    graph = paths(LISTS["House"][0], "loss", "h", LISTS["House"][1])
    drawn = picture(graph, graph.forward())
    texts = {e.text for e in ET.fromstring(drawn.svg()).iter(f"{SVG}text")}
    assert texts == {text for node in drawn.nodes for text in (*node.lines, node.note) if text} | {a.label for a in drawn.arrows}
    quoted = [json.loads(text) for text in re.findall(r'label=("(?:[^"\\]|\\.)*")', drawn.dot())]
    assert {part for text in quoted for part in text.split("\n")} == texts


def test_names_and_labels_are_escaped():
    nodes = [BoxOfLines('a"\\<&>', ('a"\\<&>', "]]>")), BoxOfLines("b", ("b",), note="<i>")]
    drawn = Picture(nodes, [Arrow('a"\\<&>', "b", "&lt; 1")])
    texts = [e.text for e in ET.fromstring(drawn.svg()).iter(f"{SVG}text")]
    assert texts == ["&lt; 1", 'a"\\<&>', "]]>", "b", "<i>"]
    assert r'"a\"\\<&amp;>" [label="a\"\\<&amp;>\n]]>", ' in drawn.dot() and 'label="&amp;lt; 1"' in drawn.dot()


def test_an_arrow_that_points_down_has_its_head_there_in_both_forms():
    drawn = Picture([BoxOfLines("a", ("a",)), BoxOfLines("b", ("b",))], [Arrow("a", "b", "down", True), Arrow("a", "b", "up")])
    assert '"a" -> "b" [label="down", dir=back];' in drawn.dot() and '"a" -> "b" [label="up"];' in drawn.dot()
    nodes, _, _, _ = boxes_and_paths(drawn)
    heads = [float(y) for y in re.findall(r'class="head " d="M[\d.]+ ([\d.]+)l', drawn.svg())]
    assert heads == pytest.approx([nodes[0][1], nodes[1][3]], abs=0.1)  # at the top of a, at the foot of b


@pytest.mark.skipif(not which("dot"), reason="Graphviz is not installed")
@pytest.mark.parametrize("seed", range(3))
def test_graphviz_reads_the_text(seed):
    drawn = random_graph(seed)
    found = subprocess.run(["dot", "-Tplain"], input=drawn.dot(), capture_output=True, text=True, check=True).stdout
    assert found.count("\nnode ") == len(drawn.nodes) and found.count("\nedge ") == len(drawn.arrows)


def test_an_edge_has_its_formula_and_its_number_in_graphvizs_text():
    graph = paths([("f", "einsum", (("i,i->i",), "x", "y"))], "f", "x", {"x": np.ones(2), "y": np.ones(2)})
    assert '"x" -> "f" [label="d(einsum(\'i,i->i\', x, y))/dx = 2×2 matrix"];' in picture(graph).dot()


def test_a_temporary_has_the_name_that_it_has_in_the_list_and_literals_stand_in_their_operation():
    m = XMan()
    m.x = f.input()
    m.z1 = f.exp(m.x)
    m.y = f.sum(2 * m.z1, 0)
    drawn = {node.key: node.lines for node in picture(m.setup()).nodes}
    assert drawn["z2"] == ("z2", "operationOutput") and drawn["z2 = mul"] == ("mul", "args[0] = 2")
    assert drawn["y = sum"][:2] == ("sum", "args[1] = 0")


def test_a_model_of_inputs_alone_and_an_empty_model_have_pictures_and_one_operation_has_its_pointers():
    m = XMan()
    assert picture(m).nodes == () and ET.fromstring(picture(m).svg()) is not None
    m.x = f.input()
    assert [node.key for node in picture(m).nodes] == ["x"]
    m.y = f.exp(m.x)
    assert [arrow.label for arrow in picture(m).arrows] == ["args[0]", "definedAs", "outputReg"]


def test_notes_may_be_numbers_arrays_and_anything_else():
    steps = WengertList.from_text("z = exp(x)\ny = sum(z)")
    drawn = picture(steps, {"x": np.array([0.5, 1.0]), "z": (1, "of 2"), "y": 2.0 / 3})
    assert [node.note for node in drawn.nodes] == ["[0.5000 1.0000]", "(1, 'of 2')", "0.666667"]


def test_a_long_text_is_cut():
    assert picture([("y", "add", ("x" * 99, 1))]).nodes[0].lines == ("x" * 43 + "…",)


def test_wide_letters_take_two_places():
    assert text_size("漢字")[0] == text_size("abcd")[0] and text_size("ab", "c")[1] == text_size("a")[1] + LINE


def test_what_is_off_the_path_is_not_shown_in_green():
    """w depends on x, but leads nowhere: it has a sum from x and none in the picture."""
    steps = [("y", "exp", ("x",)), ("w", "sin", ("x",))]
    graph = paths(steps, "y", "x", {"x": 0.0})
    assert "w" in graph.forward() and {n.key: n.note for n in picture(graph, graph.forward()).nodes} == {"x": "1", "y": "1", "w": ""}


def test_a_picture_is_saved_by_its_ending_and_shown_by_a_notebook(tmp_path):
    drawn = picture(LISTS["House"][0])
    for name, text in (("a.svg", drawn.svg()), ("a.dot", drawn.dot()), ("a.gv", drawn.dot())):
        drawn.save(tmp_path / name)
        assert (tmp_path / name).read_text("utf-8") == text
    assert drawn._repr_svg_() == drawn.svg() and repr(drawn).startswith("<picture of 16 nodes and 18 arrows")


@pytest.mark.parametrize("path, message", [("a.png", "a picture's name ends in .svg, .dot or .gv"), ("a", "ends in .svg"),
                                           ("none/a.svg", "cannot be written: No such file")])
def test_a_file_that_cannot_be_is_refused(tmp_path, path, message):
    with pytest.raises(XManError, match=message):
        picture(LISTS["House"][0]).save(tmp_path / path)


def test_a_picture_that_nobody_could_read_is_refused_and_graphviz_gets_it():
    long = picture([(f"x{k}", "add", (f"x{k - 1}", "y")) for k in range(1, 3000)])
    with pytest.raises(XManError, match="3,001 nodes and 5,998 arrows is too large to be read"):
        long.svg()
    assert long.dot().count("->") == 5998


def test_a_chain_of_lines_is_no_recursion():
    drawn = picture([(f"x{k}", "exp", (f"x{k - 1}",)) for k in range(1, 1101)])
    assert len(drawn.nodes) == 1101 > sys.getrecursionlimit() and drawn.svg().count("<rect") == 1102


@pytest.mark.parametrize("what", [Triangle := type("Triangle", (XMan,), {}), 3, [("y", "exp", "x")], None], ids=str)
def test_what_is_no_list_and_no_model_is_refused(what):
    with pytest.raises(XManError):
        picture(what)


def test_the_name_that_what_is_drawn_had_is_answered_with_the_new_one():
    with pytest.raises(XManError, match=r"picture takes what is to be drawn, like explore: picture\(expression, notes\)"):
        picture(of=LISTS["House"][0])
