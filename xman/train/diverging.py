"""Why a run diverged: its epoch once more, from its beginning, to the first step that was not sound."""
from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from ..interpreters import eval
from .checkpoints import State
from .evaluation import Diverged, first_nan
from .progress import CtrlC


class Diverging:
    """A run, as far as it looks for what went wrong: its attributes are those of `Run`."""

    def check(self, state: State, ctrl_c: CtrlC) -> None:
        if not self.finite(state.arrays):
            raise self.diverged(state, state.batch - 1, ctrl_c)

    def finite(self, arrays: dict[str, Any]) -> bool:
        return all(np.isfinite(arrays[w]).all() for w in self.kept)

    def diverged(self, state: State, latest: int, ctrl_c: CtrlC) -> Diverged:
        """The error that names the first register that was NaN. latest: the minibatch among the values."""
        ctrl_c.held = True  # for good: this state is not to be saved
        given = {x: a.copy() if isinstance(a, np.ndarray) else a for x, a in self.values.items()
                 if x not in state.arrays}
        values = self.values | {name: a.copy() for name, a in state.begun.items()}
        first, t, state.batch = "Ctrl-C ended the search for the register", state.t - state.batch, latest
        with contextlib.suppress(KeyboardInterrupt):
            for batch, minibatch in enumerate(self.minibatches.epoch(state.epoch)):
                if ctrl_c.waiting:
                    break
                program, _ = self.ready(values, minibatch, state.epoch, batch, t + batch + 1)
                values |= given if batch == latest else {}
                before = {name: values[name].copy() for name in state.arrays}
                loss = self.step(program, values)
                if batch == latest or loss != loss or not self.finite(values):
                    first = self.first_unsound(eval(self.training.steps, values | before))
                    first, state.batch = first or "the loss or a parameter is not finite", batch
                    if batch == 0 and loss == loss:
                        self.sound = self.parameters(before)
                    break
        rates = " or ".join(f"{rate:g}" for rate in dict.fromkeys(self.rates.values()) if rate)
        return Diverged(f"epoch {state.epoch}, minibatch {state.batch + 1}: {first}; try a learning rate "
                        f"below {rates}, or look at the data")

    def first_unsound(self, found: dict[str, Any]) -> str:
        """The first value that is NaN, else the first delta or parameter that is not finite; else nothing."""
        steps = self.training.steps
        values = next(k for k, (dst, _, _) in enumerate(steps, 1) if dst == self.loss)
        if first := first_nan(steps[:values], found):
            return first
        for dst, _, _ in steps[values:]:
            if not np.isfinite(found[dst]).all():
                if (dst.startswith(before := f"d{self.loss}_d")
                    and (name := dst.removeprefix(before)) in found):
                    return f"the first delta that is not finite is that of {name!r}"
                if name := next((w for w in self.kept if self.training.inplace.get(w) == dst), None):
                    return f"the first register to leave the range of its precision is {name!r}"
        return ""
