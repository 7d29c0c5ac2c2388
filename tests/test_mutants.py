"""What `python -m tests.mutants` plants: one other program each, that differs where it says."""
import ast
import subprocess
import sys
from collections import Counter

from mutants import MEMORY, ROOT, chosen, mutants


def test_a_mutant_is_another_program_that_differs_in_one_statement():
    source = (ROOT / "ops" / "walk.py").read_text("utf-8")
    program = ast.dump(ast.parse(source))
    for mutant in mutants("ops/walk.py"):
        first, last = mutant.spans[0]
        lines, planted = source.splitlines(), mutant.text.splitlines()
        assert ast.dump(ast.parse(mutant.text)) != program, mutant
        assert planted[:first - 1] == lines[:first - 1] and planted[last + len(planted) - len(lines):] == lines[last:]


def test_all_kinds_of_bugs_are_planted():
    after = Counter(mutant.difference.partition("+ ")[2] for mutant in mutants("ops/walk.py"))
    assert {"pass", "return None"} <= after.keys()
    assert all(any(word in text for text in after) for word in (" or ", "not ", " != ", " - "))


def test_a_bug_that_takes_all_memory_fails_its_test(tmp_path):
    (tmp_path / "test_memory.py").write_text(f"def test_memory():\n    bytearray({MEMORY})\n")
    assert forked_apart(tmp_path) == 1
    (tmp_path / "test_memory.py").write_text("def test_memory():\n    bytearray(9)\n")
    assert forked_apart(tmp_path) == 0


def forked_apart(folder):
    """The status of the tests in the folder, from a process that other tests' threads are not in."""
    call = f"forked(pytest_in, Path({str(folder)!r}), ['test_memory.py'], object(), 60)"
    code = f"from pathlib import Path; from mutants import forked, pytest_in; raise SystemExit({call})"
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT / "tests").returncode


def test_a_bug_in_a_row_meets_the_tests_of_its_package_wherever_its_file_is():
    seconds = dict.fromkeys(["tests/ops/test_facts.py::test_a", "tests/passes/test_roll.py::test_b"], 0.1)
    for file, test in zip(("ops/arrays/rearrangements.py", "xman/passes/loops/roll.py"), seconds, strict=True):
        row = next(mutant for mutant in mutants(file) if len(mutant.spans) == 2)
        assert chosen(row, {}, seconds) == [test]
