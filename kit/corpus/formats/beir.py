"""BEIR (Thakur et al. 2021, https://github.com/beir-cellar/beir): a folder.

It has ``corpus.jsonl`` (_id, title, text), ``queries.jsonl`` (_id, text) and, in the folder
``qrels``, ``train.tsv``, ``dev.tsv`` and ``test.tsv`` (query-id, corpus-id, score). Without
questions it is a corpus.

Published sets have flaws, which are told and counted: rows that name an unknown query or document
are left out; of repeated ones the last counts, as in BEIR's own code.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from kit.corpus.records import NumberedRecords, read_utf8
from kit.corpus.source import Item, LeftOut, Source, quote
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
    score: Annotated[str, Meta(pattern=r"\A-?\d+(?:\.0*)?\Z")]


def read_folder(folder: Path, source: Source) -> None:
    """Supports are the documents with a score above 0, in the order of the file.

    Passages keep their ids.
    """

    def add_document(document: BeirDocument) -> None:
        name = document.id
        if name in source.paragraphs:
            source.add_flaw("has the _id of an earlier document: the later one counts")
        source.paragraphs[name] = Passage(name, document.title, document.text, document=name)

    def add_query(query: BeirQuery) -> None:
        if query.id in queries:
            source.add_flaw("has the _id of an earlier query: the later one counts")
        queries[query.id] = query.text

    source.read_records(folder / "corpus.jsonl", BeirDocument, add_document)
    qrels = folder / "qrels"
    queries_file = folder / "queries.jsonl"
    files = sorted(qrels.glob("[!.]*.tsv"))
    if not files and not queries_file.exists():
        return

    if not files or any(file.stem not in SPLITS for file in files):
        raise InputError("expected train.tsv, dev.tsv or test.tsv in this folder", file=qrels)
    queries = {}
    source.read_records(queries_file, BeirQuery, add_query)
    # A query of two splits is asked in the test, and is not learned from.
    files.sort(key=lambda file: SPLITS.index(file.stem), reverse=True)
    _read_questions(files, queries, source)


def _read_questions(
    files: Sequence[Path],
    queries: dict[str, str],
    source: Source,
) -> None:
    """Add the queries that the files judge; a query belongs to the first split that has it."""
    split_of = {}
    scores = {query: {} for query in queries}  # by document
    for file in files:

        def add_row(row: Judgement, split: str = file.stem) -> None:
            if row.query not in queries:
                raise LeftOut("names a query that is not in queries.jsonl: left out")
            if row.document not in source.paragraphs:
                raise LeftOut("names a document that is not in corpus.jsonl: left out")
            first_split = split_of.setdefault(row.query, split)
            if first_split != split:
                raise LeftOut(f"names a query that is in {first_split}.tsv, too: left out")
            if row.document in scores[row.query]:
                source.add_flaw("judges a document again: the later row counts")
            scores[row.query][row.document] = float(row.score)

        source.read_records(file, Judgement, add_row, _rows)

    for query, judged in scores.items():
        supporting = tuple((document,) for document, score in judged.items() if score > 0)
        if supporting:
            question = Question(query, queries[query], answer="", supporting=supporting)
            source.add_question(Item(question, split=split_of[query]))
        elif judged:
            source.note(f"query {quote(query)}: no document is judged relevant, so it is not asked")


def _rows(file: Path) -> NumberedRecords:
    """The lines of a file of qrels, without its header, as JSON.

    Columns are separated by white space; a second of four is that of TREC, which says nothing.
    """
    text = read_utf8(file).decode("utf-8", "surrogateescape")
    for line_number, line in enumerate(text.split("\n"), 1):
        columns = line.split()
        is_header = line_number == 1 and line.strip().lower().endswith("score")
        if columns and not is_header:
            if len(columns) == 4:
                del columns[1]
            record = json.dumps(dict(zip(_COLUMNS, columns)), ensure_ascii=False)
            yield line_number, record.encode("utf-8", "surrogateescape")
