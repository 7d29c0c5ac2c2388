"""fit: minibatch descent on a model's loss, with its list, the interpreters and an optimizer."""
from __future__ import annotations

import time
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ops

from ..errors import XManError, nearest
from ..interpreters import backprop, eval
from ..manager import XMan
from . import checkpoints
from .evaluation import Diverged, Result, TrainingError, evaluate, feed, first_nan, list_of, pair
from .optimizers import OPTIMIZERS
from .plot import check_plot, learning_curve
from .progress import Progress


class State(NamedTuple):
    """Everything that a run has to remember between two steps: at any moment it is whole."""
    parameters: dict[str, np.ndarray]
    moments: dict[str, tuple[np.ndarray, ...]]
    epoch: int = 1          # the one under way
    batch: int = 0          # the minibatches of it that are done
    t: int = 0              # the steps taken altogether
    loss: float = 0.0       # Σ loss · rows over the minibatches of the epoch
    adjustment: float = 0.0  # the largest |Δw| of the epoch
    best: dict[str, np.ndarray] = {}
    best_epoch: int = 0
    history: tuple = ()


def fit(model: XMan, data: tuple, *, validation: tuple | None = None, epochs: int = 10, batch_size: int = 32,
        optimizer: str = "sgd", lr: float | dict[str, float] = 0.1, seed: int = 0, patience: int | None = None,
        threshold: float | None = None, checkpoint: str | Path | None = None, plot: str | Path | None = None,
        progress: bool = True) -> Result:
    """Train the parameters of model on data and return the best; the model itself is not changed.

    model: an XMan with a register `loss`, a number; `outputs` (n, classes), where it has one, gives the accuracy. Its
    method feed(X, y) turns rows and targets into inputs by name; without one they are its inputs X and y.
    data, validation: pairs (X, y), of n rows each. epochs: passes over the data, each in an order drawn from `seed`.
    optimizer: sgd, momentum or adam. lr: the learning rate, or a dict with that of each parameter by its name, where 0
    holds one as it is (Adams, Computing Gradients with Backpropagation, after eq. 16). patience: stop after so many epochs
    without a better validation loss. threshold: stop when no parameter moved by more than that in an epoch (Reps §6).
    checkpoint: a file, written after each epoch and on Ctrl-C; where it exists the run goes on from it, to the same bits
    as without a break. plot: a PNG of the learning curve. progress: a bar on a terminal, a line an epoch elsewhere.
    Raises XManError for data and settings that do not fit, and Diverged, which names the first register that was NaN.
    """
    for name, value, least in (("epochs", epochs, 0), ("patience", patience, 1), ("threshold", threshold, 0.0)):
        if value is not None and not value >= least:
            raise XManError(f"{name} is at least {least}, not {value!r}")
    if plot:
        check_plot(plot)
    run = Run(model, data, validation, batch_size, optimizer, lr, seed)
    state = run.resumed(checkpoint) if checkpoint and Path(checkpoint).exists() else run.start()
    reason = ended(state, epochs, patience, threshold)
    started = time.perf_counter()
    with Progress(progress, total=epochs * run.batches, done=(state.epoch - 1) * run.batches + state.batch) as shown:
        try:
            while not reason:
                while state.batch < run.batches:
                    state = run.step(state)
                    shown.step()
                now = time.perf_counter()
                state = run.epoch_done(state, now - started)
                started = now
                shown.line(state.history[-1])
                run.save(checkpoint, state)
                reason = ended(state, epochs, patience, threshold)
        except KeyboardInterrupt:
            run.save(checkpoint, state)
            reason = f"interrupted in epoch {state.epoch}" + (f"; {checkpoint} has it all" if checkpoint else "")
        except XManError as error:
            stop = error if isinstance(error, Diverged) else TrainingError(str(error))
            unseen = state.parameters is state.best and not run.validation  # nobody has seen a loss of these
            kept = run.sound if unseen else state.best
            stop.result = Result(kept or run.start().parameters, list(state.history), state.best_epoch, str(error))
            raise stop from error
    if plot:
        learning_curve(state.history, plot)
    return Result(state.best or state.parameters, list(state.history), state.best_epoch, reason)


class Run:
    """What does not change during a run: the list, the data, the settings."""

    def __init__(self, model: XMan, data: tuple, validation: tuple | None, batch_size: int, optimizer: str,
                 lr: float | dict[str, float], seed: int):
        self.model, (self.X, self.y) = model, pair(data, "data")
        self.validation = None if validation is None else pair(validation, "validation")
        self.rows = self.X.shape[0]
        if not isinstance(batch_size, (int, np.integer)) or batch_size < 1:
            raise XManError(f"batch_size is a number of rows, at least 1, not {batch_size!r}")
        if not isinstance(seed, (int, np.integer)) or seed < 0:
            raise XManError(f"a seed is a whole number, at least 0, not {seed!r}")
        if optimizer not in OPTIMIZERS:
            raise XManError(f"there is no optimizer {optimizer!r}{nearest(optimizer, OPTIMIZERS)}; "
                            f"there are {', '.join(OPTIMIZERS)}")
        self.optimizer, self.seed, self.batch_size = OPTIMIZERS[optimizer], int(seed), int(batch_size)
        self.batches = -(-self.rows // batch_size)
        self.order: tuple[int, Any] = 0, None  # the epoch, and the order of the rows in it
        self.steps = list_of(model, "loss")
        self.inputs = model.inputDict(**feed(model, self.X[:1], self.y[:1]))
        self.names = [name for name in self.steps.inputs if model.isParam(name)]
        if unset := [name for name in self.names if name not in self.inputs]:
            raise XManError(f"the parameter {unset[0]!r} has no value to begin with; write f.param(default=…)")
        if not self.names:
            raise XManError("the loss depends on no parameter: there is nothing to train")
        self.rates = rates_of(lr, self.names)
        self.sound: dict[str, np.ndarray] = {}  # the last parameters whose loss was seen and was no NaN
        sizes = [(name, np.shape(self.inputs[name]), str(np.asarray(self.inputs[name]).dtype)) for name in self.names]
        content = zlib.crc32(f"{self.steps} {sizes}".encode())
        for array in (self.X, self.y, *(self.validation or ())):
            for part in (array,) if isinstance(array, np.ndarray) else (array.data, array.indices, array.indptr):
                content = zlib.crc32(np.ascontiguousarray(part).view(np.uint8), content)
        self.settings = {"optimizer": optimizer, "lr": self.rates if isinstance(lr, dict) else float(lr),
                         "batch_size": self.batch_size, "seed": self.seed, "rows": self.rows, "model and data": content}

    def start(self) -> State:
        values = {name: np.asarray(self.inputs[name]) for name in self.names}
        values = {name: w if w.dtype.kind == "f" else w.astype(float) for name, w in values.items()}
        return State(values, {name: (np.zeros_like(w),) * self.optimizer.moments for name, w in values.items()})

    def minibatch(self, epoch: int, batch: int) -> tuple[Any, np.ndarray]:
        """The rows of a minibatch; their order is drawn anew for each epoch, from the seed and its number alone."""
        if self.order[0] != epoch:
            self.order = epoch, np.random.default_rng([self.seed, epoch]).permutation(self.rows)
        some = self.order[1][batch * self.batch_size:(batch + 1) * self.batch_size]
        return self.X[some], self.y[some]

    def step(self, state: State) -> State:
        """The state after one more minibatch: values, deltas, and each parameter moved."""
        X, y = self.minibatch(state.epoch, state.batch)
        values = eval(self.steps, {**self.inputs, **state.parameters, **feed(self.model, X, y)})
        loss = values[self.steps[-1][0]]
        if np.size(loss) != 1:
            raise XManError(f"the loss has shape {np.shape(loss)}; it has to be one number: write f.mean(…)")
        deltas = backprop(self.steps, values, ops.DG, self.names, **{self.steps[-1][0]: 1.0})
        parameters, moments, adjustment = {}, {}, state.adjustment
        with np.errstate(all="ignore"):
            for name, w in state.parameters.items():
                d = deltas[name] if name in deltas else np.zeros_like(w)
                parameters[name], moments[name] = self.optimizer.update(w, d, state.moments[name], state.t + 1,
                                                                        self.rates[name])
                adjustment = float(np.maximum(adjustment, np.max(np.abs(parameters[name] - w), initial=0.0)))
        if not np.isnan(loss):
            self.sound = state.parameters
        if not np.isfinite(adjustment) or np.isnan(loss):
            first = first_nan(self.steps, values, deltas, parameters)
            rates = " or ".join(f"{rate:g}" for rate in dict.fromkeys(self.rates.values()) if rate)
            raise Diverged(f"epoch {state.epoch}, minibatch {state.batch + 1}: {first}; try a learning rate below {rates}, "
                           "or look at the data")
        return state._replace(parameters=parameters, moments=moments, batch=state.batch + 1, t=state.t + 1,
                              loss=state.loss + float(loss) * X.shape[0], adjustment=adjustment)

    def epoch_done(self, state: State, seconds: float) -> State:
        """The state at the beginning of the next epoch, this one in the history and, if it was the best, kept."""
        row = {"epoch": state.epoch, "loss": state.loss / self.rows, "adjustment": state.adjustment, "seconds": seconds}
        if self.validation:
            try:
                row["validation_loss"], accuracy = evaluate(self.model, state.parameters, self.validation)
            except Diverged as error:
                raise Diverged(f"epoch {state.epoch}, validation: {error}") from None
            if accuracy is not None:
                row["validation_accuracy"] = accuracy
        if not state.history or score(row) < min(map(score, state.history)):
            state = state._replace(best=state.parameters, best_epoch=row["epoch"])
        return state._replace(epoch=state.epoch + 1, batch=0, loss=0.0, adjustment=0.0, history=(*state.history, row))

    def save(self, path: str | Path | None, state: State) -> None:
        if path:
            arrays = {f"parameters/{n}": w for n, w in state.parameters.items()}
            arrays |= {f"best/{n}": w for n, w in state.best.items()}
            arrays |= {f"moments/{n}/{k}": m for n, kept in state.moments.items() for k, m in enumerate(kept)}
            facts = {key: value for key, value in state._asdict().items() if key not in ("parameters", "moments", "best")}
            checkpoints.save(path, arrays, {"state": facts, "settings": self.settings})

    def resumed(self, path: str | Path) -> State:
        """The state that the checkpoint holds. XManError where it belongs to another model, other data or settings."""
        arrays, facts = checkpoints.restore(path)
        for key, wanted in self.settings.items():
            if (found := facts.get("settings", {}).get(key)) != wanted:
                what = "another model or other data" if key == "model and data" else f"a run with {key} {found}, not {wanted}"
                raise XManError(f"the checkpoint {path} is of {what}; give this run another file, or move that one away")
        kept = range(self.optimizer.moments)
        try:
            state = State(**facts["state"], parameters={n: arrays[f"parameters/{n}"] for n in self.names},
                          moments={n: tuple(arrays[f"moments/{n}/{k}"] for k in kept) for n in self.names},
                          best={n: arrays[f"best/{n}"] for n in self.names if f"best/{n}" in arrays})
        except (KeyError, TypeError) as error:
            raise XManError(f"the checkpoint {path} is of another version of xman: {error}; move it away to begin anew") from None
        return state._replace(history=tuple(state.history))


def rates_of(lr: float | dict[str, float], names: list[str]) -> dict[str, float]:
    """The learning rate of each parameter. XManError where lr is not one positive number, or a dict of them with every name."""
    rates = lr if isinstance(lr, dict) else dict.fromkeys(names, lr)
    if strange := [name for name in rates if name not in names]:
        raise XManError(f"lr has a rate for {strange[0]!r}, which is no parameter of the loss{nearest(str(strange[0]), names)}; "
                        f"there are {', '.join(names)}")
    if missing := [name for name in names if name not in rates]:
        raise XManError(f"lr has no rate for {', '.join(map(repr, missing))}; a dict names every parameter, with 0 to hold it")
    numbers = all(isinstance(rate, (int, float, np.number)) and 0 <= rate < np.inf for rate in rates.values())
    if not numbers or not any(rates.values()):
        raise XManError(f"the learning rate has to be a positive number, not {lr!r}; the optimizers descend by themselves")
    return {name: float(rates[name]) for name in names}


def ended(state: State, epochs: int, patience: int | None, threshold: float | None) -> str:
    """Why the run is over, or nothing where it is not."""
    if state.epoch > epochs:
        return f"all {epochs} epochs done"
    if patience and state.history and state.epoch - 1 - state.best_epoch >= patience:
        return f"no better for {patience} epochs"
    if threshold and state.history and state.history[-1]["adjustment"] < threshold:
        return f"no parameter moved by {threshold:g} in epoch {state.epoch - 1}"
    return ""


def score(row: dict) -> float:
    """What is to be small: the validation loss, where there is one."""
    return row.get("validation_loss", row["loss"])
