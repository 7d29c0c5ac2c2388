"""Workers of torch.distributed, over gloo: torchrun --nproc-per-node 2 docs/scripts/with_gloo.py."""
import torch
import torch.distributed as dist

from xman.models import MLP
from xman.scale import Comm, joined
from xman.train import fit, load


class Gloo(Comm):
    def __init__(self):
        self.rank, self.size, self.barrier = dist.get_rank(), dist.get_world_size(), dist.barrier

    def gather(self, x):
        everyone = [None] * self.size
        dist.all_gather_object(everyone, x)
        return everyone

    def allreduce(self, x):  # quicker than by gather
        total = torch.from_numpy(x.copy())
        dist.all_reduce(total)
        return total.numpy()


def training(_=None):
    with joined(Gloo()):
        return fit(MLP([64, 10], dtype=float), load("digits").train, batch_size=600, progress=False).history[-1]["loss"]


if __name__ == "__main__":
    dist.init_process_group("gloo")
    loss = training()
    if not dist.get_rank():
        print(loss)
    dist.destroy_process_group()
