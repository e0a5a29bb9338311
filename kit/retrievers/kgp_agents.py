"""KGP's agents: who says which candidate a walk visits next (kgp.txt §4, Eq. 1; Table 2).

s_{j+1} = argmax_{v ∈ N_j} φ(g(X_v), f(q ‖ X_0 … X_j)): from the question and the passages of a path, in the order of
the visits, the agent makes what it looks for (f), and compares each candidate (g) with it (φ).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kit.corpus import Corpus, Passage, Query
from kit.store import content_key
from kit.text import Encoder, TfidfIndex
from kit.text.language_models import LanguageModel


@dataclass(frozen=True)
class Turn:
    """What an agent is asked: a question, the rows of a path (none at the start), and those of its candidates."""

    query: Query
    path: tuple[int, ...]
    candidates: np.ndarray


@dataclass(frozen=True)
class Advice:
    """An agent's answer: a score for each candidate, higher is better, and the evidence text that it looked for.

    The text is empty where the agent writes none.
    """

    scores: np.ndarray
    generated_evidence: str = ""


class Agent(Protocol):
    """Scores candidates, Eq. 1."""

    def index(self, corpus: Corpus, tfidf: TfidfIndex) -> None:
        """Make ready for walks over ``corpus``; ``tfidf`` is the index in which seeds are found."""

    def advise(self, turns: Sequence[Turn]) -> list[Advice]:
        """An answer to each turn, of any question: what is costly is done for all of them at once."""


class RandomAgent:
    """To it all candidates are alike (§5.3). What it draws depends on ``seed``, question and path alone."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def index(self, corpus: Corpus, tfidf: TfidfIndex) -> None:
        self._passages = corpus.passages

    def advise(self, turns: Sequence[Turn]) -> list[Advice]:
        return [Advice(self._draw(turn)) for turn in turns]

    def _draw(self, turn: Turn) -> np.ndarray:
        path = (self._passages[row].id for row in turn.path)
        key = content_key(str(self.seed), turn.query.text, *path)
        return np.random.default_rng(int.from_bytes(key[:8])).random(len(turn.candidates))


class TfidfAgent:
    """φ is the cosine of TF-IDF vectors, with the whole collection's idf (kgp-i11), to the question alone (8.2).

    An agent that writes the evidence that it looks for is one with :meth:`generated_evidence` of its own.
    """

    def index(self, corpus: Corpus, tfidf: TfidfIndex) -> None:
        self.corpus, self._tfidf = corpus, tfidf

    def generated_evidence(self, turns: Sequence[Turn]) -> list[str]:
        """f: the text that the candidates of each turn are to be like; empty: the question."""
        return [""] * len(turns)

    def advise(self, turns: Sequence[Turn]) -> list[Advice]:
        generated_evidence = self.generated_evidence(turns)
        vectors = self._tfidf.vectorizer.transform(
            [text or turn.query.text for turn, text in zip(turns, generated_evidence)]
        )
        return [
            Advice((self._tfidf.passages[turn.candidates] @ vector.T).toarray().ravel(), text)
            for turn, vector, text in zip(turns, vectors, generated_evidence)
        ]


class WritingAgent(TfidfAgent):
    """f is a language model that is asked by ``prompt`` for the next evidence, φ the TF-IDF cosine to what it writes.

    Candidates are compared with the written text alone (Eq. 1); with the question where the model writes nothing.
    """

    def __init__(self, model: LanguageModel, prompt: Callable[[str, Sequence[str]], str]) -> None:
        self.model, self.prompt = model, prompt

    def generated_evidence(self, turns: Sequence[Turn]) -> list[str]:
        paths = [[self.corpus.passages[row].full_text for row in turn.path] for turn in turns]
        prompts = [self.prompt(turn.query.text, path) for turn, path in zip(turns, paths)]
        return [answer.text for answer in self.model.generate(prompts, progress=len(prompts) > 64)]


class DenseAgent:
    """φ is the cosine of vectors; f encodes what ``reads`` makes of the question and the path's passages."""

    def __init__(self, encoder: Encoder, reads: Callable[[str, Sequence[Passage]], str]) -> None:
        self.encoder, self.reads = encoder, reads

    def index(self, corpus: Corpus, tfidf: TfidfIndex) -> None:
        self._passages = corpus.passages
        self._vectors = self.encoder.encode([passage.full_text for passage in corpus.passages])

    def advise(self, turns: Sequence[Turn]) -> list[Advice]:
        texts = [self.reads(turn.query.text, [self._passages[row] for row in turn.path]) for turn in turns]
        looked_for = self.encoder.encode(texts, role="query", progress=False)
        return [Advice(self._vectors[turn.candidates] @ f) for turn, f in zip(turns, looked_for)]
