"""What a row came to: a figure for each contestant, ratios, and whether the goals are met."""
from __future__ import annotations

from typing import Any, NamedTuple

GROUPS = {"the floor": lambda who: who.startswith("floor"),
          "every framework": lambda who: not who.startswith(("floor", "xman", "NumPy")),
          "every other": lambda who: not who.startswith(("floor", "xman"))}


class Goal(NamedTuple):
    """mine ≤ at_most · theirs, of the least figures among those whose names begin with `mine` and `theirs`.

    theirs may be a group: the floor, every framework, every other. column: of the figures; None: the first.
    """
    theirs: str
    at_most: float = 1.0
    mine: str = "xman"
    column: str | None = None

    def judged(self, lines: dict[str, dict[str, float]]) -> dict[str, Any]:
        """The goal in words, what was found, and whether it is met: None where there is nobody to compare with."""
        text = (f"at least {1 / self.at_most:g} × less than {self.theirs}" if self.at_most < 1 else
                f"not more than {self.theirs}" if self.at_most == 1 else f"at most {self.at_most:g} × {self.theirs}")
        text = f"{self.mine}: {text}" + (f" ({self.column})" if self.column else "")
        found = [self.least(group, lines) for group in (self.mine, self.theirs)]
        if None in found:
            return {"goal": text, "found": "not measured", "ratio": None, "most": self.at_most, "met": None}
        (mine, least), (other, figure) = found
        ratio = least / figure if figure else 0.0 if not least else float("inf")
        less = 0 < ratio < 1 and self.at_most <= 1
        words = f"{mine} takes {1 / ratio:.2f} × less than {other}" if less else f"{mine} takes {ratio:.2f} × {other}"
        return {"goal": text, "found": words, "ratio": round(ratio, 4), "most": self.at_most, "met": ratio <= self.at_most}

    def least(self, group: str, lines: dict[str, dict[str, float]]) -> tuple[str, float] | None:
        """Who of the group has the least figure, and that; None where the group is empty."""
        belongs = GROUPS.get(group) or (lambda who: who.startswith(group))
        figures = {who: line[self.column or next(iter(line))] for who, line in lines.items() if belongs(who)}
        who = min(figures, key=figures.get, default=None)
        return None if who is None else (who, figures[who])


class Table(NamedTuple):
    """lines: for each contestant its figures by column, the first of which counts. out: who was left out, and why."""
    row: str
    about: str
    dtype: str
    threads: int
    lines: dict[str, dict[str, float]]
    goals: list[dict[str, Any]]
    out: dict[str, str]

    def text(self) -> str:
        columns = list(dict.fromkeys(column for line in self.lines.values() for column in line))
        widths = [max(len(column) + 2, 10) for column in columns]
        wide = max(map(len, self.lines), default=0) + 2
        head = f"{self.row}, {self.dtype}, {self.threads} thread{'s' * (self.threads > 1)}: {self.about}"
        rows = [" " * wide + "".join(f"{column:>{w}}" for column, w in zip(columns, widths, strict=True))]
        first = columns[0] if columns else ""
        for who, line in sorted(self.lines.items(), key=lambda pair: (not pair[0].startswith("floor"), pair[1][first])):
            cells = (figure(line.get(column)) for column in columns)
            rows.append(f"{who:<{wide}}" + "".join(f"{cell:>{w}}" for cell, w in zip(cells, widths, strict=True)))
        rows += [f"goal {g['goal']}: {g['found']}" + {True: ", met", False: ", NOT MET", None: ""}[g["met"]] for g in self.goals]
        rows += [f"left out: {who}: {why}" for who, why in self.out.items()]
        return "\n  ".join([head, *rows])


def figure(x: float | None) -> str:
    """A number with three or four digits that tell."""
    if x is None:
        return ""
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.1f}" if abs(x) >= 10 else f"{x:.2f}"


COLUMNS = {"floor": lambda who: who.startswith("floor"), "xman": lambda who: who.startswith("xman"),
           "NumPy by hand": lambda who: who.startswith("NumPy"), "JAX": lambda who: who.startswith("JAX"),
           "PyTorch": lambda who: who == "PyTorch", "PyTorch compiled": lambda who: who == "PyTorch compiled",
           "autograd": lambda who: who == "autograd", "PyTensor": lambda who: who == "PyTensor",
           "CasADi": lambda who: who == "CasADi"}


def overview(tables: list[Table]) -> str:
    """In Markdown one line a table, with the first figure of the best of each kind, and what was found of the goals' factors.

    A table of other things than contestants follows as it is.
    """
    lines = [["row", "", "threads", *COLUMNS, "goals"], ["---"] * (len(COLUMNS) + 4)]
    others = [table for table in tables if not any(map(COLUMNS["xman"], table.lines))]
    for table in tables:
        if table in others:
            continue
        cells = []
        for column, belongs in COLUMNS.items():
            figures = {who: next(iter(line.values())) for who, line in table.lines.items() if belongs(who)}
            who = min(figures, key=figures.get, default=None)
            cells.append("" if who is None else figure(figures[who]) + who.removeprefix("xman") * (column == "xman"))
        unit = next(iter(next(iter(table.lines.values()))))
        goals = [f"{goal['ratio']:.2f} of {goal['most']:.3g}" + (" **✗**" if not goal["met"] else "")
                 for goal in table.goals if goal["met"] is not None]
        lines.append([f"{table.row}, {unit}", table.dtype, str(table.threads), *cells, "; ".join(goals)])
    return "\n".join(["| " + " | ".join(line) + " |" for line in lines] + [f"\n```\n{table.text()}\n```" for table in others])
