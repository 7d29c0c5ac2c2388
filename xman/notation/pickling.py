"""Models and registers for pickle and copy, without recursion."""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol


class Homed(Protocol):
    """A register: `home` is the class that it is an attribute of, with its name there, or None."""
    home: tuple[type, str] | None


class InOrder(dict):
    """An object's attributes for pickle and copy, after the registers they lead to: so neither recurses.

    Pickle writes an attribute before it goes on: a chain of 100,000 registers would be as many calls within
    calls. So all registers come first, in the order of evaluation, and each finds its inputs written.
    in_order: `evaluation_order`, which gives the registers that the outputs depend on.
    """

    now = threading.local()  # its `ids`: the registers that an InOrder around this one writes

    def __init__(self, owner: Any, in_order: Callable[..., Iterable[Homed]], *outputs: Homed):
        super().__init__(vars(owner))
        self.in_order = in_order
        self.outputs = [r for r in outputs if not r.home and id(r) not in getattr(self.now, "ids", ())]

    def __reduce__(self) -> tuple: return dict, (), None, None, self.pairs()

    def pairs(self) -> Iterator[tuple[str, Any]]:
        outer, registers = getattr(self.now, "ids", frozenset()), list(self.in_order(*self.outputs))
        try:
            if registers:
                self.now.ids = outer.union(map(id, registers))
            # each register under the first attribute's name: the attribute's value comes last, and stays
            yield from ((next(iter(self)), r) for r in registers)
        finally:
            self.now.ids = outer
        yield from self.items()
