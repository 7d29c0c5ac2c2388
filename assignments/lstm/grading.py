"""The graded parts: what a student's functions give back for fresh inputs, against what the solution says of them here."""
from .parts import reading_out, stepping, through_time, training, unrolling
from .public.checks import assignment

__all__ = ["assignment", "reading_out", "stepping", "through_time", "training", "unrolling"]
