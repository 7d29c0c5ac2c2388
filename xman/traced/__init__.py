"""Values that stand for arrays in plain NumPy code: their manners, the functions that know them,
and what is refused."""
