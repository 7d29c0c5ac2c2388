"""The base of sandboxes, in which submissions run. A sandbox is tried out before it is used."""
from __future__ import annotations

import base64
import json
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..submissions.scratch import open_to_all, scratch
from . import uids
from .inside import plain
from .worker import Limits, Worker

INSIDE = Path(plain.__file__).parent
NOTHING: Mapping[str, Path] = MappingProxyType({})
ONE = "PYTHONDONTWRITEBYTECODE OPENBLAS_NUM_THREADS OMP_NUM_THREADS MKL_NUM_THREADS".split()
ENVIRONMENT = {"PYTHONHASHSEED": "0", "HOME": "/tmp", "LANG": "C.UTF-8", **dict.fromkeys(ONE, "1")}
# (the process of a worker, a function that ends it with all that it started, its own settings)
Begun = tuple[subprocess.Popen, Callable[[], None], dict[str, Any]]


class Sandbox(ABC):
    """Starts workers, in which submissions run; several threads may use it at once.

    name: its kind. filter: whether there is a filter of system calls. drops: whether each worker is another
    user.
    """
    name: str
    filter: bytes | None
    drops: bool

    def start(self, submission: Mapping[str, bytes], packages: Sequence[str],
              limits: Limits = Limits(),  # noqa: B008 (it is frozen)
              extra_files: Mapping[str, Path] = NOTHING) -> Worker:
        """Start a worker, which then waits for its settings. XManError if it or a package is missing.

        submission: its files, by name. packages: those of "numpy", "scipy", "xman" that it can import.
        extra_files: by name, files beside worker.py, or in place of it.
        """
        with ExitStack() as undo:
            if uid := uids.lend() if self.drops else None:
                undo.callback(uid.close)
            home = undo.enter_context(scratch())
            paths = {**{path.name: path for path in INSIDE.glob("*.py")}, **extra_files}
            grader = {name: path.read_bytes() for name, path in paths.items()}
            for place, files in (home / "submission", submission), (home / "grader", grader):
                place.mkdir()
                for name, data in files.items():
                    (place / name).write_bytes(data)
                open_to_all(place)
            process, end, settings = self.begin(home, packages, limits, uid)
            filter = self.filter and base64.b64encode(self.filter).decode()
            common = {"limits": asdict(limits), "uid": uid and uid.number, "seccomp": filter, "in_memory": {}}
            common |= {"hidden": True, "keeps_capabilities": False}
            return Worker(process, common | settings, end, undo.pop_all())

    @abstractmethod
    def begin(self, home: Path, packages: Sequence[str], limits: Limits, uid: uids.Uid | None) -> Begun:
        """Begin a worker in the way of this box. home: a folder with submission/ and grader/, open to all."""

    def complaint(self, packages: Sequence[str] = ()) -> str:
        """The errors of a worker that imports these packages; "" if all goes well."""
        program = "".join(f"import {package}\n" for package in packages).encode()
        with self.start({"trial.py": program}, packages) as worker:
            settings = json.dumps({**worker.settings, "module": "trial"}).encode() + b"\n"
            question = {"nonce": "", "call": None, "args": [], "keywords": {}, "seed": 0}
            try:
                out, err = worker.process.communicate(settings + plain.encoded(question), 30)
            except subprocess.TimeoutExpired:
                return "nothing, for too long"
        answer = (out or err or b"nothing").decode(errors="replace").strip()
        return "" if out == plain.encoded({"nonce": "", "result": None}) else answer[-500:]


def worker_command(python: str | Path, grader: str | Path) -> list[str]:
    """The command of a worker: Python without site packages, the user's packages and bytecode files."""
    return [str(python), "-s", "-S", "-B", f"{grader}/worker.py"]
