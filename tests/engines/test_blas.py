"""Which BLAS computes the products of compiled lists."""
import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest
from numpy._core import _multiarray_umath

import xman
from xman import eval

pytest.importorskip("llvmlite", reason="the extra fast is not installed")
R = np.random.default_rng(3)


def test_products_are_of_scipys_blas_where_numpy_brings_none(monkeypatch):
    import _ctypes

    from xman.engines.llvm import products
    monkeypatch.setattr(products, "_multiarray_umath", _ctypes)
    values = {"a": R.normal(size=(17, 31)), "b": R.normal(size=(31, 23)), "c": R.normal(size=(3000,))}
    clear = products.blas.cache_clear, products.address.cache_clear
    [forget() for forget in clear]
    try:
        steps = [("z", "dot", ("a", "b")), ("w", "outer", ("c", "c")), ("v", "dot", ("w", "c"))]
        compiled, interpreted = xman.compile(steps, ["z", "v"], engine="llvm")(values), eval(steps, values)
        assert all(np.allclose(compiled[x], interpreted[x], rtol=1e-12) for x in compiled)
    finally:
        [forget() for forget in clear]


CODE = """
import ctypes, os, sys
import numpy as np
del os.environ["OPENBLAS_CORETYPE"]  # NumPy's is loaded: from here on it is as if OpenBLAS had chosen so itself
if len(sys.argv) > 1:
    os.environ["OPENBLAS_CORETYPE"] = sys.argv[1]
import xman
from xman.engines.llvm import products
a, b = np.random.rand(2, 90, 90)
product = xman.compile([("c", "dot", ("a", "b"))], engine="llvm")({"a": a, "b": b})["c"]
assert np.allclose(product, a @ b, rtol=1e-13)
core = products.blas().scipy_openblas_get_corename64_
core.restype = ctypes.c_char_p
print(core().decode(), products.blas().scipy_openblas_get_num_threads64_(), os.environ.get("OPENBLAS_CORETYPE"))
"""


@pytest.mark.skipif(not _multiarray_umath.__cpu_features__.get("AVX512_SKX"), reason="the processor has no AVX-512")
@pytest.mark.skipif(not importlib.util.find_spec("scipy_openblas64"), reason="scipy-openblas64 is not installed")
def test_where_numpys_openblas_takes_kernels_of_an_older_processor_another_one_is_asked():
    space = {**os.environ, "OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "2"}
    def printed(*args):
        return subprocess.run([sys.executable, "-c", CODE, *args], env=space, capture_output=True, text=True, check=True).stdout.split()
    assert printed() == ["SkylakeX", "2", "None"]
    assert printed("Haswell") == ["Haswell", "2", "Haswell"]  # as its user says
