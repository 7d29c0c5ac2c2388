"""Models, each an XMan subclass that reads like the notes."""
from .logreg import LogisticRegression
from .lstm import LSTM
from .mlp import MLP

__all__ = ["LSTM", "LogisticRegression", "MLP"]
