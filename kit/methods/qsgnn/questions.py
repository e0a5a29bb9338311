"""Synthetic questions for pre-training, by templates over triples (qsgnn.txt §3.3).

The paper has questions of one and of two hops, the latter over an entity that two documents share
(qsgnn-i22, qsgnn-i24). Questions of three hops, and comparisons of several facts or of two chains,
are added here, since people ask them.

The paper's words and the names here: (sbj, verb, obj) is a :class:`kit.text.triples.Triple`; the
relation chain is a ``Chain``, and ent the ``other`` end of one of its facts, where the next begins.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from kit.methods.training import draw
from kit.text.entities import fold
from kit.text.placeholders import DATE
from kit.text.triples import Extraction, Triple

CHAINS = 12  # over one entity, at most
ALIKE = 40  # comparisons of facts that say the same, at most
COMPARED = 4  # facts in a comparison, at most
#: How many of the questions are of which kind.
SHARES = {
    "one hop": 0.25,
    "two hops": 0.25,
    "three hops": 0.15,
    "comparison": 0.2,
    "comparison of chains": 0.15,
}


class TrainingQuestion(NamedTuple):
    """A question and the rows of the passages that support it."""

    text: str
    supports: tuple[int, ...]


class SyntheticFact(NamedTuple):
    """A triple of the passage in a row, looked at from one of its ends.

    A question names or describes the ``end`` and asks for the ``other``.
    """

    triple: Triple
    row: int
    end: str
    other: str

    @property
    def begins_at_subject(self) -> bool:
        return self.end == self.triple.subject

    def describe_other(self, end: str) -> str:
        """The other end in words: "the director of The Glass Harbour".

        ``end`` is the name or a description of this end.
        """
        preposition = "of " if self.begins_at_subject else ""
        return f"the {self.triple.relation} {preposition}{end}"


Facts = Mapping[str, Sequence[SyntheticFact]]  # by the folded name of their end
Chain = tuple[SyntheticFact, ...]  # where a fact's other end is, the next begins, elsewhere


def synthetic_questions(
    extractions: Sequence[Extraction], n: int, seed: int
) -> list[TrainingQuestion]:
    """At most ``n`` questions of the kinds of :data:`SHARES`, each kind's drawn by ``seed``."""
    generator = np.random.default_rng(seed)
    facts = facts_by_end(extractions)
    singles = [(fact,) for facts_of_entity in facts.values() for fact in facts_of_entity]
    pairs = prolong(singles, facts, generator)
    triples = prolong(draw(pairs, n, seed), facts, generator)

    kinds = [list(map(ask_for_end, chains)) for chains in (singles, pairs, triples)]
    kinds.append(comparisons(singles, COMPARED, generator))
    kinds.append(comparisons(pairs, 2, generator))
    chosen = []
    for share, questions in zip(SHARES.values(), kinds):
        chosen += draw(questions, round(share * n), seed)
    return chosen


def facts_by_end(extractions: Sequence[Extraction]) -> Facts:
    """The facts of each entity by its folded name, from both ends of a triple.

    Nothing is asked about a date.
    """
    facts = defaultdict(list)
    for row, extraction in enumerate(extractions):
        for triple in extraction.triples:
            for end, other in permutations((triple.subject, triple.object)):
                if not DATE.fullmatch(end):
                    facts[fold(end)].append(SyntheticFact(triple, row, end, other))
    return facts


def prolong(
    chains: Sequence[Chain],
    facts: Facts,
    generator: np.random.Generator,
) -> list[Chain]:
    """The chains with one more fact, of another passage, that does not lead back.

    They go on over entities that a passage is about, at most :data:`CHAINS` over each: else what is
    mentioned everywhere would support most questions, and be learned to be right.
    """
    arriving = defaultdict(list)
    for chain in chains:
        arriving[fold(chain[-1].other)].append(chain)

    longer = []
    for entity, chains_to_entity in arriving.items():
        leaving = facts.get(entity, ())
        if not any(fact.begins_at_subject for fact in leaving):
            continue
        n_combinations = len(chains_to_entity) * len(leaving)
        for pick in generator.permutation(n_combinations)[:CHAINS]:
            chain = chains_to_entity[pick // len(leaving)]
            fact = leaving[pick % len(leaving)]
            rows = [earlier.row for earlier in chain]
            ends = [fold(earlier.end) for earlier in chain]
            if fact.row not in rows and fold(fact.other) not in ends:
                longer.append((*chain, fact))
    return longer


def ask_for_end(chain: Chain) -> TrainingQuestion:
    """(sbj, verb, ?) or (?, verb, obj); what lies between is described and not named."""
    *before, last = chain
    words = chain[0].end
    for fact in before:
        words = fact.describe_other(words)

    interrogative = "When" if DATE.fullmatch(last.other) else "What"
    text = f"{interrogative} {last.triple.relation} {words}?"
    return TrainingQuestion(text, tuple(fact.row for fact in chain))


def comparisons(
    chains: Sequence[Chain],
    most: int,
    generator: np.random.Generator,
) -> list[TrainingQuestion]:
    """Comparisons of two to ``most`` chains, whose first facts are alike and name their subjects.

    They are alike in the last two words of what they say.
    """
    alike = defaultdict(list)
    for chain in chains:
        if chain[0].begins_at_subject:
            words = chain[0].triple.relation.lower().split()
            alike[tuple(words[-2:])].append(chain)

    questions = []
    for group in alike.values():
        if len(group) < 2:
            continue
        for _ in range(min(len(group), ALIKE)):
            size = min(generator.integers(2, most, endpoint=True), len(group))
            picks = generator.choice(len(group), size, replace=False)
            compared = [group[pick] for pick in picks]
            supports = tuple(fact.row for chain in compared for fact in chain)
            if len(set(supports)) < len(supports):
                continue
            *names, last = [chain[0].end for chain in compared]
            text = f"Which {compared[0][0].triple.relation}, {', '.join(names)} or {last}?"
            questions.append(TrainingQuestion(text, supports))
    return questions
