"""The formats that the kit reads, and how it tells them apart."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TypeVar

import msgspec

from kit.corpus import records
from kit.corpus.formats import (
    beir,
    hotpotqa,
    kit_folder,
    musique,
    pdf_folder,
    reasongraphqa,
    twowiki,
)
from kit.corpus.source import Item, Source
from kit.errors import InputError

T = TypeVar("T")
Reader = Callable[[Path, Source], None]


class HippoRagParagraph(msgspec.Struct):
    title: str
    text: str


def read_paragraphs(path: Path, source: Source) -> None:
    """A corpus as HippoRAG publishes them (Gutiérrez et al. 2024, https://github.com/OSU-NLP-Group/HippoRAG).

    A JSON list, or an OpenIE file, one object with ``docs``, without questions; equal title and text are one.
    """
    source.each(path, HippoRagParagraph, lambda it: source.add(it.title, it.text.strip()))


def _questions(kind: type[T], to_item: Callable[[T, Source], Item]) -> Reader:
    """What reads a file whose every record is a question of this kind."""

    def read(path: Path, source: Source) -> None:
        source.each(path, kind, lambda published: source.ask(to_item(published, source)))

    return read


#: Format to the function that reads a file (or folder) of it into a source, telling what is wrong.
FORMATS: dict[str, Reader] = {
    "hotpotqa": _questions(hotpotqa.HotpotQuestion, hotpotqa.to_item),
    "2wikimultihopqa": _questions(twowiki.WikiQuestion, twowiki.to_item),
    "musique": _questions(musique.MusiqueQuestion, musique.to_item),
    "reasongraphqa": _questions(reasongraphqa.GraphQuestion, reasongraphqa.to_item),
    "beir": beir.read,
    "hipporag": read_paragraphs,
    "kit": kit_folder.read,
    "documents": pdf_folder.read,
}
_FOLDERS = {"beir": "corpus.jsonl", "kit": "passages.jsonl"}
#: Format to the fields of a record that tell it from those below.
_FIELDS = {"musique": {"paragraphs"}, "2wikimultihopqa": {"evidences"}, "hotpotqa": {"context"}}
_FIELDS |= {"reasongraphqa": {"order_true_fact"}, "hipporag": {"title", "text"}}


def read(path: Path, source: Source, format: str | None = None) -> None:
    """Read a file or folder of the given format, or of the one that its content shows.

    Raises InputError: it can't be opened, or its format is not known.
    """
    source.format = format or recognise(path)
    if source.format not in FORMATS:
        raise InputError(f"unknown format {format!r}: expected one of {', '.join(FORMATS)}")
    if source.format in _FOLDERS and not path.is_dir():
        raise InputError(
            f"expected a folder with {_FOLDERS[source.format]} (format {format})", file=path
        )
    FORMATS[source.format](path, source)


def recognise(path: Path) -> str:
    """The format, from the names of the files in a folder or from the fields of the first record."""
    if found := [format for format, file in _FOLDERS.items() if (path / file).exists()]:
        return found[0]
    if pdf_folder.pdfs(path):
        return "documents"
    if path.is_dir():
        folders = ", ".join(f"{file} ({format})" for format, file in _FOLDERS.items())
        raise InputError(
            f"expected a file, or a folder with {folders} or PDFs (documents)", file=path
        )
    source, names = Source(), set()
    source.each(
        path, dict[str, msgspec.Raw], names.update, lambda file: islice(records.read(file), 1)
    )
    source.raise_first()
    if found := [format for format, fields in _FIELDS.items() if names >= fields]:
        return found[0]
    raise InputError(f"format not recognised: expected one of {', '.join(FORMATS)}", file=path)
