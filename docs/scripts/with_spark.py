"""Workers that are tasks of a barrier stage of Spark: python docs/scripts/with_spark.py [workers].

Spark gathers once a second: this is for large minibatches, and for trials."""
import base64
import os
import pickle
import sys

import numpy as np
from pyspark import BarrierTaskContext
from pyspark.sql import SparkSession

from xman.models import MLP
from xman.scale import joined
from xman.train import fit, load


class Comm:
    def __init__(self):
        self.context = BarrierTaskContext.get()
        self.rank, self.size, self.barrier = self.context.partitionId(), len(self.context.getTaskInfos()), self.context.barrier

    def gather(self, x):
        texts = self.context.allGather(base64.b64encode(pickle.dumps(x)).decode())
        return [pickle.loads(base64.b64decode(text)) for text in texts]

    def allreduce(self, x):
        return np.add.reduce(self.gather(x))

    def abort(self, status):
        os._exit(status)


def training(_):
    with joined(Comm()):
        yield fit(MLP([64, 10], dtype=float), load("digits").train, batch_size=600, progress=False).history[-1]["loss"]


if __name__ == "__main__":
    size = int(sys.argv[1]) if sys.argv[1:] else 2
    spark = SparkSession.builder.master(f"local[{size}]").getOrCreate().sparkContext
    print(*spark.parallelize(range(size), size).barrier().mapPartitions(training).collect())
