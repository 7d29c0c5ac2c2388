"""The site that `make docs` builds from these pages: Sphinx, MyST and the theme Furo. Every warning is an error there."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "scripts"), str(HERE.parent)]

import figures  # noqa: E402
import imports  # noqa: E402
import operators  # noqa: E402

project, author = "xman", "The xman authors"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme, html_title = "furo", "xman"
html_extra_path = ["five-documents.html"]
html_copy_source = html_show_sphinx = html_show_copyright = False
html_static_path = ["generated"]  # which is made below
templates_path, exclude_patterns = [], ["build"]
myst_heading_anchors = 3
suppress_warnings = ["myst.strikethrough"]
autodoc_typehints = "none"  # the signature's names, and the docstring, which has shapes and units
autodoc_member_order = "bysource"
add_module_names = False

(HERE / "generated").mkdir(exist_ok=True)
for part in (figures, imports, operators):
    part.write(HERE / "generated")
