"""Facts about the packages for Gradescope and Autolab: what they hold, and what their scripts leave whatever the grader does.

The scripts run here with a program in the place of Python that plays the grader; once with the grader itself.
"""

import importlib.util
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import xman
from xman.errors import XManError
from xman.grade import load_assignment
from xman.grade.handout import packages

ROOT = Path(xman.__file__).parents[1]
CHECKS = """from xman.grade import Assignment

assignment = Assignment("twice", "Twice")
doubling = assignment.task(1, "double: a number")
"""
GRADING = """from xman.grade import expect

from .public.checks import assignment, doubling


@doubling.part("doubles", points=100)
def doubles(student, rng):
    x = rng.normal()
    expect(student.double(x), 2 * x, "the double")
"""
SOLUTION = "def double(x):\n    # task 1: double: a number\n    return x + 1.0 * x\n    # end of task 1\n"


def runs_scripts(*programs):
    return pytest.mark.skipif(not all(map(shutil.which, programs)), reason=f"needs {' and '.join(programs)}")


@pytest.fixture(scope="module")
def assignment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("assignments") / "twice"
    for name, text in {"solution/twice.py": SOLUTION, "handout.md": "# Twice\n", "public/checks.py": CHECKS,
                       "grading.py": GRADING, ".hidden": "x", "__pycache__/grading.pyc": "x"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return load_assignment(folder)


@pytest.fixture(scope="module")
def zipped(assignment, tmp_path_factory):
    packages.gradescope(assignment, path := tmp_path_factory.mktemp("gradescope") / "autograder.zip", "the term's secret")
    return path


@pytest.fixture(scope="module")
def lab(assignment, tmp_path_factory):
    packages.autolab(assignment, path := tmp_path_factory.mktemp("autolab") / "lab", "the term's secret")
    return path


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)
    return path


# what they hold


HELD = {"grade.py", "term", "assignment/twice/grading.py", "assignment/twice/solution/twice.py",
        "assignment/twice/public/checks.py", "sources/setup.cfg", "sources/pyproject.toml",
        "sources/README.md", "sources/LICENSE", "sources/ops/__init__.py",
        "sources/xman/__init__.py", "sources/xman/grade/handout/packages.py", "sources/data/names.train"}


def test_gradescope_has_the_scripts_at_the_top_and_everything_that_they_need(zipped):
    with zipfile.ZipFile(zipped) as archive:
        names = set(archive.namelist())
        assert {"setup.sh", "run_autograder"} | HELD <= names and archive.testzip() is None
        assert archive.read("term") == b"the term's secret\n" and archive.read("assignment/twice/grading.py").decode() == GRADING
    assert not [name for name in names if re.search(r"__pycache__|(^|/)\.|^/|assignments|tests/", name)]


def test_autolab_has_the_driver_and_everything_that_it_needs_in_one_folder(lab):
    assert {path.name for path in lab.iterdir()} == {"Makefile", "autograde-Makefile", "autograde.tar"}
    assert (lab / "Makefile").read_text() == (lab / "autograde-Makefile").read_text()
    with tarfile.open(lab / "autograde.tar") as archive:
        members = {member.name: member for member in archive}
    assert {f"autograder/{name}" for name in {"driver.sh"} | HELD} <= set(members)
    assert all(member.isreg() and name.startswith("autograder/") for name, member in members.items())
    assert {name for name, member in members.items() if member.mode == 0o755} == {"autograder/driver.sh"}


def test_the_makefile_tells_the_problems_that_autolab_has_to_have(lab):
    assert re.search(r"(?m)^# +1\. double - a number +\(100 points\)$", (lab / "Makefile").read_text())


def test_setup_and_run_are_executable_and_nothing_else_is(zipped):
    with zipfile.ZipFile(zipped) as archive:
        modes = {info.filename: info.external_attr >> 16 for info in archive.infolist()}
    assert {name for name, mode in modes.items() if mode & 0o111} == {"setup.sh", "run_autograder"}
    assert all(stat.S_ISREG(mode) for mode in modes.values())


def test_the_same_contents_give_the_same_bytes(assignment, zipped, lab, tmp_path):
    packages.gradescope(assignment, tmp_path / "again.zip", "the term's secret")
    packages.autolab(assignment, tmp_path / "again", "the term's secret")
    assert (tmp_path / "again.zip").read_bytes() == zipped.read_bytes()
    assert (tmp_path / "again" / "autograde.tar").read_bytes() == (lab / "autograde.tar").read_bytes()


def test_xman_can_be_installed_from_the_sources_alone(zipped):
    with zipfile.ZipFile(zipped) as archive:
        names, config = archive.namelist(), archive.read("sources/setup.cfg").decode()
    listed = re.search(r"(?ms)^packages =\n(.*?)^[^ ]", config)[1].split()
    folders = {str(Path(name).parent) for name in names if name.endswith(".py")}
    assert {"sources/" + name.replace(".", "/") for name in listed if name != "xman.datasets"} <= folders
    assert "xman.grade" in listed and re.search(r"(?m)^grade =$", config)


def test_every_script_is_one_that_bash_can_read(tmp_path):
    for text in ((packages.TEMPLATES / name).read_text("utf-8") for name in packages.MODES):
        checked = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
        assert checked.returncode == 0 and not checked.stderr and text.startswith("#!/usr/bin/env bash\n")
    compile(packages.GRADE, "grade.py", "exec")


@runs_scripts("shellcheck")
def test_shellcheck_finds_nothing():
    for text in ((packages.TEMPLATES / name).read_text("utf-8") for name in packages.MODES):
        assert subprocess.run(["shellcheck", "-"], input=text, capture_output=True, text=True).stdout == ""


def test_where_xman_has_no_sources_that_is_said(assignment, monkeypatch, tmp_path):
    monkeypatch.setattr(xman, "__file__", str(tmp_path / "site-packages" / "xman" / "__init__.py"))
    with pytest.raises(XManError, match="lies in no checkout; clone xman"):
        packages.gradescope(assignment, tmp_path / "a.zip", "term")
    assert not list(tmp_path.iterdir())


def test_an_installed_xman_takes_the_sources_of_the_checkout_that_the_assignment_lies_in(assignment, monkeypatch, tmp_path):
    for name in packages.SOURCES:
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(assignment.folder, tmp_path / "assignments" / "twice")
    monkeypatch.setattr(xman, "__file__", str(tmp_path / "site-packages" / "xman" / "__init__.py"))
    packages.gradescope(load_assignment(tmp_path / "assignments" / "twice"), tmp_path / "a.zip", "term")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert HELD <= set(archive.namelist())


def test_places_that_would_do_harm_are_refused(assignment, tmp_path):
    (tmp_path / "Makefile").write_text("mine")
    for write, out, sentence in ((packages.gradescope, tmp_path / "wengert.py", "takes a .zip"),
                                 (packages.gradescope, assignment.folder / "a.zip", "the folder of the assignment"),
                                 (packages.autolab, assignment.folder / "a", "the folder of the assignment"),
                                 (packages.autolab, tmp_path, "not an empty folder")):
        with pytest.raises(XManError, match=sentence):
            write(assignment, out, "term")
    assert (tmp_path / "Makefile").read_text() == "mine" and len(list(tmp_path.iterdir())) == 1


# Gradescope's scripts


def environment(root):
    """The variables with which the scripts stay below a folder."""
    return {**os.environ, "AUTOGRADER": str(root), "XMAN_ENVIRONMENT": str(root / "environment"), "TMPDIR": str(root)}


@pytest.fixture
def autograder(zipped, tmp_path):
    """autograder(text of a shell script that plays Python) -> (what was printed, the results), as Gradescope runs it."""
    root = tmp_path / "autograder"
    with zipfile.ZipFile(zipped) as archive:
        for name in ("run_autograder", "setup.sh", "grade.py", "term"):
            (root / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "source" / name).write_bytes(archive.read(name))
    shutil.copy(root / "source" / "run_autograder", root / "run_autograder")
    (root / "run_autograder").chmod(0o755)
    (root / "submission").mkdir()
    (root / "submission" / "twice.py").write_text("x = 1\n")

    def run(text):
        if text is not None:
            script(root / "environment" / "bin" / "python", text)
        said = subprocess.run([root / "run_autograder"], cwd=root, env=environment(root), capture_output=True, text=True)
        assert said.returncode == 0 and not said.stderr
        return said.stdout, json.loads((root / "results" / "results.json").read_text())
    run.root = root
    return run


CRASHES = {"no Python": None, "a crash": "exit 1", "a kill": "kill -9 $$",
           "an error": "echo 'xman: the disk is full' >&2; exit 2", "silence": "exit 0",
           "a part of the results": "echo '{' > $6.part; kill -9 $$"}


@runs_scripts("bash")
@pytest.mark.parametrize("text", CRASHES.values(), ids=CRASHES)
def test_results_with_a_sentence_are_there_whatever_becomes_of_the_grader(autograder, text):
    said, results = autograder(text)
    assert results["score"] == 0 and "tell your instructor" in results["output"] and results["stdout_visibility"] == "hidden"
    assert ("Instructor: the grader ended with status" in said) == (text != "exit 0")
    assert text is None or "disk" not in text or "the disk is full" in said


@runs_scripts("bash")
def test_results_are_there_also_when_all_is_killed(autograder):
    script(autograder.root / "environment" / "bin" / "python", "kill -9 $PPID")
    killed = subprocess.run([autograder.root / "run_autograder"], env=environment(autograder.root), capture_output=True)
    assert killed.returncode == -9
    assert json.loads((autograder.root / "results" / "results.json").read_text())["score"] == 0


@runs_scripts("bash")
def test_the_results_of_the_grader_are_kept_also_if_it_fails_afterwards(autograder):
    said, results = autograder("""echo '{"score": 71.5}' > "$6"; exit 3""")
    assert results == {"score": 71.5} and "ended with status 3" in said


@runs_scripts("bash")
def test_the_grader_is_called_with_the_sandbox_if_there_is_one_and_the_term_is_no_argument(autograder):
    said, _ = autograder('echo "$@"')
    root = autograder.root
    assert said.startswith(f"-I {root}/source/grade.py {root}/submission --unsafe --gradescope "
                           f"{root}/results/results.json --out ")
    assert "secret" not in said


@runs_scripts("bash")
def test_other_users_are_shut_out_before_the_grader_starts(autograder):
    said, _ = autograder("stat -c %a " + " ".join(str(autograder.root / name) for name in
                                                  ("source", "source/term", "submission", "results", "run_autograder")))
    assert said.split() == ["700", "600", "700", "700", "700"]


@runs_scripts("bash")
def test_setup_installs_python_a_sandbox_and_xman_and_shuts_other_users_out(zipped, tmp_path):
    root, log = tmp_path / "autograder", tmp_path / "log"
    with zipfile.ZipFile(zipped) as archive:
        (root / "source").mkdir(parents=True)
        (root / "source" / "setup.sh").write_bytes(archive.read("setup.sh"))
    for name in ("apt-get", "python3"):
        script(tmp_path / "bin" / name, f'echo {name} "$@" >> "{log}"')
    for name in ("pip", "xman"):
        script(root / "environment" / "bin" / name, f'echo {name} "$@" >> "{log}"')
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    subprocess.run(["bash", root / "source" / "setup.sh"], env={**environment(root), "PATH": path}, check=True)
    lines = log.read_text().splitlines()
    assert lines[0] == "apt-get update" and {"python3", "python3-venv", "bubblewrap", "libseccomp2"} <= set(lines[1].split())
    assert lines[-3:] == [f"python3 -I -m venv {root}/environment", f"pip install --no-cache-dir {root}/source/sources[grade]",
                          "xman grade doctor --unsafe"]
    assert (root / "source").stat().st_mode & 0o077 == 0


# Autolab's


@pytest.fixture
def job(lab, tmp_path):
    """job(text of a shell script that plays the grader, words of make…) -> what was printed, as Autolab runs it."""
    def run(text, *words, handin="x = 1\n", name="handin.py", beside=()):
        folder = tmp_path / "job"
        folder.mkdir()
        shutil.copy(lab / "autograde-Makefile", folder / "Makefile")
        shutil.copy(lab / "autograde.tar", folder)
        if handin is not None:
            (folder / name).write_text(handin)
        for path in (folder / "settings.json", *(folder / name for name in beside)):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}")
        script(tmp_path / "bin" / "python3", f'case "$2" in */grade.py) {text};; *) exec "{sys.executable}" "$@";; esac')
        path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
        outside = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
        said = subprocess.run(["make", *words], cwd=folder, env={**outside, "PATH": path}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60)
        assert said.returncode == 0
        return said.stdout
    return run


needs_make = pytest.mark.skipif(not all(map(shutil.which, ("bash", "make", "tar"))) or not importlib.util.find_spec("jinja2")
                                or not importlib.util.find_spec("click") or not importlib.util.find_spec("tqdm"),
                                reason="needs bash, make, tar, click, jinja2 and tqdm")


@needs_make
def test_the_last_line_is_the_graders(job):
    said = job("""echo a table; echo '{"scores": {"1. a": 2.5}}'; echo 'xman: a warning' >&2; echo rubbish >&2""")
    assert said.splitlines() == ["xman: a warning", "a table", '{"scores": {"1. a": 2.5}}']


@needs_make
def test_the_handin_is_found_the_term_is_no_argument_and_the_sandbox_is_wanted(job):
    said = job("""echo "$@"; echo '{"scores": {}}'""")
    assert "autograder/grade.py ./handin.py --autolab --out " in said and "--unsafe" not in said and "secret" not in said


@needs_make
def test_the_sandbox_is_waived_by_a_line_of_the_makefile(job):
    assert "--unsafe\n" in job("""echo "$@"; echo '{"scores": {}}'""", "SANDBOX=--unsafe")


@needs_make
@pytest.mark.parametrize("text", ["exit 1", "kill -9 $$", "kill -9 $PPID", "echo 'xman: no sandbox' >&2; exit 2",
                                  "echo no scores", """printf '{"scores": {'"""])
def test_the_last_line_is_json_without_scores_whatever_becomes_of_the_grader(job, text):
    said = job(text)
    assert json.loads(said.splitlines()[-1]) == {"scores": {}}
    assert "PPID" in text or "tell your instructor" in said
    assert "no sandbox" not in text or "xman: no sandbox" in said


@needs_make
def test_nothing_of_an_autograder_that_lies_there_already_is_used(job):
    """Python would take bytecode of the same time and length for that of the assignment, and term.toml is optional."""
    planted = [f"autograder/assignment/{name}" for name in ("term.toml", "twice/__pycache__/grading.cpython-311.pyc")]
    said = job("""ls -R autograder/assignment; echo '{"scores": {}}'""", beside=planted)
    assert "grading.py" in said and "term.toml" not in said and ".pyc" not in said


@needs_make
def test_a_job_without_a_handin_is_not_graded(job):
    said = job("echo graded", handin=None)
    assert "no submission was there" in said and said.splitlines()[-1] == '{"scores": {}}' and "graded" not in said.split()


# with the grader itself


@needs_make
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_a_submission_is_graded_from_the_unpacked_autograders(autograder, zipped, lab, tmp_path):
    with zipfile.ZipFile(zipped) as archive:
        for name in archive.namelist():
            if not name.startswith("sources/"):
                (autograder.root / "source" / name).parent.mkdir(parents=True, exist_ok=True)
                (autograder.root / "source" / name).write_bytes(archive.read(name))
    (autograder.root / "submission" / "twice.py").write_text(SOLUTION)
    (autograder.root / "submission" / "notes.txt").write_text("my notes")
    said, results = autograder(f'exec "{sys.executable}" "$@"')
    assert results["score"] == 100, said
    assert "xman: the sandbox is " in said


@needs_make
@pytest.mark.parametrize("name", ["it's (2).zip", "$(touch x)'; touch x; '.py", "-x.py", "a b.py"])
def test_the_name_of_a_submission_is_no_command(job, tmp_path, name):
    said = job("""printf '%s\\n' "$3"; echo '{"scores": {}}'""", name=name)
    assert said.splitlines()[0] == f"./{name}" and not list(tmp_path.rglob("x"))
