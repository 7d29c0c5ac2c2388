"""A terminal that is not in UTF-8 gets letters in place of signs: dy/dx for ∂y/∂x."""
import codecs
import io
import sys
import unicodedata

SPELLED = {"∂": "d", "δ": "delta ", "Δ": "Delta ", "Σ": "sum ", "√": "sqrt ", "½": "1/2", "π": "pi", "ε": "eps", "∞": "inf",
           "·": "*", "×": "*", "−": "-", "–": "-", "→": "->", "…": "...", "≤": "<=", "≥": ">=", "≠": "!="}


def spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    plain = (SPELLED.get(c) or unicodedata.normalize("NFKD", c) for c in error.object[error.start:error.end])
    return "".join(plain).encode("ascii", "replace").decode(), error.end


def spell_out() -> None:
    """From now on print ∂y/∂x as dy/dx on a stream that has no ∂, where Python would fail."""
    codecs.register_error("spelled", spelled)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and (
                stream.errors == "strict" or codecs.lookup(stream.encoding).name != "utf-8"):
            stream.reconfigure(errors="spelled")
