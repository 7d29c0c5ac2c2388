"""A folder of compiled programs for each test that asks for one."""

import pytest

from xman.engines.llvm import compiled


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XMAN_CACHE", str(tmp_path / "cache"))
    compiled.cache_folder.cache_clear()
    yield tmp_path / "cache"
    compiled.cache_folder.cache_clear()
