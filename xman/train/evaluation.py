"""Judges a model on rows: its loss, its accuracy, its outputs, and what is wrong with data or values."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import XManError, at_least, refuse_unknown
from ..files import Model, trained
from ..interpreters import eval
from ..manager import XMan
from ..notation import in_notebooks
from ..passes import EXACT, STABLE, simplify
from ..reasons import first_nan, refuse_pairs_of_rows
from ..scale.streams import Stream
from ..tables import Prepared
from ..wengert import WengertList


class Result(NamedTuple):
    """The result of a training run.

    parameters: by name, from the epoch with the least validation loss (training loss if there is no
    validation). history: a dict for each epoch, with epoch; loss, the mean over its rows as training met
    them; adjustment, the largest move of an entry of a parameter in it; seconds; and validation_loss and
    validation_accuracy if there is a validation. best: the number of the best epoch. reason: why the run
    ended, in words. network: the model that was trained. prepared: the table that it was trained on, or
    shape: of a row of X. classes: the labels, if the targets were strings. settings: those of the run.
    """
    parameters: dict[str, np.ndarray]
    history: list[dict[str, float]]
    best: int
    reason: str
    network: XMan | None = None
    prepared: Prepared | None = None
    shape: tuple[int, ...] = ()
    classes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = {}

    def __repr__(self) -> str:
        best = next((row for row in self.history if row["epoch"] == self.best), {})
        losses = ", ".join(f"{name.replace('_', ' ')} {best[name]:.4g}"
                           for name in ("loss", "validation_loss") if name in best)
        epochs = f"{len(self.history)} epoch{'s' * (len(self.history) != 1)}"
        return f"<result of {epochs}, best {self.best}{': ' * bool(losses)}{losses}; {self.reason}>"

    _repr_html_ = in_notebooks("result_in_html")

    def model(self, **settings: Any) -> Model:
        """The trained Model. settings: further facts for it, in JSON's terms. XManError without outputs."""
        facts = {**self.settings, "best_epoch": self.best, "reason": self.reason, "history": self.history,
                **settings}
        return trained(self.network, self.parameters, self.prepared, facts, self.shape, self.classes)

    def save(self, path: str | Path) -> None:
        """Write the trained model to a file, for `xman.load` and `xman predict`."""
        self.model().save(path)


class TrainingError(XManError):
    """A run had to stop. `result` is the Result up to that moment."""

    result: Result | None = None


class Diverged(TrainingError):
    """The loss or a parameter became NaN."""


def evaluate(model: XMan, parameters: dict[str, np.ndarray], data: tuple, batch_size: int = 1024,
             classes: Sequence[str] = ()) -> tuple[float, float | None]:
    """(loss, accuracy) of the model with these parameters: means over the rows of data.

    model: as for `fit`. parameters: all parameters of the model by name, such as fit(…).parameters.
    data: a pair (X, y) as for `fit`, or a stream.
    batch_size: the rows that are computed together, which changes the result only by rounding.
    classes: the labels in the order of the outputs, fit(…).classes, where the targets are strings.

    The accuracy is None if the model has no `outputs` or the targets are not classes; a single output tells
    classes 0 and 1 apart at ½. The list is computed in its stable form. Raises Diverged if the loss is NaN,
    with the first register that is NaN.
    """
    return judge_of(model, data, batch_size, classes)(parameters)


def refuse_others(model: XMan, steps: WengertList, parameters: dict[str, np.ndarray]) -> None:
    """XManError unless parameters has all parameters of the list, and only names of the model."""
    if not isinstance(parameters, Mapping):
        raise XManError(f"parameters are a dict, as fit(…).parameters is, not a {type(parameters).__name__}")
    # isOpOutput refuses a name that the model does not have
    if computed := [name for name in parameters if model.isOpOutput(name)]:
        raise XManError(f"{computed[0]!r} is computed by the model and no parameter")
    if lacking := [name for name in steps.inputs if model.isParam(name) and name not in parameters]:
        raise XManError(f"the parameters lack {', '.join(map(repr, lacking))}, on which the list depends")


def judge_of(model: XMan, data: tuple, batch_size: int = 1024, labels: Sequence[str] = ()
             ) -> Callable[[dict[str, np.ndarray]], tuple[float, float | None]]:
    """`evaluate` for one model and its data, as a function of the parameters."""
    at_least("batch_size", batch_size, 1, whole_number=True)
    X, y = (data.X, data.y) if isinstance(data, Stream) else rows_and_labels(data, "data", labels)
    steps, names = list_of(model, "loss", "outputs"), model.names()
    loss_name = names[id(model.loss)]
    outputs_name = names[id(model.outputs)] if hasattr(model, "outputs") else None
    steps = simplify(steps, filter(None, (loss_name, outputs_name)), rewrites=EXACT + STABLE)
    inputs, classes = model.inputDict(), classes_of(y)

    def batches() -> Iterator[tuple[Any, np.ndarray]]:
        if isinstance(data, Stream):
            return data.batches(batch_size)
        return ((X[k:k + batch_size], y[k:k + batch_size]) for k in range(0, X.shape[0], batch_size))

    def judged(parameters: dict[str, np.ndarray]) -> tuple[float, float | None]:
        refuse_others(model, steps, parameters)
        loss, right, k = 0.0, 0, 0
        classified = outputs_name if classes is not None else None
        for x, target in batches():
            values = eval(steps, {**inputs, **parameters, **(fed := feed(model, x, target))})
            mean = values[loss_name]
            if np.isnan(mean).any():
                raise Diverged(f"the loss of the rows from {k} on is NaN; {first_nan(steps, values)}")
            if not k:
                refuse_pairs_of_rows(steps, values, parameters, fed, x.shape[0])
            loss, k = loss + float(mean) * x.shape[0], k + x.shape[0]
            outputs = np.asarray(values[classified]) if classified else None
            single = classified and 1 in (outputs.ndim, outputs.shape[-1])
            if single and not np.isin(classes, (0, 1)).all():
                classified = None  # the targets are numbers, not classes
            if classified:
                guess = outputs.reshape(x.shape[0]) > 0.5 if single else outputs.argmax(-1)
                right += int(np.sum(guess == classes_of(target)))
        return loss / k, right / k if classified else None

    return judged


def predict(model: XMan, parameters: dict[str, np.ndarray], X: Any, of: str = "outputs") -> np.ndarray:
    """The outputs of the model for the rows of X: (n, classes).

    model: an XMan with a register `outputs`, or the one that `of` names.
    parameters: all parameters of the model by name, such as fit(…).parameters.
    X: an array (n, …) as the model takes it, or a stream. XManError if a parameter is missing or strange.
    """
    if isinstance(X, Stream):
        return np.concatenate([predict(model, parameters, x, of) for x, _ in X.batches(1024)])
    steps = list_of(model, of)
    inputs = {name: x for name, x in feed(model, X, None).items() if name in steps.inputs}
    refuse_others(model, steps, parameters)
    return eval(steps, {**model.inputDict(), **parameters, **inputs})[steps[-1][0]]


def classes_of(y: np.ndarray) -> np.ndarray | None:
    """The class of each row: a label itself, or the place of a one-hot row's greatest entry; else None."""
    if y.dtype.kind in "biu" and y.ndim == 1:
        return y
    one_hot = y.ndim == 2 and y.shape[1] > 1 and bool(np.all((y == 0) | (y == 1)) and np.all(y.sum(1) == 1))
    return y.argmax(1) if one_hot else None


def feed(model: XMan, X: Any, y: Any) -> dict[str, Any]:
    """The inputs by name: what the model's `feed` gives, or X and y."""
    return model.feed(X, y) if hasattr(model, "feed") else {"X": X, "y": y}


def list_of(model: XMan, *names: str) -> WengertList:
    """The list of the named registers; names after the first are left out if the model lacks them."""
    if not isinstance(model, XMan):
        raise XManError(f"the model is an XMan, not a {type(model).__name__}")
    if not hasattr(model, names[0]):
        raise XManError(f"the model has no register {names[0]!r}; training needs loss, prediction outputs")
    return model.operationSequence(*(getattr(model, name) for name in reversed(names)
                                     if hasattr(model, name)))


def labels_of(data: tuple) -> tuple[str, ...]:
    """The different labels, sorted, if the targets of data, a pair (X, y), are strings; else ()."""
    y = np.asarray(data[1]) if isinstance(data, tuple) and len(data) == 2 else np.empty(0)
    return tuple(sorted({*y.tolist()})) if are_strings(y) else ()


def are_strings(y: np.ndarray) -> bool:
    return (y.ndim == 1 and y.size > 0 and y.dtype.kind in "OUT"
            and all(isinstance(label, str) for label in y.tolist()))


def rows_and_labels(data: tuple, word: str, labels: Sequence[str] = ()) -> tuple[Any, np.ndarray]:
    """(X, y), with strings in y as their places in labels. XManError unless both have equally many rows, at
    least one, and are finite. word: what the user calls the pair."""
    if not isinstance(data, tuple) or len(data) != 2:
        size = f" of {len(data)}" if isinstance(data, tuple) else ""
        pairs = "; its pairs are .train, .valid and .test" * hasattr(data, "train")
        raise XManError(f"{word} is a pair (X, y), not a {type(data).__name__}{size}{pairs}")
    X, y = data[0].tocsr() if hasattr(data[0], "tocsr") else np.asarray(data[0]), np.asarray(data[1])
    if not X.ndim or not y.ndim or X.shape[0] != y.shape[0]:
        raise XManError(f"{word}: X has shape {X.shape} and y {y.shape}; they need the same number of rows")
    if not X.shape[0]:
        raise XManError(f"{word} has no rows")
    if labels or are_strings(y):
        if not labels:
            raise XManError(f"{word}: y holds words; give their order, as by classes=fit(…).classes")
        place = {label: k for k, label in enumerate(labels)}
        refuse_unknown(y.tolist(), place, f"{word}: y has the label {{!r}}, which no training row has")
        y = np.array([place[label] for label in y.tolist()])
    for name, array in (("X", X if isinstance(X, np.ndarray) else X.data), ("y", y)):
        if array.dtype.kind not in "biuf":
            raise XManError(f"{word}: {name} holds {array.dtype}, not numbers")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            place = np.argwhere(~np.isfinite(array))[0]
            if name == "X" and hasattr(X, "tocsr"):
                place = [coordinates[place[0]] for coordinates in (X.tocoo().row, X.tocoo().col)]
            raise XManError(f"{word}: {name} holds NaN or infinity, at {tuple(map(int, place))}")
    return X, y
