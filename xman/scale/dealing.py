"""Work that needs no communication, such as the trials of a search, dealt out to the workers."""
from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import XManError
from .mpi import alone, asleep_until, workers


def dealt(call: Callable[[int], Any], count: int) -> Iterator[tuple[int, Any]]:
    """(k, call(k)) for each k below count, of which worker i of n calls i, i + n, …, its own first.

    In a call a worker is by itself: `fit` takes all rows there. How long one takes is not watched, and the
    others' results come when all are done; they are pickled. XManError where a call raises one: the error
    of the least k, as without workers.
    """
    here, mine = workers(), {}
    for k in range(here.rank, count, here.size):
        try:
            with alone():
                mine[k] = call(k)
        except XManError as error:
            if here.size == 1:
                raise
            mine[k] = type(error)(str(error))  # what else it holds need not be such that it can be pickled
            break
        yield k, mine[k]
    if here.size > 1:
        asleep_until(here.comm.Ibarrier())
        found = functools.reduce(operator.or_, here.gathered(mine))
        if failed := [k for k in sorted(found) if isinstance(found[k], XManError)]:
            raise found[failed[0]]
        yield from ((k, found[k]) for k in range(count) if k not in mine)
