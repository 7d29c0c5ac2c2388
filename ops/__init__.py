"""What operators mean: G (values), DG (adjoint rules), TG (tangent rules), and f, the operators by name.

Each family has a file; a row is one call of `elementwise`, `linear` or `operator` (`ops.table`). Your own
operator is the same call: `operator("cube", lambda x: x * x * x)` also has its derivatives.
"""
from . import arithmetic  # isort: skip  (the first rows: others are written with them)
from . import activations, functions, loops
from .arrays import fourier, indexing, products
from .expression import Expression, f
from .facts import by_tables, facts_of, operations
from .loops import Bundle, is_function
from .matrices import decompositions
from .table import DG, OURS, TG, Each, G, elementwise, linear, operator

OURS.update(G)  # from now on users cannot take these names

__all__ = ["Bundle", "DG", "Each", "Expression", "G", "TG", "by_tables", "elementwise", "f", "facts_of", "is_function",
           "linear", "operations", "operator"]
