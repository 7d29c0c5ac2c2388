"""Arguments of shapes that do not fit: an operator refuses them by its name, or sends back adjoints of their shapes."""
import numpy as np
import pytest
from operator_cases import CASES, in_each

from ops import f
from xman import XManError, backprop
from xman import eval as evaluate

SHAPES = [(), (1,), (2,), (3,), (0,), (1, 3), (2, 1), (2, 3), (3, 3), (2, 2, 3), (2, 3, 3)]
# a product, or the place of an entry, is looked at when the adjoint is taken: these are written by rules alone
BY_RULES = {"broadcast", "cofactor_slope", "diag_back", "dot_left", "dot_right", "einsum_back", "part", "prod_of_others"}


@in_each([(op, case, seed) for op, cases in CASES.items() for case in cases[:4] for seed in range(4)], some=30)
def test_what_does_not_fit_is_refused_by_name_or_has_an_adjoint_of_its_shape(op, case, seed):
    R, args, values = np.random.default_rng(seed), [], {}
    for i, a in enumerate(case):
        array = isinstance(a, np.ndarray)
        if array:
            new = a.dtype.kind == "f" and R.uniform() < 0.7
            values[f"x{i}"] = R.uniform(0.2, 0.9, SHAPES[R.integers(len(SHAPES))]) if new else a
        args.append(f"x{i}" if array else a)
    steps, has_value = [("y", op, tuple(args))], False
    try:
        known = evaluate(steps, values)
        has_value = True
        deltas = backprop(steps, known, y=np.ones(np.shape(known["y"])))
    except XManError as error:
        assert op in str(error) and (not has_value or op in BY_RULES)
        return
    assert all(np.shape(deltas[x]) == np.shape(a) for x, a in values.items() if x in deltas)


@pytest.mark.parametrize("call", [
    lambda: f.lower_half(np.ones((1, 3))), lambda: f.lower_half(np.ones(3)), lambda: f.recurrence(np.ones(1), np.ones(4), 0),
    lambda: f.diag_back(np.ones(1), np.ones((3, 3)))])
def test_a_helper_says_what_it_is_for(call):
    with pytest.raises(ValueError, match="(lower_half|recurrence|diag_back) takes"):
        call()
