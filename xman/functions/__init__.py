"""Ordinary Python functions of NumPy arrays: their Wengert lists, and their derivatives.

`trace` gives the list of the path that a call takes. `grad`, `value_and_grad`,
`jvp`, `vjp`, `jacobian`, `hessian` and `hvp` differentiate plain `import numpy as np` functions with loops,
branches, recursion and closures, to any order and in one another, with arguments in nested lists, tuples and
dicts. `Dual` and `derivative` use dual numbers. Code that cannot be traced is an error with the function's
line and what to write there: `import xman.numpy as np`, say.
"""
# these imports fill the tables of NumPy's functions
from ..errors import suggesting
from ..numpy import decompositions, sequences, table
from ..scipy import distributions, functions, matrices, signal
from .dual import Dual, derivative
from .jacobian import Count, hessian, jacobian, sparse_rows
from .trace import trace
from .transforms import grad, hvp, jvp, value_and_grad, vjp

suggesting(__name__)
