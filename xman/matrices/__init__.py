"""Matrices of derivatives of a list, as linear maps and as arrays."""
from ..errors import suggesting
from .curvature import Diagonals, becker_lecun, diagonals
from .gauss_newton import GaussNewton, inverse_outer_products, outer_products
from .hessian import Hessian, packed, unpacked
from .jacobian import Count, Jacobian

suggesting(__name__)
