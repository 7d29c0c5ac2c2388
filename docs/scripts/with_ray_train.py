"""Workers that Ray Train started, with the gloo of its TorchTrainer: python docs/scripts/with_ray_train.py [workers]."""
import sys
import tempfile

from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer
from with_gloo import training

if __name__ == "__main__":
    size = int(sys.argv[1]) if sys.argv[1:] else 2
    with tempfile.TemporaryDirectory() as folder:
        print(TorchTrainer(training, scaling_config=ScalingConfig(num_workers=size),
                           run_config=RunConfig(storage_path=folder)).fit().return_value)
