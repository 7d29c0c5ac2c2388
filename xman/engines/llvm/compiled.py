"""From LLVM's text to functions, by way of the disk."""
from __future__ import annotations

import ctypes
import functools
import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ...errors import XManError, extra
from . import disk
from .products import address
from .step import DATA, ITEMS


@functools.cache
def llvm() -> ModuleType:
    """LLVM, ready to write code for this processor. XManError where Python is not the one that our code knows."""
    found = extra("llvmlite.binding", "fast", "the engine llvm")
    array, number = np.zeros(3), np.float64(2.5)
    pair = (array, number)
    read = lambda kind, at: kind.from_address(at).value
    pointer = ctypes.c_void_p
    if (read(pointer, id(pair) + ITEMS + 8), read(pointer, id(array) + DATA), read(ctypes.c_double, id(number) + DATA)) != (
            id(number), array.ctypes.data, 2.5):
        raise XManError("the engine llvm reads arrays where CPython keeps them, and this Python keeps them elsewhere")
    found.initialize_native_target()
    found.initialize_native_asmprinter()
    return found


def machine() -> Any:
    """A description of this processor. Each engine of LLVM owns one."""
    binding = llvm()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(), features=binding.get_host_cpu_features().flatten(), opt=3, jit=True)


def functions(text: str, count: int, routines: Iterable[str]) -> list[Callable[[tuple], int]]:
    """step0, step1 … of the text. routines: those of BLAS that it calls."""
    binding = llvm()
    for name in routines:
        binding.add_symbol(f"xman_{name}", address(name))
    made_of = [Path(__file__).read_text("utf-8"), binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten(),
               str(binding.llvm_version_info), binding.get_default_triple(), text]
    key = hashlib.sha256("\n".join(made_of).encode()).hexdigest()[:40]
    code = disk.load(key)
    if code is None:
        code = optimised(text)
        disk.store(key, code)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine())
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    found = []
    for k in range(count):
        function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.py_object)(engine.get_function_address(f"step{k}"))
        function.engine = engine  # lives as long as its code
        found.append(function)
    return found


def optimised(text: str) -> bytes:
    """The machine code of a text."""
    binding, target = llvm(), machine()
    module = binding.parse_assembly(text)
    module.triple, module.data_layout = binding.get_default_triple(), str(target.target_data)
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.loop_interleaving = options.loop_unrolling = True
    builder = binding.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    return target.emit_object(module)
