"""Derivatives of functions of NumPy arrays. Each calls the function once and steps through its tape.

They compose with one another to any order. Arguments and results are arrays, numbers, and lists, tuples,
dicts and dataclasses of them, without fields with metadata={"static": True}; a derivative has the structure,
the shapes and the precisions of the argument. Python's int counts as float64. Arguments that argnums does not
name, and keyword arguments, reach fn as they are. In place of an array fn gets a traced value, which passes
for an array with isinstance and np.isscalar, but not with `type(x) is`. NumPy's np.array and np.asarray of it
are errors; `import xman.numpy as np` has versions that work.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ops import Expression, f
from ops.facts import is_complex

from ..errors import XManError, with_habits
from .call import Argnums, Derivative, TracedCall, callable_or_refused, is_whole, name_of, traced_call
from .trees import as_own, matching, number_of, unflatten


@with_habits
def grad(fn: Callable, argnums: Argnums = 0, has_aux: bool = False,
         holomorphic: bool = False) -> Callable:
    """The function that gives ∂fn/∂argument, by reverse mode: one pass back, whatever the number of inputs.

    fn: a function whose result is one real number, of shape ().
    argnums: the position of the argument to differentiate by, or several (the gradient is a tuple then);
        negative ones count from the end.
    has_aux: fn returns (output, auxiliary), and the result is (gradient, auxiliary).
    holomorphic: fn is complex, and has a complex derivative: the gradient is that. Otherwise fn is real, and
        its gradient by a complex z = x + iy is ∂fn/∂x − i ∂fn/∂y.

    XManError for a result of another shape, for arguments that are not floats, and for a line of fn that
    cannot be traced (Cohen, Automatic Reverse-Mode Differentiation, §1.3).
    """
    callable_or_refused("grad", fn, argnums)

    def gradient(*args, **options):
        call, slope = differentiated(fn, argnums, has_aux, args, options, holomorphic)
        return (slope, call.aux) if has_aux else slope
    return Derivative(grad, fn, gradient, argnums, has_aux, holomorphic)


@with_habits
def value_and_grad(fn: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """The function that gives (fn(…), its gradient), or with has_aux ((output, auxiliary), gradient).

    fn, argnums, has_aux: as for `grad`, which raises the same errors."""
    callable_or_refused("value_and_grad", fn, argnums)

    def value_and_gradient(*args, **options):
        call, slope = differentiated(fn, argnums, has_aux, args, options)
        return (call.results[0], call.aux) if has_aux else call.results[0], slope
    return Derivative(value_and_grad, fn, value_and_gradient, argnums, has_aux)


def differentiated(fn: Callable, argnums: Any, has_aux: bool, args: tuple, options: dict,
                   holomorphic: bool = False) -> tuple:
    """The call of fn, and its gradient with respect to argnums."""
    call = traced_call("grad", fn, args, options, positions(argnums, args, fn), has_aux)
    # a 1 in the precision of the result, so that float32 stays float32 on the way back
    leaves = iter(call.pulled([one_number(call, fn, holomorphic).dtype.type(1)]))
    slopes = [unflatten(structure, leaves) for structure in call.arguments]
    return call, slopes[0] if is_whole(argnums) else tuple(slopes)


def one_number(call: TracedCall, fn: Callable, holomorphic: bool) -> Any:
    """The one number that fn returned. XManError for anything else."""
    if holomorphic:
        refuse_real(call)
    if len(call.results) != 1:
        output = f"{len(call.results)} outputs, {call.result}"
    elif call.results[0].shape:
        output = f"an array of shape {call.results[0].shape}"
    elif (kind := call.results[0].dtype.kind) == "c" and not holomorphic:
        raise XManError(f"{name_of(fn)} returned a complex number, and a gradient is that of a real one: return "
                        "np.abs(…) or np.real(…) of it; or say holomorphic=True, where it has a complex derivative")
    elif kind not in "fc" and call.outputs[0] is not None:
        raise XManError(f"{name_of(fn)} returned {call.results[0].dtype}, and only floats have a gradient: "
                        "comparisons and positions are flat; return a float")
    else:
        return call.results[0]
    advice = "mark the rest as auxiliary with has_aux=True, " if len(call.results) > 1 else ""
    raise XManError(f"{name_of(fn)} returned {output}, and a gradient is that of one number; return np.sum(…) "
                    f"or np.mean(…) of it, {advice}or use jacobian")


def refuse_real(call: TracedCall) -> None:
    """XManError where arguments or outputs of what is to be holomorphic are real."""
    if not all(map(is_complex, (*call.points, *call.results))):
        raise XManError("holomorphic=True is for complex functions of complex numbers, and found real ones; give "
                        "z + 0j, or leave holomorphic out")


@with_habits
def vjp(fn: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """(fn(*primals), pull); pull(u) is a tuple with uᵀJ for each primal. With has_aux (…, pull, auxiliary).

    fn, has_aux: as for `grad`, but outputs may have any shape. primals: the positional arguments. u: of the
    structure and the shapes of the output. pull may be called many times, and does not call fn again.
    Raises XManError as `grad`.
    """
    callable_or_refused("vjp", fn)
    call = traced_call("vjp", fn, primals, {}, range(len(primals)), has_aux)
    # copies: pull goes on reading the results
    outputs, pull = unflatten(call.result, map(as_own, call.results)), partial(pulled, call)
    return (outputs, pull, call.aux) if has_aux else (outputs, pull)


def pulled(call: TracedCall, u: Any) -> tuple:
    """uᵀJ for each primal."""
    leaves = iter(call.pulled(like(u, call.results, call.result, "u", "the output")))
    return tuple(unflatten(structure, leaves) for structure in call.arguments)


@with_habits
def jvp(fn: Callable, primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> tuple:
    """(fn(*primals), J·tangents), by forward mode; with has_aux (…, …, auxiliary).

    fn, has_aux: as for `grad`, but outputs may have any shape. primals: the tuple of all positional
    arguments. tangents: a tuple of the same structure and shapes. XManError as `grad` (Bishop, Deep Learning,
    §8.2.1).
    """
    callable_or_refused("jvp", fn)
    tuples_or_refused("jvp", primals=primals, tangents=tangents)
    directions = lambda points, structure: like(tuple(tangents), points, structure, "tangents", "primals")
    call = traced_call("jvp", fn, primals, {}, range(len(primals)), has_aux, directions)
    slopes = call.pushed()
    result = unflatten(call.result, map(as_own, call.results)), unflatten(call.result, slopes)
    return (*result, call.aux) if has_aux else result


def like(tree: Any, points: Sequence[Any], structure: Any, name: str, model: str) -> list:
    """The leaves of the tree, in the points' precision. XManError unless structure and shapes agree."""
    leaves = matching(tree, structure, name, model)
    leaves = [leaf if isinstance(leaf, Expression) else np.asarray(leaf) for leaf in leaves]
    for leaf, x in zip(leaves, points, strict=True):
        if leaf.shape != x.shape or leaf.dtype.kind not in ("biufc" if is_complex(x) else "biuf"):
            raise XManError(f"{name} has {leaf.dtype} of shape {leaf.shape} where {model} has {x.dtype} of "
                            f"shape {x.shape}; they have to be alike")
    return [number_of(f.broadcast(leaf, x)) for leaf, x in zip(leaves, points, strict=True)]


@with_habits
def hvp(fn: Callable, primals: Sequence[Any], vectors: Sequence[Any],
        argnums: Argnums = 0) -> Any:
    """The product H·v of the Hessian of fn, forward over reverse, without the matrix (Bishop, §8.2).

    fn, argnums: as for `grad`. primals: the tuple of all positional arguments. vectors: the tuple of
    directions, one for each of argnums, of its structure and shapes. The result is like the argument, a tuple
    if argnums is a tuple. XManError as `grad`.
    """
    callable_or_refused("hvp", fn, argnums)
    tuples_or_refused("hvp", primals=primals, vectors=vectors)
    which = positions(argnums, primals, fn)
    if len(vectors) != len(which):
        raise XManError(f"hvp has {len(vectors)} vectors for {len(which)} arguments; give it one for each")
    slope = grad(fn, which)

    # H v is the derivative of the gradient along v: one pass forward through the way back
    def along(*points):
        args = list(primals)
        for i, point in zip(which, points, strict=True):
            args[i] = point
        return slope(*args)

    products = jvp(along, [primals[i] for i in which], vectors)[1]
    return products[0] if is_whole(argnums) else products


# ---- arguments ---------------------------------------------------------------------------------------------

def tuples_or_refused(word: str, **tuples: Any) -> None:
    for name, x in tuples.items():
        if not isinstance(x, (tuple, list)):
            raise XManError(f"the {name} of {word} are a tuple, one for each argument; found {type(x).__name__}: "
                            f"write (x,), as in {word}(fn, (x,), (v,))")


def positions(argnums: Any, args: Sequence[Any], fn: Callable) -> tuple[int, ...]:
    """argnums as positions from 0. XManError for a position that has no argument or comes twice."""
    if type(argnums) is int and 0 <= argnums < len(args):
        return (argnums,)
    places = (argnums,) if is_whole(argnums) else tuple(argnums)
    for i in places:
        if not -len(args) <= i < len(args):
            raise XManError(f"argnums names argument {i} of {name_of(fn)}, which was called with {len(args)} "
                            "by position; give what is differentiated by position, not by name")
    numbers = tuple(int(i) % len(args) for i in places)
    if len(set(numbers)) < len(numbers):
        raise XManError(f"argnums {argnums!r} names an argument twice")
    return numbers
