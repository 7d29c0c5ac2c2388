"""Functions with a line that cannot be traced: (the line's beginning as it stands here, the words of the sentence, the function)."""
from __future__ import annotations

import math
import pickle

import numpy as np
from scipy import integrate, interpolate, linalg, special
from scipy.sparse import csr_array
from scipy.spatial import distance

from ops import f

kept = []
sparse = csr_array(np.eye(3))
rng = np.random.default_rng(0)


def writes_an_element(x):
    a = np.zeros(3)
    a[0] = x[0]
    return a.sum()


def writes_a_slice(x):
    a = np.zeros(3)
    a[:2] = x[:2]
    return a.sum()


def writes_into_an_argument(x):
    x[0] = 1.0
    return x.sum()


def adds_to_a_plain_array(x):
    total = np.zeros(3)
    total += x
    return total.sum()


def adds_at_places(x):
    total = np.zeros(3)
    np.add.at(total, [0, 1], x[:2])
    return total.sum()


def gives_an_out(x):
    buffer = np.zeros(3)
    np.sin(x, out=buffer)
    return buffer.sum()


def copies_into_an_array(x):
    a = np.zeros(3)
    np.copyto(a, x)
    return a.sum()


def sorts_in_place(x):
    x.sort()
    return x[0]


def makes_an_array_of_a_list(x):
    return np.array([x[0], x[1]]).sum()


def makes_an_array_of_an_array(x):
    return np.asarray(x).sum()


def fills_an_array(x):
    return np.full(3, x[0]).sum()


def sums_a_list(x):
    return np.sum([x[0], x[1]])


def exponentiates_a_list(x):
    return np.exp([x[0], x[1]]).sum()


def multiplies_by_a_list(x):
    return (x * [x[0], x[1], 1.0]).sum()


def gives_a_list_second(x):
    return f.dot(np.eye(2), [x[0], x[1]]).sum()


def stacks_lists_of_lists(x):
    return np.stack([[x[0], x[1]], [x[1], 1.0]]).sum()


def makes_a_float64(x):
    return np.float64(x[0])


def takes_the_sine_of_math(x):
    return math.sin(x[0])


def makes_a_float(x):
    return float(x[0])


def makes_an_int(x):
    return int(x[0])


def takes_the_item(x):
    return x[0].item()


def makes_a_list(x):
    return sum(x.tolist())


def multiplies_by_a_sparse(x):
    return (sparse @ x).sum()


def branches_on_an_array(x):
    if x > 0:
        return x.sum()
    return -x.sum()


def takes_a_zeta_function(x):
    return special.zeta(x * x + 2).sum()


def takes_an_integral_of_order(x):
    return special.expn(3, x * x).sum()


def takes_eigenvalues(x):
    return np.linalg.eigvals(np.outer(x, x)).sum()


def takes_a_softmax_of_scipy(x):
    return special.softmax(x)[0]


def solves_with_a_decorated(x):  # function: SciPy's decorator converts the arrays, before the function is called
    return linalg.solve_triangular(np.outer(x, x), np.ones(3)).sum()


def integrates(x):
    return integrate.quad(lambda t: f.exp(-x[0] * t), 0, 1)[0]


def interpolates(x):
    return interpolate.CubicSpline(np.arange(3.0), x)(0.5)


def takes_distances(x):
    return distance.cdist(x[:, None], x[:, None]).sum()


def draws_random_numbers(x):
    return rng.normal(x).sum()


def orders_complex_numbers(x):
    return np.sort(x * 1j)[0].imag


def asks_where(x):
    return x[np.where(x > 0)].sum()


def indexes_by_a_float(x):
    return np.ones(3)[x[0]]


def pickles(x):
    return pickle.loads(pickle.dumps(x)).sum()


def keeps_what_it_computed(x):
    kept.append(2.0 * x)
    return kept[0].sum()


def weighs_a_quantile(x):
    return np.quantile(x, 0.5, weights=np.ones(3), method="inverted_cdf")


def takes_the_flat_iterator(x):
    return sum(x.flat)


MISTAKES = [
    (writes_an_element,          "a[0] = x[0]",              "in-place write", "np.concatenate"),
    (writes_a_slice,             "a[:2] = x[:2]",            "in-place write", "np.stack"),
    (writes_into_an_argument,    "x[0] = 1.0",               "in-place write", "np.where"),
    (adds_to_a_plain_array,      "total += x",               "in-place write", "build a new array"),
    (adds_at_places,             "np.add.at(",               "in-place write", "build a new array"),
    (gives_an_out,               "np.sin(x, out=buffer)",    "in-place write", "build a new array"),
    (copies_into_an_array,       "np.copyto(a, x)",          "in-place write", "build a new array"),
    (sorts_in_place,             "x.sort()",                 "sort", "np.sort(x)"),
    (makes_an_array_of_a_list,   "return np.array([x[0]",    "np.array of traced values", "np.stack"),
    (makes_an_array_of_an_array, "return np.asarray(x)",     "an array already", "leave the conversion out"),
    (fills_an_array,             "return np.full(3",         "np.full copies", "np.ones(shape)"),
    (sums_a_list,                "return np.sum([x[0]",      "list of traced values", "np.stack"),
    (exponentiates_a_list,       "return np.exp([x[0]",      "list of traced values", "give it np.array([…]) of import xman.numpy as np"),
    (stacks_lists_of_lists,      "return np.stack([[x[0]",   "list of traced values", "give it np.array([…]) of import xman.numpy as np"),
    (multiplies_by_a_list,       "return (x * [x[0]",        "list of traced values", "give it np.array([…]) of import xman.numpy as np"),
    (gives_a_list_second,        "return f.dot(np.eye(2)",   "list of traced values", "give it np.array([…]) of import xman.numpy as np"),
    (makes_a_float64,            "return np.float64(x[0])",  "float64() would turn", "leave it an array"),
    (takes_the_sine_of_math,     "return math.sin(x[0])",    "math.sin would turn", "write np.sin"),
    (makes_a_float,              "return float(x[0])",       "float() would turn", "leave it an array"),
    (makes_an_int,               "return int(x[0])",         "int() would turn", "np.floor"),
    (takes_the_item,             "return x[0].item()",       "item() would turn", "leave the array"),
    (makes_a_list,               "return sum(x.tolist())",   "tolist() would turn", "list(x)"),
    (multiplies_by_a_sparse,     "return (sparse @ x)",      "a sparse matrix", "f.dot(a, x)"),
    (branches_on_an_array,       "if x > 0:",                "no single truth value", "np.where(condition, x, y)"),
    (takes_eigenvalues,          "return np.linalg.eigvals(", "np.linalg.eigvals has no operator", "ops.operator"),
    (takes_a_softmax_of_scipy,   "return special.softmax",   "scipy.special.softmax would turn", "from xman.scipy import special"),
    (solves_with_a_decorated,    "return linalg.solve_tri",  "scipy.linalg.solve_triangular would turn", "from xman.scipy import linalg"),
    (integrates,                 "return integrate.quad(",   "scipy.integrate.quad would turn", "xman.custom_vjp"),
    (interpolates,               "return interpolate.Cubic", "scipy.interpolate.CubicSpline would turn", "xman.custom_vjp"),
    (takes_distances,            "return distance.cdist(",   "scipy.spatial.distance.cdist would turn", "xman.custom_vjp"),
    (draws_random_numbers,       "return rng.normal(", "random number", "loc + scale"),
    (orders_complex_numbers,     "return np.sort(x * 1j)",   "np.sort is not defined for complex numbers", "np.abs or np.angle"),
    (asks_where,                 "return x[np.where(x > 0)", "one argument", "np.where(condition, x, y)"),
    (indexes_by_a_float,         "return np.ones(3)[x[0]]",  "an index is a whole number", "np.argmax"),
    (pickles,                    "return pickle.loads",      "cannot be pickled", "return it"),
    (keeps_what_it_computed,     "return kept[0].sum()",     "a call that has ended", "auxiliary output"),
    (weighs_a_quantile,          "return np.quantile(x, 0.5, weights", "np.quantile with weights= has", "np.concatenate"),
    (takes_a_zeta_function,      "return special.zeta(", "scipy.special.zeta has no operator", "have one, or define it"),
    (takes_an_integral_of_order, "return special.expn(", "scipy.special.expn has no operator", "have one, or define it"),
    (takes_the_flat_iterator,    "return sum(x.flat)",       ".flat has no operator", "function of NumPy"),
]
