"""Recorded answers: from a server on loopback into a file, from the file into an empty store."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from kit import cost, paths
from kit.corpus import load
from kit.errors import InputError
from kit.evaluation.answers import read_answers, reader_of
from kit.lab import recording
from kit.lab.cli import cli
from kit.lab.reading import sample
from kit.text import language_model

PARAMETERS = 'data = ""\nscale = "class"\nseed = 0\nmodel = ""'
ASK = """from kit.lab.lesson import start
from kit.text.language_models import language_model
lesson = start("01_answers", data=data, scale=scale, seed=seed)
texts = [answer.text for answer in language_model(model).generate([f"Who? {n}" for n in range(4)])]
texts += [answer.text for answer in language_model(model, longest_answer=9).generate(["Who? 0"])]
print(texts)
lesson.done()"""


@pytest.fixture
def chat(chat: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """That of all tests (it echoes, ten tokens per call), told by the environment."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", chat.url)
    return chat


@pytest.fixture
def answers(project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of recorded answers, beside a notebook that asks a model five things."""
    project.write("01_answers", ASK, parameters=PARAMETERS)
    monkeypatch.setattr(paths, "ANSWERS", tmp_path / "answers")
    monkeypatch.setattr(paths, "NOTEBOOKS", project.notebooks)
    return tmp_path / "answers"


def kit(project, command: str, *more: object) -> Result:
    return CliRunner().invoke(cli, [*command.split(), "--data", str(project.data), *map(str, more)])


def test_recorded_and_replayed_without_a_server(
    project, answers: Path, chat, tmp_path, monkeypatch
) -> None:
    language_model("server:some/model").generate(["Who? 1"], progress=False)  # in the store already
    done = kit(
        project, "record 01 --model server:some/model --most-calls 10 --most-tokens 5000 --price 2"
    )
    assert done.exit_code == 0 and chat.seen == 5, done.output
    assert done.output.startswith(
        "server:some/model: at most 10 calls and 5,000 tokens, that is at most 0.01, and"
    )
    assert (
        "language models: requests to servers 4; new answers 4 (tokens: 32 read, 8 written); "
        "stored answers 1; cut at the longest length 0; not understood 0"
    ) in done.output
    file = answers / "some-model.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert sorted(line["text"] for line in lines) == [
        "Who? 0",
        "Who? 0",
        "Who? 1",
        "Who? 2",
        "Who? 3",
    ]
    assert {(line["model"], line["prompt_tokens"], line["answer_tokens"]) for line in lines} == {
        ("server:some/model", 8, 2)
    }
    recorded = file.read_bytes()

    for name in ("OPENAI_BASE_URL", "KIT_MOST_CALLS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KIT_CACHE", str(tmp_path / "another"))
    done = kit(project, "run 01 -p model replay:server:some/model")
    assert done.exit_code == 0 and chat.seen == 5, done.output
    assert (
        kit(project, "record 01 --model server:some/model").exit_code == 0
    )  # nothing is left to ask
    assert file.read_bytes() == recorded


def test_the_caps_are_those_of_all_models_and_what_was_answered_is_not_asked_again(
    project, answers, chat
) -> None:
    done = kit(project, "record 01 --model server:m --most-calls 4")
    assert done.exit_code == 1 and chat.seen == 4
    assert "the cap of 4 calls is reached (KIT_MOST_CALLS)" in done.output
    assert len((answers / "m.jsonl").read_bytes().splitlines()) == 4
    assert (
        kit(project, "record 01 --model server:m --most-tokens 10").exit_code == 0
        and chat.seen == 5
    )
    assert len((answers / "m.jsonl").read_bytes().splitlines()) == 5


def test_a_command_says_what_its_language_models_cost(
    project, own_store, chat, monkeypatch
) -> None:
    monkeypatch.setattr(cost, "COUNTS", cost.Counter())
    ask = "evaluate bm25 --k 2 --read 1 --reader server:m"
    assert "language models: requests to servers 35; new answers 35 (" in kit(project, ask).output
    monkeypatch.setattr(cost, "COUNTS", cost.Counter())
    assert "requests to servers 0; new answers 0" in kit(project, ask).output
    monkeypatch.setattr(cost, "COUNTS", cost.Counter())
    assert "language models:" not in kit(project, "evaluate bm25").output


@pytest.mark.parametrize("line", ["", "{", "[]", '{"text": "x"}', "\xff"])
def test_a_damaged_line_is_named_before_anything_runs(project, answers: Path, line: str) -> None:
    answers.mkdir()
    sound = {"prompt_hash": "0" * 32, "model": "server:m", "date": "2026-01-01", "text": "a"}
    sound = json.dumps(sound | {"prompt_tokens": 1, "answer_tokens": 1, "seconds": 0.5})
    (answers / "m.jsonl").write_text(f"{sound}\n{line}\n", "latin-1")
    for command in ("run 01", "evaluate bm25"):
        done = kit(project, command)
        assert isinstance(done.exception, InputError) and not project.output.exists()
        assert str(done.exception).startswith(
            f"{answers / 'm.jsonl'}, line 2: expected a recorded answer ("
        )


def test_what_can_not_be_recorded(project, answers: Path) -> None:
    expected = "field model: expected (server:NAME|a language model as)"
    for model in ("t5:m", "replay:server:m", "server:", "m"):
        with (
            pytest.raises(InputError, match=expected),
            recording.recording(model, 1, 1),
        ):
            pass
    project.write("01_second")
    project.write("02_other")
    line = "field notebook: expected one notebook, not all that begin with '01'"
    assert str(kit(project, "record 01 --model server:m").exception) == line
    assert str(kit(project, "record 02 --model server:m").exception).startswith(
        "field parameter model: "
    )


def test_the_shipped_recording_reads_without_its_model() -> None:
    """What SmolLM2 answered in lesson 17 from the supports; a prompt of today that is not in the
    recording is an error."""
    recording.store_recorded()
    benchmark = load()
    questions = sample(benchmark.test, 16, seed=0)
    supports = []
    for question in questions:
        supports.append([benchmark.corpus[name].full_text for name in question.supporting_ids])
    table = read_answers(
        reader_of("replay:hf:smollm2+reader"),
        questions,
        {"golden": supports},
    )
    assert table["em"].sum() == 5
    with pytest.raises(InputError, match="no stored answer"):
        reader_of("replay:hf:smollm2+reader").answer(["Who?"], [["Nobody."]])
