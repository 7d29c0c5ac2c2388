"""Models, each an XMan subclass that reads like the notes."""
from .bases import AdaptiveBasis
from .logreg import LogisticRegression
from .lstm import LSTM
from .mlp import MLP

__all__ = ["AdaptiveBasis", "LSTM", "LogisticRegression", "MLP"]
