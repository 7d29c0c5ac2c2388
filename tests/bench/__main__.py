"""python -m tests.bench [row …] [--json]: one table of times, ratios and the machine they were taken on."""
from __future__ import annotations

import argparse
import json
import platform

from . import derivatives, interpreters
from .measure import medians, versions

ROWS = {**interpreters.ROWS, **derivatives.ROWS}

parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
parser.add_argument("row", nargs="*", choices=[*ROWS, []], help=f"one of {', '.join(ROWS)}; all if none is named")
parser.add_argument("--json", action="store_true", help="print one JSON object")
parser.add_argument("--seconds", type=float, default=2.0, help="measuring time a contestant (default 2)")
options = parser.parse_args()

results = {}
for name in options.row or ROWS:
    contestants, goals = ROWS[name]()
    times = medians(contestants, options.seconds)
    results[name] = {"microseconds": {who: round(t * 1e6, 2) for who, t in times.items()},
                     "ratios": {f"{a} / {b}": round(times[a] / times[b], 2) for a, b, _ in goals if a in times and b in times},
                     "goals": {f"{a} / {b}": goal for a, b, goal in goals}}
    if not options.json:
        print(f"\n{name}: {ROWS[name].__doc__}")
        for who, t in times.items():
            print(f"  {who:<32} {t * 1e6:12.1f} µs")
        for pair, ratio in results[name]["ratios"].items():
            print(f"  {pair:<45} {ratio:6.2f}   goal {results[name]['goals'][pair]}")
if options.json:
    print(json.dumps({"machine": platform.machine(), "python": platform.python_version(), "versions": versions(),
                      "rows": results}))
else:
    print(f"\n{platform.machine()}, Python {platform.python_version()}, {versions()}")
