"""What is graded, on lists drawn fresh. To a pass an operator is only a name: registers are compared by what they are made of."""
from .parts import passes, programs
from .public.checks import assignment

__all__ = ["assignment", "passes", "programs"]
