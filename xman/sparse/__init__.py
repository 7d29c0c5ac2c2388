"""Sparse derivatives of lists: patterns read off them, their colours, and lists of as few passes as there are
colours. `xman.jitted.sparse` has those of functions."""
from ..errors import suggesting
from .colours import colour
from .passes import Compressed, compressed, where_it_pays
from .patterns import sparsity

__all__ = ["Compressed", "colour", "compressed", "sparsity", "where_it_pays"]
suggesting(__name__)
