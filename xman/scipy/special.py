"""scipy.special with functions that also take traced values: logsumexp, softmax, polygamma …, the ufuncs."""
from . import room
from .functions import FUNCTIONS

__getattr__, __dir__ = room("scipy.special", FUNCTIONS)
