"""The site that `make docs` builds from these pages, with Sphinx, MyST and the theme Furo. A warning is an error there."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "scripts"), str(HERE.parent)]

import figures  # noqa: E402
import imports  # noqa: E402
import operators  # noqa: E402

from xman import explore  # noqa: E402

project, author = "xman", "The xman authors"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme, html_title = "furo", "xman"
html_extra_path = ["five-documents.html"]
smartquotes = html_copy_source = html_show_sphinx = html_show_copyright = False
exclude_patterns = ["build", "generated"]
myst_heading_anchors = 3
autodoc_typehints = "none"  # the docstring says more: shapes and units
autodoc_member_order, autodoc_preserve_defaults = "bysource", True


def plain(app, what, name, obj, options, lines):
    """Docstrings are plain text: backticks hold code, what is indented is code, and no other character means anything."""
    mark = lambda m: f"``{m[1]}``" if m[1] else f"\\{m[2]}"
    text = re.sub(r"(?m)^(?! ).*", lambda line: re.sub(r"`([^`]+)`|([*|_\\`])", mark, line[0]), "\n".join([*lines, ""]))
    lines[:] = re.sub(r"(?m)^ .*\n(?:\n* .*\n)*", r"\n::\n\n\g<0>\n", text).split("\n")


def drawn(app):
    """What the pages show and nobody wrote: tables and figures. A build without pages, for its warnings, has empty figures."""
    folder = HERE / "generated"
    folder.mkdir(exist_ok=True)
    if app.builder.name == "dummy":
        for name in figures.NAMES:
            (folder / name).touch()
    else:
        figures.write(folder)
    imports.write(folder)
    operators.write(folder)


def embedded(app, error):
    """The page that the manual embeds."""
    if error is None and app.builder.name == "html":
        title = "h(x, y) = (x + 4y)·((x + y)·y)"
        explore(lambda x, y: (x + 4 * y) * ((x + y) * y), 3.0, 5.0, title=title).save(Path(app.outdir) / "stepped-through.html")


def setup(app):
    app.connect("build-finished", embedded)
    app.connect("builder-inited", drawn)
    app.connect("autodoc-process-docstring", plain)
