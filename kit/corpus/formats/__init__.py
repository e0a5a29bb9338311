"""The formats that the kit reads, and how it tells them apart."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from kit.corpus import records
from kit.corpus.formats import (
    beir,
    document_folder,
    hotpotqa,
    iirc,
    kit_folder,
    musique,
    quality,
    reasongraphqa,
    twowiki,
)
from kit.corpus.source import Item, Source
from kit.errors import InputError, known_names

T = TypeVar("T")
Reader = Callable[[Path, Source], None]


class HippoRagParagraph(Struct):
    title: str
    text: str


def read_paragraphs(path: Path, source: Source) -> None:
    """A corpus without questions, as HippoRAG publishes them (Gutiérrez et al. 2024).

    It is a JSON list, or an OpenIE file: one object with ``docs``. Equal title and text are one
    paragraph. See https://github.com/OSU-NLP-Group/HippoRAG.
    """

    source.read_records(
        path,
        HippoRagParagraph,
        lambda paragraph: source.add_paragraph(paragraph.title, paragraph.text.strip()),
    )


def read_choices(path: Path, source: Source) -> None:
    """QuALITY's sets of questions."""
    source.read_records(
        path,
        quality.QuestionSet,
        lambda published: quality.add_questions(published, source),
    )


def _reader(kind: type[T], to_item: Callable[[T, Source], Item]) -> Reader:
    """What reads a file whose every record is a question of this kind."""

    def read_questions(path: Path, source: Source) -> None:
        source.read_records(
            path,
            kind,
            lambda published: source.add_question(to_item(published, source)),
        )

    return read_questions


#: Format to the function that reads a file (or folder) of it into a source, telling what is wrong.
FORMATS = {
    "hotpotqa": _reader(hotpotqa.HotpotQuestion, hotpotqa.to_item),
    "2wikimultihopqa": _reader(twowiki.WikiQuestion, twowiki.to_item),
    "musique": _reader(musique.MusiqueQuestion, musique.to_item),
    "reasongraphqa": _reader(reasongraphqa.GraphQuestion, reasongraphqa.to_item),
    "iirc": iirc.read_file,
    "quality": read_choices,
    "beir": beir.read_folder,
    "hipporag": read_paragraphs,
    "kit": kit_folder.read_folder,
    "documents": document_folder.read_documents,
}
#: Formats that are folders, by a file that they have.
_FOLDERS = {"beir": "corpus.jsonl", "kit": "passages.jsonl"}
#: Format to the fields of a record that tell it from those below.
_FIELDS = {
    "musique": {"paragraphs"},
    "2wikimultihopqa": {"evidences"},
    "hotpotqa": {"context"},
    "reasongraphqa": {"order_true_fact"},
    "iirc": {"questions", "text"},
    "quality": {"questions", "article"},
    "hipporag": {"title", "text"},
}


def read_data(path: Path, source: Source, data_format: str | None = None) -> None:
    """Read a file or folder of the given format, or of the one that its content shows.

    Raises InputError: it can't be opened, or its format is not known.
    """
    try:
        source.format = data_format or recognise(path)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path) from None
    if source.format not in FORMATS:
        raise InputError(
            f"unknown format {data_format!r}: expected one of {known_names(FORMATS, data_format)}"
        )
    if source.format in _FOLDERS and not path.is_dir():
        file = _FOLDERS[source.format]
        raise InputError(f"expected a folder with {file} (format {data_format})", file=path)
    FORMATS[source.format](path, source)


def recognise(path: Path) -> str:
    """The format, from the files of a folder or from the fields of the first record."""
    for data_format, file in _FOLDERS.items():
        if (path / file).exists():
            return data_format
    if document_folder.find_documents(path) and not _holds_records(path):
        return "documents"
    if path.is_dir():
        folders = ", ".join(f"{file} ({data_format})" for data_format, file in _FOLDERS.items())
        raise InputError(
            f"expected a file, or a folder with {folders} or .pdf, .txt, .md, .html (documents)",
            file=path,
        )

    source = Source()
    names = set()  # of the first record's fields
    source.read_records(
        path,
        dict[str, msgspec.Raw],
        names.update,
        lambda file: islice(records.numbered_records(file), 1),
    )
    source.raise_first()
    for data_format, fields in _FIELDS.items():
        if names >= fields:
            return data_format
    raise InputError(
        f"format not recognised: expected one of {', '.join(FORMATS)}",
        file=path,
    )


def _holds_records(path: Path) -> bool:
    """Whether a file called ``.txt`` begins like JSON."""
    if path.is_dir() or path.suffix.lower() != ".txt":
        return False
    return records.read_utf8(path).lstrip().startswith((b"{", b"["))
