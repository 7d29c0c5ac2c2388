"""One program, one answer: what a call of `jit` waits for, and when its bits are final."""
import importlib
import importlib.util
import os
import subprocess
import sys
import tracemalloc
import weakref

import numpy as np
import pytest

from xman import grad, jit, value_and_grad
from xman.engines import door

ENGINES = ["interpret", "numpy", "tape", *["llvm"] * (importlib.util.find_spec("llvmlite") is not None)]
X = np.random.default_rng(7).normal(size=(6, 5))


def recurrent(x):
    s = np.zeros(5)
    for row in x:
        s = np.tanh(s * 0.7 + np.sin(row) / (1.0 + row * row))
    return np.sum(s * s) if s[0] > 0 else np.sum(np.exp(s))


def bits(result): return np.concatenate([np.ravel(x) for x in (result if isinstance(result, tuple) else (result,))]).tobytes()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("fn", [recurrent, grad(recurrent), value_and_grad(recurrent)])
def test_an_engine_that_is_named_gives_the_bits_of_its_program_at_every_call(engine, fn):
    for x in X, -X:
        fast = jit(fn, engine)
        assert len({*(bits(fast(x)) for _ in range(3)), bits(jit(fn, engine)(x))}) == 1
        assert len(fast.lists) == 1 and fast.engine == ("numpy" if engine == "tape" else engine)


PROCESS = """
import sys, numpy as np
sys.path.insert(0, sys.argv[1])
from test_jit_settles import bits, recurrent, value_and_grad, jit, X
fast = jit(value_and_grad(recurrent), sys.argv[2])
fast.settle()
print({bits(fast(X)).hex() for _ in range(3)})
"""


@pytest.mark.parametrize("engine", ["auto", "numpy"])
def test_processes_agree_to_the_last_bit_whatever_order_their_sets_have(engine):
    command = [sys.executable, "-c", PROCESS, os.path.dirname(__file__), engine]
    answers = {subprocess.check_output(command, env={**os.environ, "PYTHONHASHSEED": str(seed)}) for seed in (1, 2)}
    assert len(answers) == 1 and answers.pop().count(b"'") == 2


@pytest.fixture
def auto(monkeypatch):
    monkeypatch.setenv("XMAN_ENGINE", "auto")


def test_a_first_call_of_auto_is_plain_python_and_no_more(auto):
    fast = jit(recurrent)
    assert fast(X) == recurrent(X) and [*fast.paths.values()] == [[]]
    fast(X)
    assert [len(paths) for paths in fast.paths.values()] == [1]


@pytest.mark.parametrize("seconds, paths", [(1.0, 1), (-1.0, 0)])
def test_a_first_call_with_large_arrays_is_traced_at_once_if_it_was_quick(auto, seconds, paths, monkeypatch):
    monkeypatch.setattr(importlib.import_module("xman.jitted.jit"), "A_WHILE", seconds)
    fast = jit(np.sum)
    assert fast(np.ones(2 ** 16)) == 2 ** 16 and [len(paths) for paths in fast.paths.values()] == [paths]


def test_a_first_call_of_auto_that_raises_an_error_is_not_called_again_by_those_who_ask(auto):
    fast = jit(lambda x: x / np.linalg.det(np.eye(2)) if x else np.linalg.inv(np.zeros((2, 2))))
    with pytest.raises(np.linalg.LinAlgError):
        fast(0.0)
    assert fast.lists == [] and "has not been called" in fast.why


def test_a_first_call_of_auto_hears_nothing_of_what_the_function_calls(auto):
    listeners = []
    jit(lambda x: listeners.append(sys.getprofile()) or x)(1.0)
    assert listeners == [sys.getprofile()]


def test_the_paths_of_a_function_that_was_called_once_are_traced_when_they_are_looked_at(auto):
    fast = jit(recurrent)
    assert (fast.engine, fast.lists, fast.guards) == ("python", [], []) and "has not been called" in fast.why
    fast(X)
    assert len(fast.lists) == len(fast.guards) == 1
    assert fast.engine == "python" and "traced" in fast.why
    fast(X)
    assert fast.engine in ENGINES and fast.why


@pytest.mark.filterwarnings("ignore:jit.*print:RuntimeWarning")
def test_what_runs_as_plain_python_says_so():
    fast = jit(lambda x: print(end="") or np.sum(x))
    assert [fast(X) for _ in range(2)] == [np.sum(X)] * 2
    assert fast.engine == "python" and "it calls print" in fast.why


@pytest.mark.parametrize("calls", [0, 1, 2, 3])
def test_after_settle_the_bits_are_those_of_the_engine_that_answers(calls, monkeypatch):
    """Also while a slow engine builds its program in a thread."""
    monkeypatch.setenv("XMAN_ENGINE", "auto")
    if "llvm" in ENGINES:
        monkeypatch.setitem(door.ENGINES, "llvm", door.ENGINES["llvm"]._replace(seconds=lambda _: 1.0))
    fast = jit(grad(recurrent))
    for _ in range(calls):
        fast(X)
    fast.settle()
    answers = {bits(fast(x)) for x in [X] * 30}
    assert len(answers) == 1 and fast.engine == ENGINES[-1]
    assert answers == {bits(jit(grad(recurrent), fast.engine)(X))}


@pytest.mark.parametrize("large", [False, True])
def test_a_first_call_keeps_no_large_array_alive(large, auto, monkeypatch):
    """Arguments of a first call serve those who ask what answers, as long as they are there."""
    monkeypatch.setattr(importlib.import_module("xman.jitted.jit"), "A_WHILE", -1.0)
    fast, w, x = jit(lambda p, x: np.sum(p["w"] * x)), np.ones(10), np.ones(200_000 if large else 10)[:, None]
    fast({"w": w}, x)
    assert fast.lists
    fast, alive = jit(lambda p, x: np.sum(p["w"] * x)), weakref.ref(x)
    fast({"w": w}, x)
    del x
    assert (alive() is None) == large
    assert "large arrays, which are gone" in fast.why if large else fast.lists


def test_what_a_finder_of_modules_does_while_a_library_imports_is_not_the_functions(tmp_path):
    (tmp_path / "program.py").write_text("""
import pathlib, sys, warnings
import numpy as np
import xman

class Finder:
    def find_spec(self, *names):
        pathlib.Path("x")

warnings.simplefilter("error")
sys.meta_path.insert(0, Finder())
fast = xman.jit(lambda x: xman.map(np.sin, x), "numpy")
fast(np.ones(3))
print(fast.engine)
""")
    told = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert told.stdout == "numpy\n", told.stderr


def test_a_trace_keeps_no_large_array_that_nothing_reads_any_more(auto):
    def waves(x):
        for _ in range(100):
            x = np.sin(x)
        return np.sum(x)
    x = np.ones(2 ** 16)
    tracemalloc.start()
    fast = jit(waves)
    fast(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(fast.lists) == 1 and peak < 10 * x.nbytes


def test_loops_are_found_again_in_lines_whose_arrays_the_trace_has_discarded():
    def damped(w, x):
        s, x = w, x.pop()
        for _ in range(400):
            x = np.sin(x)
            s = np.tanh(w * s + x[0])
        return s
    slope = lambda w, x: grad(damped)(w, [np.cos(x)])
    w, x = 0.7, np.linspace(-1.0, 1.0, 600)
    fast = jit(slope, "numpy")
    assert fast(w, x) == pytest.approx(slope(w, x), rel=1e-13)
    assert len(fast.lists[0]) < 40
