"""Four invented reports with pages and tables, as PDFs, and questions about them (``kit data make reports``)."""

from .generate import main, reports, write

__all__ = ["main", "reports", "write"]
