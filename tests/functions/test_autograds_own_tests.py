"""HIPS/autograd's own tests, of the checkout that AUTOGRAD_CHECKOUT names, run through xman by shim_of_autograd."""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(os.environ.get("AUTOGRAD_CHECKOUT", "no such folder"))

# why a test does not pass: what it says, and where that would say too little the tests that may say it
REASONS = {
    "complex numbers": (r"Complex: complex|gives complex numbers|np\.linalg\.eig has no operator", None),
    "complex numbers, after all other checks of the test": (r"Complex: \d+ of the checks, the others hold", None),
    "boxes, primitives and vector spaces": (
        r"Absent: (vspace|primitive|defvjp|const_graph|make_diagonal|holomorphic_grad)|has no attribute '(pop|defgrad|defvjp|defvjp_is_zero|_dot)'", None),
    "an error or a name that is autograd's": (r"DID NOT RAISE|attribute 'startswith'", "test_nograd test_wrapped_name_and_docs"),
    "autograd's own where, of Python's types": (r"assert <class 'numpy|positional-only arguments", "test_custom_where test_custom_where_dtypes"),
    "autograd's own convolve, with axes": (r"Absent: scipy.signal.convolve", None),
    "refused: an in-place write": (r"XManError.*in-place write", None),
    "refused: NumPy's function of a list, which xman.numpy.array makes an array": (
        r"XManError.*(list of traced values|conversion to an array)",
        "test_norm_list_of_boxes test_mean_list_of_boxes test_std_list_of_boxes test_var_list_of_boxes test_simple_append_list test_simple_append_list_2D"),
    "refused: a type as a function": (r"XManError.*np\.int64", "test_cast_to_int"),
    "refused: functions of SciPy that xman.scipy has not": (r"XManError", "test_odeint test_solve_banded test_mvn_sing_cov"),
    "it is not run": (r"Skipped: xarray is required", None),
}


def reason(test, message):
    """Why a test does not pass; an error that is in no row of the table is `wrong` or `unclear`."""
    name = test.rpartition("::")[2].partition("[")[0]
    for why, (pattern, tests) in REASONS.items():
        if re.search(pattern, message, re.DOTALL) and (tests is None or name in tests.split()):
            return why
    return "wrong" if "AssertionError" in message else "unclear"


@pytest.mark.skipif(not (CHECKOUT / "tests").is_dir(), reason="AUTOGRAD_CHECKOUT names no checkout of HIPS/autograd")
def test_autograds_own_tests_pass_or_are_refused_for_a_reason_that_is_known(tmp_path):
    here = Path(__file__).parent
    environment = os.environ | {"AUTOGRAD_LOG": str(tmp_path / "log.json"), "PYTHONPATH": os.pathsep.join(map(str, (here, here.parents[1])))}
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "shim_of_autograd", "-p", "no:cacheprovider", "-W", "ignore",
                    "--rootdir", str(CHECKOUT), str(CHECKOUT / "tests")], env=environment, cwd=tmp_path, capture_output=True, check=False)
    log = json.loads((tmp_path / "log.json").read_text("utf-8"))
    passed = [test for test, message in log.items() if message == "passed"]
    rest = {test: (reason(test, message), message) for test, message in log.items() if message != "passed"}
    counts = {why: sum(found == why for found, _ in rest.values()) for why in REASONS}
    print(f"{len(passed)} of {len(log)} pass", *(f"{n} {why}" for why, n in counts.items()), sep="\n")
    assert len(passed) >= 450
    assert {test: message for test, (why, message) in rest.items() if why in ("wrong", "unclear")} == {}
