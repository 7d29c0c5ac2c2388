"""Facts about likeness: what is copied is found in any disguise, what everybody has is not."""

import re

import pytest

from xman.grade.term import similar
from xman.grade.term.similar import fingerprints, program_runs

PROGRAM = '''
def backprop(steps, values, DG, f):
    """The deltas of all registers."""
    deltas = {f: 1.0}
    for dst, op, args in reversed(steps):
        for k, a in enumerate(args):
            if isinstance(a, str) and dst in deltas:
                share = DG[op][k](deltas[dst], values[dst], *[values.get(x, x) for x in args])
                deltas[a] = deltas.get(a, 0) + share
    return deltas
'''
OTHER = '''
def backprop(steps, values, DG, f):
    out = dict.fromkeys(values, 0)
    out[f] = 1
    for line in steps[::-1]:
        name, op, names = line
        rules = DG[op]
        inputs = [values[n] if n in values else n for n in names]
        for n, rule in zip(names, rules):
            if n in out:
                out[n] += rule(out[name], values[name], *inputs)
    return out
'''
def similar_pairs(sources, handed_out=(), least=0.5):
    return similar.similar_pairs(sources, handed_out, least)


DISGUISES = {
    "nothing": lambda text: text, "names": lambda text: re.sub(r"\b(deltas|steps|share|args)\b", r"my_\1", text),
    "numbers": lambda text: text.replace("1.0", "1.5").replace(", 0)", ", 0.25)"),
    "comments": lambda text: re.sub("(?m)$", "  # so", text.replace("The deltas", "My deltas")),
    "layout": lambda text: text.replace(", *[", ",\n            *[").replace("    ", "  "),
    "types": lambda text: text.replace("values, DG, f)", "values: dict, DG: dict, f: str) -> dict"),
    "code before": lambda text: "import math\n\n\ndef helper(x):\n    return math.sqrt(x) + 1\n" + text,
    "code behind": lambda text: text + "\n\nclass Unused:\n    def method(self):\n        return [self] * 3\n"}


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_copy_is_found_in_disguise(disguise):
    pair, = similar_pairs({"ada": PROGRAM, "bob": DISGUISES[disguise](PROGRAM), "cleo": OTHER})
    assert (pair.one, pair.two) == ("ada", "bob") and pair.share > 0.8
    lines = PROGRAM.splitlines()
    assert sum("deltas" in lines[k - 1] for k in pair.lines_of_one) >= 4


def test_what_was_handed_out_or_is_everybodys_or_ones_own_does_not_count():
    two = {"ada": PROGRAM, "bob": DISGUISES["names"](PROGRAM)}
    assert similar_pairs(two) and not similar_pairs(two, [PROGRAM])
    assert similar_pairs({**two, **{f"s{k}": f"x = {k}\n" + OTHER for k in range(9)}})[0][:2] == ("ada", "bob")
    assert not similar_pairs({f"s{k}": f"x = {k}\n" + OTHER for k in range(9)})
    assert not similar_pairs({"ada": PROGRAM, "bob": PROGRAM}, [PROGRAM])


def test_equal_files_come_first_though_they_are_short_or_no_program():
    found = similar_pairs({"ada": "x = (", "bob": "x = (", "cleo": PROGRAM, "dan": DISGUISES["names"](PROGRAM), "eve": "y = 1"})
    assert [pair[:3] for pair in found] == [("ada", "bob", 1.0), ("cleo", "dan", 1.0)]


def test_a_program_that_is_made_to_break_the_parser_has_no_fingerprints():
    for source in ("(" * 10_000, "-" * 100_000 + "1", "x = \0", "a." * 50_000 + "a"):
        assert fingerprints(source) == {} and program_runs(source) == []
