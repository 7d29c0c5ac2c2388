"""The machine code of the engine llvm: on disk, for other processors, and the process that makes it."""
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from steps_of_llvm import step_of

import xman

pytest.importorskip("llvmlite")
from xman.engines.llvm import compiled
from xman.engines.llvm.step import NestStep
from xman.engines.nests.lines import nests_of
from xman.engines.specialise import program_of


def test_code_that_is_cut_short_is_not_run(own_cache):
    compiled.keep_on_disk("key", b"code")
    assert compiled.code_on_disk("key") == b"code"
    file = own_cache / "key.o"
    file.write_bytes(file.read_bytes()[:-1])
    assert compiled.code_on_disk("key") is None and compiled.code_on_disk("other") is None


def test_the_oldest_code_is_removed_first(own_cache, monkeypatch):
    monkeypatch.setattr(compiled, "KEPT", 3)
    for k in range(5):
        compiled.keep_on_disk(f"key{k}", b"code")
        os.utime(own_cache / f"key{k}.o", (k, k))
    compiled.cache_folder.cache_clear()
    assert compiled.cache_folder() and sorted(path.name for path in own_cache.iterdir()) == ["key2.o", "key3.o", "key4.o"]


@pytest.mark.parametrize("place", ["a file", "no rights", "full"])
def test_a_cache_that_cannot_be_written_costs_nothing_but_time(own_cache, place, monkeypatch):
    if place == "a file":
        own_cache.write_text("not a folder")
    elif place == "no rights":
        monkeypatch.setattr(compiled.Path, "mkdir", refused)
    else:
        monkeypatch.setattr(compiled.Path, "write_bytes", refused)
    step = step_of([("y", "exp", ("x",))], {"x": np.zeros(3)})
    assert step({"x": np.zeros(3)})["y"].tolist() == [1, 1, 1] and not list(own_cache.glob("*.o"))


def refused(*args, **more):
    raise OSError(28, "No space left on device")


WITHOUT = """
import sys
sys.modules["llvmlite"] = None
import numpy as np, xman
step = xman.compile([("y", "exp", ("x",))])
print(step({"x": np.zeros(2)})["y"].tolist(), step.engine, "xman[fast]" in step.why)
"""


def test_without_llvmlite_numpy_runs_the_list_and_says_what_to_install():
    done = subprocess.run([sys.executable, "-W", "error", "-c", WITHOUT], capture_output=True, text=True, check=True,
                          env={**os.environ, "XMAN_ENGINE": "auto"})
    assert done.stdout == "[1.0, 1.0] numpy True\n"


GENERIC = """
import numpy as np, xman
steps = [("a", "dot", ("x", "x")), ("b", "sin", ("a",)), ("c", "softmax", ("b",)), ("d", "where", (True, "c", "a")), ("y", "sum", ("d", 0))]
x = np.linspace(-2, 2, 49).reshape(7, 7).astype(np.float32)
step = xman.compile(steps, engine="llvm")
print(np.allclose(step({"x": x})["y"], xman.eval(steps, {"x": x})["y"], rtol=1e-5), step.engine)
"""


def test_a_processor_without_avx_has_code_of_its_own(own_cache):
    """The same folder for both: code of one processor is never run on another."""
    for cpu in ("", "x86-64"):
        done = subprocess.run([sys.executable, "-c", GENERIC], capture_output=True, text=True, check=True, env={**os.environ, "XMAN_CPU": cpu})
        assert done.stdout == "True llvm\n"
    assert len([*own_cache.glob("*.o")]) == 2


@pytest.mark.skipif(platform.machine() != "x86_64", reason="for x86-64")
def test_code_for_a_processor_without_avx_has_no_avx(monkeypatch):
    from xman.engines.llvm.compiled import llvm
    from xman.engines.llvm.step import NestStep
    program = program_of(xman.WengertList([("y", "tanh", ("x",))]), {"x": np.ones(1000)}, ("y",), {})
    text = NestStep(nests_of(program)).text
    found = {}
    for cpu in ("x86-64", "haswell"):
        monkeypatch.setenv("XMAN_CPU", cpu)
        module, machine = llvm().passed(text)
        found[cpu] = "ymm" in machine.emit_assembly(module)
    assert found == {"x86-64": False, "haswell": True}


def test_processes_that_compile_at_once_share_a_folder(own_cache):
    at_once = [subprocess.Popen([sys.executable, "-c", GENERIC], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[0] for process in at_once] == ["True llvm\n"] * 3
    assert len([*own_cache.iterdir()]) == 1


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this reads Linux's figure of a process's memory")
def test_compiling_keeps_no_memory():
    resident = lambda: int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    steps = xman.WengertList([("y", "exp", ("x",)), ("z", "mul", ("y", "x")), ("s", "sum", ("z",))])
    text = NestStep(nests_of(program_of(steps, {"x": np.ones(200)}, ("s",), {}))).text
    for _ in range(5):
        compiled.llvm().optimised(text)
    before = resident()
    for _ in range(15):
        compiled.llvm().optimised(text)
    assert resident() - before < 15 * 30 * 1024


def test_a_module_of_the_users_called_enum_does_not_reach_the_compilers_process(tmp_path, monkeypatch):
    (tmp_path / "enum.py").write_text("raise SystemExit('it is not ours')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert compiled.compiled_apart("define i64 @one() {\n  ret i64 1\n}")
