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

    name: what it is, and what it is made of, "bubblewrap 0.8.0, seccomp". filter: of system calls, or None.
    """
    name: str
    filter: bytes | None

    @staticmethod
    def here(unsafe: bool = False) -> Sandbox:
        """The sandbox of this machine, tried once by running it. XManError says what to install for one.

        unsafe: where bubblewrap does not work, a weaker one, which the network and all files are open to.
        """
        return _here(unsafe)

    @abstractmethod
    def start(self, submission: Path, packages: Sequence[str], limits: Limits = Limits(),  # noqa: B008 (it is frozen)
              extra_files: Mapping[str, Path] = NOTHING) -> Worker:
        """Start a worker, which then waits for its settings. XManError where it or a package is missing.

        submission: the folder that it sees, read-only. packages: of "numpy", "scipy", "xman", those that it can
        import. extra_files: what lies beside worker.py, or in its place, by name.
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
