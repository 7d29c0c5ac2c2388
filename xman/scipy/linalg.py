"""scipy.linalg with functions that also take traced values: solve, cholesky, cho_solve, expm …"""
from . import module_like
from .matrices import LINALG

__getattr__, __dir__ = module_like("scipy.linalg", LINALG)
