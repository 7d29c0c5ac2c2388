"""Why a number is what it is: `why`."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

import ops
from ops import walk
from ops.causes import EVERYWHERE, SIGNS, Contribution, Node, Search, sign_of
from ops.kinks import MARKS, Masked
from ops.silence import silent
from ops.writer import Place

from ..engines.door import Compiled
from ..errors import XManError, nearest
from ..functions import grad, value_and_grad
from ..functions.trace import list_at
from ..functions.tracer import PlacedTape
from ..interpreters import backprop, eval, forward
from ..interpreters.context import seeds, still_in, varies, without_roots
from ..jitted import jit
from ..passes import unroll
from ..passes.differentiate import ending
from ..wengert import Steps, WengertList, all_registers, checked_list, needed
from .words import IS, Wording, at_entry, in_words


class Reason(NamedTuple):
    """Why a number is what it is; it prints itself, and is false where nothing is wrong.

    sentence: what is wrong, and the line that made it so. sign: "NaN", "infinite", "huge", "zero", "vanished"
    or "". line: the number of that line (0: no line's). place: its file and line, where it is known. chain:
    the way to it from the number asked for, a sentence each.
    """
    sentence: str
    sign: str = ""
    line: int = 0
    place: Place | None = None
    chain: tuple[str, ...] = ()

    def __str__(self) -> str: return self.sentence
    def __bool__(self) -> bool: return bool(self.sign)

    __repr__ = __str__


def why(expression: Steps | Callable | Compiled, *arguments: Any, register: str | None = None,
        entry: tuple[int, ...] | None = None) -> Reason:
    """The reason why a number is NaN, infinite, zero, huge or vanished: one sentence, with the line.

        >>> why([("s", "dot", ("x", "x")), ("n", "sqrt", ("s",))], {"x": np.zeros(2)}, "dn_dx")
        dn_dx is NaN at [0]: line 2, n = sqrt(s), has an infinite slope by s at s = 0

    expression: a list or a program of `compile`, whose arguments are its values by name and the register; or
        a function, with the arguments to call it with, `grad` of one and `jit` too.
    register: a register of the list, or a derivative as `gradient` and `tangent` call it, dloss_dx and y_dot
        (the values may hold directions x_dot). None: the last line's, or the results of a function, and their
        derivatives by each input.
    entry: the index of the entry that is meant (None: the first that is wrong).

    Of zeros and vanished numbers, less than 1e-10, an array is wrong if it has no others; above 1e10 a number
    is huge. What a `where` or an index keeps out is no reason. Raises XManError as `eval`, `backprop` and
    `trace` do, and for a name that the list does not have.
    """
    of_list = not callable(expression) or isinstance(expression, Compiled)
    if not of_list:
        steps, values = list_of_call(expression, arguments)
    else:
        if not 1 <= len(arguments) <= 2:
            raise XManError("why takes a list, its values and a register, why(steps, values, 'loss'); or a "
                            "function and its arguments")
        steps = checked_list(getattr(expression, "steps", expression), ops.G, ops.DG)
        values, register = arguments[0], (*arguments[1:], register)[0]
    if not steps:
        raise XManError("the list is empty: there is nothing to explain")
    if register is not None:
        numbers, name = numbers_called(steps, values, register)
        return numbers.reason(register, name, entry)
    answers = [numbers.reason(label, name, None, signs) for numbers, label, name, signs in
               asked_of_itself(steps, [steps[-1][0]] if of_list else steps.outputs, eval(steps, values))]
    sound = f"nothing is wrong: {', '.join(answer.sentence for answer in answers[:4])}"
    return min(filter(None, answers), key=lambda answer: [*SIGNS].index(answer.sign), default=Reason(sound))


def list_of_call(fn: Callable, arguments: tuple) -> tuple[WengertList, dict[str, Any]]:
    """The list of fn at these arguments, with places, and the values of its inputs. Of `jit`, and of the
    gradient of a function, that of the function."""
    make, settings = getattr(fn, "recipe", (None, ()))
    if make is jit:
        return list_of_call(fn.__wrapped__, arguments)
    if make in (grad, value_and_grad):
        fn, _, has_aux = settings
        fn = functools.wraps(fn)(lambda *args, of=fn: of(*args)[0]) if has_aux else fn
    return list_at(fn, arguments, {}, PlacedTape(exact=False))


WRITTEN_OUT = 10_000  # lines of a loop that are written out to look into it


class Numbers(NamedTuple):
    """Numbers of one kind by register, the results of an interpreter; the values; and, where they are wrong,
    the words of a search in them."""
    kind: str
    results: Mapping[str, Any]
    values: Mapping[str, Any]
    of_search: Callable[[], Wording]

    def reason(self, label: str, name: str, entry: tuple | None, signs: Iterable[str] = SIGNS) -> Reason:
        """Why the number called `label` is what it is; it is wrong if it has one of the signs."""
        x = self.results[name] if name in self.results else np.zeros(np.shape(self.values[name]))[()]
        if entry is not None and (len(entry) != np.ndim(x) or not all(-n <= i < n for i, n in
                                                                      zip(entry, np.shape(x), strict=True))):
            raise XManError(f"entry is {entry!r}, and {label} has shape {np.shape(x)}")
        if not (sign := sign_of(x, entry, signs)):
            return Reason(f"{label} {in_words(x if entry is None else x[entry])}")
        if entry is None and sign not in EVERYWHERE and np.ndim(x) and isinstance(x, np.ndarray):
            entry = tuple(map(int, np.argwhere(SIGNS[sign](x))[0]))
        head = f"{label} is {IS[sign]}{at_entry(entry)}"
        node, words = Node(self.kind, name), self.of_search()
        search = words.search
        if self.kind != "value" and sign in ("huge", "vanished") and (way := search.factors(node)):
            choose, word = (max, "most") if sign == "huge" else (min, "least")
            term, most = choose(way, key=lambda pair: pair[1])
            chain = [f"{words.line(factor.line[0])}: times {size:.3g}" for factor, size in way]
            sentence = (f"of the {len(way)} lines that multiply it, {words.line(term.line[0])},"
                        f"{words.arguments(term, None)}, does so by the {word}, {most:.3g}")
        else:
            way = search.chain(node, sign, entry)
            chain, sentence = words.steps(way), words.sentence(way)
            # an input may be meant to be infinite, as a mask is, or 0; the line that reads it may not
            term = way[-1].term
            if not term and way[-1].sign in ("infinite", "zero") and way[1:]:
                term = way[-2].term
            if term and (written_out := without_loops(words.list, term, self.values)):
                inside = why(written_out, self.values, label, entry=entry)
                chain += inside.chain
                sentence += f"; written out, {inside.sentence.partition(': ')[2]}"
        dst, places = term.line[0].rstrip(MARKS) if term else "", words.list.places
        line = words.numbers.get(dst, 0)
        return Reason(f"{head}: {sentence}", sign, line, places.get(dst), tuple(chain))


def without_loops(steps: WengertList, term: Contribution, values: Mapping[str, Any]) -> WengertList | None:
    """The list with its loops written out, if the reason is within a short one, and nothing loops then."""
    _, op, args = term.line
    if op not in ("scan", "call"):
        return None
    if op == "scan":
        slices = values[args[3]][args[1]:args[1] + args[2]]
        if max(len(x) if np.ndim(x) else x for x in slices) * len(args[0][3]) > WRITTEN_OUT:
            return None
    written_out = unroll(steps, {x: values[x] for x in steps.inputs})
    return written_out if not {"scan", "call"} & {op for _, op, _ in written_out} else None


def all_values(steps: WengertList, values: Mapping[str, Any]) -> Numbers:
    words = functools.cache(lambda: Wording(steps, Search(steps, values), ""))
    return Numbers("value", values, values, words)


def adjoints_of(steps: WengertList, values: Mapping[str, Any], of: str, seed: Any = 1.0) -> Numbers:
    """The adjoints of all registers; the search is in those of the walk with masks."""
    start, still = {of: seed}, still_in(steps, values, values)

    @functools.cache
    @silent
    def words() -> Wording:
        lines, primals, _ = without_roots(steps, values, ops.DG)
        masked = {x: Masked.seed(d, seed) for x, d in seeds(start, values, "delta").items()}
        deltas = walk.back(lines, primals, masked, ops.DG, still, keep=True)
        return Wording(steps, Search(needed(lines, [of]), primals, deltas), of)
    return Numbers("adjoint", backprop(steps, values, **start), values, words)


def tangents_of(steps: WengertList, values: Mapping[str, Any], directions: Mapping[str, Any]) -> Numbers:
    """The tangents of all registers in these directions."""

    @functools.cache
    @silent
    def words() -> Wording:
        lines, primals, _ = without_roots(steps, values, ops.TG)
        starts = seeds(directions, values, "tangent")
        masked = {x: Masked.seed(t, directions[x], True) for x, t in starts.items()}
        return Wording(steps, Search(lines, primals, tangents=walk.forth(lines, primals, masked)), "")
    return Numbers("tangent", forward(steps, values, directions), values, words)


def numbers_called(steps: WengertList, values: Mapping[str, Any], register: str) -> tuple[Numbers, str]:
    """(the numbers among which is the one called so, its register): a value, dloss_dx, or y_dot."""
    if steps.differentiates:  # of the list of a gradient, the list that it differentiates says more
        inner, of, _, seed, _ = steps.differentiates
        if (name := register.removeprefix(f"d{of}_d")) != register and name in all_registers(inner):
            return adjoints_of(inner, eval(inner, values), of, values[seed] if seed else 1.0), name
    names = all_registers(steps)
    if register in names:
        return all_values(steps, eval(steps, values)), register
    for of in names:
        if register.startswith(f"d{of}_d") and (name := register.removeprefix(f"d{of}_d")) in names:
            return adjoints_of(steps, eval(steps, values), of), name
    dot = ending(steps)
    if (name := register.removesuffix(dot)) in names and name != register:
        points = eval(steps, values)
        directions = {x: values[x + dot] for x in steps.inputs if x + dot in values} or {
            x: 1.0 for x in steps.inputs if varies(points[x])}
        return tangents_of(steps, points, directions), name
    raise XManError(f"register names {register!r}, which the list does not have, nor d…_d… or …{dot} of its "
                    f"registers{nearest(register, names)}")


def asked_of_itself(steps: WengertList, outputs: Iterable[str],
                    values: Mapping[str, Any]) -> Iterator[tuple[Numbers, str, str, Iterable]]:
    """The outputs, which may be zero or of any size, and then their derivatives: their numbers, what each is
    called, its register, and the signs that are wrong."""
    numbers = all_values(steps, values)
    for y in outputs:
        yield numbers, y, y, ("NaN", "infinite")
    for y in outputs:
        if varies(values[y]):
            numbers = adjoints_of(steps, values, y)
            for x in steps.inputs:
                if varies(values[x]):
                    yield numbers, f"d{y}_d{x}", x, SIGNS
