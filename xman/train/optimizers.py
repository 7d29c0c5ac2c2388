"""Optimizers: from a parameter, its gradient and its moments to the next values; and the list of a step.

A rule is written in the language itself: given arrays it computes, given registers it writes more list.

    rule(w, d, *moments, t, lr, settings) -> (next w, *next moments)

w: the parameter. d: the gradient of the loss with respect to it. moments: any number of arrays of the same
shape that begin as zeros; the rule's arguments after d name them. t: the number of the step, 1, 2, …, and lr:
the learning rate, both numbers in the precision of w; a rule takes those of the two that it needs. All rules
descend: Reps, Automatic Differentiation and Backpropagation, §6, prints w := w + η ∂Cost/∂w, but means minus.
"""
from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ops import f
from ops.facts import parameters_of, taken_by

from ..errors import XManError, at_least, nearest, refuse_unknown
from ..notation import shortened
from ..passes import gradient, simplify
from ..passes.writer import ListWriter, Symbol
from ..wengert import Steps, WengertList, checked_list, fresh, known_registers

Rule = Callable[..., Any]


def sgd(w: Any, d: Any, *, lr: Any) -> Any:
    """w − lr d (Reps §6, with its sign set right; Robbins and Monro 1951). w, d, lr: as above."""
    return w - lr * d


def momentum(w: Any, d: Any, velocity: Any, *, lr: Any, beta: float = 0.9) -> tuple:
    """The heavy ball, which keeps beta of its last step, velocity (Polyak 1964; Sutskever et al. 2013, eqs.
    1 and 2). w, d, lr: as above."""
    velocity = beta * velocity - lr * d
    return w + velocity, velocity


def nesterov(w: Any, d: Any, velocity: Any, *, lr: Any, beta: float = 0.9) -> tuple:
    """Nesterov's accelerated gradient (1983) as Sutskever, Martens, Dahl and Hinton write it (2013, eqs.
    3 and 4).

    They take the gradient at a point ahead, θ + beta·velocity; w is this point, so d is the gradient at w.
    lr: as above.
    """
    velocity = beta * velocity - lr * d
    return w + beta * velocity - lr * d, velocity


def adagrad(w: Any, d: Any, squares: Any, *, lr: Any, eps: float = 1e-10) -> tuple:
    """Each entry's lr over the root of its summed squared gradients (Duchi, Hazan and Singer 2011).
    w, d, lr: as above. squares: the sums. eps: is added to the root."""
    squares = squares + d * d
    return w - lr * d / (f.sqrt(squares) + eps), squares


def rmsprop(w: Any, d: Any, square: Any, *, lr: Any, beta: float = 0.9, eps: float = 1e-8) -> tuple:
    """Each entry's lr over the root of its mean squared gradient (Tieleman and Hinton 2012, 6.5).
    w, d, lr: as above. square: the running mean, which keeps beta of itself. eps: is added to the root."""
    square = beta * square + (1 - beta) * (d * d)
    return w - lr * d / (f.sqrt(square) + eps), square


def adam(w: Any, d: Any, mean: Any, square: Any, *, t: Any, lr: Any, beta1: float = 0.9, beta2: float = 0.999,
         eps: float = 1e-8) -> tuple:
    """Steps by running means of the gradient and of its square, each corrected for its start at zero (Kingma
    and Ba 2015, Algorithm 1; multiplied out, so that the factors of t are numbers).
    w, d, t, lr: as above. mean, square: the means, which keep beta1 and beta2 of themselves. eps: is added to
    the root of square."""
    mean = beta1 * mean + (1 - beta1) * d
    square = beta2 * square + (1 - beta2) * (d * d)
    root = f.sqrt(unbiased(beta2, t))
    return w - lr * root / unbiased(beta1, t) * mean / (f.sqrt(square) + eps * root), mean, square


def adamw(w: Any, d: Any, mean: Any, square: Any, *, t: Any, lr: Any, beta1: float = 0.9,
          beta2: float = 0.999, eps: float = 1e-8, decay: float = 0.01) -> tuple:
    """Adam; besides, w shrinks by lr·decay·w (Loshchilov and Hutter 2019, Algorithm 2, λ = decay α).
    d, mean, square, t, beta1, beta2, eps: as for adam."""
    stepped, mean, square = adam(w, d, mean, square, t=t, lr=lr, beta1=beta1, beta2=beta2, eps=eps)
    return stepped - lr * decay * w, mean, square


def unbiased(beta: float, t: Any) -> Any:
    """1 − betaᵗ, by expm1: in float32, 1 − 0.999 would have only four right digits."""
    # 0.0 − x and not −x: `simplify` would pull a minus sign out of quotients, to arrays
    return 0.0 - f.expm1(t * math.log(beta)) if beta else 1.0


OPTIMIZERS: dict[str, Rule] = {rule.__name__: rule for rule in (sgd, momentum, nesterov, adagrad, rmsprop,
                                                                adam, adamw)}


class Optimizer(NamedTuple):
    """A rule with its name, the names of its moments, and its settings with their values."""
    rule: Rule
    name: str
    moments: tuple[str, ...]
    settings: dict[str, float]

    def __call__(self, w: Any, d: Any, *moments: Any, t: Any, lr: Any, **settings: float) -> tuple:
        """The next values of w and of the moments."""
        result = self.rule(w, d, *moments, **taken_by(self.rule, t=t, lr=lr), **settings)
        result = result if isinstance(result, tuple) else (result,)
        if len(result) != 1 + len(moments):
            raise XManError(f"the optimizer {self.name} returns {len(result)} values; it has {len(moments)} "
                            "moments, and returns the next w and then each next moment")
        return result

    def __str__(self) -> str:
        settings = ", ".join(f"{key}={value!r}" for key, value in self.settings.items())
        return f"{self.name}({settings})" if settings else self.name


def optimizer_of(rule: str | Rule) -> Optimizer:
    """The optimizer of that name, or for that rule. XManError for another name, and for what is no rule."""
    if isinstance(rule, str):
        if rule not in OPTIMIZERS:
            raise XManError(f"there is no optimizer {rule!r}; there are {', '.join(OPTIMIZERS)}; of second "
                            "order, for fit alone, gauss-newton, levenberg-marquardt, newton-cg"
                            f"{nearest(rule, OPTIMIZERS)}")
        rule = OPTIMIZERS[rule]
    name = getattr(getattr(rule, "func", rule), "__name__", "rule")
    names, _, variadic, named = parameters_of(rule)
    if not (names or variadic):
        keywords = ", ".join(getattr(rule, "keywords", {}))
        raise XManError(f"the optimizer {name} has not all of the settings {keywords}" if keywords else
                        "an optimizer is a name or a rule, rule(w, d, *moments, t, lr), not "
                        f"{shortened(rule)}")
    settings = {key: value for key, value in named.items() if key not in ("t", "lr")}
    if len(names) < 2 or variadic:
        takes = ", ".join([*names, f"*{variadic}", *named])
        raise XManError(f"the optimizer {name} takes ({takes}); a rule takes (w, d, *, lr), its moments by "
                        "name between d and the star, and after lr its settings, each with a value")
    for key, value in settings.items():
        at_least(f"the setting {key} of the optimizer {name}", value, 0)
        if key.startswith("beta") and value >= 1:
            raise XManError(f"the setting {key} of the optimizer {name} is a number from 0 to below 1, not "
                            f"{shortened(value)}")
    return Optimizer(rule, name, names[2:], {key: float(value) for key, value in settings.items()})


def rates_of(lr: float | dict[str, float], names: list[str]) -> dict[str, float]:
    """The learning rate of each parameter. XManError where lr is not positive, or a dict lacks a name."""
    rates = lr if isinstance(lr, dict) else dict.fromkeys(names, lr)
    refuse_unknown(rates, names, "lr has a rate for {!r}, which is no parameter of the loss")
    if missing := [name for name in names if name not in rates]:
        raise XManError(f"lr has no rate for {', '.join(map(repr, missing))}; a dict names every parameter, "
                        "and a rate of 0 leaves one as it is")
    numbers = all(isinstance(rate, (int, float, np.number)) and 0 <= rate < np.inf for rate in rates.values())
    if not numbers or not any(rates.values()):
        raise XManError(f"the learning rate has to be a positive number, not {lr!r}; the optimizers put "
                        "the minus sign themselves")
    return {name: float(rates[name]) for name in names}


# ---- the list of a step ------------------------------------------------------------------------------------

class TrainingList(NamedTuple):
    """A training step as a list, and the names of its inputs and results.

    steps: the lines of values, gradient, next parameters and moments. inplace: for each parameter that moves,
    and each moment, the register of its next value, as `compile` takes it. moments: for each moment the
    parameter whose shape it has; it begins as zeros. lr, t: the inputs for the learning rate and the number
    of the step, 1, 2, … (not every optimizer reads both); give them in the precision of the parameters.
    """
    steps: WengertList
    inplace: dict[str, str]
    moments: dict[str, str]
    lr: str
    t: str


def training_list(steps: Steps, loss: str, parameters: Iterable[str] | Mapping[str, float],
                  optimizer: str | Rule = "sgd", *, weight_decay: float | None = None,
                  clip: float | None = None, clip_value: float | None = None,
                  running: Mapping[str, str] | None = None, local_loss: str | None = None) -> TrainingList:
    """One list for a step of training: the lines of steps, of the gradient of loss, and of the optimizer.

        >>> steps = [("z1", "mul", ("w", "x")), ("loss", "square", ("z1",))]
        >>> training = training_list(steps, "loss", ["w"], "momentum")
        >>> training.steps
        z1 = mul(w, x)
        loss = square(z1)
        …
        >>> step = xman.compile(training.steps, ["loss"], inplace=training.inplace)

    steps: a list that computes the register loss, a number; for the stable form apply simplify(…,
    rewrites=EXACT + STABLE) to it before. parameters: names of inputs of steps; in a dict the values are
    factors of the learning rate, and 0 keeps a parameter as it is. optimizer: a name (sgd, momentum,
    nesterov, adagrad, rmsprop, adam, adamw) or a rule, as this file has them, or functools.partial(adam,
    beta1=0.8). Three changes of the gradient come in this order. clip_value: its entries are cut to ±
    clip_value. clip: the gradient of all parameters together is shortened to this norm if it is longer
    (Pascanu, Mikolov and Bengio 2013, Algorithm 1). weight_decay: weight_decay·w is added to the gradient of
    w, and not to the loss; for adamw it is the setting decay (None: unchanged). running: inputs that a step
    updates without a gradient, each with the register of its next value. local_loss: if workers share the
    list, the register of this worker's part of the loss; lines `d = allreduce(d_here)` then add up the
    gradients. A name that steps has already gets a _ at its end. Raises XManError for names that steps does
    not have, for what is not a rule, and for impossible settings.
    """
    steps, optimizer = checked_list(steps), optimizer_of(optimizer)
    (loss,), factors = known_registers(steps, loss, "loss", one=True), rate_factors(steps, parameters)
    for word, value in (("weight_decay", weight_decay), ("clip", clip), ("clip_value", clip_value)):
        if value is not None and (not isinstance(value, (int, float, np.number)) or not 0 <= value < math.inf
                                  or word != "weight_decay" and not value):
            raise XManError(f"{word} is a {'' if word == 'weight_decay' else 'positive '}number, not "
                            f"{shortened(value)}")
    outputs = steps.outputs
    step = Step(gradient(steps, local_loss or loss, factors))
    lr, t = step.input("lr"), step.input("t")
    d = {w: step.registers[f"d{local_loss or loss}_d{w}"] for w in factors}
    if local_loss:
        d = {w: step.write("allreduce", (x,)) for w, x in d.items()}
        for w, x in d.items():
            step.output(x, f"d{loss}_d{w}")
    d = step.clipped(d, clip, clip_value)
    settings = optimizer.settings
    if weight_decay is not None and "decay" in settings:
        settings = settings | {"decay": float(weight_decay)}
    elif weight_decay:
        d = {w: d[w] + float(weight_decay) * step.registers[w] for w in factors}
    inplace, moments = {}, {}
    for w, factor in factors.items():
        old = [step.registers[w], *(step.input(f"{w}_{moment}") for moment in optimizer.moments)]
        new = optimizer(old[0], d[w], *old[1:], t=t, lr=lr if factor == 1 else factor * lr, **settings)
        moments.update((moment.name, w) for moment in old[1:])
        inplace.update((before.name, step.output(after, f"{before.name}_next"))
                       for before, after in zip(old, new, strict=True))
    inplace |= running or {}
    keep = dict.fromkeys([*outputs, loss, *(f"d{loss}_d{w}" for w in factors), *inplace.values()])
    return TrainingList(simplify(step.steps(), keep), inplace, moments, lr.name, t.name)


def rate_factors(steps: WengertList, parameters: Iterable[str] | Mapping[str, float]) -> dict[str, float]:
    """The parameters that move, each with the factor of its learning rate."""
    names = known_registers(steps, parameters, "parameters")
    if computed := [w for w in names if w not in steps.inputs]:
        raise XManError(f"parameters names {computed[0]!r}, which is computed; it takes inputs: "
                        f"{', '.join(steps.inputs)}")
    factors = {w: float(parameters[w]) if isinstance(parameters, Mapping) else 1.0 for w in names}
    if not any(factors.values()):
        raise XManError("no parameter is to move: name one, with a rate that is not 0")
    return {w: factor for w, factor in factors.items() if factor}


class Step(ListWriter):
    """Writes the lines of the optimizer after the lines of a list."""

    def __init__(self, steps: WengertList):
        super().__init__()
        self.before, self.registers = steps, self.symbols(steps)
        self.reserved = set(self.registers)

    def input(self, name: str) -> Symbol:
        return Symbol(self, fresh(name, self.reserved))

    def output(self, symbol: Any, name: str) -> str:
        if not isinstance(symbol, Symbol) or symbol.name:  # the name of another register must stay
            symbol = self.write("alias", (symbol,))
        symbol.name = fresh(name, self.reserved)
        return symbol.name

    def clipped(self, d: dict[str, Any], clip: float | None, clip_value: float | None) -> dict[str, Any]:
        """The gradients, cut entry by entry and shortened together."""
        if clip_value is not None:
            d = {w: f.clip(x, -float(clip_value), float(clip_value)) for w, x in d.items()}
        if clip is not None:
            norm = f.sqrt(functools.reduce(operator.add, [f.sum(f.square(x)) for x in d.values()]))
            self.output(norm, "gradient_norm")
            d = {w: x * f.minimum(1.0, float(clip) / norm) for w, x in d.items()}
        return d

    def steps(self) -> WengertList:
        return WengertList([*self.before, *self.named(self.reserved)])
