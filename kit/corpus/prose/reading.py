"""A text file to passages."""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from pathlib import PurePath

from kit.corpus.prose.cutting import PASSAGE_TOKENS, cut
from kit.corpus.prose.markup import HEADINGS, PARSERS, TITLE, Part
from kit.corpus.types import Passage, Texts
from kit.errors import InputError

_CHARSET = re.compile(rb"<meta[^>]+charset=[\"']?([\w-]+)", re.IGNORECASE)
_USUAL = "windows-1252"  # where a file is not in UTF-8 and does not say in what


def read_prose(
    name: str,
    data: bytes,
    document: str,
    notes: list[str],
    *,
    passage_tokens: int = PASSAGE_TOKENS,
) -> list[Passage]:
    """The passages of a text file, in reading order.

    Its ending says how it is read. ``title`` is the text's main heading, or the document's name. A
    passage is whole sentences below one heading, at most ``passage_tokens`` words and marks of
    punctuation. Headings begin the first passage below them. ``notes`` gets a line where the
    encoding is guessed, and where there is nothing to read.

    Raises InputError: the file holds no text.
    """
    text = _decoded(name, data, notes)
    parts = list(PARSERS[PurePath(name).suffix.lower()](text))
    title = _title(parts) or re.sub(r"[-_\s]+", " ", PurePath(document).stem)

    prefix = "_".join(document.split())
    passages = []
    for position, passage in enumerate(passage_texts(parts, title, passage_tokens)):
        passage_id = f"{prefix}#{position + 1}"
        passages.append(Passage(passage_id, title, passage, document, position=position))
    if not passages:
        line = "it is left out, since there is no text in it"
        notes.append(str(InputError(line, file=name)))
    return passages


def passage_texts(parts: list[Part], title: str, passage_tokens: int) -> Iterator[str]:
    """The texts of the passages that the parts of a text with this title are cut into."""
    for heading, paragraphs in _sections(parts, title):
        yield from cut(paragraphs, passage_tokens, heading)


def _decoded(name: str, data: bytes, notes: list[str]) -> str:
    """The text, read as UTF-8, as what a web page declares, or as the usual."""
    if b"\0" in data:
        raise InputError("expected text, this file has NUL characters: it is none", file=name)
    declared = _CHARSET.search(data)
    for encoding in ("utf-8", declared[1].decode() if declared else ""):
        with suppress(LookupError, UnicodeError):
            return data.decode(encoding)
    line = f"read as {_USUAL}, since it is not in UTF-8"
    notes.append(str(InputError(line, file=name)))
    return data.decode(_USUAL, "replace")


def _title(parts: list[Part]) -> str:
    """The text's main heading, else the page's title, else the first heading, or ``""``."""
    for level in (HEADINGS[0], TITLE, *HEADINGS):
        for part in parts:
            if part.level == level:
                return part.text
    return ""


def _sections(parts: list[Part], title: str) -> Iterator[tuple[str, Texts]]:
    """Headings, joined where no text stands between, and the paragraphs below them.

    The title is none of them, unless there is nothing else.
    """
    shown = [
        part for part in parts if part.level != TITLE and not (part.level and part.text == title)
    ]
    waiting = ""
    for is_heading, group in groupby(shown or parts[:1], lambda part: bool(part.level)):
        texts = [part.text for part in group]
        if is_heading:
            waiting = "\n".join(texts)
        else:
            yield waiting, texts
            waiting = ""
    if waiting:
        yield waiting, []
