"""What all tests share: JAX, the oracle, compiles quickly here rather than to fast code."""

import os

os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
