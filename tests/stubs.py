"""Writes the stubs by which editors and type checkers know the operators and what `xman` has: python -m tests.stubs

`f` and most of `xman` are there by tables, which a type checker does not run.
"""

import inspect
import keyword
from pathlib import Path

import numpy as np

import ops
import xman
from ops import expression
from ops.facts import undecorated

ROOT = Path(__file__).parents[1]
HEAD = "# Written by `python -m tests.stubs`; tests/test_types.py says when it is to be written again.\n"
UNARY = "neg abs invert pos".split()
BINARY = "add sub mul truediv pow matmul and or lt le gt ge".split()


def operators() -> str:
    """ops/expression.pyi: each operator with its arguments, and Python's own on an Expression."""
    methods = [f"    def __{name}__(self) -> Self: ..." for name in UNARY]
    methods += [f"    def __{r}{name}__(self, other: Any, /) -> Self: ..." for name in BINARY for r in ("", "r")
                if not (r and name in "lt le gt ge".split())]
    return HEAD + '''from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from typing_extensions import Self

Rule = Callable[..., Any]
G: dict[str, Callable[..., Any]]
DG: dict[str, Sequence[Rule | None]]
TG: dict[str, Sequence[Rule | None]]
INFIX: dict[str, str]
SAME: dict[str, str]
SYNONYMS: dict[str, str]
REARRANGED: dict[Any, Callable[..., Any]]

def nearest(name: str, known: Iterable[str]) -> str: ...
def operator_for(function: Any) -> Any: ...

class Expression:
    level: int
    def record(self, op: str, args: tuple[Any, ...]) -> Any: ...
    @property
    def T(self) -> Self: ...
    @property
    def mT(self) -> Self: ...
    def dot(self, other: Any) -> Self: ...
    def reshape(self, *shape: Any) -> Self: ...
    def sum(self, axis: Any = None, keepdims: bool = False) -> Self: ...
    def mean(self, axis: Any = None, keepdims: bool = False) -> Self: ...
    def max(self, axis: Any = None, keepdims: bool = False) -> Self: ...
    def min(self, axis: Any = None, keepdims: bool = False) -> Self: ...
    def __getitem__(self, key: Any, /) -> Self: ...
    def __eq__(self, other: Any, /) -> Self: ...  # type: ignore[override]
    def __ne__(self, other: Any, /) -> Self: ...  # type: ignore[override]
    def __hash__(self) -> int: ...
    def __bool__(self) -> NoReturn: ...
    def __array__(self, *_: Any, **__: Any) -> NoReturn: ...
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any: ...
    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any: ...
''' + "\n".join(methods) + "\n\nclass f:\n" + "".join(map(operator_stub, sorted(ops.table.OURS)))


def operator_stub(op: str) -> str:
    """The operator with its arguments, and the first paragraph of what it says of itself."""
    value = expression.G[op]
    if isinstance(value, np.ufunc):
        arguments = ["x: Any", "y: Any", "z: Any"][:value.nin]
    else:
        arguments = ["*" * (a.kind == a.VAR_POSITIONAL) + f"{a.name}: Any" + ("" if a.default is a.empty else f" = {a.default!r}")
                     for a in inspect.signature(undecorated(value)).parameters.values() if a.kind != a.KEYWORD_ONLY]
    said = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split()) if not isinstance(value, np.ufunc) else ""
    body = f'\n        r"""{said}"""\n' if said and '"' not in said and not said.endswith("\\") else " ...\n"
    return f"    @staticmethod\n    def {op}({', '.join(arguments)}) -> Any:{body}"


def package() -> str:
    """xman/__init__.pyi: what is there at once, and what is imported when it is asked for."""
    now = [("autograd", "Autograd partials"), ("errors", "XManError"), ("manager", "XMan"), ("wengert", "WengertList"),
           ("interpreters", "backprop eval forward shapes"),
           ("register", "Operation Register XManFunctions")]
    assert set(dir(xman)) == {"f", *xman.LATER, *xman.PACKAGES, *" ".join(names for _, names in now).split()}
    named = [*((place, name) for place, names in now for name in names.split()),
             *((place, name) for name, place in xman.LATER.items())]
    return HEAD + "".join([
        *(f"from . import {name} as {name}\n" for name in xman.PACKAGES),
        *(f"from .{place} import {name} as {name}\n" for place, name in sorted(named)),
        "\nf = XManFunctions\n", f"__all__ = {xman.__all__!r}\n", "__version__: str\n"]).replace("'", '"')


STUBS = {ROOT / "ops" / "expression.pyi": operators, ROOT / "xman" / "__init__.pyi": package}

if __name__ == "__main__":
    assert not any(map(keyword.iskeyword, ops.G))
    for path, text in STUBS.items():
        path.write_text(text(), "utf-8")
