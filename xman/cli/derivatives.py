"""The commands that write derivatives, and that show how they arise."""
from __future__ import annotations

import sys
from typing import Any

import click

from .. import reasons
from .. import show as pictures
from ..errors import XManError
from ..matrices import Hessian, Jacobian
from ..notation import table_as_text
from ..passes import ALGEBRA, EXACT, STABLE, simplify
from ..passes import gradient as gradient_list
from ..passes import tangent as tangent_list
from ..passes.differentiate import ending
from ..plots import difference_errors
from ..wengert import WengertList
from .commands import SOURCE, VALUES, in_wrt_as_floats, of_a_list, of_lists, tell, xman
from .drawing import DOT, SVG, columns_here, draw, one_form, print_list
from .options import JSON, option_table
from .sources import assignments, list_and_values

WRT = "--wrt  REGISTER*  Differentiate by this input; may be repeated.  [default: all inputs]"
ALONG = "--along  NAME=NUMBER*  Multiply by this direction; repeat it for several inputs."
FIRST = "--wrt  REGISTER*  An input to differentiate by; may be repeated.  [default: the first]"
BRIEF = "--algebra  flag  Shorten by rules of algebra, after which numbers are rounded differently."
Known = dict[str, Any]


@of_a_list(f"""{WRT}
    --stable   flag  First replace formulas that overflow or cancel by stable ones.
    {BRIEF}
    --raw      flag  Print the lines as the rules write them, not simplified.
    --forward  flag  Print tangents (forward mode) instead of adjoints.""")
def gradient(steps: WengertList, inputs: Known, of: str, wrt, stable, algebra, raw, forward) -> None:
    """Print the list of the gradient; if values are given, shortened for their shapes."""
    steps = simplify(steps, [of], inputs or None, EXACT + STABLE) if stable else steps
    wrt = wrt or one_input(steps)
    if forward:
        result, dot = tangent_list(steps, wrt), ending(steps)
        keep = [of, *({of + dot} & {dst for dst, _, _ in result})]
        inputs |= {x + dot: inputs[x] for x in wrt if x in inputs}
    else:
        result, keep = gradient_list(steps, of, wrt), [of, *(f"d{of}_d{x}" for x in wrt)]
    print_list(result if raw else simplify(result, keep, inputs or None, EXACT + ALGEBRA * algebra), {})


@xman.command()
@SOURCE
@VALUES
@option_table(f"""
    --of    REGISTER   Write its gradient too.
    --wrt   REGISTER*  Differentiate by this input, in forward mode if there is no --of.
    {BRIEF}
    --name  TEXT       The name of the function.""")
def source(source, values, of, wrt, algebra, name) -> None:
    """Print the list, its gradient or its tangent as a Python function."""
    steps, inputs = list_and_values(source, of, values)
    wrt = wrt or (one_input(steps) if of else None)
    print(pictures.source(steps, of, wrt, inputs or None, EXACT + ALGEBRA * algebra, name), end="")


@of_lists(f"""
    --wrt          REGISTER*     The input along which tangents go; if repeated, a table for each.
    --along        NAME=NUMBER*  A direction in place of --wrt; repeat it for several inputs.
    --digits=4     digits        How many decimals.
    --interleaved  flag          Each register and its tangent in turn, with the numbers put in.
    {DOT}
    {SVG}""", digits=click.IntRange(0, 17))
def explain(steps: WengertList, inputs: Known, of: tuple[str, ...], wrt, along, digits, interleaved, dot,
            svg) -> None:
    """Print values, tangents and adjoints side by side: xman explain f.wl x1=3 x2=7 --wrt x1."""
    one_form(dot=dot, svg=svg, interleaved=interleaved)
    of = of if len(of) > 1 else of[0] if of else steps[-1][0]
    directions = [assignments(along, steps)] if along else wrt or [None]
    traces = [pictures.explain(steps, of, x, inputs, digits) for x in directions]
    if not (dot or svg):
        text = lambda trace: (trace.interleaved() if interleaved
                              else table_as_text(trace.table(), 2, columns_here()))
        return print("\n\n".join(map(text, traces)))
    if len(traces) > 1 or not isinstance(of, str):
        raise XManError("a picture has the tangents of one input and the adjoints of one output: say --wrt and "
                        "--of once")
    draw(pictures.picture(*traces), svg)


@of_lists(f"""{WRT}
    {JSON}
    {ALONG}
    --mode  forward|reverse|mixed  Of the passes.  [default: the fewest]""")
def jacobian(steps: WengertList, inputs: Known, of: tuple[str, ...], wrt, as_json, along, mode) -> None:
    """Print the Jacobian, a line for each output and input: xman jacobian f.wl x1=3 x2=7."""
    direction, wrt = direction_of(along, wrt, steps)
    inputs |= in_wrt_as_floats(inputs, wrt)
    if along:
        one_form(along=along, mode=mode)
        tangents = {y: Jacobian(steps, y, wrt).jv(inputs, direction) for y in of or steps.outputs}
        return tell({y + ending(steps): tangent for y, tangent in tangents.items()}, as_json)
    blocks = {y: Jacobian(steps, y, wrt or one_input(steps), mode)(inputs) for y in of or steps.outputs}
    tell({f"d{y}/d{x}": J for y, block in blocks.items() for x, J in block.items()}, as_json)


@of_lists(f"{WRT}\n{JSON}\n{ALONG}")
def hessian(steps: WengertList, inputs: Known, of: tuple[str, ...], wrt, as_json, along) -> None:
    """Print the Hessian of a number, a line for each pair of inputs: xman hessian f.wl x1=3 x2=7."""
    direction, wrt = direction_of(along, wrt, steps)
    inputs, results = inputs | in_wrt_as_floats(inputs, wrt), {}
    for y in of or (steps[-1][0],):
        H = Hessian(steps, y, wrt)
        if along:
            products = H.product_at(inputs)(direction)
            results |= {f"d{y}_d{x}{ending(H.gradient)}": product for x, product in products.items()}
        else:
            results |= {f"d²{y}/d{x}d{z}": block for (x, z), block in H.blocks(inputs).items()}
    tell(results, as_json)


def direction_of(along: tuple[str, ...], wrt: tuple[str, ...], steps: WengertList) -> tuple[Known, tuple]:
    """The direction that --along gives, and the names of the inputs to differentiate by."""
    direction = assignments(along, steps)
    if wrt and (stray := [x for x in direction if x not in wrt]):
        raise XManError(f"--along {stray[0]} is a direction of an input that --wrt does not name")
    return direction, wrt or one_input(steps)


@of_a_list(f"""{FIRST}
    --brief  flag  Write the definition and the rule as one step.
    --latex  flag  Write it for LaTeX, with amsmath.""")
def derivation(steps: WengertList, inputs: Known, of: str, wrt, brief, latex) -> None:
    """Print the steps of the chain rule, each with its reason, as in a textbook; values are for shapes."""
    for k, x in enumerate(wrt or one_input(steps)[:1]):
        table = pictures.derivation(steps, of, x, brief, inputs or None)
        print("\n" * bool(k) + (table.latex() if latex else table.wrapped(columns_here())))


@of_a_list(f"""{FIRST}
    {DOT}
    {SVG}
    --along     forward|backward  Print the sums over paths in this direction alone.
    --symbolic  flag              Print the derivative as a formula in the inputs.""")
def paths(steps: WengertList, inputs: Known, of: str, wrt, dot, svg, along, symbolic) -> None:
    """Print the computation graph, and the derivative as the sum over its paths, forwards and backwards."""
    one_form(dot=dot, svg=svg, symbolic=symbolic)
    graph = pictures.paths(steps, of, wrt or one_input(steps)[:1], inputs or None)
    if dot or svg:
        draw(pictures.picture(graph, getattr(graph, along)() if along else None), svg)
    elif symbolic:
        for x in graph.wrt:
            print(f"d{of}/d{x} = {pictures.paths(steps, of, x).symbolic()}")
    else:
        print(getattr(graph, along)() if along else graph)


@of_a_list("""
    --register  NAME  A register or a derivative, as dloss_dx.  [default: the last line's, and its derivatives]
    --chain     flag  Print each line on the way to the reason.""")
def why(steps: WengertList, inputs: Known, of: str, register, chain) -> None:
    """Say why a number is NaN, infinite, 0 or huge, with the line. Exit status 1 where something is wrong."""
    reason = reasons.why(steps, inputs, register, of=of)
    print(*(chain and reason.chain or [reason]), sep="\n")
    sys.exit(bool(reason))


@of_a_list(f"{WRT}\n--lines  flag  Count each line by itself.")
def cost(steps: WengertList, inputs: Known, of: str, wrt, lines) -> None:
    """Count the operations and the bytes of the list, its tangent and its adjoint, and time them."""
    costs = pictures.cost(steps, of, wrt or None, inputs)
    print(table_as_text((costs.evaluation if lines else costs).table(), 1, columns_here()))


@of_a_list(f"{WRT}\n--plot  FILE.png  Draw the errors, with logarithmic axes.")
def differences(steps: WengertList, inputs: Known, of: str, wrt, plot) -> None:
    """Print the errors of one- and two-sided difference quotients for several steps."""
    errors = difference_errors(steps, of, wrt or None, inputs)
    if plot:
        errors.plot(plot)
    print(errors)


def one_input(steps: WengertList) -> tuple[str, ...]:
    """The inputs of the list. XManError where it has none."""
    if not steps.inputs:
        raise XManError("the list has no inputs: there is nothing to differentiate by")
    return steps.inputs
