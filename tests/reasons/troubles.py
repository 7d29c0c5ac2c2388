"""Thirty programs from other systems' trackers whose value or gradient is NaN, infinite, zero, huge or vanished. The line
that is the reason ends in `# here`. Each states the sign, and where it was reported, or is often met."""

import numpy as np

from xman import f, grad, jit, scan

TROUBLES = []
INF = np.inf


def trouble(sign, *args):
    def add(fn):
        TROUBLES.append((fn, sign, args))
        return fn
    return add


@trouble("NaN", np.zeros(3), np.zeros(3))  # pytorch#2421, tensorflow#12071: a distance of a point to itself
def distance_to_itself(x, y):
    squares = np.sum((x - y) ** 2)
    d = np.sqrt(squares)  # here
    return d * 2.0


@trouble("NaN", np.array([[0.0, 0.0], [1.0, 2.0]]))  # jax#3058: all distances, the diagonal among them
def distances_of_all_pairs(x):
    differences = x[:, None, :] - x[None, :, :]
    squares = np.sum(differences ** 2, axis=2)
    return np.sum(np.sqrt(squares))  # here


@trouble("NaN", np.array([2.0, 0.0]))  # jax#475's kind: the outer where alone, and NaN in front of it
def where_after_a_nan(x):
    ratio = x / x  # here
    kept = np.where(x > 5, 0.0, ratio)
    return np.sum(kept)


@trouble("NaN", np.array([-1.0, 4.0]))  # jax#5698's kind
def logarithm_of_what_may_be_negative(x):
    scaled = 3.0 * x
    logs = np.log(scaled)  # here
    return np.mean(logs)


@trouble("NaN", np.array([0.2, 0.0, 0.8]))  # entropy of a distribution with a zero, jax#17070
def entropy(p):
    logs = np.log(p)  # here
    return -np.sum(p * logs)


@trouble("NaN", np.array([1.0, 800.0]))  # a softmax written out
def softmax_without_a_shift(z):
    e = np.exp(z)  # here
    return np.sum((e / np.sum(e)) ** 2)


@trouble("NaN", np.array([-800.0, 3.0]))  # a sigmoid written the other way round
def sigmoid_by_two_exponentials(z):
    e = np.exp(-z)  # here
    return np.sum(e / (1 + e))


@trouble("infinite", np.array([0.3, 0.7]), np.array([0.0, 1.0]))  # keras#2134: a certain prediction that is wrong
def cross_entropy_of_a_certain_error(y, p):
    logs = np.log(1 - p)  # here
    return -np.sum(y * logs)


@trouble("NaN", np.array([-INF, -INF]))  # pytorch#31829: everything is masked
def softmax_of_a_row_that_is_masked(z):
    e = np.exp(z - np.max(z))  # here
    return np.sum(e)


@trouble("NaN", np.ones((4, 2)))  # pytorch#4320: the spread of a constant column
def standard_deviation_of_a_constant(x):
    centered = x - np.mean(x, axis=0)
    spread = np.sqrt(np.mean(centered ** 2, axis=0))
    scaled = centered / spread  # here
    return np.sum(scaled)


@trouble("NaN", np.array([0.0, 1.0]), np.array([1.0, 0.0]))  # pytorch#8069: an angle between parallel vectors
def angle_of_parallel_vectors(x, y):
    cosine = np.sum(x * x) / np.sqrt(np.sum(x * x) * np.sum(x * x))
    angle = np.arccos(cosine)  # here
    return angle + 0.0 * np.sum(y)


@trouble("infinite", 0.0)  # diffrax#280's advice
def a_square_root_at_zero(x):
    y = 1.0 + x
    root = np.sqrt(y - 1.0)  # here
    return root + y


@trouble("NaN", 0.0)  # jax#1052
def the_derivative_of_a_power_at_zero(x):
    y = x ** 2
    z = y ** 0.25  # here
    return np.sin(z)


@trouble("NaN", 2.0, -1.5)  # tfp#…: a negative base to a real exponent
def a_power_of_a_negative_number(p, x):
    shifted = x + 0.5
    y = shifted ** p  # sound: (−1)²
    return y + (shifted + 0.25) ** (p + 0.5)  # here


@trouble("NaN", np.array([1.0, 2.0]))  # flax discussions: masked mean of an empty mask
def mean_over_an_empty_mask(x):
    mask = (x > 10.0) * 1.0
    total = np.sum(mask * x)
    return total / np.sum(mask)  # here


@trouble("NaN", np.array([[1.0, 2.0], [2.0, 4.0]]))  # numpyro: a covariance that is not definite
def logarithm_of_a_determinant(a):
    d = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    y = np.log(d) - np.log(d)  # here
    return y


@trouble("NaN", np.eye(2))  # jax#2748, pytorch#47599: eigenvectors of equal eigenvalues
def eigenvectors_of_equal_eigenvalues(a):
    _, vectors = np.linalg.eigh(a)  # here
    return np.sum(vectors[:, 0] * np.array([1.0, 2.0]))


@trouble("huge", 3.0)  # exploding gradients of a recurrence
def a_recurrence_that_explodes(w):
    h = 1e-3
    for _ in range(30):
        h = w * h  # here
    return h


@trouble("vanished", np.full(2, 2.5), np.ones(2))  # optim issues: gradients that vanish through sigmoids
def a_deep_network_of_sigmoids(w, x):
    h = x
    for _ in range(24):
        h = 1 / (1 + np.exp(-w * h))  # here
    return np.sum(h)


@trouble("zero", np.full((3, 2), -1.0), np.ones((5, 3)))  # dead relus
def dead_relus(w, x):
    a = x @ w
    h = np.maximum(a, 0.0)  # here
    return np.sum(h ** 2)


@trouble("zero", 1.7)  # tensorflow#5888
def rounding(x):
    y = 3.0 * x
    z = np.round(y)  # here
    return z * 2.0


@trouble("zero", np.array([0.2, 0.9]))  # haiku#442
def the_position_of_the_maximum(x):
    best = np.argmax(x)  # here
    return best * 2.0


@trouble("zero", np.array([1.2, 2.9]))
def an_integer_cast(x):
    counts = x.astype(int)  # here
    return np.sum(counts * 0.5)


@trouble("zero", np.array([1.0, 2.0]))  # a target network
def a_gradient_that_is_stopped(x):
    target = f.stopGradient(x ** 2)  # here
    return np.sum(target * 3.0)


@trouble("zero", np.array([50.0, 60.0]))  # saturation
def saturated_units(x):
    h = np.tanh(x)  # here
    return np.sum(h)


@trouble("zero", np.array([0.2, 0.8]))  # a threshold in a loss
def a_comparison_in_a_loss(p):
    right = np.where(p > 0.5, 1.0, 0.0)  # here
    return np.mean(right)


@trouble("zero", np.array([3.0, 7.0]))  # clipped rewards
def a_clip_that_binds(x):
    y = np.clip(x, -1.0, 1.0)  # here
    return np.sum(y * x.shape[0])


@trouble("NaN", 0.0)  # second order: the slope of an infinite slope
@grad
def the_second_derivative_of_a_root(x):
    y = np.sqrt(x * x)  # here
    return y * x


@trouble("NaN", np.array([-1.0, 2.0]))  # diffrax#742's kind: found by bisection there
@jit
def a_compiled_function(x):
    roots = np.sqrt(x)  # here
    return np.sum(roots)


@trouble("NaN", 1.0)  # diffrax#742's kind: a step too long takes the state out of the domain
def a_solver_whose_step_is_too_long(y0):
    def step(y, t):
        y = y - 0.8 * np.sqrt(y)
        return y, y
    y, _ = scan(step, y0, np.arange(4.0))  # here
    return y


@trouble("NaN", 3.0, np.array([1.0, np.nan]))  # data, not a program
def data_with_a_hole(w, x):
    return np.sum(w * x)
