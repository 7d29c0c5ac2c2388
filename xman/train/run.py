"""A run of training: what does not change during the run, and its steps.

A step overwrites the parameters, so the values before it are lost. Two things would need them, and get by
without: Ctrl-C waits until the present step is done (`CtrlC`), and a run that diverges repeats its epoch
(`diverged`). Each step finds a loss that is NaN; the end of an epoch finds a parameter that is not finite,
which is cheaper.
"""
from __future__ import annotations

import contextlib
import math
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from ..engines import Compiled
from ..errors import XManError
from ..interpreters import eval
from ..scale.common import in_common
from ..scale.cut import CutProgram, updated_alike
from ..scale.mesh import in_mixed_precision, mesh_of
from ..scale.mpi import workers
from ..scale.shares import Shares
from ..scale.streams import Stream, Streamed
from .checkpoints import Checkpointed, State
from .evaluation import Diverged, Result, at_least, first_nan, judge_of, rows_and_labels
from .minibatches import Minibatches
from .objective import Objective
from .optimizers import TrainingList, optimizer_of, rates_of, training_list
from .progress import CtrlC, Progress
from .schedules import Rates

# minibatches per epoch; with fewer, most runs are over before compilation has paid off
WORTH_COMPILING = 400


class Run(Checkpointed):
    """What does not change during a run: the list and its programs, the data, the settings of `fit`."""

    def __init__(self, objective: Objective, given: dict[str, Any]):
        """given: the arguments of `fit` by name."""
        batch_size = 32 if given["batch_size"] is None else given["batch_size"]
        lr = 0.1 if given["lr"] is None else given["lr"]
        one = 1.0 if isinstance(lr, dict) else float(lr)
        self.objective, self.engine, self.over = objective, given["engine"], ""
        self.inputs, self.names, self.loss = objective.inputs, objective.names, objective.loss
        self.kept = (*self.names, *objective.running)  # the registers that evaluation needs
        self.checkpoint, self.every = given["checkpoint"], given["checkpoint_every"]
        self.prepared, self.saved = given["prepared"], time.monotonic()
        self.writer, self.writing = ThreadPoolExecutor(1), None
        self.mesh = mesh_of(given["mesh"]) if given["mesh"] else None
        self.workers, each = workers(), 0 if given["mesh"] else given["accumulate"]  # 0: each has all rows
        self.shares = Shares(objective, each) if self.workers.size * each > 1 else None
        self.workers.beside = None  # of a run before this one
        data, self.judge = data_and_judge(objective, given["validation"])
        at_least("batch_size", batch_size, 1, whole=True)
        kind, rows = ((Streamed, [objective.stream]) if objective.stream else
                      (Minibatches, [objective.X, objective.y]))
        mine = [self.shares.mine] if self.shares else []
        self.minibatches = kind(*rows, int(batch_size), int(given["seed"]), *mine)
        self.rows, self.batches = self.minibatches.rows, self.minibatches.count
        self.optimizer, self.rates = optimizer_of(given["optimizer"]), rates_of(lr, self.names)
        moving = {w: rate / one for w, rate in self.rates.items() if w in objective.steps.inputs}
        options = {name: given[name] for name in ("weight_decay", "clip", "clip_value")}
        self.alone, self.training = self.training_lists(moving, given, options)
        self.settings = {"optimizer": str(self.optimizer), "lr": self.rates if isinstance(lr, dict) else one,
                         "batch_size": int(batch_size), "seed": int(given["seed"]), "rows": self.rows,
                         **{key: value if value is None else float(value) for key, value in options.items()},
                         "digest": digest_of(data)}
        if objective.stream:  # with other windows, the rest of an epoch would have other rows
            self.settings["window"] = min(objective.stream.window, self.rows)
        start = self.start().arrays
        # a program cannot overwrite a number, which is not an array once it is computed
        self.numbers = {x: y for x, y in self.training.inplace.items() if not start[x].ndim}
        self.inplace = {x: y for x, y in self.training.inplace.items() if start[x].ndim}
        self.number = min((start[w].dtype for w in moving), key=lambda dtype: dtype.itemsize).type
        self.rate = Rates(one, given["schedule"], self.number)
        self.values = {name: self.inputs[name] for name in self.training.steps.inputs if name in self.inputs}
        self.programs: dict[int, Compiled] = {}  # by the number of rows
        # the engine for all minibatches but short ones; a run that is resumed elsewhere keeps it
        self.begun_with = ""
        outputs, numbers = [self.loss, *self.numbers.values()], [self.training.lr, self.training.t]
        states = [(w, *(m for m, of in self.training.moments.items() if of == w)) for w in moving]
        self.divided = updated_alike(self.training.steps, outputs, self.inplace, states, numbers) if (
            self.shares and self.workers.comm and len({a.dtype for a in start.values()}) == 1) else []
        self.own: dict[str, np.ndarray] = {}  # this worker's slices of a state that workers share
        self.sound: dict[str, np.ndarray] = {}  # the last parameters whose loss is known

    def training_lists(self, moving: dict[str, float], given: dict[str, Any],
                       options: dict[str, float | None]) -> tuple[TrainingList, TrainingList]:
        """The list of a step for one worker alone, and the list of a step for this worker."""
        rule, precision = given["optimizer"], given["precision"]
        if precision not in (None, "mixed"):
            raise XManError(f"the precision is 'mixed', or that of the parameters, not {precision!r}")
        options = {"running": self.objective.running, **options}
        alone = mine = training_list(self.objective.steps, self.loss, moving, rule, **options)
        if self.shares:
            here = self.shares.list
            mine = training_list(here.steps, self.loss, moving, rule, part=here.loss, **options)
        return alone, mine._replace(steps=in_mixed_precision(mine.steps)) if precision else mine

    def start(self) -> State:
        arrays = {w: np.array(self.inputs[w], None if np.asarray(self.inputs[w]).dtype.kind == "f" else float,
                              order="C") for w in self.kept}
        arrays |= {m: np.zeros_like(arrays[w]) for m, w in self.training.moments.items()}
        return State(arrays, {name: a.copy() for name, a in arrays.items()})

    def parameters(self, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {w: arrays[w].copy() for w in self.kept}

    # ---- an epoch ------------------------------------------------------------------------------------------

    def begin(self, state: State) -> None:
        if self.divided and not self.own:
            state.arrays, self.own = in_common(self.workers, state.arrays, zip(*self.divided, strict=True))
        self.values.update(state.arrays)
        if state.batch == 0:
            for name, a in state.arrays.items():
                np.copyto(state.begun[name], a)

    def epoch(self, state: State, ctrl_c: CtrlC, shown: Progress) -> None:
        """Take the steps of the epoch that are left."""
        self.begin(state)
        for minibatch in self.minibatches.epoch(state.epoch, state.batch):
            program, rows = self.ready(self.values, minibatch, state.epoch, state.batch, state.t + 1)
            ctrl_c.held = True
            seen = (self.parameters(state.arrays) if state.batch == self.batches - 1 and not self.judge
                    else self.sound)
            loss = self.step(program, self.values)
            if loss != loss:
                raise self.diverged(state, state.batch, ctrl_c)
            self.sound = seen
            state.loss, state.batch, state.t = state.loss + loss * rows, state.batch + 1, state.t + 1
            if time.monotonic() - self.saved > self.every and state.batch < self.batches:
                self.save(state)
            ctrl_c.held = False
            if ctrl_c.waiting or self.workers.stop:
                ctrl_c.deliver()
            shown.step()

    def ready(self, values: dict[str, Any], minibatch: tuple, epoch: int, batch: int,
              t: int) -> tuple[Compiled, int]:
        """The program for step t, and the rows of its minibatch, whose inputs are put among the values."""
        rows = min(self.minibatches.size, self.rows - batch * self.minibatches.size)
        self.give(values, *minibatch, epoch, rows)
        values[self.training.lr], values[self.training.t] = self.rate(t), self.number(t)
        return self.programs.get(rows) or self.program(rows, values), rows

    def give(self, values: dict[str, Any], X: Any, y: Any, some: np.ndarray, epoch: int, rows: int) -> None:
        """Put the inputs for these rows among the values. rows: of all workers."""
        if self.shares is None:
            values.update(self.objective.given(X, y, some, epoch))
        else:
            self.pieces = self.shares.given(X, y, some, epoch, rows, self.number)
            values.update(self.pieces[0])

    def program(self, rows: int, values: dict[str, Any]) -> Compiled:
        """The program for so many rows: it runs on copies first, for which Ctrl-C does not wait."""
        # not for lists with loops: they are quick to build, and slow in Python
        few = self.minibatches.count < WORTH_COMPILING or rows < min(self.minibatches.size, self.rows)
        short = few and not any(op == "scan" for _, op, _ in self.training.steps)
        outputs = [self.loss, *self.numbers.values()]
        engine = "numpy" if short and self.engine == "auto" else self.begun_with or self.engine
        copies = {x: values[x].copy() for x in self.inplace}
        if self.shares:
            program = CutProgram(self.training.steps, outputs, engine, self.inplace, self.workers, self.own)
            found = program(values | copies, [{**piece} for piece in self.pieces])
            for x in copies if self.own else ():  # the program has overwritten its slices of these
                values[x][...] = copies[x]
        else:
            program = Compiled(self.training.steps, outputs, engine, self.inplace, adapts=False)
            found = program(values | copies)
        if np.size(found[self.loss]) != 1:
            raise XManError(f"the loss has shape {np.shape(found[self.loss])}; it has to be one number: "
                            "write f.mean(…)")
        self.programs[rows] = program
        if not short:
            self.begun_with = program.engine
        return program

    def step(self, program: Compiled, values: dict[str, Any]) -> float:
        """The loss after one run of the program, which overwrites arrays among the values."""
        found = program(values, self.pieces) if self.shares else program(values)
        for x, y in self.numbers.items():
            values[x][...] = found[y]
        return found[self.loss].item()

    # ---- its end -------------------------------------------------------------------------------------------

    def epoch_done(self, state: State, seconds: float, ctrl_c: CtrlC) -> State:
        """The state at the beginning of the next epoch; its history has this epoch; it is kept if best."""
        with np.errstate(all="ignore"):
            moved = [np.max(np.abs(state.arrays[w] - state.begun[w]), initial=0.0).item() for w in self.names]
        if not all(map(math.isfinite, moved)):
            self.check(state, ctrl_c)
        row = {"epoch": state.epoch, "loss": state.loss / self.rows, "adjustment": max(moved),
               "seconds": seconds}
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
        """The best parameters of a run that went wrong, without those whose loss was never computed."""
        unseen = not self.judge and state.batch == 0 and state.best_epoch == state.epoch - 1
        return (self.sound if unseen else state.best) or self.parameters(self.start().arrays)

    def result(self, parameters: dict[str, np.ndarray], state: State, reason: str) -> Result:
        return Result(parameters, list(state.history), state.best_epoch, reason, self.objective.model,
                      self.prepared, self.objective.X.shape[1:], self.objective.labels, self.settings)

    # ---- why it diverged -----------------------------------------------------------------------------------

    def check(self, state: State, ctrl_c: CtrlC) -> None:
        if not self.finite(state.arrays):
            raise self.diverged(state, state.batch - 1, ctrl_c)

    def finite(self, arrays: dict[str, Any]) -> bool:
        return all(np.isfinite(arrays[w]).all() for w in self.kept)

    def diverged(self, state: State, latest: int, ctrl_c: CtrlC) -> Diverged:
        """The error that names the first register that was NaN. latest: the minibatch among the values."""
        ctrl_c.held = True  # from now on: this state must not be saved
        given = {x: a.copy() if isinstance(a, np.ndarray) else a for x, a in self.values.items()
                 if x not in state.arrays}
        self.workers.gathered(0)  # wait: other workers may be reading the parameters
        values = self.values
        for name, a in state.begun.items():
            values[name][...] = a
        first, t, state.batch = "Ctrl-C ended the search for the register", state.t - state.batch, latest
        with contextlib.suppress(KeyboardInterrupt):
            for batch, minibatch in enumerate(self.minibatches.epoch(state.epoch)):
                if ctrl_c.waiting:
                    break
                program, _ = self.ready(values, minibatch, state.epoch, batch, t + batch + 1)
                values |= given if batch == latest else {}
                before = {name: values[name].copy() for name in state.arrays}
                loss = self.step(program, values)
                if batch == latest or loss != loss or not self.finite(values):
                    first = self.first_unsound(eval(self.training.steps, values | before))
                    first, state.batch = first or "the loss or a parameter is not finite", batch
                    if batch == 0 and loss == loss:
                        self.sound = self.parameters(before)
                    break
        rates = " or ".join(f"{rate:g}" for rate in dict.fromkeys(self.rates.values()) if rate)
        return Diverged(f"epoch {state.epoch}, minibatch {state.batch + 1}: {first}; try a learning rate "
                        f"below {rates}, or look at the data")

    def first_unsound(self, found: dict[str, Any]) -> str:
        """The first value that is NaN, else the first delta or parameter that is not finite, else ""."""
        steps = self.training.steps
        values = next(k for k, (dst, _, _) in enumerate(steps, 1) if dst == self.loss)
        if first := first_nan(steps[:values], found):
            return first
        for dst, _, _ in steps[values:]:
            if not np.isfinite(found[dst]).all():
                if (dst.startswith(before := f"d{self.loss}_d")
                    and (name := dst.removeprefix(before)) in found):
                    return f"the first delta that is not finite is that of {name!r}"
                if name := next((w for w in self.kept if self.training.inplace.get(w) == dst), None):
                    return f"the first register to leave the range of its precision is {name!r}"
        return ""


def data_and_judge(objective: Objective, validation: tuple | Stream | None) -> tuple[list, Any]:
    """The arrays that a run depends on, with the names of streams; and the validation's judge, or None."""
    data = [a for a in (objective.X, objective.y, objective.weights) if a is not None]
    if streams := [rows.name for rows in (objective.stream, validation) if isinstance(rows, Stream)]:
        data.append(np.frombuffer("\n".join(streams).encode(), np.uint8))
    if validation is None:
        return data, None
    if not isinstance(validation, Stream):
        data += (validation := rows_and_labels(validation, "validation", objective.labels))
    return data, judge_of(objective.model, validation)


def digest_of(data: list) -> str:
    """A checksum of arrays, sparse ones too: it takes a tenth of the time of SHA-256."""
    parts, found = [(a,) if isinstance(a, np.ndarray) else (a.data, a.indices, a.indptr) for a in data], 0
    for a in sum(parts, ()):
        found = zlib.crc32(f"{a.dtype} {a.shape}".encode(), found)
        found = zlib.crc32(np.ascontiguousarray(a).reshape(-1).view(np.uint8), found)
    return f"{found:08x}"


def score(row: dict) -> float:
    return row.get("validation_loss", row["loss"])
