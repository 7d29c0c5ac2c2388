"""Letters for what a terminal that is not UTF-8 cannot show."""
from __future__ import annotations

import codecs
import sys
import unicodedata

SPELLED = {"∂": "d", "δ": "delta ", "Δ": "Delta ", "Σ": "sum ", "√": "sqrt ", "½": "1/2", "π": "pi", "ε": "eps", "∞": "inf",
           "·": "*", "×": "*", "−": "-", "–": "-", "→": "->", "…": "...", "≤": "<=", "≥": ">=", "≠": "!="}


def spelled(error: UnicodeError) -> tuple[str, int]:
    """Letters for what a terminal that is not UTF-8 cannot show: ∂y/∂x is dy/dx there."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    plain = (SPELLED.get(c) or unicodedata.normalize("NFKD", c) for c in error.object[error.start:error.end])
    return "".join(plain).encode("ascii", "replace").decode(), error.end


def spell_out() -> None:
    """Print ∂y/∂x as dy/dx where the output has no ∂, instead of failing."""
    codecs.register_error("spelled", spelled)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="spelled")
