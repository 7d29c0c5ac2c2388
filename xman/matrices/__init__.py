"""Matrices of derivatives of a list, as linear maps and as arrays."""
from .curvature import Diagonals, becker_lecun, diagonals
from .hessian import Hessian, packed, unpacked
from .jacobian import Jacobian
from .modes import Count
from .outer_products import inverse_outer_products, outer_products

__all__ = ["Count", "Diagonals", "Hessian", "Jacobian", "becker_lecun", "diagonals", "inverse_outer_products", "outer_products",
           "packed", "unpacked"]
