"""Matrices of derivatives of a list, as linear maps and as arrays."""
from ..errors import suggesting
from .curvature import Diagonals, becker_lecun, diagonals
from .gauss_newton import GaussNewton, inverse_outer_products, outer_products
from .hessian import Hessian, packed, unpacked
from .jacobian import Count, Jacobian

__all__ = ["Count", "Diagonals", "GaussNewton", "Hessian", "Jacobian", "becker_lecun", "diagonals", "inverse_outer_products",
           "outer_products", "packed", "unpacked"]
suggesting(__name__)
