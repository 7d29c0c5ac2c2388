"""Pictures: a model's objects, a list, a computation graph or a trace, as text for Graphviz and as SVG."""
from .picture import Arrow, BoxOfLines, Picture, picture

__all__ = ["Arrow", "BoxOfLines", "Picture", "picture"]
