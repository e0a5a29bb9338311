"""JSON lists and JSON lines: whole, broken, and how the place of the break is told."""

import gzip
import json
from functools import partial

import msgspec
import pytest

from kit.corpus.source import Source
from kit.errors import InputError

#: Without the time of day: workers that collect tests in other seconds name them alike.
packed = partial(gzip.compress, mtime=0)


class Named(msgspec.Struct):
    """A record to decode to."""

    id: str
    size: int = 0
    parts: list[tuple[str, int]] = msgspec.field(default_factory=list)


def read(path):
    """The ids of what can be decoded, and the lines of the problems."""
    source = Source()
    named = []
    source.read_records(path, Named, named.append)
    return [record.id for record in named], source.problems


@pytest.mark.parametrize(
    "content",
    [
        b'[{"id":"a"},{"id":"b"}]',
        b'  [\r\n{"id":"a"} ,\t{"id":"b"}\r\n]\r\n',
        b'\xef\xbb\xbf[{"id":"a"},{"id":"b"}]',
        b'{"id":"a"}\n{"id":"b"}',
        b'{"id":"a"}\r\n\r\n{"id":"b"}\r\n',
        b'\xef\xbb\xbf{"id":"a"}\n{"id":"b"}\n',
    ],
)
def test_reads_lists_and_lines_with_any_line_end_and_byte_order_mark(write, content):
    assert read(write("file.json", content)) == (["a", "b"], [])


@pytest.mark.parametrize(
    ("content", "ids", "line"),
    [
        (b'{"id":"a"}\n{"id":"\xff"}\n', ["a"], "record 2: expected UTF-8"),
        (
            b'{"id":"a"}\n{"id":\n{"id":"c"}\n',
            ["a", "c"],
            "record 2: not valid JSON: input data was truncated",
        ),
        (b'{"id":"a","size":NaN}\n', [], "record 1: not valid JSON: invalid character (byte 17)"),
        (b'{"id":"a","x":' + b"[" * 100_000, [], "record 1: not valid JSON: nested too deeply"),
        (b'[{"id":"a"},null]', ["a"], "record 2: expected an object, got null"),
        (b'[{"size":1}]', [], "record 1, field id: missing"),
        (b'[{"id":null}]', [], "record 1, field id: expected text, got null"),
        (
            b'[{"id":"a","size":"1"}]',
            [],
            "record 1 (id 'a'), field size: expected a whole number, got text",
        ),
        (
            b'[{"id":"a","parts":[["x",null]]}]',
            [],
            "field parts[0][1]: expected a whole number, got null",
        ),
        (b'[{"id":"a","parts":[["x"]]}]', [], "field parts[0]: expected a list of length 2"),
    ],
)
def test_tells_the_record_and_the_field_of_what_is_broken(write, content, ids, line):
    named, [problem] = read(write("file.json", content))
    assert named == ids and problem.endswith(line)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b" \n ", "expected at least one record, the file holds none"),
        (b"[]", "expected at least one record, the file holds none"),
        (b'[{"id":"a"},{"id":"b', "record 2: not valid JSON: "),
        (b'[{"id":"a"}', "record 2: not valid JSON: "),
        (
            b'[{"id":"a"} {"id":"b"}]',
            "record 2: not valid JSON: Expecting the list's end or a comma",
        ),
        (b'[{"id":"a"}] x', "record 2: not valid JSON: "),
        (b"[" * 100_000, "record 1: not valid JSON: nested too deeply"),
    ],
)
def test_a_list_that_breaks_ends_the_reading(write, content, line):
    with pytest.raises(InputError) as raised:
        read(write("file.json", content))
    assert line in str(raised.value)


def test_an_id_is_shown_with_control_characters_escaped_and_cut(write):
    path = write("file.json", [{"id": "\x1b[31m" + "x" * 200, "size": "1"}])
    [line] = read(path)[1]
    assert "record 1 (id '\\x1b[31mxxx" in line and "...')" in line


@pytest.mark.parametrize(
    "content",
    [
        packed(b'[{"id":"\xc3\xa9"},{"id":"b"}]'),
        '\ufeff[{"id":"\u00e9"},{"id":"b"}]'.encode("utf-16-le"),
        '\ufeff{"id":"\u00e9"}\n{"id":"b"}\n'.encode("utf-16-be"),
        packed('\ufeff{"id":"\u00e9"}\n{"id":"b"}\n'.encode()),
        '{"data": [{"id":"\u00e9"},{"id":"b"}]}',
        '{"version": "1.1 \u00e9", "size": 2, "docs": [{"id":"\u00e9"},{"id":"b"}], "mean": NaN}',
    ],
)
def test_reads_packed_files_utf_16_and_lists_in_an_object(write, content):
    assert read(write("file.json", content)) == (["\u00e9", "b"], [])


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (packed(b'[{"id":"a"}]')[:-9], "a gzip file that is broken"),
        (b"\xff\xfe[", "begins with the mark of UTF-16, but is not UTF-16"),
        (b"PK\x03\x04\x14\0", "expected a text file, this is a zip archive, which has to be"),
        (packed(b"PAR1"), "this is a Parquet file, which has to be converted to JSON"),
        ("version https://git-lfs.github.com/spec/v1\n", "this is a Git LFS pointer"),
        ("<!doctype html>\n<p>Sign in", "this is a web page or XML"),
        ("id,title\n1,Ode\n", "this is a table (CSV or TSV)"),
        ("id\ttitle\ttext\n1\tOde, a river\tIt\n", "this is a table (CSV or TSV)"),
        ("# Rivers\n\nThe Ode, a river.\n", "this is plain text"),
        (b"\x01\x02\0\0", "this is no text"),
        ('{"data": [{"id":"a"}]}\n{"data": [{"id":"b"}]}\n', "not valid JSON: Extra data"),
    ],
)
def test_a_file_of_another_kind_is_told_what_it_is(write, content, line):
    with pytest.raises(InputError) as raised:
        read(write("file.json", content))
    assert line in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (r"a\ud800b", "a\ufffdb"),
        (r"\uDC00", "\ufffd"),
        (r"a\u0000b", "a\ufffdb"),
        ("a\0b", "a\ufffdb"),
        (b"\xed\xa0\x80", "\ufffd"),
    ],
)
@pytest.mark.parametrize("form", [b'[{"id":"z"},{"id":"%b"}]', b'{"id":"z"}\n{"id":"%b"}\n'])
def test_what_nothing_can_write_is_replaced_and_told(write, text, name, form):
    content = text if isinstance(text, bytes) else text.encode()
    path = write("file.json", form % content)
    source = Source()
    named = []
    source.read_records(path, Named, named.append)
    assert [record.id for record in named] == ["z", name] and not source.problems
    line = f"{path}, record 2: NUL or half a character is replaced by U+FFFD"
    assert source.told_flaws == [line]


@pytest.mark.parametrize("text", [r"\ud83d\ude00 \\ud800 \u0022 \n \u00e9", "\ufffd"])
def test_other_escapes_are_read_as_json_means_them(write, text):
    path = write("file.json", f'[{{"id":"{text}"}}]')
    assert read(path) == ([json.loads(f'"{text}"')], [])
