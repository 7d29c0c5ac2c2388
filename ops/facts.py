"""What else is true of an operator: the keywords at the end of its row, and its arguments.

One operation is + − × ÷, a comparison, whichever of its three outcomes, or one of the functions of one
argument that a processor's library has (exp, sin, tanh, xᶜ …) of one entry, as Griewank and Walther,
Evaluating Derivatives, §2.2, count elemental functions. An operator made of several counts them all: x^y is
exp(y log x). Rearranging, indexing and copying are none. Matrices: Golub and Van Loan, Matrix Computations.
"""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .expression import DG, TG, Expression, G, Rule, f

Count = Callable[..., int]
MANY = 2 ** 31 - 1  # arguments, of an operator that takes any number
missing = object()      # in the place of an argument that was not given


class Facts(NamedTuple):
    """The facts of a row, by the words that stand at its end. What a row does not say counts as false.

    flow: how its entries come about, which says what is linear, and where a zero that stands for nothing
    goes. "moved": they are its argument's in other places, or sums of them; "part": some of these alone;
    "filled": with zeros among them; "chosen": those that are not hand no adjoint on; "plus", "same" (a
    multiple) and "product": entry by entry; "kept": a product of which 0·∞ is 0; "summed": sums of products;
    where it takes two arrays alone, the slope by an entry of one is an entry of the other, or 0.

    reads: "axis": all along the axis that the second argument names; "line": the same, and the axis stays;
    "before": those before it; "row": its row; "matrix": its matrix, on the last two axes; "window".
    """
    # what it takes and gives
    elementwise: bool = False          # the row is of that kind
    flops: float | Count | None = None  # operations an entry of the result, or (out, *args) -> int for all
    gives: type = float                # bool or int where its results are never floats, complex where they always are
    # right for complex numbers, as most flows tell; or the operator, or value, for them
    complex: bool | str | Callable = False
    view: bool = False                 # they may lie in an argument's memory
    commutes: bool = False             # its two arguments may change places
    like: int | None = None            # the place of an argument whose shape and precision it takes, and looks at nothing else
    shape: int | None = None           # the same of an argument whose shape alone it takes
    keys: int = MANY                   # the place of the first argument that is a key: it says where entries are
    within: bool = False               # its result has no more axes than its arguments, and none that is longer
    entries: Count | None = None       # (*args) -> int: a bound on the result's entries, if it can exceed the arguments' total
    # its value in other words
    formula: Callable | None = None    # in the language, for floats that have entries, or None; engines that lack it use that
    elsewhere: Callable | None = None  # the same, for a library of arrays that has no function for it
    numpy: str = ""                    # the function of NumPy that it is, arguments and all, where the value is no ufunc
    example: Callable | None = None    # of the same arguments another value of the same shapes and precisions, in much less time
    # what derivatives and models ask for
    convex: bool = False               # in its first argument
    squared: str = ""                  # of a root: the operator that gives its square
    curvature: Callable | None = None  # what it sends to the diagonal of a Hessian, as `gathered` does
    outputs: str = ""                  # of a loss: the operator that makes a model's outputs of its scores
    tame: bool | Callable = False      # its slopes are finite where its arguments are; or (*args) -> whether they are
    flow: str = ""                     # one of the words above
    reads: str = ""                    # where flow does not tell: the entries that one of the result reads
    overflows: bool = False            # its result may be infinite where its arguments are finite; not said of what settles
    grows: bool = False                # it overflows as the exponential does
    settles: int | Callable | None = None  # the place of an argument where it stays finite, or (*args) -> it


FACTS: dict[str, Facts] = {}  # by operator
NOTHING = Facts()
MOVING = {"moved", "part", "filled"}  # the flows of rows that take no operations where nothing is added up
TAME = MOVING | {"chosen", "plus", "same"}  # the flows of rows that are tame
FLOWS = {"", *TAME, "product", "kept", "summed"}
MULTILINEAR = FLOWS - {"", "chosen"}  # what moves, adds and multiplies entries is right for complex ones too


def refuse_facts(op: str, facts: dict) -> None:
    """ValueError for an unknown fact or an unknown flow."""
    flow = {facts.get("flow", "")}
    for words, allowed, kind in ((set(facts), set(Facts._fields), "fact"), (flow, FLOWS, "flow")):
        if strange := sorted(words - allowed):
            raise ValueError(f"the row of {op} has the {kind} {strange[0]!r}, which nothing reads; there are "
                             f"{', '.join(sorted(allowed - {''}))}")


def facts_of(op: str) -> Facts:
    """What is known of an operator; of one that has no row here, nothing."""
    return FACTS.get(op, NOTHING)


def is_tame(op: str, args: Sequence[Any]) -> bool:
    """Whether the slopes of a line are finite wherever its arguments are."""
    tame = facts_of(op).tame
    return tame(*args) if callable(tame) else tame


def is_complex(x: Any) -> bool:
    """Whether x is a complex number, or an array of them."""
    return type(x) is complex or getattr(getattr(x, "dtype", None), "kind", "") == "c"


INSTEAD = "give it np.real, np.imag, np.abs or np.angle of them"


def refuse_complex(op: str) -> None:
    """TypeError for complex numbers: op is not known to be right for them."""
    operator = facts_of(op).complex
    instead = f"their {op} is f.{operator}" if operator else INSTEAD
    raise TypeError(f"{op} is not defined for complex numbers here; {instead}")


@functools.lru_cache(4000)  # a loop's body is remembered by the values that it calls
def right_for_complex(op: str, value: Callable[..., Any]) -> Callable[..., Any]:
    """The value of op, which refuses complex numbers unless its row says what is right for them."""
    of_complex = facts_of(op).complex

    def checked(*args):
        if any(map(is_complex, args)):
            return of_complex(*args) if callable(of_complex) else refuse_complex(op)
        return value(*args)
    return value if of_complex is True else checked


class TableOfComplex(dict):
    """A table of values, whose operators refuse complex numbers unless their rows say they are right."""

    def __init__(self, G: Mapping[str, Callable[..., Any]]):
        self.table = G

    def __missing__(self, op: str) -> Callable[..., Any]:
        return self.setdefault(op, right_for_complex(op, self.table[op]))


def is_function(a: Any) -> bool:
    """Whether a is the literal of a function, which a loop applies (`ops.loops.bodies`)."""
    return type(a) is tuple and len(a) == 5 and type(a[0]) is str and a[0] == "def"


def makes_complex(lines: Iterable) -> bool:
    """Whether a line has complex numbers, whatever its registers are; not whether an input has."""
    in_functions = lambda args: [a[3] for a in filter(is_function, args)]
    return any([facts_of(op).gives is complex or any(map(is_complex, args))
                or any(map(makes_complex, in_functions(args))) for _, op, args in lines])


def operations(op: str) -> Count | None:
    """(out, *args) -> the operations of a line; None where its row does not say."""
    flops = facts_of(op).flops
    return flops if flops is None or callable(flops) else lambda out, *_: flops * np.size(out)


def shaped_by(op: str) -> int | None:
    """The place of the argument that op looks at for its shape and precision alone."""
    facts = facts_of(op)
    return facts.shape if facts.like is None else facts.like


def linear_in(op: str, places: list[int]) -> bool:
    """Whether op is linear in its arguments at these places together, entry by entry or moving entries."""
    facts = facts_of(op)
    return (facts.elementwise or facts.view) and (
        facts.flow == "plus" or places == [0] and facts.flow in ("same", "moved", "product")
        or len(places) == 1 and facts.flow == "product" and facts.commutes)


def name_or_id(a: Any) -> Any: return a if type(a) is str else id(a)


# ---- what flops may be, beside a number: (out, *args) -> int -----------------------------------------------

of_input   = lambda flops: lambda out, x, *_: flops * np.size(x)                     # for each entry of the first argument
cubic      = lambda n3: lambda out, *args: round(n3 * np.size(args[-1]) * args[-1].shape[-1])  # n3·n³ for each n×n matrix
of_columns = lambda k: lambda out, a, *_: k * np.size(a) * min(a.shape[-2:])         # k·mn² for each m×n matrix (§5.4, §8.6)
of_sum     = lambda out, x, *_: np.size(x) if np.size(x) > np.size(out) else 0       # if there is anything to add
of_power   = lambda out, x, y: np.size(out) * (1 if type(y) in (int, float) else 3)  # of a register it is exp(y log x)
of_adjoint = lambda out, d, a, b: of_product(d, a, b)                                # what a @ b took, of which d is the adjoint


def of_product(out: Any, a: Any, b: Any) -> int:
    """2nmk of (n, k) by (k, m), also in batches; of a sparse a 2 for each stored entry and each column."""
    return 2 * a.nnz * prod(b.shape[1:]) if hasattr(a, "nnz") else 2 * np.size(out) * prod(np.shape(a)[-1:])


# ---- what entries may be: (*args) -> int -------------------------------------------------------------------

# an axis of length 0 may go, as in a sum over it; a bundle is a tuple
sizes_of         = lambda args: [max(1, a.size) if isinstance(a, tuple) else prod(max(1, n) for n in a.shape)
                                 for a in args if hasattr(a, "shape")]
entries_together = lambda *args: max(1, sum(sizes_of(args)))  # the bound for a row that gives none
multiplied       = lambda *args: prod(sizes_of(args))
of_matrices      = lambda a, b: np.shape(a)[0] * np.shape(b)[1] if np.ndim(a) == np.ndim(b) == 2 else multiplied(a, b)
of_shape         = lambda x, like, *_: np.size(like) if hasattr(like, "shape") else literal_size(like)
of_widths        = lambda x, widths: prod(n + 2 * literal_size(widths) for n in np.shape(x))
of_diagonal      = lambda x, k=0: max(entries_together(x), (np.size(x) + literal_size(k)) ** 2)
by_literals      = lambda *args: entries_together(*args) * prod(max(1, literal_size(a)) for a in args if not hasattr(a, "shape"))


def literal_size(a: Any) -> int:
    """The size that a literal may stand for: a whole number, or the entries of a shape."""
    if isinstance(a, tuple):
        return prod(max(1, literal_size(part)) for part in a)
    if isinstance(a, slice):
        return max(literal_size(end) for end in (a.start, a.stop, a.step))
    return abs(a) if isinstance(a, int) else 0


def all_facts(facts: Mapping[str, Any], flat: bool) -> Facts:
    """The facts of a row, with those that follow. flat: whether it has no derivative."""
    flow = facts.get("flow", "")
    return Facts(**{"flops": 0 if facts.get("view") or flow in MOVING else None, "tame": flat or flow in TAME,
                    "complex": flow in MULTILINEAR or facts.get("gives") is complex,
                    "entries": multiplied if flow == "summed" or "keys" in facts else None} | facts)


# ---- what a function takes ---------------------------------------------------------------------------------

def arity(function: Callable) -> tuple[int, int]:
    """The least and the greatest number of arguments by position, (0, MANY) if it does not say."""
    if isinstance(function, np.ufunc):
        return function.nin, function.nin
    code = getattr(function := undecorated(function), "__code__", None)
    if code is None:
        return 0, MANY
    greatest = code.co_argcount - hasattr(function, "__self__")
    return greatest - len(function.__defaults__ or ()), MANY if code.co_flags & 4 else greatest


def undecorated(function: Callable) -> Callable:
    """The function without its decorators, which take anything."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def takes(function: Callable) -> str:
    """'2 arguments', '1 to 3 arguments', 'at least 1 argument': what `arity` says, in words."""
    least, greatest = arity(function)
    count = (f"{least}" if least == greatest else f"at least {least}" if greatest == MANY else
             f"{least} to {greatest}")
    return f"{count} argument{'s' * (count not in ('1', 'at least 1'))}"


def positional(op: str, value: Callable, args: tuple, named: dict) -> tuple:
    """The arguments by position, as a list holds them: f.sum(x, keepdims=True) is sum(x, None, True)."""
    names, defaults, *_ = parameters(value)
    arguments = [*args]
    for name in names[len(args):]:
        arguments.append(named.pop(name) if name in named else defaults.get(name, missing))
    if named:
        raise TypeError(f"{op} has no argument {next(iter(named))!r}; it takes "
                        f"{', '.join(names) or takes(value)}")
    while len(arguments) > len(args) and arguments[-1] is defaults.get(names[len(arguments) - 1], missing):
        arguments.pop()
    if lacking := [name for name, a in zip(names, arguments, strict=False) if a is missing]:
        raise TypeError(f"{op} needs its argument {lacking[0]!r}")
    return tuple(arguments)


def parameters_of(function: Callable) -> tuple[tuple[str, ...], dict[str, Any], str, dict[str, Any]]:
    """The names of what a function takes by position, their defaults, the name of its *rest, and what it
    takes by name alone. Nothing of a ufunc, and of what does not say, as some functions in C."""
    try:
        signature = () if isinstance(function, np.ufunc) else inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        signature = ()
    places = [p for p in signature if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return ((*(p.name for p in places),), {p.name: p.default for p in places if p.default is not p.empty},
            "".join(p.name for p in signature if p.kind is p.VAR_POSITIONAL),
            {p.name: p.default for p in signature if p.kind is p.KEYWORD_ONLY})


parameters = functools.cache(parameters_of)  # of what stays: the values of operators, NumPy's functions


def taken_by(function: Callable, /, **options: Any) -> dict[str, Any]:
    """Those of the options that the function takes."""
    names, _, _, named = parameters_of(function)
    return {name: x for name, x in options.items() if name in names or name in named}


# ---- the tables in use: those of the interpreter under way, and so of the functions of its list -----

class Tables(NamedTuple):
    """The tables by which the functions of a list are run and differentiated."""
    G: Mapping[str, Callable[..., Any]] = G
    DG: Mapping[str, Sequence[Rule | None]] = DG
    TG: Mapping[str, Sequence[Rule | None]] = TG


OURS = Tables()
IN_USE: ContextVar[Tables] = ContextVar("the tables of the interpreter under way", default=OURS)


class by_tables:
    """A context in which the functions of a list go by these tables: `with by_tables(G=own)`."""

    __slots__ = "new", "old"

    def __init__(self, G: Mapping | None = None, DG: Mapping | None = None, TG: Mapping | None = None):
        self.old = self.new = old = IN_USE.get()
        if not ((G is None or G is old.G) and (DG is None or DG is old.DG) and (TG is None or TG is old.TG)):
            pairs = zip(old, (G, DG, TG), strict=True)
            self.new = Tables(*[before if table is None else table for before, table in pairs])

    def __enter__(self) -> None:
        if self.new is not self.old:
            IN_USE.set(self.new)

    def __exit__(self, *_: Any) -> None:
        if self.new is not self.old:
            IN_USE.set(self.old)


def operator_called(op: str) -> Callable[..., Any]:
    """f.<op>, also of an operator that is only in a user's own tables."""
    def by_tables_in_use(*args):
        inmost = max((a for a in args if isinstance(a, Expression)), key=lambda a: a.level, default=None)
        return IN_USE.get().G[op](*args) if inmost is None else inmost.record(op, args)
    return getattr(f, op) if op in G else by_tables_in_use
