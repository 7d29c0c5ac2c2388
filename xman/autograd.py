"""Autograd: the class through which the course's code has always run its lists, with the course's own tables."""
from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any

import ops

from .interpreters import backprop, eval
from .manager import XMan
from .wengert import Steps, WengertList


class Autograd:
    """Evaluates and differentiates the lists of a model.

    model: an XMan. EVAL_FUNS, BP_FUNS: a student's tables, in the forms of G and DG; those of `ops` by default. A rule
    'crossEnt-softMax' in BP_FUNS serves, as it always has, where a crossEnt takes the result of a softMax that nothing
    else reads.
    """

    def __init__(self, model: XMan, EVAL_FUNS: Mapping[str, Callable] = ops.G, BP_FUNS: Mapping[str, Sequence] = ops.DG):
        self.model, self.EVAL_FUNS, self.BP_FUNS = model, EVAL_FUNS, BP_FUNS

    def eval(self, opseq: Steps, valueDict: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        """valueDict itself, with the values of all lines added."""
        valueDict.update(eval(opseq, valueDict, self.EVAL_FUNS))
        return valueDict

    def bprop(self, opseq: Steps, valueDict: Mapping[str, Any], **deltaDict: Any) -> dict[str, Any]:
        """The deltas of all registers; eval has been called with the same list and dictionary."""
        return backprop(fused(opseq, self.BP_FUNS), valueDict, self.BP_FUNS, **deltaDict)


def fused(opseq: Steps, BP_FUNS: Mapping[str, Sequence]) -> Steps:
    """opseq with each crossEnt(softMax(x), y) as one line, where BP_FUNS has a rule for the pair."""
    if "crossEnt-softMax" not in BP_FUNS:
        return opseq
    reads = [a for _, _, args in opseq for a in args]
    softmax = {dst: args[0] for dst, op, args in opseq if op == "softMax" and reads.count(dst) == 1}
    pairs = {args[0] for _, op, args in opseq if op == "crossEnt" and args[0] in softmax}
    return WengertList(
        (dst, "crossEnt-softMax", (softmax[args[0]], *args[1:])) if op == "crossEnt" and args[0] in pairs else (dst, op, args)
        for dst, op, args in opseq if dst not in pairs)
