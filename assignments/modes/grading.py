"""What is graded, on inputs drawn fresh."""
from .parts import numbers, passes
from .public.checks import assignment

__all__ = ["assignment", "numbers", "passes"]
