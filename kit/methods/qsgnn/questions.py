"""Synthetic questions for pre-training, by templates over triples (qsgnn.txt §3.3; qsgnn-i22, qsgnn-i24).

The paper has questions of one and of two hops, the latter over an entity that two documents share. Questions of three
hops, and comparisons of several facts or of two chains, are added here, since people ask them.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
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


class Synthetic(NamedTuple):
    """A question and the rows of the passages that support it."""

    text: str
    supports: tuple[int, ...]


class Fact(NamedTuple):
    """A triple of the passage in a row, looked at from one of its ends, which is what the ``other`` is asked of."""

    triple: Triple
    row: int
    end: str
    other: str

    def of(self, end: str) -> str:
        """The other end in words, with the name or a description of this end: "the director of The Glass Harbour"."""
        return f"the {self.triple.relation} {'of ' * (self.end == self.triple.subject)}{end}"


Facts = Mapping[str, Sequence[Fact]]  # by the folded name of their end
Chain = tuple[Fact, ...]  # each fact's other end is where the next one begins, in another passage


def synthetic_questions(extractions: Sequence[Extraction], n: int, seed: int) -> list[Synthetic]:
    """At most ``n`` questions of the kinds of :data:`SHARES`, those of each kind drawn by ``seed``."""
    generator, known = np.random.default_rng(seed), facts(extractions)
    singles = [(fact,) for of in known.values() for fact in of]
    pairs = prolonged(singles, known, generator)
    triples = prolonged(draw(pairs, n, seed), known, generator)
    kinds = [list(map(question, chains)) for chains in (singles, pairs, triples)]
    kinds += [comparisons(singles, COMPARED, generator), comparisons(pairs, 2, generator)]
    return [
        each
        for share, of in zip(SHARES.values(), kinds)
        for each in draw(of, round(share * n), seed)
    ]


def facts(extractions: Sequence[Extraction]) -> Facts:
    """The facts of each entity by its folded name, from both of a triple's ends; nothing is asked of a date."""
    found: dict[str, list[Fact]] = defaultdict(list)
    for row, extraction in enumerate(extractions):
        for triple in extraction.triples:
            for end, other in ((triple.subject, triple.object), (triple.object, triple.subject)):
                if not DATE.fullmatch(end):
                    found[fold(end)].append(Fact(triple, row, end, other))
    return found


def prolonged(chains: Sequence[Chain], known: Facts, generator: np.random.Generator) -> list[Chain]:
    """The chains with one more fact, of another passage, that does not lead back.

    They go on over entities that a passage is about, at most :data:`CHAINS` over each: else what is mentioned
    everywhere would support most questions, and be learned to be right.
    """
    arriving: dict[str, list[Chain]] = defaultdict(list)
    for chain in chains:
        arriving[fold(chain[-1].other)].append(chain)
    found = []
    for entity, of in arriving.items():
        leaving = known.get(entity, ())
        if not any(fact.end == fact.triple.subject for fact in leaving):
            continue
        for pick in generator.permutation(len(of) * len(leaving))[:CHAINS]:
            chain, fact = of[pick // len(leaving)], leaving[pick % len(leaving)]
            if all(fact.row != each.row and fold(fact.other) != fold(each.end) for each in chain):
                found.append((*chain, fact))
    return found


def question(chain: Chain) -> Synthetic:
    """(sbj, verb, ?) or (?, verb, obj), and of longer chains with what lies between described and not named."""
    words = chain[0].end
    for fact in chain[:-1]:
        words = fact.of(words)
    word = "When" if DATE.fullmatch(chain[-1].other) else "What"
    return Synthetic(
        f"{word} {chain[-1].triple.relation} {words}?", tuple(fact.row for fact in chain)
    )


def comparisons(
    chains: Sequence[Chain], most: int, generator: np.random.Generator
) -> list[Synthetic]:
    """Two to ``most`` chains whose first facts say the same in their last two words, of subjects, which are named."""
    alike: dict[str, list[Chain]] = defaultdict(list)
    for chain in chains:
        if chain[0].end == chain[0].triple.subject:
            alike[" ".join(chain[0].triple.relation.lower().split()[-2:])].append(chain)
    found = []
    for of in alike.values():
        for _ in range(min(len(of), ALIKE) if len(of) > 1 else 0):
            number = min(generator.integers(2, most, endpoint=True), len(of))
            compared = [of[pick] for pick in generator.choice(len(of), number, replace=False)]
            supports = tuple(fact.row for chain in compared for fact in chain)
            if len(set(supports)) == len(supports):
                *names, last = (chain[0].end for chain in compared)
                text = f"Which {compared[0][0].triple.relation}, {', '.join(names)} or {last}?"
                found.append(Synthetic(text, supports))
    return found
