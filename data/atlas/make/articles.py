"""Articles from facts: sections become passages, and every fact is stated in exactly one of them."""

from __future__ import annotations

import random
from collections.abc import Callable

from kit.corpus.types import Passage

from .grammar import compile_template
from .names import title
from .phrasings import CAREERS, LEXICON, POOLS, RELATIONS, SECTIONS, Section
from .world import Entity, Fact, World

#: Words a passage aims at; it stops adding unrelated sentences there.
LENGTH = (50, 72)
PRONOUNS, GENERIC = LEXICON["pronouns"], LEXICON["generic"]


def titles(world: World) -> None:
    """Give every article its title. Things of one name are told apart in brackets, as encyclopedias do."""
    bearers: dict[str, list[Entity]] = {}
    for entity in world.entities:
        bearers.setdefault(entity.name, []).append(entity)
    for name, entities in bearers.items():
        sorts: list[str] = []
        for entity in entities:
            plain = name[:1].upper() + name[1:]
            sort = "novel" if entity.kind == "book" else entity.sort
            sorts.append(sort)
            if (number := sorts.count(sort)) > 1:  # a rare seed gives two people of one name one profession too
                sort = f"{sort}, {number}"
            entity.title = f"{plain} ({sort})" if len(entities) > 1 else plain


def write_article(world: World, entity: Entity, rng: random.Random) -> list[Passage]:
    """The passages of an entity's article; marks its facts with the passages that state them."""
    facts = {fact.relation.partition(".")[2]: fact for fact in world.of[entity.id]}
    passages: list[Passage] = []
    for position, section in enumerate(SECTIONS[entity.kind]):
        stated = [facts[name] for name in section.facts if name in facts]
        if section.optional and section.optional not in facts:
            continue
        if not stated and position and rng.random() < 0.6:
            continue
        id = f"a{entity.id:05d}-{len(passages)}"
        text = SectionWriter(entity, stated, section, rng).text()
        for fact in stated:
            fact.passage = id
        passages.append(Passage(id, entity.title, text, f"a{entity.id:05d}", len(passages)))
    return passages


class SectionWriter:
    """Writes one section: which sentence comes next, and what it calls its subject."""

    def __init__(self, entity: Entity, facts: list[Fact], section: Section, rng: random.Random) -> None:
        self.entity, self.rng, self.opening = entity, rng, section.opening
        self.pending = {fact.relation.partition(".")[2]: fact for fact in facts}
        self.closing = self.pending.pop(section.closing, None)
        self.fact_first = not section.opening and rng.random() < 0.7
        filler = list(section.filler or CAREERS[entity.details["profession"]])
        filler = [text for text in filler if "died" in entity.details or not text.startswith("{dead}")]
        rng.shuffle(filler)
        # A section without an opening begins with its subject; aliases are told, once, in the first section.
        filler.sort(key=lambda text: not section.opening and not text.startswith("{S"))
        aliases = [text for text in filler if "{alias}" in text][: len(entity.aliases)]
        self.filler = [*aliases, *(text for text in filler if "{alias}" not in text)]
        self.first = len(aliases)
        self.last = "" if section.opening else "none"

    def text(self) -> str:
        """The opening, then facts and unrelated matter in turns, up to the wanted length."""
        target = self.rng.randint(*LENGTH)
        sentences = [self._opening()] if self.opening else []
        words = sum(map(_words, sentences))
        while self.pending or (self.filler and words < target):
            sentence, goes_on = self._sentence(full=words >= target)
            plain = goes_on and " and " not in sentence and _words(sentence) < 15
            more = self._continuation() if plain and self.rng.random() < 0.65 else ""
            sentences.append(sentence + more)
            words += _words(sentences[-1])
        if self.closing:
            sentences.append(self._fill(self.rng.choice(RELATIONS[self.closing.relation].says), {"o": self.closing}))
        return " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in self._joined(sentences))

    def _joined(self, sentences: list[str]) -> list[str]:
        """Some pairs of short sentences made one."""
        joined: list[str] = []
        for place, sentence in enumerate(sentences):
            short = joined and place > 1 and _simple(joined[-1]) and _simple(sentence)
            if short and self.rng.random() < 0.45:
                joined[-1] += f"{self.rng.choice((';', ';', ', and'))} {sentence}"
            else:
                joined.append(sentence)
        return joined

    def _opening(self) -> str:
        text = self.rng.choice([text for text in self.opening if self._tellable(text)])
        stated = {name: self.pending.pop(name) for name in compile_template(text).slots if name in self.pending}
        return self._fill(text, stated)

    def _tellable(self, text: str) -> bool:
        """Whether every fact that the phrasing states is known."""
        stated = {name for name in compile_template(text).slots if f"{self.entity.kind}.{name}" in RELATIONS}
        return stated <= self.pending.keys()

    def _sentence(self, full: bool) -> tuple[str, bool]:
        """The next sentence, and whether another predicate of the same subject could follow; facts alone if full."""
        if not full and not self._fact_next():
            text = self.filler.pop(0)
            return self._fill(text, {}), text.startswith("{S} ")
        fact = self._take()
        opens = RELATIONS[fact.relation].opens
        if opens and self.rng.random() < 0.4:
            following = self._predicate()
            if following:
                lead = self._fill(self.rng.choice(opens), {"o": fact})
                return f"{lead}, {self._fill(*following)}", False
        text = self.rng.choice(RELATIONS[fact.relation].says)
        return self._fill(text, {"o": fact}), text.startswith("{S} ")

    def _fact_next(self) -> bool:
        if self.first and self.filler:
            self.first -= 1
            return False
        if self.fact_first:
            self.fact_first = False
            return bool(self.pending)
        return bool(self.pending) and (not self.filler or self.rng.random() < 0.3 + 0.15 * len(self.pending))

    def _take(self) -> Fact:
        return self.pending.pop(next(iter(self.pending)))

    def _predicate(self) -> tuple[str, dict[str, Fact]] | None:
        """A phrasing that begins with the subject, of the next fact or of unrelated matter."""
        if self.pending:
            name = next(iter(self.pending))
            fits = [text for text in RELATIONS[self.pending[name].relation].says if text.startswith("{S} ")]
            return (self.rng.choice(fits), {"o": self.pending.pop(name)}) if fits else None
        fits = [text for text in self.filler if text.startswith("{S} ") and " and " not in text]
        if not fits:
            return None
        self.filler.remove(fits[0])
        return fits[0], {}

    def _continuation(self) -> str:
        """A second predicate for the subject of the sentence before."""
        following = self._predicate()
        if not following:
            return ""
        text, facts = following
        return f", and {self._fill(text[4:], facts)}"

    def _fill(self, text: str, facts: dict[str, Fact]) -> str:
        return compile_template(text).fill(self.rng, self._slots(facts), POOLS)

    def _slots(self, facts: dict[str, Fact]) -> Callable[[str], str]:
        entity, main = self.entity, facts.get("o")
        subjective, objective, possessive, reflexive = PRONOUNS[entity.gender or "things"]
        fixed = {"N": entity.name, "alias": "".join(entity.aliases[:1]), "dead": ""}  # only said of the dead
        fixed |= {"was": "was" if "died" in entity.details else "is"}
        fixed |= {"son": "daughter" if entity.gender == "women" else "son"} | entity.details

        def slot(name: str) -> str:
            if name in facts:
                return self._mention(facts[name])
            if main and name == "list":
                return main.object.text
            if main and name in main.qualifiers:
                return main.qualifiers[name]
            if name == "S":
                return self._reference(subjective)
            if name == "S's":
                called = self._reference(possessive)
                return called if called == possessive else f"{called}'" if called.endswith("s") else f"{called}'s"
            if name in ("he", "his", "him", "himself"):
                self.last = "pronoun"
                return {"he": subjective, "his": possessive, "him": objective, "himself": reflexive}[name]
            if name == "N":
                self.last = "name"
            if name == "wife":
                return "wife" if main.object.gender == "women" else "husband"
            if name == "opus":
                return title(self.rng)
            return fixed[name]

        return slot

    def _mention(self, fact: Fact) -> str:
        thing = fact.object
        if not isinstance(thing, Entity):
            return thing.text
        if thing.aliases and self.rng.random() < 0.15:
            return self.rng.choice(thing.aliases)
        return f"the {thing.name}" if thing.kind == "river" else thing.name

    def _reference(self, pronoun: str) -> str:
        """The subject's pronoun, a word for its kind or its short name, whichever was not used just before."""
        if self.last == "none":
            self.last = "name" if self.entity.kind != "person" or self.rng.random() < 0.8 else "pronoun"
            return self.entity.short if self.last == "name" else pronoun
        ways = (
            ("pronoun", "pronoun", "name")
            if self.entity.kind == "person"
            else ("pronoun", "pronoun", "generic", "name")
        )
        repeats = self.entity.kind == "person" and self.last == "pronoun"
        self.last = self.rng.choice([way for way in ways if way != self.last or repeats])
        if self.last == "pronoun":
            return pronoun
        if self.last == "generic":
            return self.rng.choice(GENERIC[self.entity.kind])
        return self.entity.short


def _words(text: str) -> int:
    return text.count(" ") + 1


def _simple(sentence: str) -> bool:
    """Whether a sentence is short and plain enough to be joined to another."""
    return _words(sentence) < 12 and not any(mark in sentence for mark in (",", ";", ":", " and "))
