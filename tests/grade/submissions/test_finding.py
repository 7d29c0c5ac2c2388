"""Facts about what is found in a class: nobody's file swallows or replaces another's, whatever it is called."""

import hashlib
import io
import os
import signal
import subprocess
import sys
import tempfile
import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from xman.grade.submissions import find, one
from xman.grade.submissions.finding import with_slugs
from xman.grade.submissions.scratch import PREFIX, scratch, sweep

CODE = b"def eval(steps):\n    return steps\n"


def zipped(name="wengert.py"):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), CODE)  # of one date, as bytes are names of tests
    return file.getvalue()


def laid(folder, files):
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def names(folder, module="wengert"):
    return [submission.path.name for submission in find([folder], module)]


# a class, or one submission


@pytest.mark.parametrize("others", [
    {"bob.py": CODE}, {"BOB.PY": CODE}, {"alice.zip": zipped()}, {"alice.tar.gz": b"\x1f\x8b"}, {"carol/wengert.py": CODE},
    {"carol/src/wengert.py": CODE}, {"carol/hand-in.zip": zipped()}, {"a zip without its ending": zipped()},
    {"empty.py": b""}, {"misnamed/main.py": CODE, "dave.py": b"raise SystemExit"}], ids=str)
def test_a_wengert_py_at_the_top_of_a_class_is_one_of_its_submissions(tmp_path, others):
    """Also where its owner has put what looks like a hand-out or a helper of all others into it."""
    laid(tmp_path, {"wengert.py": b"import bob, alice, carol, dave, empty\n", **others})
    assert names(tmp_path) == sorted({"wengert.py", *(name.partition("/")[0] for name in others)})


@pytest.mark.parametrize("kind", ["folder", "link", "fifo"])
def test_whatever_is_called_wengert_py_swallows_nobody(tmp_path, kind):
    laid(tmp_path, {"alice.py": CODE, "bob.zip": zipped()})
    place = tmp_path / "wengert.py"
    place.mkdir() if kind == "folder" else place.symlink_to("/nowhere") if kind == "link" else os.mkfifo(place)
    assert names(tmp_path) == ["alice.py", "bob.zip", "wengert.py"]


@pytest.mark.parametrize("files", [
    {"check.py": b"1", "checks.py": b"1", "handout.md": b"1", "data/train.tsv": b"1"}, {"lib/help.py": b"1"},
    {"weights.npz": zipped("w.npy")}, {"old.zip": b"no archive"}, {".git/wengert.py": CODE, "__pycache__/a.py": b""}], ids=str)
def test_a_folder_with_the_module_and_what_belongs_to_it_is_one_submission(tmp_path, files):
    laid(tmp_path / "alice", {"wengert.py": CODE, **files})
    assert names(tmp_path / "alice") == ["alice"]


# names


WHOLE = ["bob.py", "bob.PY", "Bob.py", "BOB.py", "bob.zip", "bob.ZIP", "bob.tar.gz", "bob", "bob.", "bob .py", " bob.py", "bob-2",
         "bob-2.py", "bob.py.py", "b\u00f6b.py", "bo\u0308b.py", "\uff42ob.py", "bob\u200b.py", "bob\n.py", "bob\\.py", "-.py",
         "b" * 60 + "1.py", "b" * 60 + "2.py", "b" * 40 + ".py", "b" * 48 + ".py", "b" * 49 + ".py", "\u674e\u96f7.py", "con.py",
         "\udcff.py", "\udcfe.py", "submission.py", "?.py", "*.py"]


def test_a_slug_is_that_of_the_whole_name_in_each_run_and_of_no_other_file(tmp_path):
    paths = [tmp_path / name for name in WHOLE]
    for path in paths:
        path.touch()
    (tmp_path / "folders").mkdir()
    folders = [tmp_path / "folders" / name for name in ("bob", "bob.py", "bob.zip")]
    for folder in folders:
        folder.mkdir()
    alone = {path: one(path).slug for path in (*paths, *folders)}
    together = {submission.path: submission.slug for submission in find([tmp_path], "wengert") if submission.path in alone}
    assert together == {path: alone[path] for path in paths}
    assert len({unicodedata.normalize("NFKC", slug).casefold() for slug in alone.values()}) == len(alone)
    for slug in alone.values():
        assert len(f"{slug}.json".encode()) < 250 and Path(slug).name == slug and slug[0] not in "-. " and slug[-1] not in ". "


def test_what_is_shown_is_the_name_and_where_two_have_one_the_files(tmp_path):
    laid(tmp_path, {"ada.py": CODE, "bob.py": CODE, "bob.zip": CODE, "bob/wengert.py": CODE, "cleo.PY": CODE, "Cleo.py": CODE})
    shown = {submission.path.name: submission.name for submission in find([tmp_path], "wengert")}
    slug = next(submission.slug for submission in find([tmp_path], "wengert") if submission.path.name == "bob")
    assert shown == {"ada.py": "ada", "bob.py": "bob.py", "bob.zip": "bob.zip", "bob": slug, "cleo.PY": "cleo", "Cleo.py": "Cleo"}


def test_a_name_that_stands_twice_in_a_run_has_the_slugs_of_its_paths(tmp_path):
    laid(tmp_path, {"a/bob.py": CODE, "b/bob.py": CODE, "b/ada.py": CODE})
    slugs = {submission.path: submission.slug for submission in find([tmp_path / "a", tmp_path / "b"], "wengert")}
    turned = {submission.path: submission.slug for submission in find([tmp_path / "b", tmp_path / "a"], "wengert")}
    assert slugs == turned and len(set(slugs.values())) == 3
    assert slugs[tmp_path / "b" / "ada.py"] == one(tmp_path / "b" / "ada.py").slug


LETTERS = st.sampled_from("aAbB.-_ é\u0301\u212b\u200b\n2") | st.characters(exclude_categories=["Cs"], exclude_characters="/\0")
NAMES = st.text(LETTERS, min_size=1, max_size=60).filter(lambda name: name not in (".", ".."))


@given(st.lists(NAMES, min_size=2, max_size=8, unique=True))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_two_names_have_one_slug(tmp_path, some):
    found = with_slugs([tmp_path / name for name in some])
    assert len({unicodedata.normalize("NFKC", submission.slug).casefold() for submission in found}) == len(some)
    assert len({submission.name for submission in found}) == len(some)
    assert [submission.slug for submission in found] == [one(tmp_path / name).slug for name in some]


# read once


@pytest.mark.parametrize("name", ["alice.py", "alice.zip", "alice/wengert.py"])
def test_what_is_unpacked_is_what_has_the_digest_whatever_becomes_of_the_file(tmp_path, name):
    laid(tmp_path, {name: zipped() if name.endswith("zip") else CODE})
    place = tmp_path / name.partition("/")[0]
    submission = one(place).read()
    digest = submission.digest()
    (tmp_path / name).write_bytes(b"# another")
    assert submission.program("wengert") == CODE
    assert submission.digest() == digest != one(place).digest()
    if name == "alice.py":
        assert digest == hashlib.sha256(CODE).hexdigest()


def test_what_could_not_be_read_stays_so(tmp_path):
    submission = one(tmp_path / "alice.py").read()
    (tmp_path / "alice.py").write_bytes(CODE)
    with pytest.raises(ValueError, match="was not opened"):
        submission.program("wengert")


# swept up


HOLDS = "import sys, time\nfrom xman.grade.submissions.scratch import scratch\n" \
        "with scratch() as path:\n    (path / 'a').touch()\n    print(path, flush=True)\n    time.sleep(60)\n"


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is locked there")
def test_folders_of_killed_processes_are_swept_and_those_of_living_ones_are_not(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    others = [tmp_path / "xman-results", tmp_path / f"{PREFIX}link", tmp_path / f"{PREFIX}file"]
    others[0].mkdir()
    others[1].symlink_to(others[0])
    others[2].touch()
    with scratch() as mine, subprocess.Popen([sys.executable, "-c", HOLDS], stdout=subprocess.PIPE, text=True) as process:
        held = Path(process.stdout.readline().strip())
        sweep()
        assert mine.is_dir() and (held / "a").exists()
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (held / "a").exists()
        sweep()
        assert mine.is_dir() and not held.exists() and all(os.path.lexists(other) for other in others)
    assert not mine.exists()


def test_a_folder_that_is_swept_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    make, made = tempfile.mkdtemp, []

    def swept_at_once(**options):
        made.append(make(**options))
        if len(made) == 1:
            sweep()
        return made[-1]
    monkeypatch.setattr(tempfile, "mkdtemp", swept_at_once)
    with scratch() as path:
        assert path.is_dir() and path == Path(made[1])
