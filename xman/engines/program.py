"""`Engine` (its record), `Program` (what it is given), `Built` (what it makes), and how a Program is made."""
from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

import ops

from ..errors import XManError
from ..interpreters import eval
from ..interpreters.shapes import DependsOnValues, alongside, examples
from ..passes import EXACT, simplify
from ..passes.lower import lowered
from ..wengert import Line, WengertList, all_registers, needed, registers, temporaries

Values = Mapping[str, Any]  # by the names of registers
WHOLE = threading.RLock()  # held in imports and LLVM's work, which a forked process must not find half done
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=WHOLE.acquire, after_in_parent=WHOLE.release, after_in_child=WHOLE.release)
GEMM = "gemm()"  # the operator of a line that is one call of BLAS (`folded`); no user's can have such a name


class Kind(NamedTuple):
    """What a program knows of a register: its shape and dtype, and whether it is an array or a number."""
    shape: tuple[int, ...]
    dtype: np.dtype
    array: bool

    bytes = property(lambda self: int(np.prod(self.shape)) * self.dtype.itemsize)


class Program(NamedTuple):
    """A list for one set of shapes and types.

    steps: the list, simplified for the shapes and lowered to few operators. kinds: of its registers; one
    without a kind is something else, such as a sparse matrix. outputs: the registers that are wanted.
    inplace: {register: the input that it overwrites}. original: the list as it was. others: the type and
    shape of inputs without a kind. constants: the values of registers that depend on no input, and that steps
    reads or that are wanted. threads: how many may run large loops (0: as many as BLAS has). room: the most
    steps of a `while_loop` for which results of each step are stacked. counts: which loop, from `counted`.
    """
    steps: WengertList
    kinds: dict[str, Kind]
    outputs: tuple[str, ...]
    inplace: dict[str, str]
    original: WengertList
    others: dict[str, tuple[type, tuple]] = {}
    constants: dict[str, Any] = {}
    threads: int = 0
    room: int = 0
    counts: Mapping[str, str] = {}


class Built(NamedTuple):
    """What an engine makes of a program.

    run: from the values to the outputs by name, or None if the values are not of the program's kinds; it has
    then written nothing. source, plan: the program's text and its plan, to print. engine, why: the engine's
    name and the reason for it, which the door writes.
    """
    run: Callable[[Values], dict[str, Any] | None]
    source: Any
    plan: Any
    engine: str = ""
    why: str = ""


class Engine(NamedTuple):
    """The record of an engine, which is read before the engine is imported.

    name: its name. file: the module that has its build(program) -> Built. wish: (steps, values, inplace) ->
    (rank, why), how much it wants such a list where the user asked for none: auto takes the highest rank,
    and `step.why` is its why; rank 0 is a refusal, and its why becomes that of the engine of rank 1. after:
    the engine that it gives way to; "" for the reference, to which all others lead. package, extra: what it
    needs, and the extra of pip that has it. as_written: whether it takes the list as it was written, for
    values of all shapes; its Program then has no kinds. on_device: whether its `run` takes and gives arrays
    of another library where they are; other engines get copies in NumPy. rooms: whether it takes a Program
    with `room`. seconds: from a list to about the time that it takes to build it. The file may also have
    begin(program), the slow part of `build`, for a thread beside the caller: the process may end or fork in
    the middle of it; the function that it returns does the rest, and returns the Built.
    """
    name: str
    file: str
    wish: Callable[[WengertList, Values, Mapping[str, str]], tuple[int, str]]
    after: str
    package: str = ""
    extra: str = ""
    as_written: bool = False
    on_device: bool = False
    rooms: bool = False
    seconds: Callable[[WengertList], float] = lambda steps: 0.0

    installed = property(lambda self: not self.package or bool(importlib.util.find_spec(self.package)))

    def build(self, program: Program) -> Built:
        with WHOLE:
            return importlib.import_module(self.file).build(program)

    def begin(self, program: Program) -> Callable[[], Built]:
        file = importlib.import_module(self.file)
        if hasattr(file, "begin"):
            return file.begin(program)
        built = file.build(program)
        return lambda: built


def program_of(steps: WengertList, values: Values, outputs: tuple[str, ...], inplace: Mapping[str, str],
               room: int = 0) -> Program:
    """The Program for these values. room: as in `Program`. XManError where the list does not run on them."""
    values = {name: on_host(values[name]) for name in steps.inputs}
    program = Program(steps, {}, outputs, {y: x for x, y in inplace.items()}, steps, room=room)
    try:
        return specialised(program, values, by_shapes=True)
    except TimeoutError:
        raise  # a time limit that the user set
    except Exception:  # shapes are not enough: the values decide, and an error of the list has its sentence
        return specialised(program._replace(room=0), values, by_shapes=False)


def specialised(program: Program, values: dict[str, Any], by_shapes: bool) -> Program:
    """The Program for these values. by_shapes: whether stand-ins replace arrays of floats, so that nothing is
    computed."""
    (lines, constants), likes, room = lifted(program.original), dict(values), program.room
    find = lambda lines, known: eval(lines, values | known)
    if by_shapes:
        find = lambda lines, known: examples(lines, values | known, known, room)
        kinds = {x: kind for x, v in values.items() if (kind := kind_of(v))}
        likes |= {x: kind[:2] for x, kind in kinds.items() if kind.array and kind.dtype.kind == "f"}
    keep = dict.fromkeys((*program.outputs, *program.inplace))
    wanted = find(lines, constants)
    wanted = {name: kind_of(wanted[name]) for name in keep}
    short, more = lifted(simplify(lines, keep, likes | constants, EXACT + lowered()))
    found = find(short, constants | more)
    if any(not same_but_number(kind_of(found[name]), kind) for name, kind in wanted.items()):
        # in a list of several precisions a rewrite can change a type: such a list stays as it was
        short, more, found = lines, {}, find(lines, constants)
    kinds = {name: kind for name, x in found.items() if (kind := kind_of(x))}
    others = {x: (type(v), np.shape(v)) for x, v in values.items() if x not in kinds}
    known = constants | more
    for dst, op, args in short:
        if op in ops.table.OURS and all(a in known for a in registers(args)):
            known[dst] = found[dst]
    counts = counted(short, keep) if room else {}
    # where a loop ends on values, shapes change with them
    fixed = kinds if by_shapes or "while_loop" not in {op for _, op, _ in short} else {}
    lines = settled((line for line in short if line[0] not in known), fixed, keep)
    known = {x: known[x] for x in dict.fromkeys((*lines.inputs, *keep)) if x in known}
    return program._replace(steps=lines, kinds=kinds, others=others, constants=known, counts=counts)


def counted(steps: Iterable[Line], keep: Iterable[str] = ()) -> dict[str, str]:
    """{register: `while_loop`}, for stacks with a row for each step of the loop, and for its number of steps.

    DependsOnValues where a stack is in keep, or is read otherwise than step by step or entry by entry.
    """
    stacks_in = lambda marks: {mark for a in marks for mark in ([a] if type(a) is tuple else a or ())
                               if mark and mark[1]}
    marks: dict[Any, Any] = {}  # by register (loop, whether it is a stack); for a bundle a list of these
    for dst, op, args in steps:
        given = [marks.get(a) if isinstance(a, str) else None for a in args]
        stacks = stacks_in(given)
        if op == "while_loop":
            marks[dst] = [*[None] * args[2], (dst, False)]
        elif op == "bundle":
            marks[dst] = given
        elif op == "item" and given[0]:
            marks[dst] = given[0][args[1]]
        elif op == "scan" and given[3]:
            k, m, b = args[1], args[1] + args[2], given[3]
            along = {mark and mark[0] for mark in b[k:m]}
            if len(along) > 1 or any(mark and mark[1] for mark in b[:k] + b[m:]):
                raise DependsOnValues(op)
            marks[dst] = [*[None] * k, *[(x, True) for x in along if x] * (len(args[0][4]) - k)]
        elif stacks:
            alike = all(mark in stacks for a, mark in zip(args, given, strict=True) if isinstance(a, str))
            if len(stacks) > 1 or not alike or not alongside(op):
                raise DependsOnValues(op)
            marks[dst] = stacks.pop()
    if stacks_in(map(marks.get, keep)):
        raise DependsOnValues("an output")
    return {x: mark[0] for x, mark in marks.items() if type(mark) is tuple}


def ample(steps: WengertList, values: Values) -> int:
    """A power of two above the number of steps of each loop; 0 where nothing is stacked."""
    loops = [k for k, (_, op, _) in enumerate(steps) if op == "while_loop"]
    if not loops or "scan" not in {op for _, op, _ in steps}:
        return 0
    found = eval(steps[:loops[-1] + 1], values)
    return 1 << max(3, *[found[steps[k][0]][-1].bit_length() for k in loops])


def lifted(steps: WengertList) -> tuple[WengertList, dict[str, Any]]:
    """The list with a register in place of each literal array that is not a key, and these arrays by name."""
    known, names = {}, temporaries({*all_registers(steps)}, "constant")
    as_register = lambda a: known.setdefault(id(a), (next(names), a))[0] if isinstance(a, np.ndarray) else a
    lines = [(dst, op, (*map(as_register, args[:(first := ops.facts_of(op).keys)]), *args[first:]))
             for dst, op, args in steps]
    return WengertList(lines), dict(known.values())


def settled(steps: Iterable[Line], kinds: Mapping[str, Kind], keep: Iterable[str]) -> WengertList:
    """The lines, with shapes in place of registers that serve as shapes, without those that none reads."""
    lines = [*steps]
    for k, (dst, op, args) in enumerate(lines):
        if op in ("reshape", "broadcast") and isinstance(args[1], str):
            made, of = kinds.get(dst), kinds.get(args[0])
            if made and of and made.dtype == of.dtype:
                lines[k] = dst, op, (args[0], made.shape, *args[2:])
    return WengertList(needed(lines, tuple(keep)))


def exact(steps: WengertList) -> WengertList:
    """The list with plain strings as names: a class derived from str may print itself as anything."""
    name = lambda a: str.__str__(a) if isinstance(a, str) else a
    return WengertList((name(dst), name(op), tuple(map(name, args))) for dst, op, args in steps)


def signature(x: Any) -> tuple:
    """The part of a value that a program depends on: its type, its shape and its precision."""
    if issubclass(type(x), np.ndarray):  # not isinstance, which is true of a traced value
        return type(x), x.shape, x.dtype, x.flags.c_contiguous
    return type(x), np.shape(x), getattr(x, "dtype", None)


def on_host(x: Any) -> Any:
    """An array of JAX as one of NumPy; all else as it is."""
    return np.asarray(x) if hasattr(x, "addressable_shards") else x


def taken(name: str, x: Any) -> Any:
    """Another library's array as NumPy's, in the same memory (DLPack); JAX's, and all else, as it is."""
    if not hasattr(x, "__dlpack__") or isinstance(x, np.ndarray) or hasattr(x, "addressable_shards"):
        return x
    try:
        return np.from_dlpack(x)
    except (BufferError, TypeError, RuntimeError, ValueError) as error:
        raise XManError(f"the value of {name!r} is an array of {type(x).__module__.partition('.')[0]} that "
                        f"NumPy cannot read: {error}; copy it to the host's memory") from None


def same_but_number(one: Kind | None, other: Kind | None) -> bool:
    """Whether two kinds are equal, but that a single number may be an array in one of them."""
    return one == other or bool(one and other) and one[:2] == other[:2] == ((), one.dtype)


def kind_of(x: Any) -> Kind | None:
    """The kind of an array or a number; None for anything else."""
    numpys = type(x) is np.ndarray or issubclass(type(x), np.generic)
    if numpys and x.dtype.kind in "biuf" and x.dtype.isnative:
        return Kind(x.shape, x.dtype, type(x) is np.ndarray)
    return Kind((), np.dtype(type(x)), False) if type(x) in (bool, int, float) else None


def held(lines: Iterable[Line], kinds: Mapping[str, Kind]) -> dict[str, frozenset[str]]:
    """For each register those in whose memory it may lie: itself, or the registers that it is a view of."""
    holds: dict[str, frozenset[str]] = {}
    for dst, op, args in lines:
        given = [holds.setdefault(a, frozenset([a])) for a in registers(args)]
        if dst in kinds and not kinds[dst].array:
            holds[dst] = frozenset()
        elif ops.facts_of(op).view or op not in ops.table.OURS and op != GEMM:
            holds[dst] = frozenset().union(*given)
        else:
            holds[dst] = frozenset([dst])
    return holds


def check_update(x: str, y: str, old: Kind | None, new: Kind | None) -> None:
    if not old or not old.array or not same_but_number(old, new):
        raise XManError(f"inplace: {y} is {described(new)}, and cannot overwrite {x}, {described(old)}")


def described(kind: Kind | None) -> str:
    return f"an array of {kind.dtype} of shape {kind.shape}" if kind and kind.array else "no array"
