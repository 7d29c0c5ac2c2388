"""Questions to numbers: is a derivative right, and why is one NaN, infinite, zero, huge or vanished?"""
from ..errors import suggesting
from .check import Report, check
from .losses import first_nan, reason_of_loss, refuse_pairs_of_rows
from .why import Reason, why

__all__ = ["Reason", "Report", "check", "first_nan", "reason_of_loss", "refuse_pairs_of_rows", "why"]
suggesting(__name__)
