"""Workers that are tasks of Ray, and meet in an actor: python docs/scripts/with_ray.py [workers]."""
import asyncio
import itertools
import sys

import ray

from xman.models import MLP
from xman.scale import Comm, joined
from xman.train import fit, load


@ray.remote(num_cpus=0)
class Meeting:
    def __init__(self):
        self.turns = {}

    async def gather(self, turn, rank, size, x):
        (here := self.turns.setdefault(turn, {}))[rank] = x
        self.turns.pop(turn - 2, None)  # all have it
        while len(here) < size:
            await asyncio.sleep(1e-4)
        return [here[k] for k in range(size)]


@ray.remote(max_retries=0)
def training(meeting, rank, size):
    turns = itertools.count()
    with joined(Comm(rank, size, lambda x: ray.get(meeting.gather.remote(next(turns), rank, size, x)))):
        return fit(MLP([64, 10], dtype=float), load("digits").train, batch_size=600, progress=False).history[-1]["loss"]


if __name__ == "__main__":
    size = int(sys.argv[1]) if sys.argv[1:] else 2
    ray.init(num_cpus=size, include_dashboard=False, log_to_driver=False)
    meeting = Meeting.remote()
    print(*ray.get([training.remote(meeting, rank, size) for rank in range(size)]))
