"""The loops of the numba engine run in Python where a test says so, which takes no time to compile."""

import importlib.util

import numpy as np
import pytest

from xman.engines.numba import cache, jitted


@pytest.fixture
def in_python(monkeypatch, tmp_path):
    """Numba compiles nothing, and no program is kept for later."""
    monkeypatch.setenv("XMAN_CACHE", str(tmp_path))
    if importlib.util.find_spec("numba"):
        monkeypatch.setattr("numba.config.DISABLE_JIT", True)
    functions = cache.folder, jitted.function, jitted.product
    for function in functions:
        function.cache_clear()
    with np.errstate(all="ignore"):
        yield
    for function in functions:
        function.cache_clear()
