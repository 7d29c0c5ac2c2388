"""Training: fit, evaluate, predict, the list of a training step, and the data sets."""
from .evaluation import Diverged, Result, TrainingError, evaluate, predict
from .loaders import DataError, Dataset, load
from .loop import fit
from .optimizers import OPTIMIZERS, TrainingList, adagrad, adam, adamw, momentum, nesterov, rmsprop, sgd, training_list
from .schedules import cosine, exponential, in_turn, product, step_decay, warm_up

__all__ = ["DataError", "Dataset", "Diverged", "OPTIMIZERS", "Result", "TrainingError", "TrainingList", "adagrad", "adam",
           "adamw", "cosine", "evaluate", "exponential", "fit", "in_turn", "load", "momentum",
           "nesterov", "predict", "product", "rmsprop", "sgd", "step_decay", "training_list", "warm_up"]
