"""The JAX engine: the list in stretches that `jax.jit` compiles, on the device that JAX has.

A line that JAX does not compute as NumPy does (a mask picks how many entries there are, an operator is your
own) runs through the interpreter's function between two stretches. It is no callback out of a stretch, which
would hold up the device just as long, does not work on every one, and could not hand on a sparse matrix.
Where NumPy may raise for a value, a label out of range or a singular matrix,
the interpreter has the last word; labels and indices among the inputs are looked at beforehand.

float64 stays float64 whatever JAX is configured for, and products of matrices are as precise as NumPy's
unless jax_default_matmul_precision says otherwise. Arrays of JAX among the values stay where they are, and
the results are such. XLA may round a·b + c once, and takes numbers too small to be normal for 0.
"""
from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np

import ops

from ...errors import XManError
from ...interpreters.context import numpy_real
from ...wengert import Line, WengertList, all_registers, registers
from .. import interpret
from ..plan import Plan, flops_of
from ..program import Built, Kind, Program, kind_of, program_of
from ..text import Text, stands_in_text
from .loops import APPLIED, operators_on_bundles, together
from .table import (
    CALLED,
    FINITE,
    FUNCTIONS,
    INEXACT,
    LABELS,
    MODULES,
    NAMED,
    OF_TRUTHS,
    STEPWISE,
    casts,
    compares,
    dtypes,
    indices,
)

Kinds = Mapping[str, Kind]
AS_WRITTEN = {"xla_disable_hlo_passes": "algsimp"}  # else XLA makes a/(bc) of (a/b)/c, 0 where bc is beyond the greatest float


class NotForDevices(XManError):
    """What JAX alone does not compute."""


class JaxPart(NamedTuple):
    """Lines that run together, the registers that they read, those that others read of them, and their
    compiled function, None where the operators' own compute them.
    The function gives the registers, and then what has to hold of their values."""
    lines: list[Line]
    reads: list[str]
    gives: list[str]
    call: Callable | None


def build(program: Program) -> Built:
    """The program in JAX. It is compiled here."""
    import jax
    kinds = {x: kind for x, kind in program.kinds.items() if kind.dtype.itemsize <= 8}
    given = {*program.original.inputs, *program.constants}
    text = Text({*given, *(a for dst, _, args in program.steps for a in (dst, *args) if isinstance(a, str))})
    with wide():
        written, why = expressions(program, kinds, text)
        while True:
            text.lines, parts = [], parted(program, why)
            parts = [part if part.lines[0][0] in why
                     else stretch(text, part, written, kinds, program.original.inputs)
                     for part in parts]
            broken = {dst: reason for part in parts if part.call and (reason := why_not(part, kinds))
                      for dst, _, _ in part.lines}
            if not broken:
                break
            why |= broken
        device, = jax.numpy.zeros(()).devices()
    stretches = [[dst for dst, _, _ in part.lines] for part in parts if part.call]
    calls = [f"{dst} = {op}(…) {why[dst]}" for dst, op, _ in program.steps if dst in why]
    plan = Plan("jax", [], 0, sum(kinds[x].bytes for x in program.outputs if x in kinds), [], stretches,
                calls,
                flops_of(program.steps, kinds), f"compiled in {len(stretches)} for {device.platform} "
                                                f"({device.device_kind})")
    return Built(runner(program, kinds, parts), "\n".join([*(f"# {call}" for call in calls), str(text)]),
                 plan)


def traceable(steps: WengertList, values: Mapping[str, Any], outputs: Collection[str]) -> Callable:
    """The list as a function, values -> (outputs, whether NumPy would make the same), for JAX to trace.
    values: of such shapes. NotForDevices where a line is not for it."""
    import jax
    program = program_of(steps, values, tuple(outputs), {})
    with wide():
        text = Text({*all_registers(program.steps)})
        written, why = expressions(program, program.kinds, text)
        if why:
            raise NotForDevices("; ".join(f"{dst} {reason}" for dst, reason in why.items())
                                + ": that takes the interpreter, so leave the mesh away")
        parts = [stretch(text, part, written, program.kinds, ()) for part in parted(program, why)]

    def run(values: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        found, sure = program.constants | dict(values), jax.numpy.array(True)
        for part in parts:
            made = part.call.__wrapped__(*[found[x] for x in part.reads])
            found.update(zip(part.gives, made, strict=False))
            sure = functools.reduce(jax.numpy.logical_and, made[len(part.gives):], sure)
        return {y: found[y] for y in outputs}, sure

    return run


def wide() -> AbstractContextManager:
    """Within it float64 is float64 and int64 is int64; the user's configuration stays."""
    import jax
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64  # before JAX 0.8
    return enable_x64()


# ---- the text ----------------------------------------------------------------------------------------------

def expressions(program: Program, kinds: Kinds, text: Text) -> tuple[dict[str, str], dict[str, str]]:
    """By register, its line as an expression in JAX; and why not, where JAX makes nothing of it,
    or not what NumPy makes."""
    import jax
    written, why = {}, {}
    here = operators_on_bundles(refused, call_text, casts)
    def follow(known: dict[str, Any]) -> None:
        for line in program.steps:
            dst, op, args = line
            try:
                why[dst] = "" if op in APPLIED else refused(line, kinds)
                if not why[dst]:
                    written[dst] = (text.call(op, here[op], *map(text.literal, args)) if op in APPLIED else
                                    call_text(text, op, args, casts(dst, op, args, kinds)))
                    out = builtins.eval(written[dst], dict(text.objects), known)
                    if (type(out) not in (int, tuple)
                        and (out.shape, out.dtype, out.weak_type and out.dtype != bool)
                        != (*kinds[dst][:2], False)):
                        why[dst] = f"is {out.dtype}{list(out.shape)} to JAX"
            except TimeoutError:
                raise  # of a clock
            except Exception as error:  # whatever it is, the operator's own function has the line
                why[dst] = lack_of("JAX", error)
            if dst in kinds or op in APPLIED and not why[dst]:
                known[dst] = jax.numpy.zeros(*kinds[dst][:2]) if why[dst] else out

    given = {*program.original.inputs, *program.constants}
    jax.eval_shape(follow, {x: jax.ShapeDtypeStruct(*kinds[x][:2]) for x in given if x in kinds})
    return written, together(program.steps, {dst: reason for dst, reason in why.items() if reason})


def refused(line: Line, kinds: Kinds) -> str:
    """Why a line is not for JAX; nothing where it may be."""
    dst, op, args = line
    if op not in CALLED and op not in FUNCTIONS:
        return "is not in the table"
    if strange := [a for a in (dst, *args) if isinstance(a, str) and a not in kinds]:
        return f"has {strange[0]}, which is no array of JAX"
    if mask := [a for a, _, _ in indices(op, args, kinds) if kinds[a].dtype.kind == "b" and op not in LABELS]:
        return f"has as many entries as {mask[0]} picks"
    made, of = kinds[dst].dtype.kind, {dtype.kind for dtype in dtypes(args, kinds) if dtype}
    cast = {dtype.kind for dtype, to in zip(dtypes(args, kinds), casts(dst, op, args, kinds), strict=True)
            if to}
    if (op in INEXACT and made != "f" or compares(op) and of >= {"i", "u"} or op in STEPWISE and cast - {"f"}
        or op == "astype" and "f" in of and made in "iu" or op in OF_TRUTHS and of == {"b"}):
        return "is of whole numbers, which JAX takes otherwise"
    return ""


def call_text(text: Text, op: str, args: tuple, to: list[np.dtype | None]) -> str:
    """The call of an operator as text, each argument cast as `to` says."""
    module, dot, rest = CALLED.get(op, "").partition(".")
    function = text.object(module, MODULES[module]) + dot + rest if module else text.object(op, FUNCTIONS[op])
    named = [*NAMED.get(op, ()), *[""] * len(args)]
    given = [name + argument(text, a, dtype) for name, a, dtype in zip(named, args, to, strict=False)]
    return f"{function}({', '.join(given)})"


def argument(text: Text, a: Any, dtype: np.dtype | None) -> str:
    """An argument as text: what is no number, slice or axes' names is an object."""
    if type(a) is slice and all(map(stands_in_text, (a.start, a.stop, a.step))):
        return f"{text.object('slice', slice)}({a.start}, {a.stop}, {a.step})"
    if a is Ellipsis or type(a) is tuple and {*map(type, a)} == {str}:
        return "..." if a is Ellipsis else repr(a)
    return text.literal(a) + (f".astype({dtype.name!r})" if dtype else "")


def parted(program: Program, why: Collection[str]) -> list[JaxPart]:
    """The lines in parts that run one after another, as few as can be,
    those in `why` apart from the others."""
    stage = dict.fromkeys((*program.original.inputs, *program.constants), -1)
    lines: dict[int, list[Line]] = {}
    for dst, op, args in program.steps:
        after = max((stage[a] for a in registers(args)), default=-1)
        stage[dst] = after + (after % 2 != (dst in why))  # those in why are in the odd ones
        lines.setdefault(stage[dst], []).append((dst, op, args))
    reads = {k: dict.fromkeys(a for _, _, args in lines[k] for a in registers(args) if stage[a] != k)
             for k in lines}
    wanted = {*program.outputs, *program.inplace}.union(*reads.values())
    return [JaxPart(lines[k], list(reads[k]), [dst for dst, _, _ in lines[k] if dst in wanted], None)
            for k in sorted(lines)]


def stretch(text: Text, part: JaxPart, written: Mapping[str, str], kinds: Kinds,
            inputs: Collection[str]) -> JaxPart:
    """The part with its function, which is also written to text."""
    import jax
    name = text.free(f"stretch{sum(line.startswith('def ') for line in text.lines) + 1}")
    text.add(f"def {name}({', '.join(part.reads)}):", 0)
    sure = []
    for dst, op, args in part.lines:
        text.add(f"{dst} = {written[dst]}")
        sure += [f"{text.object('within', is_within)}({y}, {least}, {beyond})"
                 for y, least, beyond in indices(op, args, kinds)
                 if y not in inputs]
        sure += [f"{text.object('finite', finite)}({dst})"] * (op in FINITE)
    text.add(f"return {', '.join([*part.gives, *dict.fromkeys(sure)])},\n")
    function = text.function(name)

    @functools.wraps(function)
    def precise(*args):
        with jax.default_matmul_precision(jax.config.jax_default_matmul_precision or "highest"):
            return function(*args)

    return part._replace(call=jax.jit(precise, compiler_options=AS_WRITTEN))


def is_within(y: Any, least: int, beyond: int) -> Any:
    """Whether an index is in its range."""
    return ((least <= y) & (y < beyond)).all()


def finite(x: Any) -> Any:
    return MODULES["jnp"].isfinite(x).all()


def why_not(part: JaxPart, kinds: Kinds) -> str:
    """Compile a part by running it once. Why that failed, nothing where it did not."""
    try:
        part.call(*(np.zeros(*kinds[x][:2]) for x in part.reads))
    except TimeoutError:
        raise
    except Exception as error:  # what XLA does not have on this device
        return lack_of("XLA", error)
    return ""


def lack_of(who: str, error: Exception) -> str:
    return f"is more than {who} has: {type(error).__name__}, {' '.join(str(error).split())[:80]}"


# ---- running -----------------------------------------------------------------------------------------------

def runner(program: Program, kinds: Kinds, parts: list[JaxPart]) -> Callable:
    """The function from the values to the outputs."""
    import jax
    inputs = program.original.inputs
    constants = {x: v if isinstance(v, np.ndarray) else np.asarray(v)[()]
                 for x, v in program.constants.items()}
    ranges = dict.fromkeys(found for part in parts if part.call for _, op, args in part.lines
                           for found in indices(op, args, kinds) if found[0] in inputs)

    def run(values: Mapping[str, Any]) -> dict[str, Any] | None:
        found: dict[str, Any] = dict(constants)
        with wide():
            for x in inputs:
                found[x] = v = accepted(x, values.get(x), program)
                if v is None:
                    return None
            device = any(isinstance(v, jax.Array) for v in found.values())
            # the call returns before the device is done; the caller may have written to his arrays by then
            if device:
                found.update({x: v.copy() for x, v in found.items() if isinstance(v, np.ndarray)})
            if not (inside(found) and computed(found)):
                found = interpret.build(program).run({x: value_on_host(v) for x, v in values.items()})
                return {y: given_back(v, program.kinds.get(y), device) for y, v in found.items()}
            results = {y: given_back(found[y], program.kinds.get(y), device) for y in program.outputs}
        for x, new in [(x, np.array(found[y])) for y, x in program.inplace.items()]:
            values[x][...] = new
        return results

    def inside(found: Mapping[str, Any]) -> bool:
        """Whether the inputs that are labels or indices are in their ranges."""
        return all(y.size == 0 or least <= y.min() and y.max() < beyond
                   for x, least, beyond in ranges for y in [np.asarray(found[x])])

    def computed(found: dict[str, Any]) -> bool:
        """Whether all lines ran, on values of which NumPy makes the same."""
        sure = []
        for part in parts:
            if part.call:
                made = part.call(*[np.asarray(found[x]) if type(found[x]) in (int, float) else found[x]
                                   for x in part.reads])
                found.update(zip(part.gives, made, strict=False))
                sure += made[len(part.gives):]
                continue
            for dst, op, args in part.lines:
                with np.errstate(all="ignore"):
                    found[dst] = v = ops.G[op](*[value_on_host(found[a], program.kinds.get(a))
                                                 if isinstance(a, str) else a
                                                 for a in args])
                if (kind_of(v) or ())[:2] != (program.kinds.get(dst) or ())[:2]:
                    return False
        return all(map(bool, sure))

    return run


def accepted(x: str, v: Any, program: Program) -> Any:
    """The value of an input as the program takes it; None where it is not of its kind."""
    import jax
    kind = program.kinds.get(x)
    if kind is None:
        return v if (type(v), np.shape(v)) == program.others[x] else None
    if type(v) is np.ndarray:
        return v if kind.array and v.shape == kind.shape and v.dtype == kind.dtype else None
    if isinstance(v, jax.Array):
        if v.shape != kind.shape or v.dtype != kind.dtype:
            return None
        return jax.lax.convert_element_type(v, v.dtype) if v.weak_type else v
    v = numpy_real(x, v) if type(v) in (int, float, list, tuple) else v
    return v if kind_of(v) == kind else None


def value_on_host(v: Any, kind: Kind | None = None) -> Any:
    """A value as NumPy has it: one of JAX as an array, or as a number where that is its kind."""
    import jax
    if not isinstance(v, jax.Array):
        return v
    return np.asarray(v)[()] if kind and not kind.array else np.asarray(v)


def given_back(v: Any, kind: Kind | None, device: bool) -> Any:
    """An output, of its own: an array of JAX where there is one among the values, else as NumPy has it."""
    import jax
    if device and kind:
        return v if isinstance(v, jax.Array) else jax.numpy.asarray(np.array(v))
    v = value_on_host(v, kind)
    return v.copy() if isinstance(v, np.ndarray) else v
