"""GradBench's tool for JAX, whose results are waited for: python waiting_jax.py FOLDER_OF_THE_TOOL."""
import runpy
import sys
from pathlib import Path

import jax
from gradbench import wrap


def waiting(decorator):
    """The decorator, of functions that return when the result is there."""
    def made(**settings):
        return lambda fn: decorator(**settings)(lambda given: jax.block_until_ready(fn(given)))
    return made


if __name__ == "__main__":
    folder = sys.argv.pop(1)
    sys.path.insert(0, folder)
    wrap.function, wrap.multiple_runs = waiting(wrap.function), waiting(wrap.multiple_runs)
    # it pins itself to the first processor otherwise, and who measures pins all alike
    sys.argv.append("--multithreaded")
    runpy.run_path(str(Path(folder) / "run.py"), run_name="__main__")
