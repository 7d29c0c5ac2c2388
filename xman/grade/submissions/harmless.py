"""Makes a stranger's text harmless for a terminal, a page or a line of a report."""
from __future__ import annotations

KEPT = "\n\t\u00a0\u200c\u200d"  # kept though they are not printable; the joiners are in names and emoji


def harmless(text: str, width: int | None = 4000) -> str:
    r"""The text, at most so long, with control characters, overrides and lone surrogates visible, as \x1b."""
    shown = "".join(c if c.isprintable() or c in KEPT else c.encode("unicode_escape").decode()
                    for c in text[:width])
    is_short = width is None or len(text) <= width >= len(shown)
    return shown if is_short else f"{shown[:width]}… [cut: {len(text):,} characters in all]"
