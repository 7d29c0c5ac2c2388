"""The reason for a number: the line that made it NaN, infinite, zero or huge."""
from .places import Place, user_line
from .search import EVERYWHERE, SIGNS, Node, Search, Step, Term, shows, sign_of

__all__ = ["EVERYWHERE", "SIGNS", "Node", "Place", "Search", "Step", "Term", "shows", "sign_of", "user_line"]
