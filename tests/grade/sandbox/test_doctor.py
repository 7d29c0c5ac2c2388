"""The doctor: what it finds where all is well, and what it says where it is not."""

import pytest

from xman.errors import XManError
from xman.grade.sandbox import sandbox_here
from xman.grade.sandbox.bubblewrap import Bubblewrap
from xman.grade.sandbox.doctor import examined

NAMES = {"files cannot be read", "bubblewrap",
         "no network", "read-only root", "nothing of this machine's files", "only the packages asked for",
         "the grader is not visible", "other processes are invisible", "/tmp of bounded size", "/dev/shm of bounded size",
         "file size", "open files", "memory", "number of processes", "no new privileges", "no capabilities", "another user",
         "dangerous system calls", "environment", "filter of system calls", "no terminal", "processor time",
         "hidden parts come last", "no submission is the assignment", "no submission is the folder of grades",
         "arguments stay", "workers cannot read one another",
         "no formula in the gradebook", "nothing beside a submission is imported",
         "daemons end with the worker", "workers end with the grader"}
OF_THE_FILTER = {"filter of system calls", "dangerous system calls"}


def test_all_that_the_sandbox_promises_holds_where_it_is_complete(box):
    found = examined()
    assert {finding.name for finding in found} == NAMES
    assert {finding.name for finding in found if not finding.ok} == (set() if box.filter else OF_THE_FILTER)
    assert all(finding.found and bool(finding.todo) != finding.ok for finding in found)


def test_a_filter_that_is_missing_is_found_and_what_to_install_is_said(box, monkeypatch):
    monkeypatch.setattr("xman.grade.sandbox.seccomp.program", lambda forks=True, owner=False: None)
    monkeypatch.setattr(Bubblewrap, "on_this_machine", lambda: Bubblewrap(box.program, box.version, box.way))
    todo = {finding.name: finding.todo for finding in examined() if not finding.ok}
    assert todo.keys() == OF_THE_FILTER and "libseccomp2" in todo["filter of system calls"]


@pytest.mark.parametrize("unsafe", [False, True])
def test_bubblewrap_that_is_missing_is_the_first_finding_and_what_is_left_without_it_is_tried(unsafe, monkeypatch):
    def missing():
        raise XManError("Install it: apt install bubblewrap.")
    monkeypatch.setattr(Bubblewrap, "on_this_machine", missing)
    monkeypatch.setattr("xman.grade.sandbox.doctor.sandbox_here", sandbox_here.__wrapped__)  # not what an earlier test has found
    first, *more = examined(unsafe)
    assert (first.name, first.ok, first.todo) == ("bubblewrap", False, "Install it: apt install bubblewrap.")
    assert bool(more) == unsafe
    if unsafe:
        assert {"environment", "memory", "processor time"} <= {finding.name for finding in more if finding.ok}
        assert "nothing of this machine's files" in {finding.name for finding in more if not finding.ok}
