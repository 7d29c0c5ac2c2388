"""Bugs planted in the solution: (what, text, its replacement, the parts that it loses)."""
GO = "dead lines go, the others stay"
CHAINS = "what dead lines alone read is dead"
SEVERAL = "several registers are wanted, and an input"
ALIKE = "alike lines are computed once"
TYPE = "a literal has a type"
LOOKALIKES = "literals that look alike"
ORDER = "the order of arguments"
KEPT = "wanted registers keep their names"
FEW = "as few buffers as can be"
TO_THE_END = "wanted values live to the end"
UNREAD = "a value that nobody reads"

IN_PLACE = "in place, where that is allowed"

BACKWARD = """    needed, live = set(keep), []
    for dst, op, args in reversed(steps):
        if dst in needed:
            live.append((dst, op, args))
            needed.update(a for a in args if isinstance(a, str))
    return live[::-1]"""
RECURSION = """    lines, needed = {line[0]: line for line in steps}, set()

    def need(name):
        if name in lines and name not in needed:
            needed.add(name)
            for a in lines[name][2]:
                if isinstance(a, str):
                    need(a)
    for name in keep:
        need(name)
    return [line for line in steps if line[0] in needed]"""
KEY = "(type(a).__name__, repr(a)) for a in args]"
REPLACED = """        args = tuple(known.get(a, a) if isinstance(a, str) else a for a in args)
        same = [("register", a) if isinstance(a, str) else (type(a).__name__, repr(a)) for a in args]"""
COMPARED = """        was, args = args, tuple(known.get(a, a) if isinstance(a, str) else a for a in args)
        same = [("register", a) if isinstance(a, str) else (type(a).__name__, repr(a)) for a in was]"""
CONSTANT = """args = tuple(values.get(a, a) if isinstance(a, str) else a for a in args)
        if not any(isinstance(a, str) for a in args):"""
LITERAL = """was, args = args, tuple(values.get(a, a) if isinstance(a, str) else a for a in args)
        if not any(isinstance(a, str) for a in was):"""
JOIN = """    return "\\n".join(lines)"""
CALL = "values[dst] = G[op](*args)"
ENDING = "        if op not in inplace:\n            free += [buffers[a] for a in ending]"
LAST = "last.update((a, k) for a in args if isinstance(a, str))"

MUTANTS = [
    ("every line counts as read", "            needed.update(a for a in args if isinstance(a, str))",
     "        needed.update(a for a in args if isinstance(a, str))", CHAINS),
    ("one wanted register is enough", "set(keep), []", "{keep[0]}, []", SEVERAL),
    ("the lines come in reverse", "    return live[::-1]", "    return live",
     (GO, CHAINS, SEVERAL, "a long list", "the list that was given stays as it is")),
    ("a wanted input is an error", "    needed, live = set(keep), []",
     "    assert {*keep} <= {dst for dst, _, _ in steps}\n    needed, live = set(keep), []", SEVERAL),
    ("recursion, which has an end", BACKWARD, RECURSION, "a long list"),
    ("the list that was given is used up", "    return live[::-1]", "    steps[:] = live\n    return live[::-1]",
     "the list that was given stays as it is"),
    ("lines are compared before names are replaced", REPLACED, COMPARED, (ALIKE, KEPT)),
    ("1, 1.0 and True are one key", KEY, '("literal", a) for a in args]', (TYPE, LOOKALIKES)),
    ("0.0 and -0.0 are one key", KEY, "(type(a).__name__, a) for a in args]", LOOKALIKES),
    ("all operators are commutative", "sorted(same) if op in commutative else same", "sorted(same)", ORDER),
    ("sums are commutative, whatever is said", "if op in commutative else same",
     "if op in ('add', *commutative) else same", ORDER),
    ("no operator is commutative", "sorted(same) if op in commutative else same", "same", ORDER),
    ("a wanted line is dropped", "if dst not in known or dst in keep:", "if dst not in known:", KEPT),
    ("readers of a wanted line go on reading it", "if key in first:", "if key in first and dst not in keep:", KEPT),
    ("values are floats", CALL, "values[dst] = float(G[op](*args))", "a value keeps its type"),
    ("a line without arguments is not known", "        if not any(isinstance(a, str) for a in args):",
     "        if args and not any(isinstance(a, str) for a in args):", "a line without arguments is constant"),
    ("an operator that G lacks is an error", "except Exception:", "except (ArithmeticError, ValueError):",
     "an operator that fails is left where it is"),
    ("errors of numbers and of the table alone", "except Exception:", "except (ArithmeticError, LookupError, ValueError):",
     "an operator that fails is left where it is"),
    ("who reads a wanted constant reads its register", CALL, "value = G[op](*args)\n                if dst not in keep:\n"
     "                    values[dst] = value", "a wanted constant stays a line"),
    ("a failure is not a number", "                pass", "                values[dst] = math.nan",
     "an operator that fails is left where it is"),
    ("a wanted constant is dropped", "if dst not in values or dst in keep:", "if dst not in values:",
     "a wanted constant stays a line"),
    ("constants do not make others constant", CONSTANT, LITERAL, "constant lines are computed"),
    ("every constant is computed twice", CALL, f"G[op](*args)\n                {CALL}", "no constant is computed twice"),
    ("buffers are numbered from 1", "free, count = {}, [], 0", "free, count = {}, [], 1",
     (FEW, TO_THE_END, UNREAD, IN_PLACE)),
    ("inputs have buffers", "    buffers, free, count = {}, [], 0\n", "    buffers, free, count = {}, [], 0\n"
     "    for a in {a for _, _, args in steps for a in args if isinstance(a, str)} - {dst for dst, _, _ in steps}:\n"
     "        buffers[a], count = count, count + 1\n", (FEW, UNREAD, IN_PLACE)),
    ("no buffer is ever free", ENDING, "", FEW),
    ("the last reader is forgotten", LAST, "last.update((a, k) for a in args[:1] if isinstance(a, str))", (FEW, IN_PLACE)),
    ("wanted values die", "last.update((name, len(steps)) for name in keep)", "pass", TO_THE_END),
    ("what nobody reads lives forever", "        if last[dst] == k:\n            free.append(buffers[dst])\n", "", UNREAD),
    ("always in place", "        if op in inplace:", "        if True:", FEW),
    ("all in place where one may", "        if op in inplace:", "        if inplace:", IN_PLACE),
    ("never in place", "free, count = {}, [], 0", "free, count, inplace = {}, [], 0, ()", IN_PLACE),
    ("the function is always f", 'f"def {name}(', 'f"def f(', "what is returned"),
    ("a truth value is a number", '        return f"({a!r})"', '        return f"({a + 0 if isinstance(a, bool) else a!r})"',
     "literals"),
    ("negative literals are bare", 'return f"({a!r})"', 'return f"{a!r}"', "literals"),
    ("inf is a name", "if isinstance(a, float) and not math.isfinite(a):", "if False:", "literals"),
    ("infinity is a number", """return f"float('{a}')\"""", """return f"float('{a}')" if a != a else "(5.0)\"""",
     "literals"),
    ("registers keep their names in the text", 'return f"{a}_"', 'return f"{a}"', "names that stand in the text"),
    ("two names become one", 'return f"{a}_"', 'return f"{a.strip(chr(95))}_"', "names that stand in the text"),
    ("arguments in the order of the alphabet", "{', '.join(map(written, inputs))}", "{', '.join(map(written, sorted(inputs)))}",
     "the function computes the list"),
    ("each line is computed twice", JOIN, f"    lines[1:1] = lines[1:-1]\n{JOIN}",
     "each line is computed once"),
    ("the last output only", "for y in outputs)})", "for y in outputs[-1:])})", "what is returned"),
    ("one output is no tuple", "({''.join(f'{written(y)}, ' for y in outputs)})", "{', '.join(map(written, outputs))}",
     "what is returned"),
    ("the list of sub-expressions is used up", "    return short\n    # end of task 2",
     "    steps[:] = short\n    return short\n    # end of task 2", KEPT),
    ("the list of constants is used up", "    return short\n    # end of task 3",
     "    steps[:] = short\n    return short\n    # end of task 3", "a wanted constant stays a line"),
]
