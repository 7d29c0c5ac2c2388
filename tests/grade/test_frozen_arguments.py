"""Arguments that have to stay: whoever changes one gets an error there, and every way to copy one gives a thing of one's own."""
import copy
import json

import numpy as np
import pytest

from xman.grade import Failed
from xman.grade.sandbox import Limits, sandbox_here
from xman.grade.sandbox.inside import plain
from xman.grade.session import Session, Student

STEPS, VALUES, X = [("z1", "mul", ("h", "w")), ("f", "half", ("z1",))], {"h": 3.0, "x": [1.0, 2.0]}, np.arange(6.0).reshape(2, 3)
CHANGES = {
    "a list": (STEPS, ["x.append(1)", "x.extend([1])", "x.insert(0, 1)", "x.pop()", "x.remove(x[0])", "x.clear()", "x.sort()",
                       "x.reverse()", "x[0] = 1", "x[:] = []", "del x[0]", "x += [1]", "x *= 2"]),
    "a dict": (VALUES, ["x['h'] = 1", "x.update(h=1)", "x.pop('h')", "x.popitem()", "x.clear()", "x.setdefault('k', 1)",
                        "del x['h']", "x |= {'h': 1}", "x['x'].append(3)"]),
    "an array": (X, ["x[0] = 1", "x += 1", "x.sort()", "x.fill(0)", "x.setflags(write=True)", "x.T[0] = 1", "x.reshape(6)[0] = 1",
                     "np.add(x, 1, out=x)", "np.copyto(x, 0)", "x.put(0, 1)",
                     "np.random.default_rng(0).shuffle(x)"]),
    "no numbers": (np.zeros((0, 3)), ["x.setflags(write=True)"])}
COPIES = {"a list": "list(x) / x[:] / x[::-1] / x + [] / x.copy() / copy.copy(x) / copy.deepcopy(x) / "
                    "[*x] / sorted(x) / json.loads(json.dumps(x))",
          "a dict": "dict(x) / {**x} / x | {} / x.copy() / copy.copy(x) / copy.deepcopy(x) / "
                    "dict.fromkeys(x, 0.0) / json.loads(json.dumps(x))",
          "an array": "x.copy() / np.array(x) / x + 0 / copy.deepcopy(x) / np.sort(x) / x[[0, 1]]", "no numbers": "x.copy()"}
names = {"copy": copy, "json": json, "np": np}


@pytest.mark.parametrize("kind, change", [(kind, change) for kind, (_, changes) in CHANGES.items() for change in changes])
def test_what_has_to_stay_refuses_each_change(kind, change):
    before = CHANGES[kind][0]
    x = plain.frozen(copy.deepcopy(before))
    with pytest.raises((TypeError, ValueError)):
        exec(change, {**names, "x": x})
    assert repr(x) == repr(before)


@pytest.mark.parametrize("kind", COPIES)
def test_what_has_to_stay_reads_like_any_other_and_its_copies_can_be_changed(kind):
    before = CHANGES[kind][0]
    x = plain.frozen(before)
    assert isinstance(x, type(before)) and plain.encoded(x) == plain.encoded(before)
    for way in COPIES[kind].split(" / "):
        mine = eval(way, {**names, "x": x})
        if isinstance(mine, list):
            mine.append(1)
        elif isinstance(mine, dict):
            mine["new"] = 1
        else:
            mine[...] = 1
    assert repr(x) == repr(before)


def test_the_error_names_the_line_that_changes_an_argument(tmp_path):
    program = b"def last(x, y):\n    y.append(1)\n    return x.pop()\n"
    with Session(sandbox_here(unsafe=True), program, "mine", ["numpy"], Limits(cpu_seconds=5)) as session:
        session.load(1)
        student = Student(session)
        assert student.last([1, 2], []) == student.frozen("last", [1, 2], [], places=[]) == 2
        with pytest.raises(Failed) as failed:
            student.frozen("last", [1, 2], [], places=[0])
        assert failed.value.came_back.startswith("mine.py:3, `return x.pop()`: TypeError: a list is changed that belongs to")
