"""What all tests share: what they compile is made quickly rather than fast. Tests of an engine name it."""

import os

os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
os.environ.setdefault("XMAN_ENGINE", "numpy")
