"""The reason for a number: the line that made it NaN, infinite, zero or huge."""
from .search import EVERYWHERE, SIGNS, Node, Search, Step, Term, nan_from, shows, sign_of

__all__ = ["EVERYWHERE", "SIGNS", "Node", "Search", "Step", "Term", "nan_from", "shows", "sign_of"]
