"""Values that stand for arrays in NumPy's code: manners, functions that know them, what is refused."""
