"""The reason for a number: the line that made it NaN, infinite, zero or huge."""
from .search import EVERYWHERE, SIGNS, Contribution, Node, Search, Station, nan_from, shows, sign_of

__all__ = ["EVERYWHERE", "SIGNS", "Node", "Search", "Station", "Contribution", "nan_from", "shows", "sign_of"]
