"""The commands of a course, as an instructor and a student type them."""

import json
import shutil
import signal
import sys
import zipfile
from pathlib import Path

import pytest

from xman.cli import main
from xman.grade.sandbox.doctor import Finding

pytest.importorskip("tqdm")

ASSIGNMENTS = Path(__file__).parents[2] / "assignments"


@pytest.fixture
def xman(tmp_path, monkeypatch, capsys):
    """xman(*words) -> (exit status, output, errors), in a folder beside the assignments of the course."""
    (tmp_path / "assignments").symlink_to(ASSIGNMENTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # that of these tests stays

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["xman", *words])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return run


def test_a_handout_is_checked_solved_and_graded(xman, tmp_path):
    assert xman("grade", "handout", "modes", "--out", "mine") == (
        0, "mine: check.py, checks.py, handout.md, modes.py, probes.py\n", "")
    (tmp_path / "mine").chmod(0o755)
    status, out, _ = xman("grade", "check", "mine", "--yes")
    assert status == 1 and "not written yet: task 2: derivative" in out
    shutil.copy(ASSIGNMENTS / "modes" / "solution" / "modes.py", tmp_path / "mine")
    status, out, _ = xman("grade", "check", "mine", "--yes")
    assert status == 0 and "failed" not in out and "passed" in out
    status, out, errors = xman("grade", "run", "modes", "mine", "--out", "grades", "--unsafe")
    assert status == 0 and "100 of 100" in out and "the sandbox is" in errors
    assert len(list((tmp_path / "grades" / "students").glob("mine-*.html"))) == 1


def test_the_packages_for_elsewhere_are_written(xman, tmp_path):
    assert xman("grade", "gradescope", "modes")[1].startswith("autograder.zip: ")
    with zipfile.ZipFile(tmp_path / "autograder.zip") as archive:
        assert {"setup.sh", "run_autograder"} <= set(archive.namelist())
    assert "autograde.tar" in xman("grade", "autolab", "modes", "--out", "lab")[1]


def test_the_doctor_says_what_holds_and_its_status_says_whether_all_does(xman):
    status, out, _ = xman("grade", "doctor", "--json")
    findings = json.loads(out)
    assert status == (0 if all(finding["ok"] for finding in findings) else 1)
    assert {"name", "ok", "found", "todo"} == findings[0].keys() and "bubblewrap" in findings[0]["name"]


@pytest.mark.parametrize("ok", [(True, True), (True, False), (False, True), (False, False)])
def test_the_status_of_the_doctor_is_0_if_all_holds_and_else_1(xman, ok, monkeypatch):
    monkeypatch.setattr("xman.grade.sandbox.doctor.examined", lambda unsafe: [
        Finding(f"limit {k}", holds, "looked at", "" if holds else "Install it.") for k, holds in enumerate(ok)])
    monkeypatch.setattr("xman.grade.sandbox.doctor.sandbox_here", lambda unsafe: Finding("a box", True, "", ""))
    for words in ((), ("--json",)):
        status, out, _ = xman("grade", "doctor", *words)
        assert status == (0 if all(ok) else 1)
    assert xman("grade", "doctor")[1].count("→ Install it.") == ok.count(False)


@pytest.mark.parametrize("words, said", [
    (["handout", "wengrt", "--out", "x"], "did you mean 'wengert'"),
    (["handout", "modes", "--out", "."], "is the folder that you are in"),
    (["handout", "modes", "--out", "assignments"], "not an empty folder; nothing was written"),
    (["handout", "modes"], "--out DIR is missing"),
    (["check", "assignments"], "it has no checks.py"),
    (["run", "modes", "nobody.zip", "--unsafe"], "nobody.zip cannot be read"),
    (["run", "modes", "."], "keep the two apart"),
    (["run", "modes", "class"], "--unsafe"),
    (["run", "modes"], "SUBMISSION... is missing"),
    (["run", "modes", "a", "b", "--autolab"], "one submission; here are 2"),
    (["gradescope", "modes", "--out", "autograder"], "autograder.zip"),
    (["run", "modes", "assignments/modes/solution", "--term", "short", "--unsafe"], "students could guess 'short'"),
    (["run", "modes", ".", "--jobs", "0"], "--jobs: '0' is not a whole number from 1 to 64")])
def test_a_mistake_gets_its_sentence(xman, words, said, monkeypatch):
    from xman.grade.sandbox import sandbox_here
    if said == "--unsafe":
        Path("class/ada").mkdir(parents=True)
        monkeypatch.setenv("PATH", "")
        monkeypatch.setattr("xman.grade.sandbox.sandbox_here", sandbox_here.__wrapped__)
    before = sorted(Path().rglob("*"))
    status, out, errors = xman("grade", *words)
    assert status in (1, 2) and said in errors and "Traceback" not in errors and not out
    assert sorted(Path().rglob("*")) == before
