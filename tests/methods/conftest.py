"""What the tests of retrievers share."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from kit.corpus import Corpus, example
from kit.methods import Retriever, make
from kit.methods.loops.agents import Agent
from kit.methods.loops.steps import Step
from kit.store import Store
from kit.text.language_models import Answer, LanguageModel


@pytest.fixture(scope="session")
def indexed() -> Callable[..., Retriever]:
    """Makes a retriever that is ready to search a corpus, by default the example's passages."""

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
        for index, prompt in enumerate(prompts):
            self.prompts.append(prompt)
            yield {index: Answer(self.replies[len(self.prompts) - 1], 0, 0, 0.0)}


@pytest.fixture
def scripted(tmp_path) -> Callable[..., Scripted]:
    """Makes a language model of its replies; ``prompts`` are those that it was asked."""
    return lambda *replies: Scripted(replies, Store(tmp_path))


class ScriptedAgent(Agent):
    """Says ``texts``, one per step (None: no more), and notes in ``log`` what it is asked for.

    So many answers as ``enough`` says suffice a question, by its id.
    """

    def __init__(self, *texts: str | None, **enough: int) -> None:
        self.texts, self.enough, self.log = texts, enough, []

    def _next(self, request, trajectories):
        self.log += [f"{request} {len(trajectory.steps)}" for trajectory in trajectories]
        return [self.texts[len(trajectory.steps)] for trajectory in trajectories]

    def plan(self, trajectories, policy="ras"):
        return [text and Step(text) for text in self._next("plan", trajectories)]

    def suffices(self, trajectories):
        self.log += [f"suffices {len(trajectory.steps)}" for trajectory in trajectories]
        return [
            len(trajectory.steps) >= self.enough.get(trajectory.query.id, 99)
            for trajectory in trajectories
        ]

    def answer(self, trajectories, top_k):
        for trajectory in trajectories:
            trajectory.last.answers = (f"answer {len(trajectory.steps)}",)

    def think(self, trajectories, top_k):
        return [text and Step(text) for text in self._next("think", trajectories)]

    def draft(self, trajectories, top_k):
        return self._next("draft", trajectories)


@pytest.fixture
def agent() -> type[ScriptedAgent]:
    return ScriptedAgent


@pytest.fixture
def chat(own_store, chat: SimpleNamespace) -> SimpleNamespace:
    """That of all tests, with a store of its own."""
    return chat
