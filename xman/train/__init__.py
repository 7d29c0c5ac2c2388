"""Training: fit, evaluate, predict, the list of a training step, and the data sets."""
from ..errors import suggesting
from ..tables.readers import DataError
from .evaluation import Diverged, Result, TrainingError, evaluate, predict
from .loaders import Dataset, load
from .loop import fit
from .optimizers import OPTIMIZERS, TrainingList, training_list

# isort: split
from .optimizers import adagrad, adam, adamw, momentum, nesterov, rmsprop, sgd
from .schedules import cosine, exponential, in_turn, product, step_decay, warm_up
from .selection import Trial, cross_validate, search
from .selection.rates import find_rate

__all__ = ["DataError", "Dataset", "Diverged", "OPTIMIZERS", "Result", "TrainingError", "TrainingList", "Trial", "adagrad",
           "adam", "adamw", "cosine", "cross_validate", "evaluate", "exponential", "find_rate", "fit", "in_turn", "load",
           "momentum", "nesterov", "predict", "product", "rmsprop", "search", "sgd", "step_decay", "training_list", "warm_up"]
suggesting(__name__)
