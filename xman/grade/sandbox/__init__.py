"""Where submissions run: a place from which nothing can be reached, and gone when it is left."""
from .box import Sandbox
from .doctor import Finding, examined
from .here import sandbox_here
from .worker import Limits, Worker
