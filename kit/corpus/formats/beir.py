"""BEIR (Thakur et al. 2021, https://github.com/beir-cellar/beir): a folder.

It has ``corpus.jsonl`` (_id, title, text), ``queries.jsonl`` (_id, text) and, in the folder
``qrels``, ``train.tsv``, ``dev.tsv`` and ``test.tsv`` (query-id, corpus-id, score). Without
questions it is a corpus.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from kit.corpus.records import NumberedRecords, read_bytes
from kit.corpus.source import Item, Source, Unexpected, quote
from kit.corpus.types import SPLITS, FullText, Id, Passage, Question
from kit.errors import InputError

_COLUMNS = ("query-id", "corpus-id", "score")


class BeirDocument(Struct):
    id: Id = msgspec.field(name="_id")
    text: str
    title: str = ""


class BeirQuery(Struct):
    id: Id = msgspec.field(name="_id")
    text: FullText


class Judgement(Struct, rename=dict(zip(("query", "document"), _COLUMNS))):
    query: str
    document: str
    score: Annotated[str, Meta(pattern=r"\A-?\d+\Z")]


def read_folder(folder: Path, source: Source) -> None:
    """Supports are the documents with a score above 0, in the order of the file.

    Passages keep their ids.
    """

    source.read_records(
        folder / "corpus.jsonl",
        BeirDocument,
        lambda paper: source.add_passage(Passage(paper.id, paper.title, paper.text, paper.id)),
    )
    qrels = folder / "qrels"
    files = sorted(qrels.glob("*.tsv"))
    queries_file = folder / "queries.jsonl"
    if not files and not queries_file.exists():
        return

    if not files or any(file.stem not in SPLITS for file in files):
        raise InputError("expected train.tsv, dev.tsv or test.tsv in this folder", file=qrels)
    queries = {}
    source.read_records(
        queries_file,
        BeirQuery,
        lambda query: queries.update({query.id: query.text}),
    )
    _read_questions(files, queries, source)


def _read_questions(
    files: Sequence[Path],
    queries: dict[str, str],
    source: Source,
) -> None:
    """Add the queries that the files judge; a query belongs to one split."""
    splits = {}
    supports = {}
    for file in files:

        def add(judgement: Judgement, split: str = file.stem) -> None:
            query = judgement.query
            document = judgement.document
            if query not in queries:
                raise Unexpected(
                    f"expected the _id of a query of queries.jsonl, {quote(query)} is none",
                    "query-id",
                )
            if document not in source.paragraphs:
                raise Unexpected(
                    f"expected the _id of a document of corpus.jsonl, {quote(document)} is none",
                    "corpus-id",
                )
            if splits.setdefault(query, split) != split:
                raise Unexpected(f"query {quote(query)} is in {splits[query]}.tsv too", "query-id")
            if int(judgement.score) > 0:
                supports.setdefault(query, []).append(document)

        source.read_records(file, Judgement, add, _rows)

    for query in splits:
        if query not in supports:
            source.note(f"query {quote(query)}: no document is judged relevant, so it is not asked")
    for query in filter(supports.get, queries):
        question = Question(
            query,
            queries[query],
            answer="",
            supporting=tuple((document,) for document in dict.fromkeys(supports[query])),
        )
        source.add_question(Item(question, split=splits[query]))


def _rows(file: Path) -> NumberedRecords:
    """The lines of a file of qrels, without its header, as JSON."""
    text = read_bytes(file).decode("utf-8", "surrogateescape")
    for line_number, line in enumerate(text.split("\n"), 1):
        columns = [column.strip() for column in line.split("\t")]
        is_header = line_number == 1 and columns[-1].lower() == "score"
        if line.strip() and not is_header:
            record = json.dumps(dict(zip(_COLUMNS, columns)), ensure_ascii=False)
            yield line_number, record.encode("utf-8", "surrogateescape")
