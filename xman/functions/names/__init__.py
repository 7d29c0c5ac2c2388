"""NumPy's and SciPy's functions by the operators of `ops`: tables, and what in them takes more than a line."""
from . import decompositions, distributions, sequences, special, table
