"""Tables of text for terminals, as the reports and the traces print them."""
from __future__ import annotations

import itertools
import textwrap
from collections.abc import Sequence


def table_as_text(table: Sequence[Sequence[str]], left: int, columns: int | None = None, gap: str = "  ",
                  indent: str = "") -> str:
    """The table as text, its first `left` columns flush left. columns: the width of the page (None: no end).
    A table too wide for it is turned on its side if it has few rows; else words go on in the line below,
    after the indent. gap: between two columns."""
    longest_word = lambda cell: max(map(len, cell.split()), default=0)
    widths, words = ([max(map(length, column)) for column in zip(*table, strict=True)]
                     for length in (len, longest_word))
    # columns that can break between words give way first, the widest of them before the others
    excess = lambda k: (widths[k] > words[k], widths[k] if k < left or widths[k] > words[k] else 0)
    while sum(widths) + len(gap) * (len(widths) - 1) > (columns or 10 ** 9):
        if len(table) < len(widths):
            return table_as_text([*zip(*table, strict=True)], 1, columns)
        if excess(widest := max(range(len(widths)), key=excess)) <= (False, 8):
            break
        widths[widest] -= 1
    cut = lambda cell, width: textwrap.wrap(cell, max(width, 1), break_on_hyphens=False,
                                           subsequent_indent=indent)
    return "\n".join(gap.join(cell.rjust(widths[k]) if k >= left else cell.ljust(widths[k])
                              for k, cell in enumerate(line)).rstrip()
                     for row in table for line in itertools.zip_longest(*map(cut, row, widths), fillvalue=""))
