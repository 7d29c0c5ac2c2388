"""Plants bugs, one at a time, and runs the tests that execute the line: python -m tests.mutants [FILE …] --draw 500

A bug that no test notices is printed, with its file and line, as a survivor. All happens in copies of the checkout.
"""
from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import hashlib
import itertools
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = "ops", "xman/passes", "xman/interpreters", "xman/grade/compare.py", "xman/train/selection"
TESTS = ("ops", "passes", "xman", "functions", "matrices", "optimize", "train", "show", "models", "engines", "export",
         "reasons", "files", "sparse",
         "grade/test_compare.py", "grade/test_judge.py", "grade/test_lists.py", "grade/test_assignments.py",
         "test_what_users_get_wrong_with_lists.py", "cli/test_derivatives.py")
LIMIT = 30.0  # seconds of tests for one mutant
MEMORY = 6 << 30  # bytes for its tests: a bug that takes more fails there, and does not end for want of memory as if unnoticed

# what stands there, and what is planted

COMPARED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
            ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
            ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
            ast.LShift: ast.RShift, ast.RShift: ast.LShift}
CALLED = {"any": "all", "all": "any", "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum",
          "argmin": "argmax", "argmax": "argmin"}
# or fail at any call
COMMUTE = {"equal", "not_equal", "add", "mul", "maximum", "minimum", "max", "min", "logical_and", "logical_or", "array_equal",
           "allclose", "isclose", "result_type", "isinstance", "hasattr", "broadcast_shapes", "about_shapes", "multiplied"}


# how much work a row is, roughly, and how large a result may become; that zip finds its arguments of one length
ESTIMATES = {"flops", "entries", "strict"}
FOR_SPEED = "# for speed alone"  # at the end of a line: what it computes is the same either way


def changed(node: ast.AST, **fields) -> ast.AST:
    twin = copy.copy(node)
    vars(twin).update(fields)
    return twin


def mutations(node: ast.AST, inside: bool):
    """What may be planted in the place of a node; `inside` a function, statements are deleted as well."""
    match node:
        case ast.Compare(ops=[op, *more]):
            yield changed(node, ops=[COMPARED[type(op)](), *more])
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.BinOp(op=op, left=left, right=right):
            if type(op) in COMPUTED:
                yield changed(node, op=COMPUTED[type(op)]())
            elif isinstance(op, ast.MatMult):
                yield changed(node, left=right, right=left)
        case ast.BoolOp(op=op):
            yield changed(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.If(test=test) | ast.IfExp(test=test) if not isinstance(test, ast.UnaryOp | ast.Compare):
            yield changed(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Call(func=ast.Name(id=name) as func) if name in CALLED:
            yield changed(node, func=changed(func, id=CALLED[name]))
        case ast.Call(func=ast.Attribute(attr=name) as func) if name in CALLED:
            yield changed(node, func=changed(func, attr=CALLED[name]))
        case ast.Call(func=func, args=[ast.expr() as first, ast.expr() as second, *more]):
            starred = isinstance(first, ast.Starred) or isinstance(second, ast.Starred)
            name = getattr(func, "attr", getattr(func, "id", ""))
            if not starred and name not in COMMUTE and ast.dump(first) != ast.dump(second):
                yield changed(node, args=[second, first, *more])
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield ast.Return(ast.Constant(None))
        case ast.Assign() | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break() | ast.Delete() if inside:
            yield ast.Pass()
        case ast.Expr(value=value) if inside and not isinstance(value, ast.Constant):
            yield ast.Pass()


def walk(node: ast.AST, function: ast.AST | None = None, statement: ast.AST | None = None):
    """(node, statement, function that it is in) for all that is computed: no text, no annotation, no estimate."""
    for name, field in ast.iter_fields(node):
        for child in field if isinstance(field, list) else [field]:
            if not isinstance(child, ast.AST) or name in ("annotation", "returns") or isinstance(child, ast.JoinedStr):
                continue
            if isinstance(child, ast.keyword) and child.arg in ESTIMATES:
                continue
            stands = child if isinstance(child, ast.stmt) else statement
            yield child, stands, function
            within = child if isinstance(child, ast.FunctionDef) else function
            yield from walk(child, within, stands)


class Mutant:
    """One bug: a file, the node that it replaces, and the file's text with it."""

    def __init__(self, file, source, node, statement, function, planted):
        self.file, self.line = file, node.lineno
        self.spans = [(n.lineno, n.end_lineno) for n in (node, statement, function) if n is not None]
        if isinstance(node, ast.If):  # the condition alone
            node, planted = node.test, planted.test
        before, after = ast.get_source_segment(source, node), ast.unparse(planted)
        after = f"({after})" if isinstance(planted, ast.expr) else after
        code = source.encode()  # columns are of bytes
        starts = [0, *itertools.accumulate(map(len, code.splitlines(keepends=True)))]
        begin, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        self.text = (code[:begin] + after.encode() + code[end:]).decode()
        self.difference = f"    - {before}\n    + {after}"

    def __str__(self):
        return f"{self.file}:{self.line}\n{self.difference}"


def mutants(file: str) -> list[Mutant]:
    source = (ROOT / file).read_text("utf-8")
    lines = source.splitlines()
    return [Mutant(file, source, node, statement, function, planted) for node, statement, function in walk(ast.parse(source))
            for planted in mutations(node, function is not None) if FOR_SPEED not in lines[node.lineno - 1]]


# the tests of a line


def spent() -> float:
    """The seconds of a processor that this process and its children have had: other work on the machine adds none."""
    return sum(os.times()[:4])


class Recorder:
    """A plugin of pytest: the seconds of a processor that each test takes which passes, and the lines that it executes."""

    def __init__(self, coverage):
        self.coverage, self.seconds, self.failed, self.began = coverage, {}, set(), 0.0

    def pytest_runtest_logstart(self, nodeid):
        self.coverage.switch_context(nodeid)
        self.began = spent()

    def pytest_runtest_logreport(self, report):
        if not report.passed:
            self.failed.add(report.nodeid)

    def pytest_runtest_logfinish(self, nodeid):
        self.coverage.switch_context("")
        self.seconds[nodeid] = spent() - self.began


class Selected:
    """A plugin of pytest: only these tests, in this order."""

    def __init__(self, names):
        self.place = {name: k for k, name in enumerate(names)}

    def pytest_collection_modifyitems(self, items):
        items[:] = sorted((item for item in items if item.nodeid in self.place), key=lambda item: self.place[item.nodeid])


def pytest_in(folder: Path, arguments: list[str], plugin: object, seconds: float | None = None) -> int:
    """Runs pytest in a folder, in a process that was forked for it; its status. seconds: of a processor, at most."""
    import pytest
    if seconds:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    os.setsid()
    os.chdir(folder)
    sys.path[:0] = [str(folder)]
    os.environ.update(PYTHONPATH=str(folder), OPENBLAS_NUM_THREADS="1")
    with open(os.devnull, "w") as file:
        os.dup2(file.fileno(), 1), os.dup2(file.fileno(), 2)
    return pytest.main(["-q", "--timeout", "0", "-p", "no:cacheprovider", "-p", "no:xdist",
                        "-W", "ignore::pytest.PytestAssertRewriteWarning",  # hypothesis was imported before the fork
                        *arguments], [plugin])


def collected(folder: Path, files: dict[str, Path]) -> None:
    """Writes for each file of tests which of them execute which lines, and how long each takes."""
    from coverage import Coverage
    packages = [str(folder / package) for package in ("ops", "xman")]
    coverage = Coverage(data_file=None, source=packages, config_file=False, messages=False)
    recorder = Recorder(coverage)
    coverage.start()
    pytest_in(folder, list(files), recorder)
    coverage.stop()
    read, seconds, lines = coverage.get_data(), {name: {} for name in files}, {name: {} for name in files}
    passed = recorder.seconds.keys() - recorder.failed
    for test in passed:
        seconds[test.partition("::")[0]][test] = recorder.seconds[test]
    for source in read.measured_files():
        for line, tests in read.contexts_by_lineno(source).items():
            for test in passed & set(tests):
                at = lines[test.partition("::")[0]].setdefault(str(Path(source).relative_to(folder)), {})
                at.setdefault(line, []).append(test)
    for name, path in files.items():
        path.write_text(json.dumps({"seconds": seconds[name], "lines": lines[name]}))


def forked(function, *arguments, seconds=None) -> int:
    """The status of a call in a process of its own; that of a kill after so many seconds."""
    process = multiprocessing.get_context("fork").Process(target=lambda: os._exit(function(*arguments) or 0))
    process.start()
    process.join(seconds)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    return process.exitcode


def python_files(path: Path, pattern: str = "*.py") -> list[Path]:
    """The files of a folder, or the one file."""
    return sorted(path.rglob(pattern)) if path.is_dir() else [path]


def copy_of_the_checkout(folder: Path) -> Path:
    """What git knows of it, and what is new."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for name in names:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def tests_of_lines(folders: list[Path]) -> tuple[dict, dict]:
    """{file: {line: names}} and {name: seconds}, of all tests; it runs those whose file, or what they test, is new."""
    names = [str(path.relative_to(ROOT)) for name in TESTS for path in python_files(ROOT / "tests" / name, "test_*.py")]
    tested = b"".join(path.read_bytes() for package in ("ops", "xman") for path in python_files(ROOT / package))
    digests = [hashlib.sha256(tested + (ROOT / name).read_bytes()).hexdigest()[:24] for name in names]
    records = {name: Path(tempfile.gettempdir(), f"mutants-{digest}.json") for name, digest in zip(names, digests, strict=True)}
    if new := [name for name in names if not records[name].exists()]:
        print(f"which tests execute which line: a run of {len(new)} of {len(names)} files", flush=True)
        shares = [{name: records[name] for name in new[k::len(folders)]} for k in range(len(folders))]
        with ThreadPoolExecutor(len(folders)) as pool:
            list(pool.map(lambda folder, share: forked(collected, folder, share), folders, shares))
    lines, seconds = {}, {}
    for path in records.values():
        record = json.loads(path.read_text())
        seconds.update(record["seconds"])
        for file, at in record["lines"].items():
            for line, tests in at.items():
                lines.setdefault(file, {}).setdefault(int(line), set()).update(tests)
    return lines, seconds


def chosen(mutant: Mutant, lines: dict, seconds: dict) -> list[str]:
    """The tests for a mutant, the quickest first: those that are named after its file, for a third of the time; then those
    of its line, of its statement, of its function, of its folder, of its file.

    (A line may have run but once, as the file was imported or its value kept: the wider ones know.)
    """
    at, names, spent = lines.get(mutant.file, {}), {}, 0.0
    room = Path(mutant.file).stem.strip("_") or Path(mutant.file).parent.name
    folder = next(name for name in reversed(Path(mutant.file).parent.parts) if (ROOT / "tests" / name).is_dir())
    quickest = lambda tests: sorted(tests, key=lambda t: (seconds[t], t))
    executed = lambda first, last: set().union(*(tests for line, tests in at.items() if first <= line <= last))
    every = executed(1, 10 ** 6)
    for name in quickest(t for t in every if room in t):
        if (spent := spent + seconds[name]) < LIMIT / 3:
            names[name] = None
    # rows of a table, which stand in no function, run as their file is imported: any test of the folder may look at them
    of_folder = {t for t in (every if len(mutant.spans) == 3 else seconds) if f"tests/{folder}/" in t}
    for span in mutant.spans:
        names |= dict.fromkeys(quickest(executed(*span) | (of_folder if len(mutant.spans) < 3 else set())))
    names |= dict.fromkeys([*quickest(of_folder), *quickest(every)])
    spent = 0.0
    for k, name in enumerate(names):
        if (spent := spent + seconds[name]) > LIMIT:
            return list(names)[:max(k, 1)]
    return list(names)


def killed(mutant: Mutant, tests: list[str], seconds: dict, folder: Path) -> str:
    """Says "killed" if one of the tests fails with the bug, "hangs" if they do not end, else "": a second of them first."""
    path = folder / mutant.file
    original, times = path.read_bytes(), path.stat()
    path.write_text(mutant.text or original.decode(), "utf-8")
    try:
        for budget in 1.0, 5.0, LIMIT:
            now, spent = [], 0.0
            while tests and spent < budget:
                spent += seconds[tests[0]]
                now.append(tests.pop(0))
            if not now:
                return ""
            files = list(dict.fromkeys(name.partition("::")[0] for name in now))
            # what takes long as the machine has much else to do is no kill: the processor's time is
            status = forked(pytest_in, folder, ["-x", *files], Selected(now), 60 + 5 * spent, seconds=900)
            if status and status != -signal.SIGKILL:
                return "hangs" if status == -signal.SIGXCPU else "killed"
        return ""
    finally:
        path.write_bytes(original)
        os.utime(path, (times.st_atime, times.st_mtime))  # and its bytecode is valid again


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("file", nargs="*", default=FILES, help=f"files or folders (default {' '.join(FILES)})")
    parser.add_argument("--draw", type=int, default=500, help="how many of the bugs are planted (default 500)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default 0)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="at a time (default: one a core)")
    parser.add_argument("--control", action="store_true", help="plant nothing: what is killed then failed by itself")
    parser.add_argument("--verbose", action="store_true", help="a line for each bug, with its seconds")
    options = parser.parse_args()
    paths = [path for name in options.file for path in python_files(ROOT / name)]
    every = [mutant for path in paths for mutant in mutants(str(path.relative_to(ROOT)))]
    drawn = random.Random(options.seed).sample(every, min(options.draw, len(every)))
    for mutant in drawn if options.control else ():
        mutant.text = ""
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # a file that is written twice within a second has but one bytecode
    import numpy, scipy.linalg, scipy.special, scipy.optimize, pytest, hypothesis  # noqa: E401, F401, I001 each fork has them
    with tempfile.TemporaryDirectory() as place:
        folders = [copy_of_the_checkout(Path(place, str(k))) for k in range(options.processes)]
        lines, seconds = tests_of_lines(folders)
        print(f"{len(drawn)} of {len(every)} mutants of {len(paths)} files, seed {options.seed}", flush=True)
        free, ends, start, lock = list(folders), Counter(), time.perf_counter(), threading.Lock()

        def tried(mutant):
            folder = free.pop()
            began = time.perf_counter()
            tests = chosen(mutant, lines, seconds)
            dead = killed(mutant, list(tests), seconds, folder)
            free.append(folder)
            if options.verbose:
                print(f"{dead or 'SURVIVED':8} {mutant.file}:{mutant.line}, {len(tests)} tests, "
                      f"{time.perf_counter() - began:.1f} s", flush=True)
            ends[dead] += 1
            if not dead:
                with lock:
                    print(mutant, flush=True)

        with ThreadPoolExecutor(options.processes) as pool:
            list(pool.map(tried, drawn))
        print(f"{len(drawn) - ends['']} of {len(drawn)} killed, {1 - ends[''] / len(drawn):.1%}, {ends['hangs']} of them since "
              f"they do not end, in {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
