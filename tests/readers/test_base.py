"""A language model as a reader, on a server on loopback."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from kit.corpus import example
from kit.readers.base import LanguageModelReader
from kit.store import Store
from kit.text import language_model
from kit.text.language_models import Answer, LanguageModel
from kit.text.prompts import answer_prompt, choice_prompt

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


class Chooser(LanguageModel):
    """Says C to all that has a context, and otherwise words of an option."""

    identity = "chooser"

    def _ask(self, prompts: Sequence[str]) -> Iterator[Mapping[int, Answer]]:
        for index, prompt in enumerate(prompts):
            assert prompt.choices == ("A", "B", "C", "D")
            reply = "(C)" if "CONTEXT" in prompt.prompt else "at sea"
            yield {index: Answer(reply, 1, 1, 0.0)}


def test_a_language_model_chooses_among_options(tmp_path: Path) -> None:
    reader = LanguageModelReader(Chooser("chooser", store=Store(tmp_path)))
    options = ["In the Ode", "At sea", "In Marl", "It did not sink"]
    chosen = reader.choose(["Where did it sink?"] * 2, [["A text."], []], [options] * 2)
    assert chosen == ["In Marl", "At sea"]
    prompt = choice_prompt("Where?", options, ["A\ntext."])
    assert "\nA: In the Ode\nB: At sea\n" in prompt and "1: A\\n text." in prompt
    assert prompt.endswith("ANSWER: Please answer with the letter of one option.")
    assert "CONTEXT" not in choice_prompt("Where?", options)
