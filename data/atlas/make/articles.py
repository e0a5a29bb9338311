"""Articles from facts: sections become passages, and every fact is stated in exactly one of them."""

import random

from kit.corpus.types import Passage

from .names import title
from .phrasings import CAREERS, LEXICON, RELATIONS, SECTIONS, Section, fill, slots
from .world import Entity, Fact, World

#: Words a passage aims at; it stops adding unrelated sentences there.
LENGTH = (50, 72)
Predicate = tuple[str, dict[str, Fact]]  # a phrasing, and the facts that fill it


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
        stated = {name: facts[name] for name in section.facts if name in facts}
        if section.optional and section.optional not in facts:
            continue
        if not stated and position and rng.random() < 0.6:
            continue
        id = f"a{entity.id:05d}-{len(passages)}"
        for fact in stated.values():
            fact.passage = id
        text = SectionWriter(entity, stated, section, rng).text()
        passages.append(Passage(id, entity.title, text, f"a{entity.id:05d}", len(passages)))
    return passages


class SectionWriter:
    """Writes one section: which sentence comes next, and what it calls its subject."""

    def __init__(self, entity: Entity, facts: dict[str, Fact], section: Section, rng: random.Random) -> None:
        self.entity, self.rng, self.opening, self.pending = entity, rng, section.opening, facts
        self.closing = facts.pop(section.closing, None)
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
            if plain and self.rng.random() < 0.65 and (more := self._predicate()):
                sentence += f", and {self._fill(more[0].removeprefix('{S} '), more[1])}"
            sentences.append(sentence)
            words += _words(sentence)
        if self.closing:
            sentences.append(self._fill(self.rng.choice(RELATIONS[self.closing.relation].says), {"o": self.closing}))
        joined: list[str] = []  # some pairs of short sentences are made one
        for place, sentence in enumerate(sentences):
            if place > 1 and _simple(joined[-1]) and _simple(sentence) and self.rng.random() < 0.45:
                joined[-1] += f"{self.rng.choice((';', ';', ', and'))} {sentence}"
            else:
                joined.append(sentence)
        return " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in joined)

    def _opening(self) -> str:
        """One of the openings all of whose facts are known."""
        relations = {
            text: {it for it in slots(text) if f"{self.entity.kind}.{it}" in RELATIONS} for text in self.opening
        }
        text = self.rng.choice([text for text in self.opening if relations[text] <= self.pending.keys()])
        return self._fill(text, {name: self.pending.pop(name) for name in slots(text) if name in self.pending})

    def _sentence(self, full: bool) -> tuple[str, bool]:
        """The next sentence, and whether another predicate of the same subject could follow; facts alone if full."""
        if not full and not self._fact_next():
            text = self.filler.pop(0)
            return self._fill(text, {}), text.startswith("{S} ")
        fact = self.pending.pop(next(iter(self.pending)))
        opens = RELATIONS[fact.relation].opens
        if opens and self.rng.random() < 0.4 and (following := self._predicate()):
            lead = self._fill(self.rng.choice(opens), {"o": fact})
            return f"{lead}, {self._fill(*following)}", False
        text = self.rng.choice(RELATIONS[fact.relation].says)
        return self._fill(text, {"o": fact}), text.startswith("{S} ")

    def _fact_next(self) -> bool:
        if self.first and self.filler:
            self.first -= 1
            return False
        fact_first, self.fact_first = self.fact_first or not self.filler, False
        return bool(self.pending) and (fact_first or self.rng.random() < 0.3 + 0.15 * len(self.pending))

    def _predicate(self) -> Predicate | None:
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

    def _fill(self, text: str, facts: dict[str, Fact]) -> str:
        entity, main = self.entity, facts.get("o")
        pronouns = dict(zip(("he", "him", "his", "himself"), LEXICON["pronouns"][entity.gender or "things"]))
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
                return self._reference(pronouns["he"])
            if name == "S's":
                called = self._reference(pronouns["his"])
                return called if called == pronouns["his"] else f"{called}'" if called.endswith("s") else f"{called}'s"
            if name in pronouns:
                self.last = "pronoun"
                return pronouns[name]
            if name == "N":
                self.last = "name"
            if name == "wife":
                return "wife" if main.object.gender == "women" else "husband"
            return title(self.rng) if name == "opus" else fixed[name]

        return fill(text, self.rng, slot)

    def _mention(self, fact: Fact) -> str:
        thing = fact.object
        if not isinstance(thing, Entity):
            return thing.text
        if thing.aliases and self.rng.random() < 0.15:
            return self.rng.choice(thing.aliases)
        return f"the {thing.name}" if thing.kind == "river" else thing.name

    def _reference(self, pronoun: str) -> str:
        """The subject's pronoun, a word for its kind or its short name, whichever was not used just before."""
        person = self.entity.kind == "person"
        if self.last == "none":
            self.last = "name" if not person or self.rng.random() < 0.8 else "pronoun"
        else:
            ways = ("pronoun", "pronoun", *([] if person else ["generic"]), "name")
            repeats = person and self.last == "pronoun"
            self.last = self.rng.choice([way for way in ways if way != self.last or repeats])
        if self.last == "generic":
            return self.rng.choice(LEXICON["generic"][self.entity.kind])
        return pronoun if self.last == "pronoun" else self.entity.short


def _words(text: str) -> int:
    return text.count(" ") + 1


def _simple(sentence: str) -> bool:
    """Whether a sentence is short and plain enough to be joined to another."""
    return _words(sentence) < 12 and not any(mark in sentence for mark in (",", ";", ":", " and "))
