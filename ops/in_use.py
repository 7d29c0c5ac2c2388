"""The tables in use: those that an interpreter was given, by which the functions of a list go too."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

from .expression import DG, TG, Expression, G, Rule, f


class Tables(NamedTuple):
    """What the functions of a list are run and differentiated by."""
    G: Mapping[str, Callable[..., Any]] = G
    DG: Mapping[str, Sequence[Rule | None]] = DG
    TG: Mapping[str, Sequence[Rule | None]] = TG


OURS = Tables()
IN_USE: ContextVar[Tables] = ContextVar("the tables of the interpreter under way", default=OURS)


class by_tables:
    """A context in which the functions of a list go by these tables, as in `with by_tables(G=own)`;
    where nothing changes it does nothing."""

    def __init__(self, **own: Mapping):
        self.old = IN_USE.get()
        same = all(getattr(self.old, which) is table for which, table in own.items())
        self.new = self.old if same else self.old._replace(**own)

    def __enter__(self) -> None: IN_USE.set(self.new)
    def __exit__(self, *_: Any) -> None: IN_USE.set(self.old)


def operator_called(op: str) -> Callable[..., Any]:
    """f.<op>, and the same of an operator that is in tables of somebody's own alone."""
    def own(*args):
        inmost = max((a for a in args if isinstance(a, Expression)), key=lambda a: a.level, default=None)
        return IN_USE.get().G[op](*args) if inmost is None else inmost.record(op, args)
    return getattr(f, op, own)
