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
from ..wengert import WengertList
from . import checkpoints
from .optimizers import OPTIMIZERS
from .progress import Progress


class Result(NamedTuple):
    """What a training run came to.

    parameters: by name, those of the epoch with the least validation loss (training loss where there is no validation).
    history: a dict an epoch: epoch, loss, adjustment, seconds, and validation_loss and validation_accuracy where given.
    best: the number of that epoch. reason: why the run ended, in words.
    """
    parameters: dict[str, np.ndarray]
    history: list[dict[str, float]]
    best: int
    reason: str


class Diverged(XManError):
    """The loss or a parameter became NaN. `result` is what had been reached until then."""

    result: Result | None = None


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
        optimizer: str = "sgd", lr: float = 0.1, seed: int = 0, patience: int | None = None, threshold: float | None = None,
        checkpoint: str | Path | None = None, plot: str | Path | None = None, progress: bool = True) -> Result:
    """Train the parameters of model on data and return the best; the model itself is not changed.

    model: an XMan with a register `loss`, a number; `outputs` (n, classes), where it has one, gives the accuracy. Its
    method feed(X, y) turns rows and targets into inputs by name; without one they are its inputs X and y.
    data, validation: pairs (X, y), of n rows each. epochs: passes over the data, each in an order drawn from `seed`.
    optimizer: sgd, momentum or adam, with learning rate lr. patience: stop after so many epochs without a better
    validation loss. threshold: stop when no parameter moved by more than that in an epoch (Reps §6). checkpoint: a file,
    written after each epoch and on Ctrl-C; where it exists the run goes on from it, to the same bits as without a break.
    plot: a PNG of the learning curve. progress: a bar on a terminal, a line an epoch elsewhere.
    Raises XManError for data and settings that do not fit, and Diverged, which names the first register that was NaN.
    """
    run = Run(model, data, batch_size, optimizer, lr, seed)
    state = run.resumed(checkpoint) if checkpoint and Path(checkpoint).exists() else run.start()
    if epochs < 0 or patience is not None and patience < 1:
        raise XManError(f"epochs cannot be negative and patience is at least 1; found {epochs} and {patience}")
    if validation is not None:
        pair(validation, "validation")
    reason = ended(state, epochs, patience, threshold)
    started = time.perf_counter()
    with Progress(progress, total=epochs * run.batches, done=(state.epoch - 1) * run.batches + state.batch) as shown:
        try:
            while not reason:
                while state.batch < run.batches:
                    state = run.step(state)
                    shown.step()
                now = time.perf_counter()
                state = run.epoch_done(state, validation, now - started)
                started = now
                shown.line(state.history[-1])
                run.save(checkpoint, state)
                reason = ended(state, epochs, patience, threshold)
        except KeyboardInterrupt:
            run.save(checkpoint, state)
            reason = f"interrupted in epoch {state.epoch}" + (f"; {checkpoint} has it all" if checkpoint else "")
        except Diverged as error:
            error.result = Result(state.best or state.parameters, list(state.history), state.best_epoch, str(error))
            raise
    if plot:
        from .plot import learning_curve
        learning_curve(state.history, plot)
    return Result(state.best or state.parameters, list(state.history), state.best_epoch, reason)


class Run:
    """What does not change during a run: the list, the data, the settings."""

    def __init__(self, model: XMan, data: tuple, batch_size: int, optimizer: str, lr: float, seed: int):
        self.model, (self.X, self.y) = model, pair(data, "data")
        self.rows = self.X.shape[0]
        if not isinstance(batch_size, int) or batch_size < 1:
            raise XManError(f"batch_size is a number of rows, at least 1, not {batch_size!r}")
        if not lr > 0:
            raise XManError(f"the learning rate has to be positive, not {lr!r}; the optimizers descend by themselves")
        if optimizer not in OPTIMIZERS:
            raise XManError(f"there is no optimizer {optimizer!r}{nearest(optimizer, OPTIMIZERS)}; "
                            f"there are {', '.join(OPTIMIZERS)}")
        self.optimizer, self.lr, self.seed, self.batch_size = OPTIMIZERS[optimizer], lr, seed, batch_size
        self.batches = -(-self.rows // batch_size)
        self.order: tuple[int, Any] = 0, None  # the epoch, and the order of the rows in it
        self.steps = list_of(model, "loss")
        self.inputs = model.inputDict(**feed(model, self.X[:1], self.y[:1]))
        self.names = [name for name in self.steps.inputs if model.isParam(name)]
        if unset := [name for name in self.names if name not in self.inputs]:
            raise XManError(f"the parameter {unset[0]!r} has no value to begin with; write f.param(default=…)")
        if not self.names:
            raise XManError("the loss depends on no parameter: there is nothing to train")
        content = zlib.crc32(str(self.steps).encode())
        for array in (self.X if isinstance(self.X, np.ndarray) else self.X.data, self.y):
            content = zlib.crc32(np.ascontiguousarray(array).view(np.uint8), content)
        self.settings = {"optimizer": optimizer, "lr": lr, "batch_size": batch_size, "seed": seed, "rows": self.rows,
                         "model and data": content}

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
        for name, w in state.parameters.items():
            d = deltas[name] if name in deltas else np.zeros_like(w)
            parameters[name], moments[name] = self.optimizer.update(w, d, state.moments[name], state.t + 1, self.lr)
            adjustment = max(adjustment, float(np.max(np.abs(parameters[name] - w), initial=0.0)))
        if not np.isfinite(adjustment) or np.isnan(loss):
            raise Diverged(f"epoch {state.epoch}, minibatch {state.batch + 1}: {first_nan(self.steps, values, deltas)}; "
                           f"try a learning rate below {self.lr:g}, or look at the data")
        return state._replace(parameters=parameters, moments=moments, batch=state.batch + 1, t=state.t + 1,
                              loss=state.loss + float(loss) * X.shape[0], adjustment=adjustment)

    def epoch_done(self, state: State, validation: tuple | None, seconds: float) -> State:
        """The state at the beginning of the next epoch, this one in the history and, if it was the best, kept."""
        row = {"epoch": state.epoch, "loss": state.loss / self.rows, "adjustment": state.adjustment, "seconds": seconds}
        if validation is not None:
            row["validation_loss"], accuracy = evaluate(self.model, state.parameters, validation)
            if accuracy is not None:
                row["validation_accuracy"] = accuracy
        state = state._replace(epoch=state.epoch + 1, batch=0, loss=0.0, adjustment=0.0, history=(*state.history, row))
        if score(row) <= min(map(score, state.history)):
            state = state._replace(best=state.parameters, best_epoch=row["epoch"])
        return state

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


def evaluate(model: XMan, parameters: dict[str, np.ndarray], data: tuple, batch_size: int = 1024) -> tuple[float, float | None]:
    """(loss, accuracy) of the model with these parameters: the mean over the rows of data, in batches.

    The accuracy is None where the model has no `outputs` or the targets are no classes.
    """
    X, y = pair(data, "data")
    steps = list_of(model, "loss", "outputs")
    names = {register: name for name, register in model.namedRegisterItems()}
    inputs, loss, right = {**model.inputDict(), **parameters}, 0.0, 0
    classes = classes_of(y)
    known = names.get(getattr(model, "outputs", None)) if classes is not None else None
    for k in range(0, X.shape[0], batch_size):
        some = slice(k, k + batch_size)
        values = eval(steps, {**inputs, **feed(model, X[some], y[some])})
        loss += float(values[names[model.loss]]) * X[some].shape[0]
        if known:
            outputs = np.asarray(values[known])
            guess = outputs.argmax(-1) if outputs.shape[-1] > 1 else (outputs[..., 0] > 0.5)
            right += int(np.sum(guess == classes[some]))
    return loss / X.shape[0], right / X.shape[0] if known else None


def predict(model: XMan, parameters: dict[str, np.ndarray], X: Any) -> np.ndarray:
    """The outputs of the model for the rows of X: (n, classes)."""
    steps = list_of(model, "outputs")
    inputs = feed(model, X, None)
    wanted = {name: x for name, x in inputs.items() if name in steps.inputs}
    return eval(steps, {**model.inputDict(), **parameters, **wanted})[steps[-1][0]]


def classes_of(y: np.ndarray) -> np.ndarray | None:
    """The class of each row: labels as they are, one-hot rows by their greatest entry; None for other targets."""
    if y.dtype.kind in "biu" and y.ndim == 1:
        return y
    one_hot = y.ndim == 2 and y.shape[1] > 1 and bool(np.all((y == 0) | (y == 1)) and np.all(y.sum(1) == 1))
    return y.argmax(1) if one_hot else None


def feed(model: XMan, X: Any, y: Any) -> dict[str, Any]:
    """The inputs by name, by the model's own feed or as X and y."""
    return model.feed(X, y) if hasattr(model, "feed") else {"X": X, "y": y}


def list_of(model: XMan, *names: str) -> WengertList:
    """The list of the named registers, those after the first where the model has them."""
    if not hasattr(model, names[0]):
        raise XManError(f"the model has no register {names[0]!r}; training needs `loss`, a number, and prediction `outputs`")
    return model.operationSequence(*(getattr(model, name) for name in reversed(names) if hasattr(model, name)))


def pair(data: tuple, word: str) -> tuple[Any, np.ndarray]:
    """(X, y), of the same number of rows, at least one, and finite. XManError otherwise."""
    if not isinstance(data, tuple) or len(data) != 2:
        raise XManError(f"{word} is a pair (X, y), not a {type(data).__name__}")
    X, y = data[0] if hasattr(data[0], "tocsr") else np.asarray(data[0]), np.asarray(data[1])
    if not X.ndim or not y.ndim or X.shape[0] != y.shape[0]:
        raise XManError(f"{word}: X has shape {X.shape} and y {y.shape}; they need the same number of rows")
    if not X.shape[0]:
        raise XManError(f"{word} has no rows")
    for name, array in (("X", X if isinstance(X, np.ndarray) else X.data), ("y", y)):
        if array.dtype.kind not in "biuf":
            raise XManError(f"{word}: {name} holds {array.dtype}, not numbers")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise XManError(f"{word}: {name} holds NaN or infinity, at {tuple(map(int, np.argwhere(~np.isfinite(array))[0]))}")
    return X, y


def first_nan(steps: WengertList, values: dict, deltas: dict) -> str:
    """Which register was the first to be NaN: an input, a value in order, or a delta in reverse order."""
    for name in (*steps.inputs, *(dst for dst, _, _ in steps)):
        if isinstance(values[name], (np.ndarray, np.floating)) and np.isnan(values[name]).any():
            line = next((WengertList([line]) for line in steps if line[0] == name), name)
            return f"the first register with a NaN is {name!r} ({line})"
    for name in deltas:  # in the order in which they were found
        if not np.isfinite(deltas[name]).all():
            return f"the first delta that is not finite is that of {name!r}"
    return "a parameter has become too large for its precision"
