"""Values that stand for arrays in NumPy's code: their behaviour, the functions for them, the refusals."""
