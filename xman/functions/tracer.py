"""The tracer, a value that records its operators on a tape, and the list that the tape becomes."""
from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ops import Expression, G, f
from ops.derived import Traced
from ops.expression import FLAT, INFIX
from ops.loops.bodies import needed

from ..traced.arraylike import ArrayLike, real
from ..traced.refusals import line_of, refuse, user_frame
from ..wengert import WengertList, temporaries

BOOL = np.dtype(bool)  # it has no derivative, whatever it was computed from
NUMBERS = {float, int, np.float64}  # types of constants that cannot change


class CallTape(list):
    """The record of a function's call: (tracer, op, args) for each operator. After the `with` it is closed.

    exact: whether shapes are final, so that a broadcast to the present shape is not recorded. guards: by id,
    (tracer, the user's line) where a value decided Python's path; None: these are not recorded. of_scan: the
    function that computes a scan. masks: by id of a tracer, the masks whose counts its shape goes by.
    """

    __slots__ = "level", "exact", "open", "guards", "of_scan", "collects", "masks"

    def __init__(self, exact: bool = True, guards: dict | None = None, of_scan: Callable = G["scan"]):
        self.level, self.exact, self.open = next(Traced.levels), exact, True
        self.guards, self.of_scan, self.masks = guards, of_scan, {}

    def __enter__(self) -> CallTape:
        self.collects = gc.isenabled()
        gc.disable()  # it would search the tape again and again, and find nothing to free
        return self

    def __exit__(self, *_: Any) -> None:
        self.open = False
        if self.collects:
            gc.enable()
        # tracers point at the tape: this frees the arrays without the garbage collector
        self.clear()
        self.masks.clear()

    def __deepcopy__(self, memo: dict) -> CallTape: return self  # its tracers do so, too
    def __reduce_ex__(self, protocol): return super().__reduce_ex__(max(protocol, 2))  # slots need 2


class Tracer(ArrayLike, Traced):
    """A value on a tape. An operator that is given one computes its own value, and records itself."""

    __slots__ = ()

    def __init__(self, value: Any, tape: CallTape, slopeless: bool = False):
        self.value, self.tape, self.level, self.slopeless = value, tape, tape.level, slopeless

    def record(self, op: str, args: tuple) -> Any:
        return self.written(op, args) if sys.getprofile() is None else unheard(self.written, op, args)

    def written(self, op: str, args: tuple) -> Any:
        tape = self.tape
        if not tape.open:
            self.alive()
        if (tape.exact and op in ("broadcast", "unbroadcast") and not tape.masks.keys() & {*map(id, args)}
            and idle(*args)):
            return args[0]
        line, values, value = [], [], G[op]
        for a in args:
            if type(a) is Tracer and a.tape is tape:
                x = a.value
            else:
                x = a = a if type(a) in NUMBERS or isinstance(a, Expression) else kept(a)
            line.append(a)
            values.append(x)
            if type(x) is Tracer or type(x) not in NUMBERS and isinstance(x, Expression):
                value = getattr(f, op)
        if op == "scan" and value is G[op]:
            value = tape.of_scan
        found = value(*values)
        if type(found) is Tracer:  # on another tape
            out = Tracer(found, tape, found.slopeless)
        else:
            out = Tracer(found := real(op, found), tape, op in FLAT or getattr(found, "dtype", None) is BOOL)
        tape.append((out, op, tuple(line)))
        if tape.guards is not None and out.ndim:
            masks = {id(mask): mask for a in line for mask in tape.masks.get(id(a), ())}
            for key in line[1:] if op == "getitem" else ():
                if type(key) is Tracer and key.tape is tape and key.dtype == bool:
                    masks[id(key)] = key
            if masks:
                tape.masks[id(out)] = tuple(masks.values())
        return out

    def __reduce_ex__(self, protocol):
        # vjp's pull pickles tracers of a closed tape
        return super().__reduce_ex__(protocol) if self.tape.open else (Tracer, (self.value, self.tape))

    def alive(self) -> CallTape:
        """Its tape. XManError if the tape is closed."""
        if self.tape.open:
            return self.tape
        refuse("this traced value is from a call that has ended, kept in a global, a closure or a cache",
               "return it from the function, as an auxiliary output, instead of keeping it")

    def seen(self):
        if self.tape.guards is not None and id(self) not in self.tape.guards:
            self.tape.guards[id(self)] = self, line_of(user_frame())
        return self.value

    def __repr__(self): return super().__repr__() if self.tape.guards is None else repr(self.seen())
    def __str__(self): return super().__str__() if self.tape.guards is None else str(self.seen())

    def counted(self) -> Any:
        """Its value; the counts of the masks that its shape goes by decide the path that Python takes."""
        for mask in self.tape.masks.pop(id(self), ()):
            f.sum(mask).seen()
        return self.value

    shape = property(lambda self: self.counted().shape)
    size = property(lambda self: self.counted().size)

    def __bool__(self):
        self.alive()
        return super().__bool__()

    def is_flat(self):
        self.alive()
        flat = super().is_flat()
        if flat and not self.tape.exact:
            refuse("this index, mask or number would be a constant of the list",
                   "write f.getitem(array, index) (from xman import f)")
        return self.value.is_flat() if isinstance(self.value, ArrayLike) else flat


def unheard(run: Callable, *args: Any, **options: Any) -> Any:
    """run(…), hidden from `watched`: it makes many calls that are not the user's."""
    if (listener := sys.getprofile()) is None or not hasattr(listener, "of_users"):
        return run(*args, **options)
    sys.setprofile(None)
    try:
        return run(*args, **options)
    finally:
        sys.setprofile(listener)


for _name in ("__array_ufunc__", *(f"__{side}{name}__" for side in ("", "r") for name in INFIX)):
    _method = getattr(ArrayLike, _name)
    setattr(Tracer, _name, lambda *args, method=_method, **options: unheard(method, *args, **options))


def idle(x: Any, like: Any, axis: tuple = ()) -> bool:
    """Whether x has the shape and the precision of like already."""
    if axis != () or not isinstance(x, ArrayLike) or not hasattr(like, "dtype"):
        return False
    return x.shape == like.shape and x.dtype == like.dtype


def usual(a: Any) -> Any:
    """The same. XManError for an array of a kind that has its own products, or masks."""
    if isinstance(a, np.ndarray) and type(a).__mul__ is not np.ndarray.__mul__:
        refuse(f"a {type(a).__name__} has products or sums of its own",
               "give np.asarray(…) of it, and np.where for a mask")
    return a


def kept(a: Any) -> Any:
    """A copy of a constant, since the user may write into an array later."""
    if isinstance(usual(a), np.ndarray):
        return a if a.base is None and not a.flags.writeable else a.copy(order="K")
    return np.asarray(a) if isinstance(a, list) else a


def is_on(tape: CallTape, x: Any) -> bool:
    """Whether x is a tracer on this tape. XManError for a tracer on a closed tape."""
    return isinstance(x, Tracer) and (x.tape is tape or x.alive() is tape)


def listed(tape: CallTape, names: dict[int, str], ends: Iterable[Tracer],
           constant: Callable[[Any, str], Any]) -> WengertList:
    """The list of the lines that lead to the tracers `ends`.

    names: names of registers by id(tracer), at least of the inputs; other registers become z1, z2, …, which
    are added to names. constant(a, op): the literal for an argument that is not on the tape.
    """
    fresh, steps = temporaries({*names.values()}), []
    for node, op, args in needed(tape, ends):
        dst = names.get(id(node)) or names.setdefault(id(node), next(fresh))
        own = [type(a) is Tracer and a.tape is tape for a in args]
        dtypes = {a.dtype for a, mine in zip(args, own, strict=True) if mine}
        args = [names[id(a)] if mine else constant(as_strong(a, dtypes, node.dtype), op)
                for a, mine in zip(args, own, strict=True)]
        steps.append((dst, op, tuple(args)))
    (found := WengertList()).extend(steps)  # it is checked when it runs
    return found


def as_strong(a: Any, others: Iterable[np.dtype], found: np.dtype) -> Any:
    """NumPy's number as an array if it gave its precision to what was found: Python's number would not."""
    if not issubclass(type(a), np.generic) or issubclass(type(a), float):
        return a
    weak, strong = (np.result_type(*others, x) for x in (a.item(), a))
    return np.asarray(a) if weak != strong == found else a
