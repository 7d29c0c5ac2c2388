"""jit: whatever a function reads, and wherever it finds that, a change of it changes the next call.

The cases are a product: objects that hold a number (with a way to read it and a way to change it), the routes by
which a function comes to the object, and what is compiled. All are run with XMAN_ALL_CASES, a drawn sample else.
"""
from __future__ import annotations

import copyreg
import decimal
import functools
import itertools
import json
import math
import os
import random
import sys
import threading
import types

import numpy as np
import pytest
from objects_that_change import FOLDER, OBJECTS, ROOM, Always, Meta, Owned, Plain, made
from scipy import special

from xman import jit, value_and_grad


# name: from the object and its reader a function of x, and what sets another object in its place (None: nothing does)
def closure(box, read):
    def fn(x): return np.sum(x) * read(box)
    return fn


def default(box, read):
    def fn(x, b=box): return np.sum(x) * read(b)
    return fn


def keyword(box, read): return functools.partial(lambda x, b: np.sum(x) * read(b), b=box)
def positional(box, read): return functools.partial(lambda b, x: np.sum(x) * read(b), box)


def in_list(box, read):
    boxes = [None, box]
    return lambda x: np.sum(x) * read(boxes[len(boxes) - 1])


def in_dict(box, read):
    boxes = {"the box": box}
    return lambda x: np.sum(x) * read(boxes["the " + "box"])


def of_object(box, read):
    holder = made(Plain(), box=box)
    return lambda x: np.sum(x) * read(holder.box)


def of_method(box, read):
    class Model:
        def __init__(self): self.box = box
        def __call__(self, x): return np.sum(x) * self.factor()
        def factor(self): return read(self.box)
    return Model()


def of_class(box, read):
    class Model:
        boxes = (box,)
        @classmethod
        def at(cls, x): return np.sum(x) * read(cls.boxes[0])
    return Model.at


def of_module(box, read):
    room = made(types.ModuleType("holder"), box=box, read=read)
    return lambda x: np.sum(x) * room.read(room.box)


def by_computed_name(box, read):
    room = made(types.ModuleType("holder"), box=box)
    return lambda x: np.sum(x) * read(getattr(room, "b" + "OX".lower()))


def of_global(box, read):
    room = made(types.ModuleType("holder"), box=box, read=read)
    exec("import numpy as np\ndef fn(x): return np.sum(x) * read(box)", vars(room))
    return room.fn


def by_helper(box, read):
    def helper(): return read(box)
    def wrapped(*args): return helper(*args)
    return lambda x: sum(map(lambda y: y * wrapped(), x))


def in_comprehension(box, read): return lambda x: np.sum(np.stack([y * read(b) for b in [box] for y in x]))


def caught(box, read):
    def fn(x):
        try:
            return np.sum(x) * read(box)
        except LookupError:
            return np.sum(x)
    return fn


ROUTES = [closure, default, keyword, positional, in_list, in_dict, of_object, of_method, of_class, of_module, by_computed_name,
          of_global, by_helper, in_comprehension, caught]
CASES = [*itertools.product(OBJECTS, ROUTES, (False, True))]
if not os.environ.get("XMAN_ALL_CASES"):
    CASES = [(name, random.Random(name).choice(ROUTES), k % 2 == 0) for k, name in enumerate(OBJECTS)]


@pytest.mark.filterwarnings("ignore:jit.*runs as plain Python", "ignore::ResourceWarning", "ignore:.*matrix subclass")
@pytest.mark.parametrize(("name", "route", "gradient"), CASES, ids=[f"{name}-{route.__name__}-{g:d}" for name, route, g in CASES])
def test_a_change_of_what_is_read_changes_the_next_call(name, route, gradient, monkeypatch):
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    monkeypatch.setenv("XMAN_RATE", "2.0")
    monkeypatch.setenv("TZ", os.environ.get("TZ", "UTC"))
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setitem(sys.modules, "room_of_test", ROOM)
    for folder, key, value in ((Owned.stored, "rate", 2.0), (Always.stored, 0, 2.0)):
        folder[key] = value
    Meta.level = 2.0
    (FOLDER / "flag").unlink(missing_ok=True)
    limit, thread = sys.getrecursionlimit(), threading.current_thread().name
    make, read, change = OBJECTS[name]
    box = make()
    plain = route(box, read)
    plain = value_and_grad(plain) if gradient else plain
    fast, x = jit(plain, "numpy"), np.array([1.0, 2.0])
    try:
        with np.errstate(all="warn"), np.printoptions():
            before = [plain(x), fast(x), fast(x), fast(x)]
            change(box, 5.0)
            after = [plain(x), fast(x), fast(x)]
    finally:
        sys.setrecursionlimit(limit)
        threading.current_thread().name = thread
        decimal.getcontext().prec = 28
        special.seterr(all="ignore")
        copyreg.dispatch_table.pop(Plain, None)
        vars(math).pop("mine", None)
        json.JSONEncoder.item_separator = ", "
    numbers = lambda calls: [float(call[0] if gradient else call) for call in calls]
    assert len({*numbers(before)}) == 1 == len({*numbers(after)})
    assert numbers(before)[0] != numbers(after)[0]  # the case changes something


def test_an_attribute_that_a_module_had_answered_for_is_read_once_it_is_there():
    module, answers = types.ModuleType("module"), [1.0]
    module.__getattr__ = lambda name: answers[0]
    fast = jit(lambda x: x * module.q, engine="numpy")
    assert [fast(2.0), fast(2.0)] == [2.0, 2.0]
    answers[0] = 3.0
    assert [fast(2.0), fast(2.0)] == [6.0, 6.0]
    module.q = 8.0
    assert fast(2.0) == 16.0
