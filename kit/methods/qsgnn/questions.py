"""Synthetic questions for pre-training, by templates over triples (QSGNN §3.3).

The paper has questions of one and of two hops, the latter over an entity that two documents share
(qsgnn-i22, qsgnn-i24). Questions of three hops, and those about several facts or chains that are
alike, are added here, since people ask them.

The paper's words and the names here: (sbj, verb, obj) is a :class:`kit.text.triples.Triple`; the
relation chain is a ``Chain``, and ent the ``other`` end of one of its facts, where the next begins.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from kit.methods.qsgnn import wording
from kit.methods.training import draw
from kit.text.entities import fold
from kit.text.triples import Extraction

CHAINS = 12  # over one entity, at most
ALIKE = 40  # questions about facts that say the same, at most
COMPARED = 4  # facts in such a question, at most
#: How many of the questions are of which kind.
SHARES = {
    "one hop": 0.25,
    "two hops": 0.25,
    "three hops": 0.15,
    "comparison": 0.2,
    "comparison of chains": 0.15,
}


class TrainingQuestion(NamedTuple):
    """A question and the rows of passages: of its supports, and of others that answer it, too.

    Neither are ever its negatives.
    """

    text: str
    supports: tuple[int, ...]
    alike: tuple[int, ...] = ()


class SyntheticFact(NamedTuple):
    """What the passage in a row says of two ends, looked at from one of them.

    A question names or describes the ``end`` and asks for the ``other``, which the text has.
    """

    phrase: str  # the verb: subject, phrase and object make a sentence
    row: int
    end: str
    other: str
    begins_at_subject: bool

    @property
    def meaning(self) -> tuple[str, str, bool]:
        """What facts share that answer the same question."""
        return fold(self.end), self.phrase, self.begins_at_subject

    def ask_for_other(self, end: str) -> str:
        """(sbj, verb, ?) or (?, verb, obj), where ``end`` names or describes what is known."""
        if self.begins_at_subject:
            is_date = wording.is_date(self.other)
            return wording.ask_for_object(end, self.phrase, is_date)
        return wording.ask_for_subject(self.phrase, end)

    def describe_other(self, end: str) -> str:
        """The other end in words, where ``end`` names or describes this one."""
        if self.begins_at_subject:
            return wording.object_described(end, self.phrase)
        return wording.subject_described(self.phrase, end)


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

    kinds = [[(chain,) for chain in chains] for chains in (singles, pairs, triples)]
    kinds.append(comparisons(singles, COMPARED, generator))
    kinds.append(comparisons(pairs, 2, generator))
    rows_alike = RowsAlike(singles)
    chosen = []
    for share, groups in zip(SHARES.values(), kinds):
        for chains in draw(groups, round(share * n), seed):
            chosen.append(rows_alike.question(ask(chains), chains))
    return chosen


def facts_by_end(extractions: Sequence[Extraction]) -> Facts:
    """The facts of each entity by its folded name, from both ends of a triple.

    Left out are relations that don't read like a phrase. Nothing is asked about a date.
    """
    facts = defaultdict(list)
    for row, extraction in enumerate(extractions):
        for triple in extraction.triples:
            phrase = wording.verb_phrase(triple.relation)
            if not phrase:
                continue
            for end, other in permutations((triple.subject, triple.object)):
                if not wording.is_date(end):
                    is_subject = end == triple.subject
                    fact = SyntheticFact(phrase, row, end, other, is_subject)
                    facts[fold(end)].append(fact)
    return facts


class RowsAlike:
    """The rows in which the same stands: what a question of the one asks, the others answer.

    That is a fact with the same two ends, in whatever words, or with the same words and one end.
    """

    def __init__(self, singles: Sequence[Chain]) -> None:
        self.by_ends = defaultdict(set)
        self.by_meaning = defaultdict(set)
        for (fact,) in singles:
            self.by_ends[_ends(fact)].add(fact.row)
            self.by_meaning[fact.meaning].add(fact.row)

    def question(self, text: str, chains: Sequence[Chain]) -> TrainingQuestion:
        """The question of these chains, with the rows that no negative may be of."""
        facts = [fact for chain in chains for fact in chain]
        supports = tuple(fact.row for fact in facts)
        rows = set()
        for fact in facts:
            rows |= self.by_ends[_ends(fact)] | self.by_meaning[fact.meaning]
        return TrainingQuestion(text, supports, tuple(sorted(rows.difference(supports))))


def _ends(fact: SyntheticFact) -> frozenset[str]:
    return frozenset((fold(fact.end), fold(fact.other)))


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


def ask(chains: Sequence[Chain]) -> str:
    """The question for what lies at the end of a chain, and of others that are alike.

    What lies between is described and not named.
    """
    first, *others = chains
    *before, last = first
    words = wording.plain_name(first[0].end)
    for fact in before:
        words = fact.describe_other(words)
    text = last.ask_for_other(words)
    if not others:
        return text

    *names, final = [wording.plain_name(chain[0].end) for chain in others]
    listed = f"{', '.join(names)} and {final}" if names else final
    return f"{text} And {listed}?"


def comparisons(
    chains: Sequence[Chain],
    most: int,
    generator: np.random.Generator,
) -> list[tuple[Chain, ...]]:
    """Groups of two to ``most`` chains that say the same of different subjects."""
    alike = defaultdict(list)
    for chain in chains:
        if chain[0].begins_at_subject:
            said = tuple((fact.phrase, fact.begins_at_subject) for fact in chain)
            alike[said].append(chain)

    groups = []
    for candidates in alike.values():
        n_groups = min(len(candidates), ALIKE) if len(candidates) > 1 else 0
        for _ in range(n_groups):
            size = min(
                generator.integers(2, most, endpoint=True),
                len(candidates),
            )
            picks = generator.choice(
                len(candidates),
                size,
                replace=False,
            )
            group = tuple(candidates[pick] for pick in picks)
            if _are_apart(group):
                groups.append(group)
    return groups


def _are_apart(chains: Sequence[Chain]) -> bool:
    """Whether the chains have no passage and no subject in common."""
    rows = [fact.row for chain in chains for fact in chain]
    subjects = {fold(chain[0].end) for chain in chains}
    return len(set(rows)) == len(rows) and len(subjects) == len(chains)
