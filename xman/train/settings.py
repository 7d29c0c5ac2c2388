"""The settings of a training, as one value that does not change."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

import numpy as np

from ..errors import XManError, at_least, refuse_unknown
from ..files.figures import refuse_undrawable
from ..files.whole import refuse_unwritable
from ..manager import XMan
from ..scale.streams import Stream
from ..tables import Prepared
from .evaluation import Result
from .optimizers import Rule
from .schedules import Schedule

Callback = Callable[[dict[str, float], dict[str, np.ndarray]], str | None]
Keywords = ParamSpec("Keywords")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The keyword arguments of `fit`, which says what each means. XManError for a value that cannot be."""
    validation: tuple | Stream | None = None
    epochs: int = 10
    batch_size: int | None = None
    optimizer: str | Rule = "sgd"
    lr: float | dict[str, float] | None = None
    schedule: Schedule | None = None
    weight_decay: float | None = None
    clip: float | None = None
    clip_value: float | None = None
    l1: float | dict[str, float] | None = None
    l2: float | dict[str, float] | None = None
    sample_weight: Any = None
    class_weight: dict[Any, float] | str | None = None
    classes: Sequence[str] = ()
    seed: int = 0
    patience: int | None = None
    threshold: float | None = None
    callbacks: Sequence[Callback] = ()
    checkpoint: str | Path | None = None
    plot: str | Path | None = None
    engine: str = "auto"
    progress: bool = True
    prepared: Prepared | None = None
    accumulate: int = 1
    checkpoint_every: float = 60.0
    mesh: str | None = None
    precision: str | None = None
    explain: bool = False

    def __post_init__(self) -> None:
        for name, least in (("epochs", 0), ("patience", 1), ("accumulate", 1), ("threshold", 0),
                            ("checkpoint_every", 0)):
            if (value := getattr(self, name)) is not None:
                at_least(name, value, least, whole_number=name not in ("threshold", "checkpoint_every"))
        if not isinstance(self.callbacks, (list, tuple)) or not all(map(callable, self.callbacks)):
            raise XManError(f"callbacks is a list of functions, not {self.callbacks!r}")
        if self.mesh and self.accumulate > 1:
            raise XManError("a mesh takes the rows of a minibatch at once: leave out accumulate, or the mesh")
        if self.plot:
            refuse_undrawable(self.plot)
        if self.checkpoint:
            refuse_unwritable(self.checkpoint)


def with_keywords_of(settings: Callable[Keywords, Settings]) -> Callable[
        [Callable[[XMan, tuple, Settings], Result]], Callable[Concatenate[XMan, tuple, Keywords], Result]]:
    """The decorator of a function (model, data, settings) whose callers write the settings as keywords: they
    stand once, as the fields of the dataclass, and `help` shows them all."""
    def decorator(train: Callable[[XMan, tuple, Settings], Result]) -> Callable[..., Result]:
        @functools.wraps(train)
        def fit(model: XMan, data: tuple, **keywords: Any) -> Result:
            refuse_unknown(keywords, inspect.signature(settings).parameters, "fit has no setting {!r}")
            return train(model, data, settings(**keywords))
        model, data, _ = inspect.signature(train).parameters.values()
        keywords = inspect.signature(settings).parameters.values()
        fit.__signature__ = inspect.signature(train).replace(parameters=[model, data, *keywords])
        return fit
    return decorator
