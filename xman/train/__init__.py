"""Training: fit, evaluate, predict, and the data sets."""
from .evaluation import Diverged, Result, TrainingError, evaluate, predict
from .loaders import DataError, Dataset, load
from .loop import fit
from .optimizers import OPTIMIZERS

__all__ = ["DataError", "Dataset", "Diverged", "OPTIMIZERS", "Result", "TrainingError", "evaluate", "fit", "load", "predict"]
