"""A term of a few students, and records of their work that nobody judged."""

import sys

import pytest
from term_texts import ROSTER

from xman.cli import main
from xman.grade.term.settings import term_at


@pytest.fixture
def term(tmp_path):
    """term(settings, roster) -> the Term of these texts, in which there are the assignments one and two."""
    def made(settings, roster=ROSTER, encoding="utf-8"):
        (tmp_path / "roster.csv").write_bytes(roster.encode(encoding))
        (tmp_path / "term.toml").write_text(settings, "utf-8")
        return term_at(tmp_path / "term.toml", {"one", "two"})
    return made


@pytest.fixture
def record():
    """record(file, points) -> what a book reads of a record."""
    return lambda file, points=100.0, **more: {"file": file, "slug": file, "submission": file, "points": points, "tasks": [],
                                               **more}


@pytest.fixture
def grade_command(tmp_path, monkeypatch, capsys, grade_extra):
    """grade_command(*words) -> (exit status, output, errors) of `xman grade` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("signal.signal", lambda *_: None)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["xman", "grade", *words])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()
    return run
