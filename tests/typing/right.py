"""What users write: a type checker finds nothing wrong here."""
import numpy as np

import xman
from xman import (
    Hessian,
    Jacobian,
    Register,
    WengertList,
    XMan,
    XManError,
    XManFunctions,
    backprop,
    check,
    compile,
    cost,
    eval,
    explain,
    f,
    forward,
    grad,
    gradient,
    jacobian,
    minimize,
    outer_products,
    paths,
    shapes,
    simplify,
    tangent,
    trace,
    value_and_grad,
)
from xman.models import MLP
from xman.train import fit


class Triangle(XMan):
    h = f.param()
    w = f.param(default=6.0)
    area = f.half(h * w)


model = Triangle().setup()
area: Register = model.area
steps: WengertList = model.operationSequence(model.area)
values = eval(steps, model.inputDict(h=3, w=6))
deltas = backprop(steps, values, wrt="h", area=1.0)
tangents = forward(steps, values, {"h": 1.0})
report = check(steps, values, wrt=["h"])
half: float = values["area"] / 2 + deltas["h"] + tangents["area"]
print(report.ok, shapes(steps, values), explain(steps, "area", "h", values), cost(steps), paths(steps, "area", "h"))
second = simplify(gradient(gradient(steps, "area", "h"), "darea_dh", ["w"]))
program = compile(tangent(second, ["h"]), ["area_dot"])
print(program(values), Jacobian(steps, "area", "h")(values), Hessian(steps, "area", ["h", "w"])(values))
print(outer_products(steps, "area", ["h"], values), xman.engines, xman.train.fit, xman.models.MLP)


def loss(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.sum((x @ w) ** 2)


w, x = np.ones(3), np.ones((2, 3))
print(grad(loss)(w, x), value_and_grad(loss)(w, x), jacobian(loss)(w, x), trace(loss, w, x), minimize(loss, (x,), start=w))


class Functions(XManFunctions):
    @staticmethod
    def twice(a: Register) -> Register:
        return XManFunctions.registerDefinedByOperator("twice", a)


r = Functions.input("r")
s = f.softmax(Functions.twice(r) @ r.T, axis=1) - 2 * f.exp(r) ** 2 / abs(-r)[0] + f.sum(r, keepdims=True)
network = MLP([4, 8, 3], activation="tanh")
try:
    result = fit(network, (x, np.zeros(2)), epochs=1, lr=0.1)
    print(result.parameters, result.history, WengertList.from_text(str(steps)).to_json())
except XManError as error:
    print(error)
