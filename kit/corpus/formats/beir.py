"""BEIR (Thakur et al. 2021, https://github.com/beir-cellar/beir): a folder.

``corpus.jsonl`` (_id, title, text), ``queries.jsonl`` (_id, text) and ``qrels/train.tsv``, ``dev.tsv``, ``test.tsv``
(query-id, corpus-id, score). Without questions it is a corpus.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from kit.corpus.records import read_bytes
from kit.corpus.source import Item, Source, Unexpected, quote
from kit.corpus.types import SPLITS, FullText, Id, Passage, Question
from kit.errors import InputError

_COLUMNS = ("query-id", "corpus-id", "score")


class BeirDocument(msgspec.Struct):
    id: Id = msgspec.field(name="_id")
    text: str
    title: str = ""


class BeirQuery(msgspec.Struct):
    id: Id = msgspec.field(name="_id")
    text: FullText


class Judgement(msgspec.Struct, rename=dict(zip(("query", "document"), _COLUMNS))):
    query: str
    document: str
    score: Annotated[str, Meta(pattern=r"\A-?\d+\Z")]


def read(folder: Path, source: Source) -> None:
    """Supports are the documents with a score above 0, in the order of the file; passages keep their ids."""
    source.each(
        folder / "corpus.jsonl",
        BeirDocument,
        lambda it: source.add_passage(Passage(it.id, it.title, it.text, document=it.id)),
    )
    files = sorted((folder / "qrels").glob("*.tsv"))
    if not (folder / "queries.jsonl").exists() and not files:
        return
    if not files or any(file.stem not in SPLITS for file in files):
        raise InputError(
            "expected train.tsv, dev.tsv or test.tsv in this folder", file=folder / "qrels"
        )
    queries: dict[str, str] = {}
    source.each(
        folder / "queries.jsonl", BeirQuery, lambda query: queries.update({query.id: query.text})
    )
    splits: dict[str, str] = {}
    supports: dict[str, dict[str, None]] = {}
    for file in files:

        def judge(it: Judgement, split: str = file.stem) -> None:
            if it.query not in queries:
                raise Unexpected(
                    f"expected the _id of a query of queries.jsonl, {quote(it.query)} is none",
                    "query-id",
                )
            if it.document not in source.paragraphs:
                expected = (
                    f"expected the _id of a document of corpus.jsonl, {quote(it.document)} is none"
                )
                raise Unexpected(expected, "corpus-id")
            if splits.setdefault(it.query, split) != split:
                raise Unexpected(
                    f"query {quote(it.query)} is in {splits[it.query]}.tsv too", "query-id"
                )
            if int(it.score) > 0:
                supports.setdefault(it.query, {})[it.document] = None

        source.each(file, Judgement, judge, _rows)
    for id in splits.keys() - supports.keys():
        source.note(f"query {quote(id)}: no document is judged relevant, so it is not asked")
    for id in filter(supports.get, queries):
        source.ask(
            Item(
                Question(id, queries[id], "", tuple((it,) for it in supports[id])), split=splits[id]
            )
        )


def _rows(file: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file of qrels, without its header, as JSON."""
    for number, line in enumerate(
        read_bytes(file).decode("utf-8", "surrogateescape").split("\n"), 1
    ):
        columns = [column.strip() for column in line.split("\t")]
        if line.strip() and not (number == 1 and columns[-1].lower() == "score"):
            record = json.dumps(dict(zip(_COLUMNS, columns)), ensure_ascii=False)
            yield number, record.encode("utf-8", "surrogateescape")
