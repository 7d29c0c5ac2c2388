"""A notebook, run as its reader would: what its cells show."""

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install -e '.[browser]'")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

CELLS = {  # each with what stands in its HTML, and in its text
    """import numpy as np
from xman import Hessian, Jacobian, WengertList, XMan, check, compile, cost, explain, f, picture
from xman.models import LogisticRegression
from xman.train import fit
steps = WengertList.from_text("z1 = mul(h, w)\\narea = half(z1)")
at = {"h": 3.0, "w": 6.0}
steps""": ("<b><span>area</span></b></td>", "z1 = mul(h, w)\narea = half(z1)"),
    """class Triangle(XMan):
    h = f.param(default=3.0)
    w = f.param(default=6.0)
    area = f.half(h * w)
Triangle().setup()""": (">h</td>", "Triangle"),
    "from xman import listing\nlisting(steps, at)": ('<b><span title="z1: () float64">z1</span></b>', "area = half(z1)       "),
    "picture(steps)": ("<svg", "<picture of 4 nodes"),
    "Triangle().explore(h=5.0)": ("<iframe", "<page of the explorer"),
    "check(steps, at)": ("<p>backprop and the difference quotients agree</p>", "h            1 of 1 elements agree"),
    "cost(steps, values=at, measured=False)": ("with adjoints</td>", "with adjoints      4"),
    "explain(steps, 'area', 'h', at)": ('title="z1: shape ()"', "z1        h·w"),
    "Hessian(steps, 'area', ['h', 'w'])": ("Its list, of", "<Hessian of area by h, w: call it with values>"),
    "Hessian(steps, 'area', ['h', 'w']).picture(at)": ("<title>[0, 1] 0.5</title>", "the Hessian of area: 2×2, 0 to 0.5"),
    "Jacobian(steps, 'area', ['h', 'w']).picture(at)": ("<title>[0, 0] 3</title>", "the Jacobian of area: 1×2, 1.5 to 3"),
    "run = compile(steps, ['area'], engine='numpy')\nrun": ("once first", "<program of 2 lines for area, engine numpy>"),
    "run(at)\nrun": ("Its source", "<program of 2 lines for area, engine numpy>"),
    "run.plan": ("starts at", "engine numpy: "),
    "fit(LogisticRegression(2, 2, seed=1), (np.eye(2), np.eye(2)), epochs=20, progress=False)":
        ("<polyline", "<result of 20 epochs, best 20: loss "),
    "print(steps)": ("", "")}


def test_a_notebook_shows_each_thing_as_a_picture_or_a_table_and_in_short_as_text():
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    *shown, printed = [cell.outputs[-1] for cell in book.cells]
    assert printed["text"] == "z1   = mul(h, w)\narea = half(z1)\n"
    for output, (part, text) in zip(shown, CELLS.values(), strict=False):
        data = output["data"]
        assert part in data.get("text/html", "") + data.get("image/svg+xml", ""), (part, data)
        assert text in data["text/plain"] and len(data["text/plain"]) < 1000, data["text/plain"]
