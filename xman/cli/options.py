"""The options of commands, written as tables."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from inspect import signature
from pathlib import Path
from typing import Any

import click

PATH = click.Path(path_type=Path)
KINDS = {"whole": click.IntRange(0), "size": click.IntRange(1), "number": float}
JSON = "--json,as_json  flag  Print one JSON object, for a program to read."
OF = "--of  REGISTER  The register meant; the last line's, or a model's loss, if not said."
READING = """
    --header/--no-header?      flag  Whether the first line of a CSV file names the columns.  [default: by its looks]
    --zero-based/--one-based?  flag  Where the indices of a LIBSVM file begin.  [default: at 0 where one of them is 0]
"""


class Several(click.ParamType):
    """The type of an option with one value, or several with commas between, which are all tried."""

    def __init__(self, kind: Any):
        self.kind = click.types.convert_type(kind)
        self.name = self.kind.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        values = tuple(self.kind.convert(word.strip(), param, ctx) for word in str(value).split(","))
        return values if len(values) > 1 else values[0]

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        one = "|".join(self.kind.choices) if isinstance(self.kind, click.Choice) else self.name.upper()
        return f"{one}[,…]"


def option_table(table: str, receivers: Iterable[Callable] = (), **kinds: Any) -> Callable:
    """The decorator that gives a command the options of a table, a line each, with columns two spaces apart.

    Column 1: the names, and the default: --seed=0, or --json,as_json with the function's name for it; then
    `!` for an option that is required, `?` for a flag that is None by default. Column 2: the kind: flag; the
    word of a type of click's, in `kinds` or KINDS; small words to choose from, a|b; else a word in capitals
    that stands for the value in the help. …* may be repeated,
    REGISTER* has commas between names too, and …,… is one value or several. Column 3: the
    help.

    Each option is a parameter of the command's function, or of a receiver: a function or dataclass to which
    a command that takes **options hands them on. TypeError if it is not: the option would do nothing.
    """
    rows = [re.split("  +", line.strip(), maxsplit=2) for line in table.splitlines() if line.strip()]
    options = [option_of_row(*row, KINDS | kinds) for row in rows]

    def decorator(function: Callable) -> Callable:
        command = reduce(lambda decorated, option: option(decorated), reversed(options), function)
        parameters = {name for receiver in (function, *receivers) for name in signature(receiver).parameters}
        if idle := [option.name for option in command.__click_params__ if option.name not in parameters]:
            raise TypeError(f"the option {idle[0]} of the command {function.__name__} does nothing: no "
                            "function takes it")
        return command
    return decorator


def received(receiver: Callable, options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that the receiver takes."""
    parameters = signature(receiver).parameters
    return {name: x for name, x in options.items() if name in parameters}


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
        keywords["type"] = Several(type_of_value) if kind.endswith(",…") else type_of_value
    return click.option(*names.rstrip("!?").split(","), help=text, required=names.endswith("!"),
                        multiple=kind.endswith("*"), **keywords)
