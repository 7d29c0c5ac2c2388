"""What the tests of the command line share."""

import pytest


@pytest.fixture(autouse=True)
def no_seconds_of_a_compiler(monkeypatch):
    """Runs that name no engine take the one that starts at once."""
    monkeypatch.setenv("XMAN_ENGINE", "numpy")
