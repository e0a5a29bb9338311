"""What all that makes frames out of a trace has in common."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kit.corpus import Corpus, Question
from kit.evaluation import metrics
from kit.retrievers import Ranking
from kit.views.replay import Edge, Scale


class Builder:
    """Goes through the events of a trace once more and says at each step how matters stand.

    ``base`` are the passages that are drawn whatever a method's settings, ``scale`` what the colours mean.
    """

    base: list[str]
    scale: Scale
    drawn: Sequence[str]
    joined: dict[frozenset[str], str]  # what the graph's edges say, by their ends

    def __init__(self, ranking: Ranking, corpus: Corpus, question: Question | None, top: int) -> None:
        self.ranking, self.corpus, self.question, self.top = ranking, corpus, question, top
        self.gold = [id for id in question.supporting_ids if id in corpus] if question else []

    def supports(self, ids: Collection[str]) -> str:
        """How many of the question's supports are among the ids."""
        hops = self.question.hops
        return f"{round(metrics.covered(self.question, set(ids)) * hops)} of {hops} supports"

    def arrows(self, ends: Sequence[tuple[str, str]], kind: str, told: str = "", strong: str = "") -> tuple[Edge, ...]:
        """Directed edges between passages that are drawn, with what joins them; those from ``strong`` stand out."""
        return tuple(
            Edge(a, b, (kind,), "; ".join(filter(None, (told, self.joined.get(frozenset((a, b)))))), a == strong, True)
            for a, b in ends
            if a in self.drawn and b in self.drawn
        )


def count(n: int, word: str) -> str:
    return f"{n:,} {word}{'s' * (n != 1)}"
