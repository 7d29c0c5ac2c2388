"""The explorer: one page, opened from disk, on which a reader steps through a list and its derivative,
and edits both."""
from .display import (
    HeatMap,
    cost_in_html,
    linear_in_html,
    plan_in_html,
    program_in_html,
    report_in_html,
    result_in_html,
    trace_in_html,
)
from .notebook import list_in_html, listing_in_html, model_in_html
from .page import Page, explore

__all__ = ["HeatMap", "Page", "cost_in_html", "explore", "linear_in_html", "list_in_html",
           "listing_in_html", "model_in_html", "plan_in_html",
           "program_in_html", "report_in_html", "result_in_html", "trace_in_html"]
