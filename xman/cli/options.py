"""The options of commands, written as tables."""
from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
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
        found = tuple(self.kind.convert(part.strip(), param, ctx) for part in str(value).split(","))
        return found if len(found) > 1 else found[0]

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        one = "|".join(self.kind.choices) if isinstance(self.kind, click.Choice) else self.name.upper()
        return f"{one}[,…]"


def option_table(table: str, **kinds: Any) -> Callable:
    """The decorator that gives a command the options of a table, a line each, with columns two spaces apart.

    Column 1: the names, and the default: --seed=0, or --json,as_json with the function's name for it; then
    `!` for an option that is required, `?` for a flag that is None by default. Column 2: the kind: flag; the
    word of a type of click's, in `kinds` or KINDS; small words to choose from, a|b; else a word in capitals
    that stands for the value in the help. …* may be repeated,
    REGISTER* has commas between names too, and …,… is one value or several. Column 3: the
    help.
    """
    rows = [re.split("  +", line.strip(), maxsplit=2) for line in table.splitlines() if line.strip()]
    made = [option_of_row(*row, KINDS | kinds) for row in rows]
    return lambda function: reduce(lambda command, option: option(command), reversed(made), function)


def option_of_row(names: str, kind: str, said: str, kinds: dict[str, Any]) -> Callable:
    names, _, default = names.partition("=")
    apart = lambda ctx, param, words: tuple(name for name in re.split("[, ]+", ",".join(words)) if name)
    word = kind.rstrip("*").removesuffix(",…")
    how: dict[str, Any] = {"default": default, "show_default": True} if default else {}
    how |= {} if word.islower() else {"metavar": word}
    how |= {"metavar": "REGISTER[,…]", "callback": apart} if kind == "REGISTER*" else {}
    if kind == "flag":
        how |= {"is_flag": True, "default": None if names.endswith("?") else False}
    elif word in kinds or word.islower():
        found = kinds.get(word) or click.Choice(word.split("|"))
        how["type"] = Several(found) if kind.endswith(",…") else found
    return click.option(*names.rstrip("!?").split(","), help=said, required=names.endswith("!"),
                        multiple=kind.endswith("*"), **how)
