"""Files of records, JSON list or JSON lines, and what is wrong with a record in plain words."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from kit.errors import InputError

#: What msgspec raises for a record that is broken or of another type.
BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_SPACE = re.compile(r"[ \t\r\n]*")
_TYPES = {"str": "text", "int": "a whole number", "float": "a decimal number", "bool": "true or false"}
_TYPES |= {"array": "a list", "object": "an object"}
#: What the types of kit.corpus.types ask of a text, as msgspec shows it.
_PATTERNS = {r"'\\S'": "text that is not blank"}
_PATTERNS |= {r"'\\A\\S+\\Z'": "an id without white space (TREC files are split at it)"}


class RawRecord(NamedTuple):
    """A record as it stands in the file, or why the file breaks there. ``number`` is the record's, or the line's."""

    number: int
    content: msgspec.Raw | bytes = b""
    broken: str = ""


def read_bytes(path: Path) -> bytes:
    """A file's content without a UTF-8 byte order mark. Raises InputError: no file, a folder, or it may not be read."""
    try:
        return path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except IsADirectoryError:
        raise InputError("expected a file, this is a folder", file=path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read ({getattr(error, 'strerror', None) or error})", file=path) from None


def read(path: Path) -> Iterator[RawRecord]:
    """The records of a JSON list, or of JSON lines; of a broken list those before the break, and what is wrong."""
    data = read_bytes(path)
    if data[:100].lstrip()[:1] != b"[":
        yield from (RawRecord(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip())
        return
    try:
        records = msgspec.json.decode(data, type=list[msgspec.Raw])
    except BROKEN as error:
        yield from _before_the_break(data, in_words(error)[0])
    else:
        yield from (RawRecord(number, raw) for number, raw in enumerate(records, 1))


def _before_the_break(data: bytes, reason: str) -> Iterator[RawRecord]:
    text = data.decode("utf-8", "surrogateescape")
    decoder = json.JSONDecoder(parse_constant=int)  # int("NaN") fails: NaN and Infinity are not JSON
    number, place = 1, text.index("[") + 1
    with contextlib.suppress(ValueError, RecursionError):
        while number == 1 or text[place - 1 : place] == ",":
            start = _SPACE.match(text, place).end()
            end = decoder.raw_decode(text, start)[1]
            yield RawRecord(number, text[start:end].encode("utf-8", "surrogateescape"))
            number, place = number + 1, _SPACE.match(text, end).end() + 1
        if text[place - 1 :].strip() == "]":  # whole: msgspec refuses a lone surrogate in a record
            return
    yield RawRecord(number, broken=reason)


def id_of(record: RawRecord) -> str | None:
    """The record's id, where it has a readable one."""
    try:
        fields = msgspec.json.decode(record.content, type=dict[str, object])
    except BROKEN:
        return None
    return next((id for name in ("_id", "id") if isinstance(id := fields.get(name), str)), None)


def in_words(error: Exception) -> tuple[str, str | None]:
    """What was expected, and in which field, from an error of :data:`BROKEN`."""
    if isinstance(error, UnicodeDecodeError):
        return "expected UTF-8", None
    if isinstance(error, RecursionError):
        return "not valid JSON: nested too deeply", None
    reason, _, field = str(error).partition(" - at `$")
    field = field.rstrip("`").removeprefix(".")
    if missing := re.fullmatch(r"Object missing required field `(.*)`", reason):
        return "missing", f"{field}.{missing[1]}" if field else missing[1]
    if isinstance(error, msgspec.ValidationError):
        if pattern := re.search(r"matching regex (.*)", reason):
            return f"expected {_PATTERNS[pattern[1]]}", field or None
        reason = re.sub(r"`(.*?)`", lambda it: " or ".join(_TYPES.get(one, one) for one in it[1].split(" | ")), reason)
        return reason[:1].lower() + reason[1:], field or None
    reason = reason.removeprefix("JSON is malformed: ")
    return f"not valid JSON: {'it ends in the middle' if 'truncated' in reason else reason}", None
