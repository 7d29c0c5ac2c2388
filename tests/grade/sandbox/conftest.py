"""The sandbox of this machine, and what scripts say in it."""

import pytest
from scripts_inside import started

from xman.errors import XManError
from xman.grade.sandbox import sandbox_here


@pytest.fixture
def box():
    try:
        return sandbox_here()
    except XManError as error:
        pytest.skip(str(error))


@pytest.fixture
def say(tmp_path):
    """What a script prints in a sandbox, line by line."""
    def said(box, script, *args, **keywords):
        with started(box, tmp_path, script, *args, **keywords) as worker:
            out, err = worker.process.communicate(timeout=30)
            assert not err, err.decode()
        return out.decode().splitlines()
    return said


@pytest.fixture
def start(tmp_path):
    """A worker that runs a script, stopped at the end of the test."""
    workers = []

    def begin(box, script, *args, **keywords):
        workers.append(started(box, tmp_path, script, *args, **keywords))
        return workers[-1]
    yield begin
    for worker in workers:
        worker.stop()
