"""A function of LLVM's that is being written, as text, and its types and literals."""
from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .arithmetic import Number

# (turns, lines): a loop with at most these is written out, turn by turn. Where it is an innermost loop, the
# loop around it can then become vectors
INNERMOST, OUTER = (7, 40), (4, 8)
SHORT = 64  # turns: to unroll a loop of at most these would keep it from vectors
WIDE = 32   # turns: from here on a loop with formulas computes four vectors at once: each has to wait


class Function:
    """A function that is being written. entry: the text before all else. block: the name of the open block.
    leaves: whether it may jump to `bad`. flags: of its sums and quotients."""
    flags = ""

    def __init__(self, declared: dict[str | tuple[str, str], None]):
        self.out: list[str] = []
        self.entry: list[str] = []
        self.block, self.count, self.declared, self.leaves = "entry", 0, declared, False

    def new(self, word: str = "v") -> str:
        self.count += 1
        return f"%{word}{self.count}"

    def put(self, text: str) -> None:
        self.out.append(f" {text}")

    def do(self, text: str) -> str:
        """Append an instruction; give the name of its result."""
        name = self.new()
        self.put(f"{name} = {text}")
        return name

    def entry_at(self, T: str, base: str, k: Any) -> str:
        """The pointer to number k of an array of type T that begins at the pointer `base`."""
        return self.do(f"getelementptr {T}, ptr {base}, i64 {k}")

    def early(self, text: str) -> str:
        """Append an instruction to those before all else; give the name of its result."""
        name = self.new()
        self.entry.append(f" {name} = {text}")
        return name

    def alloca(self, of: str) -> str:
        return self.early(f"alloca {of}, align 64")

    def declare(self, declaration: str | tuple[str, str]) -> None:
        self.declared[declaration] = None

    def call(self, T: str, name: str, *args: Any, facts: str = "") -> str:
        """Declare a function and call it; give the name of its result, of type T. args: Numbers, and texts
        that begin with a type. facts: what LLVM is told of the function."""
        types = [a.split()[0] if isinstance(a, str) else a.type for a in args]
        self.declare(f"declare {T} @{name}({', '.join(types)}) {facts}".rstrip())
        text = f"call {T} @{name}({', '.join(map(str, args))})"
        return self.put(text) or "" if T == "void" else self.do(text)

    def leave(self, test: Number) -> None:
        """Leave the function if the test holds: the values are not for this program."""
        on, self.leaves = self.new("go")[1:], True
        self.put(f"br {test}, label %bad, label %{on}")
        self.begin(on)

    @contextmanager
    def when(self, test: Number) -> Iterator[None]:
        """A context whose text runs if the test holds."""
        yes, on = self.new("B")[1:], self.new("B")[1:]
        self.put(f"br {test}, label %{yes}, label %{on}")
        self.begin(yes)
        yield
        self.put(f"br label %{on}")
        self.begin(on)

    def begin(self, label: str) -> None:
        """Begin the block of that name."""
        self.out.append(f"{label}:")
        self.block = label

    @contextmanager
    def stepping(self, size: int | str, first: int | str = 0, step: int = 1, *, lines: int = 1,
                 slow: bool = False, hint: str = "") -> Iterator[str]:
        """A context whose text runs for each index below `size`, at least once; it gives the index. lines:
        how many are in it. slow: whether formulas are among them. hint: for LLVM."""
        name, before = self.new("L")[1:], self.block
        index, mark = f"%i{name[1:]}", len(self.out) + 2
        self.put(f"br label %{name}")
        self.begin(name)
        self.out.append("")
        yield index
        after = self.do(f"add nuw nsw i64 {index}, {step}")
        continues = self.do(f"icmp slt i64 {after}, {size}")
        hint = hint or hint_of(size, lines, self.block == name, slow)
        self.put(f"br i1 {continues}, label %{name}, label %{name}_end{', !llvm.loop ' * bool(hint)}{hint}")
        self.out[mark] = f" {index} = phi i64 [{first}, %{before}], [{after}, %{self.block}]"
        self.begin(f"{name}_end")

    @contextmanager
    def over(self, *sizes: int) -> Iterator[list[str]]:
        """A context that writes nested loops around the text inside of it; it gives their indices."""
        with ExitStack() as loops:
            yield [loops.enter_context(self.stepping(size, lines=100)) for size in sizes]

    def text(self, head: str, *last: str) -> str:
        """The text of the function, with its head and its last instructions."""
        return "\n".join([f"{head} {{", "entry:", *self.entry, *self.out, *last, "}"])

    def sum(self, terms: dict[str, int], start: int) -> str:
        """The number start + Σ index · step."""
        products = [index if step == 1 else self.do(f"mul nsw i64 {index}, {step}")
                 for index, step in terms.items()]
        products += [str(start)] * bool(start or not products)
        return reduce(lambda x, y: self.do(f"add nsw i64 {x}, {y}"), products)


def hint_of(size: int | str, lines: int, innermost: bool, slow: bool) -> str:
    """The name of the hint, below, that LLVM gets for a loop."""
    max_turns, max_lines = INNERMOST if innermost else OUTER
    if not isinstance(size, int) or size > SHORT:
        return "!3" * slow
    if size <= max_turns and lines <= max_lines:
        return "!1"
    return "!3" if slow and size >= WIDE else "!2"


# the vectors of a short loop are written out: with a hint of their width LLVM would warn of loops without any
HINTS = ['!0 = !{!"llvm.loop.unroll.full"}', '!1 = distinct !{!1, !0}',
         '!2 = distinct !{!2, !4, !{!"llvm.loop.vectorize.followup_vectorized", !0}}',
         '!3 = distinct !{!3, !4, !{!"llvm.loop.interleave.count", i32 4}}',
         '!4 = !{!"llvm.loop.unroll.disable"}',
         '!5 = distinct !{!5, !4, !{!"llvm.loop.vectorize.followup_all", !0}}']


def llvm_type(dtype: np.dtype) -> str:
    return ({"f": {4: "float", 8: "double"}.get(dtype.itemsize), "b": "i1"}.get(dtype.kind)
            or f"i{8 * dtype.itemsize}")


def in_memory(dtype: np.dtype) -> str:
    return "i8" if dtype.kind == "b" else llvm_type(dtype)


def llvm_literal(x: Any, dtype: np.dtype) -> str:
    """The literal of a number in this type; LLVM writes a float as the bits of a double."""
    if dtype.kind == "b":
        return "true" if x else "false"
    if dtype.kind != "f":
        return str(int(x))
    with np.errstate(over="ignore"):
        return f"0x{struct.unpack('>Q', struct.pack('>d', float(dtype.type(x))))[0]:016X}"
