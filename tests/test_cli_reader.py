"""``kit evaluate --reader``: answers in the table and in the file, from a model of one's own or from a server."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import msgspec
import pytest

from kit.cli import main
from kit.corpus import Passage, Question, export
from kit.corpus.example import example
from kit.text.reader import ExtractiveReader, Learning


def kit(*arguments: object) -> tuple[int, str, str]:
    """Exit status and what was said of ``kit ARGUMENTS``, run in this process."""
    out, err = io.StringIO(), io.StringIO()
    with mock.patch("sys.argv", ["kit", *map(str, arguments)]), redirect_stdout(out), redirect_stderr(err):
        with pytest.raises(SystemExit) as ended:
            main()
    return ended.value.code or 0, out.getvalue(), err.getvalue()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KIT_CACHE", str(tmp_path / "cache"))
    return export(example(), tmp_path / "example.json", "hotpotqa")


@pytest.fixture
def keepers(tmp_path: Path) -> Path:
    """A folder in the kit's own format with a few questions to learn from."""
    passages = [Passage(f"p{i}", f"Light {i}", f"Keeper {i} keeps the light.", f"p{i}") for i in range(6)]
    questions = [Question(f"q{i}", f"Who keeps light {i}?", f"Keeper {i}", ((f"p{i}",),)) for i in range(6)]
    folder = tmp_path / "keepers"
    folder.mkdir()
    for name, records in (("passages", passages), ("train", questions)):
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, records)))
    return folder


def written(file: Path) -> dict:
    return msgspec.json.decode(file.read_bytes())


@pytest.fixture
def small(tiny_model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extractive reader, on a model that learns in moments."""

    class Small(ExtractiveReader):
        def __init__(self) -> None:
            super().__init__(tiny_model, Learning(epochs=1))

    monkeypatch.setattr("kit.text.reader.ExtractiveReader", Small)


def test_an_extractive_reader_learns_and_answers(small: None, data: Path, keepers: Path, tmp_path: Path) -> None:
    wanted = ["--reader", "extractive", "--read", 3, "--none", "--json", tmp_path / "out.json"]
    status, out, err = kit("evaluate", "bm25", "golden", "--data", data, "--train", keepers, *wanted)
    assert status == 0, err
    shown = [line.split()[0] for line in out.splitlines()]
    assert [name for name in shown if name in ("em", "f1", "accuracy", "words")] == ["em", "f1", "accuracy", "words"]
    record = written(tmp_path / "out.json")
    assert record["reader"] == {"name": "extractive", "n_passages": 3}
    assert [result["retriever"] for result in record["results"]] == ["bm25", "golden", "none"]
    for result in record["results"]:
        assert 0 <= result["em_ci"][0] <= result["em"] <= result["em_ci"][1] <= 1
        assert ("recall@5" in result) == (result["retriever"] != "none")


def test_a_server_reads_and_judges_and_is_replayed(server, data: Path, tmp_path: Path) -> None:
    def ask(model: str, file: str) -> dict:
        models = ["--reader", model, "--judge", model, "--read", 1, "--json", tmp_path / file]
        status, out, err = kit("evaluate", "bm25", "--data", data, "--k", 2, *models)
        assert status == 0, err
        assert f"reader server:{server.model}, live: " in out
        return written(tmp_path / file)

    live = ask(f"server:{server.model}@{server.url}", "live.json")
    again = ask(f"replay:server:{server.model}", "again.json")
    scores = {"em", "f1", "accuracy", "judged", "unclear", "words"}
    (first,), (second,) = live["results"], again["results"]
    assert {name: first[name] for name in scores} == {name: second[name] for name in scores}
    calls = [[usage["calls"] for usage in found["reader"]["usage"]] for found in (live, again)]
    assert calls == [[2, 0], [0, 2]]
    assert live["reader"]["usage"][0]["answer_tokens"] == again["reader"]["usage"][1]["answer_tokens"] > 0
    assert [usage["source"] for usage in again["judge"]["usage"]] == ["live", "replayed"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--reader", "extractive"], "expected training questions with answers and supports (--train FILE)"),
        (["--reader", "someone"], "field reader: expected a reader: extractive, or a language model"),
        (["--reader", "extractive", "--read", "6", "--k", "5"], "field read: expected a number from 1 to 5"),
        (["--read", "3"], "field reader: expected a reader (--reader), whose answers are meant"),
        (["--judge", "server:x"], "field reader: expected a reader"),
    ],
)
def test_bad_wishes_write_nothing(data: Path, tmp_path: Path, arguments: Sequence[str], line: str) -> None:
    status, out, err = kit("evaluate", "bm25", "--data", data, *arguments, "--json", tmp_path / "out.json")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("kit: ") and line in err
    assert not (tmp_path / "out.json").exists()
