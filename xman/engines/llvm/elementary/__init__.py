"""The text of the functions that a program calls by the name of an operator."""
from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..arithmetic import FORMULAS, Number
from ..function import Function
from . import formulas, powers

FUSED = "contract "
FUNCTIONS = vars(powers) | vars(formulas) | {"both": powers.sin_and_cos}
WRITTEN = {op: FUNCTIONS[op] for op in (*FORMULAS, "both")}
# the most calls of formulas that are inlined, and formulas that count as several: more would take LLVM long
INLINED, HEAVY = 24, {"power": 4}


@functools.cache
def pairs_in_vectors() -> bool:
    """Whether LLVM makes vectors of a loop with a call that gives two numbers, as version 21 does."""
    from llvmlite import binding
    return binding.llvm_version_info >= (21,)


def one_of_both(op: str, x: Number) -> Number:
    """sin or cos of x, by a call that gives both: LLVM then makes one call if both are needed."""
    function, pair = x.by, f"{{{x.type}, {x.type}}}"
    function.declare(("both", x.dtype.name))
    values = function.do(f"call {pair} @xman_both_{x.dtype.name}({x})")
    return x.do(f"extractvalue {pair} {values}, {op == 'cos':d}")


def definitions(declared: Iterable[str | tuple[str, str]], callers: Iterable[str]) -> list[str]:
    """The text of all that a program declares. Formulas, (operator, type), are inlined into loops, or are
    shared functions for one number and for several. callers: the text that calls them.

    An attribute tells LLVM which shared function is for how many numbers.
    """
    called = [x for text in callers for x in re.findall(r"@xman_(\w+)_float", text)]
    few = sum(HEAVY.get(op, 1) for op in called) <= INLINED
    text, names = [x for x in declared if isinstance(x, str)], []
    for op, kind in (x for x in declared if isinstance(x, tuple)):
        if few and WRITTEN[op] not in powers.FAR:  # these have a branch, which no loop of vectors has
            text += written(op, kind, 1, "alwaysinline")
            continue
        name, args = f"xman_{op}_{kind}", "v" * WRITTEN[op].__code__.co_argcount
        wide = (4, 8) if kind == "float64" else (4, 8, 16)
        several = ",".join(f"_ZGV_LLVM_N{n}{args}_{name}({name}_{n})" for n in wide)
        text += written(op, kind, 1, 'noinline nounwind willreturn memory(none) '
                                    f'"vector-function-abi-variant"="{several}"')
        for n in wide:
            text += written(op, kind, n, "noinline")
        names += [f"ptr @{name}_{n}" for n in wide]
    if names:
        text.append(f"@llvm.compiler.used = appending global [{len(names)} x ptr] [{', '.join(names)}], "
                    'section "llvm.metadata"')
    return [*dict.fromkeys(text)]


@functools.cache
def written(op: str, kind: str, lanes: int, attributes: str) -> list[str]:
    """The text of a function for one of the formulas, after its declarations."""
    function, formula = Function({}), WRITTEN[op]
    function.flags = FUSED
    args = [Number(function, f"%x{k}", np.dtype(kind), lanes) for k in range(formula.__code__.co_argcount)]
    gives = f"{{{args[0].type}, {args[0].type}}}" if op == "both" else args[0].type

    def give(y: Any, *second: Any) -> None:
        for z in second:
            one = function.do(f"insertvalue {gives} undef, {y}, 0")
            y = f"{gives} {function.do(f'insertvalue {gives} {one}, {z}, 1')}"
        function.put(f"ret {y}")

    results = [*formula(*args)] if op == "both" else [formula(*args)]
    if formula in powers.FAR:
        near = abs(args[0]) < powers.NEAR
        every = f"icmp eq i{lanes} {function.do(f'bitcast {near} to i{lanes}')}, -1"
        function.put(f"br i1 {function.do(every)}, label %near, label %far")
        function.begin("near")
        give(*results)
        function.begin("far")
        results = [formulas.where(near, y, args[0].call(name))
                 for y, name in zip(results, powers.FAR[formula], strict=True)]
    give(*results)
    name = f"xman_{op}_{kind}" + f"_{lanes}" * (lanes > 1)
    head = f"define internal {gives} @{name}({', '.join(map(str, args))}) {attributes}"
    return [*function.declared, function.text(head)]
