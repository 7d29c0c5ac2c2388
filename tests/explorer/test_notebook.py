"""A notebook, run as its reader would: what its cells show."""

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install -e '.[browser]'")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

CELLS = ["""from xman import WengertList, XMan, backprop, check, eval, f, explain, picture
steps = WengertList.from_text("z1 = mul(h, w)\\narea = half(z1)")
steps""",
         """class Triangle(XMan):
    h = f.param(default=3.0)
    w = f.param(default=6.0)
    area = f.half(h * w)
Triangle().setup()""",
         "picture(steps)",
         "Triangle().explore(h=5.0)",
         "print(steps)"]


def test_a_notebook_shows_lists_models_pictures_and_the_explorer():
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    shown = [cell.outputs[-1] for cell in book.cells]
    for output, part in zip(shown, ("<b>area</b> =</td>", ">h</td>", "<svg", "<iframe"), strict=False):
        data = output["data"]
        assert any(part in text for kind, text in data.items() if kind in ("text/html", "image/svg+xml")), part
    assert shown[0]["data"]["text/plain"] == "z1 = mul(h, w)\narea = half(z1)" == shown[4]["text"].strip()
