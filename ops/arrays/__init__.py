"""Rows that are linear in arrays: products, rearrangements, and looking up."""
