"""The site that `make docs` builds from these pages, with Sphinx, MyST and the theme Furo. A warning is an error there."""

import re
import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "scripts"), str(HERE.parent)]

import documents  # noqa: E402
import figures  # noqa: E402
import imports  # noqa: E402
import operators  # noqa: E402
import stepped  # noqa: E402

stepped.PAGES.mkdir(parents=True, exist_ok=True)  # Sphinx asks for it before it builds
project, author = "xman", "The xman authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", *["sphinx_revealjs"] * bool(find_spec("sphinx_revealjs"))]
html_theme, html_title = "furo", "xman"
html_extra_path, html_static_path, html_css_files = ["generated/pages"], ["pictures"], ["stepped.css"]
revealjs_static_path, revealjs_css_files, revealjs_style_theme = html_static_path, html_css_files, "white"
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
    if app.builder.name != "html":
        for name in figures.NAMES:
            (folder / name).touch()
    else:
        figures.write(folder)
    imports.write(folder)
    operators.write(folder)
    documents.write(folder, app.builder.name == "html")


def setup(app):
    app.add_directive("explorer", stepped.Explorer)
    app.connect("builder-inited", drawn)
    app.connect("autodoc-process-docstring", plain)
