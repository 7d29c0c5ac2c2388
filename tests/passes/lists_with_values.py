"""Lists with their values, (steps, values, of), which the tests of the passes share."""

import numpy as np

from xman import WengertList, XMan, f
from xman.models import LSTM, MLP, AdaptiveBasis, LogisticRegression

R = np.random.default_rng(1)


def written(text, of, **values):
    return WengertList.from_text(text), {name: np.asarray(x)[()] for name, x in values.items()}, of


class House(XMan):
    h = f.param(default=5.0)
    w = f.param(default=10.0)
    targetArea, targetHeight, heightFactor = f.input(default=200.0), f.input(default=8.0), f.input(default=100.0)
    area = h * w + f.half(f.half(h) * w)
    loss = f.square(area - targetArea) + f.square(h - targetHeight) * heightFactor


def of_model(model, **values):
    return model.operationSequence(model.loss), {**model.inputDict(), **values}, "loss"


X, Z = R.standard_normal((5, 4)), R.standard_normal((5, 3))
TARGETS = {"crossEntropy": R.integers(0, 3, 5), "softmaxCrossEntropy": R.integers(0, 3, 5), "hinge": R.integers(0, 3, 5),
           "sigmoidCrossEntropy": R.uniform(size=(5, 3)), "squaredError": Z}
lstm = LSTM(4, 3, 2, steps=3, dtype=float)

LISTS = {
    "triangle": written("z1 = mul(h, w)\narea = half(z1)", "area", h=3.0, w=6.0),
    "equation 1": written("z1 = add(x1, x1)\nz2 = add(z1, x2)\nf1 = square(z2)", "f1", x1=3.0, x2=7.0),
    "cube": written("z1 = mul(x, x)\nf1 = mul(z1, x)", "f1", x=5.0),
    "Reps": written("a = mul(4, y)\nb = add(x, a)\nc = add(x, y)\nd = mul(c, y)\ne = mul(b, d)", "e", x=3.0, y=5.0),
    "Adams": written("v1 = divide(x1, x2)\nv2 = sin(v1)\nv3 = exp(x2)\nv4 = subtract(v1, v3)\nv5 = add(v2, v4)\n"
                     "y = mul(v5, v4)", "y", x1=1.5, x2=0.5),
    "Bishop": written("v3 = mul(x1, x2)\nv4 = sin(x2)\nv5 = exp(v3)\nv6 = subtract(v3, v4)\nv7 = add(v5, v6)", "v7",
                      x1=0.6, x2=1.4),
    "two layers": written("a = dot(X, V)\nh = tanh(a)\nb = dot(h, W)\ne = subtract(b, T)\ns = square(e)\nloss = mean(s)", "loss",
                          X=X, V=R.standard_normal((4, 3)), W=R.standard_normal((3, 3)), T=Z),
    "House": of_model(House().setup()),
    "LSTM": of_model(lstm, **lstm.feed(R.standard_normal((5, 3, 4)), R.integers(0, 2, 5))),
    "softmax regression": of_model(LogisticRegression(4, 3, penalty=1.0, dtype=float), X=X, y=TARGETS["hinge"]),
    **{f"MLP, {loss}": of_model(MLP([4, 3, 3], loss=loss, dtype=float), X=X, y=y) for loss, y in TARGETS.items()},
    **{f"{kind} basis": of_model(AdaptiveBasis(kind, 3, dtype=float), X=R.uniform(0.1, 1, (5, 1)), y=X[:, :1])
       for kind in ("polynomial", "rbf", "tanh")},
}


def assert_same_bits(got, want):
    """The same shape, precision and bits, but for those of NaN."""
    np.testing.assert_array_equal(got, want, strict=True)
    numbers = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(want)[numbers])
