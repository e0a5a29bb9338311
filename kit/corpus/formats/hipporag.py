"""Corpora as HippoRAG publishes them (Gutiérrez et al. 2024, https://github.com/OSU-NLP-Group/HippoRAG): no questions.

A JSON list of ``title`` and ``text``; or an OpenIE file, one object whose ``docs`` have the same fields and more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kit.corpus import records
from kit.corpus.source import Source
from kit.errors import InputError


class HippoRagParagraph(msgspec.Struct):
    """A paragraph as published."""

    title: str
    text: str


def is_openie(path: Path) -> bool:
    """Whether the file is one of OpenIE results."""
    return re.match(rb'\s*\{\s*"docs"\s*:', records.read_bytes(path)) is not None


def read(path: Path, source: Source) -> None:
    """The paragraphs; equal title and text are one."""
    reader = openie if is_openie(path) else records.read
    source.each(path, HippoRagParagraph, lambda it: source.add(it.title, it.text.strip()), reader)


def openie(path: Path) -> Iterator[records.RawRecord]:
    """The entries of ``docs`` of a file of OpenIE results. Raises InputError where there is no such list."""
    # The published statistics beside docs can be NaN, which is not JSON: the standard library reads it all the same.
    try:
        entries = [msgspec.json.encode(entry) for entry in json.loads(records.read_bytes(path).decode())["docs"]]
    except UnicodeError:
        raise InputError("expected UTF-8", file=path) from None
    except TypeError:
        raise InputError("expected a list of objects", file=path, field="docs") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error or 'nested too deeply'}", file=path) from None
    yield from (records.RawRecord(number, entry) for number, entry in enumerate(entries, 1))
