"""The structures of documents, pages and tables, with the passages that each of them holds (kgp.txt §3)."""

import re
from collections import defaultdict

import msgspec
import numpy as np

from kit.corpus.types import Corpus

#: "Table 3", "Tab. A1", "Table IV", "Table 2.1": what a caption begins with.
_CAPTION = re.compile(
    r"(?i:tab(?:le|\.))\s*(?i:no\.?\s*)?(?P<label>[A-Z]?\.?\d+(?:\.\d+)*|[IVXLC]+\b)(?=\s*[.:–—|-]|\s+[A-Z(]|\s*$)"
)
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


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
    held: dict[Structure, np.ndarray] = {}
    for document, rows in corpus.documents.items():
        pages, tables = defaultdict(list), defaultdict(list)
        for row in rows.tolist():
            passage = corpus.passages[row]
            if passage.page is not None:
                pages[Structure(document, "page", str(passage.page))].append(row)
            if passage.kind == "table" and (label := label_of(passage.text)):
                tables[Structure(document, "table", label)].append(row)
        held |= {structure: np.array(rows) for structure, rows in (pages | tables).items()}
    return held


def label_of(text: str) -> str | None:
    """The number that a table's text begins with, Roman numbers as 3 and not III; None for any other text."""
    found = _CAPTION.match(text)
    return found and arabic(found["label"])


def arabic(label: str) -> str:
    """A table's number in the one way in which the kit writes it: ``iv`` is ``4``, ``a.1`` is ``A1``."""
    label = label.upper()
    if not set(label) <= _ROMAN.keys():
        return label[0] + label[1:].lstrip(".") if label[0].isalpha() else label
    values = [_ROMAN[letter] for letter in label]
    return str(sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0])))
