"""A step of training: its list, and the programs that run it."""
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import ops

from ..engines import Compiled
from ..errors import XManError
from ..passes.loops.roll import rolled_where_it_pays
from ..passes.precision import in_mixed_precision
from ..reasons import first_nan, reason_of_loss
from ..scale.common import in_common
from ..scale.cut import CutProgram, updated_alike
from ..scale.mpi import Workers
from ..scale.shares import Minibatches, Shares
from ..scale.streams import Streamed
from ..wengert import WengertList
from .objective import Objective
from .optimizers import TrainingList, optimizer_of, rates_of, training_list
from .schedules import Rates
from .settings import Settings

# minibatches per epoch; with fewer, most runs are over before compilation has paid off
WORTH_COMPILING = 400


class TrainingStep:
    """The list of a step, and a program of it for each number of rows that a minibatch has.

    values: the inputs of the programs by register. A program overwrites the parameters and the moments among
    them (`inplace`), but for those that are numbers and not arrays: these are copied after each step.
    over: why no further step makes sense, if so.
    """
    shares_rows = True  # whether workers share the rows of a minibatch
    over = ""

    def __init__(self, objective: Objective, settings: Settings, workers: Workers, shares: Shares | None,
                 minibatches: Minibatches | Streamed):
        self.objective, self.settings, self.workers, self.shares = objective, settings, workers, shares
        self.minibatches, self.engine, self.loss = minibatches, settings.engine, objective.loss
        self.evaluated = (*objective.names, *objective.running)  # the registers that evaluation needs
        lr = 0.1 if settings.lr is None else settings.lr
        self.lr = 1.0 if isinstance(lr, dict) else float(lr)
        self.optimizer, self.rates = optimizer_of(settings.optimizer), rates_of(lr, objective.names)
        self.factors = {w: rate / self.lr for w, rate in self.rates.items() if w in objective.steps.inputs}
        # what a step does to the gradient before the optimizer takes it
        self.limits = {name: getattr(settings, name) for name in ("weight_decay", "clip", "clip_value")}
        self.alone, self.training = self.training_lists(objective.steps)
        start = self.start()
        self.numbers = {x: y for x, y in self.training.inplace.items() if not start[x].ndim}
        self.inplace = {x: y for x, y in self.training.inplace.items() if start[x].ndim}
        self.outputs = [self.loss, *self.numbers.values()]
        self.number = min((start[w].dtype for w in self.factors), key=lambda dtype: dtype.itemsize).type
        self.rate = Rates(self.lr, settings.schedule, self.number)
        self.values = {x: objective.inputs[x] for x in self.training.steps.inputs if x in objective.inputs}
        self.programs: dict[int, Compiled | CutProgram] = {}  # by the number of rows
        # the engine for all minibatches but short ones; a run that is resumed elsewhere keeps it
        self.begun_with = ""
        states = [(w, *(m for m, of in self.training.moments.items() if of == w))
                  for w in self.factors if w in self.inplace]  # neither numbers nor what does not move
        alike = shares and workers.comm and len({a.dtype for a in start.values()}) == 1
        self.divided = updated_alike(self.training, self.outputs, self.inplace, states) if alike else []
        self.slices: dict[str, np.ndarray] = {}  # this worker's, of a state that workers share

    def training_lists(self, steps: WengertList) -> tuple[TrainingList, TrainingList]:
        """The list of a step for one worker alone, and that for this worker. steps: of the loss."""
        if (precision := self.settings.precision) not in (None, "mixed"):
            raise XManError(f"the precision is 'mixed', or that of the parameters, not {precision!r}")
        of = partial(training_list, loss=self.loss, parameters=self.factors, running=self.objective.running,
                     optimizer=self.settings.optimizer, **self.limits)
        alone, cut = of(steps), self.shares and self.shares.list
        of_worker = of(cut.steps, local_loss=cut.loss) if cut else alone
        mixed = in_mixed_precision(of_worker.steps) if precision else of_worker.steps
        return alone, of_worker._replace(steps=mixed)

    def start(self) -> dict[str, np.ndarray]:
        """The parameters and moments with which a run begins."""
        inputs = self.objective.inputs
        arrays = {w: np.array(inputs[w], None if np.asarray(inputs[w]).dtype.kind == "f" else float,
                              order="C") for w in self.evaluated}
        return arrays | {m: np.zeros_like(arrays[w]) for m, w in self.training.moments.items()}

    def parameters(self, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {w: arrays[w].copy() for w in self.evaluated}

    def put(self, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The arrays, now among the values: in memory that the workers share, where they can share it."""
        if self.divided and not self.slices:
            arrays, self.slices = in_common(self.workers, arrays, zip(*self.divided, strict=True))
        self.values.update(arrays)
        return arrays

    def ready(self, minibatch: tuple, epoch: int, batch: int, t: int) -> int:
        """The number of rows; puts the inputs of minibatch (X, y, rows) and of step t among the values."""
        rows = min(self.minibatches.size, self.minibatches.rows - batch * self.minibatches.size)
        self.feed(*minibatch, epoch, rows)
        self.values[self.training.lr], self.values[self.training.t] = self.rate(t), self.number(t)
        if rows not in self.programs:
            self.programs[rows] = self.program(rows)
        return rows

    def feed(self, X: Any, y: Any, numbers: np.ndarray, epoch: int, rows: int) -> None:
        """Put the inputs for these rows among the values. rows: of all workers."""
        if self.shares is None:
            self.values.update(self.objective.minibatch_inputs(X, y, numbers, epoch))
            self.pieces: list[dict[str, Any]] = [{}]  # what each has beside the values
        else:
            self.pieces = [self.objective.minibatch_inputs(X[k], y[k], numbers[k], epoch) | shares
                           for k, shares in self.shares.pieces(rows, self.number)]
            self.values.update(self.pieces[0])

    def program(self, rows: int) -> Compiled | CutProgram:
        """The program for so many rows: it runs on copies first, for which Ctrl-C does not wait."""
        few = (self.minibatches.count < WORTH_COMPILING
               or rows < min(self.minibatches.size, self.minibatches.rows))
        # loops, where they pay for minibatches like this one, are quick to build, and slow in Python
        written, keep = self.objective.steps, (self.loss, *self.objective.running.values())
        loops = written if self.shares else rolled_where_it_pays(written, keep, self.values, reverse=True)
        training = self.training if loops is written else self.training_lists(loops)[1]
        # a name that is free again, such as lr, would be another input's
        steps = (training if training[1:] == self.training[1:] else self.training).steps
        short = few and not ops.loops.functions_in(steps)
        engine = "numpy" if short and self.engine == "auto" else self.begun_with or self.engine
        copies = {x: self.values[x].copy() for x in self.inplace}
        if self.shares:
            program = CutProgram(self.training.steps, self.outputs, engine, self.inplace, self.workers,
                                 self.slices)
            loss = program(self.values | copies, [{**piece} for piece in self.pieces])[self.loss]
            for x in copies if self.slices else ():  # the program has overwritten its slices of these
                self.values[x][...] = copies[x]
        else:
            program = Compiled(steps, self.outputs, engine, self.inplace, adapts=False)
            loss = program(self.values | copies)[self.loss]
        if np.size(loss) != 1:
            raise XManError(f"the loss has shape {np.shape(loss)}; it has to be one number: write f.mean(…)")
        if not short:
            self.begun_with = program.engine
        return program

    def take(self, rows: int) -> float:
        """The loss of the minibatch that is ready. The step overwrites arrays among the values."""
        program, values = self.programs[rows], self.values
        outputs = program(values, self.pieces) if self.shares else program(values)
        for x, y in self.numbers.items():
            values[x][...] = outputs[y]
        return outputs[self.loss].item()

    def finite(self, arrays: dict[str, Any]) -> bool:
        return all(np.isfinite(arrays[w]).all() for w in self.evaluated)

    def first_unsound(self, values: dict[str, Any]) -> str:
        """The first NaN, else the first delta or parameter that is not finite, else ""; and its reason."""
        forward = next(k for k, (dst, _, _) in enumerate(self.training.steps, 1) if dst == self.loss)
        if (first := self.first_register(values, forward)) and self.settings.explain:
            steps = self.training.steps[:forward]
            steps.places = self.objective.model.operationSequence(self.objective.model.loss).places
            first += reason_of_loss(steps, values, self.loss, self.evaluated)
        return first

    def first_register(self, values: dict[str, Any], forward: int) -> str:
        """The first register that is unsound. forward: how many lines lead to the loss."""
        steps, prefix = self.training.steps, f"d{self.loss}_d"
        if sentence := first_nan(steps[:forward], values):
            return sentence
        for dst, _, _ in steps[forward:]:
            if not np.isfinite(values[dst]).all():
                if dst.startswith(prefix) and (name := dst.removeprefix(prefix)) in values:
                    return f"the first delta that is not finite is that of {name!r}"
                if name := next((w for w in self.evaluated if self.training.inplace.get(w) == dst), None):
                    return f"the first register to leave the range of its precision is {name!r}"
        return ""
