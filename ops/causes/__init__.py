"""The reason for a number: the line that made it NaN, infinite, zero or huge."""
from .search import EVERYWHERE, SIGNS, Contribution, Node, Search, Station, origin_of, shows, sign_of
