"""Products by BLAS, routines of LAPACK, called by symbols: machine code on disk holds no addresses.

BLAS is the one that NumPy brings along, where it does, else SciPy's, as LAPACK is. NumPy's reads sizes of 64
bits and SciPy's of 32; where the lower half lies in front, both read one constant.
BLAS knows columns. A matrix that lies row by row is to it the transpose of one, and C = A B is Cᵀ = Bᵀ Aᵀ.
"""
from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy._core import _multiarray_umath

from ..nests.contractions import leading
from ..nests.tree import Product, Root, Routine
from ..nests.views import View, row_by_row
from .arithmetic import converted
from .function import Function, literal, llvm_type

LETTERS = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}


@functools.cache
def address(name: str) -> int:
    """Where a routine of BLAS or LAPACK is."""
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


class Blas:
    """Writes calls of BLAS. routines: those called. constants: what they are told by reference, as text."""

    def __init__(self) -> None:
        self.routines: set[str] = set()
        self.constants: dict[str, None] = {}

    def constant(self, kind: str, value: str) -> str:
        name = f"@c_{kind}_{value}".replace("-", "m")
        self.constants[f"{name} = private constant {kind} {value}"] = None
        return name

    def call(self, f: Function, dtype: np.dtype, name: str, *args: str) -> None:
        routine = LETTERS[dtype] + name
        self.routines.add(routine)
        f.declare(f"declare void @xman_{routine}({', '.join(['ptr'] * len(args))})")
        f.put(f"call void @xman_{routine}({', '.join(f'ptr {a}' for a in args)})")

    def product(self, f: Function, node: Product, roots: dict[str, Root],
                pointer: Callable[[str], str]) -> None:
        """The call, or the loops of calls, of a product. pointer(root): where a root begins."""
        dtype, shape = roots[node.target.root].dtype, node.target.shape
        T, (m, n), k, lead = llvm_type(dtype), shape[-2:], node.a.shape[-1], len(shape) - 2
        loops = [f.open(size) for size in shape[:lead]]

        def matrix(view: View, strides: Any) -> str:
            terms = {loop[0]: s for loop, s in zip(loops, strides, strict=False) if s}
            entry = f.sum(terms, view.offset)
            return f.do(f"getelementptr {T}, ptr {pointer(view.root)}, i64 {entry}")

        c = matrix(node.target, row_by_row(shape)[:lead])
        a, b = matrix(node.a, node.a.strides), matrix(node.b, node.b.strides)
        whole, number = lambda x: self.constant("i64", str(x)), lambda x: self.constant(T, literal(x, dtype))
        alpha, beta = number(node.alpha), number(float(node.added))
        if node.s:
            alpha = self.scaled(f, node, roots, pointer)
        (ta, lda), (tb, ldb) = leading(node.a), leading(node.b)
        letter = lambda t: self.constant("i8", str(ord(t)))
        if m == 1 or n == 1:
            if n == 1:  # c = A b
                x, ld, vector, step, (flag, *sizes) = (a, lda, b, node.b.strides[-2], ("t", k, m) if ta == "n"
                                                       else ("n", m, k))
            else:       # Cᵀ = Bᵀ aᵀ
                x, ld, vector, step, (flag, *sizes) = (b, ldb, a, node.a.strides[-1], ("n", n, k) if tb == "n"
                                                       else ("t", k, n))
            self.call(f, dtype, "gemv", letter(flag), *map(whole, sizes), alpha, x, whole(ld), vector,
                      whole(step or 1), beta, c,
                      whole(1))
        else:
            self.call(f, dtype, "gemm", letter(tb), letter(ta), whole(n), whole(m), whole(k), alpha, b,
                      whole(ldb), a, whole(lda),
                      beta, c, whole(n))
        for loop in reversed(loops):
            f.close(*loop)

    def routine(self, f: Function, node: Routine, roots: dict[str, Root],
                pointer: Callable[[str], str]) -> None:
        """The call of LAPACK, or the loops of calls."""
        dtype, n, lead = roots[node.target.root].dtype, node.target.shape[-1], node.target.shape[:-2]
        loops = [f.open(size) for size in lead]

        def place(view: View) -> str:
            entry = f.sum({loop[0]: s for loop, s in zip(loops, view.strides, strict=False) if s}, 0)
            return f.do(f"getelementptr {llvm_type(roots[view.root].dtype)}, ptr {pointer(view.root)}, i64 "
                        f"{entry}")

        whole = lambda x: self.constant("i32", str(x))
        given, info, size = [place(view) for view in node.views], f.alloca("i32"), whole(n)
        if node.name == "potrf":  # rows of the lower triangle are columns of the upper one
            self.call(f, dtype, "potrf", self.constant("i8", str(ord("U"))), size, given[0], size, info)
        elif node.name == "getrf":
            self.call(f, dtype, "getrf", size, size, given[1], size, given[0], info)
        else:
            self.call(f, dtype, "gesv", size, whole(node.target.shape[-2]), given[0], size, given[1],
                      given[2], size, info)
        if node.name != "getrf":  # which goes on
            f.leave(f.do(f"icmp ne i32 {f.do(f'load i32, ptr {info}')}, 0"))
        for loop in reversed(loops):
            f.close(*loop)

    def scaled(self, f: Function, node: Product, roots: dict[str, Root],
               pointer: Callable[[str], str]) -> str:
        """A number in memory: alpha times one that is in memory."""
        dtype, own = roots[node.target.root].dtype, roots[node.s.root].dtype
        place = f.do(f"getelementptr {llvm_type(own)}, ptr {pointer(node.s.root)}, i64 {node.s.offset}")
        s = converted(f, f.do(f"load {llvm_type(own)}, ptr {place}"), own, dtype)
        found, T = f.alloca(llvm_type(dtype)), llvm_type(dtype)
        f.put(f"store {T} {f.do(f'fmul {T} {s}, {literal(node.alpha, dtype)}')}, ptr {found}")
        return found
