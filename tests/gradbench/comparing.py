"""How far two outputs of the protocol lie apart."""
from __future__ import annotations

import math
from typing import Any


def largest_difference(one: Any, other: Any) -> float:
    """The largest |x − y| / max(1, |x| + |y|), which GradBench wants to be at most 1e-4; inf for other trees
    or for NaN."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        one, other = list(one.values()), [other[key] for key in one]
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return math.inf
        return max(map(largest_difference, one, other), default=0.0)
    if not isinstance(one, (int, float)) or not isinstance(other, (int, float)):
        return math.inf
    apart = abs(one - other) / max(1.0, abs(one) + abs(other))
    return math.inf if math.isnan(apart) else apart
