"""A pytest plugin under which `import autograd` gives the names of HIPS/autograd by xman's functions, for its own tests.

What autograd has and xman has not, its boxes, primitives and vector spaces, raises Absent. Where a check is of complex numbers,
which xman refuses, the others of the same test are made first. The log of all tests is written as JSON to the file $AUTOGRAD_LOG.
"""
from __future__ import annotations

import builtins
import functools
import importlib
import itertools
import json
import os
import sys
import types

import numpy as np

import xman
import xman.scipy
from xman.functions.trees import flattened_tree as leaves_of
from xman.functions.trees import tree_map, unflatten
from xman.traced.arraylike import ArrayLike

TOLERANCE, EPS, R = 1e-6, 1e-6, np.random.default_rng(42)


class Absent(Exception):
    """A name of autograd's that has no counterpart."""


class Complex(Exception):
    """A check of complex numbers, which xman refuses."""


def absent(name):
    def refuse(*_, **__):
        raise Absent(name)
    return refuse


# ---- operators of one argument, for several -----------------------------------------------------------------------------

def unary_to_nary(operator):
    def nary(fun, argnum=0, *more, **named):
        def operated(*args, **options):
            several = isinstance(argnum, (tuple, list))
            places = argnum if several else (argnum,)

            def unary(x):
                new = list(args)
                for place, part in zip(places, x if several else (x,), strict=True):
                    new[place] = part
                return fun(*new, **options)

            unary.__name__ = getattr(fun, "__name__", "fun")
            return operator(unary, tuple(args[i] for i in argnum) if several else args[argnum], *more, **named)
        return operated
    return functools.wraps(operator)(nary)


def real(x):
    """x, or an error where something in it is complex."""
    if any(np.iscomplexobj(leaf) for leaf in leaves_of(x)[0] if not isinstance(leaf, ArrayLike)):
        raise Complex("complex numbers")
    return x


def make_vjp(fun, x):
    out, pull = xman.vjp(fun, real(x))
    return (lambda d: pull(d)[0]), out


def make_jvp(fun, x):
    return lambda t: xman.jvp(fun, (real(x),), (t,))


def ones(x):
    return tree_map(lambda leaf: np.ones(np.shape(leaf))[()], x)


def grad(fun, x):
    pull, out = make_vjp(fun, x)
    if np.size(out) != 1:
        raise TypeError("Grad only applies to real scalar-output functions.")
    return pull(ones(out))


def value_and_grad(fun, x):
    pull, out = make_vjp(fun, x)
    if np.size(out) != 1:
        raise TypeError("value_and_grad only applies to real scalar-output functions.")
    return out, pull(ones(out))


def grad_and_aux(fun, x):
    (_, aux), slope = xman.value_and_grad(fun, has_aux=True)(x)
    return slope, aux


def elementwise_grad(fun, x):
    pull, out = make_vjp(fun, x)
    return pull(ones(out))


def deriv(fun, x):
    return make_jvp(fun, x)(ones(x))[1]


def jacobian(fun, x):
    return xman.jacobian(fun)(real(x))


def make_ggnvp(f, g=lambda x: 0.5 * np.sum(x * x, axis=-1), f_argnum=0):
    def product(*args, **options):
        def at(x):
            return f(*args[:f_argnum], x, *args[f_argnum + 1:], **options)

        def ggnvp(v):
            out, along = xman.jvp(at, (args[f_argnum],), (v,))
            curved = xman.jvp(xman.grad(lambda y: np.sum(g(y))), (out,), (along,))[1]
            return xman.vjp(at, args[f_argnum])[1](curved)[0]
        return ggnvp
    return product


def hessian_tensor_product(fun, argnum=0):
    slope = nary_grad(fun, argnum)
    return nary_grad(lambda *args, **options: np.tensordot(slope(*args[:-1], **options), args[-1], np.ndim(args[-1])), argnum)


def tensor_jacobian_product(fun, argnum=0):
    product = lambda *args, **options: np.tensordot(args[-1], fun(*args[:-1], **options), axes=np.ndim(args[-1]))
    return unary_to_nary(jacobian)(product, argnum)


nary_grad = unary_to_nary(grad)


# ---- its checks ---------------------------------------------------------------------------------------------------------

def randn(like):
    return tree_map(lambda leaf: R.standard_normal(np.shape(leaf))[()], like)


def inner(x, y):
    return builtins.sum(float(np.sum(a * b)) for a, b in zip(leaves_of(x)[0], leaves_of(y)[0], strict=True))


def scalar_close(a, b):
    return abs(a - b) < TOLERANCE or abs(a - b) / abs(a + b) < TOLERANCE


def check_equivalent(x, y):
    (mine, one), (theirs, other) = leaves_of(real(x)), leaves_of(real(y))
    assert repr(one) == repr(other) and [np.shape(a) for a in mine] == [np.shape(a) for a in theirs]
    v = randn(x)
    assert scalar_close(inner(x, v), inner(y, v)), f"{x} is not {y}"


def difference(fun, x, v):
    leaves, structure = leaves_of(x)
    move = lambda s: unflatten(structure, [a + s * EPS / 2 * t for a, t in zip(leaves, leaves_of(v)[0], strict=True)])
    above, below = fun(move(1)), fun(move(-1))
    return unflatten(leaves_of(above)[1], [(a - b) / EPS for a, b in zip(leaves_of(above)[0], leaves_of(below)[0], strict=True)])


def check_grads(fun, x, modes=("fwd", "rev"), order=2):
    real(x)
    v = randn(x)
    real(out := fun(x))
    u = randn(out)
    if any(a.dtype.kind != "f" for a in map(np.asarray, leaves_of(x)[0])):
        x = tree_map(lambda a: np.asarray(a, float)[()], x)
    slope = difference(fun, x, v)
    if "fwd" in modes:
        assert scalar_close(inner(make_jvp(fun, x)(v)[1], u), inner(slope, u)), "forward mode"
    if "rev" in modes:
        found = make_vjp(fun, x)[0](u)
        assert scalar_close(inner(found, v), inner(slope, u)), "reverse mode"
        assert [np.shape(a) for a in leaves_of(found)[0]] == [np.shape(a) for a in leaves_of(x)[0]]
    if order > 1:
        if "fwd" in modes:
            check_grads(lambda pair: make_jvp(fun, pair[0])(pair[1])[1], (x, v), modes, order - 1)
        if "rev" in modes:
            check_grads(lambda pair: make_vjp(fun, pair[0])[0](pair[1]), (x, u), modes, order - 1)


def nary_check(fun, argnum=0, modes=None, order=2):
    check = unary_to_nary(check_grads)(fun, argnum, ("fwd", "rev") if modes is None else modes, order)

    def checked(*args, **options):
        real([a for a in args if isinstance(a, (int, float, complex, np.ndarray, np.generic, list, tuple, dict))])
        check(*args, **options)
    return checked


def combo_check(fun, *more, **named):
    def checks(*args, **options):
        complex_ones = 0
        for chosen in itertools.product(*args, *([(name, x) for x in xs] for name, xs in options.items())):
            try:
                nary_check(fun, *more, **named)(*chosen[:len(args)], **dict(chosen[len(args):]))
            except Complex:
                complex_ones += 1
        if complex_ones:
            raise Complex(f"{complex_ones} of the checks, the others hold")
    return checks


def flatten(tree):
    leaves, structure = leaves_of(tree)
    shapes = [np.shape(leaf) for leaf in leaves]
    ends = np.cumsum([0, *(np.prod(shape, dtype=int) for shape in shapes)])
    flat = np.concatenate([np.reshape(leaf, (-1,)) for leaf in leaves]) if leaves else np.zeros(0)
    return flat, lambda v: unflatten(structure, [np.reshape(v[a:b], shape) for a, b, shape in zip(ends[:-1], ends[1:], shapes, strict=True)])


# ---- the modules ----------------------------------------------------------------------------------------------------------

def module(name, base=None, **names):
    new = types.ModuleType(name)
    vars(new).update(names)
    if base:
        new.__getattr__ = lambda attribute: getattr(importlib.import_module(base), attribute)
    sys.modules[name] = new
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, new)


OPERATORS = {operator.__name__: unary_to_nary(operator) for operator in (
    make_vjp, make_jvp, grad, value_and_grad, grad_and_aux, elementwise_grad, deriv, jacobian)}
OPERATORS |= {
    "hessian": unary_to_nary(lambda fun, x: jacobian(lambda y: jacobian(fun, y), x)), "make_hvp": unary_to_nary(lambda fun, x: make_vjp(lambda y: grad(fun, y), x)),
    "make_jvp_reversemode": unary_to_nary(lambda fun, x: lambda v: make_jvp(fun, x)(v)[1]), "make_ggnvp": make_ggnvp, "checkpoint": lambda fun: fun,
    "hessian_tensor_product": hessian_tensor_product, "hessian_vector_product": hessian_tensor_product,
    "tensor_jacobian_product": tensor_jacobian_product, "vector_jacobian_product": tensor_jacobian_product,
    "holomorphic_grad": absent("holomorphic_grad"), "grad_named": absent("grad_named"), "multigrad_dict": absent("multigrad_dict")}
PYTHONS = {name: getattr(builtins, name) for name in ("isinstance", "list", "dict", "tuple", "type")}
MACHINERY = {name: absent(name) for name in ("vspace", "defvjp", "defjvp", "defvjp_argnum", "VSpace", "primitive_vjps")}


def primitive(fun):
    return absent("primitive")


module("autograd", **OPERATORS, **PYTHONS)
module("autograd.core", **MACHINERY | {"primitive": primitive, "make_vjp": make_vjp, "make_jvp": make_jvp})
module("autograd.extend", **MACHINERY | {"primitive": primitive})
module("autograd.tracer", primitive=primitive, isbox=lambda x: isinstance(x, ArrayLike), getval=absent("getval"))
module("autograd.builtins", **PYTHONS)
module("autograd.wrap_util", unary_to_nary=unary_to_nary)
module("autograd.util", quick_grad_check=lambda fun, x, more=(), **_: check_grads(lambda x: fun(x, *more), x, ("rev",), 1))
module("autograd.differential_operators", **OPERATORS)
module("autograd.test_util", check_grads=nary_check, combo_check=combo_check, scalar_close=scalar_close, check_equivalent=check_equivalent)
module("autograd.misc", flatten=flatten, const_graph=absent("const_graph"))
module("autograd.numpy", "xman.numpy", make_diagonal=absent("make_diagonal"))
for part in ("random", "linalg", "fft"):
    module(f"autograd.numpy.{part}", f"numpy.{part}")
module("autograd.scipy", "scipy")
for part in ("special", "linalg", "stats"):
    module(f"autograd.scipy.{part}", f"xman.scipy.{part}")
module("autograd.scipy.integrate", "scipy.integrate")
module("autograd.scipy.signal", "scipy.signal", convolve=absent("scipy.signal.convolve with axes"))
sys.modules["autograd.scipy.stats.multivariate_normal"] = sys.modules["autograd.scipy.stats"].multivariate_normal = xman.scipy.stats.multivariate_normal

# ---- the log --------------------------------------------------------------------------------------------------------------

LOG = {}


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        LOG[report.nodeid.rpartition("/")[2]] = "passed" if report.outcome == "passed" else str(
            getattr(getattr(report.longrepr, "reprcrash", None), "message", report.longrepr))[:600]


def pytest_sessionfinish():
    with open(os.environ["AUTOGRAD_LOG"], "w", encoding="utf-8") as file:
        json.dump(LOG, file)
