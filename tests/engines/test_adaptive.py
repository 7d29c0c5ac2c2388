"""Nobody waits for a compiler: which engine begins, when the faster one takes over, and what happens if a process ends or forks."""

import os
import subprocess
import sys
import threading
import time
import tracemalloc
import weakref

import numpy as np
import pytest

import xman
from xman import WengertList, eval
from xman.engines.adaptive import PATIENCE, starter_and_rivals
from xman.engines.door import ENGINES, Compiled
from xman.engines.program import Built
from xman.models import MLP
from xman.train import fit

R = np.random.default_rng(15)
CHAIN = WengertList([(f"z{k + 1}", "tanh", (f"z{k}",)) for k in range(100)])
UPDATE = WengertList([*CHAIN, ("d", "mul", ("z100", 0.1)), ("w_next", "add", ("w", "d"))])
needs_llvm = pytest.mark.skipif("llvm" not in ENGINES or not __import__("importlib").util.find_spec("llvmlite"), reason="the engine llvm needs llvmlite")


@pytest.fixture
def rival(monkeypatch):
    """An engine of the test's own in the place of the one that compiles: what it does is in the dictionary."""
    does = {"wait": threading.Event(), "slower": 0.0, "error": None, "begun": 0}

    def begin(program):
        does["begun"] += 1
        assert does["wait"].wait(60)

        def run(values):
            if does["error"]:
                raise does["error"]
            time.sleep(does["slower"])
            found = eval(program.original, values)
            for y, x in program.inplace.items():
                values[x][...] = found[y]
            return {y: found[y].copy() for y in program.outputs}
        return lambda: Built(run, "", "")

    engine = ENGINES["llvm"]._replace(preference=lambda *_: (50, "mine"), seconds=lambda _: 1.0, file="xman.engines.interpret", package="")
    monkeypatch.setattr(type(engine), "begin", lambda self, program: begin(program))
    monkeypatch.setitem(ENGINES, "llvm", engine)
    monkeypatch.setenv("XMAN_ENGINE", "auto")
    return does


def test_the_engine_that_begins_takes_a_blink_and_what_another_is_ahead_of_is_not_built():
    seconds = {"reference": 0, "plain": 0.1, "coded": 3, "compiled": 9, "worse": 10}
    ranks = {"reference": 0, "plain": 1, "coded": 15, "compiled": 20, "worse": 12}
    assert starter_and_rivals(ranks, seconds, 0.25) == ("plain", ["coded", "compiled"])
    assert starter_and_rivals(ranks, seconds | {"plain": 2}, 0.25) == ("reference", ["plain", "coded", "compiled"])
    assert starter_and_rivals(ranks, seconds | {"compiled": 0.2}, 0.25) == ("compiled", [])
    assert starter_and_rivals(ranks, seconds, 5)[0] == "coded"


def calls(step, n=20, **values):
    """Calls of UPDATE, each against the interpreter."""
    for _ in range(n):
        wanted = eval(UPDATE, values)
        np.testing.assert_allclose(step(values)["z100"], wanted["z100"], rtol=1e-12)
        np.testing.assert_allclose(values["w"], wanted["w_next"], rtol=1e-12)


@pytest.mark.parametrize("slower", [0.0, 0.05])
def test_the_faster_of_two_programs_stays_and_updates_in_place_go_on(rival, slower, monkeypatch):
    rival["slower"] = slower
    if not slower:  # the one that begins is slowed down
        build = ENGINES["numpy"].build
        monkeypatch.setattr("xman.engines.numpy.build", lambda program, build=build: slowed(build_numpy(program)))
    step = xman.compile(UPDATE, ["z100"], inplace={"w": "w_next"})
    values = {"z0": R.normal(size=(3, 4)), "w": R.normal(size=(3, 4))}
    calls(step, 5, **values)
    assert rival["begun"] == 1  # one thread builds
    assert step.engine == "numpy" and "to build 102 lines takes llvm long" in step.why
    begins = weakref.ref(step._latest.built.run)
    rival["wait"].set()
    while not step._latest.ready:
        time.sleep(0.01)
    calls(step, **values)
    assert step.engine == ("numpy" if slower else "llvm") and "llvm, built meanwhile, took" in step.why
    assert "run" in vars(step._latest) and (begins() is None) == (not slower)  # and its memory with it


def slowed(built):
    return built._replace(run=lambda values: time.sleep(0.02) or built.run(values))


from xman.engines.numpy import build as build_numpy  # noqa: E402


@pytest.mark.parametrize("when", ["it is built", "it runs"])
def test_an_engine_that_fails_meanwhile_leaves_everything_as_it_was(rival, when, monkeypatch):
    if when == "it runs":
        rival["error"] = ArithmeticError("half of it")
    else:
        monkeypatch.setattr(type(ENGINES["llvm"]), "begin", lambda self, program: 1 / 0)
    rival["wait"].set()
    step = xman.compile(UPDATE, ["z100"], inplace={"w": "w_next"})
    values = {"z0": R.normal(size=3), "w": R.normal(size=3)}
    calls(step, 2, **values)
    while "cannot" not in step.why:
        calls(step, 1, **values)
        time.sleep(0.01)
    calls(step, 3, **values)
    assert step.engine == "numpy" and ("half of it" if when == "it runs" else "ZeroDivisionError") in step.why


def test_a_time_limit_that_ends_while_the_new_program_runs_comes_out(rival):
    rival["error"] = TimeoutError("time is up")
    rival["wait"].set()
    step = xman.compile(CHAIN, ["z100"])
    with pytest.raises(TimeoutError, match="time is up"):
        for _ in range(1000):
            step({"z0": np.ones(3)})
            time.sleep(0.01)
    assert step.engine == "numpy" and "cannot" not in step.why


def test_several_threads_may_call_while_it_is_built(rival):
    step, wrong = xman.compile(CHAIN, ["z100"]), []
    x = R.normal(size=(4, 50))
    wanted = [eval(CHAIN, {"z0": row})["z100"] for row in x]

    def work(k):
        for _ in range(100):
            if not np.allclose(step({"z0": x[k]})["z100"], wanted[k], rtol=1e-12):
                wrong.append(k)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    rival["wait"].set()
    for thread in threads:
        thread.join()
    assert not wrong and step.why.count("built meanwhile") <= 1


def test_other_shapes_have_a_program_of_their_own_meanwhile(rival):
    step = xman.compile(CHAIN, ["z100"])
    for _ in range(3):
        for x in (np.ones(3), np.ones((2, 2)), 1.0, np.ones(3, np.float32)):
            assert np.shape(step({"z0": x})["z100"]) == np.shape(x)
    assert len(step._programs) == 4
    rival["wait"].set()


def test_the_environment_and_the_name_of_an_engine_decide(rival, monkeypatch):
    monkeypatch.setenv("XMAN_ENGINE", "interpret")
    for step in (xman.compile(CHAIN), xman.compile(CHAIN, engine="numpy")):
        step({"z0": np.ones(3)})
        assert isinstance(step._latest, Built) and step.engine in ("interpret", "numpy")


# fit goes by the list alone


def test_a_program_that_does_not_adapt_is_chosen_by_its_list_alone(rival, monkeypatch):
    for seconds, engine in ((PATIENCE, "llvm"), (PATIENCE + 1, "numpy")):
        monkeypatch.setitem(ENGINES, "llvm", ENGINES["llvm"]._replace(seconds=lambda _, s=seconds: s))
        step = Compiled(CHAIN, ["z100"], "auto", None, adapts=False)
        step({"z0": np.ones(3)})
        assert step.engine == engine and isinstance(step._latest, Built)


def test_a_run_under_load_is_the_same_to_the_last_bit(monkeypatch):
    monkeypatch.setenv("XMAN_ENGINE", "auto")
    monkeypatch.setattr("xman.engines.adaptive.BLINK", 0.0)
    data = R.normal(size=(256, 5)), R.integers(0, 3, 256)

    def run():
        found = fit(MLP([5, 8, 3]), data, epochs=3, batch_size=32, progress=False).parameters
        return {name: a.tobytes() for name, a in found.items()}
    alone, stop = run(), threading.Event()

    def busy():
        while not stop.is_set():
            sum(range(1000))
    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    loaded = run()
    stop.set()
    assert alone == loaded


def test_a_run_goes_on_from_a_checkpoint_with_the_engine_that_began_it(tmp_path, monkeypatch):
    data, settings = (R.normal(size=(400, 5)), R.integers(0, 3, 400)), {"batch_size": 1, "progress": False}
    monkeypatch.setenv("XMAN_ENGINE", "auto")
    monkeypatch.setattr("xman.engines.door.PATIENCE", 1e-9)  # as where llvmlite is not installed
    begun = [fit(MLP([5, 8, 3]), data, epochs=2, checkpoint=tmp_path / name, **settings).parameters for name in ("one", "two")]
    assert all((a == begun[1][name]).all() for name, a in begun[0].items())
    monkeypatch.setattr("xman.engines.door.PATIENCE", 20.0)
    chosen, build = [], Compiled._first
    monkeypatch.setattr(Compiled, "_first", lambda self, *args: (build(self, *args), chosen.append(self.engine))[0])
    fit(MLP([5, 8, 3]), data, epochs=3, checkpoint=tmp_path / "one", **settings)
    monkeypatch.setenv("XMAN_ENGINE", "numpy")
    fit(MLP([5, 8, 3]), data, epochs=3, checkpoint=tmp_path / "two", **settings)
    assert chosen == ["interpret", "numpy"]


# the process ends, is interrupted, or forks


PROCESS = """
import os, signal, sys, time
import numpy as np, xman
lines = xman.WengertList([(f"z{k + 1}", ("tanh", "sin")[k % 2], (f"z{k}",)) for k in range(900)] + [("y", "add", ("w", "z900"))])
step, x, w = xman.compile(lines, ["z900"], inplace={"w": "y"}), np.linspace(-1, 1, 9), np.zeros(9)
wanted = xman.eval(lines, {"z0": x, "w": w})["z900"]
def call(n=1):
    for _ in range(n):
        assert np.allclose(step({"z0": x, "w": w})["z900"], wanted, rtol=1e-12)
def until_it_is_built():
    while step.engine != "llvm":
        call()
        time.sleep(0.01)
        assert "cannot" not in step.why, step.why
call(2)
assert step.engine == "numpy" and step._latest.thread, step.why
"""
ENDS = {
    "exit": "print('done', flush=True)",
    "fork": """
if not (child := os.fork()):
    call(3)
    assert step._latest.thread.is_alive()  # its own
    print("child", flush=True)
    sys.exit()
assert os.waitpid(child, 0)[1] == 0
until_it_is_built()
print("done", flush=True)
""",
    "fork while a thread builds": """
import threading
from xman.engines import numpy as engine
build, begun = engine.build, threading.Event()
engine.build = lambda program: (begun.set(), time.sleep(0.2), build(program))[-1]
step = xman.compile(lines, ["z900"], "numpy")
first = threading.Thread(target=step, args=({"z0": x, "w": w},))
first.start()
begun.wait()
if not (child := os.fork()):
    signal.alarm(60)  # what hangs ends
    call()
    os._exit(0)
first.join()
assert os.waitpid(child, 0)[1] == 0
print("done", flush=True)
""",
    "Ctrl-C": """
done = 0
def handler(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGINT, handler)
signal.setitimer(signal.ITIMER_REAL, 0.3)
signal.signal(signal.SIGALRM, lambda *_: os.killpg(0, signal.SIGINT))
try:
    while True:
        time.sleep(0.01)
except KeyboardInterrupt:
    pass
until_it_is_built()
print("done", flush=True)
""",
}


@needs_llvm
@pytest.mark.parametrize("end", ENDS)
def test_nothing_hangs_and_nothing_is_lost_where_a_process_ends_in_the_middle(end, own_cache):
    done = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROCESS + ENDS[end]], capture_output=True, text=True, timeout=120, start_new_session=True,
                          env={**os.environ, "XMAN_ENGINE": "auto", "OPENBLAS_NUM_THREADS": "1"})
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.endswith("done\n")


def network():
    """A training step of it, its updates, and values."""
    sizes, batch = (64, 512, 512, 8), 64
    model = MLP(list(sizes))
    X, y = R.normal(size=(batch, sizes[0])), np.eye(sizes[-1])[R.integers(0, sizes[-1], batch)]
    steps = model.operationSequence(model.loss)
    names = [name for name in steps.inputs if model.isParam(name)]
    lines = xman.gradient(steps, "loss", names) + [(f"{w}_next", "subtract", (w, f"dloss_d{w}")) for w in names]
    return lines, {w: f"{w}_next" for w in names}, model.inputDict(X=X, y=y)


def masks():
    """Truths of a chain's end, inverted, counted and spread."""
    steps = [*[(f"z{k + 1}", "tanh", (f"z{k}",)) for k in range(12)], ("c", "greater", ("z12", 0.0)), ("n", "sum", ("c", 1, True)),
             ("other", "logical_not", ("c",)), ("m", "broadcast", ("n", "z12")), ("p", "mul", ("m", "other")), ("loss", "sum", ("p",))]
    return WengertList([*steps, ("z0_next", "add", ("z0", "p"))]), {"z0": "z0_next"}, {"z0": R.normal(size=(300, 300))}


@pytest.mark.parametrize("work", [network, masks])
def test_the_first_step_takes_no_more_memory_than_those_after_it(work):
    (lines, inplace, values), peaks = work(), []
    step = xman.compile(lines, ["loss"], "numpy", inplace)
    xman.compile(lines, ["loss"], "numpy")(values)  # which imports what it needs
    tracemalloc.start()
    for _ in range(2):
        tracemalloc.reset_peak()
        step(values)
        peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    assert peaks[0] < 1.2 * peaks[1]
