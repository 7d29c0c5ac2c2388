"""What the operators mean: G (values), DG (adjoint rules), TG (tangent rules), and f, the operators by name.

One file a family; a row is one call of `elementwise`, `linear` or `operator` (`ops.table`). A new operator of
your own is the same call: `operator("cube", lambda x: x * x * x)` has its derivatives already.
"""
from . import activations, functions, loops, matrices
from .arrays import indexing, products
from .expression import Expression, f
from .facts import by_tables, facts_of, operations
from .loops import Bundle, is_function
from .table import DG, OURS, TG, Each, G, elementwise, linear, operator

OURS.update(G)  # from here on these names are taken

__all__ = ["Bundle", "DG", "Each", "Expression", "G", "TG", "by_tables", "elementwise", "f", "facts_of", "is_function",
           "linear", "operations", "operator"]
