"""The content of a run's checkpoint, and how a run goes on from one."""
from __future__ import annotations

import functools
import os
import time
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..errors import XManError
from ..files import Model
from ..files import container as checkpoints
from ..wengert import WengertList

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


class Checkpointed:
    """The part of `Run` that writes and reads checkpoints."""

    def save(self, state: State) -> None:
        """Write the state, and the model of the best parameters so far, to the checkpoint, if there is one.

        Of several workers the first one writes, in a thread beside its next steps, so that none has to wait.
        """
        if self.checkpoint and not self.workers.rank:
            self.written()
            self.saved = time.monotonic()
            arrays = {self.place(n): a for n, a in state.arrays.items()}
            arrays |= {f"begun/{n}": a for n, a in state.begun.items() if state.batch}
            plain = [key for key in vars(state) if key not in ("arrays", "begun", "best")]
            model, why = self.model
            values = model.values | (state.best or self.parameters(state.arrays))
            write = model._replace(values=values, settings=self.settings | self.content).save
            facts = {"format": FORMAT, "state": {key: getattr(state, key) for key in plain}}
            facts |= {"factors": self.factors(state.t), "engine": self.begun_with, **why}
            if self.workers.size == 1:
                write(self.checkpoint, arrays, **facts)
            else:
                copies = {name: a.copy() for name, a in arrays.items()}
                self.writing = self.writer.submit(write, self.checkpoint, copies, **facts)

    def place(self, name: str) -> str:
        """The name of a parameter or a moment in the file."""
        return f"{'parameters' if name in self.kept else 'moments'}/{name}"

    def written(self) -> None:
        """Wait for the checkpoint that is being written. XManError where it could not be written."""
        if self.writing:
            self.writing, writing = None, self.writing
            writing.result()

    @functools.cached_property
    def model(self) -> tuple[Model, dict[str, str]]:
        """(the network's Model, {}); if it cannot be a Model, an empty one and {"no_model": the reason}."""
        try:
            return self.result({}, self.start(), "").model(), {}
        except Exception as error:  # from a user's feed; the run goes on, and `load` reports it
            nothing = Model(WengertList(), {}, (), "", (), "", {})
            return nothing, {"no_model": str(error) or type(error).__name__}

    @functools.cached_property
    def content(self) -> dict[str, int]:
        """A checksum of the list and its sizes, which tells another list."""
        sizes = [(name, a.shape, str(a.dtype)) for name, a in self.start().arrays.items()]
        return {"content": zlib.crc32(f"{self.alone.steps} {sizes}".encode())}

    def factors(self, t: int) -> list[float]:
        """The schedule's factors at a few steps up to t."""
        some = {1, t // 2, t} if self.rate.schedule else ()
        return [self.rate.factor(s) for s in sorted(some) if 0 < s <= t]

    def resumed(self, path: str | Path) -> State:
        """The state in the checkpoint at path. XManError if its model, data or settings were others."""
        remedy = "move it away to begin anew"
        arrays, facts = checkpoints.restore(path, remedy)
        other = f"the checkpoint {path} is of another version of xman{{}}; {remedy}"
        away = f"the checkpoint {path} is of {{}}; give this run another file, or move that one away"
        if facts.get("format") != FORMAT:
            raise XManError(other.format(""))
        for key, wanted in (self.settings | self.content).items():
            if (found := facts.get("settings", {}).get(key)) != wanted:
                what = {"content": "another model or another rule", "digest": "other data",
                        "window": f"a run with windows of {found} rows, not {wanted}: its memory was another"}
                raise XManError(away.format(what.get(key, f"a run with {key} {found}, not {wanted}")))
        state = self.start()
        try:
            for name, a in state.arrays.items():
                a[...] = arrays[self.place(name)]
                state.begun[name][...] = arrays[f"begun/{name}"] if facts["state"]["batch"] else a
            best = {n: arrays[f"values/{n}"] for n in self.kept if facts["state"]["best_epoch"]}
            state = State(state.arrays, state.begun, best=best, **facts["state"])
            factors = facts["factors"]
            if self.engine == os.environ.get("XMAN_ENGINE", "auto") == "auto":
                self.begun_with = facts.get("engine", "")
        except (KeyError, TypeError, ValueError) as error:
            raise XManError(other.format(f": {error}")) from None
        if factors != self.factors(state.t):
            raise XManError(away.format("a run with another schedule"))
        return replace(state, history=tuple(state.history))
