"""The explorer: a page on which a reader steps through a list and its derivative, and edits both."""
from ..errors import suggesting
from .display import HeatMap
from .page import Page, explore

__all__ = ["HeatMap", "Page", "explore"]
suggesting(__name__)
