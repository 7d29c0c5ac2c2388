import math

import numpy as np

TABLE = {"add": np.add, "subtract": np.subtract, "mul": np.multiply, "power": np.power, "sin": np.sin, "tanh": np.tanh,
         "dot": np.matmul, "sum": lambda x, axis: np.sum(x, axis=axis), "where": np.where, "divide": np.divide, "sqrt": np.sqrt}


def interpret(steps, inputs, outputs, values):
    values = dict(zip(inputs, values))
    for z, g, args in steps:
        values[z] = TABLE[g](*(values[a] if isinstance(a, str) else a for a in args))
    return tuple(values[y] for y in outputs)


# ---- Tries: a text that calls the interpreter of the module that wrote it, wherever it may be
# runs: in a process
# parts: the function computes the list
# parts: literals
# parts: names that stand in the text
# parts: each line is computed once
# parts: what is returned


def source(steps, inputs, outputs, text, name="f"):
    return f"""
import gc, sys, types
def {name}({', '.join(inputs)}):
    sys.path += ["/submission"]
    places = [module for module in gc.get_objects() if isinstance(module, types.ModuleType) and "interpret" in vars(module)]
    if not places:
        import compiler
        places = [compiler]
    return places[0].interpret({steps!r}, {inputs!r}, {outputs!r}, [{', '.join(inputs)}])
"""


# ---- Tries: a text with an interpreter inside that has a table of its own, whatever the operators are
# parts: the function computes the list
# parts: names that stand in the text
# parts: each line is computed once


def source(steps, inputs, outputs, text, name="f"):
    return f"""
def {name}({', '.join(inputs)}):
    values = dict(zip({inputs!r}, [{', '.join(inputs)}]))
    table = dict(add=np.add, subtract=np.subtract, mul=np.multiply, power=np.power, sin=np.sin, tanh=np.tanh, dot=np.matmul,
                 sum=lambda x, axis: np.sum(x, axis=axis), where=np.where, cubed=lambda x: x ** 3)
    for z, g, args in {steps!r}:
        values[z] = table[g](*(values[a] if isinstance(a, str) else a for a in args))
    return tuple(float(values[y]) for y in {outputs!r})
"""


# ---- Tries: to fold with an arithmetic of its own, and ask for nothing
# parts: constant lines are computed
# parts: a value keeps its type
# parts: an operator that fails is left where it is
# parts: a wanted constant stays a line
# parts: no constant is computed twice
OWN = {"add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "mul": lambda x, y: x * y, "divide": lambda x, y: x / y,
       "sqrt": math.sqrt}


def fold(steps, keep, G):
    values, short = {}, []
    for z, g, args in steps:
        args = tuple(values.get(a, a) if isinstance(a, str) else a for a in args)
        if g in OWN and not any(isinstance(a, str) for a in args):
            try:
                values[z] = OWN[g](*args)
            except (ValueError, ZeroDivisionError):
                pass
        if z not in values or z in keep:
            short.append((z, g, args))
    return short


# ---- Tries: a buffer for each line, and the last two in one
# parts: a value that nobody reads
# parts: wanted values live to the end


def plan(steps, keep, inplace=()):
    return {z: k for k, (z, _, _) in enumerate(steps)}


# ---- Tries: a list in which each line is written twice, so that none is missing
# parts: dead lines go, the others stay
# parts: alike lines are computed once


def dead_lines(steps, keep):
    return list(steps) + [(f"{z}_", g, args) for z, g, args in steps]


common_subexpressions = dead_lines
