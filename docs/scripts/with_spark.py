"""Workers that are tasks of a barrier stage of Spark: python docs/scripts/with_spark.py [workers].

Spark gathers once a second: this is for large minibatches, and for trials."""
import base64
import pickle
import sys

from pyspark import BarrierTaskContext
from pyspark.sql import SparkSession

from xman.models import MLP
from xman.scale import Comm, joined
from xman.train import fit, load


def training(_):
    context = BarrierTaskContext.get()

    def gather(x):
        texts = context.allGather(base64.b64encode(pickle.dumps(x)).decode())
        return [pickle.loads(base64.b64decode(text)) for text in texts]

    with joined(Comm(context.partitionId(), len(context.getTaskInfos()), gather)):
        yield fit(MLP([64, 10], dtype=float), load("digits").train, batch_size=600, progress=False).history[-1]["loss"]


if __name__ == "__main__":
    size = int(sys.argv[1]) if sys.argv[1:] else 2
    spark = SparkSession.builder.master(f"local[{size}]").getOrCreate().sparkContext
    print(*spark.parallelize(range(size), size).barrier().mapPartitions(training).collect())
