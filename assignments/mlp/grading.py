"""The graded parts: what a student's functions give back for fresh inputs, against what the solution says of them here."""
from .parts import evaluation, model, names, training
from .public.checks import assignment

__all__ = ["assignment", "evaluation", "model", "names", "training"]
