"""NumPy's and SciPy's functions by the operators of `ops`: tables, and what in them takes more than a line."""
from ..refusals import SCIPY
from . import decompositions, distributions, sequences, special, statistics, table

SCIPY.update(special=special.FUNCTIONS, linalg=decompositions.LINALG, stats=distributions.DISTRIBUTIONS)
