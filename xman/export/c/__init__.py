"""C without a runtime: a list as one file of C99 and a header, in static memory, with no library but libm."""
from .file import to_c

__all__ = ["to_c"]
