"""A folder of documents, or one: PDFs (kgp.txt §3 and 8.1), texts and web pages.

With ``train.jsonl``, ``dev.jsonl`` or ``test.jsonl`` beside them they are a benchmark. A line there
is a question: ``id``, ``text``, ``answer`` (``aliases``, ``type``), and either the ``structures``
that it asks about, or ``quotes``. Quotes are the words of a document that support its answer, in
reasoning order. What a structure holds are the supports of a question about it.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct
from numpy import ndarray

from kit.corpus.pdf import read_document
from kit.corpus.prose import PARSERS, read_prose
from kit.corpus.records import composed, read_bytes, read_utf8, writable
from kit.corpus.source import Source, Unexpected, quote
from kit.corpus.structures import Structure, structures
from kit.corpus.types import SPLITS, Corpus, FullText, Id, Passage, Question, Strings
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


READ = "a document (.pdf, .txt, .md, .html) or a folder with some"
_ENDINGS = {".pdf", *PARSERS}
#: Questions, and what tells of them.
_WITH_QUESTIONS = {"README.md", "README.txt", *(f"{split}.jsonl" for split in SPLITS)}
#: Files and folders that systems and editors leave beside documents.
_LEFT_BEHIND = re.compile(r"(?i)\.|~\$|__MACOSX$|(?:thumbs\.db|desktop\.ini)$|.*~$")


def pdfs(path: Path) -> list[Path]:
    """The PDFs of a folder and of those in it, by name, or the one that the path is."""
    return [file for file in find_documents(path) if file.suffix.lower() == ".pdf"]


def find_documents(path: Path, passed_over: dict[str, list[str]] | None = None) -> list[Path]:
    """The documents of a folder and of those in it, by name, or the one that the path is.

    ``passed_over`` gets the other names, by the reason.
    """
    if not path.is_dir():
        return [path] if path.suffix.lower() in _ENDINGS else []

    documents = []
    for file in _entries(path):
        reason = _why_passed_over(file)
        if reason and passed_over is not None:
            passed_over.setdefault(reason, []).append(str(file.relative_to(path)))
        elif not reason and not file.is_dir():
            documents.append(file)
    return documents


def _entries(path: Path) -> Iterator[Path]:
    """All files and folders in a folder, questions and what tells of them aside."""
    for folder, folders, names in os.walk(path, onerror=_refuse):
        folders.sort()
        has_questions = any(name.endswith(".jsonl") for name in names)
        no_documents = _WITH_QUESTIONS if has_questions else set()
        for name in [*folders, *sorted(set(names) - no_documents)]:
            yield Path(folder, name)
        folders[:] = [name for name in folders if not _LEFT_BEHIND.match(name)]


def _refuse(error: OSError) -> None:
    raise InputError(f"cannot be read ({error.strerror})", file=error.filename)


def _why_passed_over(file: Path) -> str:
    """Why a file or folder is not read; ``""`` where it is."""
    if _LEFT_BEHIND.match(file.name):
        return "left by a system or an editor"
    if file.is_dir():
        return "a link to a folder" if file.is_symlink() else ""
    return "" if file.suffix.lower() in _ENDINGS else "not .pdf, .txt, .md or .html"


def read_documents(path: Path, source: Source) -> None:
    """Passages of all documents, and the questions beside them.

    There is a problem for each document that can't be read.
    """
    passed_over = {}
    for file in find_documents(path, passed_over):
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        document = writable(name)
        try:
            passages = _read(file, document, source)
            by_id = {passage.id: passage for passage in passages}
            if by_id.keys() & source.paragraphs.keys():
                raise InputError("expected a name that no other document has", file=file)
            source.paragraphs |= by_id
        except InputError as error:
            source.problems.append(str(error))
    for reason, (first, *others) in passed_over.items():
        more = f" and {len(others):,} more" if others else ""
        source.flaws[path, f"passed over, {reason}: {first}{more}"] = set()

    if source.problems:
        return
    if not source.paragraphs:
        raise InputError(f"expected {READ}", file=path)
    if path.is_dir():
        corpus = Corpus(source.paragraphs.values())
        held = structures(corpus)
        source.read_splits(
            path,
            PdfQuestion,
            lambda published: _question(published, corpus, held),
        )


def _read(file: Path, document: str, source: Source) -> list[Passage]:
    """The passages of a document; what is not read of it is told."""
    notes = []
    if file.suffix.lower() == ".pdf":
        name = document[: -len(file.suffix)]
        passages = read_document(str(file), read_bytes(file), name, notes)
    else:
        passages = read_prose(
            str(file),
            read_utf8(file),
            document,
            notes,
            passage_tokens=source.passage_tokens,
        )
    source.flaws |= {(None, note): set() for note in notes}
    # In composed characters, as records are.
    return msgspec.json.decode(composed(msgspec.json.encode(passages)), type=list[Passage])


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
