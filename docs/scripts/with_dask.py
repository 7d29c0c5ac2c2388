"""Workers that are tasks of Dask, with a queue from each to each: python docs/scripts/with_dask.py [workers]."""
import pickle
import sys

from distributed import Client, LocalCluster, Queue

from xman.models import MLP
from xman.scale import Comm, joined
from xman.train import fit, load


def training(rank, size, run="run 1"):
    def gather(x):
        for k in range(size):
            Queue(f"{run} {rank} {k}").put(pickle.dumps(x))
        return [pickle.loads(Queue(f"{run} {k} {rank}").get()) for k in range(size)]

    with joined(Comm(rank, size, gather)):
        return fit(MLP([64, 10], dtype=float), load("digits").train, batch_size=600, progress=False).history[-1]["loss"]


if __name__ == "__main__":
    size = int(sys.argv[1]) if sys.argv[1:] else 2
    client = Client(LocalCluster(n_workers=size, threads_per_worker=1, dashboard_address=None))
    print(*client.gather([client.submit(training, rank, size, pure=False, retries=0) for rank in range(size)]))
