"""Matrices in the engine llvm: products, and what LAPACK does."""

import numpy as np
import pytest
from steps_of_llvm import step_of

import xman
from xman import XManError, eval, gradient

pytest.importorskip("llvmlite")

R = np.random.default_rng(15)


def test_a_product_added_to_what_is_given_lies_row_by_row_whatever_is_transposed_at_the_end():
    values = {"x": R.normal(size=(20, 30)), "w": R.normal(size=(30, 25)), "c": R.normal(size=(20, 25)), "e": R.normal(size=25)}
    lines = [("p", "dot", ("x", "w")), ("q", "add", ("p", "c")), ("y", "transpose", ("q",)), ("u", "unbroadcast", ("q", "e")), ("v", "mul", ("u", "e"))]
    step = step_of(lines, values, outputs=["y", "v"])
    for x, found in step(values).items():
        np.testing.assert_allclose(found, eval(lines, values)[x], rtol=1e-12)


def test_a_product_of_many_arrays_multiplies_first_what_makes_it_small():
    shapes = dict(a=(20, 25), b=(12, 15), c=(15, 25), d=(12,))
    values = {x: R.uniform(0.5, 1.5, shape) for x, shape in shapes.items()}
    lines = [("y", "einsum", (("il,jk,kl,j->ij",), *shapes))]
    step = step_of(lines, values)
    np.testing.assert_allclose(step(values)["y"], eval(lines, values)["y"], rtol=1e-12)
    assert max(np.prod(buffer.shape) for buffer in step.plan.buffers) <= 12 * 25


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 4, 4), (2, 1, 3, 3)])
@pytest.mark.parametrize("op", ["inv", "solve", "cholesky", "det", "logabsdet"])
def test_lapack_does_what_numpy_does_with_matrices_and_batches(op, shape):
    n, a = shape[-1], R.normal(size=shape)
    a = a @ np.swapaxes(a, -1, -2) + n * np.eye(n) if op == "cholesky" else a
    for b in [R.normal(size=(*shape[:-1], 2)), *([R.normal(size=n)] if len(shape) == 2 else [])] if op == "solve" else [None]:
        values = {"a": a} if b is None else {"a": a, "b": b}
        lines = gradient([("r", op, tuple(values)), ("t", "sin", ("r",)), ("y", "sum", ("t",))], "y", list(values))
        step = step_of(lines, values, outputs=["r", *(f"dy_d{x}" for x in values)])
        wanted = eval(lines, values)
        assert not [line for line in step.plan.calls if f"= {op}(" in line]
        for x, found in step(values).items():
            np.testing.assert_allclose(found, wanted[x], rtol=1e-9, atol=1e-9 * np.abs(wanted[x]).max())


@pytest.mark.parametrize("a", [R.normal(size=(2, 2)), R.normal(size=(4, 3, 3)), np.outer([1.0, 2, 3], [3.0, 2, 1]), np.diag([np.inf, 1.0])])
def test_a_loop_with_a_small_determinant_calls_no_numpy(a):
    def turns(a):
        return xman.scan(lambda s, _: (s + np.sum(xman.f.cofactor(a + 0 * s) ** 2), None), 0.0, length=5)[0]
    steps = xman.trace(turns, a)
    step = step_of(steps, {"a": a})
    assert not step.plan.calls
    np.testing.assert_allclose(step({"a": a})["turns"], eval(steps, {"a": a})["turns"], atol=1e-12)


def test_rows_taken_for_a_product_are_copied_once_and_anew_where_the_table_was_overwritten():
    values = {"T": R.normal(size=(50, 8)), "k": R.integers(0, 50, 40), "W": R.normal(size=(8, 9))}
    once = [("x", "getitem", ("T", "k")), ("z", "dot", ("x", "W")), ("t", "tanh", ("z",)), ("y", "sum", ("t",))]
    step = step_of(lines := gradient(once, "y", ["W"]), values, outputs=["y", "dy_dW"])
    assert step.source.count("copy(T[") == 1
    np.testing.assert_allclose(step(values)["dy_dW"], eval(lines, values)["dy_dW"], rtol=1e-12)
    twice = [*once[:2], ("U", "scale", (2.0, "T")), ("v", "getitem", ("U", "k")), ("w", "dot", ("v", "W"))]
    found = step_of(twice, values, outputs=["z", "w"], inplace={"T": "U"})(values | {"T": values["T"].copy()})
    np.testing.assert_allclose(found["w"], eval(twice, values)["w"], rtol=1e-12)


@pytest.mark.parametrize("op, a, words", [("inv", np.ones((2, 3, 3)), "Singular"), ("cholesky", -np.eye(3), "not positive definite")])
def test_what_lapack_refuses_is_said_and_leaves_what_was_to_be_overwritten_as_it_was(op, a, words):
    lines, w = [("r", op, ("a",)), ("s", "sum", ("r",)), ("w_next", "add", ("w", "s"))], np.zeros(2)
    step = step_of(lines, {"a": np.broadcast_to(np.eye(3), a.shape).copy(), "w": w}, outputs=["r"], inplace={"w": "w_next"})
    before = w.copy()
    with pytest.raises(XManError, match=words):
        step({"a": a, "w": w})
    np.testing.assert_array_equal(w, before)


def test_products_are_of_scipys_blas_where_numpy_brings_none(monkeypatch):
    import _ctypes

    from xman.engines.llvm import products
    monkeypatch.setattr(products, "_multiarray_umath", _ctypes)
    values = {"a": R.normal(size=(17, 31)), "b": R.normal(size=(31, 23)), "c": R.normal(size=(3000,))}
    products.address.cache_clear()
    try:
        steps = [("z", "dot", ("a", "b")), ("w", "outer", ("c", "c")), ("v", "dot", ("w", "c"))]
        found, wanted = xman.compile(steps, ["z", "v"], engine="llvm")(values), eval(steps, values)
        assert all(np.allclose(found[x], wanted[x], rtol=1e-12) for x in found)
    finally:
        products.address.cache_clear()
