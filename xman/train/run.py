"""A run of training: what does not change during the run, and its epochs.

A step overwrites the parameters. Two things would need the old ones: Ctrl-C waits until the step is done
(`CtrlC`), and a run that diverges repeats its epoch (`diverged`). Each step finds a loss that is NaN, the end
of an epoch a parameter that is not finite.
"""
from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ..errors import at_least
from ..files.digests import digest_of, digests_of, norms_of
from ..interpreters import eval
from ..scale.mesh import mesh_of, slice_of_devices
from ..scale.mpi import workers
from ..scale.shares import Shares
from ..scale.signals import CtrlC
from ..scale.streams import Stream, minibatches_of
from .checkpoints import Checkpoint, State
from .evaluation import Diverged, Result, judge_of, rows_and_labels
from .objective import Objective
from .settings import Settings
from .step import TrainingStep


class Run:
    """What does not change during a run: the data, the step, the judge of the validation.

    record: the settings and the data in JSON's terms, which a checkpoint compares. state: the present one;
    reason: why the run is over, "" until then; `fit` moves both on. sound: the last parameters of known loss.
    """
    step_of = TrainingStep

    def __init__(self, objective: Objective, settings: Settings):
        self.objective, self.settings, self.workers = objective, settings, workers()
        # at once, since with a stream, or with a mesh, workers wait for each other
        self.workers.agree({"source": "a stream" if objective.stream else "arrays", "mesh": settings.mesh})
        self.mesh = mesh_of(settings.mesh) if settings.mesh else None
        # 0: each worker has all rows
        each = settings.accumulate if self.step_of.shares_rows and not settings.mesh else 0
        shares = Shares(objective, each) if self.workers.size * each > 1 else None
        self.arrays, self.judge = data_and_judge(objective, settings.validation)
        batch_size = 32 if settings.batch_size is None else settings.batch_size
        at_least("batch_size", batch_size, 1, whole_number=True)
        cut = [shares.slice_of] if shares else [slice_of_devices(self.mesh)] if self.mesh else []
        self.minibatches = minibatches_of(objective, int(batch_size), int(settings.seed), *cut)
        self.step = self.step_of(objective, settings, self.workers, shares, self.minibatches)
        self.record = {"optimizer": str(self.step.optimizer),
                       "lr": self.step.rates if isinstance(settings.lr, dict) else self.step.lr,
                       "batch_size": int(batch_size), "seed": int(settings.seed),
                       **{name: x if x is None else float(x) for name, x in self.step.limits.items()},
                       "rows": self.minibatches.rows, "digest": digest_of([*self.arrays.values()])}
        self.constants = {x: a for x, a in self.step.values.items() if x not in self.step.evaluated
                          and isinstance(a, np.ndarray) and a.dtype.kind in "biuf"}
        self.streams = [rows for rows in (objective.stream, settings.validation) if isinstance(rows, Stream)]
        if objective.stream:  # with other windows, the rest of an epoch would have other rows
            self.record["window"] = min(objective.stream.window, self.minibatches.rows)
        self.checkpoint = Checkpoint(settings, self.step, self.record, lambda: self.result({}, "").model())
        if self.workers.size > 1:
            self.workers.agree(self.facts())
        # of the first worker: first values may be random, and the file be on its disk alone
        states = lambda: (self.checkpoint.first_state(), self.step.begun_with)
        (self.state, self.step.begun_with), self.reason = self.workers.of_first(states), ""
        self.sound: dict[str, np.ndarray] = {}

    def facts(self) -> dict:
        """What all workers have to be told alike, but for first values."""
        numbers = {name: x for name, x in vars(self.settings).items() if type(x) in (int, float)}
        return self.record | self.checkpoint.content | numbers | {
            "default": digest_of([*self.constants.values()]), "schedule": self.checkpoint.factors(1000),
            "precision": self.settings.precision, "engine": self.settings.engine}

    def compare(self, state: State, reason: str = "", at_end: bool = False) -> str:
        """The first reason of a worker to end the run. XManError where one has come to differ from the first.
        A checkpoint looks at a piece of the rows, each at another, and the end of a run at all of them."""
        if self.workers.size == 1:
            return reason
        facts = {"step": state.t, "schedule": self.checkpoint.factors(state.t)}
        facts |= norms_of({w: state.arrays[w] for w in self.step.evaluated})
        turn = 0 if at_end else state.epoch + state.batch
        sources = [self.constants | self.arrays, *self.streams] if self.settings.checkpoint or at_end else []
        for k, rows in enumerate(sources):
            facts |= rows.digests(turn, k) if isinstance(rows, Stream) else digests_of(rows, turn)
        reason = self.workers.agree(facts, f"up to step {state.t} it did not stay the same", reason)
        return self.compare(state, reason, True) if reason and not at_end else reason

    def begin(self, state: State) -> None:
        state.arrays = self.step.put(state.arrays)
        if state.batch == 0:
            for name, a in state.arrays.items():
                np.copyto(state.begun[name], a)

    def steps(self, state: State, ctrl_c: CtrlC) -> Iterator[None]:
        """Take the steps of the epoch that are left, one at each turn of the caller's loop."""
        self.begin(state)
        for minibatch in self.minibatches.epoch(state.epoch, state.batch):
            rows = self.step.ready(minibatch, state.epoch, state.batch, state.t + 1)
            ctrl_c.deferred = True
            before = (self.step.parameters(state.arrays)
                      if state.batch == self.minibatches.count - 1 and not self.judge else self.sound)
            self.count(state, self.step.take(rows), rows, ctrl_c)
            self.sound = before
            if self.workers.anyone(self.checkpoint.due()) and state.batch < self.minibatches.count:
                self.compare(state)
                self.checkpoint.save(state)
            ctrl_c.release()
            yield

    def count(self, state: State, loss: float, rows: int, ctrl_c: CtrlC) -> None:
        """Note a step and its loss in the state. Diverged if the loss is NaN."""
        if loss != loss:
            raise self.diverged(state, state.batch, ctrl_c)
        state.loss, state.batch, state.t = state.loss + loss * rows, state.batch + 1, state.t + 1

    def judged(self, state: State, seconds: float, ctrl_c: CtrlC) -> State:
        """The state at the beginning of the next epoch: its history has this epoch, its best the best."""
        with np.errstate(all="ignore"):
            moves = [np.max(np.abs(state.arrays[w] - state.begun[w]), initial=0.0).item()
                     for w in self.objective.names]
        if not all(map(math.isfinite, moves)):
            self.check(state, ctrl_c)
        row = {"epoch": state.epoch, "loss": state.loss / self.minibatches.rows, "adjustment": max(moves),
               "seconds": seconds}
        if self.judge:
            try:
                row["validation_loss"], accuracy = self.judge({w: state.arrays[w]
                                                               for w in self.step.evaluated})
            except Diverged as error:
                raise Diverged(f"epoch {state.epoch}, validation: {error}") from None
            if accuracy is not None:
                row["validation_accuracy"] = accuracy
        best = {}
        if not state.history or score(row) < min(map(score, state.history)):
            best = {"best": self.step.parameters(state.arrays), "best_epoch": state.epoch}
        return replace(state, epoch=state.epoch + 1, batch=0, loss=0.0, history=(*state.history, row), **best)

    def best_of(self, state: State) -> dict[str, np.ndarray]:
        """The best parameters of a run that went wrong, without those whose loss was never computed."""
        unseen = not self.judge and state.batch == 0 and state.best_epoch == state.epoch - 1
        return (self.sound if unseen else state.best) or self.step.parameters(state.begun)

    def result(self, parameters: dict[str, np.ndarray], reason: str) -> Result:
        state, rows = self.state, self.objective
        return Result(parameters, list(state.history), state.best_epoch, reason, rows.model,
                      self.settings.prepared, rows.X.shape[1:], rows.labels, self.record)

    def check(self, state: State, ctrl_c: CtrlC) -> None:
        if not self.step.finite(state.arrays):
            raise self.diverged(state, state.batch - 1, ctrl_c)

    def diverged(self, state: State, latest: int, ctrl_c: CtrlC) -> Diverged:
        """The error that names the first register that was NaN. latest: the minibatch among the values."""
        ctrl_c.deferred = True  # from now on: this state must not be saved
        step, values = self.step, self.step.values
        inputs = {x: np.copy(a) if isinstance(a, np.ndarray) else a
                  for x, a in values.items() if x not in state.arrays}
        self.workers.gathered(0)  # wait: other workers may be reading the parameters
        for name, a in state.begun.items():
            values[name][...] = a
        first, t, state.batch = "Ctrl-C ended the search for the register", state.t - state.batch, latest
        with contextlib.suppress(KeyboardInterrupt):
            for batch, minibatch in enumerate(self.minibatches.epoch(state.epoch)):
                if ctrl_c.waiting:
                    break
                rows = step.ready(minibatch, state.epoch, batch, t + batch + 1)
                values.update(inputs if batch == latest else {})
                before = {name: values[name].copy() for name in state.arrays}
                loss = step.take(rows)
                if batch == latest or loss != loss or not step.finite(values):
                    tables = (eval(step.training.steps, values | before | piece) for piece in step.pieces)
                    firsts = [*map(step.first_unsound, tables), "the loss or a parameter is not finite"]
                    first, state.batch = next(filter(None, firsts)), batch
                    if batch == 0 and loss == loss:
                        self.sound = step.parameters(before)
                    break
        rates = " or ".join(f"{rate:g}" for rate in dict.fromkeys(step.rates.values()) if rate)
        return Diverged(f"epoch {state.epoch}, minibatch {state.batch + 1}: {first}; try a learning rate "
                        f"below {rates}, or look at the data")


class DeviceRun(Run):
    """A run whose epochs are scans on JAX's devices. Parameters come back to the host when they are saved
    and at the end of an epoch. What JAX alone cannot compute runs as any other, if no mesh is asked for."""

    def __init__(self, objective: Objective, settings: Settings):
        from ..scale.devices import Devices, NotForDevices  # they take JAX
        super().__init__(objective, replace(settings, mesh=settings.mesh or "data=1"))
        self.devices = Devices(objective, self.step.training, self.step.loss, self.mesh)
        self.refusal = () if settings.mesh else NotForDevices

    def steps(self, state: State, ctrl_c: CtrlC) -> Iterator[None]:
        try:
            if self.devices:
                yield from self.scan(state, ctrl_c)
                return
        except self.refusal:
            self.devices = None
        yield from super().steps(state, ctrl_c)

    def inputs(self, state: State) -> Iterator[tuple[dict, int]]:
        """The inputs of each minibatch of the epoch that is left, and its number of rows."""
        step, size = self.step, self.minibatches.size
        rows = self.minibatches.rows - state.batch * size
        for t, minibatch in enumerate(self.minibatches.epoch(state.epoch, state.batch), state.t + 1):
            numbers = {step.training.lr: step.rate(t), step.training.t: step.number(t)}
            yield self.objective.minibatch_inputs(*minibatch, state.epoch) | numbers, min(size, rows)
            rows -= size

    def scan(self, state: State, ctrl_c: CtrlC) -> Iterator[None]:
        """Take the remaining steps of the epoch."""
        self.begin(state)
        ctrl_c.deferred = True
        for losses, rows, more in self.devices.scanned(state.arrays, self.inputs(state), self.step.values):
            for loss in self.workers.noticed(np.asarray, losses).tolist():
                self.count(state, loss, rows, ctrl_c)
                yield
            wishes = self.checkpoint.due(), ctrl_c.waiting or self.workers.heard  # if one has it, all do it
            saving, stop = self.workers.total(np.array(wishes, float))
            if saving or stop or not more:
                self.devices.fetch(state.arrays)
            if saving and more:
                self.compare(state)
                self.checkpoint.save(state)
            if stop:
                ctrl_c.deferred = False
                ctrl_c.deliver(stop)
        self.sound, ctrl_c.deferred = self.step.parameters(state.begun), False

    def diverged(self, state: State, latest: int, ctrl_c: CtrlC) -> Diverged:
        """The error as `Run` finds it, step by step, without the mesh, by all rows in each process."""
        self.minibatches = minibatches_of(self.objective, self.minibatches.size, self.settings.seed)
        X, y, numbers = next(self.minibatches.epoch(state.epoch, latest))
        self.step.feed(X, y, numbers, state.epoch, len(numbers))
        return super().diverged(state, latest, ctrl_c)


def data_and_judge(objective: Objective, validation: tuple | Stream | None) -> tuple[dict, Callable | None]:
    """The arrays that a run depends on, with the names of streams; and the validation's judge, or None."""
    arrays = {x: a for x in ("X", "y", "weights") if (a := getattr(objective, x)) is not None}
    if streams := [rows.name for rows in (objective.stream, validation) if isinstance(rows, Stream)]:
        arrays["stream"] = np.frombuffer("\n".join(streams).encode(), np.uint8)
    if not (validation is None or isinstance(validation, Stream)):
        validation = rows_and_labels(validation, "validation", objective.labels)
        arrays |= zip(("validation X", "validation y"), validation, strict=True)
    return arrays, None if validation is None else judge_of(objective.model, validation)


def score(row: dict) -> float:
    return row.get("validation_loss", row["loss"])
