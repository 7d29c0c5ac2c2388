"""ImportError where `ops` is not the package that comes with xman; what is in its place is not run.

A user's ops.py or folder ops comes first on the path, and another package of that name overwrites ours.
"""
from importlib.util import find_spec

FIRST_WORDS = '"""What operators mean'
if spec := find_spec("ops"):
    source = spec.loader.get_source("ops") if spec.origin else ""  # None of a file without a text
    if source is not None and not source.startswith(FIRST_WORDS):
        place = spec.origin or [*spec.submodule_search_locations][0]
        raise ImportError(f"{place} hides the package ops that comes with xman: give it another name, or "
                          "install xman in an environment of its own")
