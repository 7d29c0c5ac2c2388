"""Products by BLAS, routines of LAPACK, called by symbols: machine code on disk holds no addresses.

BLAS is the one that NumPy brings along, where it does, else SciPy's, as LAPACK is. NumPy's reads sizes of 64
bits and SciPy's of 32; where the lower half lies in front, both read one constant.
BLAS knows columns. A matrix that lies row by row is to it the transpose of one, and C = A B is Cᵀ = Bᵀ Aᵀ.
"""
from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np
from numpy._core import _multiarray_umath

from ..nests.contractions import leading
from ..nests.tree import Product, Routine
from ..nests.views import exchanged
from .arithmetic import load, store
from .function import Function, literal, llvm_type

LETTERS = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}


@functools.cache
def address(name: str) -> int:
    own = getattr(ctypes.CDLL(_multiarray_umath.__file__), f"scipy_{name}_64_", None)
    if own and name[1:] in ("gemm", "gemv"):
        return ctypes.cast(own, ctypes.c_void_p).value
    from scipy.linalg import cython_blas, cython_lapack
    named = ctypes.pythonapi.PyCapsule_GetName
    named.restype, named.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = (cython_blas.__pyx_capi__ | cython_lapack.__pyx_capi__)[name]
    return pointer(capsule, named(capsule))


def by_reference(f: Function, kind: str, value: str) -> str:
    """What a routine is told by reference."""
    name = f"@c_{kind}_{value}".replace("-", "m")
    f.declare(f"{name} = private constant {kind} {value}")
    return name


def call_routine(f: Function, dtype: np.dtype, name: str, *args: str) -> None:
    name = f"@xman_{LETTERS[dtype]}{name}"
    f.declare(f"declare void {name}({', '.join(['ptr'] * len(args))})")
    f.put(f"call void {name}({', '.join(f'ptr {a}' for a in args)})")


def write_product(f: Any, node: Product) -> None:
    """The call, or the loops of calls, of a product. f: the `StepFunction`."""
    dtype, shape, a, b = f.roots[node.target.root].dtype, node.target.shape, node.a, node.b
    if shape[-2] == 1 != shape[-1]:  # Cᵀ = Bᵀ aᵀ
        a, b = exchanged(b), exchanged(a)
    m, k, n, loops = *a.shape[-2:], b.shape[-1], [f.open(size) for size in shape[:-2]]
    whole, letter = lambda x: by_reference(f, "i64", str(x)), lambda t: by_reference(f, "i8", str(ord(t)))
    number = lambda x: by_reference(f, llvm_type(dtype), literal(x, dtype))
    x, y, out = (f.place(view, loops) for view in (a, b, node.target))
    alpha, beta = factor_in_memory(f, node) if node.s else number(node.alpha), number(float(node.added))
    ta, lda = leading(a)
    if n == 1:
        flag, sizes = ("t", (k, m)) if ta == "n" else ("n", (m, k))
        call_routine(f, dtype, "gemv", letter(flag), *map(whole, sizes), alpha, x, whole(lda), y,
                     whole(b.strides[-2] or 1), beta, out, whole(1))
    else:
        tb, ldb = leading(b)
        call_routine(f, dtype, "gemm", letter(tb), letter(ta), whole(n), whole(m), whole(k), alpha, y,
                     whole(ldb), x, whole(lda), beta, out, whole(n))
    for loop in reversed(loops):
        f.close(*loop)


def write_routine(f: Any, node: Routine) -> None:
    """The call of LAPACK, or the loops of calls."""
    dtype, rows, n = f.roots[node.target.root].dtype, *node.target.shape[-2:]
    loops = [f.open(size) for size in node.target.shape[:-2]]
    given, info = [f.place(view, loops) for view in node.views], f.alloca("i32")
    size = by_reference(f, "i32", str(n))
    if node.name == "potrf":  # rows of the lower triangle are columns of the upper one
        args = [by_reference(f, "i8", str(ord("U"))), size, given[0], size]
    elif node.name == "getrf":
        args = [size, size, given[1], size, given[0]]
    else:
        args = [size, by_reference(f, "i32", str(rows)), given[0], size, given[1], given[2], size]
    call_routine(f, dtype, node.name, *args, info)
    if node.name != "getrf":  # which goes on
        f.leave(f.do(f"icmp ne i32 {f.do(f'load i32, ptr {info}')}, 0"))
    for loop in reversed(loops):
        f.close(*loop)


def factor_in_memory(f: Any, node: Product) -> str:
    """A number in memory: alpha times one that is in memory."""
    dtype = f.roots[node.target.root].dtype
    found = f.alloca(llvm_type(dtype))
    store(load(f, f.roots[node.s.root].dtype, f.place(node.s)).to(dtype) * node.alpha, found)
    return found
