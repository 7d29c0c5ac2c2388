"""Seeing how a derivative comes about: as a function, a trace, a derivation, a graph, a cost,
an error of differences."""
from .cost import Cost, cost
from .derivation import Derivation, derivation
from .differences import Errors, difference_errors
from .explain import Explanation, explain
from .paths import Paths, paths
from .picture import Picture, picture
from .polynomial import expand
from .source import source
from .terminal import spell_out

spell_out()

__all__ = ["Cost", "Derivation", "Errors", "Explanation", "Paths", "Picture", "cost", "derivation", "difference_errors", "expand",
           "explain", "paths", "picture", "source"]
