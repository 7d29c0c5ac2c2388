"""Truncated power series, on which every operator works."""
from .expansion import Expansion, Series, Termless
from .loops import Bundled

__all__ = ["Bundled", "Expansion", "Series", "Termless"]
