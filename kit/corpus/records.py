"""Files of records, JSON list or JSON lines, and what is wrong with a record in plain words."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kit.errors import InputError

#: What msgspec raises for a record that is broken or of another type.
BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_TYPES = {
    "str": "text",
    "int": "a whole number",
    "float": "a decimal number",
    "bool": "true or false",
}
_TYPES |= {"array": "a list", "object": "an object"}
#: What the types of kit.corpus.types ask of a text, as msgspec shows it.
_PATTERNS = {r"'\\S'": "text that is not blank", r"'\\A-?\\d+\\Z'": "a whole number"}
_PATTERNS |= {r"'\\A\\S+\\Z'": "an id without white space (TREC files are split at it)"}


def read_bytes(path: Path) -> bytes:
    """A file's content without a UTF-8 byte order mark. Raises InputError: no file, a folder, or it may not be read."""
    try:
        return path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot be read ({getattr(error, 'strerror', None) or error})", file=path
        ) from None


def read(path: Path) -> Iterator[tuple[int, bytes]]:
    """The JSON of each record with its number: of JSON lines (then it is the line's), or of a list.

    The list may be the ``docs`` of an OpenIE file of HippoRAG, whose statistics behind it can be NaN, which is no JSON.
    Raises InputError where a list breaks, after the records before.
    """
    data = read_bytes(path)
    start = re.match(rb'\s*(\{\s*"docs"\s*:\s*)?\[\s*', data)
    if not start:
        yield from (
            (number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()
        )
        return
    text, place, number = data.decode("utf-8", "surrogateescape"), start.end(), 1
    decoder, space = json.JSONDecoder(), re.compile(r"\s*")
    is_open = text[place : place + 1] != "]"
    try:
        while is_open:
            end = decoder.raw_decode(text, place)[1]
            yield number, text[place:end].encode("utf-8", "surrogateescape")
            number, place = number + 1, space.match(text, end).end()
            is_open = text[place : place + 1] == ","
            place = space.match(text, place + 1).end() if is_open else place
        if text[place : place + 1] != "]" or (not start[1] and text[place + 1 :].strip()):
            raise json.JSONDecodeError("Expecting the list's end or a comma", text, place)
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", "nested too deeply")
        raise InputError(
            f"not valid JSON: {reason} (character {place})", file=path, record=number
        ) from None


def id_of(record: bytes) -> str | None:
    """The record's id, where it has a readable one."""
    try:
        fields = msgspec.json.decode(record, type=dict[str, object])
    except BROKEN:
        return None
    return next((id for name in ("_id", "id") if isinstance(id := fields.get(name), str)), None)


def in_words(error: Exception) -> tuple[str, str | None]:
    """What was expected, and in which field, from an error of :data:`BROKEN`."""
    reason, _, field = str(error).partition(" - at `$")
    field = field.rstrip("`").removeprefix(".")
    if isinstance(error, UnicodeDecodeError):
        return "expected UTF-8", None
    if isinstance(error, RecursionError):
        reason = "nested too deeply"
    if not isinstance(error, msgspec.ValidationError):
        reason = reason.removeprefix("JSON is malformed: ")
        return f"not valid JSON: {reason[:1].lower()}{reason[1:]}", None
    if missing := re.fullmatch(r"Object missing required field `(.*)`", reason):
        return "missing", f"{field}.{missing[1]}".lstrip(".")
    if pattern := re.search(r"matching regex (.*)", reason):
        return f"expected {_PATTERNS[pattern[1]]}", field or None
    reason = re.sub(
        r"`(.*?)`",
        lambda it: " or ".join(_TYPES.get(one, one) for one in it[1].split(" | ")),
        reason,
    )
    return reason[:1].lower() + reason[1:], field or None
