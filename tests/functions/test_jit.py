"""jit: on every call, whatever has changed, what the plain function gives."""
from __future__ import annotations

import functools
import pickle
import random
import time
import types
import warnings

import numpy as np
import pytest

import xman
from xman import WengertList, XManError, f, grad, jit, jvp, value_and_grad

jit_ = functools.partial(jit, engine="numpy")

# ---- a hundred functions, drawn ---------------------------------------------------------------------------------------

TERMS = ["x * rate", "np.sin(x) + y", "x - settings['shift']", "y * table[0] + x", "np.where(x > y, x, y * 2.0)", "x @ weights",
         "helper(x)", "np.maximum(x, box.low)", "x / (1.0 + y * y)", "np.tanh(x) * n", "x[::-1] + rate", "np.cumsum(x) * 0.1"]
TESTS = ["np.sum(x) > rate", "x[0] < y[1]", "np.all(x > -1.0)", "np.max(x) > box.low and x[1] > 0", "n > 2", "flag",
         "np.argmax(x) == 1", "settings['on']", "not (x < y).any()"]


def drawn_function(seed):
    """(module, plain function) of a few statements with branches, loops and indices that go by values and by globals."""
    draw, lines = random.Random(seed), ["def drawn(x, y, n, flag):", "    k = 0"]
    for _ in range(draw.randint(2, 4)):
        kind, one, other = draw.choice("tilwx"), draw.choice(TERMS), draw.choice(TERMS)
        target = draw.choice("xxy")
        if kind == "t":
            lines += [f"    {target} = {one}"]
        elif kind == "i":
            lines += [f"    if {draw.choice(TESTS)}:", f"        {target} = {one}", "    else:", f"        {target} = {other}"]
        elif kind == "l":
            lines += ["    for _ in range(n):", f"        {target} = {one}"]
        elif kind == "w":
            lines += ["    while np.sum(np.abs(x)) > 6.0 and k < 5:", "        x, k = x * 0.5, k + 1"]
        else:
            lines += ["    x = x + x[np.argmax(y)] * table[int(np.argmin(x))]"]
    lines += ["    return np.sum(x * y) + k * rate"]
    module = types.ModuleType("drawn")
    exec("import numpy as np\nclass Box:\n    low = 0.1\nbox = Box()\ndef helper(x):\n    return x * scale\n" + "\n".join(lines),
         vars(module))
    return module, module.drawn


def change(module, draw):
    """Another value for one of the globals, of each kind of them now and then."""
    number = draw.choice([0.5, 1.5, 2.0])
    match draw.randrange(9):
        case 0: module.rate = number
        case 1: module.settings["shift"] = number
        case 2: module.settings = {"shift": number, "on": not module.settings["on"]}
        case 3: module.table[0] = number
        case 4: module.weights[draw.randrange(3), 1] = number
        case 5: module.box.low = number
        case 6: type(module.box).low = number
        case 7: module.scale = number
        case 8: module.helper = draw.choice([np.sin, lambda x: x - 1.0, module.helper])


@pytest.mark.parametrize("seed", range(10))
def test_a_drawn_function_gives_what_the_plain_one_gives_whatever_changes(seed):
    for k in range(10):
        draw = random.Random(seed * 10 + k)
        numbers = np.random.default_rng(seed * 10 + k)
        module, plain = drawn_function(seed * 10 + k)
        vars(module).update(rate=1.5, settings={"shift": 0.5, "on": True}, table=[1.0, 2.0, 3.0], weights=numbers.normal(size=(3, 3)),
                            scale=2.0)
        both = jit(value_and_grad(plain, (0, 1)), "interpret" if k % 5 else "numpy")
        for _ in range(8):
            x, y = numbers.normal(size=(2, 3)) * 3
            n, flag = draw.choice([1, 3]), draw.choice([True, False])
            value, slopes = value_and_grad(plain, (0, 1))(x, y, n, flag)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "jit.*more than 8 paths")
                for _ in range(2):
                    found, parts = both(x, y, n, flag)
                    np.testing.assert_allclose((found, *parts[0], *parts[1]), (value, *slopes[0], *slopes[1]), 1e-12, 1e-12)
            if draw.random() < 0.5:
                change(module, draw)
