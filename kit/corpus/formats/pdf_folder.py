"""A folder of PDFs, or one PDF: documents of one's own (kgp.txt §3 and 8.1).

With ``train.jsonl``, ``dev.jsonl`` or ``test.jsonl`` beside them they are a benchmark. A line there is a question:
``id``, ``text``, ``answer`` (``aliases``, ``type``), and either the ``structures`` that it asks about, or ``quotes``,
the words of a document that support its answer, in reasoning order. What a structure
holds are the supports of a question about it.
"""

from pathlib import Path

import msgspec

from kit.corpus.pdf import read_document
from kit.corpus.records import read_bytes
from kit.corpus.source import Source, Unexpected, quote
from kit.corpus.structures import Structure, structures
from kit.corpus.types import Corpus, FullText, Id, Question
from kit.errors import InputError


class Quote(msgspec.Struct, frozen=True):
    document: str
    text: str


class PdfQuestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question as a file has it. ``type`` is by default the kinds of its structures, or ``content``."""

    id: Id
    text: FullText
    answer: str
    aliases: tuple[str, ...] = ()
    type: str = ""
    structures: tuple[Structure, ...] = ()
    quotes: tuple[Quote, ...] = ()


def pdfs(path: Path) -> list[Path]:
    """The PDFs of a folder, by name, or the one that the path is."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [file for file in files if file.suffix.lower() == ".pdf" and not file.is_dir()]


def read(path: Path, source: Source) -> None:
    """Passages of all PDFs, and the questions beside them; a problem for each PDF that can't be read."""
    for file in pdfs(path):
        try:
            passages = {
                passage.id: passage for passage in read_document(str(file), read_bytes(file))
            }
            if passages.keys() & source.paragraphs.keys():
                raise InputError("expected a name that no other PDF has", file=file)
            source.paragraphs |= passages
        except InputError as error:
            source.problems.append(str(error))
    if not source.paragraphs and not source.problems:
        raise InputError("expected a PDF or a folder with PDFs", file=path)
    if path.is_dir() and not source.problems:
        corpus = Corpus(source.paragraphs.values())
        held = {
            structure: [corpus.passages[row].id for row in rows]
            for structure, rows in structures(corpus).items()
        }
        source.each_split(path, PdfQuestion, lambda published: _question(published, held, corpus))


def _question(published: PdfQuestion, held: dict[Structure, list[str]], corpus: Corpus) -> Question:
    if bool(published.structures) == bool(published.quotes):
        raise Unexpected("expected structures or quotes, and not both", None)
    supporting: list[tuple[str, ...]] = []
    for number, structure in enumerate(published.structures):
        if structure not in held:
            expected = f"expected a structure of a document, {quote(str(structure))} is none"
            raise Unexpected(expected, f"structures[{number}]")
        supporting += [(id,) for id in held[structure]]
    for number, quoted in enumerate(published.quotes):
        words = " ".join(quoted.text.split())
        of_document = [it for it in corpus.passages if it.document == quoted.document]
        carriers = tuple(
            it.id for it in of_document if words and words in " ".join(it.text.split())
        )
        if not carriers:
            expected = f"expected words of a passage of {quote(quoted.document)}, {quote(quoted.text)} are none"
            raise Unexpected(expected, f"quotes[{number}]")
        supporting.append(carriers)
    type = (
        published.type
        or " and ".join(sorted({it.kind for it in published.structures}))
        or "content"
    )
    supports = tuple(dict.fromkeys(supporting))
    return Question(
        published.id, published.text, published.answer, supports, published.aliases, type
    )
