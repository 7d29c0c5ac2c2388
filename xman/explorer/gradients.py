"""How a page calls the outputs of a gradient: value_and_grad_g_0 is g there, value_and_grad_g_1 is dg_dw."""
from __future__ import annotations

from collections.abc import Callable, Sequence

import ops

from ..functions import grad, value_and_grad
from ..functions.call import Derivative, name_of
from ..functions.trace import parameter_names
from ..functions.transforms import is_whole, positions
from ..functions.trees import leaf_names
from ..jitted import jit
from ..notation.text import renamed
from ..wengert import WengertList


def of_gradient(function: Callable, examples: Sequence,
                steps: WengertList) -> tuple[WengertList, str, str | None]:
    """(the list with such names, a title, the register to begin with) of grad and value_and_grad, also in
    jit; of any other function its list, its name, and None."""
    root = title = getattr(function, "__name__", "").replace("<lambda>", "a function")
    if isinstance(function, Derivative) and function.recipe[0] is jit:
        function = function.__wrapped__
    make, settings = getattr(function, "recipe", (None, ()))
    if make not in (grad, value_and_grad) or settings[2]:  # with auxiliary results
        return steps, title, None
    fn, argnums, *_ = settings
    places, words = positions(argnums, examples, fn), parameter_names(fn, len(examples))
    name = name_of(fn) if name_of(fn).isidentifier() else "f"
    slopes = examples[places[0]] if is_whole(argnums) else tuple(examples[i] for i in places)
    names = [f"d{name}_d{leaf}" for i in places for leaf in leaf_names(examples[i], words[i])]
    if whole := make is value_and_grad:
        slopes, names = (0.0, slopes), [name, *names]
    title = f"{name} and its gradient" if whole else f"the gradient of {name}"
    lines = {dst for dst, _, _ in steps}
    new = dict(zip(leaf_names(slopes, root if root.isidentifier() else "result"), names, strict=True))
    if not new.keys() <= lines or {*names} & {*steps.inputs, *lines, *ops.G}:
        return steps, title, None
    return WengertList(renamed(steps, new)), title, name if whole else None
