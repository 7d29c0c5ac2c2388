"""What an engine is given: the list as it is for the shapes and types of one set of values, and what is wanted of it."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..interpreters import eval
from ..interpreters.context import number
from ..passes import EXACT, simplify
from ..wengert import WengertList
from .lowered import LOWERED


class Kind(NamedTuple):
    """What a program knows of a register: an array of that shape and type, or a number where `array` does not hold."""
    shape: tuple[int, ...]
    dtype: np.dtype
    array: bool

    @property
    def bytes(self) -> int:
        return int(np.prod(self.shape)) * self.dtype.itemsize


class Program(NamedTuple):
    """A list for one set of shapes and types.

    steps: the list, simplified for the shapes and lowered to few operators. kinds: those of its registers; one that is
    missing there is something else, such as a sparse matrix. outputs: what is wanted. inplace: the input that each of
    these registers is to overwrite. original: the list as it was.
    """
    steps: WengertList
    kinds: dict[str, Kind]
    outputs: tuple[str, ...]
    inplace: dict[str, str]
    original: WengertList


def program_of(steps: WengertList, values: Mapping[str, Any], outputs: tuple[str, ...], inplace: Mapping[str, str]) -> Program:
    """The program for these values. Raises XManError where the list does not run on them."""
    values = {name: number(name, v) if isinstance(v, (int, float, list, tuple, str)) else v for name, v in values.items()
              if name in steps.inputs}
    eval(steps, values)  # what fails, fails here and in words
    keep = dict.fromkeys((*outputs, *inplace.values()))
    short = simplify(steps, keep, values, EXACT + LOWERED)
    found = eval(short, values)
    kinds = {name: kind for name, x in found.items() if (kind := kind_of(x))}
    return Program(short, kinds, outputs, {y: x for x, y in inplace.items()}, steps)


def kind_of(x: Any) -> Kind | None:
    """The kind of an array or a number; None for what is neither."""
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "biuf" and type(x).__module__ == "numpy":
        return Kind(x.shape, x.dtype, type(x) is np.ndarray)
    return Kind((), np.dtype(type(x)), False) if type(x) in (bool, int, float) else None
