"""A list as the manual shows it: its graph with its numbers, and the explorer behind a click.

In a page it is the directive `explorer`: options `of`, `open` and `still` (no explorer), then a line `name = value` for each
input, a line with nothing, and the lines of the list.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from jinja2 import Environment
from markupsafe import escape

from xman import WengertList, XManError, explain, explore, picture

PAGES = Path(__file__).parents[1] / "generated" / "pages"  # what the site takes over as it is
DRAWN, WIDE = 24, 1300  # lines of a list that is drawn, pixels of one with numbers
FIGURE = Environment(autoescape=True).from_string("""<figure class="stepped">{{ svg | safe }}
{%- if trouble %}<figcaption>{{ trouble }}</figcaption>{% endif %}
{%- if src %}<details{{ " open" if unfolded }}><summary>Step through {{ title }}</summary>
<iframe loading="lazy" title="The explorer, at {{ title }}" src="{{ src }}"></iframe></details>{% endif %}</figure>""")


def drawn(steps: WengertList, of: str, values: Mapping[str, Any], title: str) -> str:
    """The graph as SVG: with values and adjoints where all inputs have values and that is not too wide."""
    if len(steps) > DRAWN:
        return ""
    svg = picture(explain(steps, of, None, values) if {*steps.inputs} <= values.keys() else steps).svg()
    if float(re.search(r'width="(\d+)"', svg)[1]) > WIDE:
        svg = picture(steps).svg()
    return svg.replace('role="img"', f'role="img" aria-label="The graph of {escape(title)}"', 1)


def figure_of(steps: WengertList, of: str, values: Mapping[str, Any], title: str, docname: str, unfolded: bool = False) -> str:
    """The HTML of a list for the page docname: its graph, and its explorer or why it has none."""
    svg = drawn(steps, of, values, title)
    try:
        page = str(explore(steps, of=of, values=values, title=title, guided=unfolded))
    except XManError as error:
        return FIGURE.render(svg=svg, trouble=error)
    name = f"{hashlib.sha256(page.encode()).hexdigest()[:12]}.html"
    (PAGES / "explorers").mkdir(parents=True, exist_ok=True)
    (PAGES / "explorers" / name).write_text(page, "utf-8")
    src = f"{'../' * docname.count('/')}explorers/{name}"
    return FIGURE.render(svg=svg, title=title, src=src, unfolded=unfolded)


class Explorer(Directive):
    required_arguments, final_argument_whitespace, has_content = 1, True, True
    option_spec = {"of": directives.unchanged, "open": directives.flag, "still": directives.flag}

    def run(self) -> list[nodes.Node]:
        inputs, _, lines = "\n".join(self.content).rpartition("\n\n")
        values = {name: json.loads(text) for name, text in re.findall(r"(?m)^(\w+) = (.*)$", inputs)}
        steps = WengertList.from_text(lines)
        docname = self.state.document.settings.env.docname
        of, title = self.options.get("of", steps[-1][0]), self.arguments[0]
        html = (FIGURE.render(svg=drawn(steps, of, values, title)) if "still" in self.options else
                figure_of(steps, of, values, title, docname, "open" in self.options))
        return [nodes.raw("", html, format="html")]
