"""The command line: `commands` and `derivatives` run lists, `export` writes them for others, `operators`
lists what they are made of, `grade` is a course's."""
from __future__ import annotations

import contextlib
import sys
import time

from ..errors import XManError, extra
from ..scale.mpi import workers
from ..show.terminal import spell_out


def main() -> None:
    """Run the command that was typed. What a user can mend is said in a sentence, with exit status 2."""
    spell_out()
    try:
        click = extra("click", "grade" if sys.argv[1:2] == ["grade"] else "cli", "the command line")
        # their commands join those of the group
        from . import derivatives, export, grade, operators, predictions
        try:
            derivatives.xman(sys.argv[1:] or ["--help"], prog_name="xman", standalone_mode=False)
        except click.ClickException as error:
            raise XManError(error.format_message()) from None
        except click.Abort:  # Ctrl-C
            raise KeyboardInterrupt from None
    except XManError as error:
        end_workers(str(error), 2)
        print(f"xman: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        end_workers("interrupted", 130)
        sys.exit(130)
    sys.exit(0)


def end_workers(sentence: str, status: int) -> None:
    """End the processes of all workers, if there are several."""
    with contextlib.suppress(XManError):  # where there is no MPI, which is the error
        if (here := workers()).size > 1:
            time.sleep(2 * (here.rank > 0))  # what all find wrong, the first says
            here.abort(sentence, status)
