"""How an answer about a list is compared: at the first line, or backwards at the first delta, that is off."""
import re
from contextlib import suppress

import numpy as np

from xman.grade import Wrong, expect, expect_mapping, expect_that, given
from xman.grade.compare import listing

from .lists import DG, G
from .public.checks import looked_up
from .solution import wengert as reference


def evaluated(student, steps, inputs, values, table=G, look=None, tables="make_G()"):
    """Wrong unless eval gives these values."""
    with given(f"eval({steps}, {inputs}, {tables})"):
        with looked_up("A string among the arguments names a register; what is no string is a number itself."):
            got = student.eval(steps, inputs, table)
        expect_that(got is None or isinstance(got, dict), "a dictionary of the values of all registers", got,
                    "The notes return the last value; here all are wanted, with the inputs, as backprop needs them.")
        expect_mapping(got, inputs, "the dictionary that eval returns", "The inputs are in the result too, unchanged.")
        expect_mapping(got, values, "the dictionary that eval returns")
        for name in inputs:
            expect(got[name], values[name], f"the value of the input {name}", "The inputs are in the result too, unchanged.")
        for line in steps:
            expect(got[line[0]], values[line[0]], f"the value of {line[0]}, from the line {listing([line])}",
                   look or "All lines before it are right. Which values do its arguments have, and which function is called?")


def differentiated(student, steps, inputs, f=None, table=DG, look=None, only=None):
    """Wrong unless backprop gives the reference's deltas, those of the names in `only` if that is given."""
    values, f = reference.eval(steps, inputs, G), f or steps[-1][0]
    want = reference.backprop(steps, values, table, f)
    call = f"backprop(steps, eval(steps, inputs, make_G()), make_DG(), {f!r}) with inputs = {inputs} and steps = {steps}"
    with given(call):
        with looked_up("Every name in values has a delta from the start; a number among the arguments has none."):
            got = student.backprop(steps, values, table, f)
        expect_deltas(got, steps, {name: want[name] for name in only or want}, f, look, (values, table))


# what is done, when one of `sent`'s settings is as here
SLIPS = {"The list is stepped through from its first line: the last comes first.": {"order": iter},
         "A partial is taken at the values of its line's arguments, and not at the value of its register.": {"at": "result"},
         "What a line sends back is its own delta times the partial: the delta is left out.": {"times": False},
         "A delta is the sum of all that is sent back: what comes later replaces here what came before.": {"sums": False},
         "The deltas begin at 0.0, but for that of f itself: what is sent back is added to them.": {"start": 1.0},
         "Each argument has a partial of its own: here all have the first.": {"first": True},
         "The derivative of f with respect to f itself is 1: here the last line begins with it.": {"seed": "last"}}


def sent(steps, values, table, f, order=reversed, at="arguments", times=True, sums=True, first=False, seed="f",
         start=0.0):
    """The deltas, as backprop gives them with these settings, one of which may be a slip."""
    deltas = dict.fromkeys(values, start)
    deltas[f if seed == "f" else steps[-1][0]] = 1.0
    for z, g, args in order(steps):
        if deltas[z]:
            inputs = [values[z] if at == "result" else values[a] if isinstance(a, str) else a for a in args]
            for i, a in enumerate(args):
                if isinstance(a, str):
                    part = table[g][0 if first else i](*inputs) * (deltas[z] if times else 1.0)
                    deltas[a] = deltas[a] * sums + part
    return deltas


def slip_of(got, steps, f, values, table):
    """The sentence of the slip that all of these deltas have; None if there is none, or if it can be several."""
    sentences = []
    for sentence, setting in SLIPS.items():
        with suppress(ArithmeticError, ValueError, KeyError, TypeError):
            deltas = sent(steps, values, table, f, **setting)
            if all(np.isclose(got[name], deltas[name], 1e-9, 1e-12) for name in deltas):
                sentences.append(sentence)
    return sentences[0] if len(sentences) == 1 else None


def expect_deltas(got, steps, deltas, f, look=None, at=None):
    """Wrong at the first register, from f backwards, whose delta is off. at: the values of the registers, and the table."""
    expect_mapping(got, deltas, "the dictionary that backprop returns")
    expect_that(all(isinstance(name, str) for name in got), "names of registers as keys, and nothing else",
                next((name for name in got if not isinstance(name, str)), None), "A number among the arguments has no delta.")
    slipped = slip_of(got, steps, f, *at) if at else None
    backwards = [f, *(z for z, _, _ in reversed(steps)), *deltas]
    for name in [name for name in dict.fromkeys(backwards) if name in deltas]:
        users = [line for line in steps for a in line[2] if a == name]
        where = listing(dict.fromkeys(users[:4]))
        hint = slipped or look or (
                        f"What is the derivative of {f} with respect to {f} itself?" if name == f else
                        f"No line reads {name}." if not users else
                        f"{name} is read once, in {where}: what does that line send back to it?" if len(users) == 1 else
                        f"{name} is read {len(users)} times, in {where}: its delta is the sum of what they all send back.")
        expect(got[name], deltas[name], f"the delta of {name}", hint)


def expect_kept(student, function, arguments, which, want, look):
    """Wrong unless the function gives what is wanted and leaves that argument as it is; arguments by name."""
    with given(f"{function}({', '.join(arguments)}) of the house"):
        got = student.frozen(function, *arguments.values(), look=look, places=[list(arguments).index(which)])
        expect_mapping(got, want, f"the dictionary that {function} returns")
        for name in want:
            expect(got[name], want[name], f"{name}, in the dictionary that {function} returns",
                   "Arguments that stay are worth something where the result is right.")


def expect_sentence(got, line, culprit, n):
    """Wrong unless the sentence names what is at fault; for half of the credit if it names something else of its line too."""
    z, g, args = line
    words = set(re.findall(r"\w+", got))
    expect_that(culprit in (got.lower() if culprit == "tuple" else words) and len(words) > 2,
                f"a sentence that says what is wrong in line {n}", got,
                "Say it so that one sees what to mend: name the operator or the register, or say that a tuple is wanted.")
    others = {z} if culprit == "tuple" else {z, g, *(a for a in args if isinstance(a, str))} - {culprit}
    for other in sorted(others & words):
        raise Wrong(f"a sentence that says what is wrong in line {n}, and names nothing else of the line", got,
                    f"{other} is not at fault: whoever reads it would look there.", credit=0.5)


def counted(table):
    """(the table with functions that note their calls, the list of the calls (g, arguments) or (g, i, arguments))."""
    calls = []

    def noting(function, *key):
        def noted(*args):
            calls.append((*key, args))
            return function(*args)
        return noted
    return {g: [noting(part, g, i) for i, part in enumerate(entry)] if isinstance(entry, list) else noting(entry, g)
            for g, entry in table.items()}, calls
