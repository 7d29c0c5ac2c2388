"""What all tests share: what they compile is made quickly rather than fast. Tests of an engine name it.

With NumPy, SciPy and pytest alone they start, and skip what needs more.
"""

import os
import re
import sys
from importlib.util import find_spec
from unittest.mock import MagicMock

import pytest

import ops

os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
os.environ.setdefault("XMAN_ENGINE", "numpy")

try:
    import hypothesis  # noqa: F401
except ModuleNotFoundError:  # other tests of the same files run without it
    names = "hypothesis", "hypothesis.strategies", "hypothesis.extra", "hypothesis.extra.numpy"
    sys.modules.update(dict.fromkeys(names, MagicMock(
        given=lambda *_, **__: pytest.mark.skip(reason="needs hypothesis"), settings=lambda *_, **__: lambda test: test)))


def pytest_addoption(parser, pluginmanager):
    """The limit of a test's seconds is pytest-timeout's; without it nothing reads it."""
    if not pluginmanager.hasplugin("timeout"):
        parser.addini("timeout", "seconds of one test")


def pytest_itemcollected(item):
    """-k finds a test that goes through several names (`in_each`) by each of them."""
    names = getattr(item, "callspec", None) and item.callspec.params.get("names")
    if isinstance(names, list):
        item.extra_keyword_matches.update(filter(lambda name: isinstance(name, str), names))


@pytest.fixture(autouse=True)
def operators_are_as_before():
    """A test leaves no operator of its own behind."""
    before = {*ops.G}
    yield
    for op in ops.G.keys() - before:
        for rows in (ops.G, ops.DG, ops.TG, ops.facts.FACTS):
            del rows[op]
        for names in (ops.table.ROOTS, ops.table.FLAT):
            names.discard(op)
        delattr(ops.f, op)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that ends with "… needs the package NAME", or a command in it, is skipped where that is not installed."""
    report = (yield).get_result()
    said = f"{call.excinfo.value}\n{report.capstderr}" if report.failed and call.excinfo else ""
    lacking = re.search(r"needs the package (\w+): pip install", said)
    if lacking and find_spec(lacking[1]) is None:
        report.outcome, report.longrepr = "skipped", (str(item.path), item.location[1], f"needs {lacking[1]}")
