"""Workers under bubblewrap: started by several threads, ended by a limit, by themselves and by stop."""

import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from scripts_inside import DAEMON, nobody_holds, started

import xman
from xman.grade.sandbox import Limits, uids
from xman.grade.sandbox.bubblewrap import NAMESPACES
from xman.grade.sandbox.processes import end_stranded

QUICK = Limits(cpu_seconds=1)
WAIT = "sys.stdin.read()"


def test_many_threads_start_workers_that_do_not_count_as_one_user(box, tmp_path):
    script = """
        children = []
        def fork():
            child = os.fork()
            if not child:
                sys.stdin.read()
            children.append(child)
        while not error(fork):
            pass
        print(settings["number"], len(children), flush=True)
        sys.stdin.read()
    """
    all_run = threading.Barrier(6)

    def run(number):
        (tmp_path / str(number)).mkdir()
        with started(box, tmp_path / str(number), script, number=number) as worker:
            line = worker.process.stdout.readline()
            all_run.wait(20)
            return line.decode().split()

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(run, range(6))) == [[str(number), "2"] for number in range(6)]


def test_a_worker_outlives_the_thread_that_started_it(box, start):
    workers = []
    thread = threading.Thread(target=lambda: workers.append(start(box, "print(sys.stdin.readline())")))
    thread.start()
    thread.join()
    time.sleep(0.2)
    workers[0].process.stdin.write(b"still here\n")
    assert workers[0].process.stdout.readline() == b"still here\n"


def test_stop_ends_also_what_has_left_the_session_and_returns_when_it_has_ended(box, start):
    worker = start(box, DAEMON)
    assert worker.process.stdout.readline() == b"started\n"
    pipe = os.dup(worker.process.stdout.fileno())
    worker.stop()
    assert nobody_holds(pipe)


def test_daemons_end_when_the_worker_ends_by_itself(box, start):
    worker = start(box, DAEMON)
    assert worker.process.stdout.readline() == b"started\n"
    worker.process.stdin.close()
    assert worker.signal(5) == 0 and worker.process.stdout.read() == b""


def test_stop_twice_and_from_two_threads_is_stop(box, start):
    worker = start(box, WAIT)
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _: worker.stop(), range(4)))
    worker.stop()
    assert worker.process.returncode is not None
    assert worker.process.stdin.closed and worker.process.stdout.closed and worker.process.stderr.closed


def test_no_file_and_no_descriptor_is_left_behind(box, say, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    say(box, "print()", submission={"a.py": b""})
    opened = os.listdir("/proc/self/fd")
    say(box, "print()", submission={"a.py": b""})
    assert len(os.listdir("/proc/self/fd")) == len(opened)
    assert not list(tmp_path.glob("xman-*"))


LEAVES = """
import os, subprocess, sys, time
from xman.grade.sandbox.processes import adopt_orphans, end_processes, running_processes
DAEMON = '''
import os, sys, time
def hop():  # each lives for a moment
    for _ in range(150):
        os.setsid()
        time.sleep(0.002)
        if os.fork():
            os._exit(0)
    time.sleep(60)
os.setsid()
if os.fork():
    os._exit(0)
print("begun", flush=True)
hop() if sys.argv[1] == "hops" else time.sleep(60)
'''
adopt_orphans()
mine = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
process = subprocess.Popen([sys.executable, "-S", "-c", DAEMON, sys.argv[1]], env={}, stdout=subprocess.PIPE)
process.stdout.readline()
process.wait()
before = [each for each in running_processes().values() if each.parent == os.getpid()]
end_processes()
after = [each.pid for each in running_processes().values() if each.parent == os.getpid()]
print(len(before) > 1, after == [mine.pid])
mine.kill()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone tells whose child an orphan becomes")
@pytest.mark.parametrize("way", ["stays", "hops"])
def test_an_orphan_that_has_left_session_and_environment_is_ended_by_who_began_its_forebear(way):
    environment = {**os.environ, "PYTHONPATH": str(Path(xman.__file__).parents[1])}
    told = subprocess.run([sys.executable, "-c", LEAVES, way], env=environment, capture_output=True, text=True, timeout=60)
    assert told.stdout == "True True\n", told.stderr


def test_no_process_is_left_that_somebody_else_would_have_to_wait_for(box, start):
    def children(pid):
        return [int(name) for name in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    workers = [start(box, WAIT) for _ in range(3)]
    firsts = [pid for worker in workers for pid in children(worker.process.pid)]
    for worker in workers:
        worker.stop()
    assert len(firsts) == 3 and not any(os.path.exists(f"/proc/{pid}") for pid in firsts)


def test_an_endless_loop_is_ended_by_a_signal_that_says_why_and_where_it_is_ignored_by_another(box, start):
    deaf = start(box, "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass", limits=QUICK)
    assert start(box, "while True: pass", limits=QUICK).signal(10) == signal.SIGXCPU
    assert deaf.signal(10) == signal.SIGKILL


def test_signal_is_none_while_a_worker_runs_and_zero_when_it_has_ended_by_itself(box, start):
    worker = start(box, "sys.stdin.readline(); sys.exit(3)")
    assert worker.signal(0.01) is None
    worker.process.stdin.write(b"\n")
    assert worker.signal(5) == 0 and worker.process.returncode == 3


def test_a_crash_is_told_by_its_signal(box, start):
    assert start(box, "import ctypes; ctypes.string_at(1)").signal(5) == signal.SIGSEGV


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root becomes other users")
def test_each_worker_of_root_is_a_user_of_its_own_until_it_is_stopped(box, start):
    workers = [start(box, WAIT) for _ in range(3)]
    numbers = {worker.settings["uid"] for worker in workers}
    assert len(numbers) == 3 and not numbers & {0, None}
    others = [uids.lend() for _ in range(40)]
    assert len({other.number for other in others}) == 40 and not numbers & {other.number for other in others}
    for other in others:
        other.close()


def test_a_sandbox_whose_grader_was_killed_while_it_was_made_is_ended_by_the_next_grader(box, start, monkeypatch):
    monkeypatch.setattr("xman.grade.sandbox.bubblewrap.NAMESPACES", [word for word in NAMESPACES if word != "--die-with-parent"])
    stranded, used = start(box, WAIT), start(box, WAIT)
    pipe = os.dup(stranded.process.stdout.fileno())
    stranded.process.kill()  # bubblewrap itself, and with it nothing else
    stranded.process.wait()
    assert not nobody_holds(os.dup(pipe))
    end_stranded()
    select.select([pipe], [], [], 5)
    assert nobody_holds(pipe)
    assert used.signal(0.1) is None
