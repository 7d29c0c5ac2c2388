"""Trees: lists, tuples, named tuples, dicts, dataclasses and None, nested; everything else is a leaf.

A structure is the tree itself with LEAF in place of each leaf; structures are equal if `look` sees no
difference. Each field of a dataclass is a child, except those with metadata={"static": True}, which stay as
they are; its constructor is not called.
"""
from __future__ import annotations

import copy
import dataclasses
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..errors import XManError, with_habits

TOO_DEEP = "an argument is nested hundreds deep, or contains itself; give it flatter"


class Leaf:
    """The class of LEAF, which stands for a leaf in a structure."""

    def __repr__(self) -> str: return "*"
    def __reduce__(self) -> str: return "LEAF"


LEAF = Leaf()


def children(tree: Any) -> list[tuple[Any, Any]] | None:
    """(key, subtree) for each child, for dicts sorted by key; () for None; None for a leaf."""
    if is_leaf(type(tree)):
        return None
    if tree is None:
        return []
    if isinstance(tree, dict):
        try:
            keys = sorted(tree)
        except TypeError:  # keys of several types: any order will do that is the same for equal dicts
            keys = sorted(tree, key=lambda key: (type(key).__name__, repr(key)))
        return [(key, tree[key]) for key in keys]
    if dataclasses.is_dataclass(tree):
        return fields_of(tree, static=False)
    return list(zip(getattr(tree, "_fields", range(len(tree))), tree, strict=True))


@functools.cache
def is_leaf(kind: type) -> bool:
    return not issubclass(kind, (dict, list, tuple, type(None))) and not dataclasses.is_dataclass(kind)


def rebuilt(tree: Any, subtrees: list) -> Any:
    """A container like tree with other children, in the order of `children`."""
    if tree is None:
        return None
    pairs = zip((key for key, _ in children(tree)), subtrees, strict=True)
    if isinstance(tree, dict) or dataclasses.is_dataclass(tree):
        new = copy.copy(tree)  # keeps its type, its order and a defaultdict's factory
        # not a Counter's own way, which adds, nor that of a frozen dataclass
        put = dict.__setitem__ if isinstance(tree, dict) else object.__setattr__
        for key, subtree in pairs:
            put(new, key, subtree)
        return new
    try:
        return type(tree)._make(subtrees) if hasattr(tree, "_fields") else type(tree)(subtrees)
    except TypeError:
        raise XManError(f"a {type(tree).__name__} cannot be rebuilt from its parts; give tuples") from None


def flattened_tree(tree: Any) -> tuple[list, Any]:
    """(leaves, structure) of the tree, with the leaves from left to right."""
    if is_leaf(type(tree)):
        return [tree], LEAF
    leaves: list = []
    try:
        structure = tree_map(lambda leaf: leaves.append(leaf) or LEAF, tree)
    except RecursionError:
        raise XManError(TOO_DEEP) from None
    return leaves, structure


def unflatten(structure: Any, leaves: Iterable) -> Any:
    """The tree of that structure with those leaves."""
    source = iter(leaves)
    return next(source) if structure is LEAF else tree_map(lambda _: next(source), structure)


@with_habits
def tree_map(change: Callable[..., Any], tree: Any, *trees: Any) -> Any:
    """The tree with change(leaf) in the place of each leaf; trees: others like it, with leaves for it too."""
    if trees:
        leaves, structure = flattened_tree(tree)
        matched = [matching(like, structure, "a tree", "the first") for like in trees]
        return unflatten(structure, map(change, leaves, *matched))
    below = children(tree)
    if below is None:
        return change(tree)
    return rebuilt(tree, [tree_map(change, subtree) for _, subtree in below])


def leaf_names(tree: Any, root: str) -> Iterator[str]:
    """A name for each leaf, made of the keys that lead to it: params_W1, params_0_b."""
    below = children(tree)
    if below is None:
        yield root
    for key, subtree in below or ():
        yield from leaf_names(subtree, re.sub(r"\W", "_", f"{root}_{key}"))


def matching(tree: Any, structure: Any, name: str, like: str) -> list:
    """The leaves of the tree. XManError, with the path, if it does not have this structure."""
    leaves, shape = flattened_tree(tree)
    if look(shape) != look(structure):
        path, kind, expected = difference(shape, structure, name)
        raise XManError(f"{path} is {kind} where {like} has {expected}; give {name} the same structure, "
                        f"{structure}")
    return leaves


def look(tree: Any) -> tuple:
    """(kind, keys or number, static fields, looks of the children), by which structures are compared."""
    below = children(tree) or []
    kind = next((base for base in (dict, list, tuple) if isinstance(tree, base)), type(tree))
    keys = len(below) if kind in (list, tuple) else [key for key, _ in below]
    return kind, keys, fields_of(tree, static=True), [look(subtree) for _, subtree in below]


def fields_of(tree: Any, static: bool) -> list[tuple[str, Any]]:
    """(name, value) of each field of a dataclass, the static ones or the others; [] for any other tree."""
    fields = dataclasses.fields(tree) if dataclasses.is_dataclass(tree) else ()
    return [(x.name, getattr(tree, x.name)) for x in fields if bool(x.metadata.get("static")) == static]


def difference(left: Any, right: Any, path: str) -> tuple[str, str, str]:
    """(path, what mine has there, what theirs has) for the first place where two structures differ."""
    if look(left)[:3] == look(right)[:3]:
        pairs = zip(children(left), children(right), strict=True)
        return next(difference(a, b, f"{path}[{key!r}]") for (key, a), (_, b) in pairs if look(a) != look(b))
    return path, structure_in_words(left), structure_in_words(right)


def structure_in_words(structure: Any) -> str:
    """'a leaf', 'None', 'a list of 3', 'a dict with the keys a, b'."""
    if structure is LEAF or structure is None:
        return "a leaf" if structure is LEAF else "None"
    keys = structure if isinstance(structure, dict) else getattr(structure, "__dataclass_fields__", None)
    size = f"of {len(structure)}" if keys is None else f"with the keys {', '.join(map(str, keys))}"
    return f"a {type(structure).__name__} {size}"


def number_of(x: Any) -> Any:
    return x[()] if isinstance(x, np.ndarray) and not x.ndim else x


def as_own(x: Any) -> Any:
    """A copy of an array, for the user, who may write into it; anything else as it is."""
    return number_of(np.array(x)) if issubclass(type(x), np.ndarray) else x
