"""xman, a Wengert-list expression manager: models as registers, lists as data, derivatives by rule tables.

    from xman import XMan, f, eval, backprop
    class Triangle(XMan):
        h = f.param()
        w = f.param()
        area = f.half(h * w)
    model = Triangle().setup()
    steps = model.operationSequence(model.area)
    values = eval(steps, model.inputDict(h=3, w=6))
    deltas = backprop(steps, values, area=1.0)

`from xman import *` gives the four classes of the course alone: XMan, XManFunctions, Register and Operation.
`gradient`, `Jacobian` and `Hessian` take a list; `grad`, `jacobian` and `hessian` take a Python function, and
so does `trace`, which gives its list. `f.trace` is an operator: the sum of a matrix's diagonal.
"""
import importlib
from typing import Any

from . import own_ops  # isort: skip  (all others import ops)
from .autograd import Autograd, partials
from .errors import XManError
from .interpreters import backprop, eval, forward, shapes
from .manager import XMan
from .register import Operation, Register, XManFunctions
from .wengert import WengertList

f = XManFunctions

# names of these packages are imported when they are first used: so `import xman` stays quick
LATER = {name: package for package, names in {
    "autograd.translated": "translated COURSE",
    "passes": "gradient tangent simplify roll unroll rewrite EXACT STABLE ALGEBRA",
    "matrices": "Jacobian Hessian GaussNewton outer_products inverse_outer_products becker_lecun diagonals",
    "functions.loops": "scan map call cond while_loop", "jets.functions": "taylor taylor_ode",
    "functions.familiar": "vmap jacfwd jacrev custom_vjp", "functions.trees": "tree_map",
    "functions": "trace grad value_and_grad jvp vjp jacobian sparse_rows hessian hvp Dual derivative",
    "engines": "compile", "jitted": "jit", "files": "load", "engines.tape.engine": "Tape",
    "sparse": "sparsity colour", "jitted.sparse": "sparse_jacobian sparse_hessian",
    "jets.lists": "series", "reasons": "Report check why", "optimize": "minimize least_squares",
    "explorer": "explore",
    "show": "explain derivation expand listing paths picture cost source", "plots": "difference_errors",
}.items() for name in names.split()}
PACKAGES = ("engines estimators explorer export files functions grade interpreters matrices models numpy optimize passes plots "
            "reasons scale scipy show sparse tables train").split()

__all__ = ["Operation", "Register", "XMan", "XManFunctions"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in PACKAGES:
        return importlib.import_module(f".{name}", __name__)
    if name not in LATER:
        from .errors import habit, nearest
        hint = habit(name) or nearest(name, __dir__())
        raise AttributeError(f"module 'xman' has no attribute {name!r}{hint}")
    globals()[name] = getattr(importlib.import_module(f".{LATER[name]}", __name__), name)
    return globals()[name]


def __dir__() -> list[str]:
    now = {name for name, x in globals().items() if getattr(x, "__module__", "").startswith("xman.")}
    return sorted({*now, *LATER, *PACKAGES})
