"""PDFs to passages: text by page, tables as markdown (KGP §3 and 8.1, Figure 8)."""

from kit.corpus.pdf.reading import read_document
from kit.corpus.pdf.tables import markdown
