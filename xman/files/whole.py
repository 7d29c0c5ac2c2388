"""Files are written whole or not at all; and a text is read."""
from __future__ import annotations

import contextlib
import glob
import os
import platform
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ..errors import XManError

try:
    import fcntl
except ImportError:  # Windows, where nobody can remove or move an open file
    fcntl = None


def write_whole(path: str | Path, content: str | bytes, lasting: bool = True) -> None:
    """Write the content to a file beside path, then move it to path: the old or the new file is whole.

    content: bytes, or a text, in which characters that UTF-8 lacks are escaped. lasting: whether the new file
    is on the disk before it is moved, so that it survives a power cut. Files that a killed writer left behind
    are removed; a lock, which ends with its process, tells whether a writer is alive. XManError where the
    file cannot be written; the old file is then as it was.
    """
    path = Path(path)
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    for leftover in path.parent.glob(f"{glob.escape(path.name)}*.part"):
        with contextlib.suppress(OSError), open(leftover) as file:
            if time.time() - leftover.stat().st_mtime > YOUNG:
                lock_file(file)
                leftover.unlink()
    try:
        if path.exists() and not path.is_file():  # a terminal or a pipe stays what it is
            path.write_bytes(data)
            return
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, suffix=".part",
                                         delete=False) as file:
            try:
                lock_file(file)
                file.write(data)
                file.flush()
                if lasting:
                    os.fsync(file.fileno())
                if not fcntl:
                    file.close()
                os.chmod(file.name, path.stat().st_mode if path.exists() else 0o666 & ~UMASK)
                os.replace(file.name, path)
            except BaseException:
                with contextlib.suppress(OSError):  # it tries to write what the full disk did not take
                    file.close()
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise XManError(f"{path} cannot be written: {error.strerror}; what stood there is "
                        "unchanged") from None


def refuse_unwritable(path: str | Path) -> None:
    """XManError where no file could be written to path: said before what takes time."""
    path = Path(path)
    folder = path.parent
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # a terminal or a pipe
            return
        if not folder.is_dir():
            raise XManError(f"{path} cannot be written: there is no folder {folder}; make it first")
        reasons = [("this is a directory", path.is_dir()),
                   ("it is read-only", path.is_file() and not os.access(path, os.W_OK)),
                   (f"the folder {folder} is read-only", not os.access(folder, os.W_OK))]
        reason = next((reason for reason, holds in reasons if holds), "")
        if not reason:
            with tempfile.NamedTemporaryFile(dir=folder, prefix=path.name, suffix=".part"):
                return  # as `write_whole` begins
    except OSError as error:  # such as a name that is too long
        reason = str(error.strerror)
    raise XManError(f"{path} cannot be written: {reason}; name another file")


def text_at(path: str | Path) -> str:
    """The text of a file. XManError where it cannot be read."""
    try:
        return Path(path).read_text("utf-8")
    except UnicodeDecodeError:
        raise XManError(f"{path} is not a text in UTF-8") from None
    except OSError as error:
        raise XManError(f"{path} cannot be read: {error.strerror}") from None


def lock_file(file: IO | int, shared: bool = False) -> None:
    """Lock an open file for as long as it is open. shared: others may too. OSError if it is locked."""
    if fcntl:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


@contextlib.contextmanager
def only_writer(path: str | Path | None) -> Iterator[None]:
    """A context in which this process alone writes to path, for hours. XManError if another does. The lock is
    a file beside path, since path itself is replaced at each writing; it names its holder."""
    if path is None or not fcntl:
        yield
        return
    lock = Path(f"{path}.lock")
    while True:
        try:
            file = open(lock, "a+")
        except OSError as error:
            raise XManError(f"{path} cannot be written: {error.strerror}; name another file") from None
        with file:
            try:
                lock_file(file)
            except BlockingIOError:
                file.seek(0)
                raise XManError(f"{path} is being written by {file.read() or 'another process'}: give this run "
                                "another file, or end that one") from None
            except OSError:
                pass  # there are no locks on this file system
            if not lock.exists() or not os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                continue  # its holder has removed it since it was opened here
            file.truncate(0)
            print(f"process {os.getpid()} on {platform.node()}", end="", file=file, flush=True)
            try:
                yield
            finally:
                lock.unlink(missing_ok=True)
            return


YOUNG = 1.0  # seconds after which a new file has surely been locked by its writer
UMASK = os.umask(0)
os.umask(UMASK)  # the umask can only be read by setting it
