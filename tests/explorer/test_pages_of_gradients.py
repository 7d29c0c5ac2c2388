"""Facts about the page of a gradient: its title, its outputs, and where it opens."""

import json
import re

import numpy as np
import pytest

from xman import explore, grad, jit, value_and_grad


def g(w, x):
    for _ in range(2):
        x = np.tanh(w * x)
    return x * x


def cost(p): return np.sum(p["a"] * p["b"])


TREE = {"a": 2.0, "b": np.ones(3)}


@pytest.mark.parametrize("function, examples, title, of, outputs", [
    (value_and_grad(g), (0.5, 2.0), "g and its gradient", "g", ["g", "dg_dw"]),
    (jit(value_and_grad(g)), (0.5, 2.0), "g and its gradient", "g", ["g", "dg_dw"]),
    (value_and_grad(g, (0, 1)), (0.5, 2.0), "g and its gradient", "g", ["g", "dg_dw", "dg_dx"]),
    (grad(g, 1), (0.5, 2.0), "the gradient of g", "dg_dx", ["dg_dx"]),
    (value_and_grad(cost), (TREE,), "cost and its gradient", "cost", ["cost", "dcost_dp_a", "dcost_dp_b"]),
    (grad(lambda t: t ** 3), (0.5,), "the gradient of f", "df_dt", ["df_dt"]),
    (g, (0.5, 2.0), "g", "g", ["g"])], ids=lambda x: x if isinstance(x, str) else "")
def test_the_page_of_a_gradient_says_so_and_names_its_outputs(function, examples, title, of, outputs):
    page = str(explore(function, *examples, guided=False))
    shown = json.loads(re.search(r'id="own">(.*?)</script>', page)[1])["documents"][0]
    assert (shown["title"], shown["of"]) == (title, of)
    assert {*outputs} <= {line[0] for line in shown["lines"]}


def test_a_name_that_the_function_has_already_is_not_taken():
    def exp(x): return np.exp(x) * x
    assert "value_and_grad_exp_1" in str(explore(value_and_grad(exp), 1.0, guided=False))
