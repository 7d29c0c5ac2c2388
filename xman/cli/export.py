"""The command that writes lists for others to run."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..errors import XManError
from ..export import to_c, to_onnx, to_stablehlo
from ..export.tables import portable
from ..files import load
from ..interpreters import shapes
from ..passes import EXACT, STABLE, gradient, simplify
from ..train.optimizers import OPTIMIZERS, training_list
from ..wengert import WengertList
from .commands import SOURCE, VALUES, xman
from .derivatives import one_input
from .options import option_table
from .sources import list_and_values

# by ending: the writer, and the operators on strings that it has
FORMATS = {".onnx": (to_onnx, ("codes",)), ".stablehlo": (to_stablehlo, ()), ".c": (to_c, ())}


@xman.command()
@SOURCE
@VALUES
@option_table("""
    --to,path!        FILE.onnx|FILE.stablehlo|FILE.c  The file to write; its ending says the format.
    --of              REGISTER   The register to compute.  [default: that of the last line, or a model's loss]
    --wrt             REGISTER*  Write its gradient by this input too; may be repeated.
    --step,optimizer  optimizer  Write a training step by this optimizer, of the parameters --wrt.  [default: a model's]
    --rows            REGISTER*  An input that may have any number of rows; may be repeated.
    --constant        REGISTER*  An input whose value goes into the file, as a model's do unless with --step; may be repeated.
    """, optimizer=click.Choice(list(OPTIMIZERS)))
def export(source, values, path, of, wrt, optimizer, rows, constant) -> None:
    """Write the list, its gradient or a training step as ONNX, StableHLO or C: export f.wl x=3 --to f.c.

    The values are examples; they say the shapes.
    """
    if (suffix := Path(path).suffix) not in FORMATS:
        raise XManError(f"--to {path}: the ending says the format; there are {', '.join(FORMATS)}")
    write, strings = FORMATS[suffix]
    table, options = {}, {}  # what a model of a table says of its columns, and of its predictions
    if source.endswith(".safetensors") and not values:
        model = load(source)
        steps, examples, table = portable(model, strings, 1 if suffix == ".c" else 3)
        if suffix != ".stablehlo":  # which has no place for words
            words = table if suffix == ".c" else {}
            options = {"facts": {**words, "target": model.target, "classes": json.dumps(model.classes)}}
        rows = rows if rows or suffix == ".c" else tuple(table)
        inputs, of = {**model.values, **examples}, of or model.output
    else:
        steps, inputs = list_and_values(source, of, values)
    of = of or ("loss" if ".py" in source else steps[-1][0])
    assigned = {word.partition("=")[0] for word in values}
    brought = [x for x in steps.inputs if x in inputs and x not in assigned and x not in table]
    steps, outputs = simplify(steps, [of], rewrites=EXACT + STABLE), [of]
    if optimizer:
        parameters = wrt or tuple(brought) or one_input(steps)
        steps, inputs, inplace = step_of(steps, inputs, of, parameters, optimizer)
        if suffix == ".c":  # the next parameters take the place of the present ones
            options["inplace"] = inplace
        else:
            outputs += inplace.values()
    elif wrt:
        outputs = [of, *(f"d{of}_d{x}" for x in wrt)]
        steps = simplify(gradient(steps, of, wrt), outputs)
    constants = constant or ([] if optimizer else [x for x in brought if x in steps.inputs and x not in wrt])
    write(steps, inputs, path, outputs=outputs, constants=constants, rows=rows, **options)
    forms = shapes(steps, inputs)
    for word, names in ("takes", [x for x in steps.inputs if x not in constants]), ("gives", outputs):
        open_rows = rows and table and names or rows  # of a table all outputs have them
        shape_of = {x: ["rows", *forms[x][0][1:]] if x in open_rows else forms[x][0] for x in names}
        kinds = {x: str(forms[x][1]).replace("object", "string") for x in names}
        descriptions = [f"{x} ({', '.join(map(str, shape))}) {kinds[x]}" for x, shape in shape_of.items()]
        print(f"{path} {word} {', '.join(descriptions)}")
    for name, meaning in table.items():
        print(f"  {name}: {meaning}")
    if table and model.classes:
        print(f"  {of}: {', '.join(model.classes)}")


def step_of(steps: WengertList, inputs: dict[str, Any], of: str, wrt: tuple[str, ...],
            optimizer: str) -> tuple[WengertList, dict[str, Any], dict[str, str]]:
    """The list of the step, examples for all its inputs, and the next of each that it changes."""
    training = training_list(steps, of, wrt, optimizer)
    moments = {name: np.zeros_like(inputs[w]) for name, w in training.moments.items() if w in inputs}
    real = np.result_type(*(np.asarray(inputs[w]) for w in wrt if w in inputs), np.float32).type
    examples = {**inputs, **moments, training.lr: real(0.001), training.t: real(1)}
    return training.steps, examples, training.inplace
