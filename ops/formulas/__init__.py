"""The longer formulas of rows, for libraries of arrays that have no function of their own."""
