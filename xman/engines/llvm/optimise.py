"""From LLVM's text to machine code: in this process, or as a program that reads the text and can be ended."""
from __future__ import annotations

import functools
import os
import sys
from typing import Any


@functools.cache
def binding() -> Any:
    """LLVM, ready for this processor."""
    from llvmlite import binding
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def machine() -> Any:
    """LLVM's description of this processor, or of XMAN_CPU. Each engine of LLVM owns one."""
    cpu, features, *_ = processor()
    target = binding().Target.from_default_triple()
    return target.create_target_machine(cpu=cpu, features=features, opt=3, jit=True)


def processor() -> tuple[str, str, str, str]:
    """(the processor's name, its features, LLVM's version, the system)."""
    cpu = os.environ.get("XMAN_CPU")
    features = "" if cpu else binding().get_host_cpu_features().flatten()
    if "+avx2" in features:  # loads from several places at once are slower than one by one
        features += ",+prefer-no-gather,+prefer-no-scatter"
    name, version = cpu or binding().get_host_cpu_name(), str(binding().llvm_version_info)
    return name, features, version, binding().get_default_triple()


def optimised(text: str) -> bytes:
    module, target = passed(text)
    return target.emit_object(module)


def passed(text: str) -> tuple[Any, Any]:
    """(the text after LLVM's passes, the machine)."""
    target = machine()
    module = binding().parse_assembly(text)
    module.triple, module.data_layout = binding().get_default_triple(), str(target.target_data)
    options = binding().create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.loop_interleaving = options.loop_unrolling = True
    builder = binding().create_pass_builder(target, options)
    manager = builder.getModulePassManager()
    manager.run(module, builder)
    # 60 KiB and more. From llvmlite 0.45 on its closing does not free them: there it finds the `_dispose` of
    # ObjectRef, which does nothing, before that of its other base class
    bases = [vars(kind) for kind in type(manager).__mro__ if kind is not binding().ffi.ObjectRef]
    next(names["_dispose"] for names in bases if "_dispose" in names)(manager)
    manager.detach()
    return module, target


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(10)  # programs for which a user waits go first
    sys.stdout.buffer.write(optimised(sys.stdin.buffer.read().decode()))
