"""Files of data for the tests of readers and loaders, and the message of a refusal."""

import numpy as np
import pytest

from xman.train.loaders import DataError


def idx(array, axes=None):
    """The bytes of an IDX file that holds array; axes replaces the lengths in its header."""
    lengths = array.shape if axes is None else axes
    return bytes([0, 0, 8, len(lengths)]) + b"".join(n.to_bytes(4, "big") for n in lengths) + array.tobytes()


def refusal(read, *args, **named):
    """The message of the DataError that read(*args, **named) raises: one line, one sentence."""
    with pytest.raises(DataError) as caught:
        read(*args, **named)
    message = str(caught.value)
    assert "\n" not in message and message.endswith(".")
    return message


IMAGES = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)


def three(write, stem, train, valid, test):
    for part, content in ("train", train), ("valid", valid), ("test", test):
        path = write(f"{stem}.{part}", content)
    return path.with_name(stem)
