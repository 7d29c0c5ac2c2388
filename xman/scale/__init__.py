"""Beyond memory and beyond one machine: streams of rows, and workers that share them."""
from ..errors import suggesting
from .mpi import Comm, Workers, dealt, joined, workers
from .streams import Stream
from .tables import stream

__all__ = ["Comm", "Stream", "Workers", "dealt", "joined", "stream", "workers"]
suggesting(__name__)
