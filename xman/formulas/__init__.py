"""Formulas as a person writes them: expressions of lines, their derivatives, polynomials, matrices, LaTeX."""
