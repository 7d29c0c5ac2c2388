"""Why a number is what it is: `why`."""
from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterable, Mapping
from traceback import walk_tb
from typing import Any, NamedTuple

import numpy as np

import ops
from ops import walk
from ops.causes import EVERYWHERE, SIGNS, Contribution, Node, Search, sign_of
from ops.kinks import MARKS, Masked
from ops.loops.rules import counted
from ops.silence import silent
from ops.writer import LIBRARIES, Place

from ..engines.door import Compiled
from ..errors import XManError, nearest
from ..functions import grad, value_and_grad
from ..functions.call import name_of
from ..functions.trace import list_at
from ..functions.tracer import PlacedTape
from ..interpreters import backprop, eval, forward
from ..interpreters.context import seeds, still_in, varies, without_roots
from ..jitted import jit
from ..passes import unroll
from ..passes.differentiate import ending
from ..wengert import Steps, WengertList, all_registers, checked_list, known_registers, needed, temporaries
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
        entry: tuple[int, ...] | None = None, of: str | None = None) -> Reason:
    """The reason why a number is NaN, infinite, zero, huge or vanished: one sentence, with the line.

        >>> why([("s", "dot", ("x", "x")), ("n", "sqrt", ("s",))], {"x": np.zeros(2)}, "dn_dx")
        dn_dx is NaN at [0]: line 2, n = sqrt(s), has an infinite slope by s at s = 0

    expression: a list or a program of `compile`, whose arguments are its values by name and the register; or
        a function, with the arguments to call it with, `grad` of one and `jit` too.
    register: a register of the list, or a derivative as `gradient` and `tangent` call it, dloss_dx and y_dot
        (the values hold directions x_dot). None: the last line's, or the results of a function, and their
        derivatives by each input.
    entry: the index of the entry that is meant (None: the first that is wrong).
    of: the register of a list in place of the last line's.

    Of zeros and vanished numbers, less than 1e-10, an array is wrong if it has no others; above 1e10 a number
    is huge. What a `where` or an index keeps out is no reason. Raises XManError as `eval`, `backprop` and
    `trace` do, and for a name that the list does not have.
    """
    if callable(expression) and not isinstance(expression, Compiled):
        steps, values = list_of_call(expression, arguments)
        results = steps.outputs
    elif 1 <= len(arguments) <= 2:
        steps = checked_list(getattr(expression, "steps", expression), ops.G, ops.DG)
        values, register = arguments[0], (*arguments[1:], register)[0]
        results = tuple(dst for dst, _, _ in steps[-1:])
        if of is not None:
            results = known_registers(steps, of, "of", one=True)
    else:
        raise XManError("why takes a list, its values and a register, why(steps, values, 'loss'); or a "
                        "function and its arguments")
    if not results:
        raise XManError("the list is empty: there is nothing to explain")
    if register is not None:
        numbers, name = numbers_called(steps, values, register)
        return numbers.reason(register, name, entry)
    # a result may be zero and of any size; the derivatives of one that is NaN are of no interest
    unread, values = values.keys() - {*steps.inputs}, eval(steps, values)
    answers = [Numbers(steps, values).reason(y, y, None, ("NaN", "infinite")) for y in results]
    for y in filter(lambda y: varies(values[y]), () if any(answers) else results):
        numbers = Numbers(steps, values, "adjoint", {y: 1.0})
        answers += [numbers.reason(f"d{y}_d{x}", x, None) for x in steps.inputs if varies(values[x])]
        answers += [Reason(f"d{y}_d{x} is 0: no line reads {x}", "zero") for x in sorted(unread)]
    sound = f"nothing is wrong: {', '.join(answer.sentence for answer in answers[:4])}"
    return min(filter(None, answers), key=lambda answer: [*SIGNS].index(answer.sign), default=Reason(sound))


def list_of_call(fn: Callable, arguments: tuple) -> tuple[WengertList, dict[str, Any]]:
    """The list of fn at these arguments, with places, and the values of its inputs. Of `jit`, and of the
    gradient of a function, that of the function."""
    make, settings = getattr(fn, "recipe", (None, ()))
    if make is jit:
        return list_of_call(fn.__wrapped__, arguments)
    if make in (grad, value_and_grad):
        fn, _, has_aux, *_ = settings
        fn = functools.wraps(fn)(lambda *args, of=fn: of(*args)[0]) if has_aux else fn
    try:
        return list_at(fn, arguments, {}, PlacedTape(exact=False))
    except np.linalg.LinAlgError as error:
        file, line = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)
                      if frame.f_globals["__name__"].partition(".")[0] not in LIBRARIES][-1]
        place = f"{os.path.basename(file)}:{line}"
        raise XManError(f"{name_of(fn)} ends with an error, in {place}: {error}") from error


def numbers_called(steps: WengertList, values: Mapping[str, Any], register: str) -> tuple[Numbers, str]:
    """(the numbers among which is the one called so, its register): a value, dloss_dx, or y_dot."""
    names = all_registers(steps)
    pairs = [(steps, of, None) for of in names if register not in names]
    if steps.differentiates:  # of the list of a gradient, the list that it differentiates says more
        inner, of, _, seed, _ = steps.differentiates
        pairs.insert(0, (inner, of, seed))
    for inner, of, seed in pairs:
        if (name := register.removeprefix(f"d{of}_d")) != register and name in all_registers(inner):
            return Numbers(inner, eval(inner, values), "adjoint", {of: values[seed] if seed else 1.0}), name
    points, dot = eval(steps, values), ending(steps)
    if register in names:
        return Numbers(steps, points), register
    if (name := register.removesuffix(dot)) in names and name != register:
        directions = {x: values[x + dot] for x in steps.inputs if x + dot in values}
        return Numbers(steps, points, "tangent", directions), name
    raise XManError(f"register names {register!r}, which the list does not have, nor d…_d… or …{dot} of its "
                    f"registers{nearest(register, names)}")


class Numbers:
    """The numbers of a kind by register: values, or the adjoints or tangents that begin with `starts`."""

    def __init__(self, steps: WengertList, values: Mapping[str, Any], kind: str = "value",
                 starts: Mapping[str, Any] = {}):
        self.steps, self.values, self.kind, self.starts = steps, values, kind, starts
        self.results = (backprop(steps, values, **starts) if kind == "adjoint" else
                        forward(steps, values, starts) if kind == "tangent" else values)

    @functools.cached_property
    @silent
    def words(self) -> Wording:
        """The words of a search in these numbers; derivatives are those of the walk with masks."""
        lines, primals, kind, starts = self.steps, self.values, self.kind, self.starts
        masked = {x: Masked.seed(d, starts[x], kind == "tangent")
                  for x, d in (seeds(starts, primals, kind) if starts else {}).items()}
        if kind == "adjoint":
            still = still_in(lines, primals, primals)
            lines, primals, _ = without_roots(needed(lines, starts), primals, ops.DG)
            walk.back(lines, primals, masked, ops.DG, still, keep=True)
        elif kind == "tangent":
            lines, primals, _ = without_roots(lines, primals, ops.TG)
            walk.forth(lines, primals, masked)
        return Wording(self.steps, Search(lines, primals, {kind: masked}), next(iter(starts), ""))

    def reason(self, label: str, name: str, entry: tuple | None, signs: Iterable[str] = SIGNS) -> Reason:
        """Why the number called `label` is what it is; it is wrong if it has one of the signs."""
        x = self.results[name] if name in self.results else np.zeros(np.shape(self.values[name]))[()]
        if entry is not None and entry not in np.ndindex(np.shape(x)):
            raise XManError(f"entry is {entry!r}, and {label} has shape {np.shape(x)}")
        if not (sign := sign_of(x, entry, signs)):
            return Reason(f"{label} {in_words(x if entry is None else x[entry])}")
        if entry is None and sign not in EVERYWHERE and isinstance(x, np.ndarray):
            entry = tuple(map(int, np.argwhere(SIGNS[sign](x))[0]))
        node, words = Node(self.kind, name), self.words
        if self.kind != "value" and name not in self.starts and sign in ("huge", "vanished"):
            term, chain, sentence = words.factors(node, sign)
        else:
            term, chain, sentence = words.way(words.search.chain(node, sign, entry))
            if term and (written_out := without_loops(self.steps, term, self.values)):
                inside = why(written_out, self.values, label, entry=entry)
                chain += inside.chain
                sentence += f"; written out, {inside.sentence.partition(': ')[2]}"
        dst = term.line[0].rstrip(MARKS) if term else ""
        head, line = f"{label} is {IS[sign]}{at_entry(entry)}", words.numbers.get(dst, 0)
        return Reason(f"{head}: {sentence}", sign, line, self.steps.places.get(dst), tuple(chain))


WRITTEN_OUT = 10_000  # the most lines of a loop that is written out to look into it


def without_loops(steps: WengertList, term: Contribution, values: Mapping[str, Any]) -> WengertList | None:
    """The list with its loops written out, if the reason is within a short one."""
    dst, op, args = term.line
    if op in ("scan", "while_loop"):
        slices = values[args[3]][args[1]:args[1] + args[2]] if op == "scan" else values[dst][-1:]
        longest = max(len(x) if np.ndim(x) else x for x in slices)
        if longest * len(args[op == "while_loop"][3]) > WRITTEN_OUT:
            return None
    if op not in ops.loops.ROWS:
        return None
    written_out = unroll(decided(steps, values), {x: values[x] for x in steps.inputs})
    return written_out if written_out != steps else None


def decided(steps: WengertList, values: Mapping[str, Any]) -> WengertList:
    """The list with the branch that was taken in place of each `cond`, and with a scan of as many steps as it
    made in place of each `while_loop`."""
    lines, names = [], temporaries({*all_registers(steps)})
    for dst, op, args in steps:
        if op == "cond":
            c, yes, no, b = args
            op, args = "call", (yes if (values[c] if isinstance(c, str) else c) else no, b)
        elif op == "while_loop":
            _, function, k, b, *_ = args
            entries, steps_made = list(itertools.islice(names, len(function[2]))), int(values[dst][-1])
            lines += [(x, "item", (b, i)) for i, x in enumerate(entries)]
            lines.append((z := next(names), "bundle", (*entries[:k], steps_made, *entries[k:])))
            op, args = "scan", (counted(function, k), k, 1, z)
        lines.append((dst, op, args))
    return WengertList(lines)
