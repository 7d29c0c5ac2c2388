"""The picture of imports: which part of the project imports which, read off the code."""

import ast
from collections.abc import Iterator
from pathlib import Path

from xman.show.picture.picture import Arrow, BoxOfLines, Picture

ROOT = Path(__file__).parents[2]
CORE = "the list"  # the files of xman itself


def part_of(names: tuple[str, ...]) -> str:
    """The part that a module belongs to: a folder of xman, the files beside them, or ops."""
    if names[0] == "ops":
        return "ops"
    return names[1] if len(names) > 1 and (ROOT / "xman" / names[1]).is_dir() else CORE


def run(node: ast.AST) -> Iterator[ast.AST]:
    """All that is inside of a node; what only a type checker reads is left out."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING")):
            yield child
            yield from run(child)


def imports(file: Path) -> Iterator[tuple[str, ...]]:
    """The names of the modules of this project that the file imports, wherever in it."""
    home = file.relative_to(ROOT).with_suffix("").parts
    for node in run(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            package = home[:-node.level] if node.level else ()
            module = (*package, *node.module.split(".")) if node.module else package
            yield from ((*module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)


def arrows() -> set[tuple[str, str]]:
    """The pairs (part, what it imports)."""
    pairs = set()
    for file in [*(ROOT / "xman").rglob("*.py"), *(ROOT / "ops").rglob("*.py")]:
        names = file.relative_to(ROOT).with_suffix("").parts
        if names in (("xman", "__init__"), ("xman", "__main__")):
            continue  # the package's front page: it hands on what lies in the parts
        pairs |= {(part_of(names), part_of(module)) for module in imports(file) if module[0] in ("ops", "xman")}
    return {(user, used) for user, used in pairs if user != used}


def reached(one: str, pairs: set[tuple[str, str]]) -> set[str]:
    """What can be reached from one."""
    below, todo = set(), [one]
    while todo:
        user = todo.pop()
        new = {used for start, used in pairs if start == user} - below
        below |= new
        todo += new
    return below


def write(folder: Path) -> None:
    """imports.svg: an arrow from each part up to those that build on it, unless a longer way says so already."""
    pairs = arrows()
    below = {name: reached(name, pairs) for pair in pairs for name in pair}
    drawn = {(user, used) for user, used in pairs if used not in reached(user, pairs - {(user, used)})}
    upwards = sorted(below, key=lambda name: (len(below[name]), name))
    nodes = [BoxOfLines(name, (name, f"{size(name):,} lines")) for name in upwards]
    Picture(nodes, [Arrow(low, high) for high, low in sorted(drawn)]).save(str(folder / "imports.svg"))


def size(name: str) -> int:
    """The lines of a part."""
    files = ((ROOT / "xman").glob("*.py") if name == CORE else
             (ROOT / "ops").rglob("*.py") if name == "ops" else (ROOT / "xman" / name).rglob("*.py"))
    return sum(len(file.read_text("utf-8").splitlines()) for file in files)
