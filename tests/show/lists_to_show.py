"""Lists with their values and what they are differentiated by, which the tests of the pictures share."""

import numpy as np

from xman import WengertList
from xman.models import LSTM, MLP, LogisticRegression

ADAMS = WengertList.from_text("v1 = divide(x1, x2)\nv2 = sin(v1)\nv3 = exp(x2)\nv4 = subtract(v1, v3)\nv5 = add(v2, v4)\n"
                              "y = mul(v5, v4)")
AT = {"x1": 1.5, "x2": 0.5}
BISHOP = WengertList.from_text("v3 = mul(v1, v2)\nv4 = sin(v2)\nv5 = exp(v3)\nv6 = subtract(v3, v4)\nv7 = add(v5, v6)")
R = np.random.default_rng(3)
HOUSE = WengertList.from_text(
    "z1 = mul(h, w)\nz2 = half(h)\nz3 = mul(z2, w)\nz4 = half(z3)\narea = add(z1, z4)\nz5 = subtract(area, targetArea)\n"
    "z6 = square(z5)\nz7 = subtract(h, targetHeight)\nz8 = square(z7)\nz9 = mul(z8, heightFactor)\nloss = add(z6, z9)")


def of_model(model, X, y):
    steps = model.operationSequence(model.loss)
    return steps, {**model.inputDict(), **model.feed(X.astype(np.float32), y)}, [name for name in steps.inputs if model.isParam(name)]


LISTS = {
    "Adams (17)": (ADAMS, AT, ["x1", "x2"]),
    "Bishop (8.49)": (BISHOP, {"v1": 0.6, "v2": 1.4}, ["v1", "v2"]),
    "House": (HOUSE, {"h": 5.0, "w": 10.0, "targetArea": 200.0, "targetHeight": 8.0, "heightFactor": 100.0}, ["h", "w"]),
    "softmax regression": of_model(LogisticRegression(64, 10), R.standard_normal((32, 64)), R.integers(0, 10, 32)),
    "MLP": of_model(MLP([64, 32, 10]), R.standard_normal((32, 64)), R.integers(0, 10, 32)),
    "MLP with relu": of_model(MLP([100, 200, 200, 10], activation="relu"), R.standard_normal((16, 100)), R.integers(0, 10, 16)),
    "LSTM": of_model(LSTM(30, 20, 5, steps=3), R.standard_normal((8, 3, 30)), R.integers(0, 5, 8)),
}
