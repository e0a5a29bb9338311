"""The formats that the kit reads, and how it tells them apart."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import msgspec

from kit.corpus import records
from kit.corpus.formats import beir, hipporag, hotpotqa, kit_folder, musique, pdf_folder, twowiki
from kit.corpus.source import Source
from kit.errors import InputError

#: Format to the function that reads a file (or folder) of it into a source, telling what is wrong.
FORMATS: dict[str, Callable[[Path, Source], None]] = {
    "hotpotqa": hotpotqa.read,
    "2wikimultihopqa": twowiki.read,
    "musique": musique.read,
    "beir": beir.read,
    "hipporag": hipporag.read,
    "kit": kit_folder.read,
    "documents": pdf_folder.read,
}
_FOLDERS = {"beir": "corpus.jsonl", "kit": "passages.jsonl"}


def read(path: Path, source: Source, format: str | None = None) -> None:
    """Read a file or folder of the given format, or of the one that its content shows.

    Raises InputError: it can't be opened, or its format is not known.
    """
    source.format = format or recognise(path)
    if source.format not in FORMATS:
        raise InputError(f"unknown format {format!r}: expected one of {', '.join(FORMATS)}")
    if source.format in _FOLDERS and not path.is_dir():
        raise InputError(f"expected a folder with {_FOLDERS[source.format]} (format {format})", file=path)
    FORMATS[source.format](path, source)


def recognise(path: Path) -> str:
    """The format, from the names of the files in a folder or from the fields of the first record."""
    if path.is_dir():
        if found := [format for format, file in _FOLDERS.items() if (path / file).exists()]:
            return found[0]
        if not pdf_folder.pdfs(path):
            folders = ", ".join(f"{file} ({format})" for format, file in _FOLDERS.items())
            raise InputError(f"expected a file, or a folder with {folders} or PDFs (documents)", file=path)
    if pdf_folder.pdfs(path):
        return "documents"
    fields: set[str] = set()
    source = Source()
    source.each(path, dict[str, msgspec.Raw], fields.update, lambda file: islice(records.read(file), 1))
    source.raise_first()
    for format, of_format in (
        ("musique", {"paragraphs"}),
        ("2wikimultihopqa", {"evidences"}),
        ("hotpotqa", {"context"}),
        ("hipporag", {"title", "text"}),
    ):
        if fields >= of_format:
            return format
    raise InputError(f"format not recognised: expected one of {', '.join(FORMATS)}", file=path)
