"""Old course code: Autograd runs its lists by its own tables,
`translated` writes them in the operators of `ops`."""
from .runner import Autograd

__all__ = ["Autograd"]
