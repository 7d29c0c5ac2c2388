"""Streams: the parameters that memory gives, to the last bit, from files, in any order of blocks, and after a break."""
from __future__ import annotations

import functools
import gzip
import operator
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from xman import models
from xman.errors import XManError
from xman.files.container import restore
from xman.scale import Workers, mpi, shares, stream, streams, tables
from xman.scale.streams import InTurn, Streamed, of_arrays
from xman.tables import read
from xman.tables.statistics import moments, word_statistics
from xman.train import evaluate, fit, loop, predict, run
from xman.train.step import TrainingStep

RNG = np.random.default_rng(0)
X, y = RNG.normal(size=(501, 4)), RNG.integers(0, 3, 501)
QUICK = {"epochs": 3, "batch_size": 20, "lr": 0.1, "progress": False, "engine": "numpy"}
SMALL = 4 * 4 * 110 * 10 / 1e6  # megabytes: windows of 110 rows


def trained(data, **settings):
    return fit(models.MLP([4, 5, 3], dtype=float), data, **{**QUICK, **settings}).parameters


def same(a, b):
    return all(np.array_equal(a[w], b[w]) for w in a)


def test_a_stream_that_is_one_window_gives_the_bits_of_memory(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    batches = [(X[k:k + 50], y[k:k + 50]) for k in range(0, 501, 50)]
    memory = trained((X, y))
    assert same(memory, trained(stream(mapped, y)))
    assert same(memory, trained(stream(batches))) and same(memory, trained(stream(lambda: iter(batches))))


def test_windows_give_the_bits_of_the_same_windows_in_memory_and_each_row_once_an_epoch():
    data, other = of_arrays(X, y, SMALL, rows=30), stream([(X[k:k + 30], y[k:k + 30]) for k in range(0, 501, 30)], memory=SMALL)
    data.ordered = True
    assert data.rows > 2 * data.window and same(trained(data), trained(other))
    data.ordered = False
    numbers = [some for _, _, some in minibatches(data, 20)]
    assert [*map(len, numbers)] == [20] * 25 + [1] and np.array_equal(np.sort(np.concatenate(numbers)), np.arange(501))
    for k in range(0, 26, 7):
        whole, later = minibatches(data, 20)[k:], Streamed(data, 20, 0).epoch(1, k)
        for (A, _, some), (B, _, rest) in zip(whole, later, strict=True):
            assert np.array_equal(A, B) and np.array_equal(some, rest) and np.array_equal(A, X[some])


def test_a_run_that_was_killed_within_an_epoch_goes_on_with_the_next_row(tmp_path, monkeypatch):
    data, step, left = of_arrays(X, y, SMALL, rows=30), TrainingStep.take, [37]
    whole = trained(data)

    def killed(self, *given):
        left[0] -= 1
        return step(self, *given) if left[0] else 1 / 0

    monkeypatch.setattr(TrainingStep, "take", killed)
    with pytest.raises(ZeroDivisionError):
        trained(data, checkpoint=tmp_path / "run", checkpoint_every=0)
    left[0] = -1
    assert restore(tmp_path / "run")[1]["state"]["batch"] == 10
    with pytest.raises(XManError, match="of a run with windows of 73 rows, not 146"):  # it would leave rows out
        trained(of_arrays(X, y, 2 * SMALL, rows=30), checkpoint=tmp_path / "run")
    assert same(whole, trained(data, checkpoint=tmp_path / "run"))


def test_threads_that_read_one_source_from_its_beginning_get_the_blocks_that_they_ask_for():
    batch = InTurn(lambda: (time.sleep(1e-5) or k for k in range(30)))
    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(lambda _: [batch(k) for k in range(30)], range(2))] == [[*range(30)]] * 2


@pytest.fixture
def together(monkeypatch):
    """A function of a number of workers and what each does: what each of so many threads finds."""
    here = threading.local()

    def found_by(n, what):
        held, all_here = {}, threading.Barrier(n)

        class Thread(Workers):
            def gathered(self, x):
                held[self.rank] = x
                all_here.wait(10)
                found = [held[k] for k in range(n)]
                all_here.wait(10)
                return found

            def reduce(self, buffer):
                buffer[...] = sum(self.gathered(buffer.copy()))

            def meet(self):
                self.gathered(None)

        def one(rank):
            here.workers = Thread()
            here.workers.comm = SimpleNamespace(barrier=lambda: None)
            here.workers.rank, here.workers.size = rank, n
            return what()

        with ThreadPoolExecutor(n) as pool:
            return [*pool.map(one, range(n))]

    for module in streams, mpi, shares, run, loop:
        monkeypatch.setattr(module, "workers", lambda: getattr(here, "workers", Workers()))
    return found_by


def minibatches(data, size, n=1, first=0):
    rank = streams.workers().rank
    mine = lambda rows, borrowed: slice(rows * rank // n, rows * (rank + 1) // n)
    return [tuple(map(np.copy, some)) for some in Streamed(data, size, 0, mine).epoch(1, first)]


def joined(parts):
    """Each minibatch of all workers."""
    return [tuple(map(np.concatenate, zip(*some, strict=True))) for some in zip(*parts, strict=True)]


def equal(some, others):
    return all(np.array_equal(a, b) for one, other in zip(some, others, strict=True) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("n, size, first, memory", [
    (2, 20, 0, SMALL), (3, 20, 7, SMALL), (3, 600, 0, SMALL), (7, 3, 20, SMALL), (5, 50, 0, SMALL), (60, 110, 1, SMALL),
    (3, 20, 7, 1)])
def test_workers_read_shares_and_take_the_rows_that_one_would_see(n, size, first, memory, together, monkeypatch):
    data, read = of_arrays(X, y, memory, rows=30), []
    whole, block = minibatches(data, size, 1, first), data.block
    monkeypatch.setattr(data, "block", lambda *some: [read.append(len(a)) or a for a in block(*some)])
    assert equal(whole, joined(together(n, lambda: minibatches(data, size, n, first))))
    # X and y, by all together: of a minibatch's 48 lanes no worker reads more than two that it shares
    assert sum(read) <= 2 * (n * 501 if memory == 1 else 501 * (1 + 2 * n * (48 % n > 0) / 48) + 60 * n)


def test_workers_with_fewer_rows_than_they_are_borrow_rows_that_do_not_count(together):
    data, model = of_arrays(X[:51], y[:51], SMALL / 4, rows=9), models.ResidualMLP(4, 5, 3, normalization="batch", dtype=float)
    here = lambda: fit(model, data, **QUICK | {"batch_size": 3, "epochs": 1}).parameters
    assert data.rows > data.window
    one, *several = [here(), *together(5, here)]
    assert all(np.allclose(a, other[w], 0, 1e-12) for other in several for w, a in one.items())


@pytest.mark.parametrize("away", [False, True])
def test_workers_with_a_core_each_read_between_their_steps_what_a_thread_would_read(away, monkeypatch):
    one = minibatches(of_arrays(X, y, SMALL, rows=30), 20)
    data, ran = of_arrays(X, y, SMALL, rows=30), []
    data.away, source = away, data.source
    data.source = lambda k: (time.sleep(0.01 * away), ran.append(threading.current_thread()), source(k))[-1]
    alone = Workers()
    alone.size, alone.crowded = 2, lambda: True
    monkeypatch.setattr(streams, "workers", lambda: alone)
    assert equal(one, [tuple(map(np.copy, some)) for some in Streamed(data, 20, 0).epoch(1)])
    assert {thread is threading.main_thread() for thread in ran} == {not away}


def test_workers_of_a_host_are_crowded_where_it_has_fewer_than_two_cores_for_each():
    here, nodes = Workers(), [("a", {0}), ("a", {1}), ("b", {0, 1})]
    here.gathered = lambda _: nodes
    assert here.crowded()
    nodes = nodes[2:]
    assert not here.crowded()


def test_the_rows_of_one_window_are_read_once(monkeypatch):
    data, read = of_arrays(X, y, 1, rows=30), []
    block = data.block
    monkeypatch.setattr(data, "block", lambda *some: read.append(some) or block(*some))
    trained(data)
    assert len(read) == 17


def test_statistics_of_pieces_merge_to_those_of_the_whole():
    A = RNG.normal(5, 2, (100, 3))
    A[::7, 1], A[40:60, 2] = np.nan, np.inf
    merged = functools.reduce(operator.add, map(moments, np.split(A, [0, 40, 60])))
    assert all(np.allclose(a, b, 1e-13) for a, b in zip(merged, moments(A), strict=True))
    assert np.isclose(merged.deviation()[2], np.std(np.delete(A[:, 2], np.s_[40:60])), 1e-13)
    some = np.array(["a b", "b c", "c", "c d"])
    assert word_statistics(some[:2], 9, True) + word_statistics(some[2:], 9, True) == word_statistics(some, 9, True)


@pytest.mark.parametrize("kind", ["parquet", "csv", "feather"])
def test_folders_of_tables_give_the_bits_of_the_table_in_memory(tmp_path, kind, together, monkeypatch):
    monkeypatch.setattr(tables, "CSV_BLOCK", 3000)
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    csv, feather = pytest.importorskip("pyarrow.csv"), pytest.importorskip("pyarrow.feather")
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "word": np.array(["red", "\"gre\nen\"", "blue"])[RNG.integers(0, 3, 501)],
                      "y": np.array(["no", "yes", "maybe"])[y]})
    write = {"parquet": lambda t, path: pq.write_table(t, path, row_group_size=60), "csv": csv.write_csv,
             "feather": feather.write_feather}[kind]
    for k in range(3):
        write(table.slice(k * 200, 200).select(table.column_names[::(-1) ** k]), str(tmp_path / f"{k}.{kind}"))
    if kind == "csv":
        (tmp_path / "1.csv.gz").write_bytes(gzip.compress((tmp_path / "1.csv").read_bytes()))
        (tmp_path / "1.csv").unlink()
    data = stream(tmp_path)
    whole = read(tmp_path)
    pair = data.prepared.features(whole), data.prepared.targets(whole)
    assert data.rows == 501 and data.prepared.classes == ("maybe", "no", "yes") and pair[0].shape[1] == 2 + 4
    assert np.allclose(pair[0][:, :2].mean(0), 0, atol=1e-6) and np.allclose(pair[0][:, :2].std(0), 1)
    model = models.MLP([6, 5, 3])
    one, two = (fit(model, rows, validation=rows, **QUICK) for rows in (pair, data))
    assert same(one.parameters, two.parameters)
    assert np.allclose(evaluate(model, one.parameters, data), evaluate(model, one.parameters, pair))
    assert np.allclose(predict(model, one.parameters, data), predict(model, one.parameters, pair[0]))
    parts = [data.drawn(0, *tenths).rows for tenths in ((0, 7), (7, 8), (8, 10))]
    assert sum(parts) == 501 and min(parts) > 30
    for merged in (one.prepared for one in together(4, lambda: stream(tmp_path))):  # of more workers than files
        assert merged.classes == data.prepared.classes and np.allclose(merged.features(whole), pair[0], 1e-6, 1e-6)
    assert equal(minibatches(data, 20), joined(together(2, lambda: minibatches(stream(tmp_path, prepared=data.prepared), 20, 2))))
    write(table.slice(0, 200).drop(["word"]), str(tmp_path / f"0.{kind}"))
    assert [c.name for c in stream(tmp_path, target="y").prepared.columns if c.kind == "category"] == ["word"]


def test_rows_that_are_sorted_by_their_target_have_all_classes_and_empty_files_none(tmp_path):
    pytest.importorskip("pyarrow")
    for name in "abc":
        (tmp_path / f"{name}.csv").write_text("x,y\n" + "".join(f"{k}.5,{name}\n" for k in range(20)))
    (tmp_path / "c.csv").write_text("x,z,y\n1.5,2,a\n2.5,2,c\n")
    assert stream(tmp_path, ignore="z").prepared.classes == ("a", "b", "c")
    (tmp_path / "c.csv").write_text("x,z,y\n1.5,2,c\n2.5,2,c\n")
    assert stream(tmp_path).prepared.classes == ("a", "b", "c")
    (tmp_path / "empty.csv").touch()
    with pytest.raises(XManError, match="has no rows"):
        stream(tmp_path / "empty.csv")


@pytest.mark.parametrize("kind, spoilt, said", [
    ("parquet", lambda text: text[:-50], r"1.parquet: cannot be read"),
    ("csv", lambda text: text[:-9], r"1.csv, from byte 9.. on, row 1: found 1 cell"),
    ("csv", lambda text: text[:300] + b"\x90\xff" + text[302:], r"1.csv: cannot be read: .*can't decode"),
    ("feather", lambda text: text[:-50], r"1.feather: cannot be read"),
    ("parquet", lambda text: None, r"1.parquet, row group 1: cannot be read"),
    ("csv", lambda text: None, r"1.csv: cannot be read"), ("feather", lambda text: None, r"1.feather: cannot be read")])
def test_an_error_of_a_stream_names_the_file_and_where_it_can_the_row(tmp_path, kind, spoilt, said):
    write_pieces(tmp_path, kind)
    data, file = stream(tmp_path), tmp_path / f"1.{kind}"
    spoil = spoilt(file.read_bytes())
    file.write_bytes(spoil) if spoil else file.unlink()
    with pytest.raises(XManError, match=said):
        stream(tmp_path, prepared=data.prepared).block(1) if spoil else data.block(1)


@pytest.mark.parametrize("kind, place", [("parquet", "1.parquet, row group 1"), ("csv", "1.csv"), ("feather", "1.feather")])
def test_a_number_that_is_too_large_is_told_with_its_file_and_row(tmp_path, kind, place):
    write_pieces(tmp_path, kind)
    prepared = stream(tmp_path).prepared
    write_pieces(tmp_path, kind, 1e300)
    with pytest.raises(XManError, match=f"{place}: X holds NaN or infinity, in its row 8"):
        stream(tmp_path, prepared=prepared).block(1)
    for target in "y", "a":
        with pytest.raises(XManError, match=r"'a' holds numbers from .* to 1e\+300, too large for their squares"):
            stream(tmp_path, target=target)
    with pytest.raises(XManError, match="block 3 of the stream: X holds NaN or infinity, in row 208 of all"):
        stream([(np.where(np.arange(k, k + 100)[:, None] == 207, np.inf, X[:100]), y[:100]) for k in range(0, 300, 100)]).block(2)


def write_pieces(folder, kind, entry=0.5):
    """Two tables of 40 rows, with an entry in the second."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    csv, feather = pytest.importorskip("pyarrow.csv"), pytest.importorskip("pyarrow.feather")
    write = {"parquet": pq.write_table, "csv": csv.write_csv, "feather": feather.write_feather}[kind]
    for k in range(2):
        a = np.where(np.arange(40) == 7, entry, X[:40, 0]) if k else X[:40, 0]
        write(pa.table({"a": a, "y": np.array(["no", "yes", "maybe"])[y[:40]]}), str(folder / f"{k}.{kind}"))


@pytest.mark.parametrize("make, said", [
    (lambda: stream(iter([(X, y)])), "once"), (lambda: stream("/no/such/folder"), "no such file"),
    (lambda: stream([(X, np.where(y == 0, np.nan, y))]).block(0), "NaN"), (lambda: stream([(X, y)], memory=1e-3), "block"),
    (lambda: [*stream([(X, y), (X[:, :2], y)]).batches(9)], "a row of X has shape"),
    (lambda: [*stream([(X.astype(int), y), (X, y)]).batches(9)], "block 2 .*: X holds float64, and int64 before"),
    (lambda: stream(X.tolist(), y), "arrays, not list"), (lambda: stream("rows/*.csv", "y"), "leave y out"),
    (lambda: stream(X, y, memory=0), "megabytes"), (lambda: stream(X, y, memory=np.inf), "megabytes"),
    (lambda: stream(X, y, target="z"), "takes no 'target'; there are memory"),
    (lambda: stream("rows/*.csv", how=None), "takes no 'how'; there are memory, prepared, target, ignore"),
    (lambda: stream({"a": [1]}), "by their path"),
    (lambda: fit(models.MLP([4, 3]), stream(X, y), class_weight="balanced"), "weights"),
])
def test_what_no_stream_can_be_is_refused(make, said):
    with pytest.raises(XManError, match=said):
        make()


def test_a_bucket_of_s3_gives_the_bits_of_the_folder(tmp_path, monkeypatch):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    server = pytest.importorskip("moto.server", reason="there is no moto here, which serves S3")
    fs = pytest.importorskip("pyarrow.fs")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "nobody")
    here = server.ThreadedMotoServer(port=0, verbose=False)
    here.start()
    try:
        address = "{}:{}".format(*here.get_host_and_port())
        s3 = fs.S3FileSystem(endpoint_override=address, scheme="http", region="us-east-1", allow_bucket_creation=True)
        s3.create_dir("rows")
        table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": np.array(["no", "yes", "maybe"])[y]})
        for k in range(2):
            with s3.open_output_stream(f"rows/{k}.parquet") as file:
                pq.write_table(table.slice(k * 300, 300), file, row_group_size=100)
            pq.write_table(table.slice(k * 300, 300), tmp_path / f"{k}.parquet", row_group_size=100)
        there = stream(f"s3://rows/*.parquet?endpoint_override={address}&scheme=http&region=us-east-1")
        model = models.MLP([2, 3])
        assert same(fit(model, there, **QUICK).parameters, fit(model, stream(tmp_path), **QUICK).parameters)
    finally:
        here.stop()
