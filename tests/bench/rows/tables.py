"""Tables: a CSV file of a million rows, read by xman and by pandas."""
from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from xman import tables

from ..table import Goal

ROWS = 10 ** 6


def million() -> tuple[dict, list]:
    """Read a CSV file of 1,000,000 rows and 10 columns: seven of numbers, one of whole numbers, two of words."""
    import pandas
    path, random = Path(tempfile.mkdtemp()) / "million.csv", np.random.default_rng(0)
    columns = {f"x{k}": random.normal(size=ROWS).round(4) for k in range(7)} | {"n": random.integers(0, 1000, ROWS)}
    words = {name: random.choice(["red", "green"], ROWS) for name in "ab"}
    pandas.DataFrame(columns | words).to_csv(path, index=False)
    both = tables.read(path), pandas.read_csv(path)
    assert all(np.array_equal(both[0][name], both[1][name]) for name in columns)
    return {"xman": lambda: tables.read(path), "pandas": lambda: pandas.read_csv(path)}, [Goal("pandas", 1.0)]
