"""The content of a run's checkpoint, and how a run goes on from one."""
from __future__ import annotations

import functools
import os
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import XManError
from ..files import Model
from ..files import container as checkpoints
from ..wengert import WengertList
from .settings import Settings
from .step import TrainingStep

FORMAT = 4  # the version of the format of checkpoints


@dataclass
class State:
    """Everything that a run has to remember between two steps.

    arrays: the parameters and their moments by register; each step overwrites them. begun: a copy of them
    from the beginning of the epoch; it is there from the first minibatch on.
    """
    arrays: dict[str, np.ndarray]
    begun: dict[str, np.ndarray]
    epoch: int = 1      # the present epoch
    batch: int = 0      # how many of its minibatches are done
    t: int = 0          # how many steps the run has taken
    loss: float = 0.0   # Σ loss · rows over the minibatches of the epoch
    best: dict[str, np.ndarray] = field(default_factory=dict)
    best_epoch: int = 0
    history: tuple = ()


class Checkpoint:
    """The file that a run writes its states to, if it has one, and goes on from.

    Of several workers the first one writes, in a thread beside its next steps, so that none has to wait.
    """
    def __init__(self, settings: Settings, step: TrainingStep, record: dict[str, Any],
                 model_of_run: Callable[[], Model]):
        self.path, self.step, self.record, self.model_of_run = settings.checkpoint, step, record, model_of_run
        self.every = settings.checkpoint_every if self.path and not step.workers.rank else np.inf
        self.saved_at = time.monotonic()
        self.writer, self.writing = ThreadPoolExecutor(1), None

    def due(self) -> bool:
        """Whether the last state was saved so long ago that the next is saved within an epoch."""
        return time.monotonic() - self.saved_at > self.every

    def save(self, state: State) -> None:
        """Write the state, and the model of the best parameters so far."""
        if not self.path or self.step.workers.rank:
            return
        self.written()
        self.saved_at = time.monotonic()
        arrays = {self.place(n): a for n, a in state.arrays.items()}
        arrays |= {f"begun/{n}": a for n, a in state.begun.items() if state.batch}
        plain = [key for key in vars(state) if key not in ("arrays", "begun", "best")]
        model, obstacle = self.model
        values = model.values | (state.best or self.step.parameters(state.arrays))
        write = model._replace(values=values, settings=self.record | self.content).save
        facts = {"format": FORMAT, "state": {key: getattr(state, key) for key in plain},
                 "factors": self.factors(state.t), "engine": self.step.begun_with, **obstacle}
        if self.step.workers.size == 1:
            write(self.path, arrays, **facts)
        else:
            copies = {name: a.copy() for name, a in arrays.items()}
            self.writing = self.writer.submit(write, self.path, copies, **facts)

    def place(self, name: str) -> str:
        """The name of a parameter or a moment in the file."""
        return f"{'parameters' if name in self.step.evaluated else 'moments'}/{name}"

    def written(self) -> None:
        """Wait for the checkpoint that is being written. XManError where it could not be written."""
        if self.writing:
            self.writing, writing = None, self.writing
            writing.result()

    @functools.cached_property
    def model(self) -> tuple[Model, dict[str, str]]:
        """(the network's Model, {}); if it cannot be a Model, an empty one and {"no_model": the reason}."""
        try:
            return self.model_of_run(), {}
        except Exception as error:  # from a user's feed; the run goes on, and `load` reports it
            nothing = Model(WengertList(), {}, (), "", (), "", {})
            return nothing, {"no_model": str(error) or type(error).__name__}

    @functools.cached_property
    def content(self) -> dict[str, int]:
        """A checksum of the list and its sizes, which tells another list."""
        sizes = [(name, a.shape, str(a.dtype)) for name, a in self.step.start().items()]
        return {"content": zlib.crc32(f"{self.step.alone.steps} {sizes}".encode())}

    def factors(self, t: int) -> list[float]:
        """The schedule's factors at a few steps up to t."""
        rate = self.step.rate
        return [rate.factor(s) for s in sorted({1, t // 2, t}) if 0 < s <= t] if rate.schedule else []

    def first_state(self) -> State:
        """The state in the file, if there is one, else that of a new run. XManError where the model, data or
        settings of the file were others."""
        start, step = self.step.start(), self.step
        state = State(start, {name: a.copy() for name, a in start.items()})
        if not self.path or not Path(self.path).exists():
            return state
        remedy = "move it away to begin anew"
        arrays, facts = checkpoints.restore(self.path, remedy)
        of_version = f"the checkpoint {self.path} is of another version of xman{{}}; {remedy}"
        of_run = f"the checkpoint {self.path} is of {{}}; give this run another file, or move that one away"
        if facts.get("format") != FORMAT:
            raise XManError(of_version.format(""))
        for key, value in (self.record | self.content).items():
            if (before := facts.get("settings", {}).get(key)) != value:
                difference = {"content": "another model or another rule", "digest": "other data", "window":
                              f"a run with windows of {before} rows, not {value}: its memory was another"}
                raise XManError(of_run.format(difference.get(key, f"a run with {key} {before}, not {value}")))
        try:
            for name, a in state.arrays.items():
                a[...] = arrays[self.place(name)]
                state.begun[name][...] = arrays[f"begun/{name}"] if facts["state"]["batch"] else a
            best = {n: arrays[f"values/{n}"] for n in step.evaluated if facts["state"]["best_epoch"]}
            state = State(state.arrays, state.begun, best=best, **facts["state"])
            factors = facts["factors"]
            if step.engine == os.environ.get("XMAN_ENGINE", "auto") == "auto":
                step.begun_with = facts.get("engine", "")
        except (KeyError, TypeError, ValueError) as error:
            raise XManError(of_version.format(f": {error}")) from None
        if factors != self.factors(state.t):
            raise XManError(of_run.format("a run with another schedule"))
        return replace(state, history=tuple(state.history))
