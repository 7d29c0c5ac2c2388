"""The one format of checkpoints and models: arrays and facts in a file of safetensors, written at once or not at all.

The facts stand in the metadata as JSON, with the versions that wrote them and a digest of everything, by which a file that was
altered is told. Whoever reads one runs nothing of it.
"""
from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import XManError, extra

FORMAT = 3  # of the files that are written


def save(path: str | Path, arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
    """Write arrays and facts (anything JSON can hold) to path: to a file beside it first, which then takes its place.

    Whoever reads path finds the old file or the new, whole; two processes never mix. XManError where it cannot be
    written, with the old file left as it was.
    """
    numpy = extra("safetensors.numpy", "cli", "a checkpoint or a model")
    path, arrays = Path(path), {name: np.asarray(a, order="C") for name, a in arrays.items()}
    text = json.dumps({"versions": versions()} | facts)
    content = numpy.save(arrays, {"format": str(FORMAT), "xman": text, "sha256": digest(arrays, text)})
    try:
        handle, beside = tempfile.mkstemp(prefix=path.name + ".", suffix=".part", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise XManError(f"{path} could not be written: {error.strerror}; what stood there is unchanged") from error


def restore(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and facts of a checkpoint or a model. XManError for a file that is none, of a later version, or damaged."""
    safetensors = extra("safetensors", "cli", "a checkpoint or a model")
    if Path(path).is_dir():
        raise XManError(f"{path} is a directory; name a file")
    try:
        with safetensors.safe_open(str(path), "numpy") as file:
            metadata = file.metadata() or {}
            number, text = int(metadata["format"]), metadata["xman"]
            if number != FORMAT:
                age, mend = ("a later", "update xman") if number > FORMAT else ("an older", "train again")
                raise XManError(f"{path} is of {age} version of xman, format {number}; this one reads {FORMAT}: {mend}")
            arrays = {name: file.get_tensor(name) for name in file.keys()}
        if metadata["sha256"] != digest(arrays, text):
            raise ValueError("its content is not what was written: it was altered")
        facts = json.loads(text)
        if not isinstance(facts, dict):
            raise TypeError("its facts are no dict")
        return arrays, facts
    except XManError:
        raise
    except FileNotFoundError:
        raise XManError(f"there is no file {path}") from None
    except (OSError, KeyError, TypeError, ValueError, RecursionError, safetensors.SafetensorError) as error:
        raise XManError(f"{path} is no checkpoint or model of xman, or is damaged: {error}; move it away to "
                        "begin anew") from error


def digest(arrays: dict[str, np.ndarray], text: str) -> str:
    """SHA-256 of the facts and of every array, with its name, type and shape."""
    found = hashlib.sha256(text.encode())
    for name, a in sorted(arrays.items()):
        found.update(f"\n{name} {a.dtype} {a.shape}\n".encode())
        found.update(np.ascontiguousarray(a).reshape(-1).view(np.uint8))
    return found.hexdigest()


def versions() -> dict[str, str]:
    """Of what wrote a file."""
    return {"python": sys.version.split()[0], "numpy": np.__version__}
