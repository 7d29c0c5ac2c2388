"""Tasks 1 to 3: passes from lists to lists."""
from collections import Counter

from xman.grade import expect_that, given

from ..public.checks import G, common, constants, dead, expect_same
from ..solution import compiler as reference
from .lists import INPUTS, constant_chain, disguised, doubled, insert, live_list, number, renamed, with_literals, woven

NEW = "Make a new list, while the old one stays as it is."

# ---- 1: dead lines ----------------------------------------------------------------------------------------------------


def few_lines(student, steps, keep, look):
    with given(steps, look, keep=keep):
        most = len(reference.dead_lines(steps, keep))
        expect_same(student.dead_lines(steps, keep), steps, keep, most, look, "The lines that are needed stay, in their order.")


@dead.part("dead lines go, the others stay", 6, cases=["one", "three"])
def lines_go(student, rng, name):
    for _ in range(3):
        steps = live_list(rng, 6)
        known = [*INPUTS, *(dst for dst, _, _ in steps)]
        extra = [(f"d{k}", "mul", tuple(str(a) for a in rng.choice(known, 2))) for k in range(1 if name == "one" else 3)]
        few_lines(student, renamed(rng, insert(rng, steps, extra), ["f"]), ["f"],
                  "A line that no line reads, and that is not in keep, is dead.")


@dead.part("what dead lines alone read is dead", 4)
def chains(student, rng):
    for _ in range(3):
        chain = [(f"d{k}", "sin", (f"d{k - 1}" if k else str(rng.choice(INPUTS)),)) for k in range(4)]
        few_lines(student, renamed(rng, woven(rng, live_list(rng, 5), chain), ["f"]), ["f"],
                  "When a dead line goes, what it read may have no reader left. In which direction do you step through the list?")


@dead.part("several registers are wanted, and an input", 4)
def several(student, rng):
    for _ in range(3):
        steps = insert(rng, woven(rng, live_list(rng, 4), live_list(rng, 3, last="g")), [("d", "sin", ("x",))])
        keep = [str(name) for name in rng.permutation(["f", "g", "y", "f1"])]
        few_lines(student, renamed(rng, steps, keep), keep, "What is needed? All that is in keep, and all that those lines read.")


@dead.part("the list that was given stays as it is", 2, hidden=True)
def untouched(student, rng):
    steps = insert(rng, live_list(rng, 5), [("d", "sin", ("x",))])
    with given(steps, keep=["f"]):
        expect_same(student.frozen("dead_lines", steps, ["f"], look=NEW), steps, ["f"], len(steps) - 1, "One line is dead.")


@dead.part("a long list", 2, hidden=True)
def long(student, rng):
    """A chain of thousands: deeper than Python calls functions within functions."""
    lines = int(rng.integers(3000, 4000))
    steps = [(f"z{k}", "sin", (f"z{k - 1}" if k else "x",)) for k in range(lines)]
    few_lines(student, insert(rng, steps, [("d", "sin", ("x",))]), [f"z{lines - 1}"], "One line is dead.")


# ---- 2: common sub-expressions ----------------------------------------------------------------------------------------

def shared(student, steps, keep, look, more="Who reads a line that is gone has to read the one that stands for it.", **told):
    with given(steps, more, keep=keep, **told):
        commutative = told.get("commutative", ())
        most = len(reference.common_subexpressions(steps, keep, commutative))
        got = student.frozen("common_subexpressions", steps, keep, *told.values(), look=NEW, places=[0] * (len(keep) > 1))
        expect_same(got, steps, keep, most, look, more, commutative=commutative)


@common.part("alike lines are computed once", 8, cases=["one line", "lines that are alike once others are"])
def alike(student, rng, name):
    for _ in range(3):
        steps = doubled(rng, live_list(rng, 6), 1 if name == "one line" else 6)
        shared(student, renamed(rng, steps, ["f"]), ["f"],
               "sin(z1) and sin(z2) are alike, too, where z1 and z2 are: put in the names that stay, then compare.")


@common.part("a literal has a type", 4)
def numbers(student, rng):
    n = int(rng.integers(2, 9))
    shared(student, with_literals(rng, "power", [n, n, float(n), n + 1]), ["f"], "The lines with the same literal are alike.",
           f"In Python {n} == {float(n)}, and they are one key of a dict; but they are two literals.")


@common.part("literals that look alike", 4, hidden=True, cases=["a truth value", "a sign", "a shape"])
def lookalikes(student, rng, name):
    literals = {"a truth value": [1, True, True, 1.0], "a sign": [0.0, -0.0, -0.0, 0],
                "a shape": [(1, 2), (1, 2), (1.0, 2), (True, 2)]}
    shared(student, with_literals(rng, "getitem", literals[name]), ["f"], "The lines with the same literal are alike.",
           "Literals are the same when they have the same type and are written alike.")


@common.part("the order of arguments", 5, cases=["unknown", "commutative"])
def order(student, rng, name):
    for op in rng.permutation(["add", "mul", "dot", "maximum"])[:4 if name == "unknown" else 1]:
        in_order(student, rng, name, str(op))


def in_order(student, rng, name, op):
    c = number(rng)
    steps = renamed(rng, [
        ("a", op, ("x", "y")), ("b", op, ("y", "x")), ("c", "subtract", ("x", "y")), ("d", "subtract", ("y", "x")),
        ("p", op, (c, "w")), ("q", op, ("w", c)), ("r", "where", ("a", "b", "c")), ("s", "where", ("d", "p", "q")),
        ("e", op, ("x", "y")), ("t", "subtract", ("s", "e")), ("f", "subtract", ("r", "t"))], ["f"])
    if name == "unknown":
        shared(student, steps, ["f"], "Two lines are alike in all.",
               f"{op}(x, y) and {op}(y, x) are two: nobody said that they are one.")
    else:
        shared(student, steps, ["f"], f"For {op} the order of the arguments tells nothing; literals are among them.",
               "subtract is not among the operators that are commutative.", commutative=[op])


WANTED = {"two that are alike": ["a", "b", "g"], "one, and a temporary before it": ["b", "g"], "their readers": ["b", "g"]}


@common.part("wanted registers keep their names", 5, cases=list(WANTED))
def kept(student, rng, name):
    op = str(rng.choice(["sin", "tanh", "exp"]))
    steps = [("a", op, ("x",)), ("b", op, ("x",)), ("c", op, ("y",)), ("d", op, ("y",))]
    if name == "their readers":
        steps += [("p", "subtract", ("a", "c")), ("q", "subtract", ("b", "d")), ("g", "mul", ("p", "q"))]
    else:
        steps += [("r", "mul", ("b", "c")), ("g", "where", ("a", "d", "r"))]
    shared(student, renamed(rng, steps, WANTED[name]), WANTED[name],
           "A wanted register has a line of its own, also where an earlier one is alike; but its readers read the earlier one, "
           "and may be alike to others in their turn.", "A register in keep is assigned, whatever it is alike to.")


# ---- 3: constants -----------------------------------------------------------------------------------------------------

def folded(student, rng, steps, keep, look, more=None, most=None, table=G):
    """How often each operator was called. most: lines, None for as few as can be."""
    asked, without_star = Counter(), []
    steps, own = disguised(rng, steps, table)

    def counted(op):
        def value(*args):
            asked[op] += 1
            if args and isinstance(args[0], (list, tuple)):
                without_star.append(op)
            return own[op](*args)
        return value
    with given(steps, more, keep=keep):
        loose, most = most, most or len(reference.fold(steps, keep, own))
        got = student.frozen("fold", steps, keep, {op: counted(op) for op in own}, look=NEW, places=[0] * (len(keep) > 1))
        expect_that(not without_star, "G[op](*args), a call with the arguments", "a call with one tuple of them",
                    "The star in G[op](*args): what a call without it raises looks like an operator that fails.")
        expect_same(got, steps, keep, most, look, more, G=own)
        constant = {dst for dst, _, _ in steps} - {dst for dst, _, _ in reference.fold(steps, [], own)}
        read = constant & {a for _, _, args in got for a in args if isinstance(a, str)}
        expect_that(loose or not read, "values in place of the registers that are known",
                    f"lines that read {', '.join(sorted(read))}",
                    "A constant that is wanted keeps its line, and who reads it gets its value nevertheless.")
    return asked


@constants.part("constant lines are computed", 5)
def computed(student, rng):
    for _ in range(3):
        folded(student, rng, constant_chain(rng), ["f"],
               "A line that reads constants and literals is constant itself: what is known when you come to it?",
               "Where a line is gone, its value stands as a literal.")


@constants.part("a line without arguments is constant", 1)
def no_arguments(student, rng):
    steps = renamed(rng, [("c", "one", ()), ("p", "mul", ("x", "c")), ("f", "add", ("p", "y"))], ["f"])
    folded(student, rng, steps, ["f"], "A line that reads no register is known when you come to it.",
           table={**G, "one": lambda: 1.5})


@constants.part("a value keeps its type", 4, cases=["whole numbers", "truth values", "a sign", "not a number"])
def types(student, rng, name):
    n, m = (int(k) for k in rng.integers(2, 9, 2))
    line = {"whole numbers": ("add", (n, m)), "truth values": ("mul", (True, n)), "a sign": ("mul", (-0.0, number(rng))),
            "not a number": ("subtract", (float("inf"), float("inf")))}[name]
    steps = renamed(rng, [("a", *line), ("p", "power", ("x", "a")), ("f", "add", ("p", "y"))], ["f"])
    folded(student, rng, steps, ["f"], "A line of literals only can be computed.",
           "Where a line is gone, its value stands as a literal, as G gave it: 6 and 6.0 are two.")


@constants.part("an operator that fails is left where it is", 3, cases=["divide", "sqrt", "tanh, which G lacks",
                                                                           "choose, which raises an error of its own"])
def fails(student, rng, op):
    op = op.partition(",")[0]
    steps = renamed(rng, [
        ("a", op, (number(rng), 0.0) if op == "divide" else (-number(rng),)), ("b", "add", ("a", 1.0)),
        ("c", "mul", (number(rng), 2.0)), ("p", "mul", ("x", "c")), ("f", "add", ("p", "b"))], ["f"])
    def choose(x):
        raise NotImplementedError("nobody has chosen")
    folded(student, rng, steps, ["f"], "One line can be computed, and goes.",
           "The line that fails stays, and so does what reads it: it is not constant.", table={**G, "choose": choose})


@constants.part("a wanted constant stays a line", 3)
def wanted(student, rng):
    steps = [("a", "add", (number(rng), number(rng))), ("c", "divide", (number(rng), number(rng))), ("p", "mul", ("x", "a")),
             ("f", "mul", ("p", "c"))]
    steps.insert(int(rng.integers(5)), ("b", "sqrt", (number(rng),)))
    folded(student, rng, renamed(rng, steps, ["f", "a", "b"]), ["f", "a", "b"], "One line is constant, and not wanted.",
           "Each register in keep is assigned by a line.")


@constants.part("no constant is computed twice", 2)
def economy(student, rng):
    steps = constant_chain(rng)
    asked = folded(student, rng, steps, ["f"], "Some are constant.", "Where a line is gone, its value stands as a literal.",
                   len(steps) - 1)
    lines = len(steps) - len(reference.fold(steps, ["f"], G))
    with given(steps, keep=["f"]):
        expect_that(sum(asked.values()) <= lines, f"{lines} calls, one for each line that goes",
                    f"{sum(asked.values())} calls: {dict(asked)}", "Ask when all arguments are literals, and keep the value.")
