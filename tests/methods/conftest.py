"""What the tests of retrievers share."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from kit.corpus import Corpus, example
from kit.methods import Retriever, make
from kit.methods.loops.agents import Agent, Step
from kit.store import Store
from kit.text.language_models import Answer, LanguageModel


@pytest.fixture(scope="session")
def indexed() -> Callable[..., Retriever]:
    """Makes a retriever that is ready to search a corpus, or else the six passages of the example."""

    def make_indexed(name: str, corpus: Corpus | None = None, **settings: object) -> Retriever:
        retriever = make(name, **settings)
        retriever.index(example().corpus if corpus is None else corpus)
        return retriever

    return make_indexed


class Scripted(LanguageModel):
    """Replies that are written down beforehand."""

    def __init__(self, replies: tuple[str, ...], store: Store) -> None:
        super().__init__("scripted", store=store)
        self.identity, self.replies, self.prompts = "scripted", replies, []

    def _ask(self, prompts):
        for place, prompt in enumerate(prompts):
            self.prompts.append(prompt)
            yield {place: Answer(self.replies[len(self.prompts) - 1], 0, 0, 0.0)}


@pytest.fixture
def scripted(tmp_path) -> Callable[..., Scripted]:
    """Makes a language model of its replies; ``prompts`` are those that it was asked."""
    return lambda *replies: Scripted(replies, Store(tmp_path))


class ScriptedAgent(Agent):
    """Says ``texts``, one a step (None: no more); so many answers as ``enough`` says suffice a question, by its id."""

    def __init__(self, *texts: str | None, **enough: int) -> None:
        self.texts, self.enough, self.told = texts, enough, []

    def _next(self, what, going):
        self.told += [f"{what} {len(of.steps)}" for of in going]
        return [self.texts[len(of.steps)] for of in going]

    def plan(self, going, policy="ras"):
        return [text and Step(text) for text in self._next("plan", going)]

    def suffices(self, going):
        self.told += [f"suffices {len(of.steps)}" for of in going]
        return [len(of.steps) >= self.enough.get(of.query.id, 99) for of in going]

    def answer(self, going, top_k):
        for of in going:
            of.steps[-1].answers = (f"answer {len(of.steps)}",)

    def think(self, going, top_k):
        return [text and Step(text) for text in self._next("think", going)]

    def draft(self, going, top_k):
        return self._next("draft", going)


@pytest.fixture
def agent() -> type[ScriptedAgent]:
    return ScriptedAgent


@pytest.fixture
def chat(own_store, chat: SimpleNamespace) -> SimpleNamespace:
    """That of all tests, with a store of its own."""
    return chat
