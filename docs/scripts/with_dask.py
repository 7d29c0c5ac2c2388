"""Workers that are tasks of Dask, with a queue from each to each: python docs/scripts/with_dask.py [workers]."""
import os
import pickle
import sys

import numpy as np
from distributed import Client, LocalCluster, Queue

from xman.models import MLP
from xman.scale import joined
from xman.train import fit, load


class Comm:
    def __init__(self, run, rank, size):
        self.run, self.rank, self.size = run, rank, size

    def gather(self, x):
        for k in range(self.size):
            Queue(f"{self.run} {self.rank} {k}").put(pickle.dumps(x))
        return [pickle.loads(Queue(f"{self.run} {k} {self.rank}").get()) for k in range(self.size)]

    def allreduce(self, x):
        return np.add.reduce(self.gather(x))

    def barrier(self):
        self.gather(None)

    def abort(self, status):
        os._exit(status)


def training(rank, size):
    with joined(Comm("run 1", rank, size)):
        return fit(MLP([64, 10], dtype=float), load("digits").train, batch_size=600, progress=False).history[-1]["loss"]


if __name__ == "__main__":
    size = int(sys.argv[1]) if sys.argv[1:] else 2
    client = Client(LocalCluster(n_workers=size, threads_per_worker=1, dashboard_address=None))
    print(*client.gather([client.submit(training, rank, size, pure=False, retries=0) for rank in range(size)]))
