"""The explorer: one page, opened from disk, on which a reader steps through a list and its derivative,
and edits both."""
from .notebook import list_in_html, model_in_html
from .page import Page, explore

__all__ = ["Page", "explore", "list_in_html", "model_in_html"]
