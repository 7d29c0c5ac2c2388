"""Files are written whole or not at all, also when the disk is full or the process is killed half way."""
from __future__ import annotations

import os
import secrets
from pathlib import Path

from ...errors import XManError


def atomically(path: str | Path, text: str | bytes) -> None:
    """Write the text (as UTF-8) or the bytes to path; folders that are missing are made.

    They are written to a temporary file of the same folder, which then takes the place of path: a reader sees
    the old file or the new one, also when this process is killed. XManError where that cannot be.
    """
    path = Path(path)
    # a name may hold a lone surrogate
    data = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    temporary = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(temporary, "xb") as file:
                file.write(data)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise XManError(f"{path} could not be written: {error.strerror or error}; what stood there is as it "
                        "was") from error
