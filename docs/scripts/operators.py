"""The table of the operators, read off the tables of `ops`: what each is, and its rules in symbols."""

import ast
import inspect
from pathlib import Path

import numpy as np

import ops
from ops.table import OURS
from xman.cli.commands import arguments
from xman.formulas.expressions import inlined, mathematical
from xman.formulas.slopes import LEGIBLE
from xman.passes import simplify
from xman.passes.writer import ListWriter, Symbol

LONGEST = 110  # characters of a rule that is worth reading in a table
NUMBERS = {"0.6931471805599453": "log 2", "2.302585092994046": "log 10", "1.1283791670955126": "2/√π", "0.7071067811865476": "√½",
           "2.5066282746310002": "√2π", "0.3989422804014327": "1/√2π", "+ -1": "- 1", "linalg.": "", ".mT": "ᵀ", ".T": "ᵀ"}
FAMILIES = {"arithmetic": "Arithmetic and comparisons", "functions": "Functions", "activations": "Activations and losses",
            "reductions": "Reductions", "arrays/running": "Running sums and products",
            "loops/rules": "Loops, branches and calls", "arrays/products": "Products",
            "arrays/fourier": "Complex numbers and Fourier transforms",
            "arrays/rearrangements": "Rearrangements",
            "arrays/indexing": "Indexing", "matrices/algebra": "Matrices", "matrices/decompositions": "Decompositions"}


def rule(op: str, i: int) -> str:
    """What is sent to the i-th argument of op for a delta δ of its result; "" where there is no rule.

    The rule of ops.DG is given symbols, and the list that it writes is one expression. Arguments after the i-th that have a
    default have it; the product of matrices is shown for matrices.
    """
    rules, parameters = ops.DG[op], [a.lstrip("*").partition("=") for a in arguments(ops.G[op])]
    if i >= len(rules) or rules[i] is None:
        return ""
    writer, names = ListWriter(), [f"{name}_" if name in ops.G else name for name, _, _ in parameters]
    delta, out, *symbols = [Symbol(writer, name) for name in ("δ", "out", *names)]
    literals = [default and k != i for k, (_, _, default) in enumerate(parameters)]
    args = [ast.literal_eval(parameters[k][2]) if literals[k] else symbol for k, symbol in enumerate(symbols)]
    try:
        adjoint = rules[i](delta, out, *args)
    except (AttributeError, TypeError, ValueError):  # it looks at a literal of a call, or says that there is no derivative here
        return ""
    if not isinstance(adjoint, Symbol):
        return ""  # the parts of a bundle's
    if adjoint is delta:
        return "δ"
    likes = {"δ": np.ones((2, 4)), "a": np.ones((2, 3)), "b": np.ones((3, 4))} if op == "dot" else None
    steps = simplify([*writer.named(["δ", "out", *names])], [adjoint.name], likes, LEGIBLE)
    text = mathematical(inlined(steps, adjoint.name, 400))
    for number, sign in (*NUMBERS.items(), *((name, name.rstrip("_")) for name in names)):
        text = text.replace(number, sign)
    return text if len(text) <= LONGEST else "see the row"


def meaning(op: str) -> str:
    """The first paragraph of its docstring; that of a ufunc of NumPy's begins with its signature."""
    paragraphs = (inspect.getdoc(ops.G[op]) or "").split("\n\n")
    return " ".join(paragraphs[isinstance(ops.G[op], np.ufunc)].split())


def code(text: str) -> str:
    """Text as code in a cell of a table."""
    return "`" + text.replace("|", "\\|") + "`"


def homes() -> dict[str, str]:
    """The file of ops that has the row of each operator: the first in which its name stands as a string."""
    families: dict[str, str] = {}
    for family in FAMILIES:
        for node in ast.walk(ast.parse(Path(ops.__file__).parent.joinpath(f"{family}.py").read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                families.setdefault(node.value, family)
    return families


def row(op: str) -> str:
    """The row of the table: the call, the meaning, the rules."""
    parameters = arguments(ops.G[op])
    call = f"{op}({', '.join(parameters)})"
    sent = [f"{code(a.partition('=')[0])} ← {code(text)}" for i, a in enumerate(parameters) if (text := rule(op, i))]
    none = "" if any(ops.DG[op]) else "none"
    return f"| {code(call)} | {meaning(op)} | {'<br>'.join(sent) or none} |"


def write(folder: Path) -> None:
    """operators.md: a table for each family, with its curves where there are some."""
    home, lines = homes(), []
    for family, title in FAMILIES.items():
        lines += [f"## {title}", "", f"`ops/{family}.py`", ""]
        if (folder / f"curves-{family}.svg").exists():
            lines += [f"![The curves of {title.lower()}](generated/curves-{family}.svg)", ""]
        lines += ["| operator | value | adjoint rules |", "|---|---|---|"]
        lines += [row(op) for op in sorted(OURS & ops.G.keys(), key=str.lower) if home[op] == family] + [""]
    (folder / "operators.md").write_text("\n".join(lines), "utf-8")
