"""Sparse Jacobians and Hessians of functions, in as many passes as the pattern has colours."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array, eye_array

from ops import Expression, f
from ops.facts import is_complex

from ..errors import XManError
from ..functions.call import Derivative, TracedCall, callable_or_refused, name_of, traced_call
from ..functions.tracer import unheard
from ..functions.transforms import grad
from ..sparse.passes import passes_of
from ..sparse.patterns import nothing, patterns
from ..sparse.places import csr
from .jit import jit


def sparse_jacobian(fn: Callable, argnums: int = 0, by: str | None = None, engine: str = "auto") -> Callable:
    """The function that gives ∂output/∂argument as a SciPy array in CSR form: output.size × argument.size.

    fn: a function of arrays that gives one array. argnums: the position of the argument, one array. by: whose
    colours are the passes: "columns" (forward mode), "rows" (reverse mode) or "both"; None: the fewest.
    engine: as for `jit`, by which it is compiled, once for all calls of these shapes.

    The pattern is read off the operators (`xman.sparsity`), so that it holds for all values: an entry may be
    0. XManError as `grad`, and for several arrays (Griewank and Walther, Evaluating Derivatives, §8).
    """
    callable_or_refused("sparse_jacobian", fn)
    if by not in (None, "columns", "rows", "both"):
        raise XManError(f"by is 'columns', 'rows', 'both' or None for the cheapest, not {by!r}")

    def entries(*args: Any, **options: Any) -> tuple:
        call = call_of_array("sparse_jacobian", fn, args, options, argnums)
        return entries_by_colour(call, unheard(pattern_of, call), by)
    return matrix_function(sparse_jacobian, fn, entries, engine, argnums, by, engine)


def sparse_hessian(fn: Callable, argnums: int = 0, engine: str = "auto") -> Callable:
    """The function that gives the second derivatives of a number as a SciPy array in CSR form.

    fn: a function of arrays that gives a number. argnums: the position of the argument, one array, of n
    entries; the result is n × n. The passes, forward through the gradient, are the colours of a star
    colouring: two for an arrow, whatever n. engine, errors: as for `sparse_jacobian`.
    """
    callable_or_refused("sparse_hessian", fn)

    def entries(*args: Any, **options: Any) -> tuple:
        call = call_of_array("sparse_hessian", grad(fn, argnums), args, options, argnums)
        pattern = unheard(pattern_of, call)
        return entries_by_colour(call, csr_array((pattern + pattern.T).astype(bool)), "star")
    return matrix_function(sparse_hessian, fn, entries, engine, argnums, engine)


def matrix_function(make: Callable, fn: Callable, entries: Callable, engine: str,
                    *settings: Any) -> Derivative:
    """The function that puts the entries into a matrix; its `lists` are those of `jit`."""
    entries.__name__ = f"{make.__name__}_{name_of(fn)}"
    compiled = jit(entries, engine)

    def matrix(*args: Any, **options: Any) -> csr_array:
        data, indices, ends, columns = compiled(*args, **options)
        return csr(indices, ends, columns, data)
    result = Derivative(make, fn, matrix, *settings)
    result.compiled = compiled
    return result


def call_of_array(name: str, fn: Callable, args: Sequence[Any], options: dict, argnums: int) -> TracedCall:
    is_position = isinstance(argnums, (int, np.integer)) and not isinstance(argnums, bool)
    if not is_position or not -len(args) <= argnums < len(args):
        raise XManError(f"{name} differentiates by one argument: argnums is its position, not {argnums!r}")
    call = traced_call(name, fn, args, options, [argnums % len(args)])
    if len(call.inputs) != 1 or len(call.outputs) != 1:
        raise XManError(f"{name} is of one array by one array; {name_of(fn)} has {len(call.inputs)} in its "
                        f"argument and gives {len(call.outputs)}")
    if any(map(is_complex, (*call.points, *call.results))):
        raise XManError(f"{name} is of real numbers, and these are complex; `jacobian` gives their "
                        "matrix, which is dense")
    return call


def pattern_of(call: TracedCall) -> csr_array:
    """Which entries of the result may depend on which of the argument, by the lines of the call."""
    (x,), (end,), tape = call.inputs, call.outputs, call.tape
    sizes = {name: (value.shape, value.dtype) for name, value in tape.values.items()}

    def operand(a: Any) -> Any:
        """A value of a trace around the call is a register whose value is not known."""
        if not isinstance(a, Expression):
            return a
        sizes[name := f"around{a.level}_{a.name}"] = a.shape, a.dtype
        return name
    lines = [(dst, op, tuple(map(operand, args))) for dst, op, args in tape.lines]
    n = call.points[0].size
    by_register = patterns(lines, [end], {x: eye_array(n, dtype=bool, format="csr")}, sizes, {})
    pattern = csr_array(by_register.get(end, nothing(call.results[0].size, n)))
    pattern.sort_indices()
    return pattern


def entries_by_colour(call: TracedCall, pattern: csr_array, by: str | None) -> tuple:
    """(the entries, their columns, the ends of rows, the number of columns), of a matrix in CSR form."""
    passes = unheard(passes_of, pattern, by)
    flat = lambda x: f.reshape(x, (x.size,))
    x, y = call.points[0], call.results[0]
    products = [flat(call.pushed([np.reshape(v, x.shape)])[0]) for v in passes.columns]
    products += [flat(call.pulled([np.reshape(u, y.shape)])[0]) for u in passes.rows]
    every = f.concat(0, *products) if products else np.zeros(0)
    data = f.getitem(every, passes.places)
    return data, pattern.indices, pattern.indptr, pattern.shape[1]
