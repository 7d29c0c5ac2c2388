"""The oracle JAX: a function is compiled as a whole and hardly optimised, since each is called once."""

import pytest

HARDLY = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


def jax_in_double():
    """JAX in double precision; skips the test where it is not installed."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


def at_once(fn, *args):
    """fn(*args) by JAX; line by line where that branches on a value, as its compress does."""
    jax = jax_in_double()
    try:
        return jax.jit(fn, compiler_options=HARDLY)(*args)
    except jax.errors.ConcretizationTypeError:
        return fn(*args)
