"""For `roll`: the loop that takes the place of turns, and what each turn reads."""
from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import ops
from ops import Expression
from ops.writer import Symbol

from ...wengert import Line, Size, fresh, temporaries
from ..sized import key_of
from ..writer import ListWriter, is_temporary
from .repeats import may_vary, token

FARTHEST = 8  # turns that a line may look back
# results that are dear, and that slopes are written with: a step that returns them has them on the way back
READ_BY_SLOPES = {"exp", "exp2", "expm1", "tanh", "sigmoid", "softmax", "logSoftmax", "logsumexp", "inv"}
BUNDLES = {"bundle", "call", "scan", "cond", "while_loop"}


class NoLoop(Exception):
    """Why lines that repeat are no loop."""


class RolledLoop:
    """The loop that takes the place of turns, from a line of a list on. NoLoop if there is none.

    new: the lines in their place; after: those after the loop. sizes: of its new registers.
    """

    def __init__(self, lines: Sequence[Line], start: int, period: int, count: int, keep: Collection[str],
                 sizes: Mapping[str, Size], names: Iterator[str], stacked: bool, reverse: bool):
        end = start + period * count
        self.period, self.count, self.sizes, self.stacked = period, count, dict(sizes), stacked
        self.written = lines[start:end]
        self.place = {line[0]: divmod(i, period) for i, line in enumerate(self.written)}  # (turn, line in it)
        self.lines, self.names = lines[:start], names
        self.new: list[Line] = []
        self.body = ListWriter()
        self.in_body: list[Symbol] = []                      # in the body, by line
        self.starts: dict[int, dict[int, Any]] = {}       # by line what it gave k turns before the first turn
        self.carries: dict[tuple[int, int], Symbol] = {}  # by (line, how many turns ago it was computed)
        self.slices: dict[str, Symbol] = {}               # by the register of the array
        self.constants: dict[str, Symbol] = {}            # by register
        self.entry_sizes: dict[str, Size] = {}            # by the register of the array, of what a turn sees
        self.arrays: dict[tuple, str] = {}                # by operator and arguments, of the lines before it
        self.entries_of: dict[tuple, set] = defaultdict(set)  # by movement the keys of a turn that move so
        for i in range(period):
            alike = self.written[i::period]
            (_, op, args), *_ = alike
            if op == "getitem":
                self.entries_of[movement(args[0], [line[2][1:] for line in alike])].add(repr(args[1:]))
        for i in range(period):
            self.in_body.append(self.line(i))
        self.after = self.finished(lines[end:], keep, reverse)

    @functools.cached_property
    def makers(self) -> dict[str, Line]: return {line[0]: line for line in self.lines}

    def size(self, register: str) -> Size:
        if register not in self.sizes:
            raise NoLoop(f"the shape of {register} is not known")
        return self.sizes[register]

    def line(self, i: int) -> Symbol:
        """The value in the body of line i of all turns."""
        alike = self.written[i::self.period]
        (dst, op, args), *_ = alike
        if any(self.size(line[0]) != self.size(dst) for line in alike):
            raise NoLoop("shapes or precisions change")
        outside = op == "getitem" and isinstance(args[0], str) and args[0] not in self.place
        if outside and all(line[2][0] == args[0] for line in alike):
            moving = self.moving(args[0], [line[2][1:] for line in alike])
            if moving is not None:
                return moving
        operands = zip(*[line[2] for line in alike], strict=True)
        return self.body.add(op, tuple([self.operand(a, op, dst) for a in operands]))

    def operand(self, operands: Sequence[Any], op: str, dst: str) -> Any:
        """What the body reads for an argument, outputs what each turn reads for it."""
        places = [self.place.get(a) if isinstance(a, str) else None for a in operands]
        if places[-1]:
            turn, line = places[-1]
            ago = self.count - 1 - turn
            if ago > FARTHEST or any(place != (t - ago, line) for t, place in enumerate(places) if t >= ago):
                raise NoLoop("a register of another turn is read in some turns only")
            return self.carry(line, operands[:ago]) if ago else self.in_body[line]
        if any(places):
            raise NoLoop("a register of a turn is read in some turns only")
        if len({*map(key_of, operands)}) == 1:
            a = operands[0]
            if isinstance(a, Expression):  # a value of a trace around the one that the lines are of
                a = self.before("alias", a)
            return self.constants.setdefault(a, self.body.symbol()) if isinstance(a, str) else a
        if all(isinstance(a, str) for a in operands):
            return self.outside(operands)
        if all(not isinstance(a, str) and may_vary(a, op) for a in operands):
            return self.slice(self.before("alias", stacked_literals(operands, self.size(dst)[1])))
        raise NoLoop("literals differ")

    def carry(self, line: int, starts: Sequence[Any]) -> Symbol:
        """What the line gave as many turns ago as there are starts, which are read in the first turns."""
        starts = [self.start(a, self.size(self.written[line][0])) for a in starts]
        starts_of_line = self.starts.setdefault(line, {})
        for ago, a in zip(range(len(starts), 0, -1), starts, strict=True):
            if key_of(starts_of_line.setdefault(ago, a)) != key_of(a):
                raise NoLoop("a carry begins with several values")
            self.carries.setdefault((line, ago), self.body.symbol())
        return self.carries[line, len(starts)]

    def start(self, a: Any, size: Size) -> Any:
        """A first value of a carry, of that shape and precision, which changes no bit of what reads it."""
        if isinstance(a, str):
            fits = a not in self.place and self.size(a) == size
        else:
            shape, dtype = size
            number = type(a) in (int, float) and shape == () and dtype.kind in "fi"
            # not dtype.type(a) == a, for which NumPy converts a as well
            if number and (dtype.type(a).item() == a or a != a) and (dtype.kind == "f" or type(a) is int):
                return float(a) if dtype == np.float64 else a if dtype == np.int64 else dtype.type(a)
            fits = not number and (np.shape(a), getattr(a, "dtype", None)) == size
        if not fits:
            raise NoLoop("a carry changes its shape or precision")
        return a

    # ---- what moves along ------------------------------------------------------------------------------

    def before(self, op: str, *args: Any) -> str:
        """The register of a line before the loop."""
        key = (op, *map(key_of, args))
        if key not in self.arrays:
            self.arrays[key] = next(self.names)
            self.new.append((self.arrays[key], op, args))
        return self.arrays[key]

    def slice(self, array: str) -> Symbol: return self.slices.setdefault(array, self.body.symbol())

    def outside(self, registers: Sequence[str]) -> Symbol:
        """Registers that are made before the loop, another one in each turn."""
        first, *_ = lines = [self.makers.get(a, ("", "", ())) for a in registers]
        one_array = len({(token(line), *map(key_of, line[2][:1])) for line in lines}) == 1
        if first[1] == "getitem" and isinstance(first[2][0], str) and one_array:
            moving = self.moving(first[2][0], [args[1:] for _, _, args in lines])
            return self.constants.setdefault(registers[0], self.body.symbol()) if moving is None else moving
        if self.stacked and len({self.size(a) for a in registers}) == 1:
            return self.slice(self.before("stack", 0, *registers))
        raise NoLoop("each turn reads another register")

    def moving(self, x: str, keys: Sequence[tuple]) -> Symbol | None:
        """The value in the body of x[key], for the key of each turn; None if it is the same in all turns."""
        axes = moving_axes(keys)
        if not axes:
            return None
        shape = self.size(x)[0]
        if any(type(k) not in (int, slice) for k in keys[0]) or len(keys[0]) > len(shape):
            raise NoLoop("places move, and there are other keys than numbers and slices")
        entries = [[place_along(key[j], shape[j]) for key in keys] for j in axes]
        fixed = [slice(None) if j in axes else k for j, k in enumerate(keys[0])]
        if len(self.entries_of[movement(x, keys)]) < 2:
            return self.along(x, axes, entries, fixed)
        # W[t, 0] and W[t, 1] are entries of one slice, W[t], in which an inner loop may find them
        array = self.along(x, axes, entries, [slice(None)] * len(fixed))
        left = [k for j, k in enumerate(fixed) if j not in axes or type(keys[0][j]) is slice]
        return array if all(k == slice(None) for k in left) else self.body.add("getitem", (array, *left))

    def along(self, x: str, axes: Sequence[int], entries: Sequence[list], fixed: list) -> Symbol:
        """The slice of x whose first axis goes along entries of axes; fixed: the key for the other axes."""
        axes_left = [sum(type(k) is slice for k in fixed[:j]) for j in axes]  # the axes in x[fixed]
        number = np.ndim(entries[0][0]) == 0
        step = entries[0][1] - entries[0][0] if len(axes) == 1 and number else 0
        regular = step and entries[0] == [*range(entries[0][0], entries[0][0] + step * self.count, step)]
        if not regular and len(axes) > 1 and any(np.ndim(e[0]) for e in entries):
            raise NoLoop("places move along several axes")
        key = list(fixed)
        if regular:
            first, end = entries[0][0], entries[0][-1] + step
            if (first, end, step) != (0, self.size(x)[0][axes[0]], 1):
                key[axes[0]] = slice(first, end if end >= 0 else None, None if step == 1 else step)
        y = x if all(k == slice(None) for k in key) else self.before("getitem", x, *key)
        if not regular:
            key = [slice(None)] * (axes_left[-1] + 1)
            for j, k in zip(axes_left, entries, strict=True):
                key[j] = np.array(k)
            y = self.before("getitem", y, *key)
        # NumPy puts the axis of arrays that stand apart in a key in front
        front = axes_left[0] if axes_left[-1] - axes_left[0] == len(axes_left) - 1 else 0
        if front:
            rank = len(self.size(x)[0]) - sum(type(k) is int for k in fixed) + (not number)
            y = self.before("transpose", y, (front, *[j for j in range(rank) if j != front]))
        shape, dtype = self.size(x)
        keys = [*fixed, *[slice(None)] * (len(shape) - len(fixed))]
        lengths = [len(range(*k.indices(n))) for k, n in zip(keys, shape, strict=True) if type(k) is slice]
        for j, e in zip(axes_left, entries, strict=True):
            lengths[j] = np.size(e[0])
        seen = [n for j, n in enumerate(lengths) if j not in axes_left or not number]
        self.entry_sizes[y] = tuple(seen), dtype
        return self.slice(y)

    # ---- the lines -------------------------------------------------------------------------------------

    def finished(self, after: Sequence[Line], keep: Collection[str], reverse: bool) -> list[Line]:
        """The lines after the loop. The loop's own are added to the new ones."""
        order = sorted(self.carries)
        results = [self.carries[i, ago - 1] if ago > 1 else self.in_body[i] for i, ago in order]
        read = dict.fromkeys(a for a in [*(a for _, _, args in after for a in args), *keep]
                             if isinstance(a, str) and a in self.place)
        last = {a: order.index((i, 1)) for a in read for t, i in [self.place[a]]
                if t == self.count - 1 and (i, 1) in self.carries}
        outputs = list(dict.fromkeys(self.place[a][1] for a in read if a not in last))
        if reverse:
            outputs += [i for i, line in enumerate(self.written[:self.period])
                      if line[1] in READ_BY_SLOPES and i not in outputs]
        if any(self.written[i][1] in BUNDLES for i in (*outputs, *(i for i, _ in order))):
            raise NoLoop("a bundle goes from turn to turn, or out of the loop")
        stacked = [self.in_body[i] for i in outputs]
        # what a turn begins with is read on the way back too, and all turns would run again for it
        carries = [carry for carry in results if all(carry is not out for out in stacked)] if reverse else []
        self.step, operands = self.one_turn(order, [*results, *stacked, *carries])
        bundle, loop = next(self.names), next(self.names)
        counts = len(order), len(self.slices) or 1
        self.new += [(bundle, "bundle", operands), (loop, "scan", (self.step, *counts, bundle))]
        # a stack of what all turns gave is what the scan gives: its line goes, and its register stays
        registers = {tuple([line[0] for line in self.written[i::self.period]]): i for i in outputs}
        stack_lines = {dst: registers.get(args[1:]) for dst, op, args in after
                 if op == "stack" and args[0] == 0 and all(isinstance(a, str) for a in args[1:])}
        stacks = {i: dst for dst, i in stack_lines.items() if i is not None}
        for k, i in enumerate(outputs):
            shape, dtype = self.size(self.written[i][0])
            stacks[i] = stacks.get(i) or next(self.names)
            self.sizes[stacks[i]] = (self.count, *shape), dtype
            self.new.append((stacks[i], "item", (loop, len(order) + k)))
        for a in read:
            t, i = self.place[a]
            self.new.append((a, "item", (loop, last[a])) if a in last else (a, "getitem", (stacks[i], t)))
        second = {dst: stacks[i] for dst, i in stack_lines.items() if i is not None}
        return [(dst, "alias", (second[dst],)) if dst in second else (dst, op, args)
                for dst, op, args in after if dst not in stacks.values()]

    def one_turn(self, order: Sequence[tuple[int, int]], results: Sequence[Symbol]) -> tuple[tuple, tuple]:
        """(the function of one turn, the first carries, the slices and the constants)."""
        names = {*ops.G}
        size_of = {id(out): self.size(line[0]) for out, line in zip(self.in_body, self.written, strict=False)}
        starts = [self.starts[i][ago] for i, ago in order]
        for (i, ago), start in zip(order, starts, strict=True):
            end = self.written[(self.count - 1) * self.period + i][0]
            word = next((a for a in (end, start) if isinstance(a, str) and not is_temporary(a)), "c")
            self.carries[i, ago].name = fresh(word, names)
            size_of[id(self.carries[i, ago])] = self.size(end)
            if ago == 1 and self.in_body[i].op and self.in_body[i].name is None:
                self.in_body[i].name = fresh(f"{word}1", names)
        slices = self.slices or {self.count: self.body.symbol("t")}
        for array, symbol in slices.items():
            symbol.name = fresh(f"{self.source(array)}_t" if isinstance(array, str) else "t", names)
            size_of[id(symbol)] = self.entry_sizes.get(array)
        for constant, symbol in self.constants.items():
            word = next(temporaries(names)) if is_temporary(constant) else constant
            symbol.name = fresh(word, names)
            size_of[id(symbol)] = self.sizes.get(constant)
        parameters = (*[self.carries[key] for key in order], *slices.values(), *self.constants.values())
        lines = [*self.body.named(names)]
        ends = tuple(result.name for result in results)
        registers = (*parameters, *[line.out for line in self.body.lines])
        self.body_sizes = {x.name: size for x in registers if (size := size_of.get(id(x)))}
        return (("def", "step", tuple(p.name for p in parameters), tuple(lines), ends),
                (*starts, *slices, *self.constants))

    def source(self, array: str) -> str:
        """The name of the register along which a slice goes."""
        makers = {line[0]: line for line in self.new}
        while array in makers and isinstance(makers[array][2][0], str):
            array = makers[array][2][0]
        return "x" if is_temporary(array) else array


def moving_axes(keys: Sequence[tuple]) -> list[int]:
    return [j for j in range(len(keys[0])) if len({key_of(key[j]) for key in keys}) > 1]


def movement(x: Any, keys: Sequence[tuple]) -> tuple:
    """Along which axes of x the keys of all turns move, and how."""
    axes = moving_axes(keys)
    return key_of(x), *axes, *[key_of(key[j]) for key in keys for j in axes]


def place_along(k: int | slice, length: int) -> Any:
    """The entry of an axis that a key takes, or the list of its entries."""
    if type(k) is slice:
        if not 0 <= k.start <= k.stop <= length:
            raise NoLoop("a slice goes past an end")
        return [*range(k.start, k.stop, k.step or 1)]
    return k + length if k < 0 else k


def stacked_literals(literals: Sequence[Any], dtype: np.dtype) -> np.ndarray:
    """The array of the literals of all turns, as a line whose result has that precision reads them."""
    arrays = [a for a in literals if isinstance(a, (np.ndarray, np.generic))]
    if arrays and len(arrays) == len(literals) and len({(a.shape, a.dtype) for a in arrays}) == 1:
        return np.stack(arrays)
    numbers = all(np.ndim(a) == 0 and getattr(a, "dtype", dtype) == dtype for a in literals)
    if not numbers or dtype.kind != "f" and (dtype.kind != "i" or any(type(a) is not int for a in literals)):
        raise NoLoop("literals differ in shape or precision")
    return np.array(literals, dtype)
