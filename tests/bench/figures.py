"""python -m tests.bench.figures RUN.json: the figures of docs/speed.md, README.md and tests/bench/README.md from one run,
which `python -m tests.bench --threads 1 --json > RUN.json` makes."""
from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

from .table import COLUMNS, Table, figure

ROOT = Path(__file__).parents[2]
STEPS = {"logreg-s": "64→10, batch 32", "logreg-m": "784→10, batch 100", "mlp-s": "64→32→10 tanh, batch 32",
         "mlp-m": "784→256→128→10 tanh, batch 128", "mlp-l": "784→1024→1024→10 tanh, batch 256",
         "lstm": "the course's LSTM, batch 64"}
WHO = {"floor": COLUMNS["floor"], "xman, LLVM": lambda who: who in ("xman llvm", "xman auto"), "xman, NumPy": "xman numpy".__eq__,
       "by hand": COLUMNS["NumPy by hand"], "JAX": COLUMNS["JAX"], "PyTorch": COLUMNS["PyTorch"], "PyTensor": COLUMNS["PyTensor"]}


README = {"logreg-s": "a training step of softmax regression 64→10, batch 32", "lstm": "the course's LSTM, a step of batch 64",
          "scalar-gradient": "value and gradient of a random list of 100,000 numbers"}


def least(table: Table, belongs: Callable[[str], bool], column: int = 0) -> float | None:
    """The least figure of some contestants; None where none of them ran."""
    return min((list(line.values())[column] for who, line in table.lines.items() if belongs(who)), default=None)


def steps_table(tables: dict[str, Table]) -> list[str]:
    found = {who: [least(tables[row], belongs) for row in STEPS if row in tables] for who, belongs in WHO.items()}
    who = {name: times for name, times in found.items() if any(times)}  # who was not installed has no column
    lines = zip([words for row, words in STEPS.items() if row in tables], *who.values(), strict=True)
    return [f"| one training step | {' | '.join(who)} |", "|---" * (len(who) + 1) + "|",
            *(f"| {words} | {' | '.join(map(figure, times))} |" for words, *times in lines)]


def written(text: str, first: str, lines: list[str], rows: int | None = None) -> str:
    """The text with these lines for the table, or so many of its rows, whose first begins so. ValueError where there is none."""
    more = "*" if rows is None else f"{{{rows - 1}}}"
    found, count = re.subn(rf"(?m)^{re.escape(first)}.*\n(?:\|.*\n){more}", lambda _: "\n".join(lines) + "\n", text)
    if count != 1:
        raise ValueError(f"there are {count} tables that begin with {first!r}, not one")
    return found


def ratios(tables: dict[str, Table]) -> list[str]:
    """Of each row that is no training step ours, and the least of each peer, in the unit of the row."""
    lines = ["| row | xman | peers | first call, cold · from disk |", "|---|---|---|---|"]
    for row, table in tables.items():
        mine = {who: line for who, line in table.lines.items() if who.startswith("xman")}
        if row in STEPS or not mine or row.startswith(("interpret", "grad", "table")):
            continue
        who = min(mine, key=lambda who: next(iter(mine[who].values())))
        unit, best = next(iter(mine[who].items()))
        peers = {peer: least(table, belongs) for peer, belongs in COLUMNS.items() if peer not in ("floor", "xman")}
        words = ", ".join(f"{peer} {figure(x)}" for peer, x in peers.items() if x is not None)
        first = " · ".join(figure(mine[who][column]) for column in ("cold s", "again s") if column in mine[who])
        lines.append(f"| {row}, {unit}: {table.about} | {figure(best)} | {words} | {first and first + ' s'} |")
    return lines


def main(file: str) -> None:
    run = json.loads(Path(file).read_text("utf-8"))
    found = [Table(**table) for table in run["tables"]]
    tables = {table.row: table for table in sorted(found, key=lambda table: table.dtype, reverse=True)}  # float32 counts
    machine = ", ".join(f"{key} {value}" for key, value in run["machine"].items())
    speed, bench = ROOT / "docs" / "speed.md", ROOT / "tests" / "bench" / "README.md"
    text = written(speed.read_text("utf-8"), "| one training step |", steps_table(tables))
    text = written(text, "| row | xman |" if "| row | xman |" in text else "| | xman | peer |", ratios(tables))
    speed.write_text(text, "utf-8")
    text, head = bench.read_text("utf-8"), "## A run\n"
    whole = "\n\n".join([f"{machine}; load {run['load'][0]:.1f}", *(table.text() for table in found)])
    bench.write_text(f"{text[:text.index(head)]}{head}\n```\n{whole}\n```\n", "utf-8")
    readme = ROOT / "README.md"
    text = readme.read_text("utf-8")
    for row, words in README.items():
        if row in tables:
            table = tables[row]
            unit = next(iter(next(iter(table.lines.values()))))
            peers = {peer: least(table, COLUMNS[peer]) for peer in ("PyTensor", "JAX", "PyTorch", "CasADi")}
            told = ", ".join(f"{peer}: {figure(x)}" for peer, x in peers.items() if x is not None)
            text = written(text, f"| {words}", [f"| {words} ({told}) | {figure(least(table, COLUMNS['xman']))} {unit} |"], rows=1)
    readme.write_text(text, "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
