"""A plugin of pytest, `-p every_fit`: what a test trains by `fit`, one worker and two train first, and have to agree.

Each training takes two epochs at most, in processes of its own, so that the tests see nothing of it. At the end the plugin
writes a line for each training on which they differ, or which two workers refuse.
"""
from __future__ import annotations

import contextlib
import inspect
import os
from collections import Counter

import numpy as np
from test_joined import ran

import xman.train
from xman.scale import workers

FIT = xman.train.fit
ENDINGS: Counter[str] = Counter()
DIFFERENCES: dict[str, None] = {}
# what decides nothing, or is for the devices and files of one process
INSTEAD = {"progress": False, "engine": "numpy", "checkpoint": None, "plot": None, "callbacks": [], "mesh": None,
           "precision": None, "explain": False}


def trained(model, data, more, settings, rounding=0.0):
    """The parameters after two epochs at most, or the sentence of what refused them. rounding: of the rows, by some units."""
    given = inspect.signature(FIT).parameters
    if rounding and isinstance(data, tuple) and isinstance(data[0], np.ndarray) and data[0].dtype.kind == "f":
        X, *others = data
        units = np.random.default_rng(0).choice([-rounding, rounding], X.shape) * np.finfo(X.dtype).eps
        data = (X * (1 + units.astype(X.dtype)), *others)
    settings = settings | {name: value for name, value in INSTEAD.items() if name in given}
    settings["epochs"] = min(2, settings.get("epochs", 2))
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        try:
            return FIT(model, data, *more, **settings).parameters
        except Exception as error:
            return f"{type(error).__name__}: {error}"


def agree(alone, together, moved):
    """Whether the parameters are the same, up to what a rounding of the rows changes: a high rate makes much of it."""
    def near(x, y, z):
        size = np.max(np.abs(x), initial=1e-3)
        return np.allclose(x, y, 1e-3, 1e-3 * size + 10 * np.max(np.abs(x - z), initial=0.0), equal_nan=True)
    if not isinstance(together, dict) or alone.keys() != together.keys():
        return False
    return all(near(alone[w], together[w], moved[w]) for w in alone)


def fit(model, data, *more, **settings):
    where = f"{os.environ.get('PYTEST_CURRENT_TEST', '')}: {type(model).__name__}"
    # a test of Ctrl-C interrupts after so many calls of its own
    if workers().size == 1 and settings.get("epochs", 2) in range(1, 10 ** 6) and "ctrl_c" not in where:
        task = lambda: trained(model, data, more, settings)
        ((alone,), _), ((one, two), statuses) = ran(task, 1), ran(task, 2)
        (moved,), _ = ran(lambda: trained(model, data, more, settings, 4.0), 1)
        if alone is None:
            ENDINGS["not trained in a process of its own"] += 1
        elif isinstance(alone, str):
            ENDINGS["refused by one worker"] += 1
        elif isinstance(one, str) and one == two:
            ENDINGS["refused by two workers"] += 1
            DIFFERENCES[f"{where}: refused: {one}"] = None
        elif statuses != [0, 0] or isinstance(one, str) or not (agree(alone, one, moved) and agree(one, two, one)):
            ENDINGS["differ"] += 1
            DIFFERENCES[f"{where}: differ: {statuses}, {one if isinstance(one, str) else ''}"] = None
        else:
            ENDINGS["agree"] += 1
    return FIT(model, data, *more, **settings)


fit.__signature__, fit.__doc__ = inspect.signature(FIT), FIT.__doc__
xman.train.fit = fit


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"trainings: {dict(ENDINGS)}")
    for line in DIFFERENCES:
        terminalreporter.write_line(line)
