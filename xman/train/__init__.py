"""Training: fit, evaluate, predict, and the data sets."""
from .loaders import DataError, Dataset, load
from .loop import Diverged, Result, evaluate, fit, predict
from .optimizers import OPTIMIZERS

__all__ = ["DataError", "Dataset", "Diverged", "OPTIMIZERS", "Result", "evaluate", "fit", "load", "predict"]
