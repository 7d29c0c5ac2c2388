"""The interpreters: each runs a list against a table. They never change their arguments."""
from ..errors import suggesting
from .backprop import backprop
from .eval import eval
from .forward import forward
from .shapes import shapes

__all__ = ["backprop", "eval", "forward", "shapes"]
suggesting(__name__)
