"""Files that are written whole or not at all."""
from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ..errors import XManError


def write_whole(path: str | Path, content: bytes) -> None:
    """Write a file beside path, which then takes its place: whoever reads path finds the old file or the new, whole.

    XManError where that cannot be, with the old file as it was.
    """
    path = Path(path)
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, suffix=".part", delete=False) as file:
            try:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                os.chmod(file.name, path.stat().st_mode if path.exists() else 0o666 & ~UMASK)
                os.replace(file.name, path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise XManError(f"{path} cannot be written: {error.strerror}; what stood there is unchanged") from None


UMASK = os.umask(0)
os.umask(UMASK)  # there is no other way to read it
