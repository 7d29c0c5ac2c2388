"""What is asked of a submission beyond calling its functions: does it manage a long list?"""
import math
import time

GUARD = 4.0  # seconds of processor time; a thousandth is enough, and a task that is stopped here keeps its other parts


def value(module, g, *args):
    """The value of the operator g, from the submission's table."""
    return module.make_G()[g](*args)


def partial(module, g, i, *args):
    """The derivative of g with respect to its argument i, from the submission's table. TypeError for a rule in its place."""
    entry = module.make_DG()[g][i]
    if needed(entry) == len(args) + 2:
        raise TypeError(f"make_DG()[{g!r}][{i}] takes two arguments more than {g}, which makes it a rule of (delta, out, …), as "
                        "xman's own DG has them; wanted is the partial, of the arguments alone: backprop multiplies by delta")
    return entry(*args)


def needed(function):
    """How many arguments a function of Python needs; 0 for others."""
    code = getattr(function, "__code__", None)
    return code.co_argcount - len(function.__defaults__ or ()) if code else 0


def one_by_one(name, g, lengths, function):
    """The function of a table, which tells whoever calls it with anything but the arguments of a line of g."""
    def called(*args):
        if len(args) == 1 and isinstance(args[0], (list, tuple)):
            raise TypeError(f"{name} was called with one {type(args[0]).__name__} in place of the arguments: "
                            f"write {name}(*…), with a star")
        if len(args) - 2 in lengths and len(args) not in lengths:
            raise TypeError(f"{name} was called with two arguments more than {g} has, as a rule of (delta, out, …); "
                            "it is a partial, of the arguments alone: multiply what it gives by delta")
        if lengths and len(args) not in lengths:
            raise TypeError(f"{name} was called with {len(args)} of the arguments of {g}: it takes all {max(lengths)} of a line")
        return function(*args)
    return called


def lengths_of(steps, g):
    """The numbers of arguments of g in the lines of a list."""
    return {len(args) for _, op, args in steps if op == g}


def eval(module, steps, values, G):
    """What the submission's eval gives back. TypeError where it calls a function of G with a list."""
    return module.eval(steps, values, {g: one_by_one(f"G[{g!r}]", g, lengths_of(steps, g), G[g]) for g in G})


def backprop(module, steps, values, DG, f):
    """What the submission's backprop gives back. TypeError where a partial is called as it cannot be."""
    return module.backprop(steps, values, {g: [one_by_one(f"DG[{g!r}][{i}]", g, lengths_of(steps, g), entry)
                                               for i, entry in enumerate(DG[g])] for g in DG}, f)


def steps_of(order):
    """The chain z1 = step…(x), z2 = step…(z1), …: line k has the operator step<order[k]>."""
    return [(f"z{k}", f"step{n}", (f"z{k - 1}" if k > 1 else "x",)) for k, n in enumerate(order, 1)]


def guarded(lines, functions):
    """The functions, which stop where all their calls together take too long."""
    calls, start = [0], time.process_time()

    def guard(function):
        def inner(x):
            calls[0] += 1
            if calls[0] % 100 == 0 and time.process_time() - start > GUARD:
                raise RuntimeError(f"stopped after {calls[0]:,} of {lines:,} lines: "
                                   "the work for each grows with the list's length")
            return function(x)
        return inner
    return [guard(function) for function in functions]


def eval_chain(module, order, sizes, x, asked):
    """The values of the registers that are asked for."""
    table = guarded(len(order), [lambda x, s=s: x + s * math.sin(x) for s in sizes])
    values = module.eval(steps_of(order), {"x": x}, {f"step{n}": step for n, step in enumerate(table)})
    return {name: values[name] for name in asked}


def backprop_chain(module, order, sizes, x, asked):
    """The deltas of the names that are asked for."""
    values = {"x": x}
    for k, n in enumerate(order, 1):
        values[f"z{k}"] = x = x + sizes[n] * math.sin(x)
    table = guarded(len(order), [lambda x, s=s: 1 + s * math.cos(x) for s in sizes])
    deltas = module.backprop(steps_of(order), values, {f"step{n}": [slope] for n, slope in enumerate(table)}, f"z{len(order)}")
    return {name: deltas[name] for name in asked}
