"""Whose a submission is, while it is graded: for lists of one's own, and to judge a student's work again."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ...errors import XManError, nearest
from ..submissions import Submission
from .hand_in import HandIn, hand_in_of
from .settings import Term


def owned(submissions: list[Submission], exported: Mapping[str, HandIn], term: Term) -> list[Submission]:
    """The submissions with the key of their student, or the group of several; "" where it is not known."""
    owners = {}
    for each in submissions:
        hand_in = exported.get(each.slug) or hand_in_of(each.path.name, term.zone)
        students = [term.roster.identified(words) for words in hand_in.who] if term.roster else [[]]
        owner = students[0][0] if students and all(len(several) == 1 for several in students) else None
        owners[each.slug] = "" if not owner else owner.key if len(students) == 1 else owner.group
    return [replace(each, student=owners[each.slug]) for each in submissions]


def slugs_of(names: Iterable[str], submissions: list[Submission], term: Term) -> set[str]:
    """The slugs of the submissions that are named: by themselves, their files, or students of the roster."""
    words = {each.slug: {each.name, each.path.name, each.slug, each.student} - {""} for each in submissions}
    slugs = set()
    for name in names:
        keys = {name} | {each.key for each in (term.roster.identified([name]) if term.roster else ())}
        if not (matches := {slug for slug in words if words[slug] & keys}):
            near = nearest(name, sorted(set().union(*words.values())))
            raise XManError(f"--again {name}: no submission here has this name{near}")
        slugs |= matches
    return slugs
