"""Tables: files and frames to columns, and columns to the lines that make numbers of them."""
from .columns import Column, inputs
from .frames import TableError
from .preparing import Prepared, prepared
from .reading import batches, read

__all__ = ["Column", "Prepared", "TableError", "batches", "inputs", "prepared", "read"]
