"""scipy.linalg, whose functions take traced values too: solve, cholesky, cho_solve, expm …"""
from ..functions.names.decompositions import LINALG
from . import room

__getattr__, __dir__ = room("scipy.linalg", LINALG)
