"""Reports on graphs, as pages."""

from tgraph.pages.report import Report, report

__all__ = ["Report", "report"]
