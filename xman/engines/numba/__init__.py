"""The engine numba: engine.py, its layout and its kernels; groups, schedule and loops; the functions that loops call."""
