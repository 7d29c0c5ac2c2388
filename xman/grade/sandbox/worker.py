"""A worker on the grader's side: limits, a process with three pipes, a way to end all that it started."""
from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from subprocess import PIPE, Popen, TimeoutExpired


@dataclass(frozen=True)
class Limits:
    """The limits of one worker. The kernel enforces them, and the session enforces wall_seconds."""
    cpu_seconds: int = 20   # processor time of each process
    wall_seconds: int = 60
    memory_mib: int = 1024  # address space of each process
    processes: int = 3      # processes and threads at a time, with the worker itself
    open_files: int = 64    # files that each process may have open
    file_mib: int = 16      # size of a file that is written
    tmp_mib: int = 64       # size of /tmp, which is in memory
    shm_mib: int = 16       # size of /dev/shm, which is in memory


class Worker:
    """A process in a sandbox, with three unbuffered pipes. settings: its first line, for JSON."""

    def __init__(self, process: Popen, settings: dict, kill: Callable[[], None], after: ExitStack) -> None:
        self.process, self.settings = process, settings
        self._kill, self._after = kill, after
        self._stopping, self._stopped = threading.Lock(), False

    def signal(self, timeout: float = 1.0) -> int | None:
        """The signal that ended it, 0 if it ended by itself, None if it still runs after timeout seconds."""
        with suppress(TimeoutExpired):
            self.process.wait(timeout)
        return None if self.process.returncode is None else signal_of(self.process.returncode)

    def stop(self) -> None:
        """End it and all that it has started, and free what it held. A second call does nothing."""
        with self._stopping:
            if self._stopped:  # another process may have its number by now
                return
            self._stopped = True
            self._kill()
            with suppress(TimeoutExpired):  # bubblewrap ends after the processes inside
                self.process.wait(2)
            self.process.kill()
            for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
                with suppress(OSError):
                    pipe.close()
            self.process.wait()
            self._after.close()

    def __enter__(self) -> Worker: return self
    def __exit__(self, *error: object) -> None: self.stop()


def signal_of(status: int) -> int:
    """The signal in an exit status, 0 for none; bubblewrap's status is 128 + signal."""
    return -status if status < 0 else status - 128 if status > 128 else 0


def spawn(command: list[str], **options) -> Popen:
    """A process that the kernel ends when this process ends."""
    start = functools.partial(Popen, command, stdin=PIPE, stdout=PIPE, stderr=PIPE, bufsize=0, **options)
    return starting_thread(os.getpid()).submit(start).result()


@functools.cache
def starting_thread(process: int) -> ThreadPoolExecutor:
    """The thread that starts all workers: Linux ends a child together with the *thread* that started it."""
    return ThreadPoolExecutor(1, thread_name_prefix="xman sandbox")
