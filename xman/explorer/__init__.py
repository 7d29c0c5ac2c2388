"""The explorer: a page on which a reader steps through a list and its derivative, and edits both."""
from .display import HeatMap
from .page import Page, explore

__all__ = ["HeatMap", "Page", "explore"]
