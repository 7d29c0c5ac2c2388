"""Hand-outs: the solution without its marked regions, the public checks, the data, no trace of the regions.

A region is inside of a function, between two comments of the same indentation,

    # task 2: eval
    ...
    # end of task 2

and becomes `raise NotImplementedError("task 2: eval")`.
"""
from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import shutil
import tempfile
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from ...errors import XManError
from ...files.whole import text_at
from ..assignment import Assignment, data_set
from ..submissions.scratch import open_to_all

MARK = re.compile(r"# (?P<end>end of )?task (?P<task>\d+)(?(end)|: (?P<title>[^\s\"\\][^\"\\]*))")
MARKS = "write '# task 2: title' or '# end of task 2'"
NO_MARK = (0, 0), {"end": None}
LIKE_A_MARK = re.compile(r"#+\s*(end\s+(of\s+)?)?task\s*(\d|:)", re.IGNORECASE)
WORKFLOW = Path(__file__).parent / "templates" / "autograding.yml"
TELLING = 12  # a line of fewer characters reveals nothing of a solution
# nor does a line without an operator, a call or a bracket, such as `return values`
PLAIN = re.compile(r"[\w\s.,:#]*")
CHECK = '''"""Tries what you have written. Run it as often as you like: python check.py"""
import sys
from pathlib import Path

try:
    from xman.grade import check
except ModuleNotFoundError as error:
    sys.exit(f"check.py needs {error.name}: pip install {error.name}")

sys.exit(0 if check(Path(__file__).parent) else 1)
'''


@dataclass(frozen=True)
class Region:
    """A part that students write: the lines of a solution from one mark to the other, counted from 1."""
    task: int
    title: str
    start: int
    end: int
    indent: int

    def __str__(self) -> str:
        return f"line {self.start}: the region of task {self.task}"


def starter(source: str, titles: Mapping[int, str] | None = None) -> str:
    """The source with an error in place of each region, which says which task is to be written.

    titles: of the tasks by number, with which the marks have to agree. XManError, with the line, for marks
    that are not in order or not inside of a function, and for a line of a region that is also outside.
    """
    lines, marked_regions = io.StringIO(source).readlines(), regions(source)
    for region in reversed(marked_regions):
        title, pad = titles.get(region.task) if titles is not None else region.title, " " * region.indent
        if title != region.title:
            raise XManError(f"{region} has the title {region.title!r}; that of the task is {title!r}")
        error = f'{pad}raise NotImplementedError("task {region.task}: {title}")\n'
        lines[region.start - 1:region.end] = [f"{pad}# your code here\n", error]
    cut = "".join(lines)
    try:
        ast.parse(cut)
    except SyntaxError as error:
        place = f"line {error.lineno} of the rest"
        raise XManError(f"without its regions it cannot be parsed: {error.msg}, {place}") from None
    if leaks := traces(source, cut):
        raise XManError(f"the line {leaks[0]!r} of a region also stands outside, where it would be "
                        "handed out")
    return cut


def regions(source: str) -> list[Region]:
    """The marked regions of a solution. XManError for marks that are not in order."""
    try:
        tree = ast.parse(source)
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        comments = [token for token in tokens if token.type == tokenize.COMMENT]
    except (SyntaxError, tokenize.TokenError, ValueError) as error:
        raise XManError(f"the solution cannot be parsed: {error}") from None
    marks = []
    for token in comments:
        if mark := MARK.fullmatch(token.string):
            marks.append((token.start, mark))
            if token.line[:token.start[1]].strip():
                raise XManError(f"line {token.start[0]}: a mark has a line of its own")
        elif LIKE_A_MARK.match(token.string):
            raise XManError(f"line {token.start[0]}: {token.string!r} is no mark; {MARKS}")
    marked_regions = []
    pairs = zip_longest(marks[::2], marks[1::2], fillvalue=NO_MARK)
    for ((start, indent), first), ((end, end_indent), last) in pairs:
        region = Region(int(first["task"]), (first["title"] or "").rstrip(), start, end, indent)
        if first["end"]:
            raise XManError(f"line {start}: no region is open that could end here")
        if not last["end"] or (last["task"], end_indent) != (first["task"], indent):
            closing = f"'# end of task {region.task}' with the same indentation"
            raise XManError(f"{region} is not closed: {closing} is missing, or something else comes first")
        check_place(tree, region)
        marked_regions.append(region)
    return marked_regions


def check_place(tree: ast.Module, region: Region) -> None:
    """XManError unless the region has whole statements of one block inside of a function."""
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    inside = {child for function in functions for statement in function.body for child in ast.walk(statement)}
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    within = [node for node in statements if region.start < node.lineno < region.end]
    if not within:
        raise XManError(f"{region} holds no statement")
    if not inside.issuperset(within):
        raise XManError(f"{region} is not inside a function, so that the starter could not be imported")
    first = min(within, key=lambda node: node.lineno)
    if first.col_offset != region.indent or min(node.col_offset for node in within) < region.indent:
        raise XManError(f"{region} is not indented as the statements in it")
    if max(node.end_lineno or 0 for node in within) >= region.end:
        raise XManError(f"{region} ends in line {region.end}, inside a statement")


def traces(source: str, *handed_out: str) -> list[str]:
    """The revealing lines of the source's regions that are in one of the texts, or in parts of its lines."""
    lines = [" ".join(line.split()) for line in io.StringIO(source).readlines()]
    secret = {line for region in regions(source) for line in lines[region.start:region.end - 1]}
    secret = {line for line in secret if len(line) >= TELLING and not PLAIN.fullmatch(line)}
    texts = [" ".join(text.split()) for text in handed_out]
    return sorted(line for line in secret if any(line in text for text in texts))


def write_handout(assignment: Assignment, out: Path, github: bool = False) -> None:
    """Write the hand-out of an assignment into the new or empty folder out.

    It has MODULE.py (the starter), handout.md, checks.py, check.py, probes.py if there is one, and the data
    sets in data/; github: also the workflow that runs the checks on GitHub. XManError if the folder is not
    empty, if something is missing, or if the files would reveal parts of the solution.
    """
    outside(assignment, out)
    folder, module = assignment.folder, f"{assignment.module}.py"
    solution = text_at(folder / "solution" / module)
    files = [folder / "handout.md", folder / "public" / "checks.py", *filter(None, [assignment.probes])]
    texts = {"check.py": CHECK, **{path.name: text_at(path) for path in files}}
    judged = sum(len(task.parts) for task in assignment.tasks)
    texts["checks.py"] += f"\n\nassignment.judged = {judged}  # parts, when you hand in\n"
    try:
        texts[module] = starter(solution, {task.number: task.title for task in assignment.tasks})
    except XManError as error:
        raise XManError(f"the solution {module}: {error}") from None
    for name, text in texts.items():
        if leaks := traces(solution, text):
            lines = ", ".join(map(repr, leaks[:3]))
            raise XManError(f"{name} tells {len(leaks)} of the solution's lines: {lines}")
    with fresh_folder(out) as fresh:
        for name, text in texts.items():
            (fresh / name).write_text(text, "utf-8")
        if github:
            (fresh / ".github" / "workflows").mkdir(parents=True)
            shutil.copy(WORKFLOW, fresh / ".github" / "workflows")
        for name in assignment.data:
            (fresh / "data").mkdir(exist_ok=True)
            (fresh / "data" / name).write_bytes(data_set(name))


def outside(assignment: Assignment, out: Path) -> None:
    """XManError if out is inside of the assignment's folder, and so would become a part of it."""
    if out.resolve().is_relative_to(assignment.folder.resolve()):
        raise XManError(f"{out} lies in the folder of the assignment itself; choose another place")


@contextlib.contextmanager
def fresh_folder(out: Path) -> Iterator[Path]:
    """A context with a temporary folder, which becomes out in one step at the end; an error removes it."""
    out = out.resolve()
    try:
        if out == Path.cwd():
            raise XManError(f"{out} is the folder that you are in; name a new one")
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise XManError(f"{out} is there already, and is not an empty folder; nothing was written")
        out.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{out.name[:40]}-", dir=out.parent))
        try:
            yield fresh
            open_to_all(fresh)
            os.replace(fresh, out)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        raise XManError(f"{out} could not be written: {error.strerror or error}") from error
