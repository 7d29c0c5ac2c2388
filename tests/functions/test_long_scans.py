"""A long scan of arrays outside of a list runs on an engine; a short one as plain NumPy."""
import numpy as np
import pytest

import xman
from xman.functions import loops


@pytest.mark.parametrize("engine", ["auto", "numpy"])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_long_scan_is_that_of_plain_numpy(monkeypatch, engine, reverse):
    monkeypatch.setenv("XMAN_ENGINE", engine)
    x = np.random.default_rng(0).normal(size=(50, 3))
    run = lambda: xman.scan(lambda c, v: (np.tanh(c + v), [np.sum(c * v), v[0]]), np.zeros(3), x, reverse=reverse)
    plain, engines = run(), []
    monkeypatch.setattr(loops, "LARGE", 10)
    compiled_scan = loops.compiled_scan
    monkeypatch.setattr(loops, "compiled_scan", lambda *args: engines.append(1) or compiled_scan(*args))
    compiled = run()
    assert engines
    np.testing.assert_allclose(compiled[0], plain[0], rtol=1e-13)
    for one, other in zip(compiled[1], plain[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        xman.map(lambda v: np.log(v), x)


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
