"""Programs whose loops Python writes out, for `roll` to find: each with the lines of the rolled list at most."""
import numpy as np

import xman
from xman import f

r = np.random.default_rng(0).standard_normal


def scaled(*shape): return r(shape) / 3


SHOCKS = r((25, 40))


def garch(w, a, b, e):
    v, l, s = np.exp(w), 0.0, np.asarray(1.0)
    for t in range(len(e)):
        l = l + np.log(s) + e[t] ** 2 / s
        s = v + a * e[t] ** 2 + b * s
    return 0.5 * l


def heat(u, k):
    for _ in range(20):
        u = u + k * (np.roll(u, 1) - 2 * u + np.roll(u, -1)) * 0.1 + 0.01 * np.sin(u)
    return np.sum(u * u)


def wave(u, c):
    a = b = u
    for _ in range(12):
        p = np.pad(b, 1)
        a, b = b, 2 * b - a + c * (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * b)
    return np.sum(b * b)


def rnn(X, W, U, h):
    out = []
    for t in range(X.shape[1]):
        h = np.tanh(np.dot(X[:, t], W) + np.dot(h, U))
        out.append(h)
    return np.mean(np.stack(out) ** 2)


def gru(X, W, U, h):
    for t in range(len(X)):
        z, q = f.sigmoid(X[t] @ W[0] + h @ U[0]), f.sigmoid(X[t] @ W[1] + h @ U[1])
        h = (1 - z) * h + z * np.tanh(X[t] @ W[2] + (q * h) @ U[2])
    return np.sum(h)


def lstm(X, W, U, h, c):
    for x in X:
        i, o, k, g = np.split(x @ W + h @ U, 4, axis=1)
        c = f.sigmoid(k) * c + f.sigmoid(i) * np.tanh(g)
        h = f.sigmoid(o) * np.tanh(c)
    return np.sum(h) + np.sum(c)


def hmm(A, B, p, seen=(0, 1, 1, 2, 0, 2, 1, 0)):
    for s in seen:
        p = np.log(np.sum(np.exp(p[:, None] + A), 0)) + B[:, s]
    return np.log(np.sum(np.exp(p)))


def crf(x, T):
    a = x[0]
    for t in range(1, len(x)):
        a = x[t] + f.logsumexp(a[:, None] + T, 0)
    return f.logsumexp(a)


def kalman(x, P, A, Q, z):
    for t in range(len(z)):
        x, P = A @ x, A @ P @ A.T + Q
        K = P @ np.linalg.inv(P + np.eye(2))
        x, P = x + K @ (z[t] - x), (np.eye(2) - K) @ P
    return np.sum(x) + np.trace(P)


def runge_kutta(x, a, h=0.1):
    slope = lambda x: np.stack([x[1], -a * x[0] - x[1] ** 3])
    for _ in range(10):
        k1 = slope(x)
        k2 = slope(x + h / 2 * k1)
        k3 = slope(x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(x + h * k3))
    return x


def adams_bashforth(x, a):
    before = a * np.sin(x)
    for _ in range(12):
        slope = a * np.sin(x)
        x, before = x + 0.05 * (3 * slope - before), slope
    return x


def three_back(x):
    a, b, c = x, np.sin(x), np.cos(x)
    for _ in range(12):
        a, b, c = b, c, np.tanh(a + 0.5 * b - c)
    return c


def regulator(x, U, A, B):
    cost = 0.0
    for t in range(len(U)):
        x = np.tanh(A @ x + B @ U[t])
        cost = cost + np.dot(x, x) + 0.1 * np.dot(U[t], U[t])
    return cost


def attention(x, Q, K, V):
    for i in range(len(Q)):
        x = x + f.softmax(x @ Q[i] @ (x @ K[i]).T) @ (x @ V[i])
    return np.sum(x ** 2)


def jacobi(A, b):
    x, d = np.zeros(4), np.diag(A)
    for _ in range(9):
        x = (b - A @ x + d * x) / d
    return x


def shortest_path(D):
    d = D[0]
    for _ in range(6):
        d = np.min(d[:, None] + D, 0)
    return d


def horner(x, c):
    y = c[-1]
    for k in range(2, len(c) + 1):
        y = y * x + c[-k]
    return y


def products(x):
    y, ys = 1.0, []
    for t in range(len(x)):
        y = y * x[t]
        ys.append(y)
    return np.stack(ys)


def bisection(a):
    low, high = np.zeros(3), np.ones(3) * 4
    for _ in range(20):
        middle = 0.5 * (low + high)
        above = middle ** 2 > a
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return low


def descent(w, X, y):
    m, v = np.zeros(3), np.zeros(3)
    for t in range(1, 12):
        g = X.T @ (X @ w - y)
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        w = w - 0.1 * (m / (1 - 0.9 ** t)) / (np.sqrt(v / (1 - 0.99 ** t)) + 1e-8)
    return w


def option(s0, vol, rate):
    s, total = s0 * np.ones(40), 0.0
    for z in SHOCKS:
        s = s * np.exp((rate - 0.5 * vol ** 2) / 25 + vol * 0.2 * z)
        total = total + s
    return np.mean(np.maximum(total / 25 - 100.0, 0.0)) * np.exp(-rate)


def nested(x, W):
    for i in range(5):
        for j in range(6):
            x = np.tanh(W[i, j] * x + i)
        x = x * x
    return x


def matrix_by_hand(A, B):
    rows = []
    for i in range(4):
        total = 0.0
        for k in range(5):
            total = total + A[i, k] * B[k]
        rows.append(total)
    return np.stack(rows)


def backwards(x):
    y = np.zeros(())
    for t in range(len(x) - 1, -1, -1):
        y = np.sin(y + x[t])
    return y


def every_other(x):
    y = 0.0
    for t in range(0, len(x), 2):
        y = y + np.exp(x[t]) * x[t + 1]
    return y


def scattered(x, places=(3, 0, 7, 7, 1, 5)):
    y = 0.0
    for i in places:
        y = np.tanh(y + x[i])
    return y


def diagonal(A):
    y = 0.0
    for i in range(len(A)):
        y = y + np.sin(A[i, i])
    return y


def columns(X):
    y = np.zeros(3)
    for j in range(X.shape[1]):
        y = np.cos(y + X[:, j, 1])
    return y


def windows(x, w):
    return np.stack([np.tanh(np.dot(x[t:t + 3], w)) for t in range(len(x) - 3)])


def first_a_list(x):
    parts = [np.sin(x[i]) * x[i] for i in range(8)]
    total = 0.0
    for part in parts:
        total = total + part
    return total


def single_precision(x, w):
    for k in (0.1, 0.2, 0.7, 1.3, 1.9):
        x = np.sin(x * k + w) + k
    return x


def two_precisions(x, w):  # 0.1 is another number in single precision
    c, total = 0.1, 0.0
    for t in range(len(x)):
        total = total + c * w
        c = c + x[t]
    return total


def spread(x, w):
    for _ in range(9):
        x = np.sin(x * w)
    return x


def planes(A):
    y = np.zeros(3)
    for t in range(len(A)):
        y = np.sin(y + A[t, :, t])
    return y


def columns_of_planes(A):  # of one plane, A[t]: all of it is not a column
    y = np.zeros(5)
    for t in range(len(A)):
        y = np.sin(y + A[t, :, 0] * A[t, :, 2])
    return y


def planes_apart(A):  # the places move along the second and the fourth axis
    y = np.zeros((3, 2))
    for t in range(A.shape[1]):
        y = np.sin(y + A[:, t, :, t])
    return y


def arithmetic_geometric(a, b):
    for _ in range(8):
        a, b = (a + b) / 2, np.sqrt(a * b)
    return a


def newton(x, a):
    for _ in range(10):
        x = x - (x ** 3 - a) / (3 * x ** 2)
    return x


ROLLED = {
    planes_apart: (5, r((3, 6, 2, 6)),),
    garch: (11, -2.0, 0.1, 0.8, r(20)), heat: (5, r(9), np.full(9, 0.5)),
    wave: (5, r((4, 4)), np.full((4, 4), 0.1)),
    rnn: (7, r((2, 9, 3)), scaled(3, 4), scaled(4, 4), np.zeros((2, 4))),
    gru: (9, r((8, 1, 3)), scaled(3, 3, 4), scaled(3, 4, 4), np.zeros((1, 4))),
    lstm: (9, r((8, 1, 3)), scaled(3, 16), scaled(4, 16), np.zeros((1, 4)), np.zeros((1, 4))),
    hmm: (9, scaled(3, 3), scaled(3, 3), scaled(3)), crf: (6, r((9, 4)), scaled(4, 4)),
    kalman: (9, r(2), np.eye(2), scaled(2, 2), np.eye(2), r((8, 2))), runge_kutta: (4, r(2), 1.3),
    adams_bashforth: (10, 0.3, 1.1), three_back: (6, 0.4),
    regulator: (4, r(3), r((7, 2)), scaled(3, 3), scaled(3, 2)),
    attention: (6, r((4, 3)), scaled(5, 3, 3), scaled(5, 3, 3), scaled(5, 3, 3)),
    jacobi: (9, r((4, 4)) + 9 * np.eye(4), r(4)), shortest_path: (6, np.abs(r((5, 5)))),
    horner: (6, 0.7, r(9)),
    products: (5, r(9)), bisection: (12, np.array([2.0, 3.0, 5.0])), descent: (30, r(3), r((6, 3)), r(6)),
    option: (22, 100.0, 0.2, 0.03), nested: (4, 0.3, scaled(5, 6)), matrix_by_hand: (3, r((4, 5)), r(5)),
    backwards: (6, r(9)), every_other: (7, r(12)), scattered: (8, r(8)), diagonal: (6, r((6, 6))),
    columns: (7, r((3, 8, 2))), windows: (6, r(12), r(3)), first_a_list: (7, r(8)),
    two_precisions: (11, r(8).astype("f"), 0.7), spread: (5, 0.3, r(3)), planes: (6, r((5, 3, 5))), columns_of_planes: (9, r((7, 5, 3))),
    single_precision: (8, r(4).astype("f"), r(4).astype("f")), arithmetic_geometric: (6, 1.0, 0.3),
    newton: (4, 1.0, 7.0),
}


def listed(fn, args):
    steps = xman.trace(fn, *args)
    return steps, dict(zip(steps.inputs, [dict(zip(fn.__code__.co_varnames, args, strict=False))[x]
                                          for x in steps.inputs], strict=True))
