"""Standard output: letters in place of signs where it is not UTF-8, dy/dx for ∂y/∂x; and its early end."""
import codecs
import contextlib
import errno
import io
import os
import sys
import unicodedata
from collections.abc import Iterator

from ..errors import XManError

SPELLED = dict(pair.split("=", 1) for pair in (
    "∂=d|δ=delta |Δ=Delta |Σ=sum |√=sqrt |½=1/2|π=pi|ε=eps|∞=inf|·=*|×=*|−=-|–=-|→=->|…=...|≤=<=|≥=>=|≠=!=").split("|"))


def spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start:error.end]
    plain = "".join(SPELLED.get(c) or unicodedata.normalize("NFKD", c) for c in letters)
    return plain.encode("ascii", "replace").decode(), error.end


def spell_out() -> None:
    """From now on print ∂y/∂x as dy/dx on a stream that has no ∂, where Python would fail."""
    codecs.register_error("spelled", spelled)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and (
                stream.errors == "strict" or codecs.lookup(stream.encoding).name != "utf-8"):
            stream.reconfigure(errors="spelled")


@contextlib.contextmanager
def until_closed() -> Iterator[None]:
    """A context of prints, which ends early where the reader of standard output, `head` say, has closed it.

    XManError where the disk is full."""
    try:
        try:
            yield
        finally:
            if sys.stdout:  # a process may be started without
                sys.stdout.flush()
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.ENOSPC):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # at its end Python flushes again
        if error.errno == errno.ENOSPC:
            raise XManError(f"the output cannot be written: {error.strerror}") from None
