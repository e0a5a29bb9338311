"""What the kit tells of in passing: one plain line each on standard error."""

import sys
import warnings

import pytest

from kit.lab.cli import main


@pytest.fixture
def flawed(tmp_path):
    """A BEIR folder with two rows that name no document."""
    (tmp_path / "set" / "qrels").mkdir(parents=True)
    (tmp_path / "set" / "corpus.jsonl").write_text('{"_id": "d1", "text": "A river."}\n')
    (tmp_path / "set" / "queries.jsonl").write_text('{"_id": "q1", "text": "Which river?"}\n')
    (tmp_path / "set" / "qrels" / "test.tsv").write_text("q1 d1 1\nq1 d7 1\nq1 d8 1\n")
    return tmp_path / "set"


def run(monkeypatch, *arguments):
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # put back at the end
    monkeypatch.setattr(sys, "argv", ["kit", *map(str, arguments)])
    with warnings.catch_warnings(), pytest.raises(SystemExit) as ended:
        warnings.simplefilter("default")
        main()
    return ended.value.code


def test_what_was_left_out_is_one_line(monkeypatch, capsys, flawed, tmp_path):
    target = tmp_path / "out.qrels"
    assert not run(monkeypatch, "data", "export", target, "--to", "qrels", "--data", flawed)
    line = f"{flawed / 'qrels' / 'test.tsv'}, record 2 and 1 more: names a document that is not"
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"kit: note: {line} in corpus.jsonl: left out"]
    assert target.read_text() == "q1 0 d1 1\n"


def test_a_check_with_notes_alone_succeeds(monkeypatch, capsys, flawed):
    assert run(monkeypatch, "data", "check", flawed) == 0
    note, summary = capsys.readouterr().out.splitlines()
    assert note.startswith("note: ") and summary == f"{flawed}: errors: 0, notes: 1"


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("rivers.csv", b"id,text\n1,Ode\n", "a table (CSV or TSV)"),
        ("README", b"# Rivers\n\nThe Ode.\n", "plain text"),
        ("dev.zip", b"PK\3\4\x14\0\0\0", "a zip archive, which has to be unpacked first"),
    ],
)
def test_a_file_that_is_no_data_is_told_what_it_is(
    monkeypatch, capsys, tmp_path, name, content, kind
):
    path = tmp_path / name
    path.write_bytes(content)
    assert run(monkeypatch, "evaluate", "bm25", "--data", path) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"kit: {path}: expected") and line.endswith(f"this is {kind}")
