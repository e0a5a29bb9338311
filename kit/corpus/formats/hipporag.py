"""Corpora as HippoRAG publishes them (Gutiérrez et al. 2024, https://github.com/OSU-NLP-Group/HippoRAG): no questions.

A JSON list of ``title`` and ``text``; or an OpenIE file, one object whose ``docs`` have the same fields and more.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from kit.corpus.source import Source


class HippoRagParagraph(msgspec.Struct):
    """A paragraph as published."""

    title: str
    text: str


def read(path: Path, source: Source) -> None:
    """The paragraphs; equal title and text are one."""
    source.each(path, HippoRagParagraph, lambda it: source.add(it.title, it.text.strip()))
