"""What is known of 0·∞ by the facts of a row: an overflow that a later operator settles."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

from ..expression import f
from .masked import BY_VALUE, NOWHERE, Flow, Masked, chosen, number_within


def correction(product_of: Callable, i: int, facts: Mapping[str, Any]) -> Callable | None:
    """What corrects a Masked product for an operator of which 0·∞ is known, by the facts of its row; or None.

    It settles: an infinite x has a finite result, and x·∂out/∂x is 0 there: eˣ at −∞, tanh, 1/x. It grows: a
    finite x other than 0 has an infinite result, and ∂out/∂x / out is finite. So along a path through
    infinite values, from one that grows to one that settles, the derivative is 0: of 1 / (1 + exp(-x)) at
    −1000, of tanh(exp(x)) at 1000 and of exp(-x**4) at 10²⁰⁰. Any other 0·∞ depends on which factor is
    faster, which floats do not tell, and stays NaN: at a pole, as of 1 / (1/x), tanh(1/x), sqrt(x**4),
    x*sqrt(x) and exp(log(x)) at 0, and if it grows inside of a function that does not settle, as of log(1 +
    exp(x)) at 1000. An overflow on such a path counts as 0 where it meets a slope of 0, too.

    product_of: (d, out, *args) -> what the rule by argument i gives of plain numbers. facts: overflows, it
    grows, as numbers tell by an infinite result; grows, it does so as the exponential does, so that lists of
    derivatives are masked for it as well; settles, the place of the argument in which it settles, or a
    function of the arguments that gives it.
    """
    grows, settling = bool(facts.get("grows")), facts.get("settles")
    if not (grows or facts.get("overflows") or settling is not None):
        tame = facts.get("tame") is True
        return None if tame else lambda product, d, out, *args: at_pole(product, out, args[i])

    def corrected(product: Masked, d: Masked, out: Any, *args: Any) -> Masked:
        settles = settling is not None and i == (settling(*args) if callable(settling) else settling)
        numbers = number_within(out) is not None
        x, value, steep = args[i], product.value, product.steep
        sure = [f.isfinite(d.value)] if numbers else []  # where 0·∞ cannot be the cause of a NaN
        if not d.forward and (grows or numbers):
            sure.append(f.logical_or(f.isfinite(out), f.logical_or(f.equal(x, 0), f.not_equal(d.value, 0)))
                        if numbers else f.isfinite(out))
        if settles and (d.forward or numbers):
            sure.append(f.logical_not(f.logical_and(f.equal(f.abs(x), math.inf), f.isfinite(out))))
        if sure and d.steep is not d.flow:
            mask = functools.reduce(f.logical_and, sure)
            if numbers:  # only a NaN, and one that x does not explain; (eˣ)^½ is ∞ where its slope is 0
                known = f.isfinite(out) if d.forward else f.equal(out, out)
                mask = f.logical_or(mask, f.logical_or(f.equal(value, value), f.logical_not(known)))
            if (places := d.where("steep")) is not None:
                value = f.where(f.logical_or(mask, places()), value, 0.0)
        if settles and not d.forward:
            steep = BY_VALUE
        elif numbers or grows and d.forward:
            def finite() -> Any:
                if not numbers:
                    return f.isfinite(out)
                slope = product_of(1.0, out, *args)
                sheer = f.equal(f.abs(slope), math.inf)
                if d.forward:  # a slope that is NaN, as of (-2) ** y, is no overflow
                    known = f.logical_or(f.isfinite(product.value), f.not_equal(slope, slope))
                    return f.logical_or(known, f.logical_and(f.equal(x, 0), sheer))
                return f.logical_or(f.not_equal(f.abs(product.value), math.inf), sheer)
            certain = Flow(lambda: f.logical_or(finite(), f.logical_not(f.isfinite(d.value))))
            places = product.where("steep")
            steep = chosen(certain, places, NOWHERE)
        return Masked(value, product.flow, steep, d.forward)
    return corrected


def at_pole(product: Masked, out: Any, x: Any) -> Masked:
    """The product, of which nothing is known further back where it is NaN at a pole, as of log at 0."""
    if product.forward or number_within(out) is None or (places := product.where("steep")) is None:
        return product
    pole = Flow(lambda mask: f.logical_or(mask, f.logical_and(
        f.not_equal(product.value, product.value), f.greater(f.isfinite(x), f.isfinite(out)))), places)
    return Masked(product.value, product.flow, pole)
