"""What zeros mean where slopes are infinite: the one room for kinks.

A derivative is a sum of products along the paths of a program, and `send` is the one product that makes them.
Two kinds of zero meet infinite slopes in it. A path that a `where` or an index leaves out sends nothing, and
this 0 has to stay 0 even if the slope of the function there is infinite. But the 0 of x in x·log x is a
number, and 0·∞ is NaN. Three things keep the two apart:

1. A power of a root, as norm(x)**3, goes past its root, which has no slope at 0 (`unrooted`).
2. The first walk through the lines uses plain deltas or tangents, which is quick. Only if NaN comes out does
   a second walk use `Masked` ones, a value and its *flow*: the places to which anything is sent
   (`derivatives_by`).
3. What is known of 0·∞ in spite of that (an overflow that a later operator settles) is said by the facts
   `overflows`, `grows` and `settles` of a row (`correction`).

    where(x > 0, sqrt(x), 0) at 0:  d = 1 flows nowhere, so 1·0·∞ is 0    x·log(x) at 0:  0·(−∞) is NaN
"""
from .correction import correction
from .derivatives import derivatives_by
from .masked import Masked, bare, number_within, unclear
from .roots import MARKS, half_power, past_roots, power_of_root, unrooted, with_roots
from .slopes import branch, only, over, ratio, scale, send

__all__ = ["MARKS", "Masked", "bare", "branch", "half_power", "correction", "derivatives_by", "number_within", "only",
           "over", "past_roots", "power_of_root", "ratio", "scale", "send", "unclear", "unrooted", "with_roots"]
