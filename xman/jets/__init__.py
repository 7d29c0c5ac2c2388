"""Taylor mode: series of functions, of lists and of the solutions of equations."""
from .functions import taylor, taylor_ode
from .lists import series

__all__ = ["series", "taylor", "taylor_ode"]
