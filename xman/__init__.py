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
"""
from .autograd import Autograd
from .errors import XManError
from .interpreters import Report, backprop, check, eval, forward, shapes
from .manager import XMan
from .register import Operation, Register, XManFunctions
from .wengert import WengertList

f = XManFunctions

__all__ = ["Operation", "Register", "XMan", "XManFunctions"]
__version__ = "0.1.0"
