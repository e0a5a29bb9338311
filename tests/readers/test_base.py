"""A language model as a reader, on a server on loopback."""

from pathlib import Path

import pytest

from kit.corpus import example
from kit.readers.base import LanguageModelReader
from kit.store import Store
from kit.text import language_model
from kit.text.prompts import answer_prompt

CORPUS = example().corpus


def test_a_language_model_is_asked_with_the_papers_prompts(server, tmp_path: Path) -> None:
    questions = ["Where is the river?", "Who wrote it?", "Where is the river?"]
    context = [CORPUS["oll"].full_text, CORPUS["quay"].full_text]
    contexts = [context, [], context]
    model = language_model(
        f"server:{server.model}@{server.url}", longest_answer=6, store=Store(tmp_path)
    )
    reader = LanguageModelReader(model)
    answers = reader.answer(questions, contexts)
    prompts = [answer_prompt(question, context) for question, context in zip(questions, contexts)]
    assert answers == [answer.text.strip() for answer in model.generate(prompts)]
    assert answers[0] == answers[2]
    assert reader.usage()["calls"].tolist() == [2, 2]
    with pytest.raises(ValueError, match="shorter"):
        reader.answer(questions, contexts[:2])
