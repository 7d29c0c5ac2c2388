"""scipy.special, whose functions take traced values too: logsumexp, softmax, polygamma … as well as the ufuncs."""
from ..functions.names.special import FUNCTIONS
from . import room

__getattr__, __dir__ = room("scipy.special", FUNCTIONS)
