"""The program in a notebook: what it defines and imports, without the cells that try it."""
from __future__ import annotations

import ast
import json
import re

from ...errors import XManError

MAGIC = re.compile(r"(?m)^[ \t]*[%!?].*$")
ASSIGNMENTS = ast.Assign, ast.AnnAssign, ast.AugAssign
DEFINES = re.compile(r"(?m)^(async )?(def|class) ")


def notebook_program(notebook: bytes, name: str) -> bytes:
    """The definitions and imports of the code cells, and the assignments that these read, in their order.

    What else the cells do at their top level, plots and experiments, is left out. XManError for a notebook
    that defines nothing, or in which a cell with a definition is not Python.
    """
    try:
        cells = [cell["source"] for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code"]
        texts = ["".join(cell) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise XManError(f"{name!r} is no notebook of format 4 ({type(error).__name__})") from None
    statements: list[tuple[ast.stmt, str]] = []
    for number, text in enumerate(texts, 1):
        try:
            plain = "" if text.lstrip().startswith("%%") else MAGIC.sub("", text)
            lines = plain.split("\n")
            for each in ast.parse(plain).body:
                first = min([each.lineno, *(above.lineno for above in getattr(each, "decorator_list", ()))])
                statements.append((each, "\n".join(lines[first - 1:each.end_lineno])))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            if DEFINES.search(text):
                line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
                raise XManError(f"code cell {number} of {name!r} is not Python{line}: {error}") from None
    definitions = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
    if not any(isinstance(each, definitions) for each, _ in statements):
        raise XManError(f"the notebook {name!r} defines no function and no class")
    assigning: dict[str, list[ast.stmt]] = {}
    for each, _ in statements:
        for target in names(each, ast.Store) if isinstance(each, ASSIGNMENTS) else ():
            assigning.setdefault(target, []).append(each)
    roots, kept = (*definitions, ast.Import, ast.ImportFrom), set()
    waiting = [each for each, _ in statements if isinstance(each, roots)]
    while waiting:
        each = waiting.pop()
        if each not in kept:
            kept.add(each)
            waiting += [other for read in names(each, ast.Load) for other in assigning.pop(read, ())]
    program = dict.fromkeys(text for each, text in statements if each in kept)  # two may stand in one line
    return "\n\n".join(program).encode(errors="replace")


def names(statement: ast.stmt, context: type) -> set[str]:
    nodes = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in nodes if isinstance(node.ctx, context)}
