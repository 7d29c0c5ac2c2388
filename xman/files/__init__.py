"""Files: a trained model is saved as the text of its list, and arrays."""
from ..errors import suggesting
from .model import Model, load, trained

__all__ = ["Model", "load", "trained"]
suggesting(__name__)
