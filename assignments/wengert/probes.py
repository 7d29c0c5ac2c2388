"""What is asked of a submission beyond calling its functions: are its arguments left as they are, does it manage a long list?"""
import copy
import time

GUARD = 4.0  # seconds of processor time; a thousandth is enough, and a task that is stopped here keeps its other parts


def keeps_its_arguments(module, name, *args):
    """For each argument that is data: whether it is the same after a call of the submission's function as before."""
    before = copy.deepcopy(args)
    getattr(module, name)(*args)
    return [now == then for now, then in zip(args, before, strict=True) if not callable(now)]


def chain(lines):
    """The list z1 = step(x), z2 = step(z1), … and what guards its operator."""
    steps = [(f"z{k}", "step", (f"z{k - 1}" if k > 1 else "x",)) for k in range(1, lines + 1)]
    calls, start = [0], time.process_time()

    def guarded():
        calls[0] += 1
        if calls[0] % 100 == 0 and time.process_time() - start > GUARD:
            raise RuntimeError(f"stopped after {calls[0]:,} of {lines:,} lines: the work for each grows with the list's length")
    return steps, guarded


def eval_chain(module, lines, x, slope):
    """The last value of a list of so many lines, each the same linear function of the line before."""
    steps, guarded = chain(lines)

    def step(x):
        guarded()
        return slope * x + 1.0
    return module.eval(steps, {"x": x}, {"step": step})[f"z{lines}"]


def backprop_chain(module, lines, x, slope):
    """The derivative of that last value with respect to x."""
    steps, guarded = chain(lines)
    values = {"x": x}
    for k in range(1, lines + 1):
        values[f"z{k}"] = x = slope * x + 1.0

    def derivative(x):
        guarded()
        return slope
    return module.backprop(steps, values, {"step": [derivative]}, f"z{lines}")["x"]
