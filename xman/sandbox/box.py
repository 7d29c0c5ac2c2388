"""The sandbox of this machine: bubblewrap where it works, else, where that is asked for, a weaker one."""
from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from xman.errors import XManError

from .worker import Limits, Worker

NOTHING: Mapping[str, Path] = MappingProxyType({})


class Sandbox(ABC):
    """Where submissions run. Several threads may use one at once.

    name    what it is, and what it is made of: "bubblewrap 0.8.0, seccomp"
    filter  the filter of system calls, None where there is none
    """
    name: str
    filter: bytes | None

    @staticmethod
    def here(unsafe: bool = False) -> Sandbox:
        """The sandbox of this machine, tried once by running it.

        unsafe  True: where bubblewrap does not work, a weaker one: the network and all files of the machine can be reached

        Raises XManError, which says what to install, where bubblewrap does not work and unsafe is False.
        """
        return _here(unsafe)

    @abstractmethod
    def start(self, submission: Path, packages: Sequence[str], limits: Limits = Limits(),  # noqa: B008 (it is frozen)
              extra_files: Mapping[str, Path] = NOTHING) -> Worker:
        """Start a worker, which then waits for its settings.

        submission      folder that it sees, read-only
        packages        what it can import besides the standard library: of "numpy", "scipy", "xman"
        limits          what it may use
        extra_files     files beside worker.py, by the name that each has there (worker.py itself, too)

        Raises XManError where a package is missing or the worker cannot be started.
        """


@functools.cache
def _here(unsafe: bool) -> Sandbox:
    from .bubblewrap import Bubblewrap
    from .unsafe import Unsafe
    try:
        return Bubblewrap.found()
    except XManError as error:
        if unsafe:
            return Unsafe.found()
        raise XManError(f"{error} Without a sandbox a submission can read and write the files of this machine and reach "
                        "the network; --unsafe grades it all the same.") from None
