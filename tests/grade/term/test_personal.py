"""Facts about lists of one's own: each student has another, the same each time, and its key."""

import re

import numpy as np
import pytest
from small import OWN, write_assignment

from xman.grade import Wrong, load_assignment
from xman.grade.term.personal import LARGE, deltas_by_hand, drawn_list, sheets
from xman.grade.term.roster import Student
from xman.interpreters import eval

TERM = "a secret of the term"


@pytest.fixture
def assignment(tmp_path):
    write_assignment(tmp_path / "one", OWN)
    return load_assignment(tmp_path / "one")


@pytest.mark.parametrize("lines, inputs", [(1, 1), (1, 2), (3, 2), (5, 3), (8, 4)])
def test_a_list_is_for_pencil_and_paper_and_each_register_is_used(lines, inputs):
    for seed in range(50):
        steps, values = drawn_list(np.random.default_rng(seed), lines, inputs)
        numbers = eval(steps, values)
        assert len(steps) == lines and steps[-1][0] == "f" and len(values) == inputs
        assert {a for _, _, args in steps for a in args} == numbers.keys() - {"f"}
        assert max(map(abs, [*numbers.values(), *deltas_by_hand(steps, values).values()])) <= LARGE


def test_deltas_are_those_of_a_difference_quotient():
    steps, values = drawn_list(np.random.default_rng(3))
    for name in values:
        up, down = (eval(steps, {**values, name: values[name] + h})["f"] for h in (1e-4, -1e-4))
        assert deltas_by_hand(steps, values)[name] == pytest.approx((up - down) / 2e-4, rel=1e-6, abs=1e-6)


def test_a_list_depends_on_the_student_the_part_and_the_secret_alone(assignment):
    part, = assignment.drawn_parts
    lists = [str(part.drawn(term, module, student)[0]) for term in (TERM, TERM + "!") for module in ("one", "two")
             for student in ("Ada Lovelace", "Grace Hopper")]
    assert len(set(lists)) == len(lists) and lists[0] == str(part.drawn(TERM, "one", "Ada Lovelace")[0])
    with pytest.raises(Wrong, match="a student in the roster"):
        part.drawn(TERM, "one", "")


def test_sheets_have_the_lists_and_only_the_key_has_the_answers(assignment):
    names = ["Ada Lovelace", "Grace <b>Hopper</b>"]
    students = [Student(name, name) for name in names]
    blank, key = (sheets(assignment, TERM, students, answers) for answers in (False, True))
    for name in names:
        steps, values = assignment.drawn_parts[0].drawn(TERM, "one", name)
        assert all(str(steps) in page for page in (blank, key))
        for register, value in eval(steps, values).items():
            row = rf'<th scope="row">{register}</th><td>{{}}</td><td>{{}}</td>'
            delta = f"{deltas_by_hand(steps, values).get(register, 0.0):.6g}"
            assert re.search(row.format(re.escape(f"{value:.6g}"), re.escape(delta)), key)
            assert re.search(row.format(f"{value:.6g}" if register in values else "", ""), blank)
    assert "<b>" not in key and key.count("<svg") == blank.count("<svg") == 2 and "<script" not in key
