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

from ...errors import XManError
from ...interpreters.context import numpy_real
from ...wengert import Line, WengertList, registers
from .. import interpret
from ..bodies import value_of
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


class Stretch(NamedTuple):
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
        reasons = not_for_jax(program, kinds)
        stretches = stretches_of(program, kinds, reasons, program.original.inputs)
        for stretch in stretches:
            if stretch.call:  # one run compiles it
                stretch.call(*(np.zeros(*kinds[x][:2]) for x in stretch.reads))
        device, = jnp.zeros(()).devices()
    groups = [[dst for dst, _, _ in stretch.lines] for stretch in stretches if stretch.call]
    calls = [f"{dst} = {op}(…) {reasons[dst]}" for dst, op, _ in program.steps if dst in reasons]
    note = f"compiled in {len(groups)} for {device.platform} ({device.device_kind})"
    size, flops = sum(kinds[x].bytes for x in program.outputs if x in kinds), flops_of(program.steps, kinds)
    plan = Plan("jax", [], 0, size, [], groups, calls, flops, note, lambda: program.stages)
    text = "\n\n".join(str(WengertList(stretch.lines)) for stretch in stretches if stretch.call)
    return Built(runner(program, kinds, stretches), "\n".join([*(f"# {call}" for call in calls), text]), plan)


def traceable(steps: WengertList, values: Mapping[str, Any], outputs: Collection[str]) -> Callable:
    """The list as a function that JAX can trace, from values to (outputs, whether NumPy agrees).
    values: examples of the shapes. NotForDevices if JAX cannot compute a line."""
    program = program_of(steps, values, tuple(outputs), {})
    with wide():
        if reasons := not_for_jax(program, program.kinds):
            raise NotForDevices("; ".join(f"{dst} {reason}" for dst, reason in reasons.items())
                                + ": that needs the interpreter, so leave out the mesh")
        stretches = stretches_of(program, program.kinds, reasons, ())

    def run(inputs: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        values, agrees = program.constants | dict(inputs), jnp.array(True)
        for stretch in stretches:
            arrays = stretch.call.__wrapped__(*[values[x] for x in stretch.reads])
            values.update(zip(stretch.gives, arrays, strict=False))
            agrees = functools.reduce(jnp.logical_and, arrays[len(stretch.gives):], agrees)
        return {y: values[y] for y in outputs}, agrees

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
    reasons = {}

    def look_at_lines(values: dict[str, Any]) -> None:
        for line in program.steps:
            dst, op, _ = line
            try:
                reasons[dst] = "" if op in OF_BUNDLES else refused(line, kinds)
                if not reasons[dst]:
                    out = computed(line, values)
                    if type(out) not in (int, tuple):
                        weak = out.weak_type and out.dtype != bool
                        if weak or (out.shape, out.dtype) != kinds[dst][:2]:
                            reasons[dst] = f"is {out.dtype}{list(out.shape)} to JAX"
            except TimeoutError:
                raise  # a time limit that the user set
            except Exception as error:  # whatever it is, the operator's own function computes the line
                words = " ".join(str(error).split())[:80]
                reasons[dst] = f"is more than JAX has: {type(error).__name__}, {words}"
            if dst in kinds or op in OF_BUNDLES and not reasons[dst]:
                values[dst] = jnp.zeros(*kinds[dst][:2]) if reasons[dst] else out

    blanks = {x: jax.ShapeDtypeStruct(*kinds[x][:2]) for x in program.arguments if x in kinds}
    jax.eval_shape(look_at_lines, blanks)
    reasons = {dst: reason for dst, reason in reasons.items() if reason}
    bundles = [dst for dst, op, _ in program.steps if op in OF_BUNDLES]
    # no bundle goes from JAX to NumPy or back
    of_bundles = dict.fromkeys(bundles, "is of a bundle that NumPy has")
    return of_bundles | reasons if reasons.keys() & of_bundles else reasons


def stretches_of(program: Program, kinds: Kinds, reasons: Collection[str],
                 checked: Collection[str]) -> list[Stretch]:
    """The lines in as few stretches as possible, which run one after another; lines in `reasons` are apart.
    checked: the registers whose values are known to be in range."""
    # the even stages are JAX's and the odd ones NumPy's; inputs have stage −1. If NumPy computes b among
    #     a = exp(x)    b = argsort(a)    c = add(a, b)    d = mul(a, a)
    # a and d are in stage 0, b is in stage 1 and c in stage 2
    stage = dict.fromkeys(program.arguments, -1)
    lines: dict[int, list[Line]] = {}
    for dst, op, args in program.steps:
        after = max((stage[a] for a in registers(args)), default=-1)
        stage[dst] = after + (after % 2 != (dst in reasons))
        lines.setdefault(stage[dst], []).append((dst, op, args))
    ends = {*program.at_the_end}
    ends.update(a for dst, _, args in program.steps for a in registers(args) if stage[a] != stage[dst])
    stretches = []
    for k in sorted(lines):
        reads = dict.fromkeys(a for _, _, args in lines[k] for a in registers(args) if stage[a] != k)
        stretch = Stretch(lines[k], [*reads], [dst for dst, _, _ in lines[k] if dst in ends], None)
        stretches.append(stretch if k % 2 else stretch._replace(call=compiled(stretch, kinds, checked)))
    return stretches


def compiled(stretch: Stretch, kinds: Kinds, checked: Collection[str]) -> Callable:
    def run(*arrays: Any) -> tuple:
        values, conditions = dict(zip(stretch.reads, arrays, strict=True)), {}
        with jax.default_matmul_precision(jax.config.jax_default_matmul_precision or "highest"):
            for line in stretch.lines:
                dst, op, args = line
                values[dst] = computed(line, values)
                for y, least, beyond in indices(op, args, kinds):
                    if y not in checked:
                        conditions[y, least, beyond] = ((least <= values[y]) & (values[y] < beyond)).all()
                if op in FINITE:
                    conditions[dst] = jnp.isfinite(values[dst]).all()
        return *[values[y] for y in stretch.gives], *conditions.values()

    return jax.jit(run, compiler_options=AS_WRITTEN)


# ---- running -----------------------------------------------------------------------------------------------

def runner(program: Program, kinds: Kinds, stretches: list[Stretch]) -> Callable:
    names = program.original.inputs
    constants = {x: v if isinstance(v, np.ndarray) else np.asarray(v)[()]
                 for x, v in program.constants.items()}
    lines = [line for stretch in stretches if stretch.call for line in stretch.lines]
    ranges = {limits for _, op, args in lines for limits in indices(op, args, kinds) if limits[0] in names}

    def run(originals: Mapping[str, Any]) -> dict[str, Any] | None:
        values: dict[str, Any] = dict(constants)
        with wide():
            for x in names:
                values[x] = v = accepted(x, originals.get(x), program)
                if v is None:
                    return None
            device = any(isinstance(v, jax.Array) for v in values.values())
            # wait: the call returns before the device is done, and the caller may then write to his arrays
            if device:
                values.update({x: v.copy() for x, v in values.items() if isinstance(v, np.ndarray)})
            if not (in_range(values) and all_computed(values)):
                outputs = interpret.build(program).run({x: value_on_host(v) for x, v in originals.items()})
                return {y: given_back(v, program.kinds.get(y), device) for y, v in outputs.items()}
            outputs = {y: given_back(values[y], program.kinds.get(y), device) for y in program.outputs}
        overwrite(*((originals[x], values[y]) for y, x in program.inplace.items()))
        return outputs

    def in_range(values: Mapping[str, Any]) -> bool:
        numbers = [(np.asarray(values[x]), least, beyond) for x, least, beyond in ranges]
        return all(y.size == 0 or least <= y.min() and y.max() < beyond for y, least, beyond in numbers)

    def all_computed(values: dict[str, Any]) -> bool:
        """Whether all lines ran, on values for which NumPy agrees."""
        conditions: list[Any] = []
        for stretch in stretches:
            if stretch.call:
                inputs = [values[x] for x in stretch.reads]
                arrays = stretch.call(*[np.asarray(v) if type(v) in (int, float) else v for v in inputs])
                values.update(zip(stretch.gives, arrays, strict=False))
                conditions += arrays[len(stretch.gives):]
                continue
            for dst, op, args in stretch.lines:
                operands = [value_on_host(values[a], program.kinds.get(a)) if isinstance(a, str) else a
                            for a in args]
                with np.errstate(all="ignore"):
                    values[dst] = v = value_of(op, "numpy")(*operands)
                if (kind_of(v) or ())[:2] != (program.kinds.get(dst) or ())[:2]:
                    return False
        return all(map(bool, conditions))

    return run


def accepted(x: str, v: Any, program: Program) -> Any:
    """The value of an input in the program's form; None if it is of another kind."""
    kind = program.kinds.get(x)
    if kind is None:
        return v if (type(v), np.shape(v)) == program.objects[x] else None
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
