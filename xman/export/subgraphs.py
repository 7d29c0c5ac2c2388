"""Lines that apply functions become ONNX's nodes Loop and If, which have graphs inside; and back.

A graph inside sees the names around it, so it takes carries alone. A Loop that goes on to its last step is
read as `scan`, and any other as `while_loop`; Scan is read as `scan`, and If as `cond`.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ops import Bundle, G
from ops.loops.bodies import Function

from ..errors import XManError
from ..interpreters import eval
from .meanings import operators, within_bounds
from .nodes import END, Nodes, OnnxArray


def function_rows(xp: Nodes) -> dict[str, Callable]:
    """The rows that apply functions, whose lines are written through xp."""
    like = xp.like

    def written(function: Function, args: Sequence) -> list[OnnxArray]:
        """The results of the function's lines, written where we are."""
        name, parameters, lines, results = function[1:]
        arrays = dict(zip(parameters, args, strict=True))
        examples = dict(zip(parameters, examples_of(args), strict=True))
        try:
            xp.write(enumerate(lines, 1), arrays, eval(lines, examples) if lines else {})
        except XManError as error:
            raise XManError(f"in {name}, {error}") from error
        return [xp.array(arrays[r]) for r in results]

    def inside(start: Callable[[], Sequence], *examples: np.ndarray) -> tuple[Any, list[OnnxArray]]:
        """The graph of the results of start(*inputs), for inputs like those given; and these results."""
        around, xp.written = xp.written, []
        inputs = [OnnxArray(xp, f"given/{next(xp.counter)}", like) for like in examples]
        results = [xp.node("Identity", (a := xp.array(r),), a.example) for r in start(*inputs)]
        kinds = [{a.name: (a.dtype, [n if xp.sized else None for n in a.shape]) for a in arrays}
                 for arrays in (inputs, results)]
        graph, xp.written = xp.graph(*kinds), around
        return graph, results

    def loop(limit: Any, holds: Any, carries: Sequence, step: Callable, values: Sequence) -> list[OnnxArray]:
        body, _ = inside(step, np.array(0), np.array(True), *[c.example for c in carries])
        return xp.results("Loop", (xp.array(limit), xp.array(holds), *carries), values, body=body)

    def scan(function, carries, slices, args, reverse=False):
        k, m = carries, carries + slices
        examples = examples_of(args)
        values = G["scan"](function, k, slices, examples, reverse)
        if any(isinstance(a, OnnxArray) and not a.ndim and a.name not in xp.constants for a in args[k:m]):
            raise XManError("the number of its steps is computed, or an input; give it as a literal")
        start = [*map(like, args[:k], values)]
        in_order = lambda a: a[(slice(None, None, -1),)] if reverse else a
        n = len(examples[k]) if np.ndim(examples[k]) else int(examples[k])
        if not n:
            return Bundle([*start, *map(xp.array, values[k:])])

        # not a Scan, which ONNX Runtime refuses for no steps
        sequences = [in_order(xp.array(a)) if np.ndim(a) else None for a in args[k:m]]

        def step(t, holds, *carry):
            place = xp.node("Sub", (n - 1, t), n - 1) if reverse and None in sequences else t
            xs = [place if a is None else xp.take(a, t, 0) for a in sequences]
            results = written(function, (*carry, *xs, *args[m:]))
            return holds, *map(like, results[:k], values), *results[k:]
        first_slices = [a[:1] if np.ndim(a) else 1 for a in examples[k:m]]
        first_step = G["scan"](function, k, slices, Bundle([*examples[:k], *first_slices, *examples[m:]]))
        if [np.shape(a)[1:] for a in first_step[k:]] != [np.shape(a)[1:] for a in values[k:]]:
            raise XManError(f"the first step of {function[1]} gives smaller arrays than the others; "
                            "broadcast its carry before the loop")
        loop_results = loop(n, True, start, step, values)
        # the reference evaluator joins the results of steps along the first axis, but runtimes stack them
        stacked = [xp.reshape(y, np.shape(v)) for y, v in zip(loop_results[k:], values[k:], strict=True)]
        return Bundle([*loop_results[:k], *map(in_order, stacked)])

    def while_loop(test, function, carries, args, limit=None):
        examples = examples_of(args)
        *values, n = G["while_loop"](test, function, carries, examples, limit)
        constants = args[carries:]

        def truth(carry: Sequence[OnnxArray]) -> OnnxArray:
            holds, = written(test, (*carry, *constants))
            return like(holds, np.array(bool(holds.example)))

        def step(t, holds, *carry):
            stepped = [*map(like, written(function, (*carry[:-1], *constants)), values)]
            return truth(stepped), *stepped, xp.add(carry[-1], xp.asarray(1))
        start = [*map(like, args[:carries], values)]
        limit = END if limit is None else limit
        return Bundle(loop(limit, truth(start), [*start, xp.array(0)], step, [*values, np.array(n)]))

    def cond(c, yes, no, args):
        graphs, ends = zip(*(inside(partial(written, function, args)) for function in (yes, no)), strict=True)
        for a, b in zip(*ends, strict=True):
            if (a.shape, a.dtype) != (b.shape, b.dtype):
                raise XManError(f"{yes[1]} gives {a.dtype} of shape {a.shape} and {no[1]} {b.dtype} of shape "
                                f"{b.shape}, and the branches of If are alike")
        c = xp.array(c)
        values = [r.example for r in ends[not c.example]]
        c = like(c, np.array(bool(c.example)))
        return Bundle(xp.results("If", (c,), values, then_branch=graphs[0], else_branch=graphs[1]))

    rows = {"bundle": lambda *arrays: Bundle(arrays), "item": lambda b, i: b[i]}
    rows["call"] = lambda function, args: Bundle(written(function, args))
    return rows | {"scan": scan, "cond": cond, "while_loop": while_loop}


def examples_of(arrays: Iterable) -> Bundle:
    return Bundle(a.example[()] if isinstance(a, OnnxArray) else a for a in arrays)


# ---- reading -----------------------------------------------------------------------------------------------

def results_of_line(reading: Any, op: str, args: Sequence, entries: Sequence, examples: Sequence,
                    *after: Any) -> list:
    """The results of op for the arguments, the bundle of entries and `after`. examples: of these."""
    line = reading.writer.line
    plain = lambda a: not a.ndim and a.dtype in (float, int, bool)
    entries = [a if not isinstance(a, np.ndarray) else a.item() if plain(a) else line("alias", [a], a)
               for a in entries]
    examples = Bundle(getattr(a, "value", a) for a in examples)
    bundle = line("bundle", entries, Bundle(getattr(a, "value", a) for a in entries))
    result_bundle = line(op, (*args, bundle, *after), examples)
    return [line("item", (result_bundle, i), x) for i, x in enumerate(examples)]


def same_shapes(carries: Sequence, results: Sequence) -> None:
    for a, b in zip(carries, results, strict=False):
        if np.shape(a) != np.shape(b):
            raise XManError(f"its carry of shape {np.shape(a)} is handed on with shape {np.shape(b)}")


def graph_scan(reading: Any, body: Any, carries: Sequence, slices: Sequence, reverse: bool = False) -> list:
    k, m, x = len(carries), len(slices), slices[0]
    same_shapes(carries, body.results)
    n = len(x.value) if np.ndim(x) else int(getattr(x, "value", x)) or int(hasattr(x, "value"))
    rows = [getattr(y, "value", y) for y in body.results[k:]]
    stacked = [np.broadcast_to(y, within_bounds((n, *np.shape(y)))) for y in rows]
    entries, examples = [*carries, *slices, *body.outside], [*body.results[:k], *stacked]
    step = body.function("step", body.results)
    return results_of_line(reading, "scan", (step, k, m), entries, examples, *[True] * reverse)


def loop_node(reading: Any, trip_count: Any, holds: Any, *carries: Any, body: Any) -> list:
    """A Loop: trip_count steps, or as long as a condition holds that is tested before each step."""
    start = [np.int64(0), *carries]
    endless = trip_count is None
    if holds is None or isinstance(holds, np.ndarray) and holds.all():
        inside = reading.inside(body, [start[0], np.array(True), *carries], constants=[1])
        goes_on, *inside.results = inside.results
        if isinstance(goes_on, np.ndarray) and goes_on.all():
            if endless:
                raise XManError("it has no end: neither a number of steps nor a condition")
            counter, *carried = inside.parameters
            inside.parameters = [*carried, counter]
            trip_count = np.ravel(trip_count)[0] if isinstance(trip_count, np.ndarray) else trip_count
            return graph_scan(reading, inside, carries, [trip_count])
    holds = np.array(True) if holds is None else holds
    inside = reading.inside(body, [start[0], np.array(True), *carries])
    counter, goes_on, *_ = inside.parameters
    if len(inside.results) > len(inside.parameters) - 1:
        raise XManError("it stacks what its steps give and ends on a condition; a list has one or the other")
    same_shapes([start[0], *carries], inside.results)
    results = [counter + 1, *inside.results]
    step = inside.function("step", results)
    words = (*step[2], *["most"] * (limited := hasattr(trip_count, "value")))
    limit = "most" if limited else END if endless else int(np.ravel(trip_count)[0])
    lines = ("more", "less", (counter.name, limit)), ("goes_on", "logical_and", (goes_on.name, "more"))
    test = ("def", "test", words, lines, ("goes_on",))
    step = (*step[:2], words, *step[3:])
    entries = [np.array(0), holds, *carries, *inside.outside, *[trip_count] * limited]
    return results_of_line(reading, "while_loop", (test, step, len(results)), entries, results)[2:]


def Scan(reading: Any, *args: Any, body: Any, num_scan_inputs: int, **options: Any) -> list:
    """A Scan: the graph runs along the first axis of its last num_scan_inputs arguments."""
    ways = {*options.pop("scan_input_directions", ()), *options.pop("scan_output_directions", ())} or {0}
    axes = {n for name in ("scan_input_axes", "scan_output_axes") for n in options.pop(name, ())}
    if axes - {0} or len(ways) > 1 or options:
        raise XManError("a scan goes along the leading axes, all of them one way")
    carries, slices = args[:len(args) - num_scan_inputs], args[len(args) - num_scan_inputs:]
    inside = reading.inside(body, [*carries, *[np.zeros_like(getattr(x, "value", x)[0]) for x in slices]])
    return graph_scan(reading, inside, carries, slices, ways == {1})


def If(reading: Any, condition: Any, then_branch: Any, else_branch: Any) -> list:
    """The results of one of the two graphs."""
    then_graph, else_graph = graphs = [reading.inside(graph, []) for graph in (then_branch, else_branch)]
    outside = list(dict.fromkeys(a for inside in graphs for a in inside.outside))
    same_shapes(then_graph.results, else_graph.results)
    branches = [g.function(name, g.results, outside) for name, g in zip(("yes", "no"), graphs, strict=True)]
    return results_of_line(reading, "cond", (condition, *branches), outside, then_graph.results)


GRAPHS = operators(vars()) | {"Loop": loop_node}
