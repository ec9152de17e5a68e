"""One HTML page with everything a measurement says, and its figures one by one."""

from fullrank.report.building import build_report, write_report
from fullrank.report.figures import Figure
from fullrank.report.result import Report

__all__ = ["Figure", "Report", "build_report", "write_report"]
