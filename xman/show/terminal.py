"""Tables in the width of a terminal; letters for what one without UTF-8 cannot show: ∂y/∂x is dy/dx there."""
import codecs
import io
import itertools
import sys
import textwrap
import unicodedata
from collections.abc import Sequence

SPELLED = {"∂": "d", "δ": "delta ", "Δ": "Delta ", "Σ": "sum ", "√": "sqrt ", "½": "1/2", "π": "pi", "ε": "eps", "∞": "inf",
           "·": "*", "×": "*", "−": "-", "–": "-", "→": "->", "…": "...", "≤": "<=", "≥": ">=", "≠": "!="}


def table_as_text(table: Sequence[Sequence[str]], left: int, columns: int | None = None) -> str:
    """The table as text, its first `left` columns flush left. One too wide is turned on its side where
    it is short; else cells go on below: words are cut after 8 letters or more, numbers never."""
    widths, words = ([max(map(long, column)) for column in zip(*table, strict=True)]
                     for long in (len, lambda cell: max(map(len, cell.split()), default=0)))
    excess = lambda k: (widths[k] > words[k], widths[k] if k < left or widths[k] > words[k] else 0)
    while sum(widths) + 2 * len(widths) - 2 > (columns or 10 ** 9):
        if len(table) < len(widths):
            return table_as_text([*zip(*table, strict=True)], 1, columns)
        if excess(widest := max(range(len(widths)), key=excess)) <= (False, 8):
            break
        widths[widest] -= 1
    cut = lambda row: [textwrap.wrap(cell, width, break_on_hyphens=False)
                       for cell, width in zip(row, widths, strict=True)]
    return "\n".join("  ".join(cell.rjust(widths[k]) if k >= left else cell.ljust(widths[k])
                               for k, cell in enumerate(cells)).rstrip()
                     for row in table for cells in itertools.zip_longest(*cut(row), fillvalue=""))


def spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    plain = (SPELLED.get(c) or unicodedata.normalize("NFKD", c) for c in error.object[error.start:error.end])
    return "".join(plain).encode("ascii", "replace").decode(), error.end


def spell_out() -> None:
    """Print ∂y/∂x as dy/dx where a stream has no ∂, instead of failing;
    one in UTF-8, or that is no terminal or file, is left."""
    codecs.register_error("spelled", spelled)
    for stream in (sys.stdout, sys.stderr):
        if (isinstance(stream, io.TextIOWrapper)
            and (stream.errors == "strict" or codecs.lookup(stream.encoding).name != "utf-8")):
            stream.reconfigure(errors="spelled")
