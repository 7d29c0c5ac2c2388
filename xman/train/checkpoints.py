"""Checkpoints: the whole state of a training run in one safetensors file, written at once or not at all."""
from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import XManError, extra


def save(path: str | Path, arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
    """Write arrays and facts (anything JSON can hold) to path: to a file beside it first, which then takes its place.

    Whoever reads path finds the old state or the new, whole; two processes never mix. XManError where it cannot be
    written, with the old file left as it was.
    """
    numpy = extra("safetensors.numpy", "cli", "a checkpoint")
    path = Path(path)
    content = numpy.save({name: np.asarray(a, order="C") for name, a in arrays.items()}, {"xman": json.dumps(facts)})
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
        raise XManError(f"the checkpoint {path} could not be written: {error.strerror}; what stood there is unchanged") from error


def restore(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and facts of a checkpoint. XManError for a file that is none, or is damaged."""
    safetensors = extra("safetensors", "cli", "a checkpoint")
    if Path(path).is_dir():
        raise XManError(f"the checkpoint {path} is a directory; name a file")
    try:
        with safetensors.safe_open(str(path), "numpy") as file:
            arrays, facts = {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()["xman"])
            if not isinstance(facts, dict):
                raise TypeError("its facts are no dict")
            return arrays, facts
    except (OSError, KeyError, TypeError, ValueError, safetensors.SafetensorError) as error:
        raise XManError(f"{path} is not a checkpoint of xman, or is damaged: {error}; move it away to begin anew") from error
