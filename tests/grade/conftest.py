"""Where `xman grade` itself is called, what pip installs with xman[grade] is there, or the test is skipped."""

import pytest


@pytest.fixture(autouse=True)
def home_of_the_grader(monkeypatch, tmp_path_factory):
    """What marks the folders of grades is not written into the home of whoever runs the tests."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state"))


@pytest.fixture
def grade_extra():
    for package in ("click", "jinja2", "tqdm"):
        pytest.importorskip(package)
