"""What all language models have in common, and the short text that makes one."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from kit.errors import InputError
from kit.store import Store
from kit.text import language_model
from kit.text.language_models import Answer, ChatServer, LanguageModel, SequenceToSequence
from kit.text.language_models.recorded import read_recorded


class Counting(LanguageModel):
    """Answers with the number of letters, in its own order, and fails at a prompt that says so."""

    def __init__(self, store: Store, *, identity: str = "counting", **settings: object):
        super().__init__("counting", store=store, **settings)
        self.identity = identity
        self.prompts: list[str] = []

    def _ask(self, prompts: Sequence[str]) -> Iterator[Mapping[int, Answer]]:
        for index in sorted(range(len(prompts)), key=lambda index: prompts[index] == "fail"):
            prompt = prompts[index]
            if prompt == "fail":
                raise self.error("gave up")
            self.prompts.append(prompt)
            yield {index: Answer(str(len(prompt)), len(prompt), 1, 0.25)}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def texts(model: LanguageModel, prompts: Sequence[str]) -> list[str]:
    return [answer.text for answer in model.generate(prompts, progress=False)]


def test_answers_stand_in_the_order_of_the_prompts_and_none_is_asked_twice(store: Store) -> None:
    model = Counting(store)
    assert texts(model, ["abc", "a", "abc", ""]) == ["3", "1", "3", "0"]
    assert texts(model, ["ab", "a"]) == ["2", "1"]
    assert model.prompts == ["abc", "a", "", "ab"] and model.generate([]) == []
    live, replayed = model.usage().drop(columns="model").itertuples(index=False)
    assert tuple(live) == ("live", 4, 6, 4, 1.0, 0)
    assert tuple(replayed) == ("replayed", 1, 1, 1, 0.25, 0)


def test_another_model_or_setting_has_answers_of_its_own(store: Store) -> None:
    texts(Counting(store), ["abc"])
    for other in (Counting(store, identity="another"), Counting(store, longest_answer=9)):
        texts(other, ["abc"])
        assert other.prompts == ["abc"]
    again = Counting(store)
    texts(again, ["abc"])
    assert again.prompts == []


def test_what_was_answered_before_a_failure_is_kept(store: Store) -> None:
    with pytest.raises(
        InputError, match=r"^counting: gave up \(2 of 3 prompts are answered and kept\)$"
    ):
        Counting(store).generate(["abc", "fail", "a"], progress=False)
    again = Counting(store, replay=True)
    assert texts(again, ["abc", "a"]) == ["3", "1"]


def test_a_replay_asks_nothing_and_names_what_is_missing(store: Store) -> None:
    texts(Counting(store), ["abc"])
    replay = Counting(store, replay=True)
    with pytest.raises(InputError) as error:
        replay.generate(["abc", "two\nlines " + "x" * 80, "c"], progress=False)
    shown = "two lines"
    assert (
        str(error.value)
        == f"counting: no stored answer to 2 of 3 prompts, the first being “{shown}…”"
    )
    assert replay.prompts == []


def test_any_model_is_recorded_where_that_is_wanted(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts(Counting(store), ["a"])
    monkeypatch.setenv("KIT_RECORD", str(tmp_path / "answers"))
    model = Counting(store)
    model.name = "some:mo/del@http://x/v1"
    assert texts(model, ["abc", "a"]) == ["3", "1"] and model.prompts == ["abc"]
    lines = read_recorded(tmp_path / "answers" / "mo-del.jsonl")
    assert set(lines) == {model.key_of("abc"), model.key_of("a")}
    model.is_recorded = False
    texts(model, ["abcd"])
    assert len(read_recorded(tmp_path / "answers" / "mo-del.jsonl")) == 2


def test_a_short_text_names_a_model() -> None:
    model = language_model("t5:google/flan-t5-small", longest_answer=9)
    assert isinstance(model, SequenceToSequence)
    assert (model.name, model.longest_answer, model.replay) == ("t5:google/flan-t5-small", 9, False)
    model = language_model("replay:server:family:7b@2")
    assert isinstance(model, ChatServer)
    assert (model.model, model.replay) == ("family:7b@2", True)
    model = language_model("server:some/model@https://models.example:8000/v1")
    assert (model.model, model.url) == ("some/model", "https://models.example:8000/v1")


@pytest.mark.parametrize(
    "text", ["", "t5", "t5:", "server:", "server:@http://x/v1", "replay:", "replay:gpt", "gpt-4", 5]
)
def test_a_text_that_names_none_is_one_plain_line(text: object) -> None:
    with pytest.raises(
        InputError,
        match=r"field model: expected a language model as hf:FOLDER-OR-NAME, hf:",
    ):
        language_model(text)
