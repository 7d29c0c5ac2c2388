"""The format of checkpoints and models: arrays and facts in a file of safetensors, whole or not at all.

The metadata hold the facts as JSON, the versions of the software, and a digest of everything, which reveals
that a file was altered. To read a file runs nothing in it.
"""
from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import XManError, extra
from .whole import write_whole

FORMAT = 3  # the version of the format that is written


def save(path: str | Path, arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
    """Write arrays and facts (anything JSON can hold) to path, whole or not at all."""
    numpy = extra("safetensors.numpy", "cli", "a checkpoint or a model")
    arrays = {name: np.asarray(a, order="C") for name, a in arrays.items()}
    text = json.dumps({"versions": versions()} | facts)
    metadata = {"format": str(FORMAT), "xman": text, "sha256": digest(arrays, text)}
    write_whole(path, numpy.save(arrays, metadata))


def restore(path: str | Path,
            remedy: str = "train and save it again") -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and facts of a checkpoint or a model. XManError, which gives the remedy, for other files."""
    safetensors = extra("safetensors", "cli", "a checkpoint or a model")
    if Path(path).is_dir():
        raise XManError(f"{path} is a directory; name a file")
    try:
        with safetensors.safe_open(str(path), "numpy") as file:
            metadata = file.metadata() or {}
            number, text = int(metadata["format"]), metadata["xman"]
            if number != FORMAT:
                age, advice = ("a later", "update xman") if number > FORMAT else ("an older", "train again")
                raise XManError(f"{path} is of {age} version of xman, format {number}; this one reads "
                                f"{FORMAT}: {advice}")
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
        raise XManError(f"{path} is no checkpoint or model of xman, or is damaged: {error}; "
                        f"{remedy}") from error


def digest(arrays: dict[str, np.ndarray], text: str) -> str:
    """SHA-256 of the facts and of every array, with its name, type and shape."""
    sha = hashlib.sha256(text.encode())
    for name, a in sorted(arrays.items()):
        sha.update(f"\n{name} {a.dtype} {a.shape}\n".encode())
        sha.update(np.ascontiguousarray(a).reshape(-1).view(np.uint8))
    return sha.hexdigest()


def versions() -> dict[str, str]:
    """The versions of the software that is running, by name."""
    import scipy

    from .. import __version__  # not at the top: the package sets it at its end
    python = sys.version.split()[0]
    return {"xman": __version__, "python": python, "numpy": np.__version__, "scipy": scipy.__version__}
