"""A language model as the reader, against a real server on loopback."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.errors import InputError
from kit.store import Store
from kit.text import language_model
from kit.text.prompts import answer_prompt
from kit.text.readers import LanguageModelReader

QUESTIONS = ["Where is the river?", "Who wrote it?", "Where is the river?"]
FOUND = ["Oll\nThe Oll is a river.", "Selby Quay\nA town."]
CONTEXTS = [FOUND, [], FOUND]


def asking(text: str, folder: Path) -> LanguageModelReader:
    return LanguageModelReader(language_model(text, longest_answer=6, store=Store(folder)))


def test_answers_come_from_the_papers_prompts_and_are_replayed(server, tmp_path: Path) -> None:
    live = asking(f"server:{server.model}@{server.url}", tmp_path)
    answers = live.answer(QUESTIONS, CONTEXTS)
    assert answers[0] == answers[2]
    prompts = [answer_prompt(question, context) for question, context in zip(QUESTIONS, CONTEXTS)]
    assert answers == [answer.text.strip() for answer in live.model.generate(prompts)]
    assert live.usage()["calls"].tolist() == [2, 2]
    replay = asking(f"replay:server:{server.model}", tmp_path)
    assert replay.answer(QUESTIONS, CONTEXTS) == answers
    assert replay.usage()["calls"].tolist() == [0, 2]
    with pytest.raises(InputError, match="no stored answer to 1 of 1 prompts"):
        replay.answer(["When?"], [[]])
