"""The longer formulas of rows: what a library of arrays computes where it has no function of its own."""
