"""Why a number is NaN, infinite, zero, huge or vanished: the line that made it so."""
from ..errors import suggesting
from .losses import first_nan, reason_of_loss
from .why import Reason, why

__all__ = ["Reason", "first_nan", "reason_of_loss", "why"]
suggesting(__name__)
