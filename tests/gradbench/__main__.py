"""python -m tests.gradbench [eval …] --tool NAME=COMMAND …: GradBench's evals sent to xman and to other
tools, in turns."""
from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from . import inputs
from .comparing import largest_difference

SIZES: dict[str, list[tuple]] = {  # of the table in the README
    "gmm": [(2, 50), (32, 50)], "ht": [(1,), (1, "simple"), (5,)], "ba": [(1,)], "det": [(5,), (8,)],
                                 "lstm": [(2, 64)],
    "lse": [(2500,), (80_000,)], "llsq": [(16,), (1024,), (16_392,)],
                                 "kmeans": [(10, 10_000, 16), (100, 10_000, 16)]}
OF_MODES = "particle", "saddle"  # all of whose functions are derivatives
JAX = Path(__file__).with_name("waiting_jax.py")


class Tool:
    """A tool by its command line: a process that answers a message a line."""

    def __init__(self, name: str, command: str, checkout: str | None, cpu: int | None):
        def pinned():
            if cpu is not None:
                os.sched_setaffinity(0, {cpu})
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
                       "MKL_NUM_THREADS": "1"}
        folder = checkout if name != "xman" and checkout else None
        if folder:
            parts = [f"{folder}/python/gradbench", *filter(None, [environment.get("PYTHONPATH")])]
            environment["PYTHONPATH"] = os.pathsep.join(parts)
        self.name, self.id = name, -1
        self.process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True,
                                        cwd=folder, env=environment, preexec_fn=pinned)
        self.ask(kind="start")

    def ask(self, **message: Any) -> dict:
        """The tool's answer to one message; that it went, where it has."""
        self.id += 1
        try:
            print(json.dumps({"id": self.id, **message}), file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass
        if not (line := self.process.stdout.readline()):
            return {"success": False, "error": f"the tool {self.name} ended with {self.process.wait()}"}
        answer = json.loads(line)
        if answer["id"] != self.id:
            raise ValueError(f"the tool {self.name} answered message {answer['id']} where {self.id} was asked")
        return answer

    def dismiss(self) -> None:
        self.process.stdin.close()
        self.process.wait(30)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.gradbench", description=__doc__)
    parser.add_argument("eval", nargs="*",
                        help=f"some of {', '.join(inputs.EVALS)}; all if none is named")
    parser.add_argument("--tool", action="append", default=[], metavar="NAME=COMMAND",
                        help="another tool, by its command line")
    parser.add_argument("--checkout", metavar="FOLDER",
                        help="of GradBench: its tools manual, jax and pytorch run too, if they can")
    parser.add_argument("--runs", type=int, default=20,
                        help="of a function in a round, at least (default 20)")
    parser.add_argument("--seconds", type=float, default=0.3,
                        help="of a function in a round, at least (default 0.3)")
    parser.add_argument("--rounds", type=int, default=3, help="in which the tools take turns (default 3)")
    parser.add_argument("--cpu", type=int, help="the one processor that all tools run on")
    parser.add_argument("--values", action="store_true",
                        help="of the functions themselves too, and not of derivatives alone")
    options = parser.parse_args()
    if strange := {*options.eval} - {*inputs.EVALS}:
        parser.error(f"there is no eval {min(strange)!r}; there are {', '.join(inputs.EVALS)}")
    commands = {"xman": f"{sys.executable} -m tests.gradbench.tool"}
    if options.checkout:
        tools = Path(options.checkout).resolve() / "python" / "gradbench" / "gradbench" / "tools"
        commands |= {"jax": f"{sys.executable} {JAX} {tools / 'jax'}",
                     "manual": f"{sys.executable} -m gradbench.cpp manual",
                     "pytorch": f"{sys.executable} {tools / 'pytorch' / 'run.py'}"}
    commands |= dict(tool.split("=", 1) for tool in options.tool)
    tools = [Tool(name, command, options.checkout, options.cpu) for name, command in commands.items()
             if command]
    print("| eval | function | input | " + " | ".join(f"{tool.name} first | median | least" for tool in tools)
          + " | differ by |")
    print("|---" * (4 + 3 * len(tools)) + "|")
    for name in options.eval or inputs.EVALS:
        able = {tool.name: tool.ask(kind="define", module=name).get("success") for tool in tools}
        for size in SIZES.get(name, [()]):
            for function, words, given in [*inputs.EVALS[name](*size)][0 if options.values or name in OF_MODES
                                                                       else 1:]:
                row = times_in_turns([tool for tool in tools if able[tool.name]], name, function, given,
                                     options)
                cells = [row.get(tool.name, "– | – | –") for tool in tools]
                print(f"| {name} | {function} | {words} | {' | '.join(cells)} | {row['difference']} |",
                      flush=True)
    for tool in tools:
        tool.dismiss()


def times_in_turns(tools: list[Tool], name: str, function: str, given: Any, options: Any) -> dict[str, str]:
    """Of each tool the first time, the median and the least in milliseconds, and by how much the outputs
    differ."""
    times: dict[str, list[float]] = {tool.name: [] for tool in tools}
    outputs, row = {}, {}
    if isinstance(given, dict):
        given = {**given, "min_runs": options.runs, "min_seconds": options.seconds}
    for _ in range(options.rounds):
        for tool in [tool for tool in tools if tool.name not in row]:
            # one run a message, without min_runs
            for _ in range(1 if isinstance(given, dict) else options.runs):
                answer = tool.ask(kind="evaluate", module=name, function=function, input=given)
                if not answer.get("success"):
                    print(f"{tool.name}: {name} {function}: {answer.get('error')}", file=sys.stderr)
                    row[tool.name] = "fails | – | –"
                    break
                outputs[tool.name] = answer["output"]
                times[tool.name] += [t["nanoseconds"] / 1e6 for t in answer["timings"]
                                     if t["name"] == "evaluate"]
    for tool, found in times.items():
        if tool not in row:
            late = found[len(found) // options.rounds:] or found  # of the rounds after the first
            row[tool] = f"{found[0]:.3g} | {statistics.median(late):.3g} | {min(late):.3g}"
    first = next(iter(outputs.values()), None)
    row["difference"] = f"{max((largest_difference(first, other) for other in outputs.values()), default=0):.0e}"
    return row


if __name__ == "__main__":
    main()
