"""Rows that say that they are right for complex numbers, against differences, one another and JAX."""
from __future__ import annotations

import numpy as np
import pytest
from operator_cases import CASES, OF_STRINGS, in_each

import ops
from ops import f
from ops.facts import FACTS, is_complex
from ops.loops import ROWS
from xman import XManError, backprop, forward, gradient
from xman import eval as evaluate

R = np.random.default_rng(1545)


def z(*shape): return R.normal(size=shape) + 1j * R.normal(size=shape)


SPECTRA = {"fft": [(z(5),), (z(2, 3), 0), (z(2, 3), None, ("ortho",)), (z(2, 3, 2), (0, -1), ("forward",)), (z(2, 3).real,)],
           "ifft": [(z(5),), (z(2, 3), 0), (z(2, 3), (1, 0), ("ortho",)), (z(4).real,)],
           "rfft": [(z(5).real, 5), (z(4, 2).real, 4, -2, ("ortho",)), (z(2, 6).real, 6, -1, ("forward",)), (z(1).real, 1)],
           "irfft": [(z(3), 5), (z(3), 4), (z(3, 2), 5, -2, ("ortho",)), (z(2, 4), 6, -1, ("forward",)), (z(1), 1), (z(3).real, 4)],
           **{op: [(z(),), (z(0),), (z(5),), (z(2, 3),), (z(4).real,)] for op in ("squared_modulus", "real", "imag", "conj", "modulus", "angle")}}
CLAIMED = [op for op, facts in FACTS.items() if (facts.complex is True or callable(facts.complex)) and op in ops.table.OURS and op not in ROWS]
REAL_ALONE = {"rfft", "astype"}  # rfft takes real numbers; the literal of astype says float64


def versions(op):
    """The arguments of each case: complex, and with one array or another left real."""
    for args in SPECTRA.get(op) or CASES[op]:
        floats = [i for i, a in enumerate(args) if isinstance(a, np.ndarray) and a.dtype.kind in "fc"]
        for real in ([], *[[i] for i in floats if len(floats) > 1]) if op not in REAL_ALONE else (floats,):
            yield tuple(a + 0.5j * R.normal(size=a.shape) if i in floats and i not in real and not is_complex(a) and op not in SPECTRA
                        else a for i, a in enumerate(args))


EVERY = [(op, *case) for op in CLAIMED for case in enumerate(versions(op))]


def as_list(op, args):
    """The list of one line, and the values of its registers."""
    names = [f"x{i}" if isinstance(a, np.ndarray) else a for i, a in enumerate(args)]
    return [("y", op, tuple(names))], {f"x{i}": a for i, a in enumerate(args) if isinstance(a, np.ndarray)}


def moving(op, args):
    """The arrays by which the operator has a derivative."""
    rules = ops.DG[op]
    return [f"x{i}" for i, a in enumerate(args) if isinstance(a, np.ndarray) and a.dtype.kind in "fc" and i < len(rules) and rules[i]]


def direction(x): return z(*x.shape) if is_complex(x) else R.normal(size=x.shape)
def paired(d, t): return np.sum(np.real(d * t))  # what a delta says of a movement


@in_each(EVERY)
def test_both_modes_are_the_differences_along_the_real_and_the_imaginary_axis(op, k, args):
    steps, inputs = as_list(op, args)
    values = evaluate(steps, inputs)
    for x in moving(op, args):
        d, t, h = direction(values["y"]), direction(values[x]), 1e-5
        delta = backprop(steps, values, wrt=[x], y=d).get(x, np.zeros_like(values[x]))
        tangent = forward(steps, values, {x: t}).get("y", np.zeros_like(values["y"]))
        assert delta.dtype == values[x].dtype and delta.shape == values[x].shape and tangent.dtype == values["y"].dtype
        assert paired(delta, t) == pytest.approx(paired(d, tangent), rel=1e-10, abs=1e-10)
        for way in (1.0, 1j)[:1 + is_complex(values[x])]:
            along = way * R.normal(size=values[x].shape)
            ends = [evaluate(steps, inputs | {x: values[x] + sign * h * along})["y"] for sign in (1, -1)]
            difference = (ends[0] - ends[1]) / (2 * h)
            assert paired(d, difference) == pytest.approx(paired(delta, along), rel=1e-6, abs=1e-7)


@in_each(EVERY)
def test_the_list_of_the_gradient_gives_what_backprop_gives(op, k, args):
    steps, inputs = as_list(op, args)
    if is_complex(evaluate(steps, inputs)["y"]):
        steps = [*steps, ("z", "conj", ("y",)), ("w", "mul", ("y", "z")), ("u", "real", ("w",))]
    values = evaluate(steps, inputs)
    u = steps[-1][0]
    for x in moving(op, args):
        adjoints = gradient([*steps, ("loss", "sum", (u,))], "loss", x)
        if f"dloss_d{x}" in {dst for dst, _, _ in adjoints}:
            ours, theirs = evaluate(adjoints, inputs)[f"dloss_d{x}"], backprop(steps, values, wrt=[x], **{u: 1.0})[x]
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)
            assert np.asarray(ours).dtype == theirs.dtype


@pytest.mark.parametrize("op", sorted(op for op in {*CASES} - {*CLAIMED} if op not in {*OF_STRINGS, *ROWS} and op in ops.G))
def test_any_other_operator_refuses_complex_numbers_by_its_name(op):
    steps, inputs = as_list(op, CASES[op][0])
    for x, a in inputs.items():
        with pytest.raises(XManError, match=rf"{op} is not defined for complex numbers here"):
            evaluate(steps, inputs | {x: a + 0j})


def test_of_real_numbers_the_parts_are_the_numbers_and_zeros():
    x = np.array([-1.0, 2.0])
    assert [f.real(x).tolist(), f.imag(x).tolist(), f.conj(x).tolist()] == [[-1, 2], [0, 0], [-1, 2]]


def test_the_refusal_names_the_operator_for_complex_numbers():
    with pytest.raises(XManError, match=r"abs is not defined for complex numbers here; their abs is f\.modulus"):
        evaluate([("y", "abs", ("x",))], {"x": np.array([1j])})
