"""The options of commands, written as tables."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from inspect import signature
from pathlib import Path
from typing import Any

import click

from ..errors import XManError, nearest
from ..files.figures import refuse_undrawable
from ..files.whole import refuse_unwritable

PATH = click.Path(path_type=Path)
JSON = "--json,as_json  flag  Print one JSON object, for a program to read."
OF = "--of  REGISTER  The register that is meant.  [default: that of the last line, or a model's loss]"
OF_SEVERAL = "--of  REGISTER*  A register meant; may be repeated."
READING = """
    --header/--no-header?      flag  Whether the first line of a CSV file names the columns.  [default: by its looks]
    --zero-based/--one-based?  flag  Where the indices of a LIBSVM file begin.  [default: at 0 where one of them is 0]
"""


class Several(click.ParamType):
    """The type of an option with one value, or several with commas between, which are all tried."""

    def __init__(self, kind: Any, name: str, several: bool):
        self.kind, self.name, self.several = click.types.convert_type(kind), name, several

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        words = str(value).split(",") if self.several else [value]
        values = tuple(self.value(str(word).strip(), param, ctx) for word in words)
        return values if len(values) > 1 else values[0]

    def value(self, word: str, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self.kind.convert(word, param, ctx)
        except click.BadParameter:
            self.fail(f"{word!r} is not {wanted(self.kind, word)}", param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        one = "|".join(self.kind.choices) if isinstance(self.kind, click.Choice) else self.name.upper()
        return one + "[,…]" * self.several


def wanted(kind: click.ParamType, word: str) -> str:
    """What a word for this kind has to be."""
    if isinstance(kind, click.Choice):
        return f"one of {', '.join(kind.choices)}{nearest(word, kind.choices)}"
    number = "a whole number" if isinstance(kind, click.types.IntParamType) else "a number"
    least, most = (getattr(kind, end, None) for end in ("min", "max"))
    return number + (f" from {least}" + (" on" if most is None else f" to {most}")) * (least is not None)


class NewFile(click.ParamType):
    """The type of a file that is written at the end. Whether it can be is tried first, not after an hour.

    endings: those that name what is written (none: any ending). A name may have none.
    """
    name = "file"

    def __init__(self, kind: Callable = str, *endings: str, refuse: Callable = refuse_unwritable):
        self.kind, self.endings, self.refuse = kind, endings, refuse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            self.refuse(value)
        except XManError as error:
            self.fail(str(error), param, ctx)
        if self.endings and (ending := Path(value).suffix) and ending.lower() not in self.endings:
            wanted = " or ".join(self.endings)
            self.fail(f"{value} is written as {wanted}, not {ending}: name it so", param, ctx)
        return self.kind(value)


def refuse_overwriting(ctx: click.Context) -> None:
    """XManError where a file to write is one that the command reads, or writes for another option, by
    whatever name: of a folder that is read, each table."""
    names = {param: param.opts[-1] if isinstance(param, click.Option) else param.name.upper()
             for param in ctx.command.params}
    outputs = {param: Path(ctx.params[param.name]) for param in names
               if isinstance(param.type, NewFile) and ctx.params[param.name]}
    taken: dict[Any, str] = {}
    for param in names if outputs else ():
        value = ctx.params[param.name]
        may_name_files = isinstance(param, click.Argument) or "FILE" in str(param.metavar)
        if value and may_name_files and param not in outputs:
            for word in value if isinstance(value, (tuple, list)) else (value,):
                files = map(file_identity, files_named(str(word)))
                taken |= dict.fromkeys(files, f"what {names[param]} reads")
    for param, path in outputs.items():
        if path.exists() and not path.is_file():  # a terminal or a pipe
            continue
        if use := taken.get(file := file_identity(path)):
            raise XManError(f"{names[param]}: {path} is {use}; name another file")
        taken[file] = f"the file of {names[param]}, too"


def file_identity(path: Path) -> Any:
    """What all names of one file have in common, through links and dots."""
    status = path.stat() if path.exists() else None
    return (status.st_dev, status.st_ino) if status else path.resolve()


def files_named(word: str) -> list[Path]:
    """The files that a word may mean: FILE, FILE:Class, NAME=@FILE, parts of FILE, tables of a folder."""
    from ..tables.formats import file_kind  # here, since few commands write files
    from ..train.loaders import SPLITS
    path = Path(word)
    stem = path.with_suffix("") if path.suffix in SPLITS else path
    names = word, word.partition(":")[0], word.partition("@")[2], *(f"{stem}{x}" for x in SPLITS)
    files = [x for x in map(Path, names) if x.is_file()]
    return files + [x for x in path.iterdir() if file_kind(x)] if path.is_dir() else files


KINDS = {"whole": click.IntRange(0), "size": click.IntRange(1), "number": float,
         "FILE.safetensors": NewFile(str, ".safetensors", ".st"), "FILE.html": NewFile(str, ".html", ".htm"),
         "FILE.csv|FILE.parquet": NewFile(str, ".csv", ".txt", ".parquet", ".pq")}


def in_our_words(error: click.ClickException) -> str:
    """The sentence for words on the command line that click cannot read."""
    if isinstance(error, click.BadOptionUsage):
        return f"{error.option_name} {'takes no' if 'not take' in error.message else 'lacks its'} value"
    if not isinstance(error, click.UsageError) or not error.ctx:
        return error.format_message()
    parameter = getattr(error, "param", None)
    option = parameter.opts[-1] if isinstance(parameter, click.Option) else ""
    if isinstance(error, click.NoSuchOption):
        options = [option for parameter in error.ctx.command.params for option in parameter.opts]
        sentence = f"there is no option {error.option_name}{nearest(error.option_name, options)}"
    elif isinstance(error, click.MissingParameter) and parameter:
        sentence = f"{option} {parameter.metavar} is missing".lstrip()
        if not option and "|" in parameter.metavar:  # an argument of several forms
            sentence = f"{parameter.name.upper()} is missing: {parameter.metavar.replace('|', ', ')}"
    elif isinstance(error, click.BadParameter) and parameter:
        return f"{option or parameter.name}: {error.message}"
    elif words := re.match(r"Got unexpected extra arguments? \((.*)\)", error.message):
        sentence = f"nothing takes the words {words[1]}"
    else:
        sentence = error.message
    return f"{sentence}; see {error.ctx.command_path} --help"


def option_table(table: str, receivers: Iterable[Callable] = (), **kinds: Any) -> Callable:
    """The decorator that gives a command the options of a table, a line each, with columns two spaces apart.

    Column 1: the names, and the default: --seed=0, or --json,as_json with the function's name for it; then
    `!` for an option that is required, `?` for a flag that is None by default. Column 2: the kind: flag; the
    word of a type of click's, in `kinds` or KINDS; small words to choose from, a|b; else a word in capitals
    that stands for the value in the help. …* may be repeated,
    REGISTER* has commas between names too, and …,… is one value or several. Column 3: the
    help.

    Each option is a parameter of the command's function, which needs no types beside the table's, or of a
    receiver: a function or dataclass to which a command that takes **options hands them on. TypeError if it
    is not: the option would do nothing.
    """
    rows = [re.split("  +", line.strip(), maxsplit=2) for line in table.splitlines() if line.strip()]
    options = [option_of_row(*row, KINDS | kinds) for row in rows]

    def decorator(function: Callable) -> Callable:
        command = reduce(lambda decorated, option: option(decorated), reversed(options), function)
        parameters = parameters_of((function, *receivers))
        if idle := [option.name for option in command.__click_params__ if option.name not in parameters]:
            raise TypeError(f"the option {idle[0]} of the command {function.__name__} does nothing: no "
                            "function takes it")
        return command
    return decorator


def received(options: Mapping[str, Any], *receivers: Callable) -> dict[str, Any]:
    """Those of the options that one of the receivers takes."""
    return {name: x for name, x in options.items() if name in parameters_of(receivers)}


def parameters_of(receivers: Iterable[Callable]) -> set[str]:
    return {name for receiver in receivers for name in signature(receiver).parameters}


def option_of_row(names: str, kind: str, text: str, kinds: dict[str, Any]) -> Callable:
    names, _, default = names.partition("=")
    apart = lambda ctx, param, words: tuple(name for name in re.split("[, ]+", ",".join(words)) if name)
    word = kind.rstrip("*").removesuffix(",…")
    keywords: dict[str, Any] = {"default": default, "show_default": True} if default else {}
    keywords |= {} if word.islower() else {"metavar": word}
    keywords |= {"metavar": "REGISTER[,…]", "callback": apart} if kind == "REGISTER*" else {}
    if kind == "flag":
        keywords |= {"is_flag": True, "default": None if names.endswith("?") else False}
    elif word in kinds or word.islower():
        type_of_value = kinds.get(word) or click.Choice(word.split("|"))
        plain = isinstance(type_of_value, (click.Path, NewFile))
        keywords["type"] = type_of_value if plain else Several(type_of_value, word, kind.endswith(",…"))
    elif word.startswith("FILE"):
        keywords["type"] = NewFile(refuse=refuse_undrawable if word == "FILE.png" else refuse_unwritable)
    keywords |= {"help": text, "required": names.endswith("!"), "multiple": kind.endswith("*")}
    return click.option(*names.rstrip("!?").split(","), **keywords)
