"""The structures of documents, pages and tables, and the passages that each of them holds (kgp.txt §3)."""

from __future__ import annotations

import msgspec
import numpy as np

from kit.corpus.pdf.tables import label_of
from kit.corpus.types import Corpus


class Structure(msgspec.Struct, frozen=True):
    """A page or a table: ``kind`` is ``page`` or ``table``, ``label`` its number as text ("3", "A1")."""

    document: str
    kind: str
    label: str

    def __str__(self) -> str:
        return f"{self.kind} {self.label} of {self.document}"


def structures(corpus: Corpus) -> dict[Structure, np.ndarray]:
    """Each page and table to the rows of what it holds, in the order of the documents and of their reading.

    A page holds the passages and tables on it; a table holds its parts, of which it has one a page.
    """
    held: dict[Structure, list[int]] = {}
    for document, rows in corpus.documents.items():
        for kind in ("page", "table"):
            for row in rows.tolist():
                passage = corpus.passages[row]
                if kind == "page" and passage.page is not None:
                    held.setdefault(Structure(document, kind, str(passage.page)), []).append(row)
                elif kind == "table" and passage.kind == "table" and (label := label_of(passage.text)):
                    held.setdefault(Structure(document, kind, label), []).append(row)
    return {structure: np.array(rows) for structure, rows in held.items()}
