"""What the words on a command line stand for: lists, models, data and values."""
from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.util
import inspect
import json
import math
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import ops

from .. import models
from ..errors import XManError, nearest, refuse_unknown
from ..export import from_onnx
from ..files import load
from ..files.whole import text_at
from ..interpreters import eval
from ..interpreters.context import missing
from ..manager import XMan
from ..notation import shortened
from ..passes import roll
from ..scale import Stream
from ..scale.streams import MEMORY
from ..scale.tables import tenths
from ..train import Dataset, cosine, exponential, product, step_decay, warm_up
from ..train.evaluation import feed, list_of
from ..train.schedules import Schedule
from ..wengert import WengertList, checked_list


def list_and_values(source: str, of: str | None, values: tuple[str, ...],
                    rolled: bool = False) -> tuple[WengertList, dict[str, Any]]:
    """The list that source names, and its values: those that come with it, and those from the command line.

    source: a file of text or (.json) of JSON, "-" for standard input, or a model path/to/model.py:Class,
    whose list computes the register `of` (None: loss); a file's list is taken whole. values: words like x1=3.
    A model of ONNX, or one that `xman train --save` wrote, comes with its weights. rolled: with its loops.
    """
    steps, brought = list_at(source, of)
    inputs = {**brought, **assignments(values, steps)}
    if rolled:
        missing(steps, inputs)
        steps = roll(steps, inputs)
    return steps, inputs


def list_at(source: str, of: str | None) -> tuple[WengertList, dict[str, Any]]:
    """The list that source names, and the values that come with it."""
    if source.endswith(".onnx"):
        return from_onnx(source)[:2]
    if source.endswith(".safetensors"):
        return load(source)[:2]
    if source.partition(":")[0].endswith(".py"):
        model, name = model_of(source), of or "loss"
        if name not in (registers := dict(model.namedRegisterItems())):
            raise XManError(f"{source} has no register {name!r}; say which with --of: "
                            f"{', '.join(name for name, r in registers.items() if r.definedAs)}")
        return model.operationSequence(registers[name]), model.inputDict()
    text = sys.stdin.read() if source == "-" else text_at(source)
    try:
        steps = WengertList.from_json(text) if source.endswith(".json") else WengertList.from_text(text)
    except XManError as error:
        raise XManError(f"{source}: {error}") from None
    steps = checked_list(steps, ops.G)
    if not steps:
        raise XManError(f"{source} holds no line of a list, such as z1 = mul(h, w)")
    rows = [(k, row) for k, row in enumerate(text.splitlines(), 1) if row[:1].strip() and "=" in row]
    steps.places = {row.partition("=")[0].strip(): (source, k) for k, row in rows}
    return steps, {}


def model_of(source: str) -> XMan:
    """An instance of path/to/model.py:Class, or of :Class(64, hidden=[8]), or of a file's only class."""
    path, _, call = source.partition(":")
    name, args, named = parsed_call(call)
    file = Path(path).resolve()
    text_at(path)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    sys.path.append(str(file.parent))
    try:
        with contextlib.redirect_stdout(sys.stderr):  # prints of the user's file are not the command's answer
            spec.loader.exec_module(module)
            names = {n: c for n, c in vars(module).items() if inspect.isclass(c) and issubclass(c, XMan)}
            models_of_file = {n: c for n, c in names.items() if c.__module__ == spec.name}
            name = name or (next(iter(models_of_file)) if len(models_of_file) == 1 else "")
            if name not in models_of_file:
                wrong = f"no model {name!r}" if name else "several models" if models_of_file else "no model"
                raise XManError(f"{path} has {wrong}; its subclasses of XMan are "
                                f"{', '.join(models_of_file) or 'none'}: write {path}:{next(iter(models_of_file), 'Class')}"
                                f"{nearest(name, models_of_file)}")
            return models_of_file[name](*args, **named).setup()
    except (Exception, SystemExit) as error:  # whatever the user's file raises is reported with its line
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if Path(frame.filename) == file]
        lines += [error.lineno] if isinstance(error, SyntaxError) else []
        place = f"line {lines[-1]}: " if lines else ""
        if isinstance(error, XManError):
            raise (XManError(f"{path}: {place}{error}") if lines else error) from error.__cause__
        is_bare = name and not call.endswith(")") and not lines
        mend = f"; write its arguments, as in {path}:{name}(64, 10)" if is_bare else ""
        raise XManError(f"{path}: {place}{type(error).__name__}: {error}{mend}") from error
    finally:
        sys.path.remove(str(file.parent))


def parsed_call(text: str) -> tuple[str, list, dict[str, Any]]:
    """(name, arguments, named arguments) of `Class(64, hidden=[8])`; literals alone, nothing is run."""
    try:
        call = ast.parse(text or "''", mode="eval").body
        if not isinstance(call, ast.Call):
            return text, [], {}
        named = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
        return ast.unparse(call.func), [*map(ast.literal_eval, call.args)], named
    except (SyntaxError, ValueError, TypeError):
        raise XManError(f"{shortened(text)} is no class of a model; write Class, or Class(64, hidden=[8]) "
                        "with literals as arguments") from None


# the models of `xman train`: their classes, options, and default settings of `fit`
SOFTMAX, ADAM = {"loss": "softmaxCrossEntropy"}, {"optimizer": "adam", "lr": 1e-2, "batch_size": 32}
RELU, RECURRENT = {"activation": "relu", **SOFTMAX}, {"hidden": (64,), "last": None, **SOFTMAX}
SHORT, LONG = {**ADAM, "epochs": 15}, {**ADAM, "epochs": 200}
# of convex losses: to the optimum, with a penalty that folds choose; else ADAM
NEWTON = {**ADAM, "epochs": 60, "optimizer": "newton-cg"}
LARGE = 1e8  # the most rows times parameters for which that is quick
FIRST_ORDER = "lr", "batch_size", "schedule", "weight_decay", "clip", "clip_value", "mesh", "precision", "l1"
PERCEPTRON = {**ADAM, "lr": 1e-3, "epochs": 40, "patience": 10}
MODELS = {
    "linear": (models.LinearRegression, "numbers", {}, NEWTON),
    "poisson": (models.PoissonRegression, "counts", {}, NEWTON),
    "logreg": (models.LogisticRegression, "classes", SOFTMAX, NEWTON),
    "mlp": (models.MLP, "rows", {"hidden": (512, 256), "last": None, **RELU}, PERCEPTRON),
    "residual": (models.ResidualMLP, "rows", {"hidden": (100,), **RELU}, PERCEPTRON),
    "convolution": (models.ConvolutionalNetwork, "classes", RELU, SHORT),
    "rnn": (models.RNN, "sequences", RECURRENT, {**SHORT, "lr": 3e-3}),
    "gru": (models.GRU, "sequences", RECURRENT, SHORT),
    "lstm": (models.LSTM, "sequences", RECURRENT, SHORT),
    "transformer": (models.Transformer, "sequences", {"hidden": (64,), **SOFTMAX}, SHORT),
    "basis": (models.AdaptiveBasis, "numbers", {"hidden": (20,), "basis": "tanh"}, LONG),
}
TASKS = {"numbers": "regress", "counts": "count"}  # by the kind of a model's targets: the task


def defaults_of(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The default settings of `fit` for that model: Newton's method where its loss is convex and smooth, and
    the options leave that open."""
    defaults = MODELS.get(name, MODELS["mlp"])[3]
    chosen = [key for key in ("memory", *FIRST_ORDER) if options[key] is not None]
    first_order = chosen or options["warm_up"] or "://" in options["data"]
    bent = options["loss"] == "hinge"
    return defaults | ({"optimizer": "adam"} if defaults is NEWTON and (first_order or bent) else {})


def defaults_of_tables(rows: int, classes: bool) -> dict[str, Any]:
    """The defaults of perceptrons on tables of so many rows."""
    penalty = float(f"{(1 if classes else 3) / rows:.3g}")
    return {"epochs": 200, "patience": 20, "lr": 1e-3 if rows > 1000 else 3e-3, "l2": penalty}


def penalties_of(name: str, rows: int) -> tuple[tuple[float, ...], float | None]:
    """(the values of l2 that folds choose among, the one that is taken where they cannot tell others from
    it): the log loss of a few rows is erratic, the losses of numbers are less so."""
    values = tuple(float(f"{penalty / rows:.3g}") for penalty in 10.0 ** np.arange(-2, 5))
    return values, 1 / rows if name == "logreg" else None


def network_of(name: str, data: Dataset, seed: int, choices: dict[str, Any]) -> XMan:
    """The model of that name, one of MODELS or path/to/model.py:Class. choices: options."""
    if name in MODELS:
        return built_in(name, data, seed, choices)
    if ".py" not in name:
        of_file = f"; a table is named by --data, as in xman train linear --data {name}"
        table = of_file * bool(Path(name).suffix)
        raise XManError(f"there is no model {name!r}; there are {', '.join(MODELS)}, and your own: "
                        f"path/to/model.py:Class{table}")
    if choices:
        raise XManError(f"--{next(iter(choices))} is for the models of xman; {name} says itself what it is")
    model, rows, classes = model_of(name), data.train, len(data.classes)
    if hasattr(model, "outputs"):
        X, y = (rows.X, rows.y) if isinstance(rows, Stream) else rows
        steps, n = list_of(model, "outputs"), min(2, len(y))
        outputs = eval(steps, {**model.inputDict(), **feed(model, X[:2], y[:2])})[steps[-1][0]]
        wanted = {(n, 1), (n,)} if classes in (0, 2) else set()
        if (shape := np.shape(outputs)) not in wanted | {(n, classes)}:
            raise XManError(f"{name} gives outputs of shape {shape} for {n} rows, and the data have "
                            + (f"{classes} classes" if classes else "one number a row"))
    return model


def built_in(name: str, data: Dataset, seed: int, choices: dict[str, Any]) -> XMan:
    """The model of that name, one of MODELS, in the sizes of the data. choices: options."""
    make, of, options, _ = MODELS[name]
    if unfit := [key for key in choices if key not in options]:
        raise XManError(f"--{unfit[0]} is not for {name}, which takes "
                        f"{', '.join('--' + key for key in options) or 'none of them'}")
    if of != "rows" and bool(data.classes) == (of in TASKS):
        targets, task = ("numbers", "regress") if of in TASKS else ("classes", "classify")
        raise XManError(f"{name} is for {targets}; --task {task} makes the target that")
    if name == "mlp" and data.prepared.summary:
        options = {**options, "hidden": (100,)}
    squares = {} if data.classes or "loss" not in options else {"loss": "squaredError"}
    options = {**options, **squares, **choices, "seed": seed}
    hidden = options.pop("hidden", ())
    if name != "mlp" and "hidden" in MODELS[name][2] and len(hidden) != 1:
        raise XManError(f"{name} has one hidden layer; found --hidden {' --hidden '.join(map(str, hidden))}")
    whole = None if isinstance(data.train, Stream) else data.train
    X, outputs = whole[0] if whole else data.train.X, len(data.classes) or 1
    features = int(np.prod(X.shape[1:]))
    match name:
        case "mlp":
            return make([features, *hidden, outputs], **options)
        case "convolution":
            return make(sides_of_square(X), outputs, **options)
        case "basis":
            return make(options.pop("basis"), *hidden, **options, **range_of_rows(whole))
        case "poisson" if whole:
            options["largest"] = float(whole[1].max())
    if of == "sequences":
        if not isinstance(X, np.ndarray) or X.ndim != 3:
            raise XManError(f"the model {name} reads sequences, such as --data names; these data "
                            "are single rows")
        return make(X.shape[2], *hidden, outputs, steps=X.shape[1], **options)
    return make(features, *hidden, outputs, **options)


def sides_of_square(X: Any) -> tuple[int, int]:
    """The height and width of the images that are the rows of X."""
    features = int(np.prod(X.shape[1:]))
    side = math.isqrt(features)
    if X.ndim != 2 or side ** 2 != features:
        raise XManError(f"a convolution is of square images, such as --data digits; a row here has "
                        f"{features:,} numbers")
    return side, side


def range_of_rows(rows: tuple[Any, np.ndarray] | None) -> dict[str, Any]:
    """What an adaptive basis knows of the rows (X, y): the ends of each column, and below a margin of 1 %."""
    if rows is None:
        raise XManError("a basis begins with the range of all rows; leave out --memory")
    X, _ = rows
    if X.ndim != 2:
        raise XManError("a basis is of rows of numbers; these data are titles")
    low, high = (end.toarray()[0] if hasattr(end, "toarray") else end for end in (X.min(0), X.max(0)))
    low, high = low - (high - low) / 100, np.where(high > low, high, low + 1)
    return {"columns": X.shape[1], "low": low, "high": high, "mean": True}


def costs_of(words: tuple[str, ...], classes: tuple[str, ...]) -> dict[str, float]:
    """{"yes": 5.0} from the word yes=5: what an error on a row of this class costs."""
    pairs = [word.rpartition("=") for word in words]
    if words and not classes:
        raise XManError("--cost is for classes, and the target is a number")
    refuse_unknown([name for name, _, _ in pairs], classes, "--cost: the target has no class {!r}")
    costs = {name: float(number) if re.fullmatch(r"\d*\.?\d+", number) else 0.0 for name, _, number in pairs}
    if wrong := [name for name, cost in costs.items() if not cost]:
        raise XManError(f"--cost {wrong[0]}: write a class and a positive number, as in yes=5")
    return costs


def schedule_of(text: str | None, rising: int, epochs: int, batches: int) -> Schedule | None:
    """The schedule, in steps, of --schedule and --warm-up, which are in epochs of `batches` steps."""
    makers: dict[str, Callable] = {
        "constant": lambda: [], "cosine": lambda: [cosine(max(1, epochs * batches))],
        "step": lambda every, *factor: [step_decay(round(every * batches), *factor)],
        "exponential": lambda factor: [exponential(factor ** (1 / batches))]}
    word, *numbers = ("constant" if text is None else text).split(":")
    try:
        numbers = [float(number) for number in numbers]
        if min(numbers, default=0) < 0:
            raise ValueError
        factors = makers[word](*numbers)
    except (XManError, ArithmeticError) as error:
        raise XManError(f"--schedule {text}: {error}") from None
    except (KeyError, TypeError, ValueError):
        raise XManError(f"there is no schedule {text!r}; there are constant, cosine, step:EPOCHS:FACTOR and "
                        f"exponential:FACTOR, an epoch{nearest(word, {*makers} - {word})}") from None
    return product(*factors, *([warm_up(rising * batches)] if rising else [])) if factors or rising else None


def assignments(words: tuple[str, ...], steps: WengertList) -> dict[str, Any]:
    """{'x1': 3.0} from x1=3: numbers and lists as JSON or Python write them, or @FILE.npy, @FILE.csv."""
    values: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise XManError(f"{word!r} is no value for a register; write name=value, as in x1=3 or x='[1, "
                            "2]' or x=@x.npy")
        if name in values:
            raise XManError(f"{name} is given two values")
        refuse_unknown([name], steps.inputs, "the list has no input {!r}")
        values[name] = array_argument(word, text)
    return values


class NotFinite(ast.NodeTransformer):
    """inf and nan as numbers: Python's literals have none."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(float(node.id)) if node.id in ("inf", "nan") else node


def literal_of(text: str) -> Any:
    """What a text of JSON, or of Python's literals, as [.5, inf], stands for."""
    try:
        return json.loads(text)
    except ValueError:
        return ast.literal_eval(NotFinite().visit(ast.parse(text.strip(), mode="eval")))


def array_argument(word: str, text: str) -> Any:
    try:
        if text.startswith("@"):
            load = np.load if text.endswith(".npy") else lambda path: np.loadtxt(path, delimiter=",", ndmin=2)
            return load(text[1:])
        value = np.array(literal_of(text) if text[:1] in "[({\"tf" else float(text))
        if value.dtype.kind not in "biuf":
            raise ValueError
        return value if value.ndim and value.dtype.kind != "b" else float(value)
    except OSError as error:
        raise XManError(f"{text[1:]} cannot be read: {error.strerror or error}") from None
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise XManError(f"{shortened(word)}: the value is not a number or a nested list of numbers, as in "
                        "x1=3 or x='[[1, 2], [3, 4]]'") from None


def sha256(source: str) -> dict[str, str]:
    """{"sha256": …} of a file; {} where the source is not a file."""
    return {"sha256": hashlib.sha256(Path(source).read_bytes()).hexdigest()} if Path(source).is_file() else {}


def streamed(source: str, memory: float | None, unfit: dict[str, Any], **columns: Any) -> Dataset:
    """The data set as streams of tables. unfit: options that streams lack; XManError if one is given."""
    if words := [word for word, value in unfit.items() if value]:
        option = words[0].replace("_", "-")
        raise XManError(f"--{option} is for rows that fit into memory; leave out --memory")
    sets = tenths(source, memory or MEMORY, **columns)
    data = sets[0].prepared
    names = (*(column.name for column in data.columns), data.target.name)
    return Dataset(*sets, data.classes, None, data, names)
