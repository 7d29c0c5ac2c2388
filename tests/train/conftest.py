"""What the tests of training share."""

import pytest


@pytest.fixture(autouse=True)
def no_seconds_of_a_compiler(monkeypatch):
    """Runs that name no engine take the one that starts at once; those of the command line too."""
    monkeypatch.setenv("XMAN_ENGINE", "numpy")


@pytest.fixture
def write(tmp_path):
    """write(name, content) -> path of a new file that holds the text or the bytes."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
