"""Corpora as HippoRAG publishes them (Gutiérrez et al. 2024, https://github.com/OSU-NLP-Group/HippoRAG): no questions.

A JSON list of ``title`` and ``text``; or an OpenIE file, one object whose ``docs`` have the same fields and more.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec

from kit.corpus import records
from kit.corpus.problems import Problems
from kit.corpus.source import Source

_OPENIE = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"docs"\s*:')


class Record(msgspec.Struct):
    """A paragraph as published."""

    title: str
    text: str


def is_openie(path: Path) -> bool:
    """Whether the file is one of OpenIE results."""
    with records.open_binary(path) as source:
        return _OPENIE.match(source.read(1000)) is not None


def read(path: Path, problems: Problems) -> Source:
    """The paragraphs; equal title and text are one."""
    source = Source("hipporag")
    decoder = msgspec.json.Decoder(Record)
    for raw in openie(path, problems) if is_openie(path) else records.read(path, problems):
        record = records.decode(raw, decoder, problems, path)
        if record is not None:
            source.add(record.title, record.text.strip())
    return source


def openie(path: Path, problems: Problems) -> list[records.Record]:
    """The entries of ``docs`` of a file of OpenIE results."""
    # The published statistics beside docs can be NaN, which is not JSON: the standard library reads it all the same.
    with records.open_binary(path) as file:
        data = file.read()
    try:
        docs = json.loads(data.decode("utf-8-sig"))["docs"]
        raws = [msgspec.json.encode(doc) for doc in docs]
    except UnicodeError:
        problems.error("expected UTF-8", file=path)
    except (ValueError, RecursionError) as error:
        problems.error(f"not valid JSON: {error or 'nested too deeply'}", file=path)
    except TypeError:
        problems.error("expected a list of objects", field="docs", file=path)
    else:
        return [records.Record(number, raw) for number, raw in enumerate(raws, 1)]
    return []
