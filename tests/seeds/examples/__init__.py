"""The table of all examples of the five documents: a file a document, each with a list of rows EXAMPLES.

From it `make docs` writes the manual's chapters on the documents. A document is a module with TITLE, SOURCE (one sentence on where
it comes from), PRELUDE (Python that its rows build on), FILES ({name: text} for its rows on the command line) and, where it
has one, TABLE (caption, head, rows). A row more is an Example more in its document's list.
"""

from typing import NamedTuple

DOCUMENTS = "cohen", "reps", "ong_deisenroth", "bishop", "adams"

COMMON = '''\
import numpy as np
from xman import (ALGEBRA, EXACT, STABLE, Dual, GaussNewton, Hessian, Jacobian, Operation, Register, WengertList,
                  XMan, backprop, becker_lecun, check, cost, derivation, derivative, diagonals, difference_errors, eval,
                  expand, explain, f, forward, grad, gradient, hessian, hvp, inverse_outer_products, jacobian, jvp,
                  outer_products, partials, paths, picture, simplify, source, tangent, trace)

def same(found, right):
    return np.allclose(found, right, rtol=1e-10, atol=1e-12)
'''


class Example(NamedTuple):
    """One row: an example, formula, figure or claim of a document."""
    number: str  # as the document counts it: "§1.2, eq. (1)", "Fig. 3a", "slide 12", "exercise 8.3"
    shows: str  # a sentence
    test: str  # the function in tests/seeds that proves it
    code: str  # what does it here: Python, or lines that begin with "$ "; a last line that is refused ends in "# refused"
    slip: str = ""  # what the print gets wrong, and what is meant
