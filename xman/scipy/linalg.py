"""scipy.linalg with functions that also take traced values: solve, cholesky, cho_solve, expm …"""
from . import room
from .matrices import LINALG

__getattr__, __dir__ = room("scipy.linalg", LINALG)
