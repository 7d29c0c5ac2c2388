"""The explorer: one page, opened from disk, on which a reader steps through a list and its derivative, and edits both."""
from .page import Page, explore

__all__ = ["Page", "explore"]
