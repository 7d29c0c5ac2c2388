"""What a sandbox is: where submissions run. It is believed in after it has been tried."""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from ..submissions.scratch import scratch
from .worker import Limits, Worker

NOTHING: Mapping[str, Path] = MappingProxyType({})
TRIAL = """
import json, sys
import confine
settings = json.loads(sys.stdin.readline())
confine.confine(settings)
sys.path += settings["path"]
for name in settings["packages"]:
    __import__(name)
print("it works")
"""


class Sandbox(ABC):
    """Where submissions run, for several threads. name: what it is made of. filter: of system calls."""
    name: str
    filter: bytes | None

    @abstractmethod
    def start(self, submission: Path, packages: Sequence[str],
              limits: Limits = Limits(),  # noqa: B008 (it is frozen)
              extra_files: Mapping[str, Path] = NOTHING) -> Worker:
        """Start a worker, which then waits for its settings. XManError where it or a package is missing.

        submission: the folder that it sees, read-only. packages: of "numpy", "scipy", "xman", those that it
        can import. extra_files: what lies beside worker.py, or in its place, by name.
        """

    def complaint(self, packages: Sequence[str] = ()) -> str:
        """What goes wrong when Python, confined inside, imports these packages; empty where nothing does."""
        with scratch() as folder:
            script = folder / "worker.py"
            script.write_text(TRIAL)
            with self.start(folder, packages, extra_files={"worker.py": script}) as worker:
                worker.settings["packages"] = list(packages)
                answer = worker.first_answer().decode(errors="replace").strip()
        return "" if answer == "it works" else answer[-500:]
