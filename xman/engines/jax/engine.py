"""The JAX engine: the list in stretches that `jax.jit` compiles, on the device that JAX has.

A line that JAX does not compute as NumPy does (a mask decides the number of entries, or the operator is a
user's) is computed by the interpreter's function between two stretches. It is not a callback from a stretch:
that would delay the device just as long, does not work on every device, and could not return a sparse matrix.
If NumPy may raise an error for a value, a label out of range or a singular matrix, the interpreter decides;
labels and indices among the inputs are checked before.

float64 stays float64 whatever JAX is configured for, and products of matrices are as precise as NumPy's
unless jax_default_matmul_precision says otherwise. If JAX's arrays are among the values they stay where they
are, and the results are JAX's too. XLA may round a·b + c once, and treats subnormal numbers as 0.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import numpy as jnp

import ops

from ...errors import XManError
from ...interpreters.context import numpy_real
from ...wengert import Line, WengertList, registers
from .. import interpret
from ..memory import overwrite
from ..plan import Plan, flops_of
from ..program import Built, Kind, Program
from ..specialise import program_of
from ..specialise.kinds import kind_of
from .lines import OF_BUNDLES, Kinds, computed, refused
from .table import FINITE, indices

AS_WRITTEN = {"xla_disable_hlo_passes": "algsimp"}  # else XLA makes a/(bc) of (a/b)/c, 0 where bc is beyond the greatest float


class NotForDevices(XManError):
    """JAX alone cannot compute the list."""


class JaxPart(NamedTuple):
    """Lines that run together, the registers that they read, their registers that others read, and their
    compiled function, or None if the operators' own functions compute them.
    The function gives the registers, and then conditions on their values, which have to hold."""
    lines: list[Line]
    reads: list[str]
    gives: list[str]
    call: Callable | None


def build(program: Program) -> Built:
    """The program in JAX. It is compiled here."""
    kinds = {x: kind for x, kind in program.kinds.items() if kind.dtype.itemsize <= 8}
    with wide():
        why = not_for_jax(program, kinds)
        parts = parted(program, kinds, why, program.original.inputs)
        for part in parts:
            if part.call:  # one run compiles it
                part.call(*(np.zeros(*kinds[x][:2]) for x in part.reads))
        device, = jnp.zeros(()).devices()
    stretches = [[dst for dst, _, _ in part.lines] for part in parts if part.call]
    calls = [f"{dst} = {op}(…) {why[dst]}" for dst, op, _ in program.steps if dst in why]
    note = f"compiled in {len(stretches)} for {device.platform} ({device.device_kind})"
    size, flops = sum(kinds[x].bytes for x in program.outputs if x in kinds), flops_of(program.steps, kinds)
    plan = Plan("jax", [], 0, size, [], stretches, calls, flops, note, stages=program.stages)
    text = "\n\n".join(str(WengertList(part.lines)) for part in parts if part.call)
    return Built(runner(program, kinds, parts), "\n".join([*(f"# {call}" for call in calls), text]), plan)


def traceable(steps: WengertList, values: Mapping[str, Any], outputs: Collection[str]) -> Callable:
    """The list as a function that JAX can trace, from values to (outputs, whether NumPy agrees).
    values: examples of the shapes. NotForDevices if JAX cannot compute a line."""
    program = program_of(steps, values, tuple(outputs), {})
    with wide():
        if why := not_for_jax(program, program.kinds):
            raise NotForDevices("; ".join(f"{dst} {reason}" for dst, reason in why.items())
                                + ": that takes the interpreter, so leave the mesh away")
        parts = parted(program, program.kinds, why, ())

    def run(values: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        found, sure = program.constants | dict(values), jnp.array(True)
        for part in parts:
            made = part.call.__wrapped__(*[found[x] for x in part.reads])
            found.update(zip(part.gives, made, strict=False))
            sure = functools.reduce(jnp.logical_and, made[len(part.gives):], sure)
        return {y: found[y] for y in outputs}, sure

    return run


def wide() -> AbstractContextManager:
    """A context in which float64 is float64 and int64 is int64; the user's configuration stays."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64  # before JAX 0.8
    return enable_x64()


# ---- stretches ---------------------------------------------------------------------------------------------

def not_for_jax(program: Program, kinds: Kinds) -> dict[str, str]:
    """{register: the reason} for lines that JAX cannot compute, or computes unlike NumPy."""
    why = {}

    def follow(known: dict[str, Any]) -> None:
        for line in program.steps:
            dst, op, _ = line
            try:
                why[dst] = "" if op in OF_BUNDLES else refused(line, kinds)
                if not why[dst]:
                    out = computed(line, known)
                    if type(out) not in (int, tuple):
                        weak = out.weak_type and out.dtype != bool
                        if weak or (out.shape, out.dtype) != kinds[dst][:2]:
                            why[dst] = f"is {out.dtype}{list(out.shape)} to JAX"
            except TimeoutError:
                raise  # a time limit that the user set
            except Exception as error:  # whatever it is, the operator's own function computes the line
                words = " ".join(str(error).split())[:80]
                why[dst] = f"is more than JAX has: {type(error).__name__}, {words}"
            if dst in kinds or op in OF_BUNDLES and not why[dst]:
                known[dst] = jnp.zeros(*kinds[dst][:2]) if why[dst] else out

    given = {*program.original.inputs, *program.constants}
    jax.eval_shape(follow, {x: jax.ShapeDtypeStruct(*kinds[x][:2]) for x in given if x in kinds})
    why = {dst: reason for dst, reason in why.items() if reason}
    bundles = [dst for dst, op, _ in program.steps if op in OF_BUNDLES]
    # no bundle goes from JAX to NumPy or back
    return dict.fromkeys(bundles, "is of a bundle that NumPy has") | why if why.keys() & bundles else why


def parted(program: Program, kinds: Kinds, why: Collection[str], checked: Collection[str]) -> list[JaxPart]:
    """The lines in as few parts as possible, which run one after another; lines in `why` are apart.
    checked: the registers whose values are known to be in range."""
    stage = dict.fromkeys((*program.original.inputs, *program.constants), -1)
    lines: dict[int, list[Line]] = {}
    for dst, op, args in program.steps:
        after = max((stage[a] for a in registers(args)), default=-1)
        stage[dst] = after + (after % 2 != (dst in why))  # lines in why are in the odd stages
        lines.setdefault(stage[dst], []).append((dst, op, args))
    wanted = {*program.outputs, *program.inplace}
    wanted.update(a for dst, _, args in program.steps for a in registers(args) if stage[a] != stage[dst])
    parts = []
    for k in sorted(lines):
        reads = dict.fromkeys(a for _, _, args in lines[k] for a in registers(args) if stage[a] != k)
        part = JaxPart(lines[k], [*reads], [dst for dst, _, _ in lines[k] if dst in wanted], None)
        parts.append(part if k % 2 else part._replace(call=stretch(part, kinds, checked)))
    return parts


def stretch(part: JaxPart, kinds: Kinds, checked: Collection[str]) -> Callable:
    def run(*arrays: Any) -> tuple:
        known, sure = dict(zip(part.reads, arrays, strict=True)), {}
        with jax.default_matmul_precision(jax.config.jax_default_matmul_precision or "highest"):
            for line in part.lines:
                dst, op, args = line
                known[dst] = computed(line, known)
                for y, least, beyond in indices(op, args, kinds):
                    if y not in checked:
                        sure[y, least, beyond] = ((least <= known[y]) & (known[y] < beyond)).all()
                if op in FINITE:
                    sure[dst] = jnp.isfinite(known[dst]).all()
        return *[known[y] for y in part.gives], *sure.values()

    return jax.jit(run, compiler_options=AS_WRITTEN)


# ---- running -----------------------------------------------------------------------------------------------

def runner(program: Program, kinds: Kinds, parts: list[JaxPart]) -> Callable:
    inputs = program.original.inputs
    constants = {x: v if isinstance(v, np.ndarray) else np.asarray(v)[()]
                 for x, v in program.constants.items()}
    lines = [line for part in parts if part.call for line in part.lines]
    ranges = {found for _, op, args in lines for found in indices(op, args, kinds) if found[0] in inputs}

    def run(values: Mapping[str, Any]) -> dict[str, Any] | None:
        found: dict[str, Any] = dict(constants)
        with wide():
            for x in inputs:
                found[x] = v = accepted(x, values.get(x), program)
                if v is None:
                    return None
            device = any(isinstance(v, jax.Array) for v in found.values())
            # wait: the call returns before the device is done, and the caller may then write to his arrays
            if device:
                found.update({x: v.copy() for x, v in found.items() if isinstance(v, np.ndarray)})
            if not (inside(found) and computed(found)):
                found = interpret.build(program).run({x: value_on_host(v) for x, v in values.items()})
                return {y: given_back(v, program.kinds.get(y), device) for y, v in found.items()}
            results = {y: given_back(found[y], program.kinds.get(y), device) for y in program.outputs}
        overwrite(*((values[x], found[y]) for y, x in program.inplace.items()))
        return results

    def inside(found: Mapping[str, Any]) -> bool:
        reads = [(np.asarray(found[x]), least, beyond) for x, least, beyond in ranges]
        return all(y.size == 0 or least <= y.min() and y.max() < beyond for y, least, beyond in reads)

    def computed(found: dict[str, Any]) -> bool:
        """Whether all lines ran, on values for which NumPy agrees."""
        sure = []
        for part in parts:
            if part.call:
                read = [found[x] for x in part.reads]
                made = part.call(*[np.asarray(v) if type(v) in (int, float) else v for v in read])
                found.update(zip(part.gives, made, strict=False))
                sure += made[len(part.gives):]
                continue
            for dst, op, args in part.lines:
                given = [value_on_host(found[a], program.kinds.get(a)) if isinstance(a, str) else a
                         for a in args]
                with np.errstate(all="ignore"):
                    found[dst] = v = ops.G[op](*given)
                if (kind_of(v) or ())[:2] != (program.kinds.get(dst) or ())[:2]:
                    return False
        return all(map(bool, sure))

    return run


def accepted(x: str, v: Any, program: Program) -> Any:
    """The value of an input in the program's form; None if it is of another kind."""
    kind = program.kinds.get(x)
    if kind is None:
        return v if (type(v), np.shape(v)) == program.others[x] else None
    v = numpy_real(x, v) if type(v) in (int, float, list, tuple) else v
    if not isinstance(v, jax.Array):
        return v if kind_of(v) == kind else None
    if (v.shape, v.dtype) != kind[:2]:
        return None
    return jax.lax.convert_element_type(v, v.dtype) if v.weak_type else v


def value_on_host(v: Any, kind: Kind | None = None) -> Any:
    """A value in NumPy: an array of JAX as NumPy's array, or as a number if that is its kind."""
    if not isinstance(v, jax.Array):
        return v
    return np.asarray(v)[()] if kind and not kind.array else np.asarray(v)


def given_back(v: Any, kind: Kind | None, device: bool) -> Any:
    """An output that shares no memory: an array of JAX if the values had one, else NumPy's."""
    if device and kind:
        return v if isinstance(v, jax.Array) else jnp.asarray(np.array(v))
    v = value_on_host(v, kind)
    return v.copy() if isinstance(v, np.ndarray) else v
