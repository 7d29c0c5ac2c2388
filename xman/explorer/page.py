"""The page of the explorer: what Python puts into it, and how it is written."""
from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from html import escape
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

import ops
from ops.facts import arity
from ops.loops.bodies import Parts

from ..errors import XManError, extra
from ..files.whole import write_whole
from ..functions.trace import list_at
from ..functions.tracer import CallTape
from ..interpreters import backprop, eval, forward
from ..interpreters.context import varies
from ..manager import XMan
from ..notation import json_lines
from ..reasons import why
from ..register import Register
from ..show.explain import output
from ..validity import RESERVED
from ..wengert import Steps, WengertList, checked_list, known_registers
from .gradients import of_gradient
from .guide import guide
from .rules import COMPUTED, SCRIPTS, WRITTEN, all_on_the_page, rules_for, unfolded

CAPACITY = 2_000_000  # the most entries that all arrays of a page may have together
# each script after those whose constants it takes when it is read
NAMES = "layout arrays operators loops text run words wrong folding pictures list edits explorer".split()
PAGE_FILES = ["explorer.css", *(f"{name}.js" for name in NAMES)]
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"

# A page that writes itself out of its fifth. In a notebook the first cell that shows one has the program.
# The frames of other cells, which cannot read each other, ask for it: who was answered answers the next.
IN_A_CELL = """<!doctype html><meta charset="utf-8"><p>The program of this page is in the
first cell of the notebook that showed one. If the page does not appear, restart the kernel and run all
cells.</p><script>{
const name = "%s", own = "%s", packed = "%s", text = x => new Response(new Blob([Uint8Array.from(atob(x),
  c => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
let waiting = true;
const show = async program => {
  waiting = false;
  const [page, content] = await Promise.all([program, own].map(text));
  document.open(); document.write(page.replace('"own">null', () => '"own">' + content)); document.close();
  addEventListener("message", e => e.data === name && e.source.postMessage({[name]: program}, "*"));
};
const ask = () => {
  for (let i = 0; waiting && i < parent.length; i++) parent[i].postMessage(name, "*");
  if (waiting) setTimeout(ask, 300);
};
addEventListener("message", e => waiting && e.data?.[name] && show(e.data[name]));
packed ? show(packed) : ask();
}</script>"""
FIRST_CELLS: dict[str, str] = {}  # the cell that has a program, by the program's digest


class Page:
    """A page of the explorer with a title: save(path) writes it, str(page) is its text, notebooks show it."""

    def __init__(self, title: str, own: Mapping[str, Any]):
        self.title, self.own, self._text = title, own, page_text(title, own)

    def __str__(self) -> str: return self._text

    def save(self, path: str | Path) -> Path:
        """Write the page to path, which ends in .html, and give the path. XManError where it cannot be."""
        if Path(path).suffix not in (".html", ".htm"):
            raise XManError(f"the name of a page ends in .html, not {path}")
        write_whole(path, self._text.encode())
        return Path(path)

    def _repr_html_(self) -> str:
        look = 'style="width:100%;height:46em;border:1px solid #8888"'
        allowed = 'sandbox="allow-scripts allow-downloads"'
        shared = page_text("explorer", None)
        digest, cell = hashlib.sha256(shared.encode()).hexdigest()[:16], cell_that_runs()
        first = cell is None or FIRST_CELLS.setdefault(digest, cell) == cell
        own = environment().from_string("{{ own|tojson }}").render(own=self.own)
        text = IN_A_CELL % (digest, gzipped(own), gzipped(shared) if first else "")
        return f'<iframe title="{escape(self.title)}" {look} {allowed} srcdoc="{escape(text)}"></iframe>'

    def __repr__(self) -> str:
        return f"<page of the explorer, {self.title}, {len(self._text):,} characters: save(path)>"


def gzipped(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def cell_that_runs() -> str | None:
    """The notebook's cell that runs, if its front end says so and shows all cells in one page; else None."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if "google.colab" in sys.modules or not hasattr(shell, "get_parent"):
        return None
    return shell.get_parent().get("metadata", {}).get("cellId")


def explore(expression: Callable | XMan | Steps, *examples: Any, of: Any = None,
            values: Mapping[str, Any] | None = None, title: str | None = None, guided: bool = True) -> Page:
    """A page on which a list, its values and its derivatives are stepped through, edited and looked into.

        xman.explore(lambda x, y: (x + 4 * y) * ((x + y) * y), 3.0, 5.0).save("h.html")
        xman.explore(steps, values={"x1": 3.0, "x2": 7.0})
        model.explore(X=rows, y=labels)

    expression: a function of numbers and arrays, a model, or a list. examples: the arguments at which a
    function is traced. of: the register to differentiate (None: the last line's, or a model's loss). values:
    inputs by name; the page asks for the others. title: of the page (None: the name of `expression`). guided:
    whether it has the guided examples too. The page is one file and loads nothing; operators that it cannot
    compute show the values that Python computed. Raises XManError as `trace`, `eval`, `backprop`, and above
    2,000,000 entries.
    """
    roles: dict[str, str] = {}
    inputs = dict(values or {})
    if examples and isinstance(expression, (XMan, list, tuple)):
        raise XManError("the values of a model's and a list's inputs go by name, as in model.explore(X=rows) "
                        "and explore(steps, values={'x': 3.0})")
    match expression:
        case XMan() as model:
            steps, inputs, roles = of_model(model, of, inputs)
            title, of = title or type(model).__name__, None
        case list() | tuple() as steps:
            steps = checked_list(steps, ops.G)
        case function if callable(function):
            if not examples:
                raise XManError("a function is explored at numbers or arrays: write explore(fn, 3.0)")
            steps, at_examples = list_at(function, examples, {}, CallTape(exact=False))
            steps, name, first = of_gradient(function, examples, steps)
            inputs = {**at_examples, **inputs}
            title, of = title or name or "a function", of or first
        case _:
            raise XManError(f"explore takes a function, a model or a list, not a {type(expression).__name__}")
    of = output(steps, of)
    return page_of([document(steps, of, inputs, roles, title or of)], guided)


def of_model(model: XMan, of: Any, values: Mapping[str, Any]) -> tuple[WengertList, dict, dict]:
    """(the list of a model's register, the values of its inputs, the role of each input)."""
    registers = dict(model.setup().namedRegisterItems())
    of = of[0] if isinstance(of, (list, tuple)) and len(of) == 1 else of
    register = of if isinstance(of, Register) else registers.get("loss" if of is None else str(of))
    if register is None and of is None:
        read = {id(a) for r in registers.values() for a in r.inputsTo()}
        outputs = [r for r in registers.values() if r.definedAs and id(r) not in read]
        register = outputs[-1] if outputs else None
    if register is None:
        raise XManError(f"the model has no register {of or 'loss'!r}; say which with of=: "
                        f"{', '.join(name for name, r in registers.items() if r.definedAs)}")
    steps = checked_list(model.operationSequence(register), ops.G)
    return steps, model.inputDict(**values), {x: "parameter" for x in steps.inputs if model.isParam(x)}


def document(steps: WengertList, of: str, values: Mapping[str, Any], roles: Mapping[str, str], title: str,
             **texts: Any) -> dict[str, Any]:
    """All that the page has to know of a list: lines, inputs, and values that it cannot compute itself."""
    for name in values:
        known_registers(steps, [name], "values")
    inputs = {x: values[x] for x in steps.inputs if values.get(x) is not None}
    for name, x in inputs.items():
        arrays = x if isinstance(x, ops.loops.Bundle) else (x,)
        if any(np.asarray(a).dtype.kind not in "biuf" for a in arrays) or hasattr(x, "tocsr"):
            raise XManError(f"{name} is a {type(x).__name__}, and the page shows arrays of numbers")
    if (entries := sum(np.size(x) for x in inputs.values())) > CAPACITY:
        raise XManError(f"the inputs have {entries:,} entries, and a page takes {CAPACITY:,}; give "
                        "fewer rows")
    # lines that the page has no operator for: their values come with it, and with them all derivatives,
    # since the page cannot step through a rule of theirs
    foreign = [line for line in steps if not {op for _, op, _ in unfolded([line])} <= COMPUTED]
    computed: dict[str, Any] = {}
    if not all_on_the_page(steps) and len(inputs) == len(steps.inputs):
        values = eval(steps, inputs)
        computed = {"values": packed_all({dst: values[dst] for dst, _, _ in foreign})}
        if varies(values[of]):
            computed["adjoints"] = packed_all(backprop(steps, values, **{of: 1.0}))
        if seeds := {x: np.ones_like(values[x]) for x in steps.inputs if varies(values[x])}:
            computed["tangents"] = {x: packed_all(forward(steps, values, {x: d})) for x, d in seeds.items()}
    reason = why(steps, inputs) if len(inputs) == len(steps.inputs) else None
    if reason and reason.sign in ("NaN", "infinite"):  # until something is edited
        texts["reason"] = [str(reason), *reason.chain]
    fields = {x: {"role": roles.get(x, "input"), "value": packed(inputs[x]) if x in inputs else None}
              for x in steps.inputs}
    run = {"lines": json_lines(steps), "of": of, "computed": computed, "inputs": fields}
    return {"title": title, **run, **texts}


def packed_all(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: packed(x) for name, x in values.items()}


def packed(x: Any) -> dict[str, Any]:
    """An array as its shape, its kind, and its float64 entries in base 64; a bundle as its parts."""
    if isinstance(x, ops.loops.Bundle):
        return {"parts": [*map(packed, x)]}
    if isinstance(x, Parts):
        return {"parts": [packed(x[i]) if i in x else None for i in range(1 + max(x, default=-1))]}
    x = np.asarray(x, float if type(x) is int else None)  # as eval takes it
    kind = {"b": "b", "i": "i", "u": "i"}.get(x.dtype.kind, "f")
    entries = base64.b64encode(np.ascontiguousarray(x, "<f8").tobytes())
    return {"s": list(x.shape), "k": kind, "b": entries.decode()}


def page_of(documents: list[dict[str, Any]], guided: bool) -> Page:
    """The page of these lists, and of the guided examples behind them."""
    examples = guide() if guided else ()
    examples = [document(*example[1:5], example.title, **example.texts) for example in examples]
    lists = [WengertList.from_json(json.dumps(doc["lines"])) for doc in (*documents, *examples)]
    shared = rules_for(())
    rules = [rule for rule in rules_for(chain(*lists)) if rule not in shared]
    return Page(documents[0]["title"], {"documents": documents, "guide": examples, "rules": rules})


def page_text(title: str, own: Mapping[str, Any] | None) -> str:
    """The text of a page; with own=None the program alone, which pages of a notebook share."""
    shared = {"rules": rules_for(()), "values": WRITTEN, "forbidden": RESERVED}
    shared["operators"] = {op: [*map(int, arity(value))] for op, value in ops.G.items()}  # least, greatest
    style, *scripts = (SCRIPTS.joinpath(name).read_text("utf-8") for name in PAGE_FILES)
    return rendered("page.html", title=title, policy=POLICY, style=style, own=own, shared=shared,
                    scripts=scripts)


def rendered(template: str, **parts: Any) -> str:
    """The HTML of a template with these parts. XManError without Jinja2."""
    return environment().get_template(template).render(parts)


@functools.cache
def environment() -> Any:
    jinja2 = extra("jinja2", "pages", "a page of HTML")
    folder = SCRIPTS.with_name("templates")
    templates = jinja2.Environment(autoescape=True, loader=jinja2.FileSystemLoader(folder))
    templates.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return templates
