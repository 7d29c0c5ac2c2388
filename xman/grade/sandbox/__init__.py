"""Where the submissions of a class run: a place from which nothing can be reached,
and which is gone when it is left."""
from .box import Sandbox
from .doctor import Finding, examined
from .here import sandbox_here
from .worker import Limits, Worker
