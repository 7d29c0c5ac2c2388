"""The command line: `commands` and `derivatives` run lists, `export` writes them for other systems,
`learning` trains models, `predictions` uses them, `grade` and `term` run a course."""
from __future__ import annotations

import contextlib
import sys
import time

from ..errors import XManError, extra
from ..scale.mpi import workers
from ..show.terminal import spell_out, until_closed


def main() -> None:
    """Run the command that was typed. An error that the user can mend is a sentence, with exit status 2."""
    spell_out()
    try:
        click = extra("click", "grade" if sys.argv[1:2] == ["grade"] else "cli", "the command line")
        # each import adds its commands to the group
        from . import commands, derivatives, export, grade, learning, options, predictions, term
        try:
            with until_closed():
                derivatives.xman(sys.argv[1:] or ["--help"], prog_name="xman", standalone_mode=False)
        except click.ClickException as error:
            raise XManError(options.in_our_words(error)) from None
        except (click.Abort, commands.Interrupted) as stop:
            raise KeyboardInterrupt(*stop.args) from None
    except XManError as error:
        end_workers(str(error), 2)
        print(f"xman: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt as stop:
        end_workers("interrupted", 130)
        print(f"xman: {str(stop) or 'interrupted'}", file=sys.stderr)
        sys.exit(130)
    sys.exit(0)


def end_workers(sentence: str, status: int) -> None:
    """End the processes of all workers, if there are several."""
    with contextlib.suppress(XManError):  # the sentence may be that there is no MPI
        if (team := workers()).size > 1:
            time.sleep(2 * (team.rank > 0))  # if all workers fail, the first one prints the sentence
            team.abort(sentence, status)
