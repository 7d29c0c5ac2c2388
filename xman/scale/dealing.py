"""Work that needs no communication, such as the trials of a search, dealt out to the workers."""
from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import XManError
from .mpi import alone, asleep_until, workers


def dealt(call: Callable[[int], Any], count: int) -> Iterator[Any]:
    """call(0), …, call(count − 1), of which worker i of n calls the i-th, the (i + n)-th, ….

    In a call a worker is by itself: `fit` takes all rows there. How long one takes is not watched. Results
    are pickled, and all come when all are done; without workers each as it is. XManError where a call raises
    one, the first of them.
    """
    here, mine = workers(), {}
    if here.size == 1:
        yield from map(call, range(count))
        return
    for k in range(here.rank, count, here.size):
        try:
            with alone():
                mine[k] = call(k)
        except XManError as error:
            mine[k] = type(error)(str(error))  # what else it holds need not be such that it can be pickled
            break
    asleep_until(here.comm.Ibarrier())
    found = functools.reduce(operator.or_, here.gathered(mine))
    for k in range(count):
        if isinstance(found[k], XManError):
            raise found[k]
        yield found[k]
