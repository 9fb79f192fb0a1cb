"""lab.report: write a sweep or a design as an HTML file that opens from disk."""

from .page import gather_page
from .render import check_plotly, write_report

__all__ = ["check_plotly", "gather_page", "write_report"]
