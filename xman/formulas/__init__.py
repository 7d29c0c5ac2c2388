"""Operators in terms of others, in the language: for libraries of arrays that have no function for them."""
from .formulas import FORMULAS

__all__ = ["FORMULAS"]
