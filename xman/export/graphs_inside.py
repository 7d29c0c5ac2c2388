"""Nodes of ONNX that have graphs inside, as lines that apply functions: Loop is `scan` where it goes on to its
last step, and else `while_loop`; Scan is `scan`, and If is `cond`."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ops import Bundle

from ..errors import XManError
from .meanings import within_bounds
from .nodes import END


def items_of(reading: Any, op: str, args: Sequence, entries: Sequence, found: Sequence) -> list:
    """What op gives of the arguments and the bundle of entries. found: examples of it."""
    line = reading.writer.line
    entries = [a.item() if isinstance(a, np.ndarray) and not a.ndim and a.dtype in (float, int, bool)
               else line("alias", [a], a) if isinstance(a, np.ndarray) else a for a in entries]
    found = Bundle(getattr(a, "value", a) for a in found)
    made = line(op, (*args, line("bundle", entries, Bundle(getattr(a, "value", a) for a in entries))), found)
    return [line("item", (made, i), x) for i, x in enumerate(found)]


def same_shapes(carries: Sequence, results: Sequence) -> None:
    for a, b in zip(carries, results, strict=False):
        if np.shape(a) != np.shape(b):
            raise XManError(f"its carry of shape {np.shape(a)} is handed on with shape {np.shape(b)}")


def scanned(reading: Any, body: Any, carries: Sequence, slices: Sequence, reverse: bool = False) -> list:
    """The results of a scan of the graph."""
    k, m, x = len(carries), len(slices), slices[0]
    same_shapes(carries, body.results)
    n = len(x.value) if np.ndim(x) else int(getattr(x, "value", x)) or int(hasattr(x, "value"))
    stacked = [np.broadcast_to(y, within_bounds((n, *np.shape(y))))
               for y in (getattr(y, "value", y) for y in body.results[k:])]
    results = items_of(reading, "scan", (body.function("step", body.results), k, m),
                       [*carries, *slices, *body.outside], [*body.results[:k], *stacked])
    if reverse:
        line = reading.writer.lines[-1 - len(results)]
        reading.writer.lines[-1 - len(results)] = line._replace(args=(*line.args, True))
    return results


def loop(reading: Any, most: Any, holds: Any, *carries: Any, body: Any) -> list:
    """As many steps as `most` says, or as long as a condition holds, which is looked at before each."""
    first = [np.int64(0), *carries]
    endless = most is None
    if holds is None or isinstance(holds, np.ndarray) and holds.all():
        inside = reading.inside(body, [first[0], np.array(True), *carries], known=[1])
        goes_on, *inside.results = inside.results
        if isinstance(goes_on, np.ndarray) and goes_on.all():
            if endless:
                raise XManError("it has no end: neither a number of steps nor a condition")
            count, *rest = inside.parameters
            inside.parameters = [*rest, count]
            return scanned(reading, inside, carries, [np.ravel(most)[0] if isinstance(most, np.ndarray) else most])
    holds = np.array(True) if holds is None else holds
    inside = reading.inside(body, [first[0], np.array(True), *carries])
    count, goes_on, *_ = inside.parameters
    if len(inside.results) > len(inside.parameters) - 1:
        raise XManError("it stacks what its steps give and ends on a condition; a list has one or the other")
    same_shapes([first[0], *carries], inside.results)
    results = [count + 1, *inside.results]
    step = inside.function("step", results)
    words = (*step[2], *["most"] * (limited := hasattr(most, "value")))
    limit = "most" if limited else END if endless else int(np.ravel(most)[0])
    test = ("def", "test", words, (("more", "less", (count.name, limit)),
                                   ("goes_on", "logical_and", (goes_on.name, "more"))), ("goes_on",))
    step = (*step[:2], words, *step[3:])
    entries = [np.array(0), holds, *carries, *inside.outside, *[most] * limited]
    return items_of(reading, "while_loop", (test, step, len(results)), entries, results)[2:]


def scan(reading: Any, *args: Any, body: Any, num_scan_inputs: int, **named: Any) -> list:
    """The graph along the leading axis of its last num_scan_inputs arguments."""
    ways = {*named.pop("scan_input_directions", ()), *named.pop("scan_output_directions", ())} or {0}
    axes = {n for name in ("scan_input_axes", "scan_output_axes") for n in named.pop(name, ())}
    if axes - {0} or len(ways) > 1 or named:
        raise XManError("a scan goes along the leading axes, all of them one way")
    carries, slices = args[:len(args) - num_scan_inputs], args[len(args) - num_scan_inputs:]
    inside = reading.inside(body, [*carries, *[np.zeros_like(getattr(x, "value", x)[0]) for x in slices]])
    return scanned(reading, inside, carries, slices, ways == {1})


def branches(reading: Any, condition: Any, then_branch: Any, else_branch: Any) -> list:
    """What one of the two graphs gives."""
    both = [reading.inside(graph, []) for graph in (then_branch, else_branch)]
    outside = list(dict.fromkeys(a for inside in both for a in inside.outside))
    yes, no = [inside.function(name, inside.results, outside)
               for name, inside in zip(("yes", "no"), both, strict=True)]
    same_shapes(both[0].results, both[1].results)
    return items_of(reading, "cond", (condition, yes, no), outside, both[0].results)


GRAPHS: dict[str, Callable] = {"Loop": loop, "Scan": scan, "If": branches}
