"""What students hand in: found, unpacked where it can do no harm, and its text made harmless."""
from .harmless import harmless
from .submission import Submission, find, one

__all__ = ["Submission", "find", "harmless", "one"]
