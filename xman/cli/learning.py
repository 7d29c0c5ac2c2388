"""xman train before it learns: its report on the data, and its choice among several settings."""
from __future__ import annotations

import hashlib
import itertools
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..errors import XManError
from ..manager import XMan
from ..notation import table_as_text
from ..scale.streams import MEMORY, Stream
from ..scale.tables import tenths
from ..tables import Prepared
from ..train import Dataset, Trial, cross_validate
from ..train.selection import mean_of, searched, trial_text


def findings(data: Prepared) -> str:
    """A table of what the columns hold, and sentences below it."""
    rows = [("column", "kind", "missing", "range, or the commonest"),
            *((name[:40], kind, str(missing), what) for name, kind, missing, what in data.found)]
    if len(rows) > 42:
        rows[31:-10] = [("…", "", "", f"{len(rows) - 41} more columns")]
    told = [f"{said[0].upper()}{said[1:]}." for said in data.said]
    return "\n".join([table_as_text(rows, 4), *told]) if data.found else ""


def sha256(source: str) -> dict[str, str]:
    """{"sha256": …} of a file; {} where the source is not a file."""
    return {"sha256": hashlib.sha256(Path(source).read_bytes()).hexdigest()} if Path(source).is_file() else {}


def streamed(source: str, memory: float | None, unfit: dict[str, Any], **how: Any) -> Dataset:
    """The data set as streams of tables. unfit: options that streams lack; XManError if one is given."""
    if words := [word for word, value in unfit.items() if value]:
        raise XManError(f"--{words[0]} is for rows that fit into memory; leave --memory away")
    parts = tenths(source, memory or MEMORY, **how)
    data = parts[0].prepared
    return Dataset(*parts, data.classes, None, data,
                   (*(column.name for column in data.columns), data.target.name))


def rows_and_parts(data: tuple | Stream) -> tuple[int, Iterable[tuple]]:
    """The number of rows, and pairs (X, y) of them: the one pair, or the pairs of a stream."""
    return (data.rows, data.batches(1024)) if isinstance(data, Stream) else (data[0].shape[0], [data])


def settings_tried(network: XMan, data: Dataset, given: dict[str, Any], folds: int | None,
                   settings_of: Callable[[dict], dict],
                   show: bool) -> tuple[dict[str, Any], list[Trial], str]:
    """(the settings of least loss, all trials, a line that reports the choice).

    The loss is that of the validation rows, or the mean of folds. settings_of: from options to `fit`'s
    settings.
    """
    grid = {name: values for name, values in given.items() if isinstance(values, tuple)}
    if not grid and not folds:
        return given, [], ""
    if words := [word for word in ("checkpoint", "plot") if grid and word in given]:
        raise XManError(f"--{words[0]} is for one training, and {' and '.join(f'--{name}' for name in grid)} "
                        "say several: leave it away until one is chosen")
    cases = []
    for values in itertools.product(*grid.values()):
        said = dict(zip(grid, values, strict=True))
        unfit = ("checkpoint", "plot", "patience" if folds else "")  # patience needs a validation
        cases.append((said, network, {"progress": False} | {
            name: x for name, x in settings_of(given | said).items() if name not in unfit}))
    if not grid:
        trials = cross_validate(network, data.train, folds, **cases[0][-1])
        if show:
            print(*map(trial_text, trials), sep="\n", file=sys.stderr)
        return given, trials, trial_text(mean_of(trials))
    trials = searched(cases, data.train, None if folds else data.valid, folds, show)
    best = min(trials, key=lambda trial: trial.loss)
    return given | best.settings, trials, f"chosen of {len(trials)} trials, and trained: {trial_text(best)}"
