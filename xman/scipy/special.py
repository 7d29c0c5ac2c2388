"""scipy.special, whose functions take traced values too: logsumexp, softmax, polygamma … and the ufuncs."""
from . import room
from .functions import FUNCTIONS

__getattr__, __dir__ = room("scipy.special", FUNCTIONS)
