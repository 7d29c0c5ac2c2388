"""For `jit`: from the arguments of a call to a program's inputs, and from its outputs to the result."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ops import Expression
from ops.silence import ERRORS, loud

from ..functions.trace import is_input
from ..functions.trees import LEAF, children, fields_of, rebuilt

NUMBERS = frozenset(np.typecodes["AllInteger"] + np.typecodes["Float"] + "?")
DEEP = 50   # the most nested brackets in generated text: Python's parser takes few more


def apart(tree: Any, inputs: list, fixed: list, tokens: list) -> bool:
    """Whether a leaf of the tree is traced. Adds the leaves to inputs or fixed, the structure to tokens."""
    kind = type(tree)
    if kind is np.ndarray and tree.dtype.char in NUMBERS:
        inputs.append(tree)
        tokens += tree.dtype, tree.shape
        return False
    if kind is float:
        inputs.append(np.float64(tree))
        tokens.append(kind)
        return False
    if kind is tuple or kind is list:
        tokens += kind, len(tree)
        return any([apart(x, inputs, fixed, tokens) for x in tree])
    if (subtrees := children(tree)) is None:
        tokens.append(kind)
        if is_input(tree):
            inputs.append(tree)
            tokens += getattr(tree, "dtype", None), np.shape(tree)
        else:
            fixed.append(tree)
        return issubclass(kind, Expression)
    # keys in the order in which fn meets them
    tokens += kind, tuple(tree) if isinstance(tree, dict) else len(subtrees)
    fixed += [x for _, x in fields_of(tree, static=True)]
    return any([apart(x, inputs, fixed, tokens) for _, x in subtrees])


def reader(args: tuple, names: list[str], steady: Callable[[], bool]) -> Callable[[tuple], dict | None]:
    """The function from arguments like these to the inputs by name; it gives None for other arguments, when
    steady() is false, and while NumPy is to raise errors. names: of the inputs, in the order of `apart`."""
    checks, leaves = [], []
    scope = {"real": np.float64, "steady": steady, "loud": loud, "ERRORS": ERRORS, "errors": ERRORS.get()}

    def look(tree: Any, at: str) -> None:
        kind, k = type(tree), len(scope)
        scope[f"kind{k}"] = kind
        checks.append(f"type({at}) is not kind{k}")
        if kind is np.ndarray and tree.dtype.char in NUMBERS:
            scope[f"dtype{k}"] = tree.dtype
            checks.append(f"{at}.dtype != dtype{k} or {at}.shape != {tree.shape}")
            leaves.append(at)
        elif kind is float or kind is np.float64:
            leaves.append(f"real({at})" if kind is float else at)
        elif kind in (int, bool, str):
            scope[f"value{k}"] = tree
            checks.append(f"{at} != value{k}")
        elif kind in (tuple, list, dict) and at.count("[") < DEEP:
            scope[f"keys{k}"] = tuple(tree) if kind is dict else len(tree)
            checks.append(f"tuple({at}) != keys{k}" if kind is dict else f"len({at}) != keys{k}")
            for key, subtree in children(tree):
                scope[f"key{len(scope)}"] = key
                look(subtree, f"{at}[key{len(scope) - 1}]")
        else:
            checks.append("True")

    look(args, "args")
    checks += ["ERRORS.get() is not errors and loud(ERRORS.get())", "not steady()"]
    inputs = ", ".join(f"{name!r}: {leaf}" for name, leaf in zip(names, leaves, strict=False))
    text = f"lambda args: None if {' or '.join(checks)} else {{{inputs}}}"
    return eval(compile(text, __file__, "eval"), scope)


def builder(structure: Any, outputs: Iterator[tuple[str | None, Any]]) -> Callable[[dict], Any]:
    """The function from a program's outputs to fn's result. outputs: for each leaf (its name, the function
    that makes the leaf of the output), or (None, a constant)."""
    if structure is LEAF:
        name, of_leaf = next(outputs)
        if name is None:
            return lambda values: of_leaf.copy() if isinstance(of_leaf, np.ndarray) else of_leaf
        return lambda values: of_leaf(values[name])
    builders, kind = {key: builder(x, outputs) for key, x in children(structure)}, type(structure)
    if kind is dict:
        builders = {key: builders[key] for key in structure}  # in the order in which fn made it
        return lambda values: {key: build(values) for key, build in builders.items()}
    subtrees = [*builders.values()]
    if kind is tuple or kind is list:
        return lambda values: kind([build(values) for build in subtrees])
    return lambda values: rebuilt(structure, [build(values) for build in subtrees])
