"""Pictures: a model's objects, a list, a computation graph or a trace, as text for Graphviz and as SVG."""
from .drawing import Arrow, BoxOfLines, Picture
from .picture import picture

__all__ = ["Arrow", "BoxOfLines", "Picture", "picture"]
