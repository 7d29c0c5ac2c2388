"""xman train with several values of an option, or with folds: what is tried before a model is trained."""
from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from typing import Any

import click

from ..errors import XManError
from ..manager import XMan
from ..train import Trial, cross_validate, search
from ..train.selection import mean_of, trial_text


class Several(click.ParamType):
    """A value, or several with commas between, all of which are to be tried."""

    def __init__(self, kind: Any):
        self.kind = click.types.convert_type(kind)
        self.name = self.kind.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = tuple(self.kind.convert(part.strip(), param, ctx) for part in str(value).split(","))
        return found if len(found) > 1 else found[0]

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        one = "|".join(self.kind.choices) if isinstance(self.kind, click.Choice) else self.name.upper()
        return f"{one}[,…]"


def settings_tried(network: XMan, data: tuple, validation: tuple, given: dict[str, Any], folds: int | None,
          settings_of: Callable[[dict], dict], show: bool) -> tuple[dict[str, Any], list[Trial], str]:
    """The settings, of several the one of least loss, all trials, and a line that says so.

    The loss is of the validation rows, or the mean of folds. settings_of: to the settings of `fit`.
    """
    grid = {name: values for name, values in given.items() if isinstance(values, tuple)}
    if not grid and not folds:
        return given, [], ""
    if words := [word for word in ("checkpoint", "plot") if grid and word in given]:
        raise XManError(f"--{words[0]} is for one training, and {' and '.join(f'--{name}' for name in grid)} "
                        "say several: leave it away until one is chosen")
    trials: list[Trial] = []
    for values in itertools.product(*grid.values()):
        said = dict(zip(grid, values, strict=True))
        settings = {name: x for name, x in settings_of(given | said).items()
                    if name not in ("checkpoint", "plot")}
        rows = {"validation": validation}
        if folds:
            settings.pop("patience", None)  # of a validation that there is not
            rows = {"folds": folds}
        if grid:
            trials += search(network, data, {name: [x] for name, x in said.items()}, progress=show,
                             **settings, **rows)
        else:
            trials += cross_validate(network, data, progress=False, **settings, **rows)
            for trial in trials if show else ():
                print(trial_text(trial), file=sys.stderr)
    if not grid:
        return given, trials, trial_text(mean_of(trials))
    best = min(trials, key=lambda trial: trial.loss)
    return given | best.settings, trials, f"chosen of {len(trials)} trials, and trained: {trial_text(best)}"
