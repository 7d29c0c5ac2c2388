"""The NumPy engine: a list becomes Python without loops, with planned buffers, and BLAS for products.

Results are the interpreter's but for rounding: BLAS rounds a product, its factor and a sum with it once in
place of three times, and softmax and the like are written out.
"""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

import ops

from ..wengert import Line, registers
from .bodies import value_of
from .folded import folded, ordered
from .memory import Event, arena, array_at, placed
from .plan import Buffer, Plan, flops_of
from .program import GEMM, Built, Engine, Program
from .specialise.kinds import memory_roots
from .text import Text, own_array

ENGINE = Engine("numpy", __name__, lambda *_: (1, ""), after="interpret", seconds=lambda steps: 0.0002 * len(steps))
WORTH_BLAS = 1e6  # operations in products that make SciPy's BLAS, which can fold, worth its import
VIEWS = {"alias", "transpose", "mT", "reshape", "getitem"}  # others with the fact `view` may compute
# these make a new array, and refuse no values
FRESH = {"share", "where", "scale", "ratio", "concat", "stack", "astype", "broadcast"}
# the ufuncs of scipy.special
SPECIAL = {"sigmoid": "expit", "erf": "erf", "gammaln": "gammaln", "digamma": "psi"}
INFIX = {"add": "+", "subtract": "-", "mul": "*", "divide": "/"}
REDUCED = {"sum": np.add, "max": np.maximum, "min": np.minimum, "prod": np.multiply}
# their only register is the first argument, where they are written out: else one says the axis or the shape
OF_ONE = {*REDUCED, "transpose", "getitem", "astype"}


def build(program: Program) -> Built:
    """The program in NumPy. Each thread that runs it takes memory once, and it is kept for later calls."""
    products = [line for line in program.steps if line[1] == "dot"]
    worth = flops_of(products, program.kinds) >= WORTH_BLAS
    writer = NumpyWriter(program, folded(program) if worth else list(program.steps))
    return Built(writer.function(), str(writer.text), writer.plan())


class NumpyWriter:
    """Writes a program: first it plans where each result goes, then it writes line by line."""

    def __init__(self, program: Program, lines: list[Line]):
        self.program, self.kinds, self.outputs = program, program.kinds, program.outputs
        self.methods = {line[0]: self.method(*line) for line in lines}
        holds = memory_roots(lines, self.kinds)
        calls = {dst for dst, method in self.methods.items() if method == "call"}
        self.lines, direct = ordered(program, lines, holds, calls)
        self.over = {}  # by update: the input whose memory it is computed into
        for y, op, args in self.lines:
            if y in direct and self.methods[y] == "into":
                x = program.inplace[y]
                if {a for a in registers(args) if x in holds[a]} <= {*self.written_over(op, args)}:
                    self.over[y] = x
        into = {dst for dst, method in self.methods.items() if method == "into"}
        buffered = into - {*self.outputs, *self.over}
        events = []
        for dst, op, args in self.lines:
            free = [a for a in self.written_over(op, args) if a in buffered]
            over = [a for a in free if self.kinds[a] == self.kinds.get(dst)]
            reads = {root for a in registers(args) for root in holds[a]}
            events.append(Event(reads, {x: self.kinds[x].bytes for x in {dst} & buffered}, {dst: over}))
        events.append(Event({root for x in program.at_the_end for root in holds.get(x, ())}, {}))
        self.places, self.size = placed(events)
        names = {a for dst, _, args in lines for a in (dst, *args) if isinstance(a, str)}
        self.text = Text(names.union(program.original.inputs, program.constants))
        self.text.objects |= program.constants

    def method(self, dst: str, op: str, args: tuple) -> str:
        """How a line is computed: `into` an array, as a `view` or `new`, or by a `call`, which may fail."""
        if op == GEMM:
            return "into"
        read = registers(args)
        if op not in ops.table.OURS or not self.kinds.keys() >= {dst, *read}:
            return "call"
        if op in OF_ONE and read != [args[0]]:
            return "call"
        if op in VIEWS and isinstance(args[0], str):
            return "view"
        of = self.kinds.get(args[0]) if isinstance(args[0], str) else None
        of_whole = op == "power" and self.kinds[dst].dtype.kind != "f"
        of_nothing = op in ("max", "min") and 0 in of.shape
        by_numbers = op == "where" and (not of or of.dtype != bool)
        if of_whole or of_nothing or by_numbers:
            return "call"  # NumPy may refuse the values
        if op in FRESH or not self.kinds[dst].array and (isinstance(ops.G[op], np.ufunc) or op in REDUCED):
            return "new"
        return "into" if self.kinds[dst].array and written_into(op) or op in REDUCED else "call"

    def written_over(self, op: str, args: tuple) -> list[str]:
        """The arguments that a line has read by the time it writes, so that it may write over them."""
        if op == GEMM:
            return [args[6]] if args[6] and args[6] not in (args[2], args[4]) else []
        return registers(args) if isinstance(written_into(op), np.ufunc) and op != "dot" else []

    # ---- the text ------------------------------------------------------------------------------------------

    def function(self) -> Callable:
        text, at_end = self.text, [y for y in self.program.inplace if y not in self.over]
        text.begin(self.program, self.lines, self.space, self.places)
        if self.lines:
            text.add(f"with {text.object('errstate', np.errstate)}(all='ignore'):")
        for line in self.lines:
            self.write(*line)
        return text.end(self.program, self.output_text, at_end)

    def space(self) -> tuple[np.ndarray, ...]:
        memory = arena(self.size)
        return tuple(array_at(memory, start, self.kinds[x]) for x, start in self.places.items())

    def output_text(self, name: str) -> str:
        """The text of an output, as an array that nothing else uses."""
        kind = self.kinds.get(name)
        new = self.methods.get(name) in ("into", "new") and name not in self.over
        alone = kind and (not kind.array or kind.shape and new)
        return name if alone else self.text.call("own", own_array, name)

    def write(self, dst: str, op: str, args: tuple) -> None:
        method, operands = self.methods[dst], [self.text.literal(a) for a in args]
        into = method == "into"
        if into and (dst in self.over or dst in self.outputs):
            self.text.add(f"{dst} = {self.over.get(dst) or self.text.empty(self.kinds[dst])}", 2)
        if op == GEMM:
            text = self.gemm(dst, args)
        elif op in REDUCED and method != "call":
            axis, keepdims = (*args[1:], None, False)[:2]
            out = [self.text.literal(axis), "None", dst, repr(bool(keepdims))] if into else ["None"]
            text = self.text.call(op, REDUCED[op].reduce, operands[0], *out)
        elif into:
            out = f"out={dst}" if op in ("maximum", "minimum") else dst  # NumPy needs out= for these two
            text = self.text.call(op, written_into(op), *operands, out)
        elif method == "new" and op in INFIX:
            text = f"{operands[0]} {INFIX[op]} {operands[1]}"
        elif method == "view" and op == "transpose" and self.kinds[args[0]].array:
            text = f"{operands[0]}.transpose({', '.join(operands[1:])})"
        else:
            text = self.text.call(op, value_of(op, "numpy"), *operands)
        self.text.add(text if into else f"{dst} = {text}", 2)
        if method == "call" and dst in self.kinds and self.kinds[dst].array:  # values may decide its shape
            self.text.add(f"if {dst}.shape != {self.kinds[dst].shape}:", 2)
            self.text.leave("None", 3)

    def gemm(self, dst: str, args: tuple) -> str:
        alpha, s, a, ta, b, tb, c = args
        if c and self.over.get(dst) != c and self.places.get(c, -1) != self.places.get(dst):
            self.text.add(self.text.call("copyto", np.copyto, dst, c), 2)
        factor = f"{alpha!r} * {s}" if s else repr(alpha)  # BLAS has columns for our rows: dstᵀ = bᵀ aᵀ
        operands = f"{factor}, {b}.T, {a}.T, {float(bool(c))}, {dst}.T, {int(tb)}, {int(ta)}, True"
        return self.text.call("gemm", blas_gemm(self.kinds[dst].dtype), operands)

    # ---- the plan ------------------------------------------------------------------------------------------

    def plan(self) -> Plan:
        kinds, updates = self.kinds, sorted(self.over.values())
        calls = [f"{dst} = {op}(…)" for dst, op, _ in self.lines if self.methods[dst] == "call"]
        buffers = [Buffer(x, *kinds[x][:2], start) for x, start in self.places.items()]
        outputs = sum(kinds[x].bytes for x in self.outputs if x in kinds)
        flops, stages = flops_of(self.lines, kinds), self.program.stages  # the plan holds on to these alone
        return Plan("numpy", buffers, self.size, outputs, updates, [], calls, flops, products=lambda: stages)


def written_into(op: str) -> Callable | None:
    """The operator's function that takes the array to write to as its last argument, or None."""
    if op in SPECIAL:
        from scipy import special
        return getattr(special, SPECIAL[op])
    return np.matmul if op == "dot" else ops.G[op] if isinstance(ops.G[op], np.ufunc) else None


def blas_gemm(dtype: np.dtype) -> Callable:
    """BLAS's product of matrices in that precision, from SciPy: NumPy's takes no factor and no sum."""
    from scipy.linalg import blas
    return blas.sgemm if dtype == np.float32 else blas.dgemm
