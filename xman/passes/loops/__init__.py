"""Passes on loops: they are found, written out, and cut down to what is read."""
