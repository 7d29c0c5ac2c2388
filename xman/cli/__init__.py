"""The command line: xman train, show, eval, grad, check."""
from __future__ import annotations

import sys

from ..errors import XManError, extra


def main() -> None:
    """Run the command that was typed. What a user can mend is said in a sentence, with exit status 2."""
    try:
        extra("click", "cli", "the command line")
        from .commands import xman
        xman(prog_name="xman")
    except XManError as error:
        print(f"xman: {error}", file=sys.stderr)
        sys.exit(2)
