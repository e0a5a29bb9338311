"""Files of records, JSON list or JSON lines, and what is wrong with a record in plain words."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kit.errors import InputError

NumberedRecords = Iterator[tuple[int, bytes]]
#: What msgspec raises for a record that is broken or of another type.
BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_TYPES = {
    "str": "text",
    "int": "a whole number",
    "float": "a decimal number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
_SEPARATOR = re.compile(r"\s*(,?)\s*")
#: What the types of kit.corpus.types ask of a text, as msgspec shows it.
_PATTERNS = {
    r"'\\S'": "text that is not blank",
    r"'\\A-?\\d+\\Z'": "a whole number",
    r"'\\A\\S+\\Z'": "an id without white space (TREC files are split at it)",
}


def read_bytes(path: Path) -> bytes:
    """A file's content without a UTF-8 byte order mark.

    Raises InputError: no such file, a folder, or it may not be read.
    """
    try:
        return path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read ({reason})", file=path) from None


def numbered_records(path: Path) -> NumberedRecords:
    """The JSON of each record, of JSON lines or of a list, with its number from 1.

    The number of JSON lines is the line's. The list may be the ``docs`` of an OpenIE file of
    HippoRAG, whose statistics behind it can be NaN, which is no JSON.

    Raises InputError where a list breaks, after the records before.
    """
    data = read_bytes(path)
    start = re.match(rb'\s*(\{\s*"docs"\s*:\s*)?\[\s*', data)
    if start:
        yield from _list_items(path, data, start)
    else:
        for line_number, line in enumerate(data.split(b"\n"), 1):
            if line.strip():
                yield line_number, line


def _list_items(
    path: Path,
    data: bytes,
    start: re.Match[bytes],
) -> NumberedRecords:
    """The JSON of each item of the list that ``start`` opens, with its number from 1."""
    text = data.decode("utf-8", "surrogateescape")
    decoder = json.JSONDecoder()
    position = start.end()
    item_number = 1
    is_open = text[position : position + 1] != "]"
    try:
        while is_open:
            _, end = decoder.raw_decode(text, position)
            yield item_number, text[position:end].encode("utf-8", "surrogateescape")
            item_number += 1
            separator = _SEPARATOR.match(text, end)
            position = separator.end()
            is_open = separator[1]

        has_more = not start[1] and text[position + 1 :].strip()
        if text[position : position + 1] != "]" or has_more:
            raise json.JSONDecodeError("Expecting the list's end or a comma", text, position)
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", "nested too deeply")
        raise InputError(
            f"not valid JSON: {reason} (character {position})",
            file=path,
            record=item_number,
        ) from None


def id_of(record: bytes) -> str | None:
    """The record's id, where it has a readable one."""
    try:
        fields = msgspec.json.decode(record, type=dict[str, object])
    except BROKEN:
        return None
    for name in ("_id", "id"):
        if isinstance(fields.get(name), str):
            return fields[name]
    return None


def in_words(error: Exception) -> tuple[str, str | None]:
    """What was expected, and in which field, from an error of :data:`BROKEN`."""
    reason, _, field = str(error).partition(" - at `$")
    field = field.rstrip("`").removeprefix(".")
    if isinstance(error, UnicodeDecodeError):
        return "expected UTF-8", None
    if isinstance(error, RecursionError):
        reason = "nested too deeply"
    if not isinstance(error, msgspec.ValidationError):
        reason = _uncapitalised(reason.removeprefix("JSON is malformed: "))
        return f"not valid JSON: {reason}", None
    if missing := re.fullmatch(r"Object missing required field `(.*)`", reason):
        return "missing", f"{field}.{missing[1]}".lstrip(".")
    if pattern := re.search(r"matching regex (.*)", reason):
        return f"expected {_PATTERNS[pattern[1]]}", field or None
    reason = re.sub(r"`(.*?)`", _types_in_words, reason)
    return _uncapitalised(reason), field or None


def _types_in_words(quoted: re.Match[str]) -> str:
    types = quoted[1].split(" | ")
    return " or ".join(_TYPES.get(name, name) for name in types)


def _uncapitalised(text: str) -> str:
    return text[:1].lower() + text[1:]
