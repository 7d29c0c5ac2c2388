"""Files that users of the command line have, and the words of a case."""

EQUATION_1 = "z1 = add(x1, x1)\nz2 = add(z1, x2)\nf = square(z2)\n"
MODEL = """from xman import XMan, f
import numpy as np

class Softmax(XMan):
    X, y = f.input(), f.input()
    W = f.param(default=np.zeros((64, 10), np.float32))
    scores = X @ W
    outputs = f.softmax(scores)
    loss = f.mean(f.softmaxCrossEntropy(scores, y))
"""
FILES = {
    "f.wl": EQUATION_1,
    "f.json": '[["z1", "add", ["x1", "x1"]], ["z2", "add", ["z1", "x2"]], ["f", "square", ["z2"]]]',
    "log.wl": "f = log(x)\n",
    "empty.wl": "", "comment.wl": "# nothing\n", "garbage.wl": "z1 = add(x, x)\nwhat is this?\n", "bad.json": "[1",
    "operator.wl": "z1 = sqare(x)\n", "twice.wl": "z1 = add(x, x)\nz1 = square(x)\n", "binary.wl": b"\xff\xfe\x00",
    "model.py": MODEL,
    "curve.py": MODEL.replace("f.softmax(scores)", "f.tanh(X)"),
    "two.py": "from xman import XMan, f\nclass A(XMan):\n    x = f.input()\n    loss = f.square(x)\nclass B(A):\n    pass\n",
    "none.py": "x = 1\n",
    "syntax.py": "from xman import XMan, f\nclass Model(XMan)\n    x = f.input()\n",
    "raises.py": "from xman import XMan, f\n\nhalf = 1 / 0\n",
    "init.py": "from xman import XMan, f\nclass Model(XMan):\n    def __init__(self):\n        self.x = undefined\n",
    "words.py": MODEL.replace("X @ W", "X @ W + 'b'"),
    "exits.py": "import sys\nsys.exit(0)\n",
    "needs.py": "from xman import XMan, f\nclass Model(XMan):\n    def __init__(self, size, *, by=2.0):\n"
                "        self.x = f.input(default=size)\n        self.loss = self.x * by\n",
    "rows.csv": "".join(f"{k % 2},{k % 3},{'ab'[k % 2]}\n" for k in range(40)),
}


def command(case):
    """The words of a case, to call the test by."""
    return " ".join(case) if isinstance(case, list) else ""
