"""A list in columns, with the shape of each register."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import ops

from ..interpreters import shapes
from ..notation import definition, in_notebooks, literal_text
from ..wengert import Steps, WengertList, checked_list


def listing(steps: Steps, likes: Mapping[str, Any] | None = None) -> Listing:
    """The list in columns, each line with its shape; a notebook shows a table and the explorer.

    steps: the list. likes: examples of the inputs, as for `shapes`: arrays, numbers, or shapes; without them
    no shape is known. The explorer has the likes that are arrays or numbers. XManError as for `shapes`.
    """
    steps = checked_list(steps, ops.G)
    values = {x: a for x, a in (likes or {}).items() if not isinstance(a, tuple)}
    return Listing(steps, shapes(steps, likes) if likes else {}, values)


class Listing(NamedTuple):
    """The result of `listing`: steps, sizes, (shape, dtype) by register, and values of inputs."""
    steps: WengertList
    sizes: Mapping[str, Any]
    values: Mapping[str, Any] = {}

    def text(self, paint: Callable[..., str] = lambda text, **_: text, aligned: bool = True,
             columns: int = 10 ** 9) -> str:
        """The lines, as wide as `columns`. paint(text, bold=True, …) adds colours. aligned: in columns."""
        width, rows = max((len(dst) for dst, _, _ in self.steps), default=0) * aligned, []
        shapes = {dst: f"# {size_text(size)}" for dst, size in self.sizes.items()}
        place = min(51, columns - max(map(len, shapes.values()), default=0))
        for dst, op, args in self.steps:
            row = f"{paint(dst.ljust(width), bold=True)} = {paint(op, fg='blue')}("
            column = start = max(width, len(dst)) + len(op) + 4
            for k, a in enumerate(args, 1):
                word, end = a if isinstance(a, str) else literal_text(a), "," * (k < len(args))
                if k > 1 and column + len(word + end) >= columns:
                    row, column = f"{row.rstrip()}\n{' ' * start}", start
                row += (word if isinstance(a, str) else paint(word, fg="green")) + end + " " * len(end)
                column += len(word) + 2 * len(end)
            row, column = row + ")", column + 1
            if shapes:
                row, column = (row, column) if column + len(shapes[dst]) < columns else (row + "\n", 0)
                row += " " * max(1, place - column) + paint(shapes[dst], dim=True)
            rows.append(row)
        functions = [definition(a, aligned) + "\n" for a in ops.loops.functions_in(self.steps)]
        return "\n".join([*functions, *rows])

    def __repr__(self) -> str: return self.text()

    _repr_html_ = in_notebooks("listing_in_html")


def size_text(size: tuple) -> str:
    shape, kind = size
    return f"{shape} {'bundle' if kind.kind == 'O' else kind}"
