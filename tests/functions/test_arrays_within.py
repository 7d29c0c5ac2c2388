"""Facts about the traced arrays that a function sees: constants are kept as they are, operators, masks and slices are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from xman import jit
from xman.functions import grad, jvp, trace, vjp


def test_a_constant_that_is_a_view_of_what_is_written_later_is_as_it_was():
    def fn(x):
        buffer = np.arange(3.0)
        y = (x * np.broadcast_to(buffer, (2, 3))).sum()
        buffer[:] = 0
        return y
    assert grad(fn)(np.ones(3)).tolist() == [0, 2, 4]


def test_an_argument_that_the_function_overwrites_elsewhere_is_as_it_was():
    x = np.ones(3)

    def fn(v):
        y = (v * v).sum()
        x[:] = 7.0
        return y
    assert grad(fn)(x).tolist() == [2, 2, 2]


def test_compress_keeps_the_chosen_entries():
    out, pull = vjp(lambda x: x.compress([True, False, True]), np.array([1.0, 2, 3]))
    assert out.tolist() == [1, 3] and pull(np.array([5.0, 7]))[0].tolist() == [5, 0, 7]


def test_what_numpy_is_told_to_raise_is_raised():
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        grad(lambda x: np.log(x))(0.0)


def test_what_a_suspended_generator_tells_numpy_ends_with_the_call():
    def counted():
        with np.errstate(divide="raise"):
            yield from (1.0, 2.0)

    def fn(x):
        counts = counted()
        return x * next(counts)
    before = np.geterr()
    for use in (grad, lambda fn: lambda x: trace(fn, x)):
        use(fn)(3.0)
        assert np.geterr() == before
    with pytest.warns(RuntimeWarning, match="asks for errors"):
        jit(fn, engine="numpy")(3.0)
    assert np.geterr() == before


@pytest.mark.parametrize("fn, slope", [("xlogy", np.log(0.3)), ("logit", 1 / (0.3 * 0.7)), ("entr", -np.log(0.3) - 1)])
def test_functions_of_scipy_special_are_differentiated(fn, slope):
    special = pytest.importorskip("scipy.special")
    function = getattr(special, fn)
    assert grad(lambda x: function(x, 0.3) if fn == "xlogy" else function(x))(0.3) == pytest.approx(slope, rel=1e-12)


def test_the_greatest_of_what_has_a_nan_sends_its_gradient_there():
    assert grad(np.max)(np.array([1.0, np.nan, 3.0])).tolist() == [0, 1, 0]


def test_the_operators_with_a_plain_number_on_the_left_are_those_of_numpy():
    x = np.array([0.3, 0.7])
    fn = lambda x: (2.0 % x) * (2.0 // x) + divmod(2.0, x)[0] * divmod(2.0, x)[1]
    value, slope = jvp(fn, (x,), (np.ones(2),))
    np.testing.assert_array_equal(value, fn(x))
    np.testing.assert_array_equal(slope, -2 * (2.0 // x) ** 2)


def test_a_mask_may_be_joined_with_a_plain_one_on_the_left():
    some = np.array([True, False, True])
    fn = lambda x: np.sum(x * (some & (x > 0)) + x * (some | (x > 0)) + x * (some ^ (x > 0)))
    assert grad(fn)(np.array([1.0, 2.0, -3.0])).tolist() == [2.0, 2.0, 2.0]


def test_a_whole_part_has_no_derivative():
    assert grad(lambda x: x.astype(int) * x)(2.5) == 2


def test_a_slice_may_end_at_a_position_that_was_computed():
    assert grad(lambda x: np.sum(x[:np.argmax(x)]))(np.array([1.0, 2.0, 5.0, 3.0])).tolist() == [1, 1, 0, 0]
