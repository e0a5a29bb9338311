"""Files of records, JSON list or JSON lines, read so that every broken record is told and not just the first."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from kit.corpus.problems import Problems, quote
from kit.errors import InputError

T = TypeVar("T")
_BOM = b"\xef\xbb\xbf"
_JSON_SPACE = b" \t\r\n"
_TRUNCATED = "Input data was truncated"  # msgspec's words
_SPACE = re.compile(r"[ \t\r\n]*")
_WORDS = {
    "str": "text",
    "int": "a whole number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "float": "a decimal number",
}


class Record(NamedTuple):
    """A record as it stands in the file; ``number`` counts from 1 (in JSON lines, it is the number of the line)."""

    number: int
    raw: msgspec.Raw | bytes


def read(path: Path, problems: Problems) -> Iterator[Record]:
    """The records of a JSON list or of JSON lines; a UTF-8 byte order mark and CRLF are accepted.

    Raises:
        InputError: the file can't be opened.
    """
    count, errors = 0, len(problems.errors)
    with open_binary(path) as source:
        start = source.read(len(_BOM))
        source.seek(len(_BOM) if start == _BOM else 0)
        body = source.tell()
        while (byte := source.read(1)) and byte in _JSON_SPACE:
            continue
        source.seek(body)
        if byte == b"[":
            found = _list(source.read(), path, problems)
        else:
            found = (Record(number, line) for number, line in enumerate(source, 1) if line.strip())
        for record in found:
            count += 1
            yield record
    if not count and len(problems.errors) == errors:
        problems.error("expected at least one record, the file holds none", file=path)


def decode(record: Record, decoder: msgspec.json.Decoder[T], problems: Problems, path: Path) -> T | None:
    """The record as the decoder's type; None, with a problem noted, where it isn't of that type."""
    try:
        return decoder.decode(record.raw)
    except msgspec.ValidationError as error:
        expected, field = _plain(str(error))
        problems.error(expected, record=label(record), field=field, file=path)
    except UnicodeDecodeError:
        problems.error("expected UTF-8", record=label(record), file=path)
    except (msgspec.DecodeError, RecursionError) as error:
        problems.error(_broken(error), record=record.number, file=path)
    return None


def label(record: Record, id: str | None = None) -> str:
    """The record's number, and its id where it has a readable one."""
    if id is None:
        try:
            fields = msgspec.json.decode(record.raw, type=dict[str, object])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            fields = {}
        id = next((value for name in ("_id", "id") if isinstance(value := fields.get(name), str)), None)
    return f"{record.number} (id {quote(id)})" if id else str(record.number)


def keys(path: Path, at_most: int = 100) -> set[str]:
    """The fields that the first records have, together.

    Raises:
        InputError: there is no record that can be read.
    """
    problems = Problems(path)
    found: set[str] = set()
    for record in read(path, problems):
        fields = decode(record, msgspec.json.Decoder(dict[str, msgspec.Raw]), problems, path)
        found |= set(fields or ())
        if record.number >= at_most:
            break
    if not found:
        problems.raise_first()
    return found


def open_binary(path: Path):
    """Open a file for reading.

    Raises:
        InputError: it isn't there, is a folder, or may not be read.
    """
    if path.is_dir():
        raise InputError("expected a file, this is a folder", file=path)
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read ({getattr(error, 'strerror', None) or error})", file=path) from None


def _list(data: bytes, path: Path, problems: Problems) -> Iterator[Record]:
    try:
        raws = msgspec.json.decode(data, type=list[msgspec.Raw])
    except (msgspec.DecodeError, RecursionError) as error:
        return _list_piecewise(data, error, path, problems)
    return (Record(number, raw) for number, raw in enumerate(raws, 1))


def _list_piecewise(data: bytes, error: Exception, path: Path, problems: Problems) -> Iterator[Record]:
    """The records before the place where a JSON list breaks, and a problem that names that place."""
    try:
        text = data.decode()
        reason = _broken(error) if _TRUNCATED in str(error) else None
    except UnicodeDecodeError as bad:
        text, reason = data[: bad.start].decode(), f"expected UTF-8 (byte {bad.start} of the file is not)"
    decoder = json.JSONDecoder(parse_constant=_refuse)
    number, place = 0, _SPACE.match(text).end() + 1
    while True:
        place = _SPACE.match(text, place).end()
        if not number and text[place : place + 1] == "]":
            break
        number += 1
        try:
            _, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as broken:
            problems.error(reason or _broken(broken), record=number, file=path)
            return
        yield Record(number, text[place:end].encode())
        place = _SPACE.match(text, end).end()
        if text[place : place + 1] != ",":
            break
        place += 1
    if text[place : place + 1] != "]":
        problems.error(reason or "expected a comma or the end of the list after it", record=number or None, file=path)
    elif text[place + 1 :].strip() or reason:
        problems.error(reason or "expected nothing after the end of the list", file=path)
    elif isinstance(error, RecursionError):
        problems.error(_broken(error), file=path)


def _refuse(constant: str) -> None:
    raise ValueError(f"the constant {constant} is none of its values")


def _broken(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "not valid JSON: nested too deeply"
    if _TRUNCATED in str(error):
        return "not valid JSON: it ends in the middle"
    reason = getattr(error, "msg", None) or str(error).removeprefix("JSON is malformed: ")
    return f"not valid JSON: {reason[:1].lower()}{reason[1:]}"


def _plain(message: str) -> tuple[str, str | None]:
    """msgspec's message in plain words, and the field that it is about."""
    reason, _, field = message.partition(" - at `$")
    field = field.rstrip("`").removeprefix(".")
    missing = re.fullmatch(r"Object missing required field `(.*)`", reason)
    if missing:
        return "missing", f"{field}.{missing[1]}" if field else missing[1]
    reason = re.sub(r"`(.*?)`", lambda types: " or ".join(_WORDS.get(it, it) for it in types[1].split(" | ")), reason)
    return reason[:1].lower() + reason[1:], field or None
