"""What one worker may use. What it uses beyond that stops it, and costs its own task alone."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits of one worker, kept by the kernel, but for wall_seconds, which whoever asks the worker keeps.

    cpu_seconds     processor time of each process, seconds
    wall_seconds    time that passes, seconds
    memory_mib      address space of each process, MiB
    processes       processes and threads at one time, the worker among them
    open_files      open files of each process
    file_mib        size of any one file that is written, MiB
    tmp_mib         all of /tmp, MiB (it is memory)
    shm_mib         all of /dev/shm, MiB (it is memory)
    """
    cpu_seconds: int = 20
    wall_seconds: int = 60
    memory_mib: int = 1024
    processes: int = 3
    open_files: int = 64
    file_mib: int = 16
    tmp_mib: int = 64
    shm_mib: int = 16
