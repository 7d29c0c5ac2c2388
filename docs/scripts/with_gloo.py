"""Workers that torchrun started, with PyTorch's gloo: torchrun --nproc-per-node 2 docs/scripts/with_gloo.py."""
import os

import torch
import torch.distributed as dist

from xman.models import MLP
from xman.scale import joined
from xman.train import fit, load


class Comm:
    def __init__(self):
        self.rank, self.size, self.barrier = dist.get_rank(), dist.get_world_size(), dist.barrier

    def gather(self, x):
        everyone = [None] * self.size
        dist.all_gather_object(everyone, x)
        return everyone

    def allreduce(self, x):
        total = torch.from_numpy(x.copy())
        dist.all_reduce(total)
        return total.numpy()

    def abort(self, status):
        os._exit(status)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    with joined(Comm()):
        print(fit(MLP([64, 10], dtype=float), load("digits").train, batch_size=600, progress=False).history[-1]["loss"])
    dist.destroy_process_group()
