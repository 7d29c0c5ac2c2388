"""Matrices, also in batches: their algebra, and their decompositions."""
