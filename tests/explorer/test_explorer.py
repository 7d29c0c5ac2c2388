"""The explorer: what Python writes, and what a real browser does with it."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ops
import xman
from xman import XMan, XManError, backprop, eval, explore, f, forward, trace
from xman.explorer import rules
from xman.explorer.guide import guide
from xman.explorer.page import PAGE_FILES, document, packed, page_of
from xman.notation import json_literal
from xman.show.picture.layout import layout
from xman.wengert import WengertList

sys.path.insert(0, str(Path(__file__).parents[1] / "ops"))
from operator_cases import CASES

H = WengertList.from_text("z1 = mul(4, y)\nz2 = add(x, z1)\nz3 = add(x, y)\nz4 = mul(z3, y)\nh = mul(z2, z4)")
LONG = [("z0", "mul", ("x", 1.0)), *((f"z{k}", ("sin", "mul", "add")[k % 3], (f"z{k - 1}", "x")[:1 + (k % 3 > 0)]) for k in range(1, 10_000))]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LACKING = "no chromium" if not CHROMIUM else next((f"{name} is not installed" for name in ("playwright", "axe_playwright_python")
                                                   if not importlib.util.find_spec(name)), "")
NAME = "</script><script>window.stolen = 1</script>"


def models():
    """A list of each kind of model, with values of its inputs."""
    from xman.models import GRU, RNN, LogisticRegression, ResidualMLP, Transformer
    rng = np.random.default_rng(5)
    for model in (LogisticRegression(3, 2, seed=1), ResidualMLP(3, 4, 2, seed=1), RNN(3, 2, 2, steps=2, seed=1), GRU(3, 2, 2, steps=2, seed=1),
                  Transformer(3, 4, 2, steps=2, seed=1)):
        steps = model.operationSequence(model.loss)
        shapes = {"X": (2, 2, 3) if type(model) is Transformer else (2, 3), "X1": (2, 3), "X2": (2, 3), "y": (2, 2)}
        given = {x: rng.uniform(0.1, 1, shapes.get(x, (2, 2))) for x in steps.inputs if x not in model.inputDict()}
        yield type(model).__name__, steps, {**{x: np.asarray(v, float) for x, v in model.inputDict().items()}, **given}


def cells_of_a_notebook(*order):
    """What cells show, in this order of the notebook, that were run in the order first, second, third."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xman.explorer.page.FIRST_CELLS", {})
        shown = {}
        for cell in sorted(order):
            patch.setattr("xman.explorer.page.cell_that_runs", lambda cell=cell: cell)
            shown[cell] = explore(H, values={"x": 3.0, "y": 5.0}, guided=False)._repr_html_()
    return [shown[cell] for cell in order]


@pytest.fixture(scope="session")
def done(tmp_path_factory):
    """What the browser found, by check."""
    if LACKING:
        pytest.skip(f"{LACKING}: apt-get install chromium; pip install -e '.[browser]'")
    folder = tmp_path_factory.mktemp("explorer")
    explore(H, values={"x": 3.0, "y": 5.0}).save(folder / "page.html")
    page_of([document(steps, steps[-1][0], given, {}, name) for make in (models, more) for name, steps, given in make()], True).save(folder / "models.html")
    explore(WengertList.from_text(LOOP), values={"h0": 1.0, "n": np.int64(3), "w": 0.5}).save(folder / "loop.html")
    explore(LONG, values={"x": 0.5}).save(folder / "long.html")
    explore([("w", "eigvalsh", ("A",)), ("s", "square", ("w",)), ("y", "sum", ("s",))], values={"A": np.array([[2.0, 1.0], [1.0, 3.0]])}).save(folder / "foreign.html")
    explore([("s", "dot", ("x", "x")), ("n", "sqrt", ("s",))], values={"x": np.zeros(2)}).save(folder / "nan.html")
    explore(H, values={"x": 3.0, "y": 5.0}, title=NAME).save(folder / "html.html")
    (folder / "cells.html").write_text("".join(f"<details>{cell}</details>" for cell in cells_of_a_notebook("second", "first", "third")), "utf-8")
    cases = [(op, [packed(a) if isinstance(a, np.ndarray) else json_literal(a) for a in case], packed(ops.G[op](*case)))
             for op in sorted(rules.ON_THE_PAGE) for case in CASES[op]]
    (folder / "cases.json").write_text(json.dumps(cases))
    (folder / "graphs.json").write_text(json.dumps(graphs()))
    subprocess.run([sys.executable, Path(__file__).with_name("browser.py"), CHROMIUM, folder, folder / "out.json"], check=True, timeout=280)
    return json.loads((folder / "out.json").read_text("utf-8"))


@pytest.fixture
def found(done, request):
    """What the check of the test's name found."""
    result = done[request.function.__name__.removeprefix("test_")]
    assert "raised" not in result, result["raised"]
    assert result["wrong"] == []
    return result["found"]


def test_operators(found):
    """Each has the value of the table to 1e-12."""
    assert set(found) == rules.ON_THE_PAGE <= ops.OURS
    assert not {op: worst for op, worst in found.items() if isinstance(worst, str) or not worst <= 1e-12}


def graphs():
    """Arguments of a layout: the sizes of nodes, links between them, some twice, and the sizes of the links' labels."""
    rng = np.random.default_rng(6)
    for_layout = []
    for n in (1, 2, 5, 20, 60):
        links = [sorted(map(int, rng.choice(n, 2, replace=False))) for _ in range(2 * n)] if n > 1 else []
        labels = [[float(w), 16.0] if w > 30 else [0.0, 0.0] for w in rng.uniform(0, 60, len(links))]
        for_layout.append([rng.uniform(30, 200, (n, 2)).tolist(), links, labels])
    return for_layout


def test_layouts(found):
    """The page has the places of Python's pictures for the same graph."""
    for (sizes, links, labels), there in zip(graphs(), found, strict=True):
        places, routes, marks, size = layout(sizes, links, labels)
        for ours, theirs in zip((places, *routes, marks, size), (there["places"], *there["routes"], there["marks"], [there["width"], there["height"]]), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-6)


def pieces(x, A):
    """Literals of all kinds: keys, slices, axes, shapes, subscripts."""
    part = np.concatenate([x[1:3], x[::-2], np.sum(A, 1)])
    return np.sum(np.einsum("ij,kj->ik", A, A)) * part[-1] + np.sum(np.reshape(A, (3, 2)).T @ part[:3]) + np.max(A, axis=0)[1] * x[0] ** 2


def loops(a, x, A):
    """A loop in a loop, one that ends on a condition, a branch, a map and a call."""
    def inner(h, row):
        return xman.scan(lambda h, v: (np.tanh(h * v + a), None), h, row, keep=False)[0], h
    h, hs = xman.scan(inner, x[0], A)
    root = xman.while_loop(lambda y: abs(y * y - a) > 1e-9, lambda y: (y + a / y) / 2, 1.0)
    either = xman.cond(a > 1, lambda p, q: p * q, lambda p, q: p + q, root, x[1])
    return h * np.sum(hs) + either + np.sum(xman.map(lambda v: np.sum(v * np.sin(v)), A) ** 2) + xman.call(lambda p: np.exp(p), x[2])


BACK = """def step(h, x):
    h1 = add(h, x)
    y = sin(h1)
    return h1, y

z1 = bundle(h0, X)
z2 = scan(step, 1, 1, z1, True)
z3 = item(z2, 0)
z4 = item(z2, 1)
z5 = mul(z4, z3)
loss = sum(z5)"""
LOOP = BACK.replace("add(h, x)", "mul(h, w)").replace("h, x", "h, x, w").replace("h0, X", "h0, n, w").replace(", True", "")


def more():
    """Lists of other operators than the models have."""
    rng = np.random.default_rng(3)
    x, A = rng.uniform(0.5, 1, 4), rng.normal(size=(2, 3))
    yield "pieces", trace(pieces, x, A), {"x": x, "A": A}
    yield "loops", trace(loops, 2.0, x, A), {"a": 2.0, "x": x, "A": A}
    yield "spread", WengertList.from_text("y = add(x, array(2.5, 'float64', (2, 3)))\nz = mul(y, y)\ns = sum(z)"), {"x": np.ones((2, 3))}
    yield "reversed", WengertList.from_text(BACK), {"h0": np.ones((1, 3)), "X": rng.normal(size=(4, 2, 3))}
    layers = [f"z{2 * k - 1} = add(h{k - 1}, layers_{k}_b)\nz{2 * k} = mul(z{2 * k - 1}, layers_{k}_W)\nh{k} = tanh(z{2 * k})" for k in range(1, 31)]
    yield "Layers", WengertList.from_text("\n".join(layers)), {"h0": 0.1, **{f"layers_{k}_{a}": 0.9 for k in range(1, 31) for a in "Wb"}}
    yield "constructor", WengertList([("constructor", "exp", ("toString",)), ("hasOwnProperty", "mul", ("constructor", "constructor"))]), {"toString": 0.3}


LISTS = [(name, steps, steps[-1][0], given) for make in (models, more) for name, steps, given in make()] + [(g.title, g.steps, g.of, g.values) for g in guide()]


@pytest.mark.parametrize("k", range(len(LISTS)), ids=[name.split(" ")[0] for name, *_ in LISTS])
def test_deltas_tangents_and_the_list_of_the_gradient_are_pythons(done, k):
    name, steps, of, given = LISTS[k]
    result = done["derivatives"]["found"][k]
    assert (result["title"], result["stop"]) == (name, None)
    values = eval(steps, given)
    deltas = backprop(steps, values, **{of: 1.0})
    agree(result["deltas"], deltas)
    agree(result["again"], {f"d{of}_d{x}": deltas[x] for x in steps.inputs if f"d{of}_d{x}" in result["again"]})
    for x, tangents in result["tangents"].items():
        agree(tangents, forward(steps, values, {x: np.ones_like(values[x])}))
    written_out = eval([*steps, *WengertList.from_json(json.dumps(result["gradient"]))], given)
    for x, delta in backprop(steps, values, wrt=[x for x in steps.inputs if x in result["deltas"]], **{of: 1.0}).items():
        if x in steps.inputs:
            np.testing.assert_allclose(written_out[f"d{of}_d{x}"], delta, rtol=1e-12, atol=1e-12)


def agree(found, right):
    right = {name: x for name, x in right.items() if not isinstance(x, (dict, tuple))}
    assert found.keys() == right.keys()
    for name, x in found.items():
        np.testing.assert_allclose(np.reshape(x["a"], x["s"]), right[name], rtol=1e-11, atol=1e-12)


def test_steps_both_ways(found):
    assert found[2] == ["Line 3 of 5: z3 = x + y = 3 + 5 = 8.", "8", "·"]
    assert found[4][1:] == found[5][1:] == found[6][1:] == ["8", "·"] and found[6][0].startswith("Line 3 of 5")
    assert found[7] == ["Done. ∂h/∂y = 459, ∂h/∂x = 155.", "5", "459"]
    assert found[8][2] == "299" and "Here paths meet" not in found[8][0]


def test_before_the_backward_pass_no_delta_is_there(found):
    assert found[0] == ["·"] * 7 and found[1] == [""] * 7


def test_the_delta_of_y_after_each_step(found):
    told = [delta for delta, _ in found]
    assert told == ["·"] * 9 + ["184"] * 2 + ["299"] * 3 + ["459"] * 2
    assert found[-2][1] == ("Line 1 in reverse, z1 = 4·y: δy += δz1·4 = 40·4 = 160, since ∂z1/∂y = 4, along the edge z1 → y. "
                            "Here paths meet, and what comes along each is added: 299 + 160 = 459. δy is complete.")


def test_an_input_is_edited(found):
    assert found == ["Done. ∂h/∂y = 807, ∂h/∂x = 287.", "y: seven is no number and no nested list of numbers; write 3, -0.5 or [[1, 2], [3, 4]], or for a bundle (3, [1, 2]).",
                     "Done. ∂Σall_/∂b = (5, [2]).", "(0.5, [2, 3])"]


def test_a_line_is_edited(found):
    assert found[0] == "c has no value yet: type one at Inputs, and all is computed."
    c, h, w = 2.0, 3.0, 6.0
    slope = c / np.cosh(h / w) ** 2
    numbers = [float(x.replace("−", "-")) for x in re.findall(r"= (−?\d+\.\d+)", found[1])]
    np.testing.assert_allclose(numbers, [slope / w, -slope * h / w ** 2, np.tanh(h / w)], rtol=1e-5)
    assert "area = tanh(h/w)·c" in found[2]


def test_a_loop_is_stepped_through(found):
    waiting, told, edited_gradient = found
    assert waiting == ["·\nnot there yet"] * 5
    steps, given = WengertList.from_text(LOOP), {"h0": 1.0, "n": np.int64(3), "w": 0.5}
    def done(steps, of):
        deltas = backprop(steps, eval(steps, given), **{of: 1.0})
        return f"Done. ∂{of}/∂h0 = {deltas['h0']:.6g}, ∂{of}/∂w = {deltas['w']:.6g}.".replace("-", "−")
    assert told[0].startswith("Line 2 of 6: z2 = scan(step, 1, 1, z1) runs step 3 times, h from step to step; x along an axis; w the same in all.")
    assert told[1:6] == ["y = sin(h1)\t0.247404\t0.125", "Value: (1, 3, 0.5). δz1: (0.207069, ·, 0.962459). Read by z2.", "step, 2 of 3 steps", "The step is done: δh = 0.304439, δw = 0.304439. They go on to the step before, along the axes, and into sums over all steps.", "step, 3 of 3 steps"]
    assert told[6] == done(steps, "loss") and told[7] == done(xman.gradient(steps, "loss", ["h0", "w"]), "dloss_dw")
    edited = WengertList.from_text(LOOP.replace("mul(h, w)", "add(h, w)"))
    slopes = eval([*edited, *WengertList.from_json(json.dumps(edited_gradient))], given)
    assert told[8] == done(edited, "loss") == f"Done. ∂loss/∂h0 = {slopes['dloss_dh0']:.6g}, ∂loss/∂w = {slopes['dloss_dw']:.6g}.".replace("-", "−")


def test_the_quiz(found):
    wrong, right, next_one, told, boxes = found
    assert wrong == "Not yet: how does a register change with itself?"
    assert right == "Right: δarea is 1. 0 of 1 at the first try." and next_one == "Right: δz1 is 0.5. 1 of 2 at the first try."
    assert "δz1 = 0.5·δarea = 0.5·1 = 0.5" in told and boxes == 4


def test_what_is_wrong_is_said(found):
    assert found.pop("rules") == [0, 0, -1, 1]  # of sum(x), sum(x, None), sum(x, y), sum(x, 0)
    refused = lambda steps: str(pytest.raises(XManError, WengertList.from_json, json.dumps(steps)).value).partition("): ")[2]
    assert found["keyword"] == "Line 1: " + refused([["for", "half", ["x"]]]) and found["None"] == "Line 1: " + refused([["None", "half", ["x"]]])
    assert found["read"] == "Line 1: " + refused([["y", "mul", ["x", "lambda"]]])
    for name, part in {"unknown": "Line 1: there is no operator mull; did you mean mul?", "circle": "which is a circle; break it.", "itself": "a is computed from itself", "order": "move that line up",
                       "twice": "a is assigned a second time, after line 1", "arguments": "exp takes 1 argument, not 2.", "no line": "Line 1 cannot be read: y = 3 +.", "sign": "Line 1 cannot be read: y = mul(x, :).",
                       "script": "Line 1 cannot be read", "empty": "The list is empty", "megabyte": "The list has 1,100,009 characters, and this page takes 500,000", "deep": "Line 1 cannot be read",
                       "word": "In step: a register cannot be called 'float', which is a word of the text form; choose another name", "operator": "exp is the name of an operator", "returns": "Line 3 stands where step has not returned", "inside": "In step: Line 1: there is no operator hlaf; did you mean half?",
                       "closed": "In step: Line 1: w is neither a parameter nor assigned", "endless": "Line 2, c = while_loop(on, step, 1, b): the page stops here, after 2,002 lines in loops: this one is endless", "zero": "a division by zero, whose result is infinite", "shapes": "a product of matrices needs arrays", "inherited": "toString has no value yet"}.items():
        assert part in found[name] and "\n" not in found[name], (name, found[name])


def test_keyboard_alone(found):
    reached, chosen = found
    assert {"example", "mode", "of", "quiz", "theme", "first", "back", "next", "last", "play", "slider", "h", "labels", "svg", "in0"} <= {*reached}
    assert chosen.startswith("h is a parameter")


def test_pictures_are_saved(found):
    assert found == ["{http://www.w3.org/2000/svg}svg", 7]


def test_a_reader_of_screens(found):
    assert len(found) == 2 and not {case: wrong for case, wrong in found.items() if wrong}


def test_nothing_runs_off_a_narrow_page(found):
    assert found == [[]] * 8


def test_ten_thousand_lines(found):
    rows, told, later, middle, boxes, parts = found
    assert [part.split(":")[0] for part in parts][::4] == ["▾ lines 1 to 21, layers_1 to layers_7", "▸ lines 85 to 90, layers_29 to layers_30"]
    slope = backprop(LONG, eval(LONG, {"x": 0.5}), z9999=1.0)["x"]
    assert rows < 400 and later < 400 and boxes < 60
    assert told == f"Done. ∂z9999/∂x = {slope:.6g}." and re.match("Line [0-9]+ in reverse, z", middle)


def test_wrong_ways(found):
    """By hand: b = 6x², so that δx is 12x·… = 24 at 1, with z = 2 and a = 6; then f = Σ(X + b)²."""
    diamond, bias, told = found
    assert diamond == [["δx", "24", "12", "12", "84", "right"]]
    assert bias[0] == ["δX", "[[4, 4], [8, 8]]", "right", "right", "[[16, 16], [32, 32]]", "right"]
    assert bias[1] == ["δb", "[12, 12]", "right", "right", "[48, 48]", "[[4, 4], [8, 8]]"]
    assert told[0] == "Line 1 of 3: z = X + b = [[1, 2], [3, 4]] + [1, 0] = [[2, 2], [4, 4]]."
    assert "δq = broadcast(δf, q) = " in told[1] and told[1].endswith("broadcast repeats its first argument until it has the shape of the second.")
    assert "δp = δq·2·p = [[1], [1]]·2·[[0.4076], [2.408]]" in told[2], "a power of 1 is not written"
    assert "oneHot makes a row" in told[3] and len(told[3]) < 450, "numbers that fill a screen are left out"


def test_blocks_and_zoom(found):
    before, larger, blocks, told, first = found
    assert larger == pytest.approx(1.25 * before, rel=0.01) and blocks == 0 and told.startswith(f"Line {first + 1} of 10000")


def test_what_the_page_does_not_compute(found):
    values = np.linalg.eigvalsh(np.array([[2.0, 1.0], [1.0, 3.0]]))
    told, w, delta, notes = found
    assert told.startswith("Done. ∂y/∂A") and w == f"[{values[0]:.4g}, {values[1]:.4g}] (Python)"
    assert "this page does not compute eigvalsh, and Python did not for these inputs" in notes


def test_the_reason_of_a_number_is_there_until_an_input_changes(found):
    before, after = found
    assert before.startswith("dn_dx is NaN at [0]: line 2, n = sqrt(s), has an infinite slope") and before.count("the adjoint of") == 2 and after == ""


def test_pages_in_a_notebook(found):
    assert found == ["Done. ∂h/∂y = 459, ∂h/∂x = 155."] * 3


def test_the_first_cell_of_a_notebook_has_the_program_and_the_others_their_list_alone(monkeypatch):
    first, *others = map(len, cells_of_a_notebook("first", "second", "third"))
    assert 50_000 < first < 100_000 and max(others) < 5_000
    monkeypatch.setattr("xman.explorer.page.cell_that_runs", lambda: None)
    page = explore(H, guided=False)
    assert len(page._repr_html_()) > 50_000, "where cells are not told apart each has all"
    monkeypatch.setattr("xman.explorer.page.FIRST_CELLS", {})
    monkeypatch.setattr("xman.explorer.page.cell_that_runs", lambda: "again")
    assert len(page._repr_html_()) == len(page._repr_html_()) > 50_000, "a cell that is run again has it still"


def test_a_cell_is_known_by_what_its_front_end_says(monkeypatch):
    from types import SimpleNamespace

    from xman.explorer.page import cell_that_runs
    shell = SimpleNamespace(get_parent=lambda: {"metadata": {"cellId": "ab12"}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert cell_that_runs() == "ab12"
    monkeypatch.setitem(sys.modules, "google.colab", None)
    assert cell_that_runs() is None, "Colab has each cell in a page of its own"


def test_names_that_are_html(found):
    assert found == [NAME, True]


# what Python writes, without a browser


class Triangle(XMan):
    h = f.param(default=3.0)
    w = f.param(default=6.0)
    area = f.half(h * w)


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="own">(.*?)</script>', str(page), re.S)[1])


def test_a_function_a_list_and_a_model_have_a_page():
    def area(h, w):
        return 0.5 * (h * w)
    pages = explore(area, 3.0, 6.0), explore([("z1", "mul", ("h", "w")), ("area", "half", ("z1",))], values={"h": 3.0, "w": 6.0}), Triangle().explore()
    for page in pages:
        (known,) = data_of(page)["documents"]
        assert known["of"] == "area" and known["inputs"]["h"]["value"] == packed(3.0)
    assert known["inputs"]["w"]["role"] == "parameter" and known["title"] == "Triangle"


def test_the_page_names_nothing_on_a_network_and_is_at_most_300_kb_before_its_list():
    text = str(explore(H))
    assert len(text.encode()) <= 300_000
    assert not re.findall(r"(?:src|href)=[\"']?https?:|@import|fetch\(|XMLHttpRequest", text)


def test_the_rules_need_nothing_that_the_page_does_not_compute_but_that_of_cofactors():
    used = {(rule["op"], op) for rule in rules.rules_for([]) for part in (*rule["adjoint"], *rule["tangent"]) if part
            for _, op, _ in part["lines"] if op not in rules.ON_THE_PAGE}
    assert used == {("cofactor", "cofactor_slope")}
    manual = (Path(__file__).parents[2] / "docs" / "explorer.md").read_text("utf-8")
    assert f"The page computes {len(rules.ON_THE_PAGE)} operators by itself" in manual


def test_a_name_cannot_end_the_script_or_the_title():
    text = str(explore(H, title=NAME))
    assert NAME not in text and text.count("</script>") == len(PAGE_FILES) + 1  # two of data, and each script


@pytest.mark.parametrize("made, said", [
    (lambda: explore(3), "explore takes a function, a model or a list, not a int"),
    (lambda: explore(np.sin), "a function is explored at numbers or arrays: write explore(fn, 3.0)"),
    (lambda: explore([]), "the list is empty: there is nothing to differentiate"),
    (lambda: explore(H, of="k"), "of names 'k', which the list does not have"),
    (lambda: explore(H, 3.0), "and a list's inputs go by name"),
    (lambda: explore(H, values={"q": 1.0}), "values names 'q', which the list does not have"),
    (lambda: Triangle().explore(of="volume"), "the model has no register 'volume'; say which with of=: area"),
    (lambda: explore(H, values={"x": np.zeros(3_000_000)}), "the inputs have 3,000,000 entries, and a page takes 2,000,000"),
    (lambda: explore(H).save("page.txt"), "the name of a page ends in .html, not page.txt"),
    (lambda: explore(H).save("no/such/folder/page.html"), "no/such/folder/page.html cannot be written: No such file or directory")])
def test_what_cannot_be_explored_is_said_in_a_sentence(made, said):
    with pytest.raises(XManError, match=re.escape(said)):
        made()


def test_the_command_line_writes_the_page_of_a_file_and_of_a_model(tmp_path, capsys):
    pytest.importorskip("click")
    pytest.importorskip("jinja2")
    from xman.cli import main
    (tmp_path / "h.wl").write_text(str(H))
    (tmp_path / "triangle.py").write_text("from xman import XMan, f\n\nclass Triangle(XMan):\n    h = f.param()\n    w = f.param()\n    area = f.half(h * w)\n")
    for source, values, name in [("h.wl", ["x=3", "y=5"], "x"), ("triangle.py", ["h=3", "w=6"], "h")]:
        with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as end:
            patch.setattr(sys, "argv", ["xman", "show", str(tmp_path / source), *values, "--html", str(tmp_path / "out.html")])
            main()
        assert (end.value.code, capsys.readouterr().out) == (0, f"{tmp_path / 'out.html'}: open it in a browser\n")
        (known,) = data_of((tmp_path / "out.html").read_text("utf-8"))["documents"]
        assert known["inputs"][name]["value"] == packed(3.0)


def test_notebooks_show_lists_and_models_with_the_explorer_behind_a_click():
    pytest.importorskip("jinja2")
    for shown in (H._repr_html_(), Triangle()._repr_html_()):
        assert shown.count("<table") >= 1 and "<details><summary>Explore</summary><iframe" in shown
    assert "<b><span>z4</span></b>" in H._repr_html_() and "param" in Triangle()._repr_html_()


def test_without_jinja2_a_page_names_the_extra_and_a_notebook_shows_text(monkeypatch):
    from xman.explorer.page import environment
    environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(XManError, match=re.escape("a page of HTML needs the package jinja2: pip install 'xman[pages]'")):
        explore(H)
    assert H._repr_html_() is None


def test_what_the_package_holds_is_what_the_page_is_made_of():
    files = {path.name for path in rules.SCRIPTS.iterdir() if path.suffix in (".js", ".css")}
    assert files == {*PAGE_FILES}


def shown_by(monkeypatch, *words):
    from xman.cli import main
    monkeypatch.setattr(sys, "argv", ["xman", "show", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0


def test_mermaid_has_a_node_for_each_register_and_an_arrow_for_each_argument(tmp_path, monkeypatch, capsys):
    (tmp_path / "h.wl").write_text(str(H))
    shown_by(monkeypatch, tmp_path / "h.wl", "--mermaid")
    lines = capsys.readouterr().out.split("\n")
    assert lines[0] == "flowchart BT" and sum("-->" in line for line in lines) == 9 and sum("[" in line for line in lines) == 7


@pytest.mark.parametrize("no_color", ["", "1"])
def test_a_terminal_has_columns_and_colours_unless_it_wants_none(tmp_path, monkeypatch, capsys, no_color):
    (tmp_path / "t.wl").write_text("z1 = mul(h, 2.0)\narea = half(z1)\n")
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    shown_by(monkeypatch, tmp_path / "t.wl", "h=3")
    out = capsys.readouterr().out
    assert ("\x1b[" in out) == (no_color == "")
    assert re.sub(r"\x1b\[\d*m", "", out) == f"{'z1   = mul(h, 2.0)':<50} # () float64\n{'area = half(z1)':<50} # () float64\n"
    monkeypatch.setenv("COLUMNS", "20")
    shown_by(monkeypatch, tmp_path / "t.wl", "h=3")
    assert max(map(len, re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out).split("\n"))) == 20
