"""Four invented reports with pages and tables, as PDFs, and questions about them: ``data/reports``.

``python -m kit.corpus.reports`` writes them again, byte for byte.
"""

from kit.corpus.reports.generate import reports, write

__all__ = ["reports", "write"]
