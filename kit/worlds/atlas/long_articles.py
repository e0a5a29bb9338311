"""Whole articles of ten to forty passages about the same world, of which the same questions ask.

A document is what its short article says, and then sections: more on its subject, and on what is
connected with it, as people, places and works of the same country are. Sections are made of matter
that no short article has used, about each thing the same sentences wherever they stand. Some state
a fact of theirs again, in other words: then their passage carries it, too.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from random import Random
from typing import NamedTuple

import msgspec

from kit.corpus.prose.cutting import PASSAGE_TOKENS, cut
from kit.corpus.types import Benchmark, Corpus, Passage, Question, Strings
from kit.worlds.atlas.drafts import Draft
from kit.worlds.atlas.phrasings import Part, Texts, read
from kit.worlds.atlas.world import Entity, Fact, World
from kit.worlds.atlas.writer import Writer

#: How many passages an article has, from and to, by the kind of its subject, and of other kinds.
LENGTHS = {"country": (30, 40), "region": (14, 24), "city": (14, 24), "person": (11, 18)}
OTHER_LENGTHS = (10, 14)
WORDS = (90, 150)  # that a section aims at, from and to
MATTER = 10  # phrasings that a section draws from
LEAST_MATTER = 4  # without so many there is no section
RESTATED = 0.2  # the share of sections on something else that state a fact of it again

SECTIONS = read("sections")
THEMES = {kind: theme for theme, kinds in SECTIONS["themes"].items() for kind in kinds}


class Section(NamedTuple):
    """A passage in the making, and the facts that it states."""

    text: str
    facts: Sequence[Fact]


class SectionWriter(Writer):
    """Writes about a thing in an article about another.

    The words that a phrasing leaves open are the same for a thing wherever they stand, so that
    articles do not contradict each other.
    """

    def __init__(
        self,
        world: World,
        entity: Entity,
        facts: dict[str, Fact],
        part: Part,
        article: Entity,
        rng: Random,
    ) -> None:
        super().__init__(
            world.language,
            entity,
            facts,
            part,
            False,
            rng,
        )
        self.fixed |= {"N": full_name(entity), "article": full_name(article)}

    def _fill(self, phrasing: str, main: Fact | None = None, **facts: Fact) -> str:
        drawing = self.rng
        self.rng = Random(f"{self.entity.id} {phrasing}")
        try:
            return super()._fill(phrasing, main, **facts)
        finally:
            self.rng = drawing


def full_name(entity: Entity) -> str:
    """As a sentence names it."""
    return f"the {entity.name}" if entity.kind == "river" else entity.name


class LongArticles:
    """Makes the articles of a world whose short ones, ``passages``, are written."""

    def __init__(self, world: World, passages: Sequence[Passage], rng: Random) -> None:
        self.world = world
        self.rng = rng
        self.carriers: dict[Fact, list[str]] = defaultdict(list)  # ids of passages that state it
        self.short: dict[str, list[Passage]] = defaultdict(list)  # by document
        for passage in passages:
            self.short[passage.document].append(passage)

        self.connected: dict[int, list[Entity]] = defaultdict(list)  # by a fact, in one country
        for fact in world.facts:
            subject = fact.subject
            target = fact.object
            if isinstance(target, Entity) and target.family == subject.family:
                self.connected[subject.id].append(target)
                self.connected[target.id].append(subject)

    def article(self, entity: Entity) -> list[Passage]:
        """The passages of an entity's document, of at most :data:`PASSAGE_TOKENS` each."""
        document = f"a{entity.id:05d}"
        bounds = LENGTHS.get(entity.kind, OTHER_LENGTHS)
        sections = self._lead(entity, self.short[document])
        sections += self._sections(entity, self.rng.randint(*bounds) - len(sections))

        passages = []
        for position, section in enumerate(sections):
            passage_id = f"{document}-{position}"
            for fact in section.facts:
                self.carriers[fact].append(passage_id)
            passages.append(Passage(passage_id, entity.title, section.text, document, position))
        return passages

    def _lead(self, entity: Entity, passages: Sequence[Passage]) -> list[Section]:
        """What the short article says; it states all facts."""
        sections = []
        for passage in passages:
            facts = [fact for fact in self.world.about[entity.id] if fact.passage == passage.id]
            for text in cut([passage.text], PASSAGE_TOKENS):
                stated = [fact for fact in facts if fact.sentence in text]
                sections.append(Section(text, stated))
        return sections

    def _sections(self, entity: Entity, count: int) -> list[Section]:
        """Sections by theme, each with its heading; those on the subject come first."""
        by_theme: dict[str, list[Section]] = {theme: [] for theme in ("", *SECTIONS["themes"])}
        for other, matter in islice(self._subjects(entity), count):
            theme = "" if other is entity else THEMES[other.kind]
            heading = "" if by_theme[theme] else theme
            section = self._section(entity, other, matter, heading)
            by_theme[theme].append(section)
        return list(chain.from_iterable(by_theme.values()))

    def _subjects(self, entity: Entity) -> Iterator[tuple[Entity, Texts]]:
        """What sections are about, each with phrasings of matter that no earlier one has."""
        unused = {}  # by entity
        for other in self._circling(entity):
            matter = unused.setdefault(other.id, tuple(other.matter))
            unused[other.id] = matter[MATTER:]
            if len(matter) >= LEAST_MATTER:
                yield other, matter[:MATTER]

    def _circling(self, entity: Entity) -> Iterator[Entity]:
        """The subject as often as there is matter; then others, the nearest first, again and again.

        All are of its country.
        """
        yield from [entity] * (len(entity.matter) // MATTER + 1)
        order = {entity.id: entity}
        waiting = [entity]
        while waiting:
            nearest = waiting.pop(0)
            unseen = [other for other in self.connected[nearest.id] if other.id not in order]
            self.rng.shuffle(unseen)
            order |= {other.id: other for other in unseen}
            waiting += dict.fromkeys(unseen)
        _, *others = order.values()
        for _ in range(4):
            yield from others

    def _section(
        self,
        article: Entity,
        entity: Entity,
        matter: Texts,
        heading: str,
    ) -> Section:
        """A section of an article on an entity, with facts of it where it is not the subject."""
        openings = SECTIONS["beside"]
        if entity in self.connected[article.id]:
            openings = SECTIONS["connected"]
        facts = self.world.about[entity.id]
        restated = []
        if entity is article:
            openings = SECTIONS["own"]
        elif facts and self.rng.random() < RESTATED:
            restated = [self.rng.choice(facts)]

        stated = {fact.relation.partition(".")[2]: replace(fact) for fact in restated}
        writer = SectionWriter(
            self.world,
            entity,
            dict(stated),
            Part((), matter, tuple(openings)),
            article,
            self.rng,
        )
        pieces = cut([writer.text(WORDS)], PASSAGE_TOKENS, heading)
        text = next(iter(pieces))
        is_whole = all(fact.sentence in text for fact in stated.values())
        return Section(text, restated if is_whole else [])

    # ---- the same questions

    def ask(self, question: Question, draft: Draft) -> Question:
        """The question with all passages that carry its supports; the short article's first.

        A passage that states a fact again carries a support if it also states whatever else the
        question uses of the passage that it stands for.
        """
        supporting = []
        for fact in draft.supports:
            beside = [other for other in draft.also if other.passage == fact.passage]
            supporting.append(self._carriers(fact, beside))
        return msgspec.structs.replace(question, supporting=tuple(supporting))

    def _carriers(self, fact: Fact, beside: Sequence[Fact]) -> Strings:
        stating = self.carriers[fact]
        document, *_ = fact.passage.rpartition("-")
        first = next(name for name in stating if name.rpartition("-")[0] == document)
        all_stated = set(stating).intersection(*(self.carriers[other] for other in beside))
        others = [passage_id for passage_id in stating if passage_id in all_stated]
        return tuple(dict.fromkeys([first, *others]))


def in_long_articles(
    benchmark: Benchmark,
    world: World,
    drafts: dict[str, Draft],
    rng: Random,
) -> Benchmark:
    """The questions of a benchmark of short articles, asked of long ones."""
    articles = LongArticles(world, benchmark.corpus.passages, rng)
    documents = [articles.article(entity) for entity in world.entities]

    def ask_again(questions: Sequence[Question]) -> list[Question]:
        return [articles.ask(question, drafts[question.id]) for question in questions]

    rng.shuffle(documents)
    return Benchmark(
        "atlas-articles",
        Corpus(chain.from_iterable(documents)),
        train=ask_again(benchmark.train),
        dev=ask_again(benchmark.dev),
        test=ask_again(benchmark.test),
    )
