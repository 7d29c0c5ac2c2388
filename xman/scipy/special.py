"""scipy.special with functions that also take traced values: logsumexp, softmax, polygamma …, the ufuncs."""
from . import module_like
from .functions import FUNCTIONS

__getattr__, __dir__ = module_like("scipy.special", FUNCTIONS)
