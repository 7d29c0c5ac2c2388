"""Lists compiled by the engine llvm, for its tests."""

import pytest

import xman

pytest.importorskip("llvmlite")
from xman.engines.llvm.step import NestStep
from xman.engines.nests.lines import nests_of
from xman.engines.specialise import program_of


def step_of(lines, values, **more):
    step = xman.compile(lines, engine="llvm", **more)
    step(values)
    assert step.engine == "llvm", step.why
    return step


def nest_step_of(lines, values):
    return NestStep(nests_of(program_of(xman.WengertList(lines), values, (lines[-1][0],), {})))
