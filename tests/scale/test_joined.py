"""Workers that any engine put together: processes with pipes between them, and nothing of MPI."""
from __future__ import annotations

import copy
import itertools
import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from xman import XMan, XManError, f, models
from xman.files.container import restore
from xman.scale import Comm, dealt, joined, stream, workers
from xman.train import cross_validate, fit, load, search
from xman.train.step import TrainingStep

SCRIPTS = Path(__file__).parents[2] / "docs" / "scripts"
RNG = np.random.default_rng(0)
X, y = RNG.normal(size=(37, 6)), RNG.integers(0, 3, 37)
SETTINGS = {"epochs": 2, "batch_size": 10, "lr": 0.1, "progress": False, "engine": "numpy"}
# what the forked processes do needs no thread of this one, of JAX say
pytestmark = [pytest.mark.filterwarnings("ignore:os.fork"), pytest.mark.filterwarnings("ignore:This process .*is multi-threaded")]
forks = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="a process has to fork")


def by_pipes(rank, size, pipes):
    """The first worker has a pipe to each other one, by which all goes."""
    def gather(x):
        if rank:
            pipes[0].send(x)
            return pipes[0].recv()
        everyone = [x, *(pipe.recv() for pipe in pipes)]
        for pipe in pipes:
            pipe.send(everyone)
        return everyone
    return Comm(rank, size, gather)


def ran(task, size=2):
    """What task() gives to each of so many workers, and their exit statuses."""
    context = multiprocessing.get_context("fork")
    ends = [context.Pipe() for _ in range(size - 1)]
    answers = [context.Pipe(False) for _ in range(size)]

    def one(rank):
        with joined(by_pipes(rank, size, [end for _, end in ends[rank - 1:rank]] if rank else [end for end, _ in ends])):
            answers[rank][1].send(task())

    jobs = [context.Process(target=one, args=(rank,)) for rank in range(size)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join(60)  # their answers are short, and fit into the pipes
    return [pipe.recv() if pipe.poll() else None for pipe, _ in answers], [job.exitcode for job in jobs]


@forks
@pytest.mark.parametrize("size", [2, 3])
def test_joined_workers_take_the_steps_of_one(size):
    block = lambda: models.ResidualMLP(6, 5, 3, normalization="batch", dropout=0.3, dtype=float)
    task = lambda: [fit(model(), (X, y), optimizer="adam", **SETTINGS).parameters
                    for model in (lambda: models.MLP([6, 3], dtype=float), block)]
    (first, *others), statuses = ran(task, size)
    assert statuses == [0] * size
    for k, alone in enumerate(task()):
        assert max(np.max(np.abs(alone[w] - first[k][w])) for w in alone) < 1e-12
        assert all(np.array_equal(first[k][w], other[k][w]) for w in alone for other in others)


REAL, ROWS = RNG.normal(size=(37, 1)), RNG.normal(size=(37, 5, 4))
ZOO = {  # a model and its rows; numbers of cells and of words where its rows are such
    "LinearRegression": (lambda: models.LinearRegression(6, ridge=0.1, dtype=float), (X, REAL)),
    "PoissonRegression": (lambda: models.PoissonRegression(6, dtype=float), (X, np.abs(REAL).round())),
    "LogisticRegression": (lambda: models.LogisticRegression(6, 3, loss="hinge", penalty=0.1, dtype=float), (X, y)),
    "MLP": (lambda: models.MLP([6, 5, 3], activation="relu", dtype=float), (X, y)),
    "ResidualMLP": (lambda: models.ResidualMLP(6, 5, 3, dropout=0.2, dtype=float), (X, y)),
    "AdaptiveBasis": (lambda: models.AdaptiveBasis("rbf", 3, columns=6, dtype=float), (X, REAL)),
    "ConvolutionalNetwork": (lambda: models.ConvolutionalNetwork((4, 5), 3, filters=2, pool=1, dtype=float),
                             (ROWS.reshape(37, 20), y)),
    "RNN": (lambda: models.RNN(4, 5, 3, steps=5, unrolled=False, dtype=float), (ROWS, y)),
    "GRU": (lambda: models.GRU(4, 5, 3, steps=5, unrolled=False, dtype=float), (ROWS, y)),
    "LSTM": (lambda: models.LSTM(4, 5, 3, steps=5, unrolled=True, dtype=float), (ROWS, y)),
    "Transformer": (lambda: models.Transformer(4, 4, 3, steps=5, dtype=float), (ROWS, y)),
    "Autoencoder": (lambda: models.Autoencoder([6, 3], dtype=float), (X, X)),
    "MatrixFactorization": (lambda: models.MatrixFactorization(3, 3, 2, dtype=float), (np.stack([y, y[::-1]], 1), REAL)),
    "WordEmbeddings": (lambda: models.WordEmbeddings(3, 2, dtype=float), (y, y[::-1])),
    "GaussianMixture": (lambda: models.GaussianMixture(3, 6), (X, X))}


@forks
def test_two_workers_train_every_model():
    assert {*ZOO} == {*models.__all__}
    task = lambda: [fit(model(), rows, **SETTINGS | {"lr": 0.01, "clip": 0.5}).parameters for model, rows in ZOO.values()]
    (first, other), statuses = ran(task)
    assert statuses == [0, 0]
    for name, alone, one, two in zip(ZOO, task(), first, other, strict=True):
        assert all(np.array_equal(one[w], two[w]) and np.max(np.abs(one[w] - alone[w])) < 1e-11 for w in alone), name


@forks
@pytest.mark.skipif("XMAN_ALL_CASES" not in os.environ, reason="twenty minutes; CI trains the zoo")
@pytest.mark.timeout(0)
def test_two_workers_train_whatever_the_manual_and_the_tests_train():
    here, tests = Path(__file__).parent, Path(__file__).parents[1]
    places = [tests / place for place in ("test_manual.py", "test_first_hour.py", "models", "seeds", "train", "assignments")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "every_fit", "-p", "no:xdist", "--timeout", "0", *map(str, places)]
    done = subprocess.run(command, cwd=here, env=os.environ | {"PYTHONPATH": str(here)}, capture_output=True, text=True)
    summary = done.stdout.partition("trainings: ")[2]
    print(summary)
    assert "'agree'" in summary and "differ" not in summary, summary
    # what combines rows otherwise is for one worker, and says so
    assert all("train by one worker" in line for line in summary.splitlines() if "refused: " in line), summary


@forks
def test_joined_workers_deal_out_trials():
    grid = {"lr": [0.1, 0.2, 0.3]}
    task = lambda: [trial.loss for trial in search(models.MLP([6, 3]), (X, y), grid, folds=2, epochs=1, progress=False)]
    heard, statuses = ran(task)
    assert heard == [task()] * 2 and statuses == [0, 0]



TOLD = {  # what workers are told differently, by their numbers, and the words that all hear then
    "seed than the first, 1 and not 0": lambda k: fit(models.MLP([6, 3]), (X, y), **SETTINGS | {"seed": k}),
    "source than the first, arrays and not a stream": lambda k: fit(
        models.MLP([6, 3]), (X, y) if k else stream(X, y), **SETTINGS),
    "lr of setting 2 than the first, 0.3 and not 0.2": lambda k: search(
        models.MLP([6, 3]), (X, y), {"lr": [0.1, [0.2, 0.3][k]]}, epochs=1, progress=False),
    "digest of setting 1 than": lambda k: cross_validate(models.MLP([6, 3]), (X + k, y), 2, epochs=1),
    "content of setting 1 than": lambda k: cross_validate(models.MLP([6, 4 + k, 3]), (X, y), 2, epochs=1),
    "first values of setting 1 than": lambda k: cross_validate(models.MLP([6, 3], seed=k), (X, y), 2, epochs=1)}


@forks
def test_workers_that_are_told_different_things_all_hear_which():
    def told():
        sentences = []
        for call in TOLD.values():
            try:
                call(workers().rank)
            except XManError as error:
                sentences.append(str(error))
        return sentences
    (one, other), statuses = ran(told)
    assert statuses == [0, 0] and one == other
    assert all(f"worker 2 of 2 has another {words}" in sentence for words, sentence in zip(TOLD, one, strict=True)), one


@forks
def test_one_that_fails_or_hangs_ends_the_others():
    def hangs():
        workers().timeout = 0.5
        if workers().rank:
            time.sleep(2)
            os._exit(3)
        workers().total(1.0)
    assert ran(hangs)[1] == [1, 3]
    assert ran(lambda: workers().rank and 1 / 0)[1][1] == 1


@forks
@pytest.mark.parametrize("rows", [lambda: (X, y), lambda: stream([(X[:20], y[:20]), (X[20:], y[20:])], memory=0.007)])
def test_a_worker_more_or_less_between_epochs_or_within_one_takes_the_same_rows(rows, tmp_path):
    model = lambda: models.ResidualMLP(6, 5, 3, dropout=0.3, dtype=float)  # whose noise goes by the numbers of rows
    fitted = lambda **more: fit(model(), rows(), **SETTINGS | {"epochs": 6, "optimizer": "adam", **more}).parameters

    def lost():  # the first worker ends in the fifth epoch's last step, with what it had saved: all know of it a step later
        calls, take = itertools.count(1), TrainingStep.take
        TrainingStep.take = lambda *given: os._exit(9) if next(calls) == 4 else take(*given)
        fitted(checkpoint=tmp_path / "run", checkpoint_every=0)

    for epochs, size in (1, 3), (2, 1), (4, 2):
        assert ran(lambda epochs=epochs: fitted(epochs=epochs, checkpoint=tmp_path / "run") and None, size)[1] == [0] * size
    assert ran(lost)[1][0] == 9 and 0 < restore(tmp_path / "run")[1]["state"]["batch"] < 4
    (last, *_), statuses = ran(lambda: fitted(checkpoint=tmp_path / "run"), 3)
    alone = fitted()
    assert statuses == [0] * 3 and max(np.max(np.abs(alone[w] - last[w])) for w in alone) < 1e-12


class Weighted(XMan):
    """Its feed gives an array beside the rows, which a caller may change during the run."""
    X, y, size = f.input(), f.input(), f.input()
    sizes = np.ones(6)
    w, v = f.param(default=np.full((6, 3), 0.3)), f.param(default=np.full(3, 0.1))
    outputs = (X * size) @ w + v
    loss = f.mean(f.softmaxCrossEntropy(outputs, y))

    def feed(self, X, y):
        return {"X": X, "y": y, "size": self.sizes}


def changing(name):
    """A model, its data and settings, with a callback by which the second worker changes one of these after an epoch."""
    rows, labels, factor, model = X.copy(), y.copy(), np.ones(1), Weighted()
    Weighted.sizes = np.ones(6)
    data, more = {"X": ((rows, labels), {}), "validation y": ((X, y), {"validation": (X, labels)}), "size": ((X, y), {}),
                  "y of stream 1": (stream(rows, labels), {}), "schedule": ((X, y), {"schedule": lambda t: factor[0]})}[name]
    array = {"X": rows, "size": model.sizes, "schedule": factor}.get(name, labels)

    def callback(row, _):
        if row["epoch"] == 1 and workers().rank == 1:
            array[:1] = 2 - array[:1]
            array[0] += array[0] == 1
    return model.setup(), data, more | {"callbacks": [callback], "epochs": 3}


CHANGING = "X", "validation y", "size", "y of stream 1", "schedule"


@forks
def test_what_came_to_differ_is_found_at_a_checkpoint_and_else_at_the_end(tmp_path):
    def heard():
        sentences = {}
        for name, path in itertools.product(CHANGING, (None, tmp_path / "run")):
            model, data, settings = changing(name)
            try:
                fit(model, data, **SETTINGS | settings | {"checkpoint": path})
            except XManError as error:
                sentences[name, bool(path)] = str(error), len(error.result.history)
        return sentences
    (one, other), statuses = ran(heard)
    assert statuses == [0, 0] and one == other
    # without a checkpoint rows are compared at the end alone; and what came apart is not saved
    assert {key: epochs for key, (_, epochs) in one.items()} == {
        (name, saved): 1 if saved or name == "schedule" else 3 for name in CHANGING for saved in (False, True)}
    assert all(f"worker 2 of 2 has another {name} than the first" in sentence for (name, _), (sentence, _) in one.items()), one
    assert not (tmp_path / "run").exists()


@forks
@pytest.mark.parametrize("every", [0, 60])
def test_parameters_and_steps_that_came_apart_are_found_at_a_checkpoint(tmp_path, every):
    take = TrainingStep.take

    def apart(step, rows):
        loss = take(step, rows)
        if workers().rank == 1 and step.values[step.training.t] == 2:
            step.values["v"][0] += 1e-2 if workers().size == 2 else 1e-5
        return loss

    def heard():
        TrainingStep.take = apart
        try:  # rates of their own: each worker updates everything
            fit(Weighted().setup(), (X, y), **SETTINGS | {"lr": {"w": 0.1, "v": 0.2}, "checkpoint": tmp_path / "run",
                                                              "checkpoint_every": every})
        except XManError as error:
            return str(error)
    (one, other, *_), statuses = ran(heard)
    assert statuses == [0, 0] and one == other and "worker 2 of 2 has another norm of v than the first" in one
    assert f"up to step {4 if every else 2} " in one
    (*sentences,), statuses = ran(heard, 3)  # hosts round differently
    assert sentences == [None] * 3 and statuses == [0] * 3


@forks
@pytest.mark.parametrize("kind", ["parquet", "csv", "map"])
def test_a_file_that_is_written_again_ends_the_run_at_its_checkpoint(tmp_path, kind):
    path = tmp_path / f"rows.{kind}"
    if kind == "map":
        np.save(path.with_suffix(".npy"), X)
        path = path.with_suffix(".npy")
        source = lambda: stream(np.load(path, mmap_mode="r"), y)
    else:
        pa = pytest.importorskip("pyarrow")
        from pyarrow import csv, parquet
        table = pa.table({**{f"x{k}": X[:, k] for k in range(6)}, "label": y.astype(str)})
        (parquet.write_table if kind == "parquet" else csv.write_csv)(table, path)
        source = lambda: stream(str(path))

    def heard():
        def callback(row, _):
            if workers().rank == 1:
                time.sleep(0.01)
                path.write_bytes(path.read_bytes())
        try:
            fit(models.MLP([6, 3]), source(), **SETTINGS | {"callbacks": [callback], "checkpoint": tmp_path / "run"})
        except XManError as error:
            return str(error)
    sentences, statuses = ran(heard)
    assert statuses == [0, 0] and sentences == [f"{path} was written again during the run: begin anew with it"] * 2


class Threads(Comm):
    """The workers are threads of one process, which gather copies."""
    meeting, desk = threading.Barrier(2), [None, None]

    def __init__(self, rank):
        self.rank, self.size = rank, 2

    def gather(self, x):
        self.desk[self.rank] = copy.copy(x)
        self.meeting.wait()
        everyone = [*self.desk]
        self.meeting.wait()
        return everyone

    def abort(self, status):
        self.meeting.abort()


def test_threads_of_one_process_are_workers_too():
    fitted, answers = lambda: fit(models.MLP([6, 3], dtype=float), (X, y), optimizer="adam", **SETTINGS).parameters, [None, None]

    def task(rank):
        with joined(Threads(rank)):
            answers[rank] = fitted()

    pair = [threading.Thread(target=task, args=(rank,)) for rank in (0, 1)]
    for thread in pair:
        thread.start()
    for thread in pair:
        thread.join()
    alone = fitted()
    assert all(np.array_equal(answers[0][w], answers[1][w]) and np.max(np.abs(answers[0][w] - alone[w])) < 1e-12 for w in alone)
    assert not np.shares_memory(answers[0]["W1"], answers[1]["W1"])


def test_a_thread_that_has_left_is_alone_again_and_two_do_not_meet():
    class Two:
        size, barrier, abort, gather = 2, lambda self: None, lambda self, status: None, lambda self, x: [x, x]

        def __init__(self, rank):
            self.rank = rank

        def allreduce(self, x):
            return 2 * x

    threads, ranks, hook = threading.active_count(), [], sys.excepthook

    def task(rank):
        with joined(Two(rank)) as team, team.together():
            time.sleep(0.1)
            ranks.append((rank, workers().rank, workers() is team))
            team.timeout = 0.1  # its thread looks often
        ranks.append(workers().size)
    pair = [threading.Thread(target=task, args=(rank,)) for rank in (0, 1)]
    for thread in pair:
        thread.start()
    for thread in pair:
        thread.join()
    assert sorted(r for r in ranks if r != 1) == [(0, 0, True), (1, 1, True)] and ranks.count(1) == 2
    assert workers().size == 1 and sys.excepthook is hook and [*dealt(str, 2)] == ["0", "1"]
    deadline = time.monotonic() + 5
    while threading.active_count() > threads and time.monotonic() < deadline:
        time.sleep(0.05)
    assert threading.active_count() <= threads


SCRIPTS_OF = {"with_dask": ["distributed"], "with_ray": ["ray"], "with_ray_train": ["ray", "pandas", "torch"],
              "with_spark": ["pyspark"], "with_gloo": ["torch"]}  # each with the packages that it takes


@pytest.mark.parametrize("script", SCRIPTS_OF)
def test_the_manuals_engines_give_the_loss_of_one_worker(script):
    for package in SCRIPTS_OF[script]:
        pytest.importorskip(package)
    if script == "with_spark" and not shutil.which("java"):
        pytest.skip("Spark takes Java")
    words = [*["-m", "torch.distributed.run", "--nproc-per-node", "2"] * (script == "with_gloo"), SCRIPTS / f"{script}.py"]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=300)
    assert not done.returncode, done.stderr
    alone = fit(models.MLP([64, 10], dtype=float), load("digits").train, batch_size=600, progress=False).history[-1]["loss"]
    losses = [float(word) for word in done.stdout.split()]  # of all, or of the first
    assert losses and losses == pytest.approx([alone] * len(losses), rel=1e-12)
