"""python -m tests.gradbench.tool: xman as a tool of GradBench, a JSON message a line in and a line out."""
from __future__ import annotations

import importlib
import json
import sys
import time
import traceback
from typing import Any

import numpy as np

from xman.functions.trees import tree_map


def evaluated(message: dict) -> dict:
    """The output of a function, and its times: min_runs of them, and as many as min_seconds take."""
    module, function, given = imported(message["module"]), message["function"], message["input"]
    args, fn = module.prepare(given), getattr(module, function)
    runs, seconds = (given.get(key, least) for key, least in (("min_runs", 1), ("min_seconds", 0))) if isinstance(
        given, dict) else (1, 0)
    times: list[int] = []
    while len(times) < runs or sum(times) < seconds * 1e9:
        start = time.perf_counter_ns()
        output = fn(*args)
        times.append(time.perf_counter_ns() - start)
    written = getattr(module, "written", lambda function, output: output)
    return {"success": True, "output": tree_map(plain, written(function, output)),
            "timings": [{"name": "evaluate", "nanoseconds": t} for t in times]}


def plain(x: Any) -> Any:
    return x.tolist() if isinstance(x, (np.ndarray, np.generic)) else x


def imported(name: str) -> Any:
    return importlib.import_module(f"tests.gradbench.evals.{name}")


def answer(message: dict) -> dict:
    """What the tool says to one message."""
    try:
        if message["kind"] == "start":
            return {"tool": "xman"}
        if message["kind"] == "define":
            imported(message["module"])
            return {"success": True}
        return evaluated(message) if message["kind"] == "evaluate" else {}
    except Exception:  # of whatever kind: the protocol says that it is told
        return {"success": False, "error": traceback.format_exc()}


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        print(json.dumps({"id": message["id"], **answer(message)}), flush=True)


if __name__ == "__main__":
    main()
