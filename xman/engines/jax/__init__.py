"""The engine jax: engine.py cuts a list into what XLA compiles, table.py has JAX's function for each operator."""
