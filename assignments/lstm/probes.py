"""What is asked of a submission beyond calling its functions: registers become lists here, and lists registers."""
from xman import XMan, f


def stepped(module, names):
    """The list of one step of the submission's cell, for inputs x, h, c and parameters of these names; its results are h1, c1."""
    model = XMan()
    model.x, model.h, model.c = f.input(), f.input(), f.input()
    for name in names:
        setattr(model, name, f.param())
    model.h1, model.c1 = module.cell(model.x, model.h, model.c, {name: getattr(model, name) for name in names})
    return list(model.setup().operationSequence(model.h1, model.c1))


def unrolled(module, parameters, steps, lines):
    """The submission's LSTM around another cell, given as the lines of its list, and another read_out: list and leaves."""
    def cell(x, h, c, p):
        registers = {"x": x, "h": h, "c": c, **p}
        for dst, op, args in lines:
            registers[dst] = getattr(f, op)(*(registers[a] if isinstance(a, str) else a for a in args))
        return registers["next_h"], registers["next_c"]

    def read_out(hs, es, y, p):
        total = f.mean(f.square(y))
        for t, (h, e) in enumerate(zip(hs, es, strict=True), 1):
            total = total + t * f.mean(f.square(h - e))
        return f.alias(hs[-1]), f.alias(hs[-1]), total

    model = module.LSTM(parameters, steps, cell, read_out)
    states = [getattr(model, f"{letter}{t}") for t in range(1, steps + 1) for letter in "hc"]
    leaves = [name for name, register in model.namedRegisterItems() if not register.definedAs]
    return {"steps": list(model.operationSequence(*states, model.loss)),
            "inputs": [name for name in leaves if model.isInput(name)],
            "params": [name for name in leaves if model.isParam(name)],
            "defaults": {name: value for name, value in model.inputDict().items() if name in (*parameters, "h0", "c0")}}


def read(module, steps):
    """The list of the submission's read_out of states h1, … and ends e1, …; its results are last, outputs and loss."""
    model = XMan()
    model.y, model.W2, model.b2 = f.input(), f.param(), f.param()
    names = {letter: [f"{letter}{t}" for t in range(1, steps + 1)] for letter in "he"}
    for name in names["h"] + names["e"]:
        setattr(model, name, f.input())
    hs, es = ([getattr(model, name) for name in names[letter]] for letter in "he")
    last, model.outputs, model.loss = module.read_out(hs, es, model.y, {"W2": model.W2, "b2": model.b2})
    model.last = f.alias(last)
    return list(model.setup().operationSequence(model.last, model.outputs, model.loss))
