"""The tracer, a value that records its operators on a tape, whose lines a writer can write again."""
from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from ops import Expression, G, f, walk
from ops.expression import FLAT, INFIX
from ops.facts import is_complex
from ops.silence import silent
from ops.walk import AtLine, forth, needed
from ops.writer import Place, Recording, Symbol, Traced, Writer, frozen, user_line

from ..traced.arraylike import ArrayLike, as_numpys, for_complex, plain
from ..traced.dispatch import universal
from ..traced.refusals import asking_function, line_of, refuse, user_frame
from ..wengert import Size

FLOAT = np.dtype(float)
BOOL = np.dtype(bool)  # it has no derivative, whatever it was computed from
NUMBERS = {float, int, np.float64}  # types of constants that cannot change
# of a tracer, without a word to those that note what is asked of it
VALUE, TAPE, NAME = Traced.value.__get__, Symbol.writer.__get__, Symbol.name.__get__


class Discarded(NamedTuple):
    """What a tape keeps of a value that nothing reads any more."""
    shape: tuple[int, ...]
    dtype: np.dtype


class CallTape(Recording):
    """The record of a function's call. After the `with` it is closed, and records nothing more.

    exact: whether shapes are final, so that a broadcast to the present shape is not recorded. guards: by
    name, (tracer, the user's line) where a value decided Python's path; None: these are not recorded.
    complex: whether a register is, so that arguments of operators are looked at.
    asking: the function of NumPy's that read the first of these values; "" for a line of the user's.
    masks: by name, the masks whose counts a tracer's shape goes by. kind: the class of its tracers.
    tangents: by name, if the tape knows a register's tangent as soon as its value, and keeps both only for as
    long as a tracer of it lives (Bishop, Deep Learning, §8.2.2).
    refs: to its tracers, if lines may go. full: is called with more lines than most. calls: open within it.
    """

    tangents: dict[str, Any] | None = None
    refs: list[ref] | None = None
    most = calls = 0
    full: Callable[[], None] | None = None
    asking = ""

    def __init__(self, exact: bool = True, guards: dict | None = None):
        super().__init__()
        self.exact, self.open, self.guards, self.complex = exact, True, guards, False
        self.masks: dict[str, tuple[Tracer, ...]] = {}
        self.kind = Tracer
        self.places: dict[str, Place] = {}

    def __enter__(self) -> CallTape:
        self.collects = gc.isenabled()
        gc.disable()  # it would search the tape again and again, and find nothing to free
        return self

    def __exit__(self, *_: Any) -> None:
        self.open = False
        if self.collects:
            gc.enable()
        if self.guards is not None:  # their tracers point at the tape, and would keep it alive
            self.guards = None
            self.masks.clear()

    def argument(self, leaf: Any) -> Tracer:
        """The tracer in place of an argument's leaf."""
        x = np.asarray(ordinary(plain(leaf)))[()]
        self.complex = self.complex or is_complex(x)
        return self.kind(x, self)

    def write(self, op: str, args: tuple) -> Any:
        """The result of op, after its line is on the tape."""
        if (listener := sys.getprofile()) is not None and hasattr(listener, "of_users"):
            return unheard(self.write, op, args)
        self.refuse_closed()
        if self.full and len(self.lines) > self.most:
            self.full()
        if op in ("broadcast", "unbroadcast") and self.is_idle(*args):
            return args[0]
        if self.complex and any(map(is_complex, args)):
            op = for_complex(op)
        # The line has names and constants, the computation their values. If a value is itself an Expression,
        # as in a derivative of a derivative, f.<op> records the operator on the tape of that value, too.
        operands, inputs, value = [], [], G[op]
        for a in args:
            if issubclass(type(a), Tracer) and TAPE(a) is self:
                x, a = VALUE(a), NAME(a)
            else:
                x = a = a if type(a) in NUMBERS or isinstance(a, Expression) else as_constant(a)
            operands.append(a)
            inputs.append(x)
            if type(x) not in NUMBERS and isinstance(x, Expression):
                value = getattr(f, op)
        y = value(*inputs)
        if issubclass(type(y), Tracer):  # on another tape
            out, dtype = self.kind(y, self, y.slopeless), y.dtype
        else:
            dtype = getattr(y := as_numpys(y), "dtype", None)
            out = self.kind(y, self, op in FLAT or dtype is BOOL)
        if dtype is not FLOAT and dtype is not None and dtype.kind == "c":
            self.complex = for_complex(op) == op
        self.lines.append((NAME(out), op, tuple(operands)))
        if self.tangents is not None:
            self.move(self.lines[-1])
        if self.guards is not None and getattr(y, "ndim", 0):
            self.follow_masks(out, op, args)
        if self.refs is not None:
            self.refs.append(ref(out))
        return out

    @silent
    def move(self, line: tuple) -> None:
        """Note the tangent of the line's register; of further traces, and after an error, it is not known."""
        try:
            if isinstance(self.values[line[0]], Expression):
                return self.keep()
            forth([line], self.values, self.tangents)
        except AtLine:  # the walk through all lines says which
            self.keep()

    @silent
    def keep(self) -> None:
        """Compute again what was discarded, for a walk through all lines; keep tangents no more."""
        self.tangents = None
        for dst, op, args in self.lines:
            if type(self.values[dst]) is Discarded:
                inputs = [self.values[a] if type(a) is str else a for a in args]
                self.values[dst] = as_numpys(G[op](*inputs))

    def interleave(self, start: int, middle: int) -> None:
        """Put the lines from `middle` on as early as what they read allows, but not before `start`.

        So tangents stand beside values, and a program discards both together:

            a = sin(x)  b = sin(a)  |  c = cos(x)  da = mul(c, dx)  d = cos(a)  db = mul(d, da)
            a = sin(x)  c = cos(x)  da = mul(c, dx)  b = sin(a)  d = cos(a)  db = mul(d, da)
        """
        place = {dst: k for k, (dst, _, _) in enumerate(self.lines[start:middle])}
        for dst, _, args in self.lines[middle:]:
            place[dst] = max([place.get(a, -1) for a in args if type(a) is str], default=-1)
        # of equal places the primal line stands first, for it is older
        self.lines[start:] = sorted(self.lines[start:], key=lambda line: place[line[0]])

    def refuse_closed(self) -> None:
        """XManError if the tape is closed."""
        if not self.open:
            refuse("this traced value is from a call that has ended, kept in a global, a closure or a cache",
                   "return it from the function, as an auxiliary output, instead of keeping it")

    def tracer(self, name: str, kind: Any = None) -> Any:
        """A tracer of a register that the tape has, of that class."""
        tracer = (kind or self.kind).__new__(kind or self.kind)
        tracer.value, tracer.writer, tracer.name, tracer.level = self.values[name], self, name, self.level
        tracer.slopeless = name in self.flat
        if self.refs is not None:
            self.refs.append(ref(tracer))
        return tracer

    def is_idle(self, x: Any, like: Any, axis: tuple = ()) -> bool:
        """Whether x has the shape and the precision of like already, and these are final."""
        if not self.exact or axis != () or not isinstance(x, ArrayLike) or not hasattr(like, "dtype"):
            return False
        if self.masks and (self.by_mask(x) or self.by_mask(like)):
            return False
        return x.shape == like.shape and x.dtype == like.dtype

    def by_mask(self, a: Any) -> bool: return self.has(a) and a.name in self.masks

    def follow_masks(self, out: Tracer, op: str, args: tuple) -> None:
        """Note the masks whose counts give out its shape: the length of x[x > 0] is the count of x > 0."""
        masks = {mask.name: mask for a in args if self.by_mask(a) for mask in self.masks[a.name]}
        for key in args[1:] if op == "getitem" else ():
            if self.has(key) and key.dtype == bool:
                masks[key.name] = key
        if masks:
            self.masks[out.name] = tuple(masks.values())


class PlacedTape(CallTape):
    """A tape that notes in `places` where in the user's files its lines come from."""

    def write(self, op: str, args: tuple) -> Any:
        out = super().write(op, args)
        if self.has(out) and self.lines and self.lines[-1][0] == out.name:
            self.places[out.name] = self.place() or user_line()
        return out

    def place(self) -> Place | None:
        """For a line of a derivative, the place of the line that is differentiated."""
        frame = sys._getframe(2)
        while frame := frame.f_back:
            if frame.f_code in (walk.back.__code__, walk.forth.__code__):
                primal = frame.f_locals["values"].get(frame.f_locals["line"][0])
                return self.places.get(primal.name) if self.has(primal) else None
        return None


class Tracer(ArrayLike, Traced):
    """A register of a CallTape: an operator that is given one computes its value, and records a line."""

    __slots__ = ("__weakref__",)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if sys.getprofile() is None:
            return universal(ufunc, method, inputs, options)
        return unheard(universal, ufunc, method, inputs, options)

    def record(self, op: str, args: tuple) -> Any: return TAPE(self).write(op, args)

    def branch_value(self):
        if self.tape.guards is not None and self.name not in self.tape.guards:
            self.tape.asking = self.tape.asking if self.tape.guards else asking_function()
            self.tape.guards[self.name] = self, line_of(user_frame())
        return self.value

    def counted(self) -> Any:
        """Its value; the counts of the masks that its shape goes by decide the path that Python takes."""
        if self.tape.masks:
            for mask in self.tape.masks.pop(self.name, ()):
                f.sum(mask).branch_value()
        return self.value

    dtype = property(lambda self: VALUE(self).dtype)
    shape = property(lambda self: self.counted().shape)
    size = property(lambda self: self.counted().size)

    def __bool__(self):
        self.tape.refuse_closed()
        return super().__bool__()

    def is_flat(self):
        self.tape.refuse_closed()
        flat = super().is_flat()
        if flat and not self.tape.exact:
            refuse("this index or mask would be a constant of the list",
                   "write f.getitem(array, index) (from xman import f)")
        return self.value.is_flat() if isinstance(self.value, ArrayLike) else flat


class Fleeting(Tracer):
    """A tracer on a tape that knows tangents: its value and its tangent go when it does."""

    __slots__ = ()

    def __del__(self):
        if self.tape.tangents is not None and self.tape.open:
            self.tape.values[self.name] = Discarded((), FLOAT)
            self.tape.tangents.pop(self.name, None)


def unheard(run: Callable, *args: Any, **options: Any) -> Any:
    """run(…), hidden from `watched`: it makes many calls that are not the user's."""
    if (listener := sys.getprofile()) is None or not hasattr(listener, "of_users"):
        return run(*args, **options)
    sys.setprofile(None)
    try:
        return run(*args, **options)
    finally:
        sys.setprofile(listener)


def silent_to_listeners(name: str) -> Callable:
    """Python's operator with that name: each of its calls in xman would be an event for `watched`."""
    operate = getattr(ArrayLike, name)
    return lambda *args: operate(*args) if sys.getprofile() is None else unheard(operate, *args)


_names = *INFIX, *(f"r{name}" for name in INFIX), "neg", "getitem"
for _name in filter(lambda name: hasattr(ArrayLike, f"__{name}__"), _names):
    setattr(Tracer, f"__{_name}__", silent_to_listeners(f"__{_name}__"))


def ordinary(a: Any) -> Any:
    """The same. XManError for an array of a kind that has its own products, or masks."""
    if isinstance(a, np.ndarray) and type(a).__mul__ is not np.ndarray.__mul__:
        refuse(f"a {type(a).__name__} has products or sums of its own",
               "give np.asarray(…) of it, and np.where for a mask")
    return a


def as_constant(a: Any) -> Any:
    """A constant as a line holds it: the user may write into an array later."""
    if isinstance(ordinary(a), np.ndarray):
        return frozen(a)
    return np.asarray(a) if isinstance(a, list) else (a,) if isinstance(a, str) else a


def size_of(x: Any) -> Size:
    """The shape and precision of a value."""
    while issubclass(type(x), Traced):
        x = VALUE(x)
    return x.shape, x.dtype


def is_on(tape: CallTape, x: Any) -> bool:
    """Whether x is a tracer on this tape. XManError for a tracer on a closed tape."""
    traced = issubclass(type(x), Tracer)
    if traced and x.writer is not tape:
        x.writer.refuse_closed()
    return traced and x.writer is tape


def replayed(tape: CallTape, writer: Writer, inputs: Mapping, ends: Iterable[str]) -> dict[str, Symbol]:
    """The writer's symbol for each register of the tape, after it has written the lines that lead to `ends`.

    inputs: the symbols for the inputs of the tape.
    """
    symbols, values = dict(inputs), tape.values
    for dst, op, args in needed(tape.lines, ends):
        dtypes = {values[a].dtype for a in args if type(a) is str}
        symbols[dst] = writer.write(op, [symbols[a] if type(a) is str else
                                         as_strong(a, dtypes, values[dst].dtype) for a in args])
    return symbols


def as_strong(a: Any, dtypes: Iterable[np.dtype], dtype: np.dtype) -> Any:
    """NumPy's number as an array if it gave the result, beside arrays of dtypes, its dtype: Python's number
    would not."""
    if not issubclass(type(a), np.generic) or issubclass(type(a), float):
        return a
    weak, strong = (np.result_type(*dtypes, x) for x in (a.item(), a))
    return np.asarray(a) if weak != strong == dtype else a
