"""NumPy's functions by the operators of `ops`: the table, and what in it takes more than a line."""
from . import table
