"""Tables: files and frames become columns, and lines of a list make numbers of columns."""
from ..errors import suggesting
from .columns import Column, inputs
from .frames import TableError
from .preparing import Prepared, prepared
from .reading import batches, read

__all__ = ["Column", "Prepared", "TableError", "batches", "inputs", "prepared", "read"]
suggesting(__name__)
