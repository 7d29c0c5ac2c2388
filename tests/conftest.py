"""What all tests share: what they compile is made quickly rather than fast. Tests of an engine name it."""

import os

os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
os.environ.setdefault("XMAN_ENGINE", "numpy")


def pytest_itemcollected(item):
    """-k finds a test that goes through several names (`in_each`) by each of them."""
    names = getattr(item, "callspec", None) and item.callspec.params.get("names")
    if isinstance(names, list):
        item.extra_keyword_matches.update(filter(lambda name: isinstance(name, str), names))
