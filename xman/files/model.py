"""A trained model: one list from raw columns to predictions, with its arrays, and no code."""
from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import XManError
from ..functions import trace
from ..interpreters import eval
from ..manager import XMan
from ..notation import renamed, to_text
from ..passes import simplify
from ..passes.writer import in_order
from ..tables import Column, Prepared, TableError, inputs
from ..tables.columns import infinite_text, is_spelling, sizes, unseen
from ..tables.formats import NameLists, Strange, refuse_misspelt
from ..tables.kinds import target_cells
from ..wengert import WengertList, all_registers, fresh, temporaries
from . import container
from .bounds import ENTRIES, bounded_list, bounded_values

BATCH = 4096  # so many rows are evaluated together


class Model(NamedTuple):
    """A trained model: a list, the columns that it reads, and the predictions that it gives.

    steps: the list. values: the parameters, which are all inputs but the columns. columns: the columns of the
    table, in the order of training. output: the register of the predictions: (rows, classes), or (rows, 1) or
    (rows,) for a number. classes: the labels in the order of the output's columns. target: the name of the
    predicted column. settings: other facts about the training, in JSON's terms. spelling: of the target, as a
    Column's. entries: of all registers for one row, where the list is from a file, to bound what it takes;
    else 0.
    """
    steps: WengertList
    values: dict[str, np.ndarray]
    columns: tuple[Column, ...]
    output: str
    classes: tuple[str, ...]
    target: str
    settings: dict[str, Any]
    spelling: str = ""
    entries: int = 0

    def outputs(self, table: Any, where: str = "the table", strange: Strange | None = None) -> np.ndarray:
        """The outputs for the rows of a table, a frame, an array or a sparse matrix, (rows, …).

        strange: gets the words that no training row had and the infinite numbers, added to what it has (None:
        a warning says them)."""
        if isinstance(table, list) and all(isinstance(row, dict) for row in table):
            refuse_misspelt(table, self.titles(), where)
        arrays = inputs(self.columns, table, where, self.steps)
        cells = unseen(self.columns, arrays, self.steps)
        if strange is not None:
            strange.update({name: strange.get(name, Counter()) + cells[name] for name in cells})
        elif sentences := strange_text(cells):
            warnings.warn("\n".join(sentences), stacklevel=3)
        return self.outputs_of(arrays)

    def outputs_of(self, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        """The outputs for columns as the list reads them, by register."""
        rows = max(1, next(iter(arrays.values())).shape[0])
        together = min(BATCH, max(1, ENTRIES // max(1, self.entries)))
        pieces = ({name: x[k:k + together] for name, x in arrays.items()} for k in range(0, rows, together))
        outputs = np.concatenate([self.registers(piece)[self.output] for piece in pieces])
        return outputs[:, None] if outputs.ndim == 1 else outputs

    def registers(self, columns: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """All registers for these columns. XManError where a list of a file costs more than its rows do."""
        inputs = {**self.values, **columns}
        if not self.entries:
            return eval(self.steps, inputs)
        return bounded_values(self.steps, inputs, 2 * max(ENTRIES, self.entries), "these rows")[0]

    def predict(self, table: Any, where: str = "the table") -> np.ndarray:
        """The label of each row, or the number, (rows,). table: as for `outputs`. where: its name in errors.

        TableError for a table unlike that of the training."""
        return self.labels(self.outputs(table, where))

    def predict_proba(self, table: Any, where: str = "the table") -> np.ndarray:
        """The probability of each class, (rows, classes). XManError where there are none."""
        return self.probabilities(self.outputs(table, where))

    def labels(self, outputs: np.ndarray) -> np.ndarray:
        """The predictions, from the outputs: the class with the greatest output, or, where the settings have
        the costs of errors on rows of a class, with the greatest cost to expect; or the number."""
        if costs := self.classes and self.settings.get("costs"):
            outputs = self.probabilities(outputs) * [costs.get(name, 1.0) for name in self.classes]
        if outputs.shape[-1] == 1:
            scores = outputs[..., 0]
            return scores if not self.classes else np.array(self.classes, object)[(scores > 0.5).astype(int)]
        return np.array(self.classes, object)[outputs.argmax(-1)] if self.classes else outputs.argmax(-1)

    def probabilities(self, outputs: np.ndarray) -> np.ndarray:
        """The outputs as probabilities; one output p becomes 1 − p and p. XManError where they are none."""
        if (p := self.probabilities_if_any(outputs)) is None:
            raise XManError("the model's outputs are no probabilities: " + (
                "train it by --loss softmaxCrossEntropy, which may be right a little less often than "
                "squaredError" if self.classes else "it predicts a number"))
        return p

    def probabilities_if_any(self, outputs: np.ndarray) -> np.ndarray | None:
        """The same, and None where the outputs are below 0 or, of several classes, do not sum to 1."""
        p = np.concatenate([1 - outputs, outputs], -1) if outputs.shape[-1] == 1 else outputs
        is_any = outputs.shape[-1] > 1 or len(self.classes) == 2
        return p if is_any and (p >= 0).all() and (abs(p.sum(-1) - 1) <= 1e-4).all() else None

    def titles(self) -> NameLists:
        """The names by which `read` knows the columns, and those that came with them; none for an array."""
        names = [[c.name for c in self.columns], self.settings.get("names", []), [self.target]]
        return [] if self.columns[0].kind == "array" else names

    def target_in(self, table: Any, where: str = "the table") -> str:
        """The name of the table's target column. TableError where there is no such column."""
        names, first = table.column_names, self.columns[0]
        last = names[-1:] if first.kind == "array" and len(names) == math.prod(sizes(first)) + 1 else []
        if not (name := [self.target] if self.target in names else last):
            raise TableError(f"{where} lacks the column {self.target!r}, which holds the truth")
        return name[0]

    def tempered(self, temperature: float) -> Model:
        """The model with softmax(scores / temperature) in place of softmax(scores), a line more. XManError
        where its output is no softmax."""
        *before, (dst, op, (scores, *axis)) = self.steps
        if (dst, op) != (self.output, "softmax"):
            raise XManError("--calibrate is for a softmax of scores: train by --loss softmaxCrossEntropy")
        name = fresh("tempered", {*all_registers(self.steps)})
        lines = [(name, "divide", (scores, temperature)), (dst, op, (name, *axis))]
        return self._replace(steps=WengertList([*before, *lines]))

    def truth(self, table: Any, where: str = "the table") -> np.ndarray:
        """The table's target column: labels, or numbers. TableError where there is no such column."""
        kind = "category" if self.classes else "number"
        column = Column(self.target_in(table, where), "", kind, self.spelling)
        distinct, places = target_cells(table, column, where, self.classes)
        return distinct[places]

    def save(self, path: str | Path, arrays: Mapping[str, np.ndarray] = {}, **facts: Any) -> None:
        """Write the model to path as safetensors, whole or not at all. arrays, facts: a checkpoint's.

        XManError where path ends like a file of another kind, which `export` writes.
        """
        if Path(path).suffix == ".onnx":
            raise XManError(f"{path}: save writes safetensors, as model.safetensors; `xman export` writes "
                            "ONNX")
        fields = {key: x for key, x in self._asdict().items() if key not in ("steps", "values", "entries")}
        values = {f"values/{name}": x for name, x in self.values.items()}
        container.save(path, {**arrays, **values}, {**fields, "list": to_text(self.steps), **facts})


def load(path: str | Path) -> Model:
    """The model in the file at path; for a checkpoint, the model with the best parameters so far.

    XManError if the file is cut, altered, of a later version, or no model. Nothing in the file is run.
    """
    arrays, facts = container.restore(path)
    if "no_model" in facts:
        raise XManError(f"{path} is a checkpoint from which training goes on, and no model: "
                        f"{facts['no_model']}")
    try:
        columns = tuple(Column(*map(str, column)) for column in facts["columns"])
        values = {name.removeprefix("values/"): x for name, x in arrays.items() if name.startswith("values/")}
        output, classes = str(facts["output"]), tuple(map(str, facts["classes"]))
        if broken := [name for name, x in values.items() if x.dtype.kind == "f" and np.isnan(x).any()]:
            raise ValueError(f"its array {broken[0]!r} holds NaN")
        steps, entries = bounded_list(facts["list"], columns, values, output, len(classes))
        spelling = str(facts.get("spelling", ""))
        if not is_spelling(Column("", "", "number", spelling)):
            raise ValueError(f"its target is spelled {spelling[:40]!r}")
        settings = dict(facts["settings"])
        if "costs" in settings:
            settings["costs"] = {str(name): float(cost) for name, cost in dict(settings["costs"]).items()}
        return Model(steps, values, columns, output, classes, str(facts["target"]), settings, spelling,
                     entries)
    except (KeyError, TypeError, ValueError) as error:
        raise XManError(f"{path} is not a model of xman: {error}") from None


def trained(network: XMan, parameters: Mapping[str, np.ndarray], prepared: Prepared | None = None,
            settings: Mapping[str, Any] | None = None, shape: tuple[int, ...] = (),
            classes: Sequence[str] = ()) -> Model:
    """The Model of a network with these parameters, which reads the columns of a table, or an array X.

    prepared: of the table that it was trained on; without it, shape: of a row of X, and classes: the labels.
    settings: for the model.
    """
    if not hasattr(network, "outputs"):
        raise XManError("the model has no register 'outputs', so there is nothing that it predicts; set one")
    names, net = network.names(), network.operationSequence(network.outputs)
    output = names[id(network.outputs)]
    network_values = {name: np.array(x) for name, x in {**network.inputDict(), **parameters}.items()
                      if name in net.inputs}
    columns = (Column("X", "X", "array", "x".join(map(str, shape))),)
    before, rows, scale, target = WengertList(), "X", None, "y"
    if prepared is not None:
        columns, before, rows, classes, target = *prepared[:3], prepared.classes, prepared.target.name
        scale, shape = None if classes else prepared.scale, prepared.shape
    # Three lists become one: `before`, from columns to rows of numbers; `feed`, from rows to the network's
    # inputs; and `net`. The network's registers keep their names. For example, where `feed` is the line
    # fed_X = alias(X), the network reads the rows themselves; a column called W gets a new name where the
    # network has a parameter W.
    feed = feeding(network, net, np.zeros((2, *shape), np.float32))
    direct = {dst.removeprefix("fed_"): rows for dst, op, args in feed if op == "alias" and args == ("X",)}
    ends = [x + "_" * (x in all_registers(net)) for x in ("exact", "deviations", "prediction") if scale]
    used = {*names.values(), *all_registers(net), *ends} - direct.keys()
    table_registers = {*all_registers(before), *(column.register for column in columns)}
    fresh = temporaries(used | table_registers | {*all_registers(feed)})
    registers = all_registers(before) + [c.register for c in columns]
    new_names = {name: next(fresh) for name in registers if name in used}
    indirect = [line for line in feed if line[0].removeprefix("fed_") not in direct]
    inside = ({name: name[4:] if name.startswith("fed_") else next(fresh) for name in all_registers(feed)}
              | {"X": rows})
    steps = [*renamed(before, new_names), *renamed(renamed(indirect, inside), new_names)]
    steps += renamed(net, {x: new_names.get(rows, rows) for x in direct})
    if scale:
        # in float32, seconds since 1970 would be known to two minutes
        steps += [(ends[0], "astype", (output, ("float64",))), (ends[1], "mul", (ends[0], scale[1])),
                  (ends[2], "add", (ends[1], scale[0]))]
        output = ends[2]
    steps = simplify(WengertList(steps), [output])
    steps = WengertList(renamed(steps, in_order(steps)))
    columns = tuple(c._replace(register=new_names.get(c.register, c.register)) for c in columns)
    values = {name: network_values[name] for name in steps.inputs if name in network_values}
    spelling = prepared.target.spelling if prepared else ""
    return Model(steps, values, columns, output, tuple(classes), target, dict(settings or {}), spelling)


def strange_text(strange: Strange) -> list[str]:
    """A sentence for each column with cells of a kind that no training row had, with their number: keys that
    are lacking, infinite numbers, or words, with the commonest."""
    sentences = []
    for name, words in strange.items():
        if n := words.pop(None, 0):
            have = "s have" if n > 1 else " has"
            sentences.append(f"{name!r}: {n:,} row{have} no such key, which counts as missing")
        if n := words.pop(math.inf, 0):
            sentences.append(infinite_text(name, n))
        if words:
            commonest = ", ".join(f"{repr(word[:40]) if word else 'an empty cell'} ({n:,})"
                                  for word, n in words.most_common(3))
            cells = f"{(n := words.total()):,} cell{'s' * (n != 1)} hold{'s' * (n == 1)}"
            sentences.append(f"{name!r}: {cells} what no training row had, or too few to be told apart: "
                             f"{commonest}; all such words are one to the model")
    return sentences


def feeding(network: XMan, net: WengertList, example: np.ndarray) -> WengertList:
    """The lines of the network's `feed`, from X to the inputs of its list; their results are called fed_…."""
    def fed(X: Any) -> dict[str, Any]:
        inputs = network.feed(X, None) if hasattr(network, "feed") else {"X": X}
        return {name: x for name, x in inputs.items() if name in net.inputs}
    return trace(fed, example)
