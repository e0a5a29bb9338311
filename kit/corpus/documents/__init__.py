"""Documents of one's own: PDFs to passages with their pages, tables as markdown, and the structures that hold them."""

from kit.corpus.documents.reading import PASSAGE_LENGTH, read_document, read_documents
from kit.corpus.documents.structures import Structure, structures

__all__ = ["PASSAGE_LENGTH", "Structure", "read_document", "read_documents", "structures"]
