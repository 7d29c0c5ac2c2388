"""Why a number is NaN, infinite, zero, huge or vanished: the line that made it so."""
from ..errors import suggesting
from .why import Reason, why

__all__ = ["Reason", "why"]
suggesting(__name__)
