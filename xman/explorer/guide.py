"""The guided examples of guide.json: the list of each, and what the documents say of it."""
from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..models import LSTM
from ..wengert import WengertList

INPUTS = "lines", "values", "parameters"


class Guided(NamedTuple):
    """One example: its list, the register to differentiate, its inputs' values and roles, and its texts."""
    title: str
    steps: WengertList
    of: str
    values: dict[str, Any]
    roles: dict[str, str]
    texts: dict[str, Any]  # source, text, words with their meanings, and equations by register


@functools.cache
def guide() -> tuple[Guided, ...]:
    """The six examples, from the shortest to the longest."""
    content = json.loads(Path(__file__).with_name("guide.json").read_text("utf-8"))
    examples = []
    for example in content["examples"]:
        steps, values, parameters = (example.pop(key) for key in INPUTS) if "lines" in example else lstm()
        example["words"] = {word: content["glossary"][word] for word in example["words"]}
        values, roles = {x: np.array(v) for x, v in values.items()}, dict.fromkeys(parameters, "parameter")
        title, of = example.pop("title"), example.pop("of")
        examples.append(Guided(title, WengertList.from_text(steps), of, values, roles, example))
    return tuple(examples)


def lstm() -> tuple[str, dict[str, Any], list[str]]:
    """Two steps of the course's network on characters, small enough to be drawn: list, values, parameters."""
    model, rng = LSTM(3, 2, 2, steps=2, seed=1, dtype=np.float64), np.random.default_rng(8)
    started = model.inputDict()
    drawn = {x: rng.uniform(-1, 1, np.shape(v)) for x, v in started.items() if x[0] in "WU"}
    rows = {"X1": np.eye(3)[[0]], "X2": np.eye(3)[[2]], "y": np.array([[0.0, 1.0]])}
    parameters = [x for x in started if x not in ("h0", "c0")]
    return str(model.operationSequence(model.loss)), {**started, **drawn, **rows}, parameters
