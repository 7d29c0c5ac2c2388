"""C without a runtime: nests as one file, in static memory, with no library but libm."""
from .file import CFile, identifier

__all__ = ["CFile", "identifier"]
