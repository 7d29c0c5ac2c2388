"""Passes: each takes a list and returns a list."""
from ..errors import suggesting
from .differentiate import gradient, tangent
from .patterns import Rewrite, rewrite
from .rewrites import ALGEBRA, EXACT, STABLE
from .simplify import simplify
from .unroll import unroll

__all__ = ["ALGEBRA", "EXACT", "STABLE", "Rewrite", "gradient", "rewrite", "simplify", "tangent", "unroll"]
suggesting(__name__)
