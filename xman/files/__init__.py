"""Files: a trained model, from raw columns to predictions, as arrays and the text of its list."""
from .model import Model, load, trained

__all__ = ["Model", "load", "trained"]
