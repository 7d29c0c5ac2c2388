"""Sparse derivatives: patterns read off a list, their colours, and matrices by as few passes as there are
colours."""
from ..errors import suggesting
from .colours import colour
from .matrices import sparse_hessian, sparse_jacobian
from .patterns import sparsity

__all__ = ["colour", "sparse_hessian", "sparse_jacobian", "sparsity"]
suggesting(__name__)
