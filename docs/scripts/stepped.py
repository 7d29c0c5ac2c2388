"""A list as the manual shows it: its graph with its numbers, and the explorer behind a click.

In a page it is the directive `explorer`: options `of` and `open`, then a line `name = value` for each input, a line with
nothing, and the lines of the list.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive, directives

from xman import WengertList, XManError, explain, explore, picture

PAGES = Path(__file__).parents[1] / "generated" / "pages"  # what the site takes over as it is
DRAWN = 24  # lines of a list that is drawn


def figure_of(steps: Any, of: str, values: Mapping[str, Any], title: str, docname: str, unfolded: bool = False) -> str:
    """The HTML of a list for the page docname: values, adjoints and, where some input has no value, operators alone."""
    steps = WengertList(steps)
    known = {x: values[x] for x in steps.inputs if x in values}
    drawn = ""
    if len(steps) <= DRAWN:
        drawn = picture(explain(steps, of, None, known) if len(known) == len(steps.inputs) else steps).svg()
        drawn = drawn.replace('role="img"', f'role="img" aria-label="The graph of {escape(title)}"', 1)
    try:
        page = str(explore(steps, of=of, values=known, title=title, guided=unfolded))
    except XManError as error:
        return f'<figure class="stepped">{drawn}<figcaption>{escape(str(error))}</figcaption></figure>'
    name = f"{hashlib.sha256(page.encode()).hexdigest()[:12]}.html"
    (PAGES / "explorers").mkdir(parents=True, exist_ok=True)
    (PAGES / "explorers" / name).write_text(page, "utf-8")
    frame = f'<iframe loading="lazy" title="The explorer, at {escape(title)}" src="{"../" * docname.count("/")}explorers/{name}"></iframe>'
    return (f'<figure class="stepped">{drawn}<details{" open" * unfolded}><summary>Step through {escape(title)}</summary>{frame}'
            "</details></figure>")


class Explorer(Directive):
    required_arguments, final_argument_whitespace, has_content = 1, True, True
    option_spec = {"of": directives.unchanged, "open": directives.flag}

    def run(self) -> list[nodes.Node]:
        given, _, lines = "\n".join(self.content).rpartition("\n\n")
        values = {name: json.loads(text) for name, text in re.findall(r"(?m)^(\w+) = (.*)$", given)}
        steps = WengertList.from_text(lines)
        docname = self.state.document.settings.env.docname
        html = figure_of(steps, self.options.get("of", steps[-1][0]), values, self.arguments[0], docname, "open" in self.options)
        return [nodes.raw("", html, format="html")]
