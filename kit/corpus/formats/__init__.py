"""The formats that the kit reads, and how it tells them apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kit.corpus import records
from kit.corpus.formats import beir, documents, hipporag, hotpotqa, musique, own, twowiki
from kit.corpus.problems import Problems
from kit.corpus.source import Source
from kit.errors import InputError

#: Format to the function that reads a file (or folder) of it into a source, noting what is wrong.
FORMATS: dict[str, Callable[[Path, Problems], Source]] = {
    "hotpotqa": hotpotqa.read,
    "2wikimultihopqa": twowiki.read,
    "musique": musique.read,
    "beir": beir.read,
    "hipporag": hipporag.read,
    "kit": own.read,
    "documents": documents.read,
}
_FOLDERS = {"beir": "corpus.jsonl", "kit": "passages.jsonl"}


def read(path: Path, problems: Problems, format: str | None = None) -> Source:
    """Read a file or folder of the given format, or of the one that its content shows.

    Raises:
        InputError: it can't be opened, or its format is not known.
    """
    if format is None:
        format = recognise(path)
    elif format not in FORMATS:
        raise InputError(f"unknown format {format!r}: expected one of {', '.join(FORMATS)}")
    elif format in _FOLDERS and not path.is_dir():
        raise InputError(f"expected a folder with {_FOLDERS[format]} (format {format})", file=path)
    return FORMATS[format](path, problems)


def recognise(path: Path) -> str:
    """The format, from the names of the files in a folder or of the fields of the first 100 records."""
    if path.is_dir():
        for format, file in _FOLDERS.items():
            if (path / file).exists():
                return format
        if documents.pdfs(path):
            return "documents"
        folders = ", ".join(f"{file} ({format})" for format, file in _FOLDERS.items())
        raise InputError(f"expected a file, or a folder with {folders} or PDFs (documents)", file=path)
    if documents.pdfs(path):
        return "documents"
    if hipporag.is_openie(path):
        return "hipporag"
    fields = records.keys(path)
    if fields & {"paragraphs", "question_decomposition"}:
        return "musique"
    if "evidences" in fields:
        return "2wikimultihopqa"
    if fields & {"context", "supporting_facts"}:
        return "hotpotqa"
    if fields >= {"title", "text"}:
        return "hipporag"
    raise InputError(f"format not recognised: expected one of {', '.join(FORMATS)}", file=path)
