"""A folder of PDFs, or one PDF: documents of one's own (kgp.txt §3 and 8.1).

With ``train.jsonl``, ``dev.jsonl`` or ``test.jsonl`` beside them they are a benchmark. A line there is a question:
``id``, ``text``, ``answer`` (``aliases``, ``type``), and either the ``structures`` that it asks about, or ``quotes``,
the words of a document that support its answer, in reasoning order. What a structure holds are the supports of a
question about it, each passage one.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from kit.corpus import records
from kit.corpus.documents import Structure, read_document, structures
from kit.corpus.problems import Problem, Problems, quote
from kit.corpus.source import SPLITS, Item, Source
from kit.corpus.types import Corpus, Passage, Question
from kit.errors import InputError


class Quote(msgspec.Struct, frozen=True):
    """Words as they stand in a document."""

    document: str
    text: str


class Asked(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question as a file has it. ``type`` is by default the kinds of its structures, or ``content``."""

    id: str
    text: str
    answer: str
    aliases: tuple[str, ...] = ()
    type: str = ""
    structures: tuple[Structure, ...] = ()
    quotes: tuple[Quote, ...] = ()


def pdfs(path: Path) -> list[Path]:
    """The PDFs of a folder, by name, or the one that the path is."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [file for file in files if file.suffix.lower() == ".pdf" and not file.is_dir()]


def read(path: Path, problems: Problems) -> Source:
    """Passages of all PDFs, and the questions beside them; a problem for each PDF that can't be read."""
    source = Source("documents")
    files = pdfs(path)
    if not files:
        raise InputError("expected a PDF or a folder with PDFs", file=path)
    for file in files:
        with records.open_binary(file) as opened:
            data = opened.read()
        try:
            passages = read_document(str(file), data)
        except InputError as error:
            problems.found.append(Problem(str(error), error=True))
            continue
        for passage in passages:
            source.add_passage(passage, problems, id_field="id", record=passage.id, file=file)
    if path.is_dir() and not problems.errors:
        _ask(path, source, problems)
    return source


def _ask(folder: Path, source: Source, problems: Problems) -> None:
    corpus = Corpus(source.paragraphs.values())
    held = {structure: [corpus.passages[row] for row in rows] for structure, rows in structures(corpus).items()}
    decoder = msgspec.json.Decoder(Asked)
    for split in SPLITS:
        file = folder / f"{split}.jsonl"
        for raw in records.read(file, problems) if file.exists() else ():
            asked = records.decode(raw, decoder, problems, file)
            if asked is not None:
                where = {"record": records.label(raw, asked.id), "file": file}
                question = _question(asked, held, corpus.passages, problems, where)
                source.ask(Item(question, split=split), problems, id_field="id", text_field="text", **where)


def _question(
    asked: Asked,
    held: dict[Structure, list[Passage]],
    passages: Iterable[Passage],
    problems: Problems,
    where: dict[str, object],
) -> Question:
    supporting: list[tuple[str, ...]] = []
    for number, structure in enumerate(asked.structures):
        if structure not in held:
            problems.error(
                f"expected a structure of a document, {quote(str(structure))} is none",
                field=f"structures[{number}]",
                **where,
            )
        supporting += [(passage.id,) for passage in held.get(structure, ())]
    for number, wanted in enumerate(asked.quotes):
        carriers = tuple(it.id for it in passages if it.document == wanted.document and _holds(it, wanted.text))
        if not carriers:
            expected = f"expected words of a passage of {quote(wanted.document)}, {quote(wanted.text)} are none"
            problems.error(expected, field=f"quotes[{number}]", **where)
        supporting += [carriers] if carriers else []
    if bool(asked.structures) == bool(asked.quotes):
        problems.error("expected structures or quotes, and not both", **where)
    kinds = " and ".join(sorted({structure.kind for structure in asked.structures})) or "content"
    return Question(
        asked.id, asked.text, asked.answer, tuple(dict.fromkeys(supporting)), asked.aliases, asked.type or kinds
    )


def _holds(passage: Passage, words: str) -> bool:
    """Whether a passage has the words, white space aside."""
    return bool(words.strip()) and " ".join(words.split()) in " ".join(passage.text.split())
