"""Readers: from a question and passages to an answer."""

from __future__ import annotations

from kit.errors import InputError
from kit.text.language_models import language_model as make_language_model
from kit.text.readers.base import Reader
from kit.text.readers.extractive import ExtractiveReader, Learning
from kit.text.readers.language_model import LanguageModelReader


def reader(text: str) -> Reader:
    """The reader that a short text names: ``extractive``, or a language model as ``language_model`` takes it.

    Raises :class:`InputError` for others.
    """
    if text == ExtractiveReader.name:
        return ExtractiveReader()
    if ":" not in text:
        expected = "extractive, or a language model such as server:MODEL"
        raise InputError(f"expected a reader: {expected}; not {text!r}", field="reader")
    return LanguageModelReader(make_language_model(text))


__all__ = ["ExtractiveReader", "LanguageModelReader", "Learning", "Reader", "reader"]
