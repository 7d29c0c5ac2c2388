"""The first call of a jitted function: its long scans run on an engine, and imports within it are not heard."""
from unittest.mock import Mock

import numpy as np
import pytest

import xman
from ops.loops import values
from xman.jitted import watch


@pytest.mark.parametrize("engine", ["auto", "numpy"])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_long_scan_is_that_of_plain_numpy(monkeypatch, engine, reverse):
    monkeypatch.setenv("XMAN_ENGINE", engine)
    x, compiled_loop = np.random.default_rng(0).normal(size=(50, 3)), Mock(wraps=watch.compiled_loop)
    monkeypatch.setattr(values, "LARGE", 10)
    monkeypatch.setattr(watch, "compiled_loop", compiled_loop)

    def run(x):
        last, (a, b) = xman.scan(lambda c, v: (np.tanh(c + v), [np.sum(c * v), v[0]]), np.zeros(3), x, reverse=reverse)
        return last, a, b
    plain = run(x)
    assert not compiled_loop.called
    for first, settled in zip(plain, xman.jit(run)(x), strict=True):
        np.testing.assert_allclose(settled, first, rtol=1e-12)
    assert compiled_loop.called and values.LARGE_LOOP.get() is None
    monkeypatch.setattr(watch, "Compiled", Mock())  # plain NumPy raises errors of numbers

    def raises(x):
        with np.errstate(invalid="raise"):
            return xman.map(lambda v: np.log(v), x)
    with pytest.raises(xman.XManError, match="step 1: .* invalid value encountered in log"):
        xman.jit(raises)(np.vstack([np.ones(3), x]))  # in the second step
    assert not watch.Compiled.called


def test_a_derivative_of_a_long_loop_runs_on_an_engine_both_ways(monkeypatch):
    x, compiled_loop = np.random.default_rng(0).normal(size=(50, 3)), Mock(wraps=watch.compiled_loop)
    monkeypatch.setattr(values, "LARGE", 10)
    monkeypatch.setattr(watch, "compiled_loop", compiled_loop)
    loss = lambda x: np.sum(xman.map(lambda v: np.tanh(v) * v[0], x) ** 2)
    expected = xman.grad(loss)(x)
    assert not compiled_loop.called
    np.testing.assert_allclose(xman.jit(xman.grad(loss))(x), expected, rtol=1e-12)
    steps = [args[0][1] for (op, *args), _ in compiled_loop.call_args_list]
    assert {name.endswith("_back") for name in steps} == {False, True} and values.LARGE_LOOP.get() is None


def test_a_loop_of_loops_runs_on_an_engine_and_named_tuples_are_known_to_compute(monkeypatch):
    from collections import namedtuple
    compiled_loop = Mock(wraps=watch.compiled_loop)
    monkeypatch.setattr(watch, "compiled_loop", compiled_loop)
    inner = lambda c: xman.while_loop(lambda x: x > 1.0, lambda x: x / 2, c)
    count = lambda x: xman.while_loop(lambda c: c[1] < 3, lambda c: (inner(c[0] * 5), c[1] + 1), (x, np.int64(0)))[0]
    Pair = namedtuple("Pair", "a b")
    fn = lambda x: count(Pair(x, 2 * x).b) + x
    with np.errstate(all="ignore"):
        assert xman.jit(fn)(0.7) == pytest.approx(fn(0.7))
    assert {op for (op, *_), _ in compiled_loop.call_args_list} == {"while_loop"}


def test_a_first_import_within_a_jitted_function_is_no_call_of_its_own(monkeypatch, tmp_path):
    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            open(tmp_path / "log", "a").close()

    monkeypatch.setattr("sys.meta_path", [Finder, *__import__("sys").meta_path])
    monkeypatch.delitem(__import__("sys").modules, "scipy.special._spfun_stats", raising=False)

    @xman.jit
    def g(x):
        import scipy.special._spfun_stats  # noqa: F401
        return np.sin(x)
    assert g(np.ones(3)) == pytest.approx(np.sin(np.ones(3)))
