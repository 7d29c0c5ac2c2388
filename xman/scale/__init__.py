"""Beyond memory and beyond one machine: streams of rows, and workers that share them."""
from .mpi import Workers, workers
from .streams import Stream

__all__ = ["Stream", "Workers", "stream", "workers"]


def __getattr__(name: str):
    if name == "stream":  # pyarrow's tables are not loaded before they are wanted
        from .tables import stream
        return stream
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
