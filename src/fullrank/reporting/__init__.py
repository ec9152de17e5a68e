"""Pages from results: one HTML file with everything a measurement says, and its figures.

Imports `_lib` to `inference` in the order of the folders; evaluation and cli may import it.
"""

from fullrank.reporting.build import drawn_metrics, report
from fullrank.reporting.figures.figure import Figure
from fullrank.reporting.result import Report

__all__ = ["Figure", "Report", "drawn_metrics", "report"]
