"""BEIR (Thakur et al. 2021, https://github.com/beir-cellar/beir): a folder.

``corpus.jsonl`` (_id, title, text), ``queries.jsonl`` (_id, text) and ``qrels/train.tsv``, ``dev.tsv``, ``test.tsv``
(query-id, corpus-id, score). Without questions it is a corpus.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec

from kit.corpus.records import read_bytes
from kit.corpus.source import SPLITS, Item, Source, Unexpected, quote
from kit.corpus.types import Passage, Question


class BeirText(msgspec.Struct):
    """A line of ``corpus.jsonl`` or of ``queries.jsonl``."""

    id: str = msgspec.field(name="_id")
    text: str
    title: str = ""


class Judgements(NamedTuple):
    """What is judged for a query: where this begins, and the scores of the documents."""

    file: Path
    row: int
    scores: dict[str, int]


def read(folder: Path, source: Source) -> None:
    """Supports are the documents with a score above 0, in the order of the file; passages keep their ids."""
    queries, qrels = folder / "queries.jsonl", folder / "qrels"
    known, judged = set(), {}

    def add(document: BeirText) -> None:
        source.add_passage(Passage(document.id, document.title, document.text, document=document.id), "_id")

    def ask(query: BeirText) -> None:
        known.add(query.id)
        if query.id in judged:
            supports = tuple((id,) for id, score in judged[query.id].scores.items() if score > 0)
            if supports:
                source.ask(Item(Question(query.id, query.text, "", supports), split=judged[query.id].file.stem), "_id")
            else:
                source.tell("no document is judged relevant: not asked", error=False)

    source.each(folder / "corpus.jsonl", BeirText, add)
    if queries.exists() or qrels.exists():
        judged |= _judged(qrels, source)
        source.each(queries, BeirText, ask)
    for query, judgements in judged.items():
        if query not in known:
            source.at(judgements.file, judgements.row)
            source.tell(f"expected the _id of a query of queries.jsonl, {quote(query)} is none", "query-id")


def _judged(qrels: Path, source: Source) -> dict[str, Judgements]:
    judged: dict[str, Judgements] = {}
    files = sorted(qrels.glob("*.tsv"))
    if not files:
        source.at(qrels)
        source.tell("expected train.tsv, dev.tsv or test.tsv in this folder")
    for file in files:
        source.at(file)
        if file.stem not in SPLITS:
            source.tell("expected the name train.tsv, dev.tsv or test.tsv")
            continue
        for row, line in enumerate(read_bytes(file).split(b"\n"), 1):
            source.at(file, row)
            try:
                if line.strip() and not (row == 1 and line.lower().split()[-1] == b"score"):
                    _judge(line, row, file, judged, source)
            except Unexpected as error:
                source.tell(str(error), error.field)
    return judged


def _judge(line: bytes, row: int, file: Path, judged: dict[str, Judgements], source: Source) -> None:
    """Add the judgement of a line."""
    try:
        columns = [column.strip() for column in line.decode().split("\t")]
    except UnicodeDecodeError as bad:
        raise Unexpected(f"expected UTF-8 (byte {bad.start} of the line is not)") from None
    if len(columns) != 3:
        raise Unexpected(f"expected query-id, corpus-id and score between tabs, got {len(columns)} column(s)")
    query, document, score = columns
    if not score.removeprefix("-").isdecimal():
        raise Unexpected(f"expected a whole number, got {quote(score)}", "score")
    first, _, scores = judged.setdefault(query, Judgements(file, row, {}))
    if first != file:
        raise Unexpected(f"query {quote(query)} is in {first.name} too")
    if document not in source.paragraphs:
        expected = f"expected the _id of a document of corpus.jsonl, {quote(document)} is none"
        raise Unexpected(expected, "corpus-id")
    if scores.setdefault(document, int(score)) != int(score):
        raise Unexpected(f"document {quote(document)} has another score above")
