"""Submissions: they are found, unpacked where they can do no harm, and their text is made harmless."""
from .finding import find, one
from .harmless import harmless
from .submission import Submission

__all__ = ["Submission", "find", "harmless", "one"]
