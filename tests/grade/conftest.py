"""Where `xman grade` itself is called, what pip installs with xman[grade] is there, or the test is skipped."""

import pytest


@pytest.fixture
def grade_extra():
    for package in ("click", "jinja2", "tqdm"):
        pytest.importorskip(package)
