"""A folder of documents, or one: PDFs (KGP §3 and 8.1), texts and web pages.

With ``train.jsonl``, ``dev.jsonl`` or ``test.jsonl`` beside them they are a benchmark. A line there
is a question: ``id``, ``text``, ``answer`` (``aliases``, ``type``), and either the ``structures``
that it asks about, or ``quotes``. Quotes are the words of a document that support its answer, in
reasoning order. What a structure holds are the supports of a question about it.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from numpy import ndarray

from kit.corpus.pdf import read_document
from kit.corpus.prose import PARSERS, read_prose
from kit.corpus.records import read_bytes, read_utf8
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


def find_documents(path: Path) -> list[Path]:
    """The documents of a folder and of those in it, by name, or the one that the path is."""
    return [file for file, reason in _files(path) if not reason]


def _files(path: Path) -> Iterator[tuple[Path, str]]:
    """The files of a folder and of those in it, each with why it is passed over, or ``""``.

    Folders that are passed over are among them. Questions, and what tells of them, are not.
    """
    if not path.is_dir():
        yield path, _why_no_document(path)
        return

    for folder, folders, names in os.walk(path, onerror=_refuse):
        has_questions = any(name.endswith(".jsonl") for name in names)
        no_documents = _WITH_QUESTIONS if has_questions else set()
        for name in [*sorted(folders), *sorted(set(names) - no_documents)]:
            file = Path(folder, name)
            if _LEFT_BEHIND.match(name):
                yield file, "left by a system or an editor"
            elif not file.is_dir():
                yield file, _why_no_document(file)
            elif file.is_symlink():
                yield file, "a link to a folder"
        folders[:] = sorted(name for name in folders if not _LEFT_BEHIND.match(name))


def _why_no_document(file: Path) -> str:
    return "" if file.suffix.lower() in _ENDINGS else "not .pdf, .txt, .md or .html"


def _refuse(error: OSError) -> None:
    raise InputError(f"cannot be read ({error.strerror})", file=error.filename)


def read_documents(path: Path, source: Source) -> None:
    """Passages of all documents, and the questions beside them.

    There is a problem for each document that can't be read.
    """
    passed_over = defaultdict(list)
    for file, reason in _files(path):
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        if reason:
            passed_over[reason].append(name)
            continue
        try:
            by_id = {passage.id: passage for passage in _read(file, name, source)}
            if by_id.keys() & source.paragraphs.keys():
                raise InputError("expected a name that no other document has", file=file)
            source.paragraphs |= by_id
        except InputError as error:
            source.problems.append(str(error))
    for reason, (first, *others) in passed_over.items():
        more = f" and {len(others):,} more" if others else ""
        line = f"passed over, {reason}: {first}{more}"
        source.notes.append(str(InputError(line, file=path)))

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


def _read(file: Path, name: str, source: Source) -> list[Passage]:
    """The passages of a document; what is not read of it is noted."""
    if file.suffix.lower() == ".pdf":
        document = name[: -len(".pdf")]
        return read_document(str(file), read_bytes(file), document, source.notes)
    return read_prose(
        str(file),
        read_utf8(file),
        name,
        source.notes,
        passage_tokens=source.passage_tokens,
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
