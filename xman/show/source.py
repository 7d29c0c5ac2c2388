"""A list, its tangent or its adjoint as a Python function, such as a person would write."""
from __future__ import annotations

import ast
import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ops.loops import functions_in

from ..errors import XManError
from ..formulas.expressions import expression
from ..notation import apart_from_operators, renamings
from ..passes import EXACT, Rewrite
from ..passes.differentiate import adjoints, ending, tangents
from ..passes.simplify import simplified
from ..passes.writer import Origins
from ..validity import refuse_name
from ..wengert import Steps, WengertList, checked_list, known_registers, registers

LINE_WIDTH = 100


def source(steps: Steps, of: str | None = None, wrt: Collection[str] | None = None,
           likes: Mapping[str, Any] | None = None,
           rewrites: Iterable[Rewrite] = EXACT, name: str | None = None) -> str:
    """The text of a Python file with one function of the list's inputs.

    source(steps): a function that returns the outputs. source(steps, wrt=["x"]): it also takes x_dot and
    returns the tangents; each statement is followed by its derivative (Reps, Automatic Differentiation and
    Backpropagation, §2). source(steps, of="y", wrt=["x"]): it returns y and its gradient; each adjoint is
    under a comment with the line that it belongs to. likes: an example of each input, which makes the
    function shorter, but right for those shapes alone. rewrites: as for `simplify`. name: of the function.
    Registers keep their names; a temporary that is used once is written where it is used. The function
    returns one value, or a tuple. Raises XManError as `gradient` and `tangent` do, and for an empty list.
    """
    steps = checked_list(steps)
    of = of if of is None else known_registers(steps, of, "of", one=True)[0]
    wrt = wrt if wrt is None else known_registers(steps, wrt, "wrt")
    steps, renamed = apart_from_operators(steps)
    if renamed:
        wrt = wrt and [renamed.get(x, x) for x in wrt]
        likes = likes and {renamed.get(x, x): like for x, like in likes.items()}
        head = [f"# {sentence}\n" for sentence in renamings(renamed)]
        return "".join([*head, source(steps, renamed.get(of, of), wrt, likes, rewrites, name)])
    if not steps:
        raise XManError("the list is empty: there is nothing to write a function of")
    if of and not wrt:
        raise XManError(f"the gradient of {of!r} is with respect to what? name it, as in "
                        f"wrt={list(steps.inputs)[:1]}")
    outputs = [of] if of else list(steps.outputs)
    results = ", ".join(outputs)
    if not wrt:
        pairs, kind, summary = [(line, None) for line in steps], "value", f"{results}."
    elif of:
        pairs, kind = adjoints(steps, of, wrt), "gradient"
        outputs += [f"d{of}_d{x}" for x in wrt]
        summary = f"{results} and its gradient: d{of}_d{wrt[0]} is ∂{of}/∂{wrt[0]}, and so on (reverse mode)."
    else:
        dot = ending(steps)
        pairs, kind = tangents(steps, wrt), "tangent"
        pushed = {line[0] for line, _ in pairs}
        outputs += [y + dot for y in outputs if y + dot in pushed]
        seeds = ", ".join(x + dot for x in wrt)
        summary = f"{results}, with tangents from {seeds}: x{dot} belongs to x (forward mode)."
    origins = {line[0]: origin for line, origin in pairs}
    if likes and kind == "tangent":
        likes = {**{x + dot: likes[x] for x in wrt if x in likes}, **likes}
    short = simplified(WengertList(line for line, _ in pairs), outputs, likes, rewrites)
    lines = [(line, origin and origins[origin[0]]) for line, origin in short]
    read = WengertList(line for line, _ in lines).inputs
    name = name or f"{kind}_of_{outputs[0]}"
    refuse_name(name)
    inputs = [x for x in dict.fromkeys((*steps.inputs, *read)) if x in read or x in outputs]
    functions = functions_in(line for line, _ in lines)
    return module(name, inputs, summary, body(lines, outputs, kind, name), outputs, functions)


def module(name: str, inputs: list[str], summary: str, statements: list[str], outputs: list[str],
           functions: Iterable[tuple]) -> str:
    """The text of the file: imports, the functions that the list applies, and the function."""
    defined = [procedure_text(function) for function in functions]
    text = "\n".join([*statements, *defined])
    defined = [loop for pattern, loop in LOOP_FUNCTIONS.items() if re.search(pattern, text)] + defined
    text = "\n".join([text, *defined])
    imports = [line for pattern, line in IMPORTS if re.search(pattern, text)]
    docstring = textwrap.wrap(f'"""{summary}"""', LINE_WIDTH - 4, break_long_words=False)
    before = [*imports, *["", ""] * bool(imports), *[f"{each}\n\n" for each in defined]]
    before += in_brackets(f"def {name}(", inputs, "):")
    inside = ["    " + line if line else "" for line in [*docstring, *statements]]
    return "\n".join([*before, *inside, *in_brackets("    return ", outputs), ""])


# how the text names the libraries of its operators; with an underscore if a register has the name
IMPORTS = [(r"\bnp\.", "import numpy as np"), (r"\bnp_\.", "import numpy as np_"),
           (r"\bf\.", "from xman import f"), (r"\bf_\.", "from xman import f as f_")]


LOOP_FUNCTIONS = {r"\bscan\(": '''\
def scan(step, carries, slices, args, reverse=False):
    """The last carries, and what all steps gave, stacked."""
    carry, xs, rest = args[:carries], args[carries:carries + slices], args[carries + slices:]
    rows, order = [], slice(None, None, -1 if reverse else 1)
    for x in [*zip(*[range(x) if np.ndim(x) == 0 else x for x in xs])][order]:
        results = step(*carry, *x, *rest)
        carry = results[:carries]
        rows.append(results[carries:])
    one = [np.zeros_like(x, shape=np.shape(x)[1:]) for x in xs]  # for the shapes of no steps
    stacks = zip(*rows[order] or [step(*carry, *one, *rest)[carries:]])
    return *carry, *[np.stack(y)[:len(rows)] for y in stacks]''', r"\bwhile_loop\(": '''\
def while_loop(test, step, carries, args, most=None):
    """The last carries, and the number of steps."""
    carry, rest, n = args[:carries], args[carries:], 0
    while test(*carry, *rest)[0]:
        carry, n = step(*carry, *rest), n + 1
    return *carry, n'''}


def procedure_text(function: tuple) -> str:
    """The text of a function that a list applies: it takes its arguments one by one, and returns a tuple."""
    _, name, parameters, lines, results = function
    statements = body([(line, None) for line in lines], results, "value", name)
    returned = in_brackets("    return (", [f"{r}," if len(results) == 1 else r for r in results], ")")
    inside = ["    " + line for line in statements]
    return "\n".join([*in_brackets(f"def {name}(", [*parameters], "):"), *inside, *returned])


def in_brackets(before: str, names: list[str], after: str = "") -> list[str]:
    """before, the names, after: on one line if they fit, or else in brackets on several."""
    line = before + ", ".join(names) + after
    if len(line) <= LINE_WIDTH:
        return [line]
    opening, closing = ("", "") if before.endswith("(") else ("(", ")")
    indent = " " * len(before + opening)
    text = ", ".join(names) + closing + after
    wrapped = textwrap.wrap(text, LINE_WIDTH - len(indent), break_long_words=False)
    return [before + opening + wrapped[0], *(indent + line for line in wrapped[1:])]


def body(lines: Origins, outputs: Collection[str], kind: str, name: str) -> list[str]:
    """The statements of the lines; a temporary that is used once is written where it is used.

    z1 = mul(h, w), area = half(z1) is `area = 0.5 * (h * w)`. Of a gradient, temporaries stay with the line
    whose adjoints they compute, under its comment; a statement that would be too long is left in its lines.
    """
    names = {name, *(a for (dst, _, args), _ in lines for a in (dst, *args) if isinstance(a, str))}
    uses = Counter(a for (_, _, args), _ in lines for a in registers(args))
    user = {a: origin for (_, _, args), origin in lines for a in registers(args)}
    inner: dict[str, ast.expr] = {}  # temporaries that are not yet used
    statements: list[str] = []
    under = None  # the line whose adjoints stand under the comment
    for (dst, op, args), origin in lines:
        within = {a: inner.pop(a) for a in registers(args) if a in inner}
        tree = call_in_source(op, [within.get(a, a) if isinstance(a, str) else a for a in args], names)
        if within and len(f"{dst} = {ast.unparse(tree)}") > LINE_WIDTH - 4:
            ready = [*within.items(), (dst, call_in_source(op, args, names))]
        else:
            ready = [(dst, tree)]
        temporary = re.fullmatch(r"z\d+", dst) and dst not in outputs
        if temporary and uses[dst] == 1 and user[dst] == origin and (origin or kind == "value"):
            inner[dst] = ready.pop()[1]
        if ready and kind == "gradient" and origin != under:
            statements += (["", f"# {origin[0]} = {ast.unparse(call_in_source(*origin[1:], names))}"]
                           if origin else [""])
            under = origin
        statements += [f"{a} = {ast.unparse(e)}" for a, e in ready]
    return statements


def call_in_source(op: str, args: Iterable[Any], names: Collection[str]) -> ast.expr:
    """The expression op(*args); np and f are called np_ and f_ in it if registers have these names."""
    nodes = [ast.Name(a) if isinstance(a, str) else a for a in args]
    for node in nodes:
        if isinstance(node, ast.Name):
            node.register = True
    tree = expression(op, nodes)
    for node in ast.walk(tree):
        if getattr(node, "id", "") in {"np", "f"}.intersection(names) and not hasattr(node, "register"):
            node.id += "_"
    return tree
