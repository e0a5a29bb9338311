"""The structures of documents, pages and tables, with the passages that they hold (KGP §3)."""

import re
from collections import defaultdict

import numpy as np
from msgspec import Struct
from numpy import ndarray

from kit.corpus.types import Corpus

#: "Table 3", "Tab. A1", "Table IV", "Table 2.1": what a caption begins with.
_CAPTION = re.compile(
    r"(?i:tab(?:le|\.))\s*(?i:no\.?\s*)?"
    r"(?P<label>[A-Z]?\.?\d+(?:\.\d+)*|[IVXLC]+\b)"
    r"(?=\s*[.:–—|-]|\s+[A-Z(]|\s*$)"
)
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


class Structure(Struct, frozen=True):
    """A page or a table.

    ``kind`` is ``page`` or ``table``, ``label`` its number as text ("3", "A1").
    """

    document: str
    kind: str
    label: str

    def __str__(self) -> str:
        return f"{self.kind} {self.label} of {self.document}"


def structures(corpus: Corpus) -> dict[Structure, ndarray]:
    """Each page and table to the rows of what it holds, in the order of documents and of reading.

    A page holds the passages and tables on it. A table holds its parts, one per page.
    """
    held = {}
    for document, rows in corpus.documents.items():
        pages = defaultdict(list)
        tables = defaultdict(list)
        for row in rows.tolist():
            passage = corpus.passages[row]
            if passage.page is not None:
                pages[Structure(document, "page", str(passage.page))].append(row)
            if passage.kind == "table" and (label := label_of(passage.text)):
                tables[Structure(document, "table", label)].append(row)
        held |= pages | tables
    return {structure: np.array(rows) for structure, rows in held.items()}


def label_of(text: str) -> str | None:
    """The number that a table's text begins with, 3 for III; None for any other text."""
    caption = _CAPTION.match(text)
    return caption and arabic(caption["label"])


def arabic(label: str) -> str:
    """A table's number as the kit writes it: ``iv`` is ``4``, ``a.1`` is ``A1``."""
    label = label.upper()
    if set(label) <= _ROMAN.keys():
        values = [_ROMAN[letter] for letter in label]
        followers = [*values[1:], 0]
        signed = [
            -value if value < follower else value for value, follower in zip(values, followers)
        ]
        return str(sum(signed))
    return label[0] + label[1:].lstrip(".") if label[0].isalpha() else label
