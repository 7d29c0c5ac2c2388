"""The commands show, eval, grad, check and ops, and the group that all commands belong to."""
from __future__ import annotations

import functools
import inspect
import json
import sys
from collections.abc import Callable
from typing import Any

import click
import numpy as np

import ops
from ops.facts import parameters_of

from .. import __version__
from ..errors import XManError, nearest
from ..files.container import versions
from ..interpreters import backprop, eval, shapes
from ..interpreters.context import varies
from ..reasons import check
from ..show import picture
from ..wengert import WengertList
from .drawing import DOT, HTML, MERMAID, SVG, draw, one_form, print_list, write_explorer
from .options import JSON, OF, OF_SEVERAL, option_table, refuse_overwriting
from .sources import list_and_values, model_of

VALUES = click.argument("values", nargs=-1, metavar="[NAME=VALUE]...")
SOURCE = click.argument("source", metavar="LIST")
# what many try first, and what it is called here
HERE = dict(explore="; here: xman show LIST NAME=VALUE… --html FILE.html", help="; here: xman COMMAND --help")


class Command(click.Command):
    """A command whose line in the list of commands is not cut, and which overwrites nothing that it reads."""
    def get_short_help_str(self, limit: int = 45) -> str: return super().get_short_help_str(1000)

    def invoke(self, ctx: click.Context) -> Any:
        refuse_overwriting(ctx)
        return super().invoke(ctx)


class Interrupted(Exception):
    """Ctrl-C, for which click prints an empty line."""


class Group(click.Group):
    """A group of such commands; an unknown one is answered with the nearest."""
    command_class, group_class = Command, type
    def get_short_help_str(self, limit: int = 45) -> str: return super().get_short_help_str(1000)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple:
        if args and self.get_command(ctx, args[0]) is None and args[0][:1] != "-":
            near = HERE.get(args[0]) or nearest(args[0], self.commands)
            raise XManError(f"there is no command {args[0]!r}{near}; see {ctx.command_path} --help")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise Interrupted(*stop.args) from stop


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def xman() -> None:
    """Wengert lists: write, evaluate, differentiate, check and train.

    LIST is a file of lines such as `z1 = mul(h, w)`, a .json file, - for standard input, an .onnx file, one
    that `xman train --save` wrote, or a model: path/to/model.py:Class.
    """


def of_a_list(table: str, name: str | None = None, several: bool = False, **kinds: Any) -> Callable:
    """The decorator that makes a command of a function of a list, the values of its inputs, and a register
    (that of the last line by default), or several (none by default). table: the command's other options."""
    def command(function: Callable) -> Callable:
        @option_table(f"{OF_SEVERAL if several else OF}\n{table}", **kinds)
        @functools.wraps(function)
        def reading(source: str, values: tuple[str, ...], of: Any, **options: Any) -> None:
            steps, inputs = list_and_values(source, (*of, None)[0] if several else of, values)
            function(steps, inputs, of if several else of or steps[-1][0], **options)
        return xman.command(name)(SOURCE(VALUES(reading)))
    return command


of_lists = functools.partial(of_a_list, several=True)


@xman.command()
def version() -> None:
    """Print the versions of xman, Python, NumPy and SciPy."""
    print(*(f"{name} {number}" for name, number in versions().items()), sep="\n")


@xman.command()
@SOURCE
@VALUES
@option_table(f"""{OF}
    --rolled  flag  Write lines that repeat as a loop; give the values of all inputs.
    {JSON}\n{DOT}\n{MERMAID}\n{SVG}\n{HTML}""")
def show(source, values, of, rolled, as_json, dot, mermaid, svg, html) -> None:
    """Print the list, with shapes if values are given; or draw it (a model by itself with its objects)."""
    one_form(json=as_json, dot=dot, mermaid=mermaid, svg=svg, html=html)
    if html:
        return write_explorer(source, of, values, html, rolled)
    is_model = source.partition(":")[0].endswith(".py")
    if (dot or svg or mermaid) and is_model and not (of or values or rolled):
        return draw(picture(model_of(source)), svg, mermaid)
    steps, inputs = list_and_values(source, of, values, rolled)
    sizes = shapes(steps, inputs) if values else {}
    if dot or svg or mermaid:
        notes = {name: f"{shape} {kind}" for name, (shape, kind) in sizes.items()}
        return draw(picture(steps, notes), svg, mermaid)
    if not as_json:
        return print_list(steps, sizes)
    known_shapes = {name: [list(shape), str(kind)] for name, (shape, kind) in sizes.items()}
    facts = {"list": json.loads(steps.to_json()), "shapes": known_shapes}
    print(json.dumps(facts) if sizes else steps.to_json())


@xman.command(name="eval")
@SOURCE
@VALUES
@option_table(f"""{OF}
    {JSON}
    --all,everything  flag  Print every register, not only the result.""")
def eval_(source, values, of, as_json, everything) -> None:
    """Evaluate the list: xman eval f.wl x1=3 x2=7."""
    steps, inputs = list_and_values(source, of, values)
    result = eval(steps, inputs)
    names = [dst for dst, _, _ in steps] if everything else [of] if of else list(steps.outputs)
    tell({name: value_of(result, name) for name in names}, as_json)


@of_a_list(f"""{JSON}
    --wrt  REGISTER*  Differentiate by this input only; may be repeated.""")
def grad(steps: WengertList, inputs: dict[str, Any], of: str, as_json, wrt) -> None:
    """Differentiate the list by its inputs: xman grad f.wl x1=3 x2=7."""
    result = eval(steps, inputs | in_wrt_as_floats(inputs, wrt))
    if np.size(value_of(result, of)) != 1:
        raise XManError(f"{of!r} has shape {np.shape(result[of])}; a gradient is of one number: say which "
                        "with --of")
    deltas = backprop(steps, result, ops.DG, wrt or None, **{of: 1.0})
    constant = [name for name in wrt or steps.inputs if not varies(result[name])]
    if constant and (wrt or len(constant) == len(steps.inputs)):
        raise XManError(f"{constant[0]!r} is an array of whole numbers and has no gradient; write its "
                        "numbers as 3.0")
    names = [name for name in wrt or steps.inputs if name not in constant]
    tell({name: deltas.get(name, np.zeros(np.shape(result[name]))) for name in names}, as_json)


@of_a_list(f"""{JSON}
    --wrt      REGISTER*  Check this input only; may be repeated.
    --sides=2  sides      1 for one-sided difference quotients, 2 for central ones.
    --seed=0   whole      Seed of the directions along which a large register is checked.""", "check", sides=click.IntRange(1, 2))
def check_(steps: WengertList, inputs: dict[str, Any], of: str, as_json, wrt, sides, seed) -> None:
    """Compare backprop with difference quotients, element by element. Exit status 1 where they differ."""
    report = check(steps, inputs, of=of, wrt=wrt or None, sides=sides, seed=seed)
    wrong = [json_terms(entry._asdict()) for entry in report.wrong]
    facts = {"ok": report.ok, "checked": len(report.entries), "misshapen": report.misshapen, "wrong": wrong}
    print(json.dumps(facts) if as_json else report)
    sys.exit(0 if report.ok else 1)



def in_wrt_as_floats(inputs: dict[str, Any], wrt: tuple[str, ...]) -> dict[str, Any]:
    """The inputs in wrt as floats: what is typed as [[1, 2]] has a derivative where it is asked for."""
    return {x: np.asarray(inputs[x], float) for x in wrt if x in inputs}


def value_of(values: dict[str, Any], name: str) -> Any:
    if name not in values:
        raise XManError(f"the list has no register {name!r}")
    return values[name]


def tell(results: dict[str, Any], as_json: bool) -> None:
    """Print a line for each register, name = value; or one JSON object."""
    results = {name: json_terms(x) for name, x in results.items()}
    print(json.dumps(results) if as_json else "\n".join(f"{name} = {x}" for name, x in results.items()))


def json_terms(x: Any) -> Any:
    """x in JSON's terms: nested lists of numbers; NaN and infinities, which JSON lacks, as strings."""
    if isinstance(x, (np.ndarray, np.generic)):
        return json_terms(x.tolist())
    if isinstance(x, dict):
        return {key: json_terms(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [json_terms(term) for term in x]
    return str(x) if isinstance(x, float) and not np.isfinite(x) else x


@xman.command(name="ops")
@click.argument("names", nargs=-1, metavar="[OPERATOR]...")
def ops_(names: tuple[str, ...]) -> None:
    """List the operators, or those named, with their arguments and what they compute."""
    if strange := [op for op in names if op not in ops.G]:
        raise XManError(f"there is no operator {strange[0]!r}{nearest(strange[0], ops.G)}")
    calls = {op: f"{op}({', '.join(arguments(ops.G[op]))})" for op in names or sorted(ops.G, key=str.lower)}
    width = max(map(len, calls.values()))
    for op, call in calls.items():
        paragraphs = (inspect.getdoc(ops.G[op]) or "").split("\n\n")
        # the docstring of a ufunc begins with its signature
        summary = " ".join(paragraphs[isinstance(ops.G[op], np.ufunc)].split())
        print(f"{call:<{width}}  {summary}{'' if any(ops.DG[op]) else ' No derivative.'}")


def arguments(value: Callable) -> list[str]:
    """The arguments of an operator as a reader would write them: x, y, axis=None."""
    if isinstance(value, np.ufunc):
        return ["x", "y"][:value.nin]
    names, defaults, variadic, _ = parameters_of(value)
    return [f"{x}={defaults[x]!r}" if x in defaults else x for x in names] + [f"*{variadic}"] * bool(variadic)
