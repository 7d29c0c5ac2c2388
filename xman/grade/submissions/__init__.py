"""What students hand in: found, unpacked where it can do no harm, and its text made harmless."""
from .finding import find, one
from .harmless import harmless
from .submission import Submission

__all__ = ["Submission", "find", "harmless", "one"]
