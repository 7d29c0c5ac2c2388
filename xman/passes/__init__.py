"""Passes: each takes a list and returns a list."""
from ..errors import suggesting
from .differentiate import gradient, tangent
from .loops.roll import roll
from .loops.unroll import unroll
from .patterns import Rewrite, rewrite
from .rewrites import ALGEBRA, EXACT, STABLE
from .simplify import simplify

__all__ = ["ALGEBRA", "EXACT", "STABLE", "Rewrite", "gradient", "rewrite", "roll", "simplify", "tangent",
           "unroll"]
suggesting(__name__)
