"""Files of records, JSON list or JSON lines, and what is wrong with a record in plain words."""

import codecs
import gzip
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from unicodedata import normalize

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
#: What a list of records begins with. It may be the ``docs`` or ``data`` of an object.
_LIST_START = re.compile(
    rb"\s*"
    rb'(\{\s*(?:"\w+"\s*:\s*(?:"[^"\\]*"|[-+.\w]+)\s*,\s*)*"(?:docs|data)"\s*:\s*)?'
    rb"\[\s*"
)
#: Other kinds of files by what they begin with.
_OTHER_KINDS = {
    b"PK\x03\x04": "a zip archive, which has to be unpacked first",
    b"7z\xbc\xaf": "a 7z archive, which has to be unpacked first",
    b"BZh": "a bzip2 file, which has to be unpacked first",
    b"\xfd7zXZ": "an xz file, which has to be unpacked first",
    b"\x28\xb5\x2f\xfd": "a Zstandard file, which has to be unpacked first",
    b"PAR1": "a Parquet file, which has to be converted to JSON first",
    b"SQLite format 3": "a SQLite database",
    b"%PDF": "a PDF, whose name has to end in .pdf",
    b"version https://git-lfs": "a Git LFS pointer (`git lfs pull` fetches the file)",
}
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|.)"
)
#: What the types of kit.corpus.types ask of a text, as msgspec shows it.
_PATTERNS = {
    r"'\\S'": "text that is not blank",
    r"'\\A-?\\d+(?:\\.0*)?\\Z'": "a whole number",
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


def read_utf8(path: Path) -> bytes:
    """The UTF-8 of a text file, of one that gzip packed, or of UTF-16 with a byte order mark.

    Raises InputError: it can't be read, or it is a file of another kind.
    """
    data = read_bytes(path)
    try:
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            text = data.decode("utf-16", "surrogatepass")
            data = text.encode("utf-8", "surrogatepass")
    except (OSError, EOFError, zlib.error):
        raise InputError("a gzip file that is broken", file=path) from None
    except UnicodeError:
        raise InputError("begins with the mark of UTF-16, but is not UTF-16", file=path) from None

    for beginning, kind in _OTHER_KINDS.items():
        if data.startswith(beginning):
            raise InputError(f"expected a text file, this is {kind}", file=path)
    return data.removeprefix(codecs.BOM_UTF8)


def numbered_records(path: Path) -> NumberedRecords:
    """The JSON of each record, of JSON lines or of a list, with its number from 1.

    The number of JSON lines is the line's. The list may be the ``docs`` of an OpenIE file of
    HippoRAG, whose statistics behind it can be NaN, which is no JSON.

    Raises InputError: the file holds something else, or its list breaks, after the records before.
    """
    data = read_utf8(path)
    start = _LIST_START.match(data)
    if start:
        yield from _list_items(path, data, start)
        return

    if data.strip() and not data.lstrip().startswith((b"{", b"[")):
        raise InputError(
            "expected records in JSON (a list, or one on each line), "
            f"this is {_kind_of_text(data)}",
            file=path,
        )
    for line_number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield line_number, line


def _kind_of_text(data: bytes) -> str:
    """What a text that is no JSON seems to be."""
    head = data[:10_000].lstrip()
    if b"\0" in head:
        return "no text"
    if head.startswith(b"<"):
        return "a web page or XML"
    first_line, second_line = [*head.splitlines(), b"", b""][:2]
    for separator in (b"\t", b",", b";"):
        n_columns = first_line.count(separator)
        if n_columns and n_columns == second_line.count(separator):
            return "a table (CSV or TSV)"
    return "plain text"


def _list_items(
    path: Path,
    data: bytes,
    start: re.Match[bytes],
) -> NumberedRecords:
    """The JSON of each item of the list that ``start`` opens, with its number from 1."""
    text = data.decode("utf-8", "surrogateescape")
    decoder = json.JSONDecoder(strict=False)  # control characters are told record by record
    position = len(start[0].decode("utf-8", "surrogateescape"))
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

        if text[position : position + 1] != "]":
            raise json.JSONDecodeError("Expecting the list's end or a comma", text, position)
        # What is behind the list has to be valid, too.
        before = '{"list": []' if start[1] else "[]"
        decoder.decode(before + text[position + 1 :])
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", "nested too deeply")
        raise InputError(
            f"not valid JSON: {reason} (character {position})",
            file=path,
            record=item_number,
        ) from None


def composed(record: bytes) -> str:
    """A record in composed characters (NFC), so that equal names are equal text.

    Escaped characters beyond ASCII are written out. Raises UnicodeDecodeError: it is not UTF-8.
    """
    text = _ESCAPE.sub(_unescaped, record.decode("utf-8", "surrogatepass"))
    return normalize("NFC", text)


def writable(text: str) -> str:
    """The text in composed characters (NFC), with U+FFFD for what no file and no server takes.

    That is NUL, and half a character (a lone surrogate); two halves make a whole one.
    """
    if text.isascii() and "\0" not in text:
        return text
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return normalize("NFC", whole).replace("\0", "\ufffd")


def _unescaped(escape: re.Match[str]) -> str:
    """The character that JSON's escape stands for; one of ASCII, as a quote, stays escaped."""
    if len(escape[0]) == 2:
        return escape[0]
    character = json.loads(f'"{escape[0]}"')
    return escape[0] if "\0" < character < "\x80" else character


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
