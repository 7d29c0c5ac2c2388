"""The Jacobian by way of narrow registers: cross-country elimination by a greedy order."""

import os
import time

import numpy as np
import pytest

from xman import WengertList, eval
from xman.matrices import Count, Jacobian
from xman.matrices.modes import route

ALL = bool(os.environ.get("XMAN_ALL_CASES"))
R = np.random.default_rng(50)


def layers(sizes, before="x", end="y"):
    """The list of tanh layers of these sizes, registers h1, h2, …, and its inputs."""
    steps, values, name = [], {before: R.normal(size=sizes[0])}, before
    for k, (n, m) in enumerate(zip(sizes, sizes[1:], strict=False), 1):
        values[f"A{end}{k}"] = R.normal(size=(m, n)) / np.sqrt(n)
        h = end if k == len(sizes) - 1 else f"h{k}"
        steps += [(f"a{end}{k}", "dot", (f"A{end}{k}", name)), (h, "tanh", (f"a{end}{k}",))]
        name = h
    return steps, values


def passes_made(J, values, monkeypatch):
    """(the Jacobian at values, how many passes it took, those of its parts included)."""
    made = []
    with monkeypatch.context() as patch:
        for method in ("pushforward", "pullback"):
            original = getattr(Jacobian, method)
            patch.setattr(Jacobian, method, lambda self, values, original=original:
                          (lambda run: lambda v: made.append(v) or run(v))(original(self, values)))
        return J(values), len(made)


def same_in_all_modes(steps, of, wrt, values):
    """The mixed Jacobian is those of the two modes, at no more passes; its count."""
    mixed, forward, reverse = (Jacobian(steps, of, wrt, mode) for mode in ("mixed", "forward", "reverse"))
    found, right = mixed(values), forward(values)
    for x, back in reverse(values).items():
        assert found[x].shape == right[x].shape
        scale = np.abs(right[x]).max(initial=1e-9)  # below it is what cancelled
        np.testing.assert_allclose(found[x], right[x], rtol=1e-9, atol=1e-11 * scale)
        np.testing.assert_allclose(back, right[x], rtol=1e-9, atol=1e-11 * scale)
    count = mixed.count(values)
    assert count.passes <= min(count.inputs, count.outputs)
    assert Jacobian(steps, of, wrt).count(values).passes <= count.passes
    return count


def test_a_jacobian_through_a_bottleneck_costs_the_bottleneck(monkeypatch):
    steps, values = layers((50, 2, 60))
    J = Jacobian(steps, "y", ["x"])
    count = J.count(values)
    assert str(count) == ("50 inputs, 60 outputs: mixed mode through ay1 (2), 4 passes "
                          "(forward mode would take 50, reverse mode 60)")
    assert passes_made(J, values, monkeypatch)[1] == count.passes == 4
    assert same_in_all_modes(steps, "y", ["x"], values) == count


def test_layers_around_it_change_nothing():
    steps, values = layers((50, 70, 40, 2, 30, 55, 60))
    assert same_in_all_modes(steps, "y", ["x"], values)[3:] == (4, (("ay3", 2),))


def test_of_several_bottlenecks_in_a_chain_one_is_enough_and_the_narrowest_is_taken():
    steps, values = layers((50, 5, 40, 2, 30, 4, 60))
    assert same_in_all_modes(steps, "y", ["x"], values)[3:] == (4, (("ay3", 2),))


def test_each_branch_goes_through_its_own():
    left, some = layers((50, 2, 60), "x", "u")
    right, more = layers((40, 3, 60), "w", "v")
    right = [(dst.replace("h", "k"), op, tuple(a.replace("h", "k") for a in args)) for dst, op, args in right]
    together = [line for pair in zip(left, right, strict=True) for line in pair] + [("y", "mul", ("u", "v"))]
    count = same_in_all_modes(together, "y", ["x", "w"], some | more)
    assert count.mixed == 2 + 3 + (2 + 3) and {n for _, n in count.through} == {2, 3}


def test_what_goes_round_the_bottleneck_is_counted_too():
    steps, values = layers((50, 2, 60), end="u")
    values |= {"w": R.normal(size=3), "B": R.normal(size=(60, 3)), "C": R.normal(size=(60, 50))}
    narrow = [*steps, ("b", "dot", ("B", "w")), ("y", "mul", ("u", "b"))]
    assert same_in_all_modes(narrow, "y", ["x", "w"], values).mixed == 2 + (2 + 3)
    wide = [*steps, ("b", "dot", ("C", "x")), ("y", "mul", ("u", "b"))]
    count = same_in_all_modes(wide, "y", ["x"], values)
    assert (count.mode, count.passes) == ("forward", 50)


@pytest.mark.parametrize("sizes, mode", [((4, 9, 6), "forward"), ((7, 9, 6), "reverse"), ((5, 5), "forward")])
def test_where_nothing_is_narrower_mixed_mode_is_the_better_of_the_two(sizes, mode):
    steps, values = layers(sizes)
    assert same_in_all_modes(steps, "y", ["x"], values) == Count(sizes[0], sizes[-1], mode)


def test_of_as_many_passes_forward_and_reverse_mode_are_chosen_and_the_mixed_one_has_to_be_asked_for():
    steps, values = layers((4, 2, 60))
    assert Jacobian(steps, "y", ["x"]).count(values).mode == "forward"
    assert str(same_in_all_modes(steps, "y", ["x"], values)) == (
        "4 inputs, 60 outputs: mixed mode through ay1 (2), 4 passes (forward mode would take 4, reverse mode 60)")


def test_a_value_without_derivative_is_no_way():
    """The rows that argmax picks depend on x, and send nothing back."""
    steps, values = layers((50, 3, 60), end="u")
    steps += [("k", "argmax", ("h1",)), ("r", "take", ("u", "k")), ("y", "mul", ("u", "r"))]
    assert same_in_all_modes(steps, "y", ["x"], values).mixed == 6


def test_an_input_that_the_output_does_not_depend_on_has_zeros():
    steps, values = layers((50, 2, 60))
    values["w"] = np.ones((4, 5))
    steps.append(("other", "exp", ("w",)))
    J = Jacobian(steps, "y", ["w", "x"])
    assert J.count(values).mode == "mixed"
    assert J(values)["w"].shape == (60, 4, 5) and not J(values)["w"].any()


@pytest.mark.parametrize("of, wrt", [("x", ["x"]), ("x", ["w"])])
def test_an_input_by_itself_or_by_another_is_no_way(of, wrt):
    same_in_all_modes([("s", "sum", ("x",)), ("t", "mul", ("s", "w"))], of, wrt, {"x": np.ones(5), "w": np.ones(4)})


def test_single_precision_stays_single():
    steps, values = layers((50, 2, 60))
    values = {name: x.astype(np.float32) for name, x in values.items()}
    assert Jacobian(steps, "y", ["x"], "mixed")(values)["x"].dtype == np.float32


def test_one_jacobian_takes_the_way_that_is_best_for_each_batch():
    steps = [("h", "dot", ("X", "w")), ("z", "outer", ("h", "c")), ("y", "exp", ("z",))]
    J = Jacobian(steps, "y", ["w"])
    for n, mode in ((2, "mixed"), (30, "forward"), (2, "mixed")):
        values = {"X": R.normal(size=(n, 9)), "w": R.normal(size=9), "c": np.ones(20)}
        assert J.count(values).mode == mode
        np.testing.assert_allclose(J(values)["w"], Jacobian(steps, "y", ["w"], "forward")(values)["w"], rtol=1e-12)


def test_many_registers_on_the_way_are_named_in_part():
    through = tuple((f"h{k}", k) for k in range(1, 8))
    assert str(Count(90, 80, "mixed", 50, through)) == (
        "90 inputs, 80 outputs: mixed mode through h1 (1), h2 (2), h3 (3), h4 (4) and 3 more, 50 passes "
        "(forward mode would take 90, reverse mode 80)")


def test_it_goes_through_pickle():
    import pickle
    steps, values = layers((50, 2, 60))
    J = Jacobian(steps, "y", ["x"])
    right = J(values)["x"]
    assert (pickle.loads(pickle.dumps(J))(values)["x"] == right).all()


# random lists


def random_network(seed):
    """A list of products, sums, maps, reductions and rearrangements of vectors and matrices of random widths; its inputs."""
    random = np.random.default_rng(seed)
    width = lambda: int(random.choice([1, 1, 2, 2, 3, 4, 6, 8]))
    wrt = [f"x{k}" for k in range(random.integers(1, 4))]
    values = {x: random.normal(size=(width(), width())[:random.integers(1, 3)]) for x in wrt}
    known, steps = dict(values), []

    def line(op, *args):
        steps.append((f"t{len(steps)}", op, args))
        known.update({steps[-1][0]: eval(steps[-1:], known)[steps[-1][0]]})

    last = random.integers(3, 16)
    while len(steps) < last or random.uniform() < 0.5 * (np.ndim(known[steps[-1][0]]) != 1):
        a, b = (str(random.choice(list(known)[-6:])) for _ in range(2))
        x, kind = known[a], random.integers(8)
        if kind < 3 and np.ndim(x):
            values[w := f"A{len(steps)}"] = random.normal(size=(width(), x.shape[0])) / 2
            known[w] = values[w]
            line("dot", w, a)
            del known[w]
        elif kind == 3 and np.ndim(x):
            line(str(random.choice(["sum", "mean", "logsumexp"])), a, int(random.integers(np.ndim(x))))
        elif kind == 4 and np.ndim(x):
            line("getitem", a, slice(0, 1 + len(x) // 2))
        elif kind == 5 and np.shape(known[b])[1:] == np.shape(x)[1:] and np.ndim(x) == np.ndim(known[b]) > 0:
            line("concat", 0, a, b)
        elif kind == 6 and (np.shape(x) == np.shape(known[b]) or 0 in (np.ndim(x), np.ndim(known[b]))):
            line(str(random.choice(["add", "mul", "subtract", "arctan2"])), a, b)
        elif kind == 7:
            line("reshape", a, (-1,))
        else:
            line(str(random.choice(["tanh", "sin", "square", "sigmoid", "alias"])), a)
    if random.uniform() < 0.6:
        values["A"] = random.normal(size=(24, np.size(known[steps[-1][0]])))
        steps += [("flat", "reshape", (steps[-1][0], (-1,))), ("y", "dot", ("A", "flat"))]
    return steps, [x for x in wrt if x in WengertList(steps).inputs], values


@pytest.mark.parametrize("seed", range(2000 if ALL else 30))
def test_on_random_lists_it_is_the_other_two_at_no_more_passes(seed, monkeypatch):
    steps, wrt, values = random_network(seed)
    of = steps[-1][0]
    same_in_all_modes(steps, of, wrt, values)
    J = Jacobian(steps, of, wrt)
    assert passes_made(J, values, monkeypatch)[1] == J.count(values).passes


def test_the_random_lists_are_of_all_three_modes():
    modes = [Jacobian(steps, steps[-1][0], wrt).count(values).mode for steps, wrt, values in map(random_network, range(60))]
    assert min(map(modes.count, ("forward", "reverse", "mixed"))) >= 5


def long_list(length, inputs, outputs):
    """(steps, wrt, sizes) of products of numbers, each of two of the last hundred."""
    name = lambda k: f"x{k + inputs}" if k < 0 else f"t{k}"
    steps = [(f"t{k}", "mul", tuple(map(name, R.integers(max(-inputs, k - 100), k, 2)))) for k in range(length)]
    steps.append(("y", "stack", (0, *(f"t{k}" for k in range(length - outputs, length)))))
    wrt = [f"x{k}" for k in range(inputs)]
    return WengertList(steps), wrt, {**dict.fromkeys([*wrt, *(dst for dst, _, _ in steps)], 1), "y": outputs}


def test_the_search_takes_seconds_on_a_long_list():
    steps, wrt, sizes = long_list(50_000 if ALL else 1000, 100, 90)
    before = time.process_time()
    found = route(steps, "y", wrt, sizes)
    assert found.passes <= 90 and time.process_time() - before < 60 * len(steps) / 10_000
