"""python -m tests.bench [row …]: tables of times, ratios to a floor and to peers, and the machine they were taken on."""
from __future__ import annotations

import argparse
import compileall
import json
import os
from pathlib import Path

from .catalogue import ROWS, Options
from .measure import Players, cores, machine
from .table import Table, overview


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("row", nargs="*", help=f"one of {', '.join(ROWS)}, or the beginning of some; all if none is named")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--markdown", action="store_true", help="print the table of the README")
    parser.add_argument("--dtype", choices=["float32", "float64", "both"], default="both", help="precision (default both)")
    parser.add_argument("--threads", metavar="N,…", default=str(cores()),
                        help=f"how many threads each contestant may use, or several numbers (default {cores()}, all cores)")
    parser.add_argument("--seconds", type=float, help="measuring time a contestant (default 2, 0.3 with --quick)")
    parser.add_argument("--quick", action="store_true", help="a shorter look, without compiling PyTorch and the longest list")
    parser.add_argument("--plot", metavar="FILE.png", help="the plot of the row growth")
    options = parser.parse_args()
    names = [name for name in ROWS if not options.row or any(name.startswith(row) for row in options.row)]
    if strange := [row for row in options.row if not any(name.startswith(row) for name in ROWS)]:
        parser.error(f"there is no row {strange[0]!r}; there are {', '.join(ROWS)}")
    try:
        threads = [int(number) for number in options.threads.split(",")]
    except ValueError:
        parser.error(f"--threads takes a number, or several as in 1,2, not {options.threads!r}")
    if not all(1 <= n <= cores() for n in threads):
        parser.error(f"--threads {options.threads}: this process may run on {cores()} cores")
    tables = []
    settings = Options(options.seconds or (0.3 if options.quick else 2.0), options.quick, options.plot)
    words = not options.json and not options.markdown
    for package in ("ops", "xman"):  # bytecode: whoever installs a package writes it, and a checkout may have none
        compileall.compile_dir(Path(__file__).parents[2] / package, quiet=1)
    if not options.json:
        print(described(), end="\n\n", flush=True)
    for number in threads:
        players = Players(number)
        try:
            for name in names:
                row = ROWS[name]
                for dtype in {options.dtype} if options.dtype in row.dtypes else row.dtypes:
                    tables.append(row.run(name, row.about, dtype, players, settings))
                    if words:
                        print(tables[-1].text(), end="\n\n", flush=True)
        finally:
            players.dismiss()
    if options.json:
        print(json.dumps({"machine": machine(), "load": os.getloadavg(), "tables": [table._asdict() for table in tables]},
                         default=lambda x: x.item()))  # a number of NumPy
    else:
        print(summary(tables) if words else overview(tables))


def described() -> str:
    found = machine()
    return "\n".join([", ".join(f"{key} {value}" for key, value in found.items() if key not in ("processor", "system")),
                      f"{found['processor']}, {found['system']}, load {os.getloadavg()[0]:.1f}"])


def summary(tables: list[Table]) -> str:
    goals = [(table, goal) for table in tables for goal in table.goals if goal["met"] is not None]
    missed = [f"  {table.row} {table.dtype}, {table.threads} thread{'s' * (table.threads > 1)}: {goal['goal']}: {goal['found']}"
              for table, goal in goals if not goal["met"]]
    return "\n".join([f"{len(goals) - len(missed)} of {len(goals)} goals are met" + ("; not these:" if missed else ""), *missed])


if __name__ == "__main__":
    main()
