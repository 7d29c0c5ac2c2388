"""Chapter 8 of Bishop's book, section by section, figure by figure, exercise by exercise."""

from . import bishop_8_1, bishop_8_1_6, bishop_8_2

AUTHOR = "Bishop"
TITLE = "Bishop, Deep Learning, chapter 8: Backpropagation"
SOURCE = "Christopher M. Bishop with Hugh Bishop, Deep Learning: Foundations and Concepts (2024), chapter 8."

FILES = {"trace.wl": """\
v1 = alias(x1)
v2 = alias(x2)
v3 = mul(v1, v2)
v4 = sin(v2)
v5 = exp(v3)
v6 = subtract(v3, v4)
v7 = add(v5, v6)
v8 = mul(v6, v5)
""", "softrelu.wl": "p = mul(w1, x)\na = add(p, b1)\nz = softplus(a)\nq = mul(w2, z)\nc = add(q, b2)\ny = softplus(c)\n"}

PRELUDE = '''\
import ops
from xman.models import MLP

def sigma(a):
    return 1 / (1 + np.exp(-a))

# (8.1) to (8.4): a linear model
LINEAR = [("y", "dot", ("w", "x")), ("e", "subtract", ("y", "t")), ("s", "square", ("e",)), ("q", "sum", ("s",)),
          ("E", "half", ("q",))]
AT = eval(LINEAR, {"w": np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]]), "x": np.array([1.0, 2.0, -1.0]),
                   "t": np.array([0.0, 1.0])})

# (8.5) to (8.13): z0 is 1, z1 to z3 are inputs, units 4 to 6 are hidden, 7 and 8 linear outputs; links skip layers
SENDERS = {4: [0, 1, 2], 5: [0, 2, 3, 4], 6: [1, 4, 5], 7: [0, 5, 6], 8: [3, 4, 6]}
H = {4: "tanh", 5: "sigmoid", 6: "softplus", 7: "alias", 8: "alias"}
SLOPE = {"tanh": lambda a: 1 - np.tanh(a) ** 2, "sigmoid": lambda a: sigma(a) * (1 - sigma(a)), "softplus": sigma}

def network():
    m, number = XMan(), iter(np.round(np.random.default_rng(8).normal(size=21), 1)).__next__
    m.z0, m.z1, m.z2, m.z3, m.t7, m.t8 = f.input(1.0), *(f.input(number()) for _ in range(5))
    for j in SENDERS:
        for i in SENDERS[j]:
            setattr(m, f"w{j}_{i}", f.param(number()))
        setattr(m, f"a{j}", sum((getattr(m, f"w{j}_{i}") * getattr(m, f"z{i}") for i in SENDERS[j][1:]),
                                start=getattr(m, f"w{j}_{SENDERS[j][0]}") * getattr(m, f"z{SENDERS[j][0]}")))
        setattr(m, f"z{j}", getattr(f, H[j])(getattr(m, f"a{j}")))
    m.E = f.half(f.square(m.z7 - m.t7) + f.square(m.z8 - m.t8))
    return m.setup()

net = network()
NET = net.operationSequence(net.E)
V = eval(NET, net.inputDict())
D = backprop(NET, V, E=1.0)
w = lambda j, i: V[f"w{j}_{i}"]
without = lambda *names: [line for line in NET if line[0] not in names]   # these are inputs of the rest

# (8.15) to (8.23): two layers, rows of X with x0 = 1 first
class TwoLayers(XMan):
    X, T, W1, W2 = f.input(), f.input(), f.param(), f.param()
    Z = f.tanh(X @ W1)
    Y = f.concat(1, X[:, :1], Z) @ W2
    E = f.half(f.sum(f.square(Y - T)))

TWO = TwoLayers().setup().operationSequence(TwoLayers.E)

def two_layers(rows):
    random = np.random.default_rng(8)
    X, T = np.hstack([np.ones((rows, 1)), random.normal(size=(rows, 2))]), random.normal(size=(rows, 2))
    return {"X": X, "T": T, "W1": random.normal(size=(3, 3)), "W2": random.normal(size=(4, 2))}

# (8.24) to (8.41): scores A and outputs Y of rows X, and errors; S singles out scores by C
class Network(XMan):
    X, T, C, W1, W2 = f.input(), f.input(), f.input(), f.param(), f.param()
    A = f.tanh(X @ W1) @ W2
    Y = f.sigmoid(A)
    S = f.sum(C * A)
    E = f.half(f.sum(f.square(A - T)))
    E_of_y = f.half(f.sum(f.square(Y - T)))
    E_logistic = f.sum(f.sigmoidCrossEntropy(A, T))
    E_softmax = f.sum(f.softmaxCrossEntropy(A, T))

N, WEIGHTS = Network().setup(), ["W1", "W2"]
listed = lambda of: N.operationSequence(getattr(N, of))

def given(rows=4, outputs=1):
    random = np.random.default_rng(84)
    return {"X": random.normal(size=(rows, 2)), "T": random.dirichlet(np.ones(outputs + 1), rows)[:, 1:],
            "W1": random.normal(size=(2, 2)), "W2": random.normal(size=(2, outputs))}

def each(of, values):   # ∇ and ∇∇ by W1 and W2 in one vector, of each score of each row
    shape = len(values["X"]), values["W2"].shape[1]
    for C in np.eye(np.prod(shape)).reshape(-1, *shape):
        at = {**values, "C": C}
        slope = backprop(listed(of), eval(listed(of), at), **{of: 1.0})
        yield np.concatenate([slope[x].ravel() for x in WEIGHTS]), Hessian(listed(of), of, WEIGHTS)(at)

class Counted(np.ndarray):   # counts what NumPy does with its entries
    made = 0
    def __array_ufunc__(self, ufunc, method, *args, **options):
        plain = [np.asarray(a) if isinstance(a, Counted) else a for a in args]
        out = getattr(ufunc, method)(*plain, **options)
        Counted.made += 2 * plain[0].shape[-1] * np.size(out) if ufunc is np.matmul else max(map(np.size, (out, *plain)))
        return out.view(Counted) if isinstance(out, np.ndarray) else out

def operations(of, values):
    Counted.made = 0
    of({name: np.asarray(value).view(Counted) for name, value in values.items()})
    return Counted.made

# (8.43): how many operations a list is as one expression, nothing by name
def written_out(steps):
    sizes = {}
    for dst, _, args in steps:
        sizes[dst] = 1 + sum(sizes.get(a, 0) for a in args)
    return sizes[dst]

# (8.44) to (8.48): two soft ReLUs, as a list with softplus, as printed, and the symbolic derivative
class SoftReLU(XMan):
    x, w1, b1, w2, b2 = (f.input() for _ in range(5))
    z = f.softplus(w1 * x + b1)
    y = f.softplus(w2 * z + b2)

class AsPrinted(XMan):
    x, w1, b1, w2, b2 = (f.input() for _ in range(5))
    z = f.log(1 + f.exp(w1 * x + b1))
    y = f.log(1 + f.exp(w2 * z + b2))

SOFT = SoftReLU().setup().operationSequence(SoftReLU.y)
PRINTED = AsPrinted().setup().operationSequence(AsPrinted.y)
POINT = {"x": 0.5, "w1": 1.2, "b1": -0.3, "w2": 0.8, "b2": 0.1}
FAR = {"x": 400.0, "w1": 2.0, "b1": 0.5, "w2": 0.25, "b2": -1.0}

def formula_8_48(x, w1, b1, w2, b2, exp=np.exp, ln=np.log):
    return (w2 * x * exp(w1 * x + b1 + b2 + w2 * ln(1 + exp(w1 * x + b1)))
            / ((1 + exp(w1 * x + b1)) * (1 + exp(b2 + w2 * ln(1 + exp(w1 * x + b1))))))

# (8.49) to (8.76): Fig. 8.4 and, with v8, Fig. 8.5
TRACE = WengertList.from_text("v1 = alias(x1)\\nv2 = alias(x2)\\nv3 = mul(v1, v2)\\nv4 = sin(v2)\\nv5 = exp(v3)\\n"
                              "v6 = subtract(v3, v4)\\nv7 = add(v5, v6)")
BOTH = WengertList([*TRACE, ("v8", "mul", ("v6", "v5"))])
X = {"x1": 0.7, "x2": 1.3}
v = eval(BOTH, X)
'''

EXAMPLES = [*bishop_8_1.EXAMPLES, *bishop_8_1_6.EXAMPLES, *bishop_8_2.EXAMPLES]
