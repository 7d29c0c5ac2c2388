"""Products by BLAS, routines of LAPACK, called by symbols: machine code on disk holds no addresses.

BLAS is NumPy's if NumPy brings one (but see `blas`), or else SciPy's; LAPACK and special functions are
SciPy's. NumPy's BLAS reads sizes of 64 bits and SciPy's reads 32; on processors that store the lower half
first, one constant serves both. BLAS stores columns: a matrix that is stored row by row is a transpose to it,
and C = A B is Cᵀ = Bᵀ Aᵀ.
"""
from __future__ import annotations

import ctypes
import functools
import importlib
import importlib.util
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy._core import _multiarray_umath

from ..nests.matrices import leading
from ..nests.tree import Product, Routine
from ..nests.views import exchanged
from .arithmetic import INT, number_at, store
from .function import Function, llvm_literal, llvm_type
from .places import StepFunction


@functools.cache
def blas() -> ctypes.CDLL:
    """NumPy's BLAS; or that of the package scipy-openblas64, where NumPy's does not know the processor.

    An OpenBLAS that is older than the processor takes the kernels of an earlier one. For Zen 5 these are
    Haswell's, without AVX-512, and products take 1.7 times as long. Which kernels it takes is settled when it
    is loaded, and NumPy's has been by now; so a second one is loaded, and told.
    """
    numpys, spec = ctypes.CDLL(_multiarray_umath.__file__), importlib.util.find_spec("scipy_openblas64")
    core = getattr(numpys, "scipy_openblas_get_corename64_", None)
    if not (core and spec and _multiarray_umath.__cpu_features__.get("AVX512_SKX")):
        return numpys
    core.restype = ctypes.c_char_p
    if core() not in (b"Haswell", b"Zen") or "OPENBLAS_CORETYPE" in os.environ:  # its user has chosen
        return numpys
    libraries = Path(spec.origin).with_name("lib").iterdir()
    path = next(path for path in libraries if path.suffix in (".so", ".dylib", ".dll"))
    os.environ["OPENBLAS_CORETYPE"] = "SkylakeX"
    try:
        library = ctypes.CDLL(str(path))  # not imported: that would give its symbols to NumPy as well
    finally:
        del os.environ["OPENBLAS_CORETYPE"]
    library.scipy_openblas_set_num_threads64_(numpys.scipy_openblas_get_num_threads64_())
    return library


@functools.cache
def address(name: str) -> int:
    symbol = getattr(blas(), f"scipy_{name}_64_", None)
    if symbol and name[1:] in ("gemm", "gemv"):
        return ctypes.cast(symbol, ctypes.c_void_p).value
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    pointer = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))
    for module in "linalg.cython_blas", "linalg.cython_lapack", "special.cython_special":
        capsules = importlib.import_module(f"scipy.{module}").__pyx_capi__
        for kind in "", "__pyx_fuse_0", "__pyx_fuse_1":  # one of them is that of doubles
            capsule = capsules.get(kind + name)
            if capsule and re.match(rb"void|double \(double", name_of(capsule)):
                return pointer(capsule, name_of(capsule))
    raise LookupError(f"SciPy has no {name} for other languages")


def call_routine(function: Function, dtype: np.dtype, routine: str, *args: Any, sizes: str = "i64") -> None:
    """Call a routine. args: pointers, and values to be passed by reference: letters, sizes, numbers.
    sizes: the type of the sizes."""
    pointers = []
    for a in args:
        if type(a) is not str or len(a) == 1:
            kind = {str: "i8", int: sizes, float: llvm_type(dtype)}[type(a)]
            value = str(ord(a) if type(a) is str else a if type(a) is int else llvm_literal(a, dtype))
            a = f"@c_{kind}_{value}".replace("-", "m")
            function.declare(f"{a} = private constant {kind} {value}")
        pointers.append(f"ptr {a}")
    function.call("void", f"xman_{'s' if dtype.itemsize == 4 else 'd'}{routine}", *pointers)


def write_product(function: StepFunction, node: Product) -> None:
    """Write the call of a product, or the loops of calls."""
    dtype, shape, a, b = function.dtype(node.target), node.target.shape, node.a, node.b
    if shape[-2] == 1 != shape[-1]:  # Cᵀ = Bᵀ aᵀ
        a, b = exchanged(b), exchanged(a)
    (m, k), n, (ta, lda) = a.shape[-2:], b.shape[-1], leading(a)
    with function.over(*shape[:-2]) as loops:
        x, y, out = (function.place(view, loops) for view in (a, b, node.target))
        alpha, beta = factor_in_memory(function, node) if node.s else float(node.alpha), float(node.added)
        if n == 1:
            turned = ("t", k, m) if ta == "n" else ("n", m, k)
            call_routine(function, dtype, "gemv", *turned, alpha, x, lda, y, b.strides[-2] or 1, beta, out, 1)
        else:
            tb, ldb = leading(b)
            call_routine(function, dtype, "gemm", tb, ta, n, m, k, alpha, y, ldb, x, lda, beta, out, n)


def write_routine(function: StepFunction, node: Routine) -> None:
    """Write the call of LAPACK, or the loops of calls."""
    info, (rows, n), dtype = function.alloca("i32"), node.target.shape[-2:], function.dtype(node.target)
    with function.over(*node.target.shape[:-2]) as loops:
        x, *pivots = (function.place(view, loops) for view in node.views)
        args = {"potrf": ("U", n, x, n),  # rows of the lower triangle are columns of the upper one
                "getrf": (n, n, *pivots, n, x), "gesv": (n, rows, x, n, *pivots, n)}
        call_routine(function, dtype, node.op, *args[node.op], info, sizes="i32")
        if node.op != "getrf":  # it works for singular matrices too
            function.leave(number_at(function, INT, info) != 0)


def factor_in_memory(function: StepFunction, node: Product) -> str:
    """The pointer to a number in memory: alpha times s."""
    dtype = function.dtype(node.target)
    factor = function.alloca(llvm_type(dtype))
    store(function.number(node.s).to(dtype) * node.alpha, factor)
    return factor
