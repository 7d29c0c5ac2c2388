"""Indexing: r[...] and its adjoint; strings and dates as numbers. A key is a literal or a register."""
from __future__ import annotations

import math
import re
from itertools import repeat

import numpy as np

from ..expression import f
from ..facts import by_literals, of_input
from ..table import linear, operator
from .rearrangements import in_precision_of


def scatterAdd(d, like, *keys):
    """Zeros of the shape and precision of like, with d added at [keys]; entries at one place are added up."""
    result = np.zeros(np.shape(like), np.asarray(d).dtype)
    if all([isinstance(key, (int, slice, type(None), type(Ellipsis))) for key in keys]):
        # these keys name no place twice
        if np.ndim(d) and not np.ndim(result[keys]):  # NumPy before 2.4 takes one entry
            raise ValueError(f"an array of shape {np.shape(d)} is no number, which the place of one takes")
        result[keys] = d
    else:
        add_at(result, keys, d)
    return in_precision_of(result, like)


def add_at(x, keys, d):
    """np.add.at(x, keys, d) for an x that is new, with the same bits.

    One index for each entry is quicker than one for each row: in x (5, 2), the rows 3 and 1 are the entries
    [[6, 7], [2, 3]] of the flat x.
    """
    leading = all([type(key) is not slice and key is not None and key is not Ellipsis for key in keys])
    axes = sum(map(axes_taken, keys)) if leading else x.ndim
    n_rows, n_columns = math.prod(x.shape[:axes]), math.prod(x.shape[axes:])
    if x.ndim == 1 or not 2000 < np.size(d) > n_rows:  # to number the rows would take longer, for speed alone
        return np.add.at(x, keys, d)
    rows = np.arange(n_rows).reshape(x.shape[:axes])[keys]
    places = (rows[..., None] * n_columns + np.arange(n_columns)).reshape(*rows.shape, *x.shape[axes:])
    np.add.at(x.reshape(-1), places.ravel(), np.broadcast_to(d, places.shape).ravel())


def axes_taken(key):
    """How many axes a key takes: None takes none, a mask as many as it has, and all others take one."""
    mask = isinstance(key, bool) or isinstance(key, np.ndarray) and key.dtype.kind == "b"
    return 0 if key is None else np.ndim(key) if mask else 1


def written_out(keys, axes):
    """The keys for an array with so many axes, with slices in place of the ellipsis and of keys left out."""
    position = next((k for k, key in enumerate(keys) if key is Ellipsis), len(keys))
    n_left = axes - sum(axes_taken(key) for key in keys if key is not Ellipsis)
    return [*keys[:position], *[slice(None)] * n_left, *keys[position + 1:]]


def through_take(d, out, x, indices, axis=None):
    if axis is None or getattr(x, "shape", None) == ():
        return f.reshape(f.scatterAdd(d, f.reshape(x, (-1,)), indices), x)
    before = (slice(None),) * axis if axis >= 0 else (Ellipsis,)
    return f.scatterAdd(d, x, *before, indices, *(slice(None),) * (-1 - axis))


# ---- columns of a table ------------------------------------------------------------------------------------

def codes(x, categories):
    """The place of each entry of x in the tuple categories; len(categories) for others. None counts as ""."""
    place = {category: k for k, category in enumerate(categories)}
    place.setdefault(None, place.get("", len(place)))
    places = map(place.get, np.ravel(x).tolist(), repeat(len(categories)))
    return np.fromiter(places, np.int64, np.size(x)).reshape(np.shape(x))


def characters(x, n):
    """The code points of the first n characters of each string, along a new last axis; 0 past its end."""
    x = np.asarray(np.where(np.equal(x, None), "", x) if np.asarray(x).dtype == object else x)
    points = np.ascontiguousarray(x.astype(f"=U{n}")).view(np.uint32)
    return points.reshape(*x.shape, n).astype(np.int64)


def words(x, vocabulary):
    """How often each word of vocabulary occurs in each string, in any case, along a new last axis."""
    place = {word: k for k, word in enumerate(vocabulary)}
    counts = np.zeros((np.size(x), len(vocabulary)))
    for row, text in enumerate(np.ravel(x).tolist()):
        for word in split_words(text or ""):
            if word in place:
                counts[row, place[word]] += 1.0
    return counts.reshape(*np.shape(x), len(vocabulary))


def split_words(text: str) -> list[str]:
    """The words of a text, in small letters: letters, digits and apostrophes in a row."""
    return re.findall(r"\w+(?:'\w+)*", text.lower())


def days(x):
    """Days since 1970, of datetime64 or strings such as 2024-01-31T12:30. None is NaN."""
    dates = np.asarray(x)
    if dates.dtype.kind != "M":
        dates = dates.astype(object).astype("datetime64[ms]")
    return np.where(np.isnat(dates), np.nan, dates.astype("datetime64[ms]").astype(np.int64) / 86_400_000.0)


def getitem(x, *keys):
    """x[keys]: slices, integers, integer arrays and boolean masks, as NumPy does."""
    return (np.asarray(x) if type(x) in (bool, int, float) else x)[keys]


def take(x, indices, axis=None):
    """x at indices along axis; of the flattened x for None."""
    return np.take(x, indices, axis)


# the values that are one expression, and what they are

linear("getitem",    getitem,    lambda d, out, x, *keys: f.scatterAdd(d, x, *keys),
       view=True, flow="part", keys=1)
linear("scatterAdd", scatterAdd, lambda u, out, d, like, *keys: f.unbroadcast(f.getitem(u, *keys), d),
       flops=of_input(1), flow="filled", like=1, keys=2)
linear("take",       take,       through_take,
       flow="part", keys=1, numpy="take")

operator("codes",      codes,      flops=0, gives=int)
operator("characters", characters, flops=0, gives=int, entries=by_literals)
operator("words",      words,      None, None, flops=0, entries=lambda x, words: np.size(x) * len(words))
operator("days",       days,       None, flops=0)
