"""Documents of one's own: PDFs to passages with their pages, tables as markdown, and the structures that hold them."""

from kit.corpus.pdf.reading import PASSAGE_LENGTH, read_document, read_documents
from kit.corpus.pdf.tables import Structure, arabic, label_of, markdown, structures

__all__ = [
    "PASSAGE_LENGTH",
    "Structure",
    "arabic",
    "label_of",
    "markdown",
    "read_document",
    "read_documents",
    "structures",
]
