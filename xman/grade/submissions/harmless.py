"""Text that a stranger wrote, shown so that it can do nothing to a terminal, a page or a line of a report."""
from __future__ import annotations

KEPT = "\n\t\u00a0\u200c\u200d"  # besides what is printable; the joiners are part of names and of emoji


def harmless(text: str, most: int | None = 4000) -> str:
    r"""The text with control characters, overrides, lone surrogates made visible (\x1b), at most so long."""
    shown = "".join(c if c.isprintable() or c in KEPT else c.encode("unicode_escape").decode()
                    for c in text[:most])
    return (shown if most is None or len(text) <= most >= len(shown) else f"{shown[:most]}… [cut: "
            f"{len(text):,} characters in all]")
