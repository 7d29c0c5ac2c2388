"""What the loops of the tape need and Numba's language has not: rows that move at once,
and sin and cos that are vectorised."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

FAR = 1e6  # up to here sin and cos are right to 2 ulp


def turned_sine(x: Any, quarters: int) -> Any:
    """sin(x + quarters·π/2) where |x| ≤ FAR, of Lanes: 1.4 ulp to |x| = 1000, 1.9 ulp to FAR.

    π/2 in three parts (Cody and Waite), of which the first two are so short that their products are exact.
    """
    from ..llvm.formulas import bits, nearest, number, polynomial, where
    from ..llvm.powers import COS, SIN
    n, k = nearest(x * (2.0 / math.pi))
    r = x - n * 1.5707963267341256 - n * 6.077100506303966e-11 - n * 2.0222662487959507e-21
    z = r * r
    sine, cosine = r + r * z * polynomial(z, SIN), 1.0 - (0.5 * z - z * z * polynomial(z, COS))
    k = k + quarters
    return number(bits(where(k & 1 == 1, cosine, sine)) ^ (k >> 1 << 63))


def near_sin(x: Any) -> Any:
    from ..llvm.formulas import where
    return where(x == 0.0, x, turned_sine(x, 0))  # −0 stays


def near_cos(x: Any) -> Any:
    return turned_sine(x, 1)


def one_tanh(x: Any) -> Any:
    """`formulas.tanh` without a mask for the sign.

    For one number LLVM makes of the mask an instruction that waits for the
    register of the tanh before (mov to its low byte).
    """
    from ..llvm.formulas import below, reduced, two, where
    a = where(x < 0.0, -x, x)
    n, q = reduced(below(a + a, (x.format.digits + 3) * math.log(2)))
    e = q * two(n) + (two(n) - 1.0)
    y = e / (e + 2.0)
    return where(x < 0.0, -y, y)


def loop_functions(kind: str) -> dict[str, Callable]:
    """The functions that a loop calls beside NumPy's: in chunks those that LLVM vectorises,
    else those quick one by one."""
    from numba import types
    from numba.extending import intrinsic

    from .vectorised import VECTORISED, vectorised
    real = types.float64
    select = intrinsic(lambda typing, c, x, y: (real(types.boolean, real, real),
                                                lambda context, builder, signature, args:
                                                builder.select(*args)))
    own = {op: kinds["float64"]
           for op, kinds in {**VECTORISED, **vectorised(near_sin, near_cos, one_tanh)}.items()}
    far_sin, far_cos = own.pop("sin"), own.pop("cos")
    if not kind.startswith("chunks"):
        own = {"tanh": own["one_tanh"], "erf": math.erf,
               **{op: own[op] for op in ("exp", "near_sin", "near_cos")}}
        far_sin, far_cos = math.sin, math.cos
    return {**own, "where": select, "far_sin": far_sin, "far_cos": far_cos}


def lane_moves(width: int) -> tuple[Callable, Callable]:
    """move(x, i, y, j) and add(x, i, y, j) for x[i:i + width] = and += y[j:j + width], one instruction each.

    Numba cannot be told that a short loop over two parts of one array may run in parallel.
    """
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic
    vector = ir.VectorType(ir.DoubleType(), width)

    def row(compute: Callable) -> Callable:
        def code(context, builder, signature, args):
            x, y = (builder.bitcast(builder.gep(context.make_array(kind)(context, builder, array).data, [i]),
                                    vector.as_pointer())
                    for kind, array, i in zip(signature.args[::2], args[::2], args[1::2], strict=True))
            builder.store(compute(builder, x, builder.load(y, align=8)), x, align=8)
            return context.get_dummy_value()
        return intrinsic(lambda typing, x, i, y, j: (types.void(x, i, y, j), code))

    return row(lambda builder, x, y: y), row(lambda builder, x, y: builder.fadd(builder.load(x, align=8), y))
