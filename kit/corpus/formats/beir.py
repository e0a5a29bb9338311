"""BEIR (Thakur et al. 2021, https://github.com/beir-cellar/beir): a folder.

``corpus.jsonl`` (_id, title, text), ``queries.jsonl`` (_id, text) and ``qrels/train.tsv``, ``dev.tsv``, ``test.tsv``
(query-id, corpus-id, score). Without questions it is a corpus.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kit.corpus.records import RawRecord, read_bytes
from kit.corpus.source import SPLITS, Item, Source, Unexpected, quote
from kit.corpus.types import FullText, Id, Passage, Question


class BeirDocument(msgspec.Struct):
    """A line of ``corpus.jsonl``."""

    id: Id = msgspec.field(name="_id")
    text: str
    title: str = ""


class BeirQuery(msgspec.Struct):
    """A line of ``queries.jsonl``."""

    id: Id = msgspec.field(name="_id")
    text: FullText


class Judgement(msgspec.Struct, rename={"query": "query-id", "document": "corpus-id"}):
    """A line of a file of qrels."""

    query: str
    document: str
    score: int


def read(folder: Path, source: Source) -> None:
    """Supports are the documents with a score above 0, in the order of the file; passages keep their ids."""
    source.each(
        folder / "corpus.jsonl",
        BeirDocument,
        lambda it: source.add_passage(Passage(it.id, it.title, it.text, document=it.id)),
    )
    files = sorted((folder / "qrels").glob("*.tsv"))
    if not (folder / "queries.jsonl").exists() and not (folder / "qrels").exists():
        return
    if not files or any(file.stem not in SPLITS for file in files):
        source.at(folder / "qrels")
        source.tell("expected train.tsv, dev.tsv or test.tsv in this folder")
        return
    queries: dict[str, str] = {}
    source.each(folder / "queries.jsonl", BeirQuery, lambda query: queries.__setitem__(query.id, query.text))
    split_of: dict[str, str] = {}
    for file in files:
        scores: dict[str, dict[str, int]] = {}

        def judge(it: Judgement, split: str = file.stem, scores: dict[str, dict[str, int]] = scores) -> None:
            if it.query not in queries:
                raise Unexpected(f"expected the _id of a query of queries.jsonl, {quote(it.query)} is none", "query-id")
            if it.document not in source.paragraphs:
                expected = f"expected the _id of a document of corpus.jsonl, {quote(it.document)} is none"
                raise Unexpected(expected, "corpus-id")
            if split_of.setdefault(it.query, split) != split:
                raise Unexpected(f"query {quote(it.query)} is in {split_of[it.query]}.tsv too")
            if scores.setdefault(it.query, {}).setdefault(it.document, it.score) != it.score:
                raise Unexpected(f"document {quote(it.document)} has another score above")

        source.each(file, Judgement, judge, _rows)
        source.at(file)
        for id in filter(scores.get, queries):
            if supports := tuple((document,) for document, score in scores[id].items() if score > 0):
                source.ask(Item(Question(id, queries[id], "", supports), split=file.stem))
            else:
                source.tell(f"query {quote(id)}: no document is judged relevant, so it is not asked", error=False)


def _rows(file: Path) -> Iterator[RawRecord]:
    """The lines of a file of qrels, without its header."""
    for number, line in enumerate(read_bytes(file).decode("utf-8", "surrogateescape").split("\n"), 1):
        columns = [column.strip() for column in line.split("\t")]
        if not line.strip() or (number == 1 and columns[-1].lower() == "score"):
            continue
        if len(columns) != 3:
            expected = "expected query-id, corpus-id and score between tabs"
            yield RawRecord(number, broken=f"{expected}, got {len(columns)} column(s)")
        elif any("\udc80" <= letter <= "\udcff" for letter in line):
            yield RawRecord(number, broken="expected UTF-8")
        else:
            score = int(columns[2]) if re.fullmatch(r"-?[0-9]{1,9}", columns[2]) else columns[2]
            fields = {"query-id": columns[0], "corpus-id": columns[1], "score": score}
            yield RawRecord(number, msgspec.json.encode(fields))
