"""SciPy's optimizers on models and functions; values and derivatives are compiled lists."""
from ..errors import suggesting
from .least_squares import least_squares
from .minimize import minimize

__all__ = ["least_squares", "minimize"]
suggesting(__name__)
