"""What the tests of the command line share."""

import io
import sys

import numpy as np
import pytest

from tests.cli.files_of_users import FILES


@pytest.fixture(autouse=True)
def no_seconds_of_a_compiler(monkeypatch):
    """Runs that name no engine take the one that starts at once."""
    monkeypatch.setenv("XMAN_ENGINE", "numpy")


@pytest.fixture
def xman(tmp_path, monkeypatch, capsys):
    """xman(*words, stdin="") -> (exit status, output, errors), in a folder with FILES."""
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    np.save(tmp_path / "x.npy", np.array([1.0, 4.0]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(*words, stdin=""):
        monkeypatch.setattr(sys, "argv", ["xman", *words])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        from xman.cli import main
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return run
