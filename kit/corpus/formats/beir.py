"""BEIR (Thakur et al. 2021, https://github.com/beir-cellar/beir): a folder.

``corpus.jsonl`` (_id, title, text), ``queries.jsonl`` (_id, text) and ``qrels/train.tsv``, ``dev.tsv``, ``test.tsv``
(query-id, corpus-id, score). Without questions it is a corpus.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec

from kit.corpus import records
from kit.corpus.problems import Problems, quote
from kit.corpus.source import SPLITS, Item, Source
from kit.corpus.types import Passage, Question


class Document(msgspec.Struct):
    """A line of ``corpus.jsonl``."""

    id: str = msgspec.field(name="_id")
    text: str
    title: str = ""


class Query(msgspec.Struct):
    """A line of ``queries.jsonl``."""

    id: str = msgspec.field(name="_id")
    text: str


def read(folder: Path, problems: Problems) -> Source:
    """Supports are the documents with a score above 0, in the order of the file; passages keep their ids."""
    source = Source("beir")
    corpus, queries, qrels = folder / "corpus.jsonl", folder / "queries.jsonl", folder / "qrels"
    decoder = msgspec.json.Decoder(Document)
    for raw in records.read(corpus, problems):
        document = records.decode(raw, decoder, problems, corpus)
        if document is not None:
            passage = Passage(document.id, document.title, document.text, document=document.id)
            source.add_passage(passage, problems, id_field="_id", record=raw.number, file=corpus)
    if queries.exists() or qrels.exists():
        _read_questions(source, queries, _judged(source, qrels, problems), problems)
    return source


class Judgements(NamedTuple):
    """What is judged for a query: where this begins, and the scores of the documents."""

    split: str
    row: int
    scores: dict[str, int]


def _judged(source: Source, qrels: Path, problems: Problems) -> dict[str, Judgements]:
    judged: dict[str, Judgements] = {}
    files = sorted(qrels.glob("*.tsv")) if qrels.is_dir() else []
    if not files:
        problems.error("expected train.tsv, dev.tsv or test.tsv in this folder", file=qrels)
    for file in files:
        if file.stem not in SPLITS:
            problems.error("expected the name train.tsv, dev.tsv or test.tsv", file=file)
            continue
        for number, (query, document, score) in _rows(file, problems):
            split, _, scores = judged.setdefault(query, Judgements(file.stem, number, {}))
            if split != file.stem:
                problems.error(f"query {quote(query)} is in {split}.tsv too", record=number, file=file)
            elif document not in source.paragraphs:
                expected = f"expected the _id of a document of corpus.jsonl, {quote(document)} is none"
                problems.error(expected, record=number, field="corpus-id", file=file)
            elif scores.setdefault(document, score) != score:
                problems.error(f"document {quote(document)} has another score above", record=number, file=file)
    return judged


def _rows(file: Path, problems: Problems) -> list[tuple[int, tuple[str, str, int]]]:
    with records.open_binary(file) as source:
        data = source.read()
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as bad:
        row = data.count(b"\n", 0, bad.start) + 1
        problems.error(f"expected UTF-8 (byte {bad.start} is not)", record=row, file=file)
        return []
    rows = []
    for number, line in enumerate(lines, 1):
        columns = line.split("\t")
        if not line.strip() or (number == 1 and columns[-1].strip().lower() == "score"):
            continue
        if len(columns) != 3:
            expected = f"expected query-id, corpus-id and score between tabs, got {len(columns)} column(s)"
            problems.error(expected, record=number, file=file)
            continue
        try:
            rows.append((number, (columns[0].strip(), columns[1].strip(), int(columns[2]))))
        except ValueError:
            problems.error(f"expected a whole number, got {quote(columns[2])}", record=number, field="score", file=file)
    return rows


def _read_questions(source: Source, queries: Path, judged: dict[str, Judgements], problems: Problems) -> None:
    decoder = msgspec.json.Decoder(Query)
    known = set()
    for raw in records.read(queries, problems):
        query = records.decode(raw, decoder, problems, queries)
        if query is None:
            continue
        known.add(query.id)
        split, _, scores = judged.get(query.id, Judgements("", 0, {}))
        supports = [document for document, score in scores.items() if score > 0]
        if supports:
            question = Question(query.id, query.text, "", tuple((document,) for document in supports))
            where = {"record": records.label(raw, query.id), "file": queries}
            source.ask(Item(question, split=split), problems, id_field="_id", text_field="text", **where)
        elif split:
            where = {"record": records.label(raw, query.id), "file": queries}
            problems.note("no document is judged relevant: not asked", **where)
    for query, (split, row, _) in judged.items():
        if query not in known:
            expected = f"expected the _id of a query of queries.jsonl, {quote(query)} is none"
            problems.error(expected, record=row, field="query-id", file=queries.parent / "qrels" / f"{split}.tsv")
