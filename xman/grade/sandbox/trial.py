"""A sandbox is believed in after it has been tried."""
from __future__ import annotations

from collections.abc import Sequence

from xman.grade.submissions.scratch import scratch

from .box import Sandbox

SCRIPT = """
import json, sys
import confine
settings = json.loads(sys.stdin.readline())
confine.confine(settings)
sys.path += settings["path"]
for name in settings["packages"]:
    __import__(name)
print("it works")
"""


def complaint(box: Sandbox, packages: Sequence[str] = ()) -> str:
    """What goes wrong when Python is confined inside and imports these packages; empty where nothing does."""
    with scratch() as folder:
        script = folder / "worker.py"
        script.write_text(SCRIPT)
        with box.start(folder, packages, extra_files={"worker.py": script}) as worker:
            worker.settings["packages"] = list(packages)
            answer = worker.first_answer().decode(errors="replace").strip()
    return "" if answer == "it works" else answer[-500:]
