"""A folder of PDFs, or one PDF: documents of one's own (kgp.txt §3 and 8.1).

With ``train.jsonl``, ``dev.jsonl`` or ``test.jsonl`` beside them they are a benchmark. A line there
is a question: ``id``, ``text``, ``answer`` (``aliases``, ``type``), and either the ``structures``
that it asks about, or ``quotes``. Quotes are the words of a document that support its answer, in
reasoning order. What a structure holds are the supports of a question about it.
"""

from pathlib import Path

from msgspec import Struct
from numpy import ndarray

from kit.corpus.pdf import read_document
from kit.corpus.records import read_bytes
from kit.corpus.source import Source, Unexpected, quote
from kit.corpus.structures import Structure, structures
from kit.corpus.types import Corpus, FullText, Id, Question, Strings
from kit.errors import InputError


class Quote(Struct, frozen=True):
    document: str
    text: str


class PdfQuestion(Struct, frozen=True, omit_defaults=True):
    """A question as a file has it.

    ``type`` is by default the kinds of its structures, or ``content``.
    """

    id: Id
    text: FullText
    answer: str
    aliases: Strings = ()
    type: str = ""
    structures: tuple[Structure, ...] = ()
    quotes: tuple[Quote, ...] = ()


def pdfs(path: Path) -> list[Path]:
    """The PDFs of a folder, by name, or the one that the path is."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [file for file in files if file.suffix.lower() == ".pdf" and not file.is_dir()]


def read_pdfs(path: Path, source: Source) -> None:
    """Passages of all PDFs, and the questions beside them; a problem per PDF that can't be read."""
    for file in pdfs(path):
        try:
            passages = read_document(str(file), read_bytes(file))
            by_id = {passage.id: passage for passage in passages}
            if by_id.keys() & source.paragraphs.keys():
                raise InputError("expected a name that no other PDF has", file=file)
            source.paragraphs |= by_id
        except InputError as error:
            source.problems.append(str(error))

    if source.problems:
        return
    if not source.paragraphs:
        raise InputError("expected a PDF or a folder with PDFs", file=path)
    if path.is_dir():
        corpus = Corpus(source.paragraphs.values())
        held = structures(corpus)
        source.read_splits(
            path,
            PdfQuestion,
            lambda published: _question(published, corpus, held),
        )


def _question(
    published: PdfQuestion,
    corpus: Corpus,
    held: dict[Structure, ndarray],
) -> Question:
    """The question with the supports of its structures, or of its quotes."""
    if bool(published.structures) == bool(published.quotes):
        raise Unexpected("expected structures or quotes, and not both", None)

    supporting = []
    for index, structure in enumerate(published.structures):
        if structure not in held:
            raise Unexpected(
                f"expected a structure of a document, {quote(str(structure))} is none",
                f"structures[{index}]",
            )
        supporting += [(corpus.passages[row].id,) for row in held[structure]]
    for index, quoted in enumerate(published.quotes):
        carriers = _carriers(quoted, corpus)
        if not carriers:
            raise Unexpected(
                f"expected words of a passage of {quote(quoted.document)}, "
                f"{quote(quoted.text)} are none",
                f"quotes[{index}]",
            )
        supporting.append(carriers)

    kinds = sorted({structure.kind for structure in published.structures})
    return Question(
        published.id,
        published.text,
        published.answer,
        tuple(dict.fromkeys(supporting)),
        published.aliases,
        published.type or " and ".join(kinds) or "content",
    )


def _carriers(quoted: Quote, corpus: Corpus) -> Strings:
    """The ids of the document's passages that have the quoted words."""
    words = " ".join(quoted.text.split())
    if not words:
        return ()
    return tuple(
        passage.id
        for passage in corpus.passages
        if passage.document == quoted.document and words in " ".join(passage.text.split())
    )
