"""What the three scripts share beside the ways to train: the command line of the course, its data, minibatches, judging."""
from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from pathlib import Path

import numpy as np

from xman import Register, WengertList, XMan, XManError, eval, f
from xman.train import load

DEFAULTS = {"max_len": 10, "num_hid": 50, "batch_size": 64, "dataset": "names", "epochs": 15, "init_lr": 0.5,
            "output_file": "output", "train_loss_file": "train_loss"}
Part = tuple[np.ndarray, np.ndarray]


def run(main: Callable[[dict], tuple], *others: Callable[..., dict], **defaults) -> None:
    """main(params) with what the command line says, then the other ways to train; a mistake is one sentence, with status 2.

    defaults: of the flags, where they are not the course's.
    """
    parser = argparse.ArgumentParser(description=sys.modules[main.__module__].__doc__,
                                     formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    for name, value in (DEFAULTS | defaults).items():
        parser.add_argument(f"--{name}", type=type(value), default=value, help=" ")
    try:
        model, steps, parts, params = main(vars(parser.parse_args()))
        for way in others:
            began = time.perf_counter()
            report(way.__name__, began, model, steps, way(model, steps, parts, params), parts[2])
    except (XManError, OSError) as error:  # the second of a file that cannot be written
        parser.error(str(error))


def settings(params: dict) -> dict:
    """The params, with the course's values for those that are not there. XManError for one that cannot be."""
    full = DEFAULTS | params
    if strange := [name for name in full if name not in DEFAULTS]:
        raise XManError(f"there is no parameter {strange[0]!r}; there are {', '.join(DEFAULTS)}")
    for name in ("max_len", "num_hid", "batch_size", "epochs"):
        if not (isinstance(full[name], Integral) and full[name] >= 1):
            raise XManError(f"{name} is a whole number, at least 1, not {full[name]!r}")
    if not (isinstance(full["init_lr"], Real) and 0 < full["init_lr"] < np.inf):
        raise XManError(f"init_lr is a number above 0, not {full['init_lr']!r}")
    for name in ("output_file", "train_loss_file"):  # said before the training, not after it
        if not (folder := Path(full[name]).parent).is_dir():
            raise XManError(f"{name} is {full[name]}, and there is no folder {folder}")
    return full


def data_of(params: dict) -> list[Part]:
    """The parts to train on, to choose by and to judge by: X (n, …) of float32, y (n, classes) one-hot."""
    data = load(params["dataset"], max_len=params["max_len"])
    if len(data.classes) < 2:
        raise XManError(f"{params['dataset']} has one class alone, {data.classes[0]!r}: there is nothing to tell apart")
    return [(X, np.eye(len(data.classes), dtype=np.float32)[y]) for X, y in data[:3]]


def weights(random: np.random.Generator, rows: int, columns: int, name: str | None = None) -> Register:
    """A parameter (rows, columns), uniform in ±√(6 / (rows + columns)) (Glorot and Bengio 2010)."""
    bound = np.sqrt(6 / (rows + columns))
    return f.param(name, random.uniform(-bound, bound, (rows, columns)).astype(np.float32))


def bias(columns: int, name: str | None = None) -> Register:
    """A parameter (1, columns) that begins at 0."""
    return f.param(name, np.zeros((1, columns), np.float32))


def first_values(model: XMan) -> dict:
    """What the model begins with, copied: its own arrays stay as they are, for the other ways to train."""
    return {name: np.array(value) for name, value in model.inputDict().items()}


def minibatches(part: Part, size: int, seed: int) -> Iterator[Part]:
    """The rows in an order drawn by seed, `size` at a time."""
    X, y = part
    order = np.random.default_rng(seed).permutation(len(X))
    for k in range(0, len(X), size):
        yield X[order[k:k + size]], y[order[k:k + size]]


def judge(model: XMan, steps: WengertList, values: dict, part: Part) -> tuple[float, float, np.ndarray]:
    """(loss, accuracy, probabilities) on the rows of a part."""
    values = eval(steps, {**values, **model.feed(*part)})
    p = values["outputs"]
    return float(values["loss"]), float(np.mean(p.argmax(1) == part[1].argmax(1))), p


def report(way: str, began: float, model: XMan, steps: WengertList, parameters: dict, test: Part) -> np.ndarray:
    """Print the seconds since `began`, the loss and the accuracy on the test rows; their probabilities."""
    seconds = time.perf_counter() - began
    loss, accuracy, p = judge(model, steps, {**model.inputDict(), **parameters}, test)
    print(f"{way:<18}{seconds:6.1f} s   test loss {loss:.3f}, accuracy {accuracy:.1%} of {len(p):,} rows", flush=True)
    return p
