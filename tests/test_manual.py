"""What the manual shows is what happens: each snippet is run, page by page, and what it prints is compared.

A block of `python` runs in the page's own space, and what it prints is the block of `text` that follows it. A block of
`console` holds commands after `$ ` with what they print. `…` stands for anything on its line, a line of it for any lines. What
only says how to install or start something is a block of `sh`: its commands are looked up, not run. Before a block may stand
`<!-- file: NAME -->`, which writes it there in place of running it, and `<!-- slow -->`.
"""

import codeop
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest

pytest.importorskip("click")

import ops
from ops.facts import FACTS
from ops.table import OURS
from xman import explain, picture
from xman.cli import derivatives, export, grade, learning, main, predictions, term  # noqa: F401 (their commands join)
from xman.engines import ENGINES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md",
         *sorted(path for path in (ROOT / "docs").rglob("*.md") if not {"generated", "build"} & {*path.parts})]
SLOW = not os.environ.get("XMAN_ALL_CASES")
BLOCK = re.compile(r"(?m)^(?:<!-- (?P<mark>.+) -->\n)?```(?P<kind>\w+)\n(?P<text>(?:.*\n)*?)```$")


class Block(NamedTuple):
    line: int
    mark: str
    kind: str
    text: str
    printed: str  # what the page says that it prints


def blocks(page):
    """The blocks of a page, each with the block of text that follows it at once."""
    text = page.read_text("utf-8")
    found = list(BLOCK.finditer(text))
    for one, following in zip_longest(found, found[1:]):
        follows = following and following["kind"] == "text" and not text[one.end():following.start()].strip()
        yield Block(text.count("\n", 0, one.start("kind")) + 1, one["mark"] or "", one["kind"], one["text"],
                    following["text"] if follows else "")


def agrees(printed, shown):
    lines = [".*".join(map(re.escape, line.rstrip().split("…"))) for line in shown.rstrip().split("\n")]
    pattern = re.sub(r"(?m)^\.\*$", r"(?s:.*)", "\n".join(lines))
    return re.fullmatch(pattern, "\n".join(line.rstrip() for line in printed.rstrip().split("\n")))


def output(action):
    """What the action prints, on both streams; they have what a terminal's streams have."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        action()
    out.flush()
    return out.buffer.getvalue().decode()


def command(line):
    """Runs a line that was typed: xman in this process, all else in a shell."""
    if not line.startswith("xman "):
        line = re.sub("^python ", f"{sys.executable} ", line)
        return subprocess.run(line, shell=True, capture_output=True, text=True, check="check.py" not in line).stdout

    def act():
        with mock.patch.multiple(sys, argv=shlex.split(line), path=[*sys.path]), contextlib.suppress(SystemExit):
            main()
    return output(act)


def run(block, space):
    """(what was run, what it printed, what the page says) for each part of a block."""
    if block.kind == "python":
        code = compile("\n" * block.line + block.text, "page", "exec")
        yield block.text, output(lambda: exec(code, space)), block.printed
    else:
        for typed in re.split(r"(?m)^\$ ", block.text)[1:]:
            line, _, shown = typed.partition("\n")
            yield line, command(line), shown


@pytest.fixture
def tables():
    """The tables of operators and engines, as they were once the page is done with them."""
    with contextlib.ExitStack() as kept:
        for table in (ops.G, ops.DG, ops.TG, FACTS, ENGINES):
            kept.enter_context(mock.patch.dict(table))
        yield


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_snippet_prints_what_its_page_says(page, tables, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "assignments").symlink_to(ROOT / "assignments")
    space = {"__name__": "page"}
    for block in blocks(page):
        if block.mark.startswith("file: "):
            (tmp_path / block.mark[6:]).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.mark[6:]).write_text(block.text, "utf-8")
        elif block.kind in ("python", "console") and not (SLOW and "slow" in block.mark):
            for what, printed, shown in run(block, space):
                assert agrees(printed, shown), f"{page.name}:{block.line}: {what}\nprints\n{printed}\nand the page says\n{shown}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_snippet_can_be_pasted_into_a_plain_prompt(page):
    """There an empty line ends a loop or a function, and nothing else does."""
    for block in blocks(page):
        if block.kind == "python" and not block.mark.startswith("file: "):
            lines = []
            for line in [*block.text.splitlines(), ""]:
                lines.append(line)
                try:
                    lines = lines if codeop.compile_command("\n".join(lines)) is None else []
                except SyntaxError as error:
                    pytest.fail(f"{page.name}:{block.line}: {error.msg} at {line!r}")


def test_no_two_pages_have_one_name():
    names = [line for page in PAGES if ROOT / "docs" in page.parents for line in page.read_text("utf-8").splitlines()[:1]]
    names = [name for name in names if name[:2] == "# "]
    assert [name for name in names if names.count(name) > 1] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_are_there(page):
    targets = re.findall(r"(?m)^(\w+):", (ROOT / "Makefile").read_text("utf-8"))
    typed = [line for block in blocks(page) if block.kind == "sh" for line in block.text.splitlines()]
    for words in (line.partition("#")[0].split() for line in typed):
        if words[:1] == ["make"]:
            assert words[1] in targets
        if words[:1] == ["xman"]:
            assert words[1] in derivatives.xman.commands
        for file in (word for word in words if word.endswith(".py") and "/" in word):
            assert (ROOT / file).is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_files_that_a_page_names_are_there(page):
    """Its links to files, and names of files between backticks with a folder of the project before them."""
    text = BLOCK.sub("", page.read_text("utf-8"))
    linked = [page.parent / link for link in re.findall(r"\]\((?!https?:|#|(?:\.\./)?generated/)([^)#]+)", text)]
    named = [ROOT / name for name in re.findall(r"`((?:ops|xman|tests|docs|assignments|data)/[\w./-]*)`", text)]
    assert [str(path) for path in linked + named if not path.exists()] == []


def test_what_would_be_changed_is_where_the_page_on_the_design_says():
    page = (ROOT / "docs" / "design.md").read_text("utf-8")
    rows = re.findall(r"(?m)^\| \d+ \| `([^`]+)`.*\| `([^`]+)`[^|]*\|$", page)
    assert [f"xman/{room.parent.name}/" for room in (ROOT / "xman").glob("*/__init__.py")
            if f"`xman/{room.parent.name}/`" not in page] == [] and len(rows) == 10
    assert [(file, words) for file, words in rows if words not in (ROOT / file).read_text("utf-8")] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_block_of_a_page_says_what_it_is(page):
    kinds = re.findall(r"(?m)^```(.*)\n(?:.*\n)*?```$", page.read_text("utf-8"))
    assert {kind for kind in kinds if not kind.startswith("{")} <= {"python", "text", "console", "sh"}


def test_the_picture_of_the_readme_is_what_picture_draws():
    steps = [("z1", "add", ("x1", "x1")), ("z2", "add", ("z1", "x2")), ("f", "square", ("z2",))]
    kept = (ROOT / "docs" / "pictures" / "list.svg").read_text("utf-8")
    assert picture(explain(steps, "f", "x1", {"x1": 3.0, "x2": 7.0})).svg() == kept


def test_the_readme_has_at_most_120_lines_and_counts_the_operators():
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 120 and f"every order | {len(OURS)} |" in text


def test_the_table_of_operators_has_a_row_for_each_with_rules_for_all_that_have_a_derivative(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "scripts")
    import operators
    operators.write(tmp_path)
    rows = {row.split("(")[0]: row for row in re.findall(r"(?m)^\| `(.*) \|$", (tmp_path / "operators.md").read_text("utf-8"))}
    assert rows.keys() == OURS
    assert {op for op, row in rows.items() if not row.endswith("none") and "←" not in row} <= {
        "einsum", "einsum_back", "part", "rfft", "irfft", "bundle", "call", "cond", "item", "scan", "while_loop"}


def test_the_picture_of_imports_has_a_box_for_each_part(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "scripts")
    import imports
    imports.write(tmp_path)
    drawn = (tmp_path / "imports.svg").read_text("utf-8")
    parts = {folder.name for folder in (ROOT / "xman").iterdir() if (folder / "__init__.py").exists()}
    assert [part for part in sorted(parts) if not re.search(rf"\b{part}\b", drawn)] == []
    whole = sum(len(path.read_text("utf-8").splitlines()) for path in (ROOT / "ops").rglob("*.py"))
    assert f"{whole:,} lines" in drawn


def test_the_site_is_built_without_a_warning(tmp_path):
    """Its pages, links and docstrings; what it shows and nobody wrote is in docs/generated."""
    for package in ("sphinx", "myst_parser", "furo", "matplotlib"):
        pytest.importorskip(package, reason=f"{package} is not installed: pip install -e '.[docs]'")
    build = [sys.executable, "-m", "sphinx", "-b", "dummy", "-E", "--fail-on-warning", "--nitpicky", "--keep-going", "--quiet"]
    done = subprocess.run([*build, ROOT / "docs", tmp_path], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_printed_is_compared():
    assert agrees("a 1.2 s\nb\n", "a … s\nb\n") and agrees("a\nb\nc\nd", "a\n…\nd\n") and not agrees("a\nb", "a\nc")
    assert not agrees("a\nb", "a") and not agrees("ab", "a.") and agrees("", "")
