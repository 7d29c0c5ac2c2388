"""Facts about lists as C: every operator with a formula, gradients, loops, training steps, and what is refused."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from xman import WengertList, eval
from xman.export import to_c

sys.path.append(str(Path(__file__).parent))

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="there is no gcc")
STRICT = "-std=c99 -O1 -Wall -Wextra -Werror -pedantic -fPIC -shared".split()


def compiled(folder, steps, values, **options):
    """A function that runs the list's C with other values, and gives its outputs, or the number 1."""
    source, header = to_c(steps, values, folder / "list.c", **options)
    assert "malloc" not in source
    subprocess.run(["gcc", *STRICT, "list.c", "-o", "list.so", "-lm"], cwd=folder, check=True)
    outputs, inplace = options.get("outputs") or WengertList(steps).outputs, options.get("inplace", {})
    want = eval(steps, values)
    inputs = [x for x in WengertList(steps).inputs if x not in options.get("constants", ()) and f": {x} (" in header]

    def run(**changed):
        arrays = [np.array(changed.get(x, values[x]), np.asarray(values[x]).dtype, order="C") for x in inputs]
        results = [np.full(np.shape(want[y]), 77, np.asarray(want[y]).dtype) for y in outputs]
        call = ctypes.CDLL(str(folder / "list.so")).list_run
        refused = call(*[ctypes.c_void_p(a.ctypes.data) for a in (*arrays, *results)])
        overwritten = {y: arrays[inputs.index(x)] for y, x in inplace.items()}
        return refused or dict(zip(outputs, results, strict=True)) | overwritten
    return run


def assert_agree(got, want, rtol=1e-12, atol=1e-12):
    for name, x in got.items():
        np.testing.assert_allclose(x, want[name], rtol, atol, err_msg=name)
