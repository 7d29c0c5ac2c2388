"""A compiler of Wengert lists: passes from lists to lists, a plan of buffers, and a function written as text.

A list is a Python list of lines (dst, op, args): the register dst is what the operator op gives for args, a tuple. In args a
string names a register; anything else is a literal: a number, True, None, or a tuple of numbers such as an axis or a shape. Each
register is assigned once, before it is used; what is used and never assigned is an input.

Of an operator you know its name, and that it gives the same for the same arguments. It may be any function: do not rely on x + y
being y + x, or on x - x being 0 (it is not where x is NaN). Lists that you are given stay as they are: return new ones.

You need the standard library only; NumPy is there too. The tasks do not depend on each other. Helper functions are welcome.
"""
import math


def dead_lines(steps, keep):
    """The list without its dead lines: those that no register in keep depends on. The others stay as they are, in their order.

    keep: the names of the registers that are wanted, a list. An input may be among them.
    """
    # task 1: dead lines
    needed, live = set(keep), []
    for dst, op, args in reversed(steps):
        if dst in needed:
            live.append((dst, op, args))
            needed.update(a for a in args if isinstance(a, str))
    return live[::-1]
    # end of task 1


def common_subexpressions(steps, keep, commutative=()):
    """The list in which each expression is computed once: of lines that are alike the first stays, and is read in place of all.

    Two lines are alike when they have the same operator and the same arguments, once the registers of lines that are alike are
    taken for one. Literals are the same when they have the same type and are written alike: 1, 1.0 and True are three, 0.0 and
    -0.0 are two. keep: names of registers that have to be assigned all the same, each by a line of its own: of z1 = mul(x, x)
    and f = mul(x, x), with f in keep, both lines stay. commutative: names of operators for which the order of the arguments
    does not matter.
    """
    # task 2: common sub-expressions
    first, known, short = {}, {}, []  # the register of each expression; the register to be read in the place of another
    for dst, op, args in steps:
        args = tuple(known.get(a, a) if isinstance(a, str) else a for a in args)
        same = [("register", a) if isinstance(a, str) else (type(a).__name__, repr(a)) for a in args]
        key = (op, *(sorted(same) if op in commutative else same))
        if key in first:
            known[dst] = first[key]
        else:
            first[key] = dst
        if dst not in known or dst in keep:
            short.append((dst, op, args))
    return short
    # end of task 2


def fold(steps, keep, G):
    """The list without the lines whose arguments are all literals: where such a line was read, there stands its value, a literal.

    That makes other lines constant in their turn. keep: names of registers that have to be assigned all the same: such a line
    stays, and those who read it get its value nevertheless. A line without arguments is constant too. G: the operators,
    G[op](*args), to be called once for a line; what one gives is a literal. Where one raises an error, whichever, or is not in
    G, its line stays and is read as before: perhaps nobody will ever evaluate it.
    """
    # task 3: constants
    values, short = {}, []
    for dst, op, args in steps:
        args = tuple(values.get(a, a) if isinstance(a, str) else a for a in args)
        if not any(isinstance(a, str) for a in args):
            try:
                values[dst] = G[op](*args)
            except Exception:
                pass  # it has no value now: the line stays, and raises when it is run
        if dst not in values or dst in keep:
            short.append((dst, op, args))
    return short
    # end of task 3


def plan(steps, keep, inplace=()):
    """A buffer for each line: {dst: number of its buffer}, the numbers being 0, 1, 2, …, and as few of them as can be.

    A value is alive from the line that computes it to the last line that reads it; one that is in keep is alive to the end of
    the list, one that nobody reads in its own line only. Two values that are alive in the same line have two buffers, also the
    result of a line and the arguments that it is computed from; but where op is in inplace, the result may take the buffer of an
    argument that no later line reads. All values have the same size. Inputs are the caller's and have no buffer.
    """
    # task 4: buffers
    last = {}
    for k, (dst, _, args) in enumerate(steps):
        last[dst] = k
        last.update((a, k) for a in args if isinstance(a, str))
    last.update((name, len(steps)) for name in keep)
    buffers, free, count = {}, [], 0
    for k, (dst, op, args) in enumerate(steps):
        ending = dict.fromkeys(a for a in args if isinstance(a, str) and a in buffers and last[a] == k)
        if op in inplace:
            free += [buffers[a] for a in ending]
        if free:
            buffers[dst] = free.pop()
        else:
            buffers[dst], count = count, count + 1
        if op not in inplace:
            free += [buffers[a] for a in ending]
        if last[dst] == k:
            free.append(buffers[dst])
    return buffers
    # end of task 4


def source(steps, inputs, outputs, text, name="f"):
    """The text of a Python function of that name, which computes the list: its arguments are the inputs, it returns a tuple.

    inputs: names, in the order of the arguments. outputs: the names of the registers or inputs that it returns, in order; a
    single one is returned as a tuple too. text: how an operator is written: where text["add"] is "{0} + {1}",
    text["add"].format("x", "y") is "x + y". Each line is computed once. A register may have any name that Python allows, also
    one that stands in text, such as np: what the function calls it is up to you. The text may use other names besides np, and
    Python's own such as float; you may use these too. A literal is the same number in the text, with its type and its sign,
    whatever is written around it.
    """
    # task 5: source
    def written(a):
        if isinstance(a, str):
            return f"{a}_"  # no name of text or of Python
        if isinstance(a, tuple):
            return f"({''.join(f'{written(item)}, ' for item in a)})"
        if isinstance(a, float) and not math.isfinite(a):
            return f"float('{a}')"
        return f"({a!r})"

    lines = [f"def {name}({', '.join(map(written, inputs))}):"]
    for dst, op, args in steps:
        lines.append(f"    {written(dst)} = {text[op].format(*map(written, args))}")
    lines.append(f"    return ({''.join(f'{written(y)}, ' for y in outputs)})")
    return "\n".join(lines) + "\n"
    # end of task 5


EXAMPLE = [
    ("z1", "mul", ("x", "x")),
    ("z2", "sin", ("y",)),
    ("z3", "mul", ("x", "x")),
    ("z4", "add", (2.0, 3.0)),
    ("z5", "mul", ("z3", "z4")),
    ("f", "add", ("z1", "z5")),
]


if __name__ == "__main__":
    G = {"add": lambda x, y: x + y, "mul": lambda x, y: x * y, "sin": math.sin}
    text = {"add": "{0} + {1}", "mul": "{0} * {1}", "sin": "np.sin({0})"}
    steps = EXAMPLE
    for what, pass_ in [("as it is", lambda steps: steps), ("without dead lines", lambda steps: dead_lines(steps, ["f"])),
                        ("each expression once", lambda steps: common_subexpressions(steps, ["f"])),
                        ("constants computed", lambda steps: fold(steps, ["f"], G))]:
        steps = pass_(steps)
        print(f"{what}:", *(f"  {dst} = {op}({', '.join(map(str, args))})" for dst, op, args in steps), sep="\n")
    print("buffers:", plan(steps, ["f"], ["add", "mul"]), "", source(steps, ["x"], ["f"], text), sep="\n")
