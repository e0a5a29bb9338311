"""TREC's fields and qrels.

Fields are separated by white space, so an id is written with its white space, control characters and ``%``
percent-encoded (``San Jose`` → ``San%20Jose``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from kit.corpus.types import Question
from kit.store import atomic_write

_UNSAFE = re.compile(r"[\s%\x00-\x1f\x7f]")


def encode_id(id: str) -> str:
    """An id as one field of a TREC file."""
    return _UNSAFE.sub(lambda match: quote(match[0]), id)


def write_qrels(questions: Iterable[Question], path: Path) -> None:
    """Write the supports as TREC qrels: ``question 0 passage 1``, a line for each passage that carries a support."""
    lines = [f"{encode_id(q.id)} 0 {encode_id(id)} 1\n" for q in questions for id in q.supporting_ids]
    atomic_write(path, "".join(lines).encode())
