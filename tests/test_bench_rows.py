"""Facts about the benchmark: what contestants compute is the same, and the harness judges as it says. Nothing is timed."""

from functools import partial

import numpy as np
import pytest
from bench.catalogue import ROWS, Options
from bench.measure import Players, contest, disagreement
from bench.rows import elementwise, epoch, hvp, kinds, lstm, scalar, second_order, training
from bench.rows.scalar import Scalars, random_lines
from bench.rows.training import Training
from bench.table import Goal
from bench.worker import arrays

NETWORK = Training((7, 6, 5, 4), batch=8)
WORKS = {"regression": (training, Training((7, 4), 8)), "network": (training, NETWORK), "hvp": (hvp, NETWORK),
         "epoch": (epoch, NETWORK._replace(rows=29)), "lstm": (lstm, lstm.Sequences(3, 8, 7, 5, 4)),
         "elementwise": (elementwise, elementwise.Options(50))}


def results(make, work, runs=3):
    step = make(work)
    return [arrays(step()) for _ in range(runs)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name, who", [(name, who) for name, (row, _) in WORKS.items() for who in row.CONTESTANTS
                                       if who in ("xman numpy", "xman interpret", "xman fit")])
def test_xman_and_numpy_by_hand_do_the_same_work(name, who, dtype):
    row, work = WORKS[name]
    runs = 1 if row is epoch else 3  # fit begins anew each time
    wanted = results(row.CONTESTANTS["NumPy by hand"], work._replace(dtype=dtype), runs)
    assert disagreement(results(row.CONTESTANTS[who], work._replace(dtype=dtype), runs), wanted, dtype) == ""


@pytest.mark.parametrize("name", kinds.functions(np))
def test_compiled_functions_of_all_kinds_are_the_plain_ones(name):
    args, _ = kinds.point(kinds.Kind(name))
    np.testing.assert_allclose(results(kinds.xman, kinds.Kind(name), 1)[0][0], kinds.functions(np)[name](*args), rtol=1e-9)


@pytest.mark.parametrize("name", WORKS)
def test_a_floor_runs_and_has_no_result(name):
    row, work = WORKS[name]
    floors = [make for who, make in row.CONTESTANTS.items() if who.startswith("floor")]
    assert floors and all(results(make, work) == [[], [], []] for make in floors)


@pytest.mark.parametrize("name", ["regression", "network", "lstm"])
def test_a_training_step_descends(name):
    row, work = WORKS[name]
    losses = np.concatenate(results(row.CONTESTANTS["NumPy by hand"], work, 20)).ravel()
    assert losses[-1] < losses[0]


def test_the_last_line_of_the_random_list_needs_every_line():
    lines = random_lines(2000)
    needed = {lines[-1][0]}
    for z, _, args in reversed(lines):
        if z in needed:
            needed.update(args)
    assert len(lines) == 2000 and all(z in needed for z, _, _ in lines)


def test_the_random_list_has_derivatives_that_are_neither_lost_nor_infinite():
    value, slopes = scalar.xman_interpret(Scalars(5000, gradient=True))()
    assert np.isfinite(value) and all(1e-3 < abs(slope) < 1e3 for slope in slopes)


def test_first_calls_that_are_compared_are_made_in_new_processes_with_nothing_on_disk(monkeypatch):
    seen = []
    monkeypatch.setattr("bench.catalogue.contest", lambda players, *_, **__: seen.append(players))
    shared = Players(1)
    for name in ("kind-slices", "kind-gather", "mlp-s"):
        ROWS[name].run(name, "", "float64", shared, Options(0.1, True, None))
    shared.dismiss()
    assert len({*map(id, seen)}) == 3 and seen[2] is shared and len({players.kept.name for players in seen}) == 3


def test_the_first_six_rows_train_and_every_row_has_its_words():
    assert list(ROWS)[:6] == ["logreg-s", "logreg-m", "mlp-s", "mlp-m", "mlp-l", "lstm"]
    assert all(row.about and row.dtypes for row in ROWS.values())


def test_the_methods_of_second_order_descend_from_the_same_starts_and_are_counted_until_they_are_near_the_best():
    found = second_order.descents("tanh", 1, 6)
    assert set(found) == set(second_order.METHODS) and all(d.losses[-1] < d.losses[0] for (d,) in found.values())
    near, far = second_order.Descent([4.0, 2.0, 1.0], [0.1, 0.2, 0.3]), second_order.Descent([3.0, 1.8], [0.1, 0.2])
    lines = second_order.summary({"a": [near, near], "b": [far, near]})
    assert [(line["iterations"], line["ms"], line["reached"]) for line in lines.values()] == [(3, 300, 2), (3, 300, 1)]


def test_on_digits_all_methods_come_to_the_loss_of_scikit_learn():
    pytest.importorskip("sklearn")
    losses = [line["loss × 1000"] for line in second_order.on_digits(1).values()]
    assert len(losses) == 6 and max(losses) < 1.001 * min(losses)


# how it judges


LINES = {"floor: copy": {"µs": 4.0}, "xman numpy": {"µs": 6.0}, "xman jax": {"µs": 9.0}, "NumPy by hand": {"µs": 5.0},
         "JAX": {"µs": 20.0}, "JAX synchronous": {"µs": 15.0}, "PyTorch": {"µs": 30.0}}


@pytest.mark.parametrize("goal, ratio, met", [(Goal("the floor", 1.5), 1.5, True), (Goal("the floor", 1.4), 1.5, False),
                                              (Goal("every framework", 1 / 3), 0.4, False),
                                              (Goal("every framework", 1 / 2), 0.4, True), (Goal("every other"), 1.2, False),
                                              (Goal("PyTorch"), 0.2, True), (Goal("JAX", mine="xman jax"), 0.6, True),
                                              (Goal("CasADi"), None, None)])
def test_a_goal_compares_the_least_of_a_group_with_the_least_of_another(goal, ratio, met):
    judged = goal.judged(LINES)
    assert (judged["ratio"], judged["met"]) == (ratio, met)


def test_results_that_differ_and_results_in_another_precision_are_found_out():
    one = [[np.array([1.0, 2.0])]]
    assert disagreement(one, [[np.array([1.0, 2.0])]], "float64") == ""
    assert "WRONG: result 1 of run 1" in disagreement(one, [[np.array([1.0, 2.001])]], "float64")
    assert disagreement([[np.float32([1, 2])]], one, "float64") == "WRONG: its results are float32"
    assert "WRONG" in disagreement([[np.array([np.nan, 2.0])]], one, "float64")


def wrong(work):
    return lambda: np.float32(3)


def broken(work):
    raise ModuleNotFoundError("No module named 'peer'")


def test_a_contestant_that_cannot_take_part_is_left_out_with_the_reason():
    makers = {"floor": training.floor, "NumPy by hand": training.numpy_by_hand, "wrong": wrong, "broken": broken,
              "odd": partial(training.xman, "nonesuch")}
    players = Players(1)
    try:
        table = contest(players, "row", "tiny", makers, Training((3, 2), 4), [Goal("the floor", 1.5)], seconds=0.01)
    finally:
        players.dismiss()
    assert set(table.lines) == {"floor", "NumPy by hand"} and all(line["µs"] > 0 for line in table.lines.values())
    assert table.out["broken"] == "ModuleNotFoundError: No module named 'peer'"
    assert "WRONG" in table.out["wrong"] and "no engine 'nonesuch'" in table.out["odd"]
    assert "left out: broken: ModuleNotFoundError" in table.text() and table.goals[0]["met"] is None
