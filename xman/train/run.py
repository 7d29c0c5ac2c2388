"""A run of training: its state, and what does not change while it goes.

A step overwrites the parameters, so what came before it is gone. Two things need it, and neither costs a step anything:
Ctrl-C waits until the step under way is done (`CtrlC`), and a run that diverges goes once more through its epoch, from a
copy of the arrays at its beginning, to the step that it failed in, where the interpreter finds the register. That a loss is
NaN is seen at its step; that a parameter is not finite is seen at the end of the epoch, where it costs the least.
"""
from __future__ import annotations

import contextlib
import functools
import math
import os
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..engines import Compiled
from ..errors import XManError
from ..files import Model
from ..files import container as checkpoints
from ..interpreters import eval
from ..tables import Prepared
from ..wengert import WengertList
from .evaluation import Diverged, Result, a_number_of_rows, first_nan, judge_of, rows_and_labels
from .minibatches import Minibatches
from .objective import Objective
from .optimizers import Rule, optimizer_of, rates_of, training_list
from .progress import CtrlC, Progress
from .schedules import Schedule

FORMAT = 3  # of checkpoints
WORTH_COMPILING = 400  # minibatches an epoch; with fewer most runs are over before a compiler's seconds are earned back


@dataclass
class State:
    """Everything that a run has to remember between two steps: there it is whole.

    arrays: the parameters and their moments by register; each step overwrites them. begun: a copy of them from the
    beginning of the epoch, which holds when a minibatch of it is done.
    """
    arrays: dict[str, np.ndarray]
    begun: dict[str, np.ndarray]
    epoch: int = 1      # the one under way
    batch: int = 0      # the minibatches of it that are done
    t: int = 0          # the steps taken altogether
    loss: float = 0.0   # Σ loss · rows over the minibatches of the epoch
    best: dict[str, np.ndarray] = field(default_factory=dict)
    best_epoch: int = 0
    history: tuple = ()


class Run:
    """What does not change during a run: the list and its programs, the data, the settings."""

    def __init__(self, objective: Objective, validation: tuple | None, batch_size: int | None, seed: int, engine: str,
                 optimizer: str | Rule, lr: float | dict[str, float] | None, schedule: Schedule | None,
                 prepared: Prepared | None = None, **options: float | None):
        self.objective, self.judge, self.over, self.prepared = objective, None, "", prepared
        batch_size, lr = 32 if batch_size is None else batch_size, 0.1 if lr is None else lr
        self.data = [a for a in (objective.X, objective.y, objective.weights) if a is not None]
        if validation is not None:
            validation = rows_and_labels(validation, "validation", objective.labels)
            self.data += validation
            self.judge = judge_of(objective.model, validation)
        a_number_of_rows(batch_size)
        if schedule is not None and not callable(schedule):
            raise XManError(f"a schedule is a function from the number of the step, 1, 2, …, to a factor, not {schedule!r}")
        self.minibatches = Minibatches(objective.X, objective.y, int(batch_size), int(seed))
        self.rows, self.batches = self.minibatches.rows, self.minibatches.count
        self.inputs, self.names, self.loss = objective.inputs, objective.names, objective.loss
        self.kept = (*self.names, *objective.running)  # what evaluation needs
        self.optimizer, self.rates = optimizer_of(optimizer), rates_of(lr, self.names)
        self.schedule, self.engine = schedule, engine
        self.begun_with = ""  # the engine of all minibatches but short ones, also where a run is resumed elsewhere
        self.lr, factors = (1.0, self.rates) if isinstance(lr, dict) else (float(lr), dict.fromkeys(self.names, 1.0))
        moving = {w: factor for w, factor in factors.items() if w in objective.steps.inputs}
        self.training = training_list(objective.steps, self.loss, moving, optimizer, running=objective.running, **options)
        self.settings = {"optimizer": str(self.optimizer), "lr": self.rates if isinstance(lr, dict) else self.lr,
                         "batch_size": int(batch_size), "seed": int(seed), "rows": self.rows}
        self.settings |= {key: value if value is None else float(value) for key, value in options.items()}
        parts = [(a,) if isinstance(a, np.ndarray) else (a.data, a.indices, a.indptr) for a in self.data]
        self.settings["digest"] = checkpoints.digest({f"{k}": a for k, a in enumerate(sum(parts, ()))}, "")
        start = self.start().arrays
        # a number, which is no array once it is computed, cannot be overwritten by the program
        self.numbers = {x: y for x, y in self.training.inplace.items() if not start[x].ndim}
        self.inplace = {x: y for x, y in self.training.inplace.items() if start[x].ndim}
        self.number = min((start[w].dtype for w in moving), key=lambda dtype: dtype.itemsize).type
        self.largest = float(np.finfo(self.number).max)
        self.values = {name: self.inputs[name] for name in self.training.steps.inputs if name in self.inputs}
        self.programs: dict[int, Compiled] = {}  # by the number of rows
        self.sound: dict[str, np.ndarray] = {}  # the last parameters whose loss was seen

    def start(self) -> State:
        arrays = {w: np.array(self.inputs[w], None if np.asarray(self.inputs[w]).dtype.kind == "f" else float, order="C")
                  for w in self.kept}
        arrays |= {m: np.zeros_like(arrays[w]) for m, w in self.training.moments.items()}
        return State(arrays, {name: a.copy() for name, a in arrays.items()})

    def parameters(self, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Copies of the parameters among the arrays, and of what is running."""
        return {w: arrays[w].copy() for w in self.kept}

    def epoch(self, state: State, ctrl_c: CtrlC, shown: Progress) -> None:
        """Take the steps of the epoch that are left."""
        values, training, given, schedule = self.values, self.training, self.objective.given, self.schedule
        values.update(state.arrays)
        if state.batch == 0:
            for name, a in state.arrays.items():
                np.copyto(state.begun[name], a)
        rate = self.rate(1) if schedule is None else None
        for X, y, some in self.minibatches.epoch(state.epoch, state.batch):
            rows = len(y)
            values.update(given(X, y, some, state.epoch))
            values[training.lr] = rate if schedule is None else self.rate(state.t + 1)
            values[training.t] = self.number(state.t + 1)
            program = self.programs.get(rows) or self.program(rows, values)
            ctrl_c.held = True
            seen = self.parameters(state.arrays) if state.batch == self.batches - 1 and not self.judge else self.sound
            loss = self.step(program, values)
            if loss != loss:
                raise self.diverged(state, state.batch, ctrl_c)
            self.sound = seen
            state.loss += loss * rows
            state.batch += 1
            state.t += 1
            ctrl_c.held = False
            if ctrl_c.waiting:
                ctrl_c.deliver()
            shown.step()

    def step(self, program: Compiled, values: dict[str, Any]) -> float:
        """Run the program, which overwrites arrays among the values; the loss."""
        found = program(values)
        for x, y in self.numbers.items():
            values[x][...] = found[y]
        return found[self.loss].item()

    def program(self, rows: int, values: dict[str, Any]) -> Compiled:
        """The program for minibatches of so many rows, compiled: it runs on copies first, for which Ctrl-C does not wait."""
        short = self.minibatches.count < WORTH_COMPILING or rows < min(self.minibatches.size, self.rows)
        outputs = [self.loss, *self.numbers.values()]
        engine = "numpy" if short and self.engine == "auto" else self.begun_with or self.engine
        program = Compiled(self.training.steps, outputs, engine, self.inplace, adapts=False)
        found = program(values | {name: values[name].copy() for name in self.inplace})
        if np.size(found[self.loss]) != 1:
            raise XManError(f"the loss has shape {np.shape(found[self.loss])}; it has to be one number: write f.mean(…)")
        self.programs[rows] = program
        if not short:
            self.begun_with = program.engine
        return program

    def rate(self, t: int) -> np.floating:
        """The learning rate of step t; infinite where the precision does not reach it, and the step says what comes of it."""
        rate = self.lr * (self.factor(t) if self.schedule else 1.0)
        return self.number(rate if rate <= self.largest else np.inf)

    def factor(self, t: int) -> float:
        factor = self.schedule(t)
        if not 0 <= factor < np.inf:
            raise XManError(f"the schedule gives {factor!r} at step {t}; a factor of the learning rate is at least 0 and finite")
        return float(factor)

    def check(self, state: State, ctrl_c: CtrlC) -> None:
        """Raise Diverged where a parameter is not finite."""
        if not self.finite(state.arrays):
            raise self.diverged(state, state.batch - 1, ctrl_c)

    def finite(self, arrays: dict[str, Any]) -> bool:
        return all(np.isfinite(arrays[w]).all() for w in self.kept)

    def diverged(self, state: State, latest: int, ctrl_c: CtrlC) -> Diverged:
        """The error that names the first register that was NaN, in the epoch's first step that was not sound.

        latest: the minibatch whose inputs are among the values; for it they are taken, and not what `feed` gives a second time.
        """
        ctrl_c.held = True  # for good: this state is not to be saved
        given = {x: a.copy() if isinstance(a, np.ndarray) else a for x, a in self.values.items() if x not in state.arrays}
        values = self.values | {name: a.copy() for name, a in state.begun.items()}
        first, t, state.batch = "Ctrl-C ended the search for the register", state.t - state.batch, latest
        with contextlib.suppress(KeyboardInterrupt):
            for batch, (X, y, some) in enumerate(self.minibatches.epoch(state.epoch)):
                if ctrl_c.waiting:
                    break
                t += 1
                values |= {**self.objective.given(X, y, some, state.epoch), self.training.lr: self.rate(t),
                           self.training.t: self.number(t)}
                values |= given if batch == latest else {}
                before = {name: values[name].copy() for name in state.arrays}
                loss = self.step(self.programs.get(len(y)) or self.program(len(y), values), values)
                if batch == latest or loss != loss or not self.finite(values):
                    found = eval(self.training.steps, values | before)
                    first, state.batch = self.first_unsound(found) or "the loss or a parameter is not finite", batch
                    if batch == 0 and loss == loss:
                        self.sound = self.parameters(before)
                    break
        rates = " or ".join(f"{rate:g}" for rate in dict.fromkeys(self.rates.values()) if rate)
        return Diverged(f"epoch {state.epoch}, minibatch {state.batch + 1}: {first}; try a learning rate below {rates}, "
                        "or look at the data")

    def first_unsound(self, found: dict[str, Any]) -> str:
        """The first value that is NaN, else the first delta or parameter that is not finite; nothing where all are sound."""
        steps = self.training.steps
        values = next(k for k, (dst, _, _) in enumerate(steps, 1) if dst == self.loss)
        if first := first_nan(steps[:values], found):
            return first
        for dst, _, _ in steps[values:]:
            if not np.isfinite(found[dst]).all():
                if dst.startswith(before := f"d{self.loss}_d") and (name := dst.removeprefix(before)) in found:
                    return f"the first delta that is not finite is that of {name!r}"
                if name := next((w for w in self.kept if self.training.inplace.get(w) == dst), None):
                    return f"the first register to leave the range of its precision is {name!r}"
        return ""

    def epoch_done(self, state: State, seconds: float, ctrl_c: CtrlC) -> State:
        """The state at the beginning of the next epoch, this one in the history and, if it was the best, kept."""
        with np.errstate(all="ignore"):
            moved = [np.max(np.abs(state.arrays[w] - state.begun[w]), initial=0.0).item() for w in self.names]
        if not all(map(math.isfinite, moved)):
            self.check(state, ctrl_c)
        row = {"epoch": state.epoch, "loss": state.loss / self.rows, "adjustment": max(moved), "seconds": seconds}
        if self.judge:
            try:
                row["validation_loss"], accuracy = self.judge({w: state.arrays[w] for w in self.kept})
            except Diverged as error:
                raise Diverged(f"epoch {state.epoch}, validation: {error}") from None
            if accuracy is not None:
                row["validation_accuracy"] = accuracy
        best = {}
        if not state.history or score(row) < min(map(score, state.history)):
            best = {"best": self.parameters(state.arrays), "best_epoch": state.epoch}
        return replace(state, epoch=state.epoch + 1, batch=0, loss=0.0, history=(*state.history, row), **best)

    def best_of(self, state: State) -> dict[str, np.ndarray]:
        """The parameters to hand out of a run that went wrong: the best, but for those whose own loss nobody has seen."""
        unseen = not self.judge and state.batch == 0 and state.best_epoch == state.epoch - 1
        return (self.sound if unseen else state.best) or self.parameters(self.start().arrays)

    def result(self, parameters: dict[str, np.ndarray], state: State, reason: str) -> Result:
        return Result(parameters, list(state.history), state.best_epoch, reason, self.objective.model, self.prepared,
                      self.data[0].shape[1:], self.objective.labels, self.settings)

    def save(self, path: str | Path | None, state: State) -> None:
        """Write the state, and the model that the best parameters so far make, to path, if there is one."""
        if path:
            arrays = {f"{'parameters' if n in self.kept else 'moments'}/{n}": a for n, a in state.arrays.items()}
            arrays |= {f"begun/{n}": a for n, a in state.begun.items() if state.batch}
            facts = {key: value for key, value in vars(state).items() if key not in ("arrays", "begun", "best")}
            model, why = self.model
            values = model.values | (state.best or self.parameters(state.arrays))
            model._replace(values=values, settings=self.settings | self.content).save(
                path, arrays, format=FORMAT, state=facts, factors=self.factors(state.t), engine=self.begun_with, **why)

    @functools.cached_property
    def model(self) -> tuple[Model, dict[str, str]]:
        """What the network is as a model, and why it is none where its feed or its list cannot be one."""
        try:
            return self.result({}, self.start(), "").model(), {}
        except Exception as error:  # of a feed that anybody wrote; the run goes on, and `load` tells it
            return Model(WengertList(), {}, (), "", (), "", {}), {"no_model": str(error) or type(error).__name__}

    @functools.cached_property
    def content(self) -> dict[str, int]:
        """A number for the list with its sizes, so that another is recognised."""
        sizes = [(name, a.shape, str(a.dtype)) for name, a in self.start().arrays.items()]
        return {"content": zlib.crc32(f"{self.training.steps} {sizes}".encode())}

    def factors(self, t: int) -> list[float]:
        """What the schedule has given at a few steps up to t."""
        return [self.factor(s) for s in sorted({1, t // 2, t}) if 0 < s <= t] if self.schedule else []

    def resumed(self, path: str | Path) -> State:
        """The state that the checkpoint holds. XManError where it belongs to another model, other data or settings."""
        arrays, facts = checkpoints.restore(path)
        other = f"the checkpoint {path} is of another version of xman{{}}; move it away to begin anew"
        if facts.get("format") != FORMAT:
            raise XManError(other.format(""))
        for key, wanted in (self.settings | self.content).items():
            if (found := facts.get("settings", {}).get(key)) != wanted:
                what = ({"content": "another model or another rule", "digest": "other data"}[key] if key in ("content", "digest")
                        else f"a run with {key} {found}, not {wanted}")
                raise XManError(f"the checkpoint {path} is of {what}; give this run another file, or move that one away")
        state = self.start()
        try:
            for name, a in state.arrays.items():
                a[...] = arrays[f"{'parameters' if name in self.kept else 'moments'}/{name}"]
                state.begun[name][...] = arrays[f"begun/{name}"] if facts["state"]["batch"] else a
            best = {n: arrays[f"values/{n}"] for n in self.kept if facts["state"]["best_epoch"]}
            state = State(state.arrays, state.begun, best=best, **facts["state"])
            factors = facts["factors"]
            if self.engine == os.environ.get("XMAN_ENGINE", "auto") == "auto":
                self.begun_with = facts.get("engine", "")
        except (KeyError, TypeError, ValueError) as error:
            raise XManError(other.format(f": {error}")) from None
        if factors != self.factors(state.t):
            raise XManError(f"the checkpoint {path} is of a run with another schedule; give this run another file, or move that "
                            "one away")
        return replace(state, history=tuple(state.history))


def score(row: dict) -> float:
    """What is to be small: the validation loss, where there is one."""
    return row.get("validation_loss", row["loss"])
